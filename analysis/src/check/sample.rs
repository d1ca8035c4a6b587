//! Small programs for tests, built by hand.
//!
//! One entry; 64-bit slot 0 is the address of a buffer of 256 bytes, 32-bit slot 2 the lane, 3 the constant 1, 4 zero,
//! 5 all ones, 64-bit slot 2 the constant 1. 32-bit slots from 8 on, 64-bit slots from 4 on and predicates are free and
//! named `%r8`, `%rd4`, `%p0` and so on.

use super::Observers;
use crate::base::{FileId, Pc, Span};
use crate::machine::{Config, Context, Launch};
use crate::program::env::{Bounds, FuncId, Function, Init, Origin, Preload, ProgEnv, Slots, Special, Target};
use crate::program::instr::{CacheOp, Guard, Instr, MemOp, NO_SLOT, Op, Order, Scope, Slot, Space, WarpRequest};
use crate::program::ops::{AluOp, Class};
use crate::program::registers::Registers;
use crate::verdict::Stop;
use std::sync::Arc;

pub(super) const LANE: u16 = 2;
pub(super) const ONE: u16 = 3;
pub(super) const ZERO: u16 = 4;
pub(super) const ONES: u16 = 5;

/// An operation with up to four slots after the destination.
pub(super) fn alu(op: impl Into<AluOp>, d: u16, from: &[u16]) -> Instr {
    let op = match op.into() {
        AluOp::Int(op) => Op::Int(op),
        AluOp::Float(op) => Op::Float(op),
    };
    other(op, d, from)
}

/// Any instruction with up to four slots after the destination.
pub(super) fn other(op: Op, d: u16, from: &[u16]) -> Instr {
    let mut i = Instr::new(op);
    let at = |k: usize| Slot(from.get(k).copied().unwrap_or(0));
    (i.d, i.a, i.b, i.c, i.e) = (Slot(d), at(0), at(1), at(2), at(3));
    i
}

/// An instruction with one thing more.
pub(super) trait And {
    /// The instruction under a guard.
    fn when(self, pred: u16, value: bool) -> Self;

    /// The instruction with an immediate.
    fn with(self, imm: u32) -> Self;
}

impl And for Instr {
    fn when(mut self, pred: u16, value: bool) -> Self {
        self.guard = Some(Guard { pred: Slot(pred), negated: !value });
        self
    }

    fn with(mut self, imm: u32) -> Self {
        self.imm = imm;
        self
    }
}

/// A memory action on 32-bit slots at a 64-bit address slot.
pub(super) fn action(op: MemOp, space: Space, width: u8, addr: u16, offset: i64, regs: &[u16]) -> WarpRequest {
    let mut all = [NO_SLOT; 8];
    for (to, slot) in all.iter_mut().zip(regs) {
        *to = Slot(*slot);
    }
    let elems = if matches!(op, MemOp::Load | MemOp::Store) { u8::try_from(regs.len()).unwrap_or(1) } else { 1 };
    WarpRequest {
        op,
        space,
        width,
        elems,
        wide: false,
        signed: false,
        ext: 32,
        addr: Slot(addr),
        addr_wide: true,
        offset,
        regs: all,
        cache: CacheOp::Default,
        order: Order::Weak,
        scope: Scope::Lane,
        remote: false,
    }
}

/// A program under construction.
#[derive(Default)]
pub(super) struct Sample {
    env: ProgEnv,
    callee: Option<u32>,
}

/// A function with the slots that the head of this file names.
pub(super) fn declare(name: &str, entry: bool, start: u32, end: u32) -> Function {
    let w = |slot, init| Preload { class: Class::W, slot: Slot(slot), init };
    let q = |slot, init| Preload { class: Class::Q, slot: Slot(slot), init };
    let pointer = Init::Param { offset: 0, bytes: 8, signed: false, ext: 64 };
    let mut registers = Registers::default();
    for (prefix, slots, class) in [("%r", 8..16, Class::W), ("%rd", 4..8, Class::Q), ("%p", 0..8, Class::P)] {
        slots.for_each(|k| registers.push(&format!("{prefix}{k}"), "", class, Slot(k)));
    }
    Function {
        name: name.into(),
        entry,
        start: Pc(start),
        end: Pc(end),
        defined: true,
        params: Vec::new(),
        returns: 0,
        param_bytes: 8,
        frame_bytes: 64,
        slots: Slots { w: 16, q: 8, p: 8 },
        preloads: vec![
            q(0, pointer),
            q(2, Init::Const(1)),
            w(LANE, Init::Special(Special::LaneId)),
            w(ONE, Init::Const(1)),
            w(ZERO, Init::Const(0)),
            w(ONES, Init::Const(0xffff_ffff)),
        ],
        undefined: Vec::new(),
        shared_bytes: 256,
        shared: Vec::new(),
        locals: Vec::new(),
        bounds: Bounds::default(),
        registers,
        file: FileId(0),
        span: Span::default(),
    }
}

impl Sample {
    pub fn new() -> Self {
        let target = Target { sm: 70, ..Target::default() };
        Self { env: ProgEnv { target, ..ProgEnv::default() }, callee: None }
    }

    /// Adds an instruction.
    pub fn op(mut self, i: Instr) -> Self {
        self.env.code.push(i);
        self
    }

    /// Adds a memory action.
    pub fn mem(mut self, request: WarpRequest) -> Self {
        self.env.requests.push(request);
        let imm = u32::try_from(self.env.requests.len() - 1).unwrap();
        self.op(Instr::new(Op::Mem).with(imm))
    }

    /// Stores a 32-bit slot to the buffer: where an undefined value is reported.
    pub fn out(self, slot: u16) -> Self {
        self.mem(action(MemOp::Store, Space::Global, 4, 0, 0, &[slot]))
    }

    /// Ends the entry; what follows is the function that `Op::Call` with immediate 1 calls.
    pub fn function(mut self) -> Self {
        self = self.op(Instr::new(Op::Exit));
        self.callee = Some(u32::try_from(self.env.code.len()).unwrap());
        self
    }

    /// Lets the tables of barriers and exchanges be filled.
    pub fn tables(mut self, fill: impl FnOnce(&mut ProgEnv)) -> Self {
        fill(&mut self.env);
        self
    }

    /// The finished program.
    pub fn build(self) -> Arc<ProgEnv> {
        let called = self.callee;
        let mut env = self.op(Instr::new(if called.is_some() { Op::Ret } else { Op::Exit })).env;
        let end = u32::try_from(env.code.len()).unwrap();
        env.functions.insert("main".into(), declare("main", true, 0, called.unwrap_or(end)));
        if let Some(start) = called {
            env.functions.insert("f".into(), declare("f", false, start, end));
        }
        for pc in 0..end {
            let function = FuncId(u32::from(called.is_some_and(|c| pc >= c)));
            let span = Span::new(pc * 10, pc * 10 + 5);
            env.origin.push(Origin { file: FileId(0), span, loc: u32::MAX, function, hidden: false });
        }
        Arc::new(env)
    }
}

/// Runs a program with one block of 64 threads under observers; `undefined` says how many bytes of the buffer are.
pub(super) fn run(env: &Arc<ProgEnv>, observers: &mut Observers, undefined: u64) -> Result<(), Stop> {
    let mut context = Context::new(Arc::clone(env), Config::default())?;
    let buffer = context.alloc("buffer", 256)?;
    if let Some(uninit) = observers.uninit_mut() {
        uninit.mark_undefined(buffer, undefined);
    }
    let params = buffer.to_le_bytes().to_vec();
    let launch = Launch { entry: "main".into(), grid: [2, 1, 1], block: [64, 1, 1], shared_bytes: 0, params };
    context.launch_with(&launch, observers, &mut |_| ()).map(|_| ())
}
