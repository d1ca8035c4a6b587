//! An access or a fence that was in flight has been performed: which write a strong read observed is known now.

use super::flight::{Element, Written};
use super::history::{Deed, Release, observes};
use super::sites::{AccessSite, Site, access_at};
use super::sync;
use super::watch::Watch;
use crate::verdict::{AccessKind, AllocKind, Performed, ReadsFrom, Strength, Who};

impl Watch {
    /// Something takes effect that was issued before.
    #[inline(never)]
    pub(super) fn performed(&mut self, who: Who, performed: Performed<'_>, sites: &[Site]) {
        // A block that is complete has nothing in flight that anybody could tell.
        let Some(at) = self.places.get(&who.block).copied() else { return };
        match performed {
            // Accesses are compared when they are issued.
            Performed::Write(_) => {}
            Performed::Fence { pc, lanes } => {
                if let Some(Site::Fence(fence)) = sites.get(pc.0 as usize) {
                    self.fence(at, who.warp as usize, lanes, *fence);
                }
            }
            Performed::Read(read) => {
                if let Some(site) = access_at(sites, read.pc)
                    && site.strength != Strength::Weak
                {
                    self.arrive(at, who.warp as usize, &read, site);
                }
            }
        }
    }

    /// A strong read has found its value.
    fn arrive(&mut self, at: usize, warp: usize, read: &ReadsFrom<'_>, site: &AccessSite) {
        let shared = read.space == AllocKind::Shared;
        let address = read.address.wrapping_add(if shared { self.env.addresses().shared } else { 0 });
        let lane = read.lane as usize;
        let Some(block) = &mut self.blocks[at] else { return };
        let me = block.thread(warp, lane);
        let mine = Element::new(read.access_id, address);
        let epoch = self.flights.reads.remove(&mine).unwrap_or(block.epoch);
        let writer = read.writers.first().filter(|w| read.writers.iter().all(|other| other == *w));
        let written = writer.and_then(|writer| self.flights.writes.get(&Element::new(*writer, address)));
        let does = Deed { thread: me, epoch, pc: read.pc, site: *site, value: None };
        let written = written.filter(|w| observes(&w.did, &does)).cloned();
        let releases = written.as_ref().map(|w| w.releases.clone()).unwrap_or_default();
        if let Some(w) = written.filter(|w| w.did.thread != me) {
            let block_shadow = if shared { &mut block.shared } else { &mut self.global };
            let (cells, spill) = block_shadow.cells(address, site.width);
            for cell in cells {
                if let Some(history) = cell.has_history(spill) {
                    history.arrive(me, epoch, &w.known, self.kept);
                }
            }
            self.unordered(at, (warp, lane), &does, &w);
        }
        if site.kind == AccessKind::Atomic
            && let Some(mine) = self.flights.writes.get_mut(&mine)
        {
            releases.iter().for_each(|release| Release::add(&mut mine.releases, release));
        }
        if let Some(block) = &mut self.blocks[at]
            && (!releases.is_empty() || site.acquires)
        {
            sync::observe(block, (warp, lane), address, site, releases);
        }
    }

    /// Volatile data that nothing but the observation orders (D-unordered).
    fn unordered(&mut self, at: usize, (warp, lane): (usize, usize), does: &Deed, written: &Written) {
        let Some(block) = &self.blocks[at] else { return };
        let Some(w) = block.warps.get(warp) else { return };
        let (me, Deed { thread, epoch, pc, site, .. }) = (does.thread, &written.did);
        let data = does.site.takes_data_of(site) && written.releases.is_empty();
        let follows = block.lockstep && thread.warp == me.warp || w.clock(lane).knows(me, *thread, *epoch, &self.order);
        if data && !follows && !self.fenced.since(thread.block, *epoch) {
            self.findings.unordered(*pc, does.pc, thread.same_block(me));
        }
    }
}
