//! Asynchronous copies in all schedules: as in one run, what is in flight is part of the history (D-async-races).

use super::known::{Spot, Thread, Touch};
use super::state::History;
use super::{Causal, Part};
use crate::base::{LANES, lanes_of};
use crate::check::races::clock;
use crate::check::races::copies::{By, DEVICE};
use crate::check::races::sites::{AccessSite, Awaited, Flight, Side, access_at};
use crate::verdict::{Access, AccessKind, Step, Stop, Unordered, Who};

/// A thread as copies name it: its warp by its number in the block.
const fn named((block, warp, lane): Thread) -> clock::Thread {
    clock::Thread { warp, lane, block: block as u32 }
}

/// Whose memory it is, as copies name it.
const fn place(space: Option<u64>) -> usize {
    match space {
        Some(block) => block as usize,
        None => DEVICE,
    }
}

/// A block as copies name it.
pub(super) const fn at_block(who: Who) -> usize {
    who.block as usize
}

impl Causal {
    /// An access meets copies in flight, and may begin some itself.
    ///
    /// # Errors
    /// A race.
    pub(super) fn beside_copies(
        &self,
        history: &mut History,
        (who, access, site): (Who, &Access<'_>, &AccessSite),
    ) -> Result<(), Stop> {
        let part = |lane: usize, space| {
            let me = (who.block, who.warp, u32::try_from(lane).unwrap_or(0));
            Part { who, access, site, me, lane, space, address: access.addresses[lane] }
        };
        for lane in lanes_of(access.lanes) {
            let Some(space) = self.space(site, who, access.addresses[lane]) else { continue };
            let part = part(lane, space);
            if let Some((flown, source, theirs, byte)) =
                history.copies.meets(place(space), access.kind, part.address, access.bytes)
            {
                let thread = (flown.at as u64, flown.warp, u32::try_from(theirs).unwrap_or(0));
                let touch = Touch { spot: (space, byte), thread, pc: flown.pcs[usize::from(!source)], value: None };
                self.beside(&part, touch, Unordered::InFlight)?;
            }
            self.across_proxies(history, &part)?;
        }
        let Some(flight) = site.copies else { return Ok(()) };
        let lane = access.lanes.trailing_zeros() as usize & (LANES - 1);
        let space = self.space(site, who, access.addresses[lane]).flatten();
        let by = By { at: at_block(who), warp: who.warp, first: named((who.block, who.warp, 0)) };
        history.copies.begin(by, access, flight, place(space));
        Ok(())
    }

    /// An ordinary store is noted where a program has bulk copies, and a source of these is compared with them.
    fn across_proxies(&self, history: &mut History, part: &Part<'_>) -> Result<(), Stop> {
        let Part { site, access, address, .. } = *part;
        let (Some(block), true) = (part.space, self.has_bulk) else { return Ok(()) };
        let proxies = &mut history.copies.proxies;
        if site.copies.is_none() && access.kind != AccessKind::Read {
            proxies.stored(place(Some(block)), (address, access.bytes), (named(part.me), access.pc));
        } else if site.copies == Some(Flight { side: Side::Source, bulk: true })
            && let Some((byte, (thread, pc))) = proxies.behind(place(Some(block)), address, access.bytes)
        {
            let thread = (block, thread.warp, thread.lane);
            return self.beside(part, Touch { spot: (part.space, byte), thread, pc, value: None }, Unordered::Proxy);
        }
        Ok(())
    }

    /// An access races with a copy, or with what a copy does not see.
    fn beside(&self, part: &Part<'_>, earlier: Touch, with_copy: Unordered) -> Result<(), Stop> {
        let Some(theirs) = access_at(&self.sites, earlier.pc) else { return Ok(()) };
        let spot: Spot = earlier.spot;
        self.race(part, (earlier, theirs), spot, false, Some(with_copy))
    }

    /// Lanes of a warp have waited for their copies: their accesses may have been as late as now.
    ///
    /// # Errors
    /// A race.
    pub(super) fn waited(
        &mut self,
        history: &mut History,
        who: Who,
        (step, awaited): (&Step<'_>, Awaited),
    ) -> Result<(), Stop> {
        for (number, lanes) in history.copies.awaited(at_block(who), who.warp, step.lanes, awaited) {
            let Some(flown) = history.copies.wait(number, lanes, awaited.read) else { continue };
            flown.again(
                lanes,
                awaited.read,
                step.regs,
                &mut |access| match access_at(&self.sites, access.pc).copied() {
                    Some(site) => self.touch_all(history, who, access, &site),
                    None => Ok(()),
                },
            )?;
        }
        Ok(())
    }
}
