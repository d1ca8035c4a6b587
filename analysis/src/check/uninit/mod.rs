//! Uses of values that were never written (`--check uninit`; decision D-undefined).
//!
//! Definedness is tracked for each lane and byte, in registers ([`shadow`]) and in memory ([`memory`]), and carried along
//! by data operations ([`data`]), memory actions ([`access`]) and exchanges ([`exchange`]). It is reported only where an
//! undefined value decides something: as an address, a guard, a branch or call target, a barrier's number or a member
//! mask, as the operand of an atomic operation, or as a value stored to global memory; compilers emit dead arithmetic on
//! undefined registers.
//!
//! Variables are defined when a launch begins, and buffers but for the parts that the host has left alone
//! ([`Unwritten`](crate::verdict::Unwritten)). Memory of the device's `malloc`, shared memory and local memory are undefined
//! until they are written. Each undefined value is told with where it comes from ([`origin`]).

mod access;
mod cause;
mod copies;
mod data;
mod exchange;
mod image;
mod matrix;
mod memory;
mod origin;
mod shadow;

pub use origin::Relied;

use super::bug;
use super::plain::{self, at, stack_top};
use crate::base::{LANES, LaneMask, Pc, lanes_of};
use crate::program::env::{FuncId, ProgEnv};
use crate::program::instr::{BarrierKind, BarrierRed, Instr, Moving, Op, Slot, Syscall};
use crate::program::ops::Class;
use crate::verdict::{Access, BugKind, CLUSTER, Enter, Event, Sink, Step, Stop, UninitUse, Who};
use access::{Memories, Stored};
use cause::Cause;
use copies::Copied;
use exchange::Reduction;
use memory::{Fresh, Local};
use origin::{Device, Ground, Writes};
use rustc_hash::FxHashMap;
use shadow::{DEFINED, Regs, whole};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Barriers of a block.
const BARRIERS: usize = 16;

/// The shadow of a warp.
#[derive(Clone, Debug, Default)]
struct Warp {
    /// Registers by depth of the call stack.
    frames: Vec<Regs>,
    local: Local,
    /// Depth of the call stack at which each lane executed an instruction last, which the accesses after it belong to.
    depths: [u32; LANES],
}

/// The shadow of a resident block.
#[derive(Clone, Debug, Default)]
struct Block {
    warps: Vec<Warp>,
    shared: Fresh,
    reductions: [Reduction; BARRIERS],
}

/// Stops a run where an undefined value decides something.
pub struct Uninit {
    env: Arc<ProgEnv>,
    blocks: FxHashMap<u64, Block>,
    device: Rc<RefCell<Device>>,
    writes: Writes,
    /// The kernel of the launch that began last: its index among the program's functions.
    entry: u32,
    /// The lanes of its warps.
    warp_size: u32,
}

impl Uninit {
    /// An observer of a program's runs. It serves all launches of one context, in order.
    #[must_use]
    pub fn new(env: Arc<ProgEnv>) -> Self {
        let (device, writes) = (Rc::default(), Writes::default());
        Self { env, blocks: FxHashMap::default(), device, writes, entry: 0, warp_size: 32 }
    }

    /// Shares the memory of the device with another observer, whose launches are on the same.
    pub(super) fn share(&mut self, other: &Self) {
        self.device = Rc::clone(&other.device);
    }

    /// The buffers whose zeros were relied on though nobody had said what they hold.
    #[must_use]
    pub fn relied(&self) -> Vec<Relied> {
        self.device.borrow().relied.clone()
    }

    /// Says that the host has not initialised `len` bytes at a device address.
    #[cfg(test)]
    pub(super) fn mark_undefined(&mut self, address: u64, len: u64) {
        self.device.borrow_mut().global.forget(address, len);
    }

    fn ground(&self) -> Ground<'_> {
        let entry = self.env.function(FuncId(self.entry));
        Ground { env: &self.env, entry, map: self.env.addresses() }
    }

    fn report(
        &self,
        what: UninitUse,
        slot: Option<(Class, Slot)>,
        cause: Cause,
        (pc, lanes): (Pc, LaneMask),
        address: Option<u64>,
    ) -> Stop {
        let function = self.env.function_at(pc).zip(slot);
        let register = function.and_then(|(f, slot)| f.registers.name_of(slot.0, slot.1)).map(str::to_owned);
        let origin = Some(Box::new(self.ground().origin(cause, &self.device.borrow(), &self.writes)));
        bug(BugKind::Uninitialised { what, register, address, origin }, pc, lanes)
    }

    fn warp(&mut self, who: Who) -> &mut Warp {
        at(&mut self.blocks.entry(who.block).or_default().warps, who.warp)
    }

    /// The registers' shadow at a depth, made when an entry's first instruction is executed.
    fn regs(&mut self, who: Who, pc: Pc, depth: u32) -> &mut Regs {
        let env = Arc::clone(&self.env);
        let frames = &mut self.warp(who).frames;
        if frames.is_empty() {
            frames.push(Regs::default());
            if let Some(f) = env.function_at(pc) {
                frames[0].enter(f, !0);
            }
        }
        at(frames, depth)
    }

    fn step(&mut self, who: Who, step: &Step<'_>) -> Result<(), Stop> {
        let env = Arc::clone(&self.env);
        let Some(i) = env.code.get(step.pc.0 as usize) else { return Ok(()) };
        let depths = &mut self.warp(who).depths;
        lanes_of(step.active).for_each(|lane| depths[lane] = step.depth);
        let regs = self.regs(who, step.pc, step.depth);
        let lanes = step.lanes;
        let guard = i.guard.map(|guard| (UninitUse::Condition, Class::P, guard.pred));
        let guards = guard.into_iter().map(|of| (of, step.active));
        for ((what, class, slot), lanes) in guards.chain(deciding(&env, i).map(|of| (of, lanes))) {
            let bad = lanes & !whole(&regs.get(class, slot));
            if bad != 0 {
                let cause = regs.cause(class, slot, first(bad), step.pc);
                return Err(self.report(what, Some((class, slot)), cause, (step.pc, bad), None));
            }
        }
        if lanes == 0 {
            return Ok(());
        }
        if let Some(part) = env.image(i) {
            if let Some((class, slot, bad)) = image::deciding(part, lanes, step.regs, regs) {
                let what = if class == Class::P { UninitUse::Condition } else { UninitUse::Address };
                let cause = regs.cause(class, slot, first(bad), step.pc);
                return Err(self.report(what, Some((class, slot)), cause, (step.pc, bad), None));
            }
            image::run(part, step.pc, lanes, regs);
            return Ok(());
        }
        if let Some(op) = plain::data_op(i.op) {
            data::run(op, i, step.pc, lanes, step.regs, regs);
            return Ok(());
        }
        match i.op {
            Op::ReadSpecial(which) => {
                let wide = matches!(which, Moving::Clock64 | Moving::GlobalTimer | Moving::Pm64);
                regs.put(if wide { Class::Q } else { Class::W }, i.d, lanes, &DEFINED);
            }
            Op::StackSave => regs.put(Class::Q, i.d, lanes, &DEFINED),
            Op::Alloca => {
                regs.put(Class::Q, i.d, lanes, &DEFINED);
                let align = u64::from(i.imm.max(1)).next_power_of_two();
                let local = &mut self.warp(who).local;
                for lane in lanes_of(lanes) {
                    let base = stack_top(step.regs, lane).next_multiple_of(align);
                    let bytes = step.regs.q.get(i.a.index()).map_or(0, |q| q.0[lane]);
                    local[lane].forget(base, base.saturating_add(bytes));
                }
            }
            Op::Bar => self.barrier(who, i, step),
            Op::Syscall(call) => self.syscall(who, call, step)?,
            _ => {}
        }
        Ok(())
    }

    /// Takes note of a barrier that will reduce.
    fn barrier(&mut self, who: Who, i: &Instr, step: &Step<'_>) {
        let Some(BarrierKind::Red(red)) = self.env.barriers.get(i.imm as usize).map(|b| b.kind) else { return };
        let regs = self.regs(who, step.pc, step.depth);
        let bad = lanes_of(step.lanes & !regs.get(Class::P, i.c)[0]).next();
        let tainted = bad.map(|lane| regs.cause(Class::P, i.c, lane, step.pc));
        let lead = lanes_of(step.lanes).next().unwrap_or(0);
        let id = step.regs.w.get(i.a.index()).map_or(0, |w| w.0[lead]) as usize % BARRIERS;
        let class = if red == BarrierRed::Popc { Class::W } else { Class::P };
        let reduction = &mut self.blocks.entry(who.block).or_default().reductions[id];
        reduction.waiting.push((who.warp, step.depth, class, i.d, step.lanes));
        reduction.tainted = reduction.tainted.or(tainted);
    }

    /// A barrier is complete: the results of its reduction are written.
    fn released(&mut self, who: Who, id: u32) {
        let Some(block) = self.blocks.get_mut(&who.block) else { return };
        let Reduction { waiting, tainted } = std::mem::take(&mut block.reductions[id as usize % BARRIERS]);
        for (warp, depth, class, slot, lanes) in waiting {
            let frames = block.warps.get_mut(warp as usize).map(|w| &mut w.frames);
            if let Some(regs) = frames.and_then(|f| f.get_mut(depth as usize)) {
                regs.put(class, slot, lanes, &if tainted.is_some() { [0; 8] } else { DEFINED });
                if let Some(cause) = tainted {
                    regs.blame(class, slot, lanes_of(lanes).map(|lane| (lane, cause)));
                }
            }
        }
    }

    /// The device runtime: results lie at the top of the caller's stack, arguments after them.
    fn syscall(&mut self, who: Who, call: Syscall, step: &Step<'_>) -> Result<(), Stop> {
        let pointer = if self.env.target.address_bits == 32 { 4 } else { 8 };
        let window = self.env.addresses().local;
        let local = &mut self.warp(who).local;
        let (mut bad, mut cause) = (0, None);
        for lane in lanes_of(step.lanes) {
            let top = stack_top(step.regs, lane).next_multiple_of(16);
            match call {
                Syscall::Vprintf => local[lane].put(top, 4, !0),
                Syscall::Malloc => local[lane].put(top, pointer, !0),
                Syscall::Free => {
                    if local[lane].get(top, pointer) != memory::all(pointer) {
                        bad |= 1 << lane;
                        let unwritten = Cause::Memory { address: window + top, read: step.pc };
                        cause = cause.or(local[lane].cause(top)).or(Some(unwritten));
                    }
                }
                Syscall::AssertFail => {}
            }
        }
        let wrong = |cause| Err(self.report(UninitUse::Address, None, cause, (step.pc, bad), None));
        cause.map_or(Ok(()), wrong)
    }

    /// Lanes enter a function: its registers and its frame in local memory are fresh, but for the arguments.
    fn enter(&mut self, who: Who, enter: &Enter<'_>) {
        let env = Arc::clone(&self.env);
        let Some(f) = env.function(FuncId(enter.function)) else { return };
        let warp = self.warp(who);
        at(&mut warp.frames, enter.depth).enter(f, enter.lanes);
        let arguments = f.params.get(f.returns as usize..).unwrap_or(&[]);
        for lane in lanes_of(enter.lanes) {
            let base = enter.regs.w.first().map_or(0, |w| u64::from(w.0[lane]));
            let mut from = base;
            for p in arguments {
                warp.local[lane].forget(from, base + u64::from(p.offset));
                from = from.max(base + u64::from(p.offset) + u64::from(p.bytes));
            }
            warp.local[lane].forget(from, base + u64::from(f.frame_bytes));
        }
    }

    fn access(&mut self, who: Who, access: &Access<'_>) -> Result<(), Stop> {
        self.carry(who, access).map_err(|Stored { lanes, slot, cause, address }| {
            self.report(UninitUse::Stored, Some(slot), cause, (access.pc, lanes), Some(address))
        })
    }

    /// Carries definedness through an access. An error says which slot should not be stored, and why it is not defined.
    fn carry(&mut self, who: Who, access: &Access<'_>) -> Result<(), Stored> {
        let env = Arc::clone(&self.env);
        let request = env.code.get(access.pc.0 as usize).and_then(|i| plain::request(&env, i));
        let Some(request) = request else { return Ok(()) };
        self.warp(who);
        let Self { blocks, device, writes, entry, .. } = self;
        let device = &mut *device.borrow_mut();
        let entry = env.function(FuncId(*entry));
        let ground = Ground { env: &env, entry, map: env.addresses() };
        let Some(Block { warps, shared, .. }) = blocks.get_mut(&who.block) else { return Ok(()) };
        let Some(Warp { frames, local, depths }) = warps.get_mut(who.warp as usize) else { return Ok(()) };
        let depth = depths[first(access.lanes)] as usize;
        let Some(regs) = frames.get_mut(depth) else { return Ok(()) };
        let mut memories = Memories { device, shared, local, map: env.addresses() };
        match env.code.get(access.pc.0 as usize).and_then(|i| Copied::of(i, &env)) {
            Some(copied) => copied.run(access, &mut memories),
            None => access::run(&request, access, regs, &mut memories)?,
        }
        writes.add(access, &ground, device);
        Ok(())
    }

    fn exchange(&mut self, who: Who, step: &Step<'_>) {
        let env = Arc::clone(&self.env);
        let Some(i) = env.code.get(step.pc.0 as usize) else { return };
        if let Some(matrix) = env.matrix(i) {
            return matrix::run(matrix, step.pc, self.regs(who, step.pc, step.depth));
        }
        let Some(exchange) = env.exchange(i) else { return };
        let on = exchange::Exchanging { pc: step.pc, lanes: step.lanes, size: self.warp_size };
        exchange::run(exchange.kind, i, on, step.regs, self.regs(who, step.pc, step.depth));
    }
}

/// The first of some lanes.
fn first(lanes: LaneMask) -> usize {
    lanes_of(lanes).next().unwrap_or(0)
}

/// The slots that decide where an instruction acts, or what it does, with the use to be reported.
fn deciding(env: &ProgEnv, i: &Instr) -> impl Iterator<Item = (UninitUse, Class, Slot)> {
    let condition = |class, slot| Some((UninitUse::Condition, class, slot));
    let address = |class, slot| Some((UninitUse::Address, class, slot));
    let uses = match i.op {
        Op::Brx => [condition(Class::W, i.a), None],
        Op::CallIndirect => [condition(Class::Q, i.a), None],
        Op::WarpSync => [condition(Class::W, i.a), None],
        Op::Alloca | Op::StackRestore => [address(Class::Q, i.a), None],
        Op::Exchange => {
            let sync = env.exchange(i).is_some_and(|e| e.sync);
            [if sync { condition(Class::W, i.e) } else { None }, None]
        }
        Op::Bar => {
            let counted = env.barriers.get(i.imm as usize).is_some_and(|b| b.counted);
            [condition(Class::W, i.a), if counted { condition(Class::W, i.b) } else { None }]
        }
        _ => [plain::request(env, i).and_then(|r| address(r.address_class(), r.addr)), None],
    };
    uses.into_iter().flatten()
}

impl Sink for Uninit {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            Event::Launch { shape, names, .. } => {
                self.blocks.clear();
                (self.entry, self.warp_size) = (shape.entry, shape.warp_size);
                self.device.borrow_mut().launch(names);
            }
            Event::Block { .. } | Event::BlockDone => {
                self.blocks.remove(&who.block);
            }
            Event::Step(step) => return self.step(who, &step),
            Event::Access(access) => return self.access(who, access),
            Event::Exchange(step) => self.exchange(who, &step),
            Event::Enter(enter) => self.enter(who, &enter),
            Event::Released(id) if id != CLUSTER => self.released(who, id),
            Event::Alloc { address, bytes, .. } => self.device.borrow_mut().alloc(address, bytes),
            _ => {}
        }
        Ok(())
    }
}
