//! What is exchanged, and what is told of it.

use crate::base::words;

/// What is exchanged within a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Within {
    /// Nothing.
    Nobody,
    /// Whole warps: an access of a warp goes lowest lane first, so that its lanes are told apart.
    Warps,
    /// Threads, whichever warp they are in: each runs on its own (control model `thread`).
    Threads,
}

/// Who may be exchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// Blocks of the grid.
    pub blocks: bool,
    pub within: Within,
}

words! {
    /// Why nobody is exchanged in a search that would do so.
    pub enum Unlike {
        /// No two threads do the same: what follows from an index goes into addresses, values or ways that differ.
        Indices = "indices",
        /// There is one thread, or one warp.
        Alone = "alone",
        /// Memory that acts later names who waits for it.
        Memory = "memory",
        /// It reads clocks, prints, or makes memory, where it counts who comes first.
        Calls = "calls",
        /// The program is too large for the analysis.
        Size = "size",
    }
}

/// Who is exchanged in a launch, as it is told: how many of each kind there are, the kinds with one left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Exchanged {
    /// Blocks, by kind.
    pub blocks: Vec<u32>,
    /// Warps of a block, by kind.
    pub warps: Vec<u32>,
    /// Threads of a block, by kind.
    pub threads: Vec<u32>,
}

/// What a search exchanges in the states of its launches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Likeness {
    /// Those of the first launch in which somebody is.
    Exchanged(Exchanged),
    /// Nobody, and why.
    Nobody(Unlike),
}
