//! The steps of lanes.

use super::Promoted;
use super::caches::{At, Bytes, Group, NOBODY, UNIT, Value, below, set_below};
use super::hardware::View;
use super::pending::{Does, Instruction, Lane};
use crate::base::{Frame, number};
use crate::memory::flat::carry_out;
use crate::memory::rsp::instructions::{
    flush, invalidate, load, lock, lock_rmw, store, unlock, unlock_rmw, update_l1, update_l2,
};
use crate::memory::rsp::{Kind, Level, Row, Step};
use crate::memory::{Acted, Cx, Fault, LocalMemory, Near, Stores, Taken, Trouble};
use crate::program::env::Root;
use crate::program::instr::{MemOp, Slot, WarpRequest, value};
use crate::program::ops::{AtomOp, AtomTy};
use crate::verdict::{AccessId, AllocKind, Event, Performed, ReadsFrom, Rule, Sink, Stop};
use smallvec::SmallVec;

/// An access that is carried out on bytes that a cache holds.
struct Doing<'a, 'n, 'c, S> {
    rq: &'a WarpRequest,
    instruction: &'a Instruction,
    lane: Lane,
    regs: &'a mut Frame,
    near: &'a mut Near<'n>,
    cx: &'a mut Cx<'c, S>,
    /// What went wrong.
    failed: Taken,
}

impl<S: Sink> Doing<'_, '_, '_, S> {
    /// Carries the access out where device memory has `found` for as long; gives what is there then. Which operation it is, and what
    /// registers have to do with it, is flat memory's affair.
    fn on(&mut self, view: &mut View<'_>, found: &Value) -> Value {
        let Self { rq, instruction, lane, regs, near, cx, .. } = self;
        let (at, arena) = (lane.at, &mut *view.arena);
        let behind = below(arena, at.unit);
        set_below(arena, at, &found.bytes);
        let hint = cx.hints.at(instruction.at.pc);
        let done = carry_out(arena, 1 << lane.lane, rq, regs, near, hint);
        let bytes = below(arena, at.unit);
        set_below(arena, at, &behind);
        self.failed = done.and_then(|()| self.tell(found));
        Value { bytes, by: [self.instruction.access_id.of_lane(self.lane.lane.into()); UNIT] }
    }

    /// Tells whose writes a read has found, element by element.
    fn tell(&mut self, found: &Value) -> Taken {
        let Self { rq, instruction, lane, cx, .. } = self;
        let width = usize::from(rq.width);
        if !S::ON || rq.op == MemOp::Store || instruction.access_id == AccessId::NONE {
            return Ok(());
        }
        let first = lane.at.mask.trailing_zeros() as usize;
        for element in 0..usize::from(rq.elems.max(1)) {
            let place = first + element * width;
            let bytes = found.bytes.get(place..place + width).unwrap_or_default();
            let from = ReadsFrom {
                pc: instruction.at.pc,
                lane: lane.lane.into(),
                access_id: instruction.access_id.of_lane(lane.lane.into()),
                space: AllocKind::Global,
                address: lane.address + (element * width) as u64,
                writers: found.by.get(place..place + width).unwrap_or_default(),
                value: (width <= 8).then(|| number(bytes)),
            };
            cx.sink.event(instruction.at.who, Event::Performed(Performed::Read(from)))?;
        }
        Ok(())
    }

    /// The same for an update: nothing, if it stores nothing, as an exchange that does not find what it expects.
    fn updated(&mut self, view: &mut View<'_>, found: &Value) -> Option<Value> {
        let stores = match self.rq.op {
            MemOp::Atom(AtomOp::Cas, ty) | MemOp::Red(AtomOp::Cas, ty) => self.finds(ty, &found.bytes),
            _ => true,
        };
        let left = self.on(view, found);
        (stores && self.failed.is_ok()).then_some(left)
    }

    /// Whether a compare-exchange finds what it expects.
    fn finds(&self, ty: AtomTy, found: &Bytes) -> bool {
        let (width, first) = (ty.bytes() as usize, self.lane.at.mask.trailing_zeros() as usize);
        let there = found.iter().skip(first).take(width).rev().fold(0, |n, b| n << 8 | u128::from(*b));
        let lane = usize::from(self.lane.lane);
        let half = |slot| u128::from(value(self.regs, self.rq.class(), slot, lane).unwrap_or(0));
        let slot = self.rq.regs[1];
        let expected = if width == 16 { half(slot) | half(Slot(slot.0.saturating_add(1))) << 64 } else { half(slot) };
        let bits = if width >= 16 { !0 } else { (1 << (8 * width)) - 1 };
        there == expected & bits
    }
}

impl Promoted {
    /// A lane makes its next step, if it is not blocked.
    pub(super) fn step_lane<S: Sink>(
        &mut self,
        (slot, lane): (usize, usize),
        stores: &mut dyn Stores,
        cx: &mut Cx<'_, S>,
    ) -> Acted {
        let Some((instruction, at)) = self.pending.lane(slot, lane) else { return Ok(()) };
        let instruction = instruction.clone();
        let trouble = |fault| Box::new(Trouble { at: instruction.at, lanes: 1 << lane, fault });
        if self.waits(&instruction, at).is_some() {
            self.look(slot, lane);
            return Ok(());
        }
        let steps: SmallVec<[Step; 8]> = self.steps(&instruction.does).into();
        let Some(step) = steps.get(usize::from(at.done)).copied() else { return Ok(()) };
        let fired = match (step, &instruction.does) {
            (Step::Access, Does::Access(rq, row)) => {
                self.woken.push(instruction.at.who);
                let done = self.carry((&instruction, at), rq, *row, stores, cx);
                done.map_err(|fault| trouble(*fault))?
            }
            _ => self.apply(step, &instruction, at),
        };
        let last = usize::from(at.done) + 1 == steps.len();
        self.advance((slot, lane), &instruction, at, last);
        if S::ON {
            let stop = |stop| trouble(Fault::Stop(stop));
            for rule in fired.into_iter().chain(self.settle()) {
                cx.sink.fire(instruction.at.who, rule).map_err(stop)?;
            }
            self.tell_arrived(instruction.at.who, cx).map_err(stop)?;
            self.tell_step(&instruction, at, last, cx).map_err(stop)?;
            if last && matches!(instruction.does, Does::Fence(..)) {
                let (pc, lanes) = (instruction.at.pc, instruction.lanes);
                cx.sink.event(instruction.at.who, Event::Performed(Performed::Fence { pc, lanes })).map_err(stop)?;
            }
        } else {
            self.settle();
        }
        Ok(())
    }

    /// A step is done: what the entry is used for changes, and the lane goes on.
    fn advance(&mut self, (slot, lane): (usize, usize), instruction: &Instruction, at: Lane, last: bool) {
        if let Does::Access(_, row) = &instruction.does {
            let steps = self.steps(&instruction.does);
            let accessed = steps.get(usize::from(at.done)) == Some(&Step::Access) && reads(*row);
            let below = last && goes_below(*row, steps);
            if accessed || below {
                self.uses(instruction.at, at.at.unit, |entry| {
                    entry.reads = entry.reads.saturating_sub(accessed.into());
                    entry.below = entry.below.saturating_sub(below.into());
                });
            }
        }
        let number = super::Numbered::Lane(slot, lane);
        self.ready.set(number, false);
        if self.pending.advance(slot, lane, last) {
            self.woken.push(instruction.at.who);
        } else if !last {
            self.look(slot, lane);
        }
    }

    /// The access of a lane.
    fn carry<S: Sink>(
        &mut self,
        (instruction, lane): (&Instruction, Lane),
        rq: &WarpRequest,
        row: Row,
        stores: &mut dyn Stores,
        cx: &mut Cx<'_, S>,
    ) -> Result<Option<Rule>, Box<Fault>> {
        let at = instruction.at;
        let gone = || {
            let stop = Stop::internal("a memory operation is in flight whose warp is gone", None);
            Box::new(Fault::Stop(stop))
        };
        // The frame is taken out while the block's shared memory is at hand.
        let mut regs = stores.frame(at.who, at.depth).map(std::mem::take).ok_or_else(gone)?;
        let (mut local, map) = (LocalMemory::default(), self.arena.windows());
        let shared = stores.shared(at.who.launch, at.who.block).ok_or_else(gone)?;
        let mut near = Near { shared, local: &mut local, param: &[], map: &map, root: Root::NONE, uses: None };
        let mut doing = Doing { rq, instruction, lane, regs: &mut regs, near: &mut near, cx, failed: Ok(()) };
        let (thread, view) = (instruction.thread(lane.lane), &mut self.view());
        let (group, place) = (thread.group(), lane.at);
        let fired = match (row.kind, row.width.level()) {
            (Kind::Load, _) => load(view, group, place).map(|(found, fired)| {
                doing.on(view, &found);
                fired
            }),
            (Kind::Store, _) => {
                let stored = doing.on(view, &Value { bytes: [0; UNIT], by: NOBODY });
                doing.failed.is_ok().then(|| store(view, group, place, stored))
            }
            (Kind::Update, Level::L1) => update_l1(view, thread, place, |v, found| doing.updated(v, &found)),
            (Kind::Update, _) => update_l2(view, thread, place, |v, found| doing.updated(v, &found)),
        };
        let failed = std::mem::replace(&mut doing.failed, Ok(()));
        if let Some(frame) = stores.frame(at.who, at.depth) {
            *frame = regs;
        }
        failed.map(|()| fired)
    }

    /// A step that accesses nothing.
    fn apply(&mut self, step: Step, instruction: &Instruction, lane: Lane) -> Option<Rule> {
        let (thread, at): (_, At) = (instruction.thread(lane.lane), lane.at);
        let (group, view): (Group, _) = (thread.group(), &mut self.view());
        match step {
            Step::Access => None,
            Step::Flush(level, reach) => Some(flush(view, thread, level, reach)),
            Step::Invalidate(level, reach) => Some(invalidate(view, group, level, reach)),
            Step::Lock => lock(view, thread, at),
            Step::Unlock => Some(unlock(view, thread, at)),
            Step::LockRmw(reach) => lock_rmw(view, thread, reach),
            Step::UnlockRmw(reach) => Some(unlock_rmw(view, group, reach)),
        }
    }
}

/// Whether a row reads the entry of the own cache.
pub(super) fn reads(row: Row) -> bool {
    matches!((row.kind, row.width.level()), (Kind::Load, _) | (Kind::Update, Level::L1))
}

/// Whether a row writes below the own cache by itself, or locks the location.
pub(super) fn goes_below(row: Row, steps: &[Step]) -> bool {
    row.kind == Kind::Update && row.width.level() != Level::L1 || steps.contains(&Step::Lock)
}
