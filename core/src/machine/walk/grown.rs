//! Which part of the states a search has seen grows: what its warps and memory have been, and where.

use super::walker::{Walker, index};
use crate::base::Pc;
use crate::machine::control::Explored;
use crate::memory::Environment;
use crate::verdict::{Place, Who};
use rustc_hash::FxHashMap;

/// What the states of a search are made from: they are combinations of what each warp and memory has been.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Growth {
    /// Contents of memory that all warps share.
    pub memories: u64,
    /// Warps of which something is known.
    pub warps: u64,
    /// The warp that has been in the most ways, and where it has been in the most.
    pub most: Option<Grown>,
}

/// In how many ways a warp has been.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grown {
    /// In how many in all.
    pub ways: u64,
    /// In how many at one place, and which that is.
    pub here: u64,
    /// Where its first lane stood.
    pub place: Place,
}

/// What each warp of each block has been, by the address at which its first lane stood.
pub(super) type Ways = FxHashMap<(u64, u32), FxHashMap<u32, u64>>;

impl<C: Explored + 'static, M: Environment + 'static> Walker<C, M> {
    /// A warp is as it has not been before.
    pub(super) fn grew(&mut self, block: u64, warp: u32, pc: u32) {
        *self.ways.entry((block, warp)).or_default().entry(pc).or_default() += 1;
    }

    /// What grows.
    pub(super) fn growth_of(&self) -> Growth {
        let sum = |ways: &FxHashMap<u32, u64>| ways.values().sum::<u64>();
        // Of several the first, whatever order they are kept in.
        let most = self.ways.iter().max_by_key(|(who, ways)| (sum(ways), std::cmp::Reverse(**who)));
        let most = most.and_then(|((block, warp), ways)| {
            let (pc, here) = ways.iter().max_by_key(|(pc, n)| (**n, std::cmp::Reverse(**pc)))?;
            let who = Who { launch: index(self.launch), block: *block, warp: *warp };
            Some(Grown { ways: sum(ways), here: *here, place: self.gone(who, 1, Pc(*pc)) })
        });
        Growth { memories: self.journal.memories() as u64, warps: self.ways.len() as u64, most }
    }
}
