//! Asynchronous copies in flight (`cp.async` and bulk copies, PTX ISA 9.7.9.25; D-async, D-bulk).
//!
//! A copy is taken in when its instruction is executed, and lands later: some time before its thread has waited for it, it reads and writes memory. Nothing
//! orders it with what its thread does besides (PTX ISA 9.7.9.25.1). The copies of one instruction land together where memory carries out
//! instructions as wholes, else lane by lane.

pub mod begin;
mod beside;
pub mod bulk;
mod copy;
mod land;
mod landing;
mod side;

pub use beside::WithCopies;
pub use copy::Copy;
pub use land::explained;
pub use landing::Landing;
pub use side::{Deed, Place, Side};

use super::{Acted, Cx, Issuer, Movable, OperationName, Stores, Uses, Waits, snapshot};
use crate::base::mutant::{Mutant, on};
use crate::base::{LANES, LaneMask, sort};
use crate::verdict::{OperationView, Sink, Who};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Instructions of a warp whose copies may be in flight: PTX names no number, but hardware has one, and a state must have an end.
const ROOM: usize = 256;
/// The same where lanes land one by one, so that there are as many operations.
const ROOM_APART: usize = 64;
/// Where the places of copies begin among the names of a warp's operations: behind those of all that an engine names.
const FIRST: u32 = 1 << 31;

/// The copies in flight of all warps. Their numbers are stable while they live.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Copies {
    slots: Vec<Option<Copy>>,
    /// The copies that may land: bit `l` of half `k` is lane `l` of slot `k`.
    ready: Vec<u64>,
    /// Those of them that memory kept from it when they were tried last, in the same way. Follows from the rest of the state.
    aside: Vec<u64>,
    /// The slots of each warp, in the order of their instructions.
    warps: FxHashMap<Who, SmallVec<[u32; 4]>>,
    /// Whether lanes land one by one.
    apart: bool,
}

impl Copies {
    /// None; `apart`: lanes will land one by one.
    #[must_use]
    pub(super) fn new(apart: bool) -> Self {
        Self { apart, ..Self::default() }
    }

    /// Takes in copies that begin on an engine, where operations of their threads may be in flight.
    fn enter<E: Landing>(&mut self, mut copy: Copy, engine: &E) {
        copy.behind = copy.comes_after(engine, u32::MAX);
        self.push(copy);
    }

    /// An operation of a warp has ended that was at a place among those that it had in flight.
    fn ended<E: Landing>(&mut self, who: Who, place: u32, engine: &E) {
        for slot in self.warps.get(&who).cloned().unwrap_or_default() {
            let copy = self.slots.get_mut(slot as usize).and_then(Option::as_mut);
            if let Some(copy) = copy.filter(|copy| copy.behind > place) {
                copy.behind = copy.comes_after(engine, copy.behind - 1);
            }
        }
    }

    /// Whether memory keeps copies of lanes from landing.
    fn is_kept<E: Landing>(&self, slot: usize, lanes: LaneMask, engine: &E) -> bool {
        let copy = self.slots.get(slot).and_then(Option::as_ref).filter(|_| engine.may_keep());
        copy.is_some_and(|copy| copy.is_kept(lanes, engine))
    }

    /// Something has changed that copies may have waited for.
    fn look_again(&mut self) {
        self.aside.clear();
    }

    /// Takes in copies of lanes.
    pub(super) fn push(&mut self, copy: Copy) {
        let slot = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        self.warps.entry(copy.at.who).or_default().push(number(slot));
        self.slots[slot] = Some(copy);
        self.mark(slot);
    }

    /// The lanes of a slot that may land: those that arrive wait for their copies.
    fn may_land(&self, slot: usize) -> LaneMask {
        let Some(copy) = self.slots.get(slot).and_then(Option::as_ref) else { return 0 };
        let lanes = copy.lanes();
        if !copy.arrives() {
            return lanes;
        }
        let earlier = self.of(copy.at.who).take_while(|(k, _)| *k != slot).filter(|(_, copy)| copy.has_groups(false));
        let waits = earlier.fold(0, |m, (_, copy)| m | copy.lanes()) & lanes;
        let waits = if on(Mutant::CopyArrivesEarly) { 0 } else { waits };
        if self.apart || waits == 0 { lanes & !waits } else { 0 }
    }

    /// Notes which arrivals of a warp may go on.
    fn mark_arrivals(&mut self, who: Who) {
        let arrivals: SmallVec<[usize; 4]> = self.of(who).filter(|(_, c)| c.arrives()).map(|(k, _)| k).collect();
        arrivals.into_iter().for_each(|slot| self.mark(slot));
    }

    /// Notes which copies of a slot may land.
    fn mark(&mut self, slot: usize) {
        let lanes = self.may_land(slot);
        let lanes = if self.apart { lanes } else { lanes & lanes.wrapping_neg() };
        self.ready.resize(self.slots.len().div_ceil(2).max(slot / 2 + 1), 0);
        let shift = slot % 2 * LANES;
        let word = &mut self.ready[slot / 2];
        *word = *word & !(u64::from(LaneMask::MAX) << shift) | u64::from(lanes) << shift;
    }

    /// Empties a slot.
    fn leave(&mut self, slot: usize) {
        if let Some(copy) = self.slots.get_mut(slot).and_then(Option::take)
            && let Some(list) = self.warps.get_mut(&copy.at.who)
        {
            list.retain(|s| *s as usize != slot);
            if list.is_empty() {
                self.warps.remove(&copy.at.who);
            }
        }
        self.mark(slot);
        // Equal states compare equal, however many slots there once were.
        while self.slots.last().is_some_and(Option::is_none) {
            self.slots.pop();
        }
        self.ready.truncate(self.slots.len().div_ceil(2));
    }

    fn of(&self, who: Who) -> impl Iterator<Item = (usize, &Copy)> {
        let slots = self.warps.get(&who).into_iter().flatten();
        slots.filter_map(|slot| Some((*slot as usize, self.slots.get(*slot as usize)?.as_ref()?)))
    }

    /// `cp.async.commit_group`, or `cp.async.bulk.commit_group`: what the lanes have begun becomes a group.
    pub(super) fn commit(&mut self, who: Who, lanes: LaneMask, bulk: bool) {
        let all: SmallVec<[u32; 4]> = self.warps.remove(&who).unwrap_or_default();
        let mut kept: SmallVec<[u32; 4]> = SmallVec::new();
        for slot in all {
            let Some(copy) = self.slots.get_mut(slot as usize).and_then(Option::as_mut) else { continue };
            kept.push(slot);
            let mixed = on(Mutant::BulkGroupsMixed) && copy.has_groups(false);
            if !copy.has_groups(bulk) && !mixed {
                continue;
            }
            let older = Some(copy.age.map_or(0, |age| age.saturating_add(1)));
            let inside = copy.lanes() & lanes;
            if inside == copy.lanes() {
                copy.age = older;
            } else if inside != 0 {
                // Lanes that commit apart from each other have groups of their own.
                let (theirs, rest) = copy.parts.drain(..).partition(|part| inside >> part.lane & 1 == 1);
                let mut apart = Copy { age: older, ..copy.clone() };
                (copy.parts, apart.parts) = (rest, theirs);
                self.mark(slot as usize);
                self.push(apart);
                kept.extend(self.warps.remove(&who).unwrap_or_default());
            }
        }
        if !kept.is_empty() {
            self.warps.insert(who, kept);
        }
        self.mark_arrivals(who);
    }

    const fn room(&self) -> usize {
        if self.apart { ROOM_APART } else { ROOM }
    }

    /// The lanes that an instruction holds back until copies have landed.
    pub(super) fn blocked(&self, at: Issuer, uses: &Uses, lanes: LaneMask) -> LaneMask {
        match uses.waits {
            Waits::Copies(_) | Waits::Bulk { .. } => {}
            Waits::Room if self.warps.get(&at.who).is_some_and(|all| all.len() >= self.room()) => return lanes,
            _ => return 0,
        }
        self.of(at.who).filter(|(_, copy)| copy.is_awaited(uses.waits)).fold(0, |m, (_, copy)| m | copy.lanes()) & lanes
    }

    /// Some of the copies that may land, a word of the bitset over their numbers.
    pub(super) fn ready(&self, word: usize) -> u64 {
        let of = |words: &[u64]| words.get(word).copied().unwrap_or(0);
        of(&self.ready) & !of(&self.aside)
    }

    /// The words of that.
    pub(super) const fn words(&self) -> usize {
        self.ready.len()
    }

    /// How many operations have not ended.
    pub(super) fn pending(&self) -> usize {
        self.ready.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The warps that have copies in flight.
    pub(super) fn warps(&self) -> impl Iterator<Item = &Who> {
        self.warps.keys()
    }

    /// The operations of a warp by their names: the place of an instruction among those in flight, and the lane.
    pub(super) fn movable<E: Landing>(&self, who: Who, engine: &E, out: &mut Vec<Movable>) {
        for (order, (slot, _)) in (0..).zip(self.of(who)) {
            let name = |lane: u32| OperationName {
                block: who.block,
                warp: who.warp,
                place: FIRST + order * LANES as u32 + lane,
            };
            let mut left = self.may_land(slot);
            while left != 0 {
                let lanes = if self.apart { left & left.wrapping_neg() } else { left };
                left &= !lanes;
                if !self.is_kept(slot, lanes, engine) {
                    out.push(Movable { name: name(lanes.trailing_zeros()), lanes });
                }
            }
        }
    }

    /// The number of an operation.
    pub(super) fn number(&self, launch: u32, name: OperationName) -> Option<u32> {
        let OperationName { block, warp, place } = name;
        let place = place.checked_sub(FIRST)? as usize;
        let (slot, _) = self.of(Who { launch, block, warp }).nth(place / LANES)?;
        (self.may_land(slot) >> (place % LANES) & 1 == 1).then(|| number(slot * LANES + place % LANES))
    }

    /// The warp that an operation is of.
    pub(super) fn owner(&self, number: u32) -> Option<Who> {
        self.slots.get(number as usize / LANES)?.as_ref().map(|copy| copy.at.who)
    }

    /// Appends what a warp has in flight.
    pub(super) fn save(&self, who: Who, out: &mut Vec<u8>) {
        self.of(who).for_each(|(_, copy)| snapshot::put(copy, out));
    }

    /// A warp has in flight what was saved.
    pub(super) fn load(&mut self, who: Who, mut from: &[u8]) {
        for slot in self.warps.get(&who).cloned().unwrap_or_default() {
            self.leave(slot as usize);
        }
        while let Some(copy) = snapshot::take::<Copy>(&mut from) {
            self.push(copy);
        }
        self.mark_arrivals(who);
    }

    /// For people.
    pub(super) fn view(&self) -> impl Iterator<Item = OperationView> {
        let mut all: Vec<&Copy> = self.slots.iter().flatten().collect();
        sort::sort_by_key(&mut all, |copy| (copy.at.who.launch, copy.at.who.block, copy.at.who.warp));
        all.into_iter().map(|copy| copy.shown(Vec::new()))
    }

    /// A copy lands, by its number, or reads what it writes at another time; nothing happens while memory keeps it from that.
    ///
    /// # Errors
    /// Its source or its block is gone; there is no barrier; an observer stopped the run.
    pub(super) fn land<E: Landing, S: Sink>(
        &mut self,
        number: u32,
        engine: &mut E,
        stores: &mut dyn Stores,
        cx: &mut Cx<'_, S>,
    ) -> Acted {
        let (slot, lane) = (number as usize / LANES, number as usize % LANES);
        let Some(copy) = self.slots.get(slot).and_then(Option::as_ref) else { return Ok(()) };
        let lanes = if self.apart { 1 << lane } else { copy.lanes() };
        if self.is_kept(slot, lanes, engine) {
            self.aside.resize(self.ready.len(), 0);
            self.aside[number as usize / 64] |= 1 << (number % 64);
            return Ok(());
        }
        let Some(copy) = self.slots.get_mut(slot).and_then(Option::as_mut) else { return Ok(()) };
        let (parts, rest) = copy.parts.drain(..).partition(|part| lanes >> part.lane & 1 == 1);
        let mut landed = Copy { parts, ..copy.clone() };
        copy.parts = rest;
        if landed.is_unread() {
            let read = landed.read(stores);
            copy.parts.extend(landed.parts);
            sort::sort_by_key(&mut copy.parts, |part| part.lane);
            return read;
        }
        if copy.parts.is_empty() {
            self.leave(slot);
        } else {
            self.mark(slot);
        }
        self.mark_arrivals(landed.at.who);
        landed.land(engine, stores, cx)
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
