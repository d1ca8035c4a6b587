//! What an observer is told of accesses when they are performed: whose writes reads find.

use super::wavefront::Instruction;
use crate::base::Frame;
use crate::memory::Cx;
use crate::memory::copies::Side;
use crate::memory::flat::lane_address;
use crate::program::env::AddressMap;
use crate::program::instr::{MemOp, NO_SLOT, Space};
use crate::verdict::{AccessId, AllocKind, Arrived, Event, Performed, ReadsFrom, Sink, Stop};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The names of the accesses that wrote bytes: of global memory, or of a block's shared memory, by address or offset. There are none
/// where no observer gives names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Writers(FxHashMap<(Option<(u32, u64)>, u64), AccessId>);

impl Writers {
    /// A block is gone, and its shared memory.
    pub fn forget(&mut self, launch: u32, block: u64) {
        if !self.0.is_empty() {
            self.0.retain(|(of, _), _| *of != Some((launch, block)));
        }
    }

    /// Where a copy accesses memory, byte by byte.
    fn keys(side: &Side) -> impl Iterator<Item = (Option<(u32, u64)>, u64)> + use<> {
        let of = side.is_shared().then_some((side.at.who.launch, side.at.who.block));
        side.range().map(move |address| (of, address))
    }

    /// A copy has written bytes, which are nobody's from now on.
    pub fn overwritten(&mut self, side: &Side) {
        if !self.0.is_empty() {
            Self::keys(side).for_each(|key| _ = self.0.remove(&key));
        }
    }

    /// A copy has told a barrier, which held a word before.
    pub fn barrier_told<S: Sink>(
        &mut self,
        side: &Side,
        by: AccessId,
        word: u64,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Stop> {
        if by == AccessId::NONE {
            self.overwritten(side);
            return Ok(());
        }
        let (who, pc, lane) = (side.at.who, side.at.pc, side.lane.into());
        let (space, address, bytes) = (AllocKind::Shared, side.address, side.bytes);
        let of = |key| self.0.get(&key).copied().unwrap_or_default();
        let writers: SmallVec<[AccessId; 16]> = Self::keys(side).map(of).collect();
        let read = ReadsFrom { pc, lane, access_id: by, space, address, writers: &writers, value: Some(word) };
        cx.sink.event(who, Event::Performed(Performed::Read(read)))?;
        Self::keys(side).for_each(|key| _ = self.0.insert(key, by));
        let arrived = Arrived { access_id: by, space, address, bytes };
        cx.sink.event(who, Event::Performed(Performed::Write(arrived)))
    }
}

/// A lane's access.
#[derive(Clone, Copy)]
pub(super) struct Touched<'a> {
    pub instruction: &'a Instruction,
    pub lane: usize,
    /// Where: of shared memory the offset.
    pub address: u64,
    pub shared: bool,
}

impl<'a> Touched<'a> {
    /// The access of a lane whose registers these are.
    pub fn of(instruction: &'a Instruction, lane: usize, shared: bool, (regs, map): (&Frame, &AddressMap)) -> Self {
        let rq = &instruction.request;
        let address = lane_address(rq, regs, lane);
        let near = |address| map.inside(address).map_or(address, |(_, offset)| offset);
        let address = if shared && rq.space == Space::Generic { near(address) } else { address };
        Self { instruction, lane, address, shared }
    }

    /// The bytes of its elements: how far they are from its address, and how many.
    fn elements(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let rq = &self.instruction.request;
        let width = match rq.op {
            MemOp::Atom(_, ty) | MemOp::Red(_, ty) => ty.bytes(),
            MemOp::Load | MemOp::Store => rq.width.into(),
        };
        let moves = matches!(rq.op, MemOp::Load | MemOp::Store);
        let all = (0..usize::from(rq.elems.max(1)))
            .filter(move |k| !moves || rq.regs.get(*k).is_some_and(|slot| *slot != NO_SLOT));
        all.map(move |k| (k as u64 * u64::from(width), width))
    }

    const fn space(&self) -> AllocKind {
        if self.shared { AllocKind::Shared } else { AllocKind::Global }
    }

    const fn key(&self, address: u64) -> (Option<(u32, u64)>, u64) {
        let who = self.instruction.at.who;
        (if self.shared { Some((who.launch, who.block)) } else { None }, address)
    }

    fn name(&self) -> AccessId {
        self.instruction.access_id.of_lane(self.lane)
    }

    /// It reads: tells what it finds, which `number` knows by address and size.
    pub fn tell_reads<S: Sink>(
        &self,
        writers: &Writers,
        number: impl Fn(u64, u32) -> Option<u64>,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Stop> {
        if self.instruction.request.op == MemOp::Store {
            return Ok(());
        }
        let at = self.instruction.at;
        self.elements().try_for_each(|(offset, bytes)| {
            let address = self.address.wrapping_add(offset);
            let of = |k| writers.0.get(&self.key(address.wrapping_add(k))).copied().unwrap_or_default();
            let writers: SmallVec<[AccessId; 16]> = (0..u64::from(bytes)).map(of).collect();
            let (lane, access_id) = (u32::try_from(self.lane).unwrap_or(0), self.name());
            let (space, value) = (self.space(), number(address, bytes));
            let read = ReadsFrom { pc: at.pc, lane, access_id, space, address, writers: &writers, value };
            cx.sink.event(at.who, Event::Performed(Performed::Read(read)))
        })
    }

    /// It has written: tells that its bytes are where everybody looks.
    pub fn tell_writes<S: Sink>(&self, writers: &mut Writers, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        if self.instruction.request.op == MemOp::Load {
            return Ok(());
        }
        let at = self.instruction.at;
        self.elements().try_for_each(|(offset, bytes)| {
            let address = self.address.wrapping_add(offset);
            let all = (0..u64::from(bytes)).map(|k| self.key(address.wrapping_add(k)));
            all.for_each(|key| _ = writers.0.insert(key, self.name()));
            let arrived = Arrived { access_id: self.name(), space: self.space(), address, bytes };
            cx.sink.event(at.who, Event::Performed(Performed::Write(arrived)))
        })
    }
}
