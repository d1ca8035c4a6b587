//! What is in flight: the copies, or the arrivals, of one instruction.

use super::side::{Deed, Place};
use crate::alu::ops::{AtomOp, AtomTy};
use crate::base::LaneMask;
use crate::base::mutant::{Mutant, on};
use crate::memory::{Issuer, Waits};
use crate::verdict::{AccessId, LaneBytes, OperationView, Region};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// What a lane has set off.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(in crate::memory) struct Part {
    /// The lane.
    pub lane: u8,
    /// The bytes that are written.
    pub bytes: u32,
    /// The bytes that are taken from the source; the rest are zeros.
    pub taken: u32,
    /// The source: an address of device memory, or an offset in the block's shared memory.
    pub from: u64,
    /// The destination, in the same way.
    pub to: u64,
    /// The barrier that is told of a bulk copy, in the block's shared memory.
    pub barrier: u64,
    /// What has been read from the source, or came from registers.
    pub held: Vec<u8>,
    /// What an observer calls its access of the barrier.
    #[serde(skip)]
    pub access_id: AccessId,
}

/// What one instruction has set off, as its lanes have it in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(in crate::memory) enum Kind {
    /// `cp.async`: from device memory, by way of the L1 cache or past it, to shared memory.
    Small(Place),
    /// `cp.async.mbarrier.arrive`: arrivals, which wait for all earlier `cp.async` of their threads.
    Arrival,
    /// `cp.async.bulk`, `cp.reduce.async.bulk`, `st.async`, `red.async`.
    Bulk(Bulk),
}

/// A bulk copy, or what is done in the same way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(in crate::memory) struct Bulk {
    /// Where it reads.
    pub from: Source,
    /// It writes device memory, not shared memory. Then its thread waits for it in groups, and it reads its source some time before
    /// it writes; else a barrier is told when it has written.
    pub to_device: bool,
    /// It combines what it reads with what is there, element by element.
    pub combines: Option<(AtomOp, AtomTy)>,
}

impl Bulk {
    /// Where it writes.
    pub const fn to(self) -> Place {
        if self.to_device { Place::Far } else { Place::Shared }
    }

    /// What it does there.
    pub const fn does(self) -> Deed {
        if self.combines.is_some() { Deed::Updates } else { Deed::Writes }
    }
}

/// Where a bulk copy reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(in crate::memory) enum Source {
    /// Device memory.
    Device,
    /// The block's shared memory.
    Shared,
    /// Registers, at the instruction.
    Registers,
}

impl Source {
    /// The memory that it is; none for registers.
    pub const fn place(self) -> Option<Place> {
        match self {
            Self::Device => Some(Place::Far),
            Self::Shared => Some(Place::Shared),
            Self::Registers => None,
        }
    }
}

/// What lanes have set off and has not come to its end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Copy {
    pub(super) at: Issuer,
    pub(super) kind: Kind,
    /// How many groups their threads have committed after theirs, 255 where it is more; `None`: theirs is not committed.
    pub(super) age: Option<u8>,
    /// It lands when none of so many of the oldest operations that its warp has in flight comes before it any more.
    pub(super) behind: u32,
    /// By lane, in ascending order.
    pub(super) parts: SmallVec<[Part; 2]>,
}

impl Copy {
    /// What lanes set off, in ascending order.
    pub(in crate::memory) fn new(at: Issuer, kind: Kind, parts: impl Iterator<Item = Part>) -> Self {
        Self { at, kind, age: None, behind: 0, parts: parts.collect() }
    }

    pub(super) fn lanes(&self) -> LaneMask {
        self.parts.iter().fold(0, |lanes, part| lanes | 1 << part.lane)
    }

    /// Whether it is not a copy but an arrival.
    pub(super) const fn arrives(&self) -> bool {
        matches!(self.kind, Kind::Arrival)
    }

    /// Whether it belongs to groups: those of bulk copies, or the others.
    pub(super) const fn has_groups(&self, bulk: bool) -> bool {
        match self.kind {
            Kind::Small(_) => !bulk,
            Kind::Arrival => false,
            Kind::Bulk(Bulk { to_device, .. }) => bulk && to_device,
        }
    }

    /// Whether it reads and writes at different times, and has not read.
    pub(super) fn is_unread(&self) -> bool {
        self.has_groups(true) && self.parts.iter().any(|part| part.held.is_empty())
    }

    /// Whether a wait is for it.
    pub(super) fn is_awaited(&self, wait: Waits) -> bool {
        let older = |newest: u8| {
            let newest = newest.saturating_add(on(Mutant::CopyWaitYounger).into());
            self.age.is_some_and(|age| age >= newest)
        };
        match wait {
            Waits::Copies(_) if on(Mutant::CopyWaitIgnored) => false,
            Waits::Copies(newest) => self.has_groups(false) && newest.is_none_or(older),
            Waits::Bulk { read: true, .. } if on(Mutant::BulkReadIgnored) => false,
            Waits::Bulk { newest, read } => self.has_groups(true) && older(newest) && (!read || self.is_unread()),
            _ => false,
        }
    }

    /// Where it writes.
    const fn region(&self) -> Region {
        match self.kind {
            Kind::Bulk(Bulk { to_device: true, .. }) => Region::Global,
            _ => Region::Shared,
        }
    }

    const fn name(&self) -> &'static str {
        match self.kind {
            Kind::Small(_) => "cp.async",
            Kind::Arrival => "cp.async.mbarrier.arrive",
            Kind::Bulk(Bulk { from: Source::Registers, combines: None, .. }) => "st.async",
            Kind::Bulk(Bulk { from: Source::Registers, .. }) => "red.async",
            Kind::Bulk(Bulk { combines: None, .. }) => "cp.async.bulk",
            Kind::Bulk(_) => "cp.reduce.async.bulk",
        }
    }

    /// What its lanes write.
    pub(super) fn accesses(&self) -> Vec<LaneBytes> {
        let of = |part: &Part| LaneBytes {
            lane: part.lane.into(),
            address: part.to,
            bytes: if self.arrives() { 8 } else { part.bytes },
            value: None,
        };
        self.parts.iter().map(of).collect()
    }

    /// As an operation of memory.
    pub(super) fn shown(&self, accesses: Vec<LaneBytes>) -> OperationView {
        OperationView {
            who: self.at.who,
            pc: self.at.pc,
            lanes: self.lanes(),
            processor: self.at.sm,
            name: self.name().to_owned(),
            region: Some(self.region()),
            accesses,
            ..OperationView::default()
        }
    }
}
