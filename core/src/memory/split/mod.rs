//! Flat memory whose lanes access it one by one (`semantics.md`, section 5: `--lanes split`).
//!
//! The accesses of one warp instruction take effect lane by lane, and vectors element by element, in any order and
//! interleaved with those of other warps; the instruction completes before its lanes go on. So this is sequential
//! consistency of threads in lockstep, where [`Flat`](super::flat::Flat) makes an instruction's accesses atomic together.
//!
//! A request becomes one operation for each lane and element that accesses global or shared memory; its step is
//! flat memory's own access of that one lane. So nobody sees that a warp has executed a memory instruction before one of these
//! steps, as with caches; accesses of local memory, of parameters and constants, which nobody else can see, are done at
//! once. Addresses are checked when the instruction is executed. An access of 128 bits that is no vector is one operation.

mod bytes;
mod lsc;
mod pending;
mod slsc;

pub use lsc::Lsc;
pub use slsc::Slsc;

use super::fermi::program::OpKind;
use super::flat::{Arena, Told, carry_out, lane_address, places, tell};
use super::{
    Acted, Active, Cx, Environment, Fault, Held, Issuer, LocalMemory, Memory, Movable, Near, OperationName, Part,
    Snapshot, Stores, Taken, Trouble, Uses,
};
use crate::base::{LaneMask, lanes_of, sort};
use crate::program::env::Root;
use crate::program::instr::{MemOp, NO_SLOT, Space, WarpRequest, value};
use crate::verdict::{Event, LaneBytes, Look, MemoryStep, MemoryView, OperationView, Region, Sink, StepEnd, Stop, Who};
use pending::{Instruction, Pending};

/// Flat memory that is accessed lane by lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Split {
    arena: Arena,
    pending: Pending,
    woken: Vec<Who>,
}

impl Environment for Split {
    type Model = ();

    fn create((): &(), base: u64, cap: Option<u64>) -> Self {
        Self { arena: Arena::create(&(), base, cap), pending: Pending::default(), woken: Vec::new() }
    }
}

/// How many operations one lane's part of a request is, and which elements they are; elements that go nowhere are none.
fn elements(rq: &WarpRequest) -> impl Iterator<Item = usize> + '_ {
    let vector = matches!(rq.op, MemOp::Load | MemOp::Store) && rq.elems > 1;
    let all = 0..usize::from(rq.elems.max(1));
    all.filter(move |k| !vector || rq.regs.get(*k).is_some_and(|slot| *slot != NO_SLOT))
}

/// One element of a vector as a request of its own.
fn element(rq: &WarpRequest, k: usize) -> WarpRequest {
    if rq.elems < 2 {
        return *rq;
    }
    let mut regs = [NO_SLOT; 8];
    match rq.op {
        MemOp::Load | MemOp::Store => regs[0] = rq.regs[k],
        MemOp::Atom(..) | MemOp::Red(..) => [regs[0], regs[1], _] = rq.atomic_slots(k),
    }
    WarpRequest { elems: 1, regs, offset: rq.offset + i64::from(rq.width) * k as i64, ..*rq }
}

/// Lanes of an instruction whose accesses have not taken effect, for people.
fn shown(at: Issuer, lanes: LaneMask, rq: &WarpRequest) -> OperationView {
    OperationView {
        who: at.who,
        pc: at.pc,
        lanes,
        processor: at.sm,
        name: OpKind::of(rq.op).name().to_owned(),
        region: Some(if rq.space == Space::Shared { Region::Shared } else { Region::Generic }),
        ..OperationView::default()
    }
}

impl Snapshot for Split {
    fn sections(&self) -> u32 {
        self.arena.sections()
    }

    fn changed(&mut self, out: &mut Vec<u32>) {
        self.arena.changed(out);
    }

    fn save(&self, part: Part, out: &mut Vec<u8>) {
        match part {
            Part::Warp(who) => self.pending.save(who, out),
            Part::Heap | Part::Shared(_) => self.arena.save(part, out),
        }
    }

    fn load(&mut self, part: Part, from: &[u8]) {
        match part {
            Part::Warp(who) => self.pending.load(who, from),
            Part::Heap | Part::Shared(_) => self.arena.load(part, from),
        }
    }
}

impl Memory for Split {
    const IMMEDIATE: bool = false;

    fn arena(&self) -> &Arena {
        &self.arena
    }

    fn arena_mut(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn issue<S: Sink>(&mut self, on: Active<'_, '_>, request: &WarpRequest, cx: &mut Cx<'_, S>) -> Taken {
        self.take_in(on, request, cx, false)
    }

    fn blocked(&self, at: Issuer, _: &Uses, lanes: LaneMask) -> LaneMask {
        self.pending.held(at.who) & lanes
    }

    fn ready(&self) -> &[u64] {
        self.pending.ready()
    }

    fn pending(&self) -> usize {
        self.pending.len()
    }

    fn movable(&self, who: Who, out: &mut Vec<Movable>) {
        self.pending.movable(who, out);
    }

    fn operation(&self, launch: u32, name: OperationName) -> Option<u32> {
        self.pending.number(launch, name)
    }

    fn step<S: Sink>(&mut self, number: u32, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let Some((instruction, lane, k)) = self.pending.take(number) else { return Ok(()) };
        // Also when lanes are left: whoever keeps what registers hold must look again.
        self.woken.push(instruction.at.who);
        self.act(&instruction, (lane, k), stores, cx)
    }

    fn woken(&mut self, out: &mut Vec<Who>) {
        out.append(&mut self.woken);
    }

    fn in_flight(&self, launch: u32, block: Option<u64>) -> usize {
        self.pending.warps().filter(|w| w.launch == launch && block.is_none_or(|b| b == w.block)).count()
    }

    fn view(&self) -> MemoryView {
        let mut all: Vec<(&Instruction, LaneMask)> = self.pending.lanes_left().collect();
        sort::sort_by_key(&mut all, |(i, _)| i.order());
        let operations = all.into_iter().map(|(i, lanes)| shown(i.at, lanes, &i.request)).collect();
        MemoryView { operations, ..MemoryView::default() }
    }
}

impl Split {
    /// Takes in a request; `whole`: its lanes access memory together.
    fn take_in<S: Sink>(
        &mut self,
        on: Active<'_, '_>,
        request: &WarpRequest,
        cx: &mut Cx<'_, S>,
        whole: bool,
    ) -> Taken {
        let Active { at, mask, lanes, regs, near } = on;
        let places = places(&self.arena, mask, request, regs, near, cx.hints.at(at.pc))?;
        let shared = |l: &usize| matches!(places[*l].0, Space::Global | Space::Shared);
        let later: LaneMask = lanes_of(mask).filter(shared).fold(0, |m, l| m | 1 << l);
        self.arena.issue_rest(Active { at, mask, lanes, regs, near }, later, request, cx)?;
        if later == 0 {
            return Ok(());
        }
        // What one element loads may be the address of the next.
        let class = request.address_class();
        let reloads = request.elems > 1 && class == request.class() && request.regs.contains(&request.addr);
        let address = if reloads { Held::capture(&[(class, request.addr)], regs) } else { Held::default() };
        let instruction = Instruction { at, request: *request, lanes: mask, address, together: 0 };
        if whole {
            let (instruction, first) = (Instruction { together: later, ..instruction }, later & later.wrapping_neg());
            self.pending.push(instruction, first, elements(request).take(1));
        } else {
            self.pending.push(instruction, later, elements(request));
        }
        Ok(())
    }

    /// The access of one lane and element takes effect.
    fn act<S: Sink>(
        &mut self,
        instruction: &Instruction,
        (lane, k): (usize, usize),
        stores: &mut dyn Stores,
        cx: &mut Cx<'_, S>,
    ) -> Acted {
        let Instruction { at, request, address, lanes: all, .. } = instruction.clone();
        let gone = || {
            let stop = Stop::internal("a memory operation is in flight whose warp is gone", None);
            Box::new(Trouble { at, lanes: 1 << lane, fault: Fault::Stop(stop) })
        };
        // The frame is taken out while the block's shared memory is at hand.
        let mut regs = stores.frame(at.who, at.depth).map(std::mem::take).ok_or_else(gone)?;
        let (mask, mut local, request) = (1 << lane, LocalMemory::default(), element(&request, k));
        let (map, now) = (self.arena.windows(), address.again(&regs));
        address.put(&mut regs, mask);
        let from = lane_address(&request, &regs, lane);
        let done = {
            let shared = stores.shared(at.who.launch, at.who.block).ok_or_else(gone)?;
            let mut near = Near { shared, local: &mut local, param: &[], map: &map, root: Root::NONE, uses: None };
            let told = if S::ON {
                let memory = self.arena.contents(&near);
                let element = u8::try_from(k).unwrap_or(0);
                let told = Told { memory, together: all, element, access_id: None };
                tell(told, at, mask, &request, &regs, &near, cx)
            } else {
                Ok(())
            };
            // Addresses were found to be right when the instruction was executed.
            let (arena, hint) = (&mut self.arena, cx.hints.at(at.pc));
            told.and_then(|()| carry_out(arena, mask, &request, &mut regs, &mut near, hint))
        };
        if request.regs[0] != request.addr {
            now.put(&mut regs, mask);
        }
        let data = value(&regs, request.class(), request.regs[0], lane).map(u128::from);
        if let Some(frame) = stores.frame(at.who, at.depth) {
            *frame = regs;
        }
        if S::ON && done.is_ok() {
            let lane = u32::try_from(lane).unwrap_or(0);
            let look = || {
                let access = LaneBytes { lane, address: from, bytes: request.width.into(), value: data };
                let operation = OperationView { accesses: vec![access], ..shown(at, mask, &request) };
                MemoryStep::Operation { operation, from: 0, end: StepEnd::Ends }
            };
            let told = cx.sink.event(at.who, Event::MemoryStep(Look::new(&look)));
            told.map_err(|stop| Box::new(Trouble { at, lanes: mask, fault: Fault::Stop(stop) }))?;
        }
        done.map_err(|fault| Box::new(Trouble { at, lanes: mask, fault: *fault }))
    }
}
