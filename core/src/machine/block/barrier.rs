//! Barriers of a block (report, 5.5.1).
//!
//! Follows barInfo, prepBar, updAct, updArrCnt, reduce, remBar and endBar. Departures: who has exited does not hold up a
//! barrier without a count (D-bar-exit); under `its` arrival is per thread, under `crs` one lane's arrival counts for its
//! warp (D-barrier-crs). Contradictory arrivals are a bug with both parties; all threads of the block, counted, are no
//! contradiction to none counted.

use crate::base::LaneMask;
use crate::base::mutant::{Mutant, on};
use crate::program::instr::{Barrier, BarrierKind, BarrierRed, Slot};
use crate::verdict::{BugKind, CLUSTER};

/// Barriers of a block.
pub const COUNT: u32 = 16;

/// Lanes that arrived with an instruction that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// The warp.
    pub warp: u32,
    /// The lanes.
    pub lanes: LaneMask,
    /// The depth of their call stack, to find the destination.
    pub depth: u32,
    /// Destination of a reduction.
    pub dest: Slot,
    /// The instruction.
    pub pc: u32,
}

/// A barrier that is in use.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Open {
    /// Threads expected, when given.
    pub count: Option<u32>,
    /// The reduction, when one was given.
    pub red: Option<BarrierRed>,
    /// Threads that arrived, warps counting whole.
    pub arrived: u32,
    /// Lanes that arrived and live, whatever the warp size.
    pub lanes: u32,
    /// Predicates that were true.
    pub yes: u32,
    /// Predicates given.
    pub given: u32,
    /// The warps below 64 that wait whole and receive no result, as a set.
    pub whole: u64,
    /// Who else waits.
    pub waiting: Vec<Arrival>,
}

/// The barrier environment χ.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Barriers {
    /// Barriers by number; those that were never used have no place yet. The lists of a barrier that ended keep their room.
    all: Vec<Open>,
    /// The barriers in use; beyond those with numbers that of the cluster.
    used: u32,
    /// Lanes that have arrived in the open phase of the cluster's and have not exited.
    cluster: u32,
}

/// An arrival of a warp's lanes.
#[derive(Clone, Copy, Debug)]
pub struct Arrive {
    /// The barrier.
    pub id: u32,
    /// The instruction.
    pub barrier: Barrier,
    /// Its thread count.
    pub count: Option<u32>,
    /// Who.
    pub who: Arrival,
    /// Threads that this arrival counts for.
    pub weight: u32,
    /// Live lanes that it stands for.
    pub stands_for: u32,
    /// The predicate of each lane.
    pub predicate: LaneMask,
    /// Threads of the block, counted in whole warps: what a barrier without a count awaits.
    pub block: u32,
}

impl Barriers {
    /// Takes note of an arrival; tells whether it is the barrier's first.
    ///
    /// Rule: bar.barInfo
    ///
    /// Rule: bar.prepBar
    ///
    /// Rule: bar.updAct
    ///
    /// Rule: bar.updArrCnt
    ///
    /// # Errors
    /// The arrival contradicts an earlier one.
    #[inline]
    pub fn arrive(&mut self, a: &Arrive) -> Result<bool, BugKind> {
        let red = match a.barrier.kind {
            BarrierKind::Red(op) => Some(op),
            BarrierKind::Sync | BarrierKind::Arrive => None,
        };
        if a.id >= COUNT {
            return Err(BugKind::BarrierNumber { id: a.id });
        }
        let id = a.id as usize;
        if self.all.len() <= id {
            self.all.resize_with(id + 1, Open::default);
        }
        let open = &mut self.all[id];
        let first = self.used >> id & 1 == 0;
        if first {
            self.used |= 1 << id;
            (open.count, open.red) = (a.count, red);
        } else if open.count.unwrap_or(a.block) != a.count.unwrap_or(a.block) || open.red != red {
            let (first, second) = (text(open.count, open.red), text(a.count, red));
            return Err(BugKind::BarrierMismatch { id: a.id, first, second });
        } else {
            // Of two that say the same, the one with a count is not affected by exits (D-bar-exit).
            open.count = open.count.or(a.count);
        }
        open.arrived += a.weight;
        open.lanes += a.stands_for;
        if red.is_some() {
            open.yes += (a.predicate & a.who.lanes).count_ones();
            open.given += if on(Mutant::ReduceCountsAbsent) { a.weight } else { a.who.lanes.count_ones() };
        }
        if a.barrier.kind != BarrierKind::Arrive {
            open.waiting.push(a.who);
        }
        Ok(first)
    }

    /// The common arrival: a whole warp, at a barrier without a count or a reduction. False when it is another, which
    /// [`Barriers::arrive`] takes: that depends on who is at the barrier, not on which ones were used before, of which states
    /// tell nothing (D-search-memo).
    #[inline(always)]
    pub fn join(&mut self, id: u8, warp: u32, stands_for: u32, weight: u32) -> bool {
        if self.all.len() <= usize::from(id) {
            self.make_room(id);
        }
        let Some(open) = self.all.get_mut(usize::from(id)).filter(|o| o.count.is_none() && o.red.is_none()) else {
            return false;
        };
        let Some(bit) = 1u64.checked_shl(warp) else { return false };
        self.used |= 1 << id;
        open.arrived += weight;
        open.lanes += stands_for;
        open.whole |= bit;
        true
    }

    /// Places for barriers up to a number.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, id: u8) {
        self.all.resize_with(usize::from(id.min(COUNT as u8 - 1)) + 1, Open::default);
    }

    /// Whether all that is in use are barriers without a count or a reduction, which are complete when all threads have arrived.
    #[inline(always)]
    #[must_use]
    pub fn are_plain(&self) -> bool {
        let mut rest = self.used;
        while rest != 0 {
            let plain = self.all.get(rest.trailing_zeros() as usize);
            if plain.is_none_or(|open| open.count.is_some() || open.red.is_some()) {
                return false;
            }
            rest &= rest - 1;
        }
        true
    }

    /// A barrier that is complete, when `live` lanes of the block have not exited.
    ///
    /// Rule: bar.endBar
    #[inline]
    #[must_use]
    pub fn complete(&self, live: u32) -> Option<u32> {
        let mut rest = self.used & ((1 << COUNT) - 1);
        while rest != 0 {
            let id = rest.trailing_zeros();
            let open = &self.all[id as usize];
            let done = match open.count {
                Some(n) => open.arrived >= n,
                None => open.lanes >= live,
            };
            if done {
                return Some(id);
            }
            rest &= rest - 1;
        }
        None
    }

    /// A barrier in use.
    #[must_use]
    pub fn open(&self, id: u32) -> Option<&Open> {
        self.all.get(id as usize).filter(|_| self.used >> id & 1 == 1)
    }

    /// The numbers of the barriers in use, as a set.
    #[must_use]
    pub const fn used(&self) -> u32 {
        self.used & ((1 << COUNT) - 1)
    }

    /// How many lanes that have not exited have arrived in the open phase of the cluster's barrier.
    #[must_use]
    pub const fn at_cluster(&self) -> u32 {
        self.cluster
    }

    /// So many have.
    pub const fn put_at_cluster(&mut self, lanes: u32) {
        self.cluster = lanes;
        self.used = self.used & !(1 << CLUSTER) | ((lanes != 0) as u32) << CLUSTER;
    }

    /// So many more lanes arrive.
    pub const fn arrive_at_cluster(&mut self, lanes: u32) {
        self.put_at_cluster(self.cluster + lanes);
    }

    /// So many of those that arrived have exited.
    pub const fn leave_cluster(&mut self, lanes: u32) {
        self.put_at_cluster(self.cluster.saturating_sub(lanes));
    }

    /// Whether a phase of the cluster's barrier is complete, when `live` lanes of the block have not exited.
    #[must_use]
    pub const fn completes_cluster(&self, live: u32) -> bool {
        self.cluster != 0 && self.cluster >= live
    }

    /// The barriers in use, by ascending number.
    pub fn all_open(&self) -> impl Iterator<Item = (u32, &Open)> {
        (0..COUNT).filter_map(|id| Some((id, self.open(id)?)))
    }

    /// Puts a barrier back that was in use.
    pub fn restore(&mut self, id: u32, open: Open) {
        let at = id as usize;
        if self.all.len() <= at {
            self.all.resize_with(at + 1, Open::default);
        }
        self.all[at] = open;
        self.used |= 1 << id;
    }

    /// Ends a barrier: it is as if it had never been used, so that equal states compare equal.
    ///
    /// Rule: bar.remBar
    #[inline]
    pub fn remove(&mut self, id: u32) {
        self.used &= !(1 << id);
        let Some(open) = self.all.get_mut(id as usize) else { return };
        open.waiting.clear();
        open.whole = 0;
        (open.count, open.red) = (None, None);
        (open.arrived, open.yes, open.given) = (0, 0, 0);
        open.lanes = if on(Mutant::BarrierNeverReset) { open.lanes } else { 0 };
    }

    /// Whether any barrier is in use.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.used != 0
    }

    /// Forgets all barriers.
    pub fn clear(&mut self) {
        while self.used() != 0 {
            self.remove(self.used.trailing_zeros());
        }
        self.put_at_cluster(0);
    }
}

/// The kind and count of an arrival, for a report.
#[cold]
fn text(count: Option<u32>, red: Option<BarrierRed>) -> String {
    let kind = red.map_or("sync or arrive", |r| match r {
        BarrierRed::And => "red.and",
        BarrierRed::Or => "red.or",
        BarrierRed::Popc => "red.popc",
    });
    count.map_or_else(|| format!("{kind}, all threads"), |n| format!("{kind}, {n} threads"))
}

impl Open {
    /// The value of the reduction; predicates are 0 or 1.
    ///
    /// Rule: bar.reduce
    #[must_use]
    pub const fn value(&self) -> Option<(BarrierRed, u32)> {
        match self.red {
            None => None,
            Some(red) => Some((
                red,
                match red {
                    BarrierRed::And => (self.yes == self.given) as u32,
                    BarrierRed::Or => (self.yes > 0) as u32,
                    BarrierRed::Popc => self.yes,
                },
            )),
        }
    }
}
