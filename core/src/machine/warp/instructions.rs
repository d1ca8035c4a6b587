//! The innermost loop: instructions of a warp (report, 5.3).
//!
//! An instruction is executed for all its lanes at once; the thread rules are the lane's part of that. Everything below
//! is inlined, because it is compiled once per instruction set (`dispatch`), and generic over control model, memory and
//! observer, because a mode is a type.

use crate::base::mutant::{Mutant, on as mutant};
use crate::base::{Pc, expand};
use crate::machine::control::{Control, Flow, Next, TokenKind, Wait};
use crate::machine::thread::data::Lane;
use crate::machine::thread::dispatch::{data_op, hot};
use crate::machine::warp::arrive::{stranded, tell_arrival};
use crate::machine::warp::frames::Stack;
use crate::machine::warp::guarded::{guarded, names, taken_over, writes};
use crate::machine::warp::mistakes::{no_code, no_frame};
use crate::machine::warp::ready::blocked;
use crate::machine::warp::slow_path::{Did, Rare, Trouble};
use crate::machine::warp::state::{Halt, Shared, Warp, Why, stopped};
use crate::memory::{Active, Cx, Fault, Held, Issuer, Memory, Near, Plain32};
use crate::program::instr::{Barrier, CacheOp, HotOp, Op, Space};
use crate::verdict::{Enter, Event, Sink, Step, Who};
use pulp::Simd;

/// How the inner loop was left.
enum Leave {
    /// Registers changed under it (a call or a return): go on with the frame of the new depth.
    Frame,
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
    flow: &mut Flow,
    sh: &mut Shared<'_>,
    mem: &mut M,
    fuel: &mut u32,
    cx: &mut Cx<'_, S>,
) -> Result<Next, Box<Halt>> {
    loop {
        match frame_on(simd, warp, flow, sh, mem, fuel, cx)? {
            Leave::Frame => {}
            Leave::Pick => return Ok(Next::Pick),
            Leave::Stop => return Ok(Next::Go),
        }
    }
}

/// The innermost loop: instructions on one frame of registers.
#[inline(always)]
#[expect(clippy::too_many_lines, reason = "one match over the operations; every arm is a line or a call")]
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
    let depth = flow.depth;
    let Warp { control, frames, filled, local, index } = warp;
    let Some(frame) = frames.get_mut(depth as usize) else { return Err(no_frame(flow.pc, flow.mask)) };
    let watch = control.watch();
    let mut pc = flow.pc;
    let mut mask = flow.mask;
    let mut lanes = expand(mask, &cx.tables);
    let mut active = u64::from(mask.count_ones());
    let mut left = *fuel;
    // Instructions are counted when the mask changes, not one by one.
    let mut mark = left;

    macro_rules! leave {
        ($how:expr) => {{
            sh.threads = sh.threads.wrapping_add(active * u64::from(mark - left));
            flow.pc = pc;
            flow.mask = mask;
            *fuel = left;
            return $how;
        }};
    }
    // After a control instruction: the flow holds the truth. Rule: warp.bra
    macro_rules! turn {
        ($next:expr) => {{
            let next = $next;
            sh.threads = sh.threads.wrapping_add(active * u64::from(mark - left));
            mark = left;
            tell_fired(control, sh.who, cx)?;
            if next == Next::Pick || C::JOINS {
                *fuel = left;
                // A flow that goes on must be looked at again by a model whose lanes meet: its watch has changed.
                return Ok(if next == Next::Pick { Leave::Pick } else { Leave::Stop });
            }
            if flow.depth != depth {
                *fuel = left;
                return Ok(Leave::Frame);
            }
            pc = flow.pc;
            mask = flow.mask;
            lanes = expand(mask, &cx.tables);
            active = u64::from(mask.count_ones());
        }};
    }
    macro_rules! sync_flow {
        () => {{
            flow.pc = pc;
            flow.mask = mask;
        }};
    }
    macro_rules! halt {
        ($fault:expr) => {{
            let fault = $fault;
            let m = mask;
            leave!(Err(stopped(fault, m)))
        }};
    }

    loop {
        if left == 0 || C::JOINS && pc >= watch {
            leave!(Ok(Leave::Stop));
        }
        let Some(i) = code.get(pc as usize) else { leave!(Err(no_code(pc, mask))) };
        if !M::IMMEDIATE && blocked(mem, sh.who, sh.sm, &sh.loaded.uses, Flow { pc, mask, depth }) != 0 {
            leave!(Ok(Leave::Stop));
        }
        left -= 1;
        // Rule: thread.exec-tt
        // Rule: thread.exec-ff
        let m = match i.guard {
            None => mask,
            Some(g) => {
                let p = frame.p[g.pred.index()];
                // Rule: expr.not
                mask & if g.negated { !p } else { p } | if mutant(Mutant::GuardIgnored) { mask } else { 0 }
            }
        };
        if S::ON && cx.sink.wants(Pc(pc)) {
            let step = Step { pc: Pc(pc), lanes: m, active: mask, depth, regs: frame, tokens: control.tokens() };
            if let Err(stop) = cx.sink.event(sh.who, Event::Step(step)) {
                halt!(Fault::Stop(stop));
            }
        }
        if M::TAKES_REGISTERS && i.op.is_data() {
            if m != 0 {
                let at = Issuer { who: sh.who, pc: Pc(pc), depth, sm: sh.sm };
                let writes = writes(sh, pc);
                if let Err(fault) = taken_over(simd, env, i, m, at, writes, frame, mem, cx) {
                    halt!(*fault);
                }
            }
            pc += 1;
            continue;
        }
        if m != mask && i.op.is_plain() {
            // Some lanes sit out: out of line, so that the common case keeps one mask and its expansion at hand.
            if m != 0 {
                let names = names::<M>(sh, pc);
                let root = env.root(Pc(pc));
                let mut near = Near { shared: sh.shared, local, param: &sh.loaded.params, map: &sh.map, root, names };
                let at = Issuer { who: sh.who, pc: Pc(pc), depth, sm: sh.sm };
                if let Err(fault) = guarded(simd, env, i, m, at, frame, mem, &mut near, cx) {
                    halt!(*fault);
                }
            }
            pc += 1;
            continue;
        }
        macro_rules! access {
            ($how:ident, $space:ident) => {{
                let at = Issuer { who: sh.who, pc: Pc(pc), depth, sm: sh.sm };
                let on = Active { mask, lanes: &lanes };
                let names = names::<M>(sh, pc);
                let root = env.root(Pc(pc));
                let mut near = Near { shared: sh.shared, local, param: &sh.loaded.params, map: &sh.map, root, names };
                let (offset, cache) = (i.imm.cast_signed(), CacheOp::of_index(i.b.0));
                let site = Plain32 { space: Space::$space, a: i.a, d: i.d, offset, cache };
                if let Err(fault) = mem.$how(simd, at, on, site, frame, &mut near, cx) {
                    halt!(*fault);
                }
                pc += 1;
                continue;
            }};
        }
        match i.hot {
            HotOp::Other => {}
            // Rule: thread.bra
            HotOp::Bra => {
                if m == mask {
                    // Rule: crs.brauni
                    pc = i.imm;
                } else if m == 0 {
                    // Rule: crs.next
                    pc += 1;
                } else {
                    sync_flow!();
                    turn!(control.diverge(flow, m, i.imm));
                }
                continue;
            }
            // Rule: thread.ssy
            HotOp::Ssy => {
                // Copies in registers here and below: read back from where its parts were just written, a flow would stall.
                let mut here = Flow { pc, mask, depth };
                control.push(&mut here, TokenKind::Sync, m, i.imm);
                tell_fired(control, sh.who, cx)?;
                pc = here.pc;
                // An injected instruction is none of the program's.
                mark -= 1;
                continue;
            }
            // Rule: thread.sync
            HotOp::Sync => {
                if !cx.sink.wants_rules()
                    && let Some(to) = control.rejoin(TokenKind::Sync, mask, depth)
                {
                    pc = to;
                    mark -= 1;
                    continue;
                }
            }
            HotOp::Bar => {
                if M::IMMEDIATE
                    && !cx.sink.wants_rules()
                    && m != 0
                    && let Some(id) = env.barriers.get(i.imm as usize).and_then(Barrier::plain)
                    && m == control.live()
                    && sh.barriers.join(id, *index, control.live().count_ones(), sh.loaded.warp_size)
                {
                    if S::ON
                        && let Err(stop) = tell_arrival(sh.who, pc, id, m, cx)
                    {
                        halt!(Fault::Stop(*stop));
                    }
                    let mut here = Flow { pc, mask, depth };
                    let next = control.wait(&mut here, m, Wait::Barrier(id.into()));
                    *flow = here;
                    turn!(next);
                    continue;
                }
            }
            HotOp::LdGlobal32 => access!(load32, Global),
            HotOp::LdShared32 => access!(load32, Shared),
            HotOp::StGlobal32 => access!(store32, Global),
            HotOp::StShared32 => access!(store32, Shared),
            op if !M::TAKES_REGISTERS => {
                let on = Lane { mask, lanes: &lanes, tables: &cx.tables };
                if mask == !0 {
                    hot::<V, true>(simd, op, i, frame, &on);
                } else {
                    hot::<V, false>(simd, op, i, frame, &on);
                }
                pc += 1;
                continue;
            }
            _ => {}
        }
        match i.op {
            // Rule: warp.mem
            // Rule: thread.ld
            // Rule: thread.st
            // Rule: thread.atom
            Op::Mem => {
                let at = Issuer { who: sh.who, pc: Pc(pc), depth, sm: sh.sm };
                let on = Active { mask, lanes: &lanes };
                let names = names::<M>(sh, pc);
                let root = env.root(Pc(pc));
                let mut near = Near { shared: sh.shared, local, param: &sh.loaded.params, map: &sh.map, root, names };
                if let Err(fault) = mem.issue(at, on, &env.requests[i.imm as usize], frame, &mut near, cx) {
                    halt!(*fault);
                }
                pc += 1;
            }
            Op::Int(_) | Op::Float(_) if !M::TAKES_REGISTERS => {
                data_op(simd, i, frame, mask, &lanes, &cx.tables);
                pc += 1;
            }
            // Rule: thread.preBrk
            // Rule: thread.preRet
            Op::PreBrk | Op::PreRet => {
                sync_flow!();
                let kind = if i.op == Op::PreRet { TokenKind::Call } else { TokenKind::Break };
                control.push(flow, kind, m, i.imm);
                tell_fired(control, sh.who, cx)?;
                sh.threads = sh.threads.wrapping_sub(active);
                pc = flow.pc;
            }
            Op::Sync => {
                sync_flow!();
                sh.threads = sh.threads.wrapping_sub(active);
                turn!(control.sync(flow));
            }
            // Rule: thread.break
            Op::Break => {
                // An injected break ends a region as `sync` does; the others were the program's branches.
                if env.origin.get(pc as usize).is_some_and(|o| o.hidden) {
                    sh.threads = sh.threads.wrapping_sub(active);
                }
                if m == 0 {
                    pc += 1;
                } else if !cx.sink.wants_rules()
                    && m == mask
                    && let Some(to) = control.rejoin(TokenKind::Break, mask, depth)
                {
                    pc = to;
                } else {
                    sync_flow!();
                    turn!(control.brk(flow, m, i.imm));
                }
            }
            // Rule: thread.exit
            Op::Exit => {
                if m == 0 {
                    pc += 1;
                } else {
                    sync_flow!();
                    sh.exited += m.count_ones();
                    if C::WAITS
                        && m != control.live()
                        && let Some(fault) = stranded(env, control, *index, *flow, m)
                    {
                        halt!(fault);
                    }
                    turn!(control.exit(flow, m));
                }
            }
            // Rule: thread.return
            Op::Ret => {
                if m == 0 {
                    pc += 1;
                } else {
                    sync_flow!();
                    turn!(control.ret(flow, m));
                }
            }
            // Rule: thread.membar
            Op::Fence { scope, order } if !M::IMMEDIATE => {
                let at = Issuer { who: sh.who, pc: Pc(pc), depth, sm: sh.sm };
                if m != 0
                    && let Err(fault) = mem.fence(at, m, scope, order, cx)
                {
                    halt!(*fault);
                }
                pc += 1;
            }
            Op::Fence { .. } | Op::Nop | Op::Nanosleep => pc += 1,
            // Everything else is rare, and out of line.
            _ => {
                if m == 0 {
                    pc += 1;
                    continue;
                }
                sync_flow!();
                let clock = sh.clock;
                sh.clock += u64::from(sh.turn.saturating_sub(left));
                let old = if M::TAKES_REGISTERS { Held::capture(writes(sh, pc), frame) } else { Held::default() };
                let mut rare = Rare { control, flow, local, sh, mem, warp: *index };
                let did = match i.op {
                    Op::Call | Op::CallIndirect | Op::Brx => rare.transfer(i, m, frame, cx.oracle),
                    // Rule: warp.comm
                    Op::Bar => rare.barrier(i, m, frame, cx),
                    _ => rare.other(i, m, frame, cx),
                };
                sh.clock = clock;
                match did {
                    Ok(Did::Next) => {
                        if M::TAKES_REGISTERS && !old.is_empty() && i.op.is_taken_over() {
                            let at = Issuer { who: sh.who, pc: Pc(pc), depth, sm: sh.sm };
                            if let Err(fault) = mem.wrote(at, m, &old, frame, cx) {
                                halt!(*fault);
                            }
                        }
                        pc += 1;
                    }
                    Ok(Did::Control(next)) => turn!(next),
                    Ok(Did::Enter(function, entered, next)) => {
                        let mut stack = Stack { frames, filled, local };
                        if let Err(fault) = stack.enter(sh, depth, function, entered, *index) {
                            leave!(Err(stopped(fault, entered)));
                        }
                        tell_fired(control, sh.who, cx)?;
                        if S::ON {
                            let inner = depth + 1;
                            let Some(regs) = frames.get(inner as usize) else { return Err(no_frame(pc, mask)) };
                            let enter = Enter { lanes: entered, depth: inner, function: function.0, regs };
                            let told = cx.sink.event(sh.who, Event::Enter(enter));
                            told.map_err(|s| stopped(Fault::Stop(s), entered))?;
                        }
                        sh.threads = sh.threads.wrapping_add(active * u64::from(mark - left));
                        *fuel = left;
                        return Ok(match next {
                            Next::Pick => Leave::Pick,
                            Next::Go => Leave::Frame,
                        });
                    }
                    Err(Trouble::Fault(fault)) => halt!(fault),
                    Err(Trouble::Unsupported(what)) => {
                        leave!(Err(Box::new(Halt { why: Why::Unsupported(what), pc: Pc(pc), lanes: m })));
                    }
                }
            }
        }
    }
}

/// Tells the rules of the token stack that fired: right behind the step that they belong to.
#[inline(always)]
fn tell_fired<C: Control, S: Sink>(control: &mut C, who: Who, cx: &mut Cx<'_, S>) -> Result<(), Box<Halt>> {
    if cx.sink.wants_rules() {
        for rule in control.fired() {
            cx.sink.fire(who, rule).map_err(|s| stopped(Fault::Stop(s), !0))?;
        }
    }
    Ok(())
}
