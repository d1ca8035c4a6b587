//! Sets of those who step, or could.

use super::left::Unit;
use crate::base::LaneMask;
use crate::memory::OperationName;
use smallvec::SmallVec;

/// Lanes by warp and operations, as sets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Units {
    /// By block and warp, in their order: few, and made for each state, so that they are kept in place.
    lanes: SmallVec<[((u64, u32), LaneMask); 4]>,
    /// In their order, too: copies and split accesses are thousands.
    operations: Vec<OperationName>,
}

impl Units {
    pub fn insert(&mut self, unit: Unit) {
        match unit {
            Unit::Lanes(block, warp, lanes) => match self.place((block, warp)) {
                Ok(k) => self.lanes[k].1 |= lanes,
                Err(k) => self.lanes.insert(k, ((block, warp), lanes)),
            },
            Unit::Operation(name) => {
                if let Err(k) = self.operations.binary_search(&name) {
                    self.operations.insert(k, name);
                }
            }
            Unit::Silent => {}
        }
    }

    /// Where a warp is, or would be.
    fn place(&self, warp: (u64, u32)) -> Result<usize, usize> {
        self.lanes.binary_search_by_key(&warp, |(warp, _)| *warp)
    }

    fn has(&self, name: OperationName) -> bool {
        self.operations.binary_search(&name).is_ok()
    }

    fn of(&self, warp: (u64, u32)) -> LaneMask {
        self.place(warp).map_or(0, |k| self.lanes[k].1)
    }

    /// The lanes by their places among roles, whichever blocks these are in.
    pub fn lanes(&self) -> impl Iterator<Item = (u32, LaneMask)> {
        self.lanes.iter().map(|((_, place), lanes)| (*place, *lanes))
    }

    pub fn retain(&mut self, with: &Self) {
        self.lanes.retain(|(warp, lanes)| {
            *lanes &= with.of(*warp);
            *lanes != 0
        });
        self.operations.retain(|name| with.has(*name));
    }

    pub fn without(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.lanes.retain(|(warp, lanes)| {
            *lanes &= !other.of(*warp);
            *lanes != 0
        });
        rest.operations.retain(|name| !other.has(*name));
        rest
    }

    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty() && self.operations.is_empty()
    }

    pub fn contains(&self, unit: Unit) -> bool {
        match unit {
            Unit::Lanes(block, warp, lanes) => self.of((block, warp)) & lanes != 0,
            Unit::Operation(name) => self.has(name),
            Unit::Silent => false,
        }
    }

    /// The units of the blocks of a set.
    pub fn keep(&mut self, promised: impl Fn(u64, u32) -> bool) {
        self.lanes.retain(|((block, warp), _)| promised(*block, *warp));
    }

    /// The first warp.
    pub fn lowest(&self) -> Option<(u64, u32)> {
        self.lanes.first().map(|(warp, _)| *warp)
    }
}
