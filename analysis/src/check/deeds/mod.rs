//! What the threads of a run did: every access of memory that others see, with its address, what it read and wrote, and whose write each read
//! returned; fences, and who met at barriers (D-extract).
//!
//! Where an access takes effect when it is told, memory is as it was before it, and who wrote last is kept here, byte by byte. Where accesses act
//! later, memory carries with each byte which access wrote it (D-races-caches) and tells what a read returned and which writes came to where everybody
//! looks: the accesses are named here.

mod watch;

use crate::base::Pc;
use crate::program::instr::{MemOp, Order, Scope};
use crate::verdict::{Named, Shape};
pub use watch::Deeds;

/// The write that bytes were taken from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// The read has not found its value, or the access does not read.
    None,
    /// All are there since before the launch.
    Initial,
    /// All were written by this deed.
    Deed(u32),
    /// By different ones, one for each byte; none: there since before the launch.
    Several(Box<[Option<u32>]>),
}

impl Source {
    /// That of bytes which were written by these.
    fn of(writers: impl Iterator<Item = Option<u32>>) -> Self {
        let all: Vec<Option<u32>> = writers.collect();
        match all.first() {
            None => Self::None,
            Some(first) if all.iter().any(|other| other != first) => Self::Several(all.into()),
            Some(None) => Self::Initial,
            Some(Some(deed)) => Self::Deed(*deed),
        }
    }

    /// The write of a byte; none: it is not known. The inner none: it is there since before the launch.
    #[must_use]
    pub fn of_byte(&self, at: usize) -> Option<Option<u32>> {
        match self {
            Self::None => None,
            Self::Initial => Some(None),
            Self::Deed(deed) => Some(Some(*deed)),
            Self::Several(all) => all.get(at).copied(),
        }
    }
}

/// Where memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Spot {
    /// The block whose shared memory it is; none for device memory.
    pub block: Option<u64>,
    /// The address in the generic address space.
    pub address: u64,
}

/// An access of one element by one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Touch {
    /// Its first byte.
    pub spot: Spot,
    /// How many there are.
    pub bytes: u32,
    /// What it does.
    pub op: MemOp,
    /// How it orders others.
    pub order: Order,
    /// For whom.
    pub scope: Scope,
    /// What it read, least significant byte first. None: nothing, or it is longer than 8 bytes, or it has not read yet.
    pub read: Option<u64>,
    /// What it wrote, in the same way.
    pub wrote: Option<u64>,
    /// The operands of an atomic operation.
    pub operands: [u64; 2],
    /// Whose write it read.
    pub from: Source,
    /// When its write came to where everybody looks, among all writes of the launch. None: it does not write, or was overwritten before, or the run
    /// ended before.
    pub arrived: Option<u64>,
}

impl Touch {
    /// Whether it writes.
    #[must_use]
    pub const fn writes(&self) -> bool {
        !matches!(self.op, MemOp::Load)
    }

    /// Whether it reads.
    #[must_use]
    pub const fn reads(&self) -> bool {
        !matches!(self.op, MemOp::Store)
    }

    /// Its bytes.
    pub fn spots(&self) -> impl Iterator<Item = Spot> + use<> {
        let Spot { block, address } = self.spot;
        (0..u64::from(self.bytes)).map(move |k| Spot { block, address: address.wrapping_add(k) })
    }

    /// Whether two have a byte in common.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        let (first, second) = (self.spot, other.spot);
        first.block == second.block
            && first.address < second.address.saturating_add(other.bytes.into())
            && second.address < first.address.saturating_add(self.bytes.into())
    }
}

/// What a thread did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// It accessed memory that others see.
    Access(Touch),
    /// It fenced.
    Fence(Order, Scope),
    /// It came to a barrier of its block, or of its warp: who has the same number met.
    Meet {
        /// Which meeting.
        meeting: u32,
        /// Whether it went on only when all had come.
        waits: bool,
    },
    /// It came to the barrier of its cluster, where to arrive and to wait are apart.
    Cluster,
}

/// A deed of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deed {
    /// The thread's number in the grid: those of a block follow each other.
    pub thread: u64,
    /// Its block.
    pub block: u64,
    /// The instruction.
    pub pc: Pc,
    /// What it did.
    pub what: What,
}

impl Deed {
    /// Its access, if it is one.
    #[must_use]
    pub const fn touch(&self) -> Option<&Touch> {
        if let What::Access(touch) = &self.what { Some(touch) } else { None }
    }
}

/// What was done in a launch.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its shape.
    pub shape: Shape,
    /// The buffers and variables.
    pub names: Vec<Named>,
    /// The deeds, those of a thread in program order; elements of a vector, which have no order, as they are told.
    pub deeds: Vec<Deed>,
}
