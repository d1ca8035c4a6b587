//! The innermost loop: instructions of a warp (report, 5.3).
//!
//! An instruction is executed for all its lanes at once; the thread rules are the lane's part of that. Everything below
//! is inlined, because it is compiled once per instruction set (`dispatch`), and generic over control model, memory and
//! observer, because a mode is a type.

use crate::base::mutant::{Mutant, on as mutant};
use crate::base::{Frame, LaneMask, Pc, expand};
use crate::machine::control::{Control, Flow, Next, TokenKind, Wait};
use crate::machine::native::{Went, go};
use crate::machine::thread::data::Lane;
use crate::machine::thread::dispatch::{data_op, hot};
use crate::machine::warp::frames::{Stack, tell_entered};
use crate::machine::warp::guarded::{guarded, near, plain32};
use crate::machine::warp::mistakes::{no_code, no_frame};
use crate::machine::warp::ready::blocked;
use crate::machine::warp::slow_path::{Did, Rare, tell_fired};
use crate::machine::warp::state::{Halt, Shared, Warp, stopped};
use crate::memory::{Active, Cx, Fault, Memory};
use crate::program::instr::{Guard, HotOp, Op};
use crate::verdict::{Event, Sink, Step};
use pulp::Simd;

/// How the inner loop was left.
enum Leave {
    /// The flow changed under it: go on with its lanes, at its depth.
    Turn,
    /// Lanes were handed over: somebody else must be picked.
    Pick,
    /// The fuel is used up, or others are met.
    Stop,
}

/// Runs the lanes of `flow`. `Go`: they stopped between instructions and must be parked. `Pick`: they were handed over.
#[inline(always)]
pub(in crate::machine) fn flow_on<V: Simd, C: Control, M: Memory, S: Sink>(
    simd: V,
    warp: &mut Warp<C>,
    (flow, mut went): (&mut Flow, Option<Went>),
    sh: &mut Shared<'_>,
    mem: &mut M,
    fuel: &mut u32,
    cx: &mut Cx<'_, S>,
) -> Result<Next, Box<Halt>> {
    loop {
        // What native code leaves to be done here: so many instructions at most.
        let mut part = *fuel;
        if M::NATIVE && sh.native.is_some() {
            let went = match went.take() {
                Some(went) => went,
                None => go(warp, flow, sh, mem, fuel, cx)?,
            };
            match went {
                Went::Interpret(most) => part = most.min(*fuel),
                Went::Pick => return Ok(Next::Pick),
                Went::Stop => return Ok(Next::Go),
            }
        }
        let rest = *fuel - part;
        // Clocks count the instructions that are left of the turn.
        sh.turn = sh.turn.wrapping_sub(rest);
        let left = frame_on(simd, warp, flow, sh, mem, &mut part, cx);
        sh.turn = sh.turn.wrapping_add(rest);
        *fuel = rest + part;
        match left? {
            Leave::Turn => {}
            Leave::Pick => return Ok(Next::Pick),
            Leave::Stop if part == 0 && rest > 0 => {}
            Leave::Stop => return Ok(Next::Go),
        }
    }
}

/// The innermost loop: instructions of the same lanes on one frame of registers, until the flow changes.
#[inline(always)]
#[expect(clippy::too_many_lines, reason = "one loop whose state stays in registers of the processor")]
fn frame_on<V: Simd, C: Control, M: Memory, S: Sink>(
    simd: V,
    warp: &mut Warp<C>,
    flow: &mut Flow,
    sh: &mut Shared<'_>,
    mem: &mut M,
    fuel: &mut u32,
    cx: &mut Cx<'_, S>,
) -> Result<Leave, Box<Halt>> {
    let env = sh.env;
    let code = &env.code[..];
    let Flow { mut pc, mask, depth } = *flow;
    let Warp { control, frames, local, arrivals, index, .. } = &mut *warp;
    let Some(frame) = frames.get_mut(depth as usize) else { return Err(no_frame(pc, mask)) };
    let watch = control.watch();
    let lanes = expand(mask, &cx.tables);
    let active = u64::from(mask.count_ones());
    let mut left = *fuel;
    // Instructions are counted when the flow changes, not one by one.
    let mut mark = left;
    let end = loop {
        if left == 0 || C::JOINS && pc >= watch {
            break Ok(None);
        }
        let Some(i) = code.get(pc as usize) else { break Err(no_code(pc, mask)) };
        if !M::IMMEDIATE && blocked(mem, sh.who, sh.sm, &sh.loaded.uses, Flow { pc, mask, depth }) != 0 {
            break Ok(None);
        }
        left -= 1;
        let m = match i.guard {
            None => mask,
            Some(guard) => mask & holds(guard, frame),
        };
        if S::ON && cx.sink.wants(Pc(pc)) {
            let step = Step { pc: Pc(pc), lanes: m, active: mask, depth, regs: frame, tokens: control.tokens() };
            if let Err(stop) = cx.sink.event(sh.who, Event::Step(step)) {
                break Err(stopped(Fault::Stop(stop), mask));
            }
        }
        // The lanes of an access, with what they reach.
        macro_rules! lanes {
            ($mask:expr) => {
                Active {
                    at: sh.issuer(pc, depth),
                    mask: $mask,
                    lanes: &lanes,
                    regs: frame,
                    near: &mut near(sh, local, pc, mem),
                }
            };
        }
        if m != mask && i.op.is_plain() || mem.takes_registers() && i.op.is_data() {
            // Some lanes sit out: out of line, so that the common case keeps one mask and its expansion at hand.
            if m != 0
                && let Err(fault) = guarded(simd, env, i, lanes!(m), mem, cx)
            {
                break Err(stopped(*fault, mask));
            }
            pc += 1;
            continue;
        }
        let done = match i.hot {
            // Rule: thread.bra
            // Rule: crs.brauni
            HotOp::Bra if m == mask => {
                pc = i.imm;
                continue;
            }
            // Rule: crs.next
            HotOp::Bra if m == 0 => Some(Ok(())),
            HotOp::Bra => {
                *flow = Flow { pc, mask, depth };
                break Ok(Some(Did::Control(control.diverge(flow, m, i.imm))));
            }
            // Rule: thread.ssy
            HotOp::Ssy if !cx.sink.wants_rules() => {
                // A copy in registers: read back from where its parts were just written, a flow would stall.
                let mut here = Flow { pc, mask, depth };
                control.push(&mut here, TokenKind::Sync, m, i.imm);
                pc = here.pc;
                // An injected instruction is none of the program's.
                mark -= 1;
                continue;
            }
            // Rule: thread.sync
            HotOp::Sync if !cx.sink.wants_rules() => {
                mark -= 1;
                let Some(to) = control.rejoin(TokenKind::Sync, mask, depth) else {
                    *flow = Flow { pc, mask, depth };
                    break Ok(Some(Did::Control(control.sync(flow))));
                };
                pc = to;
                continue;
            }
            HotOp::Bar if !S::ON => {
                *flow = Flow { pc, mask, depth };
                if M::IMMEDIATE
                    && m == control.live()
                    && let Some(id) = sh.join(i, m, *index)
                {
                    break Ok(Some(Did::Control(control.wait(flow, m, Wait::Barrier(id)))));
                }
                None
            }
            // Who is told of an access takes longer than a call.
            HotOp::LdGlobal32 | HotOp::LdShared32 | HotOp::StGlobal32 | HotOp::StShared32 if S::ON => {
                Some(guarded(simd, env, i, lanes!(mask), mem, cx))
            }
            HotOp::LdGlobal32 => Some(plain32(simd, Op::LdGlobal32, i, lanes!(mask), mem, cx)),
            HotOp::LdShared32 => Some(plain32(simd, Op::LdShared32, i, lanes!(mask), mem, cx)),
            HotOp::StGlobal32 => Some(plain32(simd, Op::StGlobal32, i, lanes!(mask), mem, cx)),
            HotOp::StShared32 => Some(plain32(simd, Op::StShared32, i, lanes!(mask), mem, cx)),
            HotOp::Ssy | HotOp::Sync | HotOp::Bar | HotOp::Other => match i.op {
                // Rule: warp.mem
                // Rule: thread.ld
                // Rule: thread.st
                // Rule: thread.atom
                Op::Mem => Some(mem.issue(lanes!(mask), &env.requests[i.imm as usize], cx)),
                Op::Int(_) | Op::Float(_) => {
                    data_op(simd, i, frame, mask, &lanes, &cx.tables);
                    Some(Ok(()))
                }
                // Nobody leaves the loop, which is so most of the time; the rest is out of line.
                Op::Break if m == 0 => {
                    mark -= u32::from(env.origin.get(pc as usize).is_some_and(|o| o.hidden));
                    Some(Ok(()))
                }
                _ => None,
            },
            op => {
                if mask == !0 {
                    hot::<V, true>(simd, op, i, frame, &Lane { mask, lanes: &lanes, tables: &cx.tables });
                } else if S::ON || C::JOINS {
                    // A loop for some lanes as well would double these, which are most of what there is to compile.
                    data_op(simd, i, frame, mask, &lanes, &cx.tables);
                } else {
                    hot::<V, false>(simd, op, i, frame, &Lane { mask, lanes: &lanes, tables: &cx.tables });
                }
                Some(Ok(()))
            }
        };
        match done {
            Some(Ok(())) => {}
            Some(Err(fault)) => break Err(stopped(*fault, mask)),
            None => {
                sh.threads = sh.threads.wrapping_add(active * u64::from(mark - left));
                mark = left;
                *flow = Flow { pc, mask, depth };
                let mut rare =
                    Rare { i, m, left, control, flow, regs: frame, local, arrivals, sh, mem, warp: *index, cx };
                match rare.issue(mask) {
                    Ok(Did::Next) => {}
                    Ok(did) => break Ok(Some(did)),
                    Err(halt) => break Err(halt),
                }
            }
        }
        pc += 1;
    };
    sh.threads = sh.threads.wrapping_add(active * u64::from(mark - left));
    *fuel = left;
    if let Ok(Some(did)) = end {
        return turn(did, warp, flow, sh, Flow { pc, mask, depth }, cx);
    }
    *flow = Flow { pc, mask, depth };
    end.map(|_| Leave::Stop)
}

/// The lanes for which a guard holds. The others sit the instruction out.
///
/// Rule: thread.exec-tt
/// Rule: thread.exec-ff
#[inline(always)]
fn holds(guard: Guard, frame: &Frame) -> LaneMask {
    let p = frame.p[guard.pred.index()];
    // Rule: expr.not
    if mutant(Mutant::GuardIgnored) {
        !0
    } else if guard.negated {
        !p
    } else {
        p
    }
}

/// The flow changed: it holds the truth now. `from`: what it was.
///
/// Rule: warp.bra
#[inline(always)]
fn turn<C: Control, S: Sink>(
    did: Did,
    warp: &mut Warp<C>,
    flow: &mut Flow,
    sh: &mut Shared<'_>,
    from: Flow,
    cx: &mut Cx<'_, S>,
) -> Result<Leave, Box<Halt>> {
    let Warp { control, frames, filled, local, index, .. } = warp;
    let depth = from.depth + 1;
    if let Did::Enter(function, lanes, _) = did
        && let Err(fault) = (Stack { frames, filled, local }).enter(sh, from.depth, function, lanes, *index)
    {
        *flow = from;
        return Err(stopped(fault, lanes));
    }
    tell_fired(control, sh.who, cx)?;
    Ok(match did {
        // A model whose lanes meet must look at a flow that goes on: its watch has changed.
        Did::Control(Next::Go) if C::JOINS => Leave::Stop,
        Did::Control(Next::Pick) => Leave::Pick,
        Did::Control(Next::Go) | Did::Next => Leave::Turn,
        Did::Enter(function, lanes, next) => {
            tell_entered(sh.who, frames.get(depth as usize), (lanes, depth, function), cx)?;
            if next == Next::Pick { Leave::Pick } else { Leave::Turn }
        }
    })
}
