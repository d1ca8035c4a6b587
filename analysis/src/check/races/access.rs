//! An access of a warp, taken apart: lane by lane, element by element, cell by cell.

use super::cell::{Cell, Spill};
use super::clock::Thread;
use super::context::Context;
use super::finding::Conflict;
use super::history::{Actor, Deed};
use super::launch::Launch;
use super::pattern::{FULL, HALF, Pattern, alike};
use super::shadow::Shadow;
use super::sites::{AccessSite, Site, access_at};
use super::sync;
use super::threads::Block;
use super::view::View;
use super::watch::Watch;
use crate::base::{LANES, LaneMask, lanes_of};
use crate::program::instr::Space;
use crate::verdict::{Access, AccessId, AccessKind, LimitKind, Stop, Strength, Who};

/// Checks an access and takes note of it.
///
/// # Errors
/// A race, where the first one is to stop the run.
#[inline]
pub(super) fn run(watch: &mut Watch, at: usize, who: Who, access: &Access<'_>, sites: &[Site]) -> Result<(), Stop> {
    taken_apart(watch, at, who, access, sites, true)
}

/// The same of what was in flight, and was compared with what was besides.
///
/// # Errors
/// As of [`run`].
pub(super) fn noted(watch: &mut Watch, at: usize, who: Who, access: &Access<'_>, sites: &[Site]) -> Result<(), Stop> {
    taken_apart(watch, at, who, access, sites, false)
}

#[inline]
fn taken_apart(
    watch: &mut Watch,
    at: usize,
    who: Who,
    access: &Access<'_>,
    sites: &[Site],
    beside: bool,
) -> Result<(), Stop> {
    let warp = who.warp as usize;
    let Some(site) = access_at(sites, access.pc) else { return Ok(()) };
    let Some(launch) = watch.launch else { return Ok(()) };
    let Some(block) = &mut watch.blocks[at] else { return Ok(()) };
    let Some(w) = block.warps.get_mut(warp) else { return Ok(()) };
    w.touched |= access.lanes;
    let (together, hands_on) = (w.agrees(), !w.is_plain());
    let access_id = match access.access_id {
        None => AccessId::NONE,
        Some(access_id) => {
            // Who observes besides may have named it.
            if access_id.get() == AccessId::NONE {
                access_id.set(watch.flights.name(who.launch));
            }
            access_id.get()
        }
    };
    let cx = Context { launch, at, warp, access, sites, site, pc: access.pc, access_id };
    if beside && (site.copies.is_some() || watch.copies.looks_at_all()) {
        watch.beside_copies(&cx)?;
    }
    let word = site.is_word();
    let patterns = if word { Pattern::of(access.addresses, access.lanes, access.strides) } else { [Pattern::Apart; 2] };
    // Rows in order are apart from each other, or the same.
    let apart = matches!(patterns, [Pattern::Row(low), Pattern::Row(high)] if low != high);
    if site.kind == AccessKind::Write && !apart {
        watch.same_instruction(&cx)?;
    }
    let mut view = watch.view(&cx, access.lanes.trailing_zeros() as usize);
    let mut lanes = access.lanes;
    if together && word {
        lanes &= !watch.halves(&cx, &mut view, patterns);
    } else if together && !hands_on && site.is_word_atomic() && access_id == AccessId::NONE {
        lanes &= !watch.atomics(&cx, &mut view);
    }
    let mut released = false;
    while lanes != 0 {
        let lane = lanes.trailing_zeros() as usize & (LANES - 1);
        if !together {
            view = watch.view(&cx, lane);
        }
        // Lanes that read one location are noted as one.
        let merge = together && site.kind == AccessKind::Read;
        let group = if merge { alike(access.addresses, lanes, lane) } else { 1 << lane };
        lanes &= !group;
        released |= watch.lanes(&cx, &mut view, group)?;
    }
    if released && let Some(block) = &mut watch.blocks[at] {
        block.epoch += 1;
    }
    Ok(())
}

impl Watch {
    /// How a lane sees the others.
    fn view(&self, cx: &Context<'_>, lane: usize) -> View {
        self.view_of((cx.launch, cx.at, cx.warp), lane)
    }

    /// The same of a warp of the block that is at some place.
    #[inline(always)]
    pub(super) fn view_of(&self, (launch, at, warp): (Launch, usize, usize), lane: usize) -> View {
        let block = self.blocks[at].as_ref();
        let clock = block.and_then(|b| b.warps.get(warp)).map(|w| w.clock(lane));
        let first = block.map_or(0, |b| b.first);
        let known = clock.map_or((0, 0), |c| (c.block, if launch.lockstep { u32::MAX } else { c.warp }));
        View {
            warp: first + u32::try_from(warp).unwrap_or(0),
            block: (first, first + launch.warps),
            launch: launch.first,
            expired: 0,
            known,
            epoch: block.map_or(1, |b| b.epoch),
            warps: launch.warps,
        }
    }

    /// Notes the words of half warps that lie as `patterns` say, each half at once; gives the lanes for which that is done. No
    /// lane writes before a lower one: they may write to one word.
    #[inline(always)]
    fn halves(&mut self, cx: &Context<'_>, view: &mut View, patterns: [Pattern; 2]) -> LaneMask {
        let reads = cx.site.kind == AccessKind::Read;
        match patterns {
            [Pattern::Row(low), Pattern::Row(high)] if low == high && reads => {
                return self.row(cx, view, low, 1 | 1 << HALF, !0);
            }
            [Pattern::One(low), Pattern::One(high)] if low == high && reads => {
                return self.word(cx, view, low, cx.access.lanes);
            }
            _ => {}
        }
        let mut done = 0;
        for (half, &pattern) in patterns.iter().enumerate() {
            let shift = half * HALF;
            let lanes = cx.access.lanes & FULL << shift;
            if lanes == 0 {
                continue;
            }
            let noted = match pattern {
                Pattern::Row(row) => match self.row(cx, view, row, 1 << shift, lanes) {
                    0 => self.within(cx, view, row, lanes),
                    noted => noted,
                },
                Pattern::One(address) if reads => self.word(cx, view, address, lanes),
                Pattern::One(address) => self.within(cx, view, address, lanes),
                Pattern::Within(row) => self.within(cx, view, row, lanes),
                Pattern::Apart => 0,
            };
            done |= noted;
            if !reads && noted != lanes {
                break;
            }
        }
        done
    }

    /// The shadow of the memory in which an address lies. `None`: no other thread sees it.
    #[inline(always)]
    fn shadow<'s>(&'s mut self, cx: &Context<'_>, view: &mut View, address: u64) -> Option<&'s mut Shadow> {
        let shared = self.is_shared(cx, address)?;
        let block = self.blocks[cx.at].as_mut()?;
        view.expired = block.expired(shared || cx.launch.one_block);
        Some(if shared { &mut block.shared } else { &mut self.global })
    }

    /// Half a warp accesses a row in order. Gives its lanes, where that is all right and noted: `all`; `lanes` are those of
    /// the row's first word.
    #[inline(always)]
    fn row(&mut self, cx: &Context<'_>, view: &mut View, row: u64, lanes: LaneMask, all: LaneMask) -> LaneMask {
        let Some(shadow) = self.shadow(cx, view, row) else { return 0 };
        let noted = shadow.row(row, view, |cell, spill| match cx.site.kind {
            AccessKind::Read => cell.read(view, lanes, cx.pc, spill),
            _ => cell.write(view, lanes.trailing_zeros(), cx.pc, spill),
        });
        if noted { all } else { 0 }
    }

    /// Lanes read one word. Gives them, where that is all right and noted.
    #[inline(always)]
    fn word(&mut self, cx: &Context<'_>, view: &mut View, address: u64, lanes: LaneMask) -> LaneMask {
        let Some((cells, spill)) = self.shadow(cx, view, address).and_then(|s| s.words(address)) else { return 0 };
        let cell = &mut cells[(address / 4) as usize % HALF];
        if cell.read(view, lanes, cx.pc, spill) { lanes } else { 0 }
    }

    /// Lanes access words of the row in which an address lies, in any order. Gives those for which that is all right and
    /// noted; lanes that write after one for which it is not are left.
    #[inline(always)]
    fn within(&mut self, cx: &Context<'_>, view: &mut View, row: u64, lanes: LaneMask) -> LaneMask {
        let Some((cells, spill)) = self.shadow(cx, view, row).and_then(|s| s.words(row)) else { return 0 };
        let addresses = cx.access.addresses;
        let (mut rest, mut done) = (lanes, 0);
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize & (LANES - 1);
            let cell = &mut cells[(addresses[lane] / 4) as usize % HALF];
            let (group, noted) = if cx.site.kind == AccessKind::Read {
                let group = alike(addresses, rest, lane);
                (group, cell.read(view, group, cx.pc, spill))
            } else {
                (1 << lane, cell.write(view, lane as u32, cx.pc, spill))
            };
            rest &= !group;
            if noted {
                done |= group;
            } else if cx.site.kind == AccessKind::Write {
                break;
            }
        }
        done
    }

    /// Lanes operate on words, one after the other, and hand nothing on. Gives those, from the first one on, for which that
    /// is all right and noted.
    fn atomics(&mut self, cx: &Context<'_>, view: &mut View) -> LaneMask {
        let lanes = cx.access.lanes;
        let addresses = cx.access.addresses;
        if cx.site.space == Space::Generic {
            return 0;
        }
        let Some(shadow) = self.shadow(cx, view, addresses[lanes.trailing_zeros() as usize % LANES]) else { return 0 };
        let noted = |lane: &usize| {
            let address = addresses[*lane];
            let words = shadow.words(address);
            let cell = words.map(|(cells, _)| &mut cells[(address / 4) as usize % HALF]);
            cell.is_some_and(|cell| cell.atomic(view, *lane as u32, cx.pc, cx.site, cx.sites))
        };
        lanes_of(lanes).take_while(noted).fold(0, |done, lane| done | 1 << lane)
    }

    /// Whether an address of an access is in shared memory. `None`: no other thread sees it.
    #[inline]
    pub(super) fn is_shared(&self, cx: &Context<'_>, address: u64) -> Option<bool> {
        match cx.site.space {
            Space::Shared => Some(true),
            Space::Generic => match self.env.addresses().inside(address) {
                Some((Space::Shared, _)) => Some(true),
                Some(_) => None,
                None => Some(false),
            },
            _ => Some(false),
        }
    }

    /// Lanes of one address access all its elements; whether one of them released.
    #[inline]
    fn lanes(&mut self, cx: &Context<'_>, view: &mut View, lanes: LaneMask) -> Result<bool, Stop> {
        let lane = lanes.trailing_zeros() as usize & (LANES - 1);
        let address = cx.access.addresses[lane];
        let Some(shared) = self.is_shared(cx, address) else { return Ok(false) };
        let mut released = false;
        // Where each element is told by itself, one.
        for element in 0..cx.access.bytes / cx.site.width.max(1) {
            let address = address.wrapping_add(u64::from(element * cx.site.width));
            released |= self.element(cx, view, lanes, address, shared)?;
        }
        Ok(released)
    }

    /// Lanes access one element.
    #[inline]
    fn element(
        &mut self,
        cx: &Context<'_>,
        view: &mut View,
        lanes: LaneMask,
        address: u64,
        shared: bool,
    ) -> Result<bool, Stop> {
        let Some(block) = &mut self.blocks[cx.at] else { return Ok(false) };
        view.expired = block.expired(shared || cx.launch.one_block);
        let lane = lanes.trailing_zeros();
        let single = lanes.is_power_of_two();
        let hands_on = cx.site.kind.writes()
            && cx.site.strength != Strength::Weak
            && (cx.access_id != AccessId::NONE || cx.site.releases || sync::may_publish(block, cx.warp, lane as usize));
        let shadow = if shared { &mut block.shared } else { &mut self.global };
        let (cells, spill) = shadow.cells(address, cx.site.width);
        let noted = |cell: &mut Cell, spill: &mut Spill| match (cx.site.kind, cx.site.strength) {
            (AccessKind::Read, Strength::Weak) => cell.read(view, lanes, cx.pc, spill),
            (AccessKind::Write, Strength::Weak) if single => cell.write(view, lane, cx.pc, spill),
            (AccessKind::Atomic, _) if single && !hands_on && cx.site.is_plain_atomic() => {
                cell.atomic(view, lane, cx.pc, cx.site, cx.sites)
            }
            _ => false,
        };
        let mut open: u32 = 0;
        for (k, cell) in cells.iter_mut().enumerate() {
            if !noted(cell, spill) {
                open |= 1 << k;
            }
        }
        if open != 0 {
            self.remember(cx, view, lanes, address, shared, open)?;
        }
        Ok(hands_on)
    }

    /// Lets the histories decide about an access of some cells of an element, given by their numbers.
    #[inline(never)]
    fn remember(
        &mut self,
        cx: &Context<'_>,
        view: &View,
        lanes: LaneMask,
        address: u64,
        shared: bool,
        cells: u32,
    ) -> Result<(), Stop> {
        let kept = self.kept;
        for lane in lanes_of(lanes) {
            let who = (cx.warp, lane);
            let Some(block) = &mut self.blocks[cx.at] else { return Ok(()) };
            let mut publish = sync::publish(block, who, address, cx.site);
            if cx.access_id != AccessId::NONE && cx.site.strength != Strength::Weak {
                // It is the write that a read has found, not the last one, whose releases the read observes.
                let publish = std::mem::take(&mut publish);
                self.flights.depart(block, who, cx.access_id.of_lane(lane), address, cx, publish);
            }
            let value = cx.value(lane, address);
            let mut conflicts: Vec<Conflict> = Vec::new();
            let (mut releases, mut unknown, mut unordered) = (Vec::new(), false, None);
            if cx.site.releases {
                self.fenced.note(block.first, block.epoch);
            }
            for k in lanes_of(cells) {
                let Block { shared: near, warps, first, .. } = &mut *block;
                let Some(warp) = warps.get(cx.warp) else { return Ok(()) };
                let shadow = if shared { near } else { &mut self.global };
                let (all, spill) = shadow.cells(address, cx.site.width);
                let bytes = cx.site.width / u32::try_from(all.len().max(1)).unwrap_or(1);
                let byte = address.wrapping_add(u64::from(bytes) * k as u64);
                let past = |thread: Thread, pc, site: &AccessSite| cx.past(view, thread, pc, site, byte);
                let history = all.get_mut(k).and_then(|c| c.history(view, cx.sites, spill, kept, past));
                let Some(history) = history else { continue };
                history.expire(|thread, epoch| view.expired(thread.warp, epoch));
                let actor = Actor {
                    does: Deed {
                        thread: Thread { warp: view.warp, lane: lane as u32, block: *first },
                        epoch: view.epoch,
                        pc: cx.pc,
                        site: *cx.site,
                        value,
                    },
                    clock: warp.clock(lane),
                    order: &self.order,
                    lockstep: cx.launch.lockstep,
                    later: cx.access_id != AccessId::NONE,
                };
                let found = history.access(&actor, &publish, kept);
                unknown |= found.unknown;
                unordered = unordered.or(found.unordered);
                releases.extend(found.releases);
                conflicts.extend(found.races.into_iter().map(|raced| Conflict {
                    raced,
                    byte,
                    shared,
                    with_copy: None,
                }));
            }
            if cx.access_id == AccessId::NONE && (!releases.is_empty() || cx.site.acquires) {
                sync::observe(block, who, address, cx.site, releases);
            }
            if let Some(Deed { thread, epoch, pc, .. }) = unordered
                && !self.fenced.since(thread.block, epoch)
            {
                self.findings.unordered(pc, cx.pc, thread.block == view.block.0);
            }
            for conflict in conflicts {
                self.conflict(cx, lane, address, value, &conflict)?;
            }
            if unknown {
                return Err(Stop::Limit(LimitKind::Accesses { kept: kept as u64, at: cx.pc }));
            }
        }
        Ok(())
    }

    /// Lanes of one store that write a location in common: a race where they are ordered otherwise, and a result that
    /// depends on which of them wins where they are strong.
    fn same_instruction(&mut self, cx: &Context<'_>) -> Result<(), Stop> {
        let Context { launch, access, site, .. } = *cx;
        let addresses = access.addresses;
        let bytes = u64::from(access.bytes);
        let apart = |a: u64, b: u64| a < b && bytes <= b - a;
        let ascend = if access.together == !0 {
            addresses.iter().zip(&addresses[1..]).fold(true, |all, (a, b)| all & apart(*a, *b))
        } else {
            let mut before: Option<u64> = None;
            lanes_of(access.together).all(|l| before.replace(addresses[l]).is_none_or(|b| apart(b, addresses[l])))
        };
        let strong = site.strength != Strength::Weak;
        // Weak stores without lockstep are told by their cells.
        if ascend || !strong && !launch.lockstep {
            return Ok(());
        }
        for lane in lanes_of(access.lanes) {
            for other in lanes_of(access.together & ((1 << lane) - 1)) {
                let apart = addresses[lane].wrapping_sub(addresses[other]);
                if apart < access.bytes.into() || apart.wrapping_neg() < access.bytes.into() {
                    self.lanes_meet(cx, (other, lane))?;
                }
            }
        }
        Ok(())
    }
}
