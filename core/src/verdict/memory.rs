//! What memory tells of itself: the steps that it makes on its own, and the environment as the report's tables have it
//! (4.2, 4.3 and 4.6): caches with their lines, operations in flight, locks.
//!
//! Looking costs time and space, so events carry a [`Look`], which makes the data when somebody asks for it.

use super::{Rule, Who};
use crate::base::{LaneMask, Pc};
use serde::Serialize;

/// Something to look at: made when it is asked for.
pub struct Look<'a, T>(&'a dyn Fn() -> T);

impl<'a, T> Look<'a, T> {
    /// What `make` makes.
    pub const fn new(make: &'a dyn Fn() -> T) -> Self {
        Self(make)
    }

    /// Looks.
    #[must_use]
    pub fn look(&self) -> T {
        (self.0)()
    }
}

impl<T> Clone for Look<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Look<'_, T> {}

impl<T> std::fmt::Debug for Look<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Look")
    }
}

/// A memory that an address belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Region {
    /// Addresses of the generic address space.
    Generic,
    /// Global memory.
    Global,
    /// Constant memory.
    Const,
    /// The parameters of a launch.
    Param,
    /// Offsets in the shared memory of the operation's block.
    Shared,
    /// Local memory of a warp. A lane's address is an offset in its own; a line's one among the words of all the threads,
    /// which are interleaved.
    Local(Who),
}

/// Bytes that a lane accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneBytes {
    /// The lane.
    pub lane: u32,
    /// Its first address.
    pub address: u64,
    /// How many bytes.
    pub bytes: u32,
    /// What it writes, or has read by now, least significant byte first; `None` before it has read.
    pub value: Option<u128>,
}

/// An operation in flight.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OperationView {
    /// The warp that issued it.
    pub who: Who,
    /// Its place among the operations of its warp, in the order of issue, from 0.
    pub place: u32,
    /// The instruction.
    pub pc: Pc,
    /// The lanes that it is for.
    pub lanes: LaneMask,
    /// The multiprocessor.
    pub processor: u32,
    /// What it is: the name of the operation that its memory program serves.
    pub name: String,
    /// The file of its memory program, "" where it has none.
    pub file: String,
    /// The line of its next statement, from 1; 0 where it has no program.
    pub line: u32,
    /// The memory that it accesses; `None` for an update of registers, or a fence.
    pub region: Option<Region>,
    /// What each lane accesses.
    pub accesses: Vec<LaneBytes>,
    /// Operands of an atomic operation; the first is the new value once that is computed.
    pub operands: Vec<u128>,
    /// How many operations of its warp it has to wait for before it may begin.
    pub above: u32,
    /// Whether all it could do now is to wait.
    pub waits: bool,
}

/// A line of a cache. Masks have a bit for each byte, the lowest for the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineView {
    /// Its set.
    pub set: u32,
    /// Its place in the set: lines in use are ordered by address, which way holds them is not part of the state.
    pub way: u32,
    /// The memory that it is a copy of.
    pub region: Region,
    /// Address of its first byte.
    pub base: u64,
    /// Its bytes; `None` for those that are not valid.
    pub bytes: Vec<Option<u8>>,
    /// Bytes that are newer than the next level's.
    pub dirty: u128,
    /// Bytes that are being fetched.
    pub filling: u128,
    /// The operations that pin it, as indices among [`MemoryView::operations`].
    pub pins: Vec<usize>,
    /// Whether it is evicted before others (class `first`).
    pub first: bool,
}

/// Which cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhichCache {
    /// The L2.
    L2,
    /// The L1 of a multiprocessor.
    Processor(u32),
    /// The L1 of a block, where each has its own.
    Block(u64),
}

impl From<Option<u32>> for WhichCache {
    fn from(processor: Option<u32>) -> Self {
        processor.map_or(Self::L2, Self::Processor)
    }
}

/// A cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheView {
    /// Which it is.
    pub cache: WhichCache,
    /// Sets, lines of a set, and bytes of a line.
    pub shape: [u32; 3],
    /// The lines in use, by set and address.
    pub lines: Vec<LineView>,
}

/// The memory environment at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MemoryView {
    /// The operations in flight, by warp and order of issue.
    pub operations: Vec<OperationView>,
    /// The caches that have lines in use, L1s by multiprocessor and then the L2.
    pub caches: Vec<CacheView>,
    /// The locked banks of shared memory by multiprocessor, those with any.
    pub locked: Vec<(u32, u64)>,
    /// The mutexes that warps have, as entries of the pool.
    pub mutexes: Vec<(Who, u32)>,
    /// The synchronisation fifos of blocks' caches that are not empty, what leaves first before the rest.
    pub fifos: Vec<(u64, Vec<MarkView>)>,
    /// Locks of remote accesses, and the warp and lane that has each.
    pub locks: Vec<(LockView, Who, u32)>,
}

/// What is in a synchronisation fifo.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkView {
    /// Bytes that were written: the address of their unit, and a mask.
    Written(u64, u128),
    /// A flush that a lane of a warp waits for.
    Flush(Who, u32),
}

/// A lock of remote accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockView {
    /// Of read-modify-writes of a block.
    Updates(u64),
    /// Of the unit at an address, in the lock file.
    Unit(u64),
}

/// How a micro step ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StepEnd {
    /// At a `yield`: the operation goes on later.
    Yields,
    /// It has to wait.
    Waits,
    /// The operation has ended.
    Ends,
    /// No rule applies.
    Stuck,
}

/// A step that memory made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MemoryStep {
    /// A micro step of an operation.
    Operation {
        /// The operation after it.
        operation: OperationView,
        /// The line of its program at which it began; 0 where it has none.
        from: u32,
        /// How it ended.
        end: StepEnd,
    },
    /// A silent rule fired.
    Silent {
        /// Which.
        rule: Rule,
        /// The cache that it acted on.
        cache: WhichCache,
        /// The line: its memory and the address of its first byte; `None`: all global lines.
        line: Option<(Region, u64)>,
        /// The bytes that were written back, as a mask.
        written: u128,
    },
}
