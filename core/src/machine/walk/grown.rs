//! Which part of the states a search has seen grows: what its warps and memory have been, and where.

use crate::verdict::Place;
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
