//! What becomes of accesses that take effect after their instruction, on memory with caches.

use super::AllocKind;
use crate::base::{LaneMask, Pc};
use std::hash::{Hash, Hasher};

/// A name that an observer gives to an access of a lane, so that it is told later whose writes reads observe. States that
/// differ in such names only are the same: it does not count for a hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AccessId(pub u64);

impl AccessId {
    /// Nobody asked.
    pub const NONE: Self = Self(0);

    /// The name of a lane's part of an instruction whose first lane has this one.
    #[must_use]
    pub const fn of_lane(self, lane: usize) -> Self {
        if self.0 == 0 { self } else { Self(self.0 + (lane as u64 & 31)) }
    }
}

impl Hash for AccessId {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// Something that took effect after its instruction was executed.
#[derive(Clone, Copy, Debug)]
pub enum Performed<'a> {
    /// A lane's read, one element of it, has found its value.
    Read(ReadsFrom<'a>),
    /// What a lane wrote is where threads of every multiprocessor look.
    Write(Arrived),
    /// A fence's condition holds.
    Fence {
        /// The instruction; a fence that an access implies has the access's.
        pc: Pc,
        /// Its lanes.
        lanes: LaneMask,
    },
}

/// What a read found, and who wrote it.
#[derive(Clone, Copy, Debug)]
pub struct ReadsFrom<'a> {
    /// The instruction.
    pub pc: Pc,
    /// Its lane.
    pub lane: u32,
    /// What the observer called the read.
    pub access_id: AccessId,
    /// Global memory, or shared memory.
    pub space: AllocKind,
    /// The address of the element, in shared memory its offset.
    pub address: u64,
    /// What the observer called the write of each byte; [`AccessId::NONE`] for the host's, and for one that it gave no name.
    pub writers: &'a [AccessId],
    /// What it found, least significant byte first; `None` above 8 bytes.
    pub value: Option<u64>,
}

/// Bytes of a write that have come to where threads of every multiprocessor look: to the L2, to memory behind it, or to shared memory. The
/// order in which writes come there is that in which they take effect (coherence order). The same bytes may be told again, where a line is
/// written back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrived {
    /// What the observer called the write.
    pub access_id: AccessId,
    /// Global memory, or shared memory.
    pub space: AllocKind,
    /// The address of the first byte, in shared memory its offset.
    pub address: u64,
    /// How many there are.
    pub bytes: u32,
}
