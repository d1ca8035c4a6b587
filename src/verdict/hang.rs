//! What a run that never ends is called, and why it does not end (`semantics.md`, section 5).

use super::{Inside, Place, Token, Who};
use crate::base::{LaneMask, Pc};

/// What a run that never ends is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Class {
    /// Were the inactive lanes of the warps free to go on, every fair run would leave the cycle.
    SimtDeadlock,
    /// Were all blocks issued, every fair run would leave the cycle.
    Starvation,
    /// Some warps run in the cycle, others wait at a barrier.
    Mixed,
    /// None of these.
    Livelock,
}

/// Why a run never ends: who runs on, what they read, and who does not come to write it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Hang {
    /// What it is called. `None`: nobody has looked, or the search that would tell reached its limit.
    pub class: Option<Class>,
    /// Who runs on: one for the lanes of a warp that go through the same instructions.
    pub spinners: Vec<Spinner>,
    /// What they read while they do: the locations that others would write, or else all.
    pub reads: Vec<SpinRead>,
    /// Live lanes that execute nothing.
    pub blocked: Vec<Blocked>,
    /// The token stacks of the warps that have any.
    pub stacks: Vec<Stack>,
    /// The blocks that are not issued, if there are any.
    pub unissued: Option<Unissued>,
    /// The locks that are waited for and held.
    pub locks: Vec<Lock>,
    /// What `locks` is found from, where nobody has looked yet.
    pub taken: Vec<Taken>,
}

/// A location that is waited for by `cas` or `exch`, and that another thread has taken so and not given back.
#[derive(Clone, PartialEq, Debug)]
pub struct Lock {
    /// Its address in the generic address space.
    pub address: u64,
    /// The block whose shared memory it belongs to.
    pub block: Option<u64>,
    /// The buffer or variable that it lies in.
    pub inside: Option<Inside>,
    /// Who holds it, and the instruction that took it.
    pub holder: Place,
    /// Whether the holder has exited.
    pub exited: bool,
    /// Who waits for it, and by which instruction.
    pub waiters: Vec<Place>,
}

/// Atomic operations on a location since which nobody has stored to it: the last of each lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// Its address in the generic address space.
    pub address: u64,
    /// The block whose shared memory it belongs to.
    pub block: Option<u64>,
    /// The lanes of a warp, the instruction, and what the location held before it where that was known.
    pub by: Vec<(Who, LaneMask, Pc, Option<u64>)>,
}

/// Lanes of a warp that run on.
#[derive(Clone, PartialEq, Debug)]
pub struct Spinner {
    /// The warp.
    pub who: Who,
    /// Who they are; the first instruction of their loop.
    pub place: Place,
    /// The instructions that they execute, in ascending order.
    pub code: Vec<Pc>,
}

/// A location that is read again and again.
#[derive(Clone, PartialEq, Debug)]
pub struct SpinRead {
    /// Its address in the generic address space.
    pub address: u64,
    /// The bytes that are read.
    pub bytes: u32,
    /// The block whose shared memory it belongs to.
    pub block: Option<u64>,
    /// The buffer or variable that it lies in.
    pub inside: Option<Inside>,
    /// The values that are read.
    pub values: Vec<u64>,
    /// Who reads it: one for each warp and instruction.
    pub readers: Vec<Place>,
    /// Who would write it, were nobody held up, and by which instruction.
    pub writers: Vec<Place>,
}

/// Lanes that execute nothing.
#[derive(Clone, PartialEq, Debug)]
pub struct Blocked {
    /// The warp.
    pub who: Who,
    /// Who they are, and where they would go on; those that wait for others: where they wait.
    pub place: Place,
    /// What holds them.
    pub by: Holds,
}

/// What holds lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Holds {
    /// A token that is not popped, and the instruction that pushed it.
    Token(Token, Option<Pc>),
    /// A barrier of the block: how many threads have come, of how many.
    Barrier {
        /// Its number.
        id: u32,
        /// Threads that have come.
        arrived: u32,
        /// Threads that it awaits.
        expected: u32,
    },
    /// Other members of a mask, or of the warp.
    Members(LaneMask),
    /// Nothing: they can step now and then, and a fair scheduler need not let them.
    Nothing,
}

/// The tokens of a warp, the top last, each with the instruction that pushed it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stack {
    /// The warp.
    pub who: Who,
    /// Its tokens.
    pub tokens: Vec<(Token, Pc)>,
}

/// Blocks that are not issued before others end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Unissued {
    /// The index of the first of them.
    pub first: u64,
    /// Blocks in the grid.
    pub total: u64,
    /// Blocks that are resident now: the device has no room for more.
    pub resident: u64,
}
