//! Lanes run natively for as long as they can; what they cannot do is done here or by the interpreter.

use super::calls::Calls;
use super::code::{Along, Entry};
use super::context::{Back, Exit, Parting};
use super::forms::Token;
use super::nested::nested;
use super::parted::Partings;
use super::plan::Plan;
use super::session::Session;
use super::tell::{arrived, exited};
use super::visit::{Visit, Went, handed};
use crate::base::mutant::{Mutant, on};
use crate::choice::Fair;
use crate::machine::control::{Control, Flow, TokenKind, Wait};
use crate::machine::warp::state::{Halt, Shared, Warp, stopped};
use crate::memory::{Cx, Fault, Memory};
use crate::verdict::Sink;
use std::cmp::Ordering;

/// Runs lanes natively.
#[inline(never)]
pub(in crate::machine) fn go<C: Control, M: Memory, S: Sink>(
    warp: &mut Warp<C>,
    flow: &mut Flow,
    sh: &mut Shared<'_>,
    mem: &mut M,
    fuel: &mut u32,
    cx: &mut Cx<'_, S>,
) -> Result<Went, Box<Halt>> {
    // Where it is called back, the machine does not know of it.
    let Some(session) = sh.native.take() else { return Ok(Went::Interpret(u32::MAX)) };
    // A copy in registers: read back from where its parts were just written, a flow would stall.
    let mut here = *flow;
    let went = loop {
        match visit(warp, &mut here, sh, mem, fuel, cx, session) {
            Ok(Visit::On) => {}
            Ok(Visit::Went(went)) => break Ok(went),
            Err(halt) => break Err(halt),
        }
    };
    sh.native = Some(session);
    *flow = here;
    went
}

#[inline(always)]
fn visit<C: Control, M: Memory, S: Sink>(
    warp: &mut Warp<C>,
    flow: &mut Flow,
    sh: &mut Shared<'_>,
    mem: &mut M,
    fuel: &mut u32,
    cx: &mut Cx<'_, S>,
    session: &mut Session,
) -> Result<Visit, Box<Halt>> {
    if flow.depth > 0 {
        settle(session, warp);
        return nested(warp, flow, sh, mem, fuel, cx, session);
    }
    let plan = &session.kernel.plan;
    let interpret = |n| Ok(Visit::Went(Went::Interpret(n)));
    let k = flow.pc.wrapping_sub(plan.function.start.0);
    let entry = plan.entries.get(k as usize);
    if *fuel == 0 || entry.copied().flatten().is_none() {
        // What was kept while the warp waited is the interpreter's now.
        settle(session, warp);
        return interpret(if entry.is_some() { session.kernel.plan.next[k as usize] } else { u32::MAX });
    }
    let next = plan.next[k as usize];
    let mask = flow.mask;
    session.look(mask, cx);
    if C::JOINS && mask != !0 {
        return parted(warp, flow, sh, mem, fuel, cx, session);
    }
    let since = untold(sh, *fuel);
    let on = Fueled { fuel: *fuel, untold: since, patience: if C::JOINS { warp.control.patience() } else { 0 } };
    let Some(entry) = entry_of(&session.kernel.plan, warp, *flow, on) else { return interpret(next) };
    let Session { kernel, sites: [whole, parts], lanes, trip, partings, apart, rows, .. } = &mut *session;
    let (some, active) = (mask != !0, u64::from(lanes.2));
    let Some(code) = kernel.code(some) else { return interpret(u32::MAX) };
    let (sites, other) = if some { (parts, whole) } else { (whole, parts) };
    let beyond = kernel.made().filter(|_| C::JOINS && cx.oracle.takes_turns()).map(|some| (some, other));
    let lists = [&code.sites[..], beyond.as_ref().map_or(&code.sites[..], |(some, _)| &some.sites[..])];
    let mut host = Calls { sh: &mut *sh, mem, cx: &mut *cx, sites: lists, depth: 0, fault: None };
    let (trip, lanes, patience) = (*trip, &mut lanes.1, C::PATIENCE);
    apart.gather();
    let along = Along { sites, beyond, patience, mask, lanes, partings, apart, watch: u32::MAX, trip, rows };
    let back = code.enter(entry, along, &mut host);
    let fault = host.fault;
    let Some(back) = back else { return interpret(u32::MAX) };
    let executed = *fuel - back.left;
    let threads = active * u64::from(executed - back.hidden) - session.fewer(back);
    session.visited(&mut sh.threads, threads, executed);
    session.checks += u64::from(back.exit == Exit::Check);
    *fuel = back.left;
    flow.pc = back.pc;
    if C::JOINS && session.apart.has_run() {
        let (given, told) = (back.given, sh.begun + sh.turn - back.told);
        if given > 0 {
            *fuel = back.told;
            return left_within((back, fault), warp, flow, sh, fuel, session, &mut cx.sink);
        }
        session.apart.take_runs(None).for_each(|(_, lanes)| warp.control.parted(&[lanes]));
        sh.runs = Some((mask, told));
    }
    tell(&session.partings, &session.kernel.plan, warp, flow);
    if C::JOINS
        && back.exit == Exit::Diverge
        && cx.oracle.takes_turns()
        && split(back, warp, flow, sh, fuel, session).is_some()
    {
        return Ok(if *fuel > 0 { Visit::On } else { Visit::Went(Went::Stop) });
    }
    let before = *fuel;
    let visit = came_back((back, fault), warp, flow, sh, fuel, session, &mut cx.sink);
    session.executed += active * u64::from(before - *fuel);
    visit
}

/// Instructions of a turn that were executed and that the control model was not told of.
#[inline(always)]
fn untold(sh: &Shared<'_>, fuel: u32) -> u32 {
    sh.begun + sh.turn - fuel - sh.runs.map_or(0, |(_, told)| told)
}

/// The code for all lanes was left while these had parted, with so much fuel when they did. What follows is as if it had been left then.
#[cold]
pub(super) fn left_within<C: Control, S: Sink>(
    (back, fault): (Back, Option<Box<Fault>>),
    warp: &mut Warp<C>,
    flow: &mut Flow,
    sh: &mut Shared<'_>,
    fuel: &mut u32,
    session: &mut Session,
    sink: &mut S,
) -> Result<Visit, Box<Halt>> {
    if back.patience == C::PATIENCE {
        // Those who parted before have met.
        warp.control.parted(&[]);
    }
    let before = sh.begun + sh.turn - back.told;
    let next = session.kernel.plan.next[(back.pc - session.kernel.plan.function.start.0) as usize];
    let at = Left { fueled: back.given, apart: true, before, told: before - back.own, next };
    left_apart((back.of_given(), fault), at, warp, flow, sh, fuel, session, sink)
}

/// All lanes that are ready part at a branch: those run that are behind, as their model would have it. `None`: it is not so simple,
/// and nothing was done.
fn split<C: Control>(
    back: Back,
    warp: &mut Warp<C>,
    flow: &mut Flow,
    sh: &mut Shared<'_>,
    fuel: &mut u32,
    session: &Session,
) -> Option<()> {
    let start = session.kernel.plan.function.start.0;
    let (behind, target) = (back.pc + 1, session.kernel.plan.code.get((back.pc - start) as usize)?.imm);
    let ((low, runs), (high, waits)) = match target.cmp(&behind) {
        Ordering::Less => ((target, back.taken), (behind, flow.mask & !back.taken)),
        Ordering::Greater => ((behind, flow.mask & !back.taken), (target, back.taken)),
        Ordering::Equal => return None,
    };
    let (others, patience) = warp.control.aside(*flow)?;
    let executed = sh.begun + sh.turn - *fuel;
    let own = executed - sh.runs.map_or(0, |(_, told)| told);
    if !others.is_empty() || own > patience {
        return None;
    }
    let all = flow.mask;
    warp.lines.0.at = Some((back.pc - start, all));
    *flow = Flow { pc: low, mask: runs, ..*flow };
    warp.control.regrouped(*flow, &[(waits, high)], &[all], own);
    let rest = *fuel + sh.more;
    *fuel = rest.min(Fair::GROUP.get());
    (sh.runs, sh.more, sh.turn) = (Some((runs, executed)), rest - *fuel, executed - sh.begun + *fuel);
    Some(())
}

/// Runs some of the lanes of a warp whose lanes may meet without an instruction that says so, and those that they meet.
#[inline(never)]
fn parted<C: Control, M: Memory, S: Sink>(
    warp: &mut Warp<C>,
    flow: &mut Flow,
    sh: &mut Shared<'_>,
    mem: &mut M,
    fuel: &mut u32,
    cx: &mut Cx<'_, S>,
    session: &mut Session,
) -> Result<Visit, Box<Halt>> {
    let interpret = |n| Ok(Visit::Went(Went::Interpret(n)));
    let (mask, k) = (flow.mask, (flow.pc - session.kernel.plan.function.start.0) as usize);
    let next = session.kernel.plan.next[k];
    let Some(number) = ready(&session.kernel.plan, warp, *flow) else { return interpret(next) };
    let Session { kernel, sites, lanes, trip, partings, apart, rows, .. } = &mut *session;
    let (plan, Some(code)) = (&kernel.plan, kernel.code(true)) else { return interpret(u32::MAX) };
    let before = sh.begun + sh.turn - *fuel;
    let told = sh.runs.map_or(0, |(_, told)| told);
    let given = apart.begin(plan, warp, *flow, (*fuel + sh.more, before - told), !cx.oracle.takes_turns());
    let (watch, fueled) = if let Some(given) = given { (u32::MAX, given) } else { (warp.control.watch(), *fuel) };
    apart.enter(fueled);
    let sites = &mut sites[1];
    let mut host = Calls { sh: &mut *sh, mem, cx: &mut *cx, sites: [&code.sites; 2], depth: 0, fault: None };
    let (trip, lanes, patience) = (*trip, &mut lanes.1, C::PATIENCE);
    let along = Along { sites, beyond: None, patience, mask, lanes, partings, apart, watch, trip, rows };
    let on = Fueled { fuel: fueled, untold: 0, patience: 0 };
    let back = entry_at(warp, *flow, on, number).and_then(|entry| code.enter(entry, along, &mut host));
    let fault = host.fault;
    let Some(back) = back else { return interpret(u32::MAX) };
    let executed = fueled - back.left;
    let threads = u64::from(u32::BITS) * u64::from(executed - back.hidden) - session.apart.fewer(back);
    session.visited(&mut sh.threads, threads, executed);
    session.checks += u64::from(back.exit == Exit::Check);
    let at = Left { fueled, apart: given.is_some(), before, told, next };
    left_apart((back, fault), at, warp, flow, sh, fuel, session, &mut cx.sink)
}

/// Lanes that have parted from others, as they entered native code.
#[derive(Clone, Copy)]
struct Left {
    /// Their fuel, and whether native code could let others run.
    fueled: u32,
    apart: bool,
    /// Instructions of the turn before that, and those that the control model had been told of.
    before: u32,
    told: u32,
    /// How many the interpreter executes up to where native code is entered again, from where they are.
    next: u32,
}

/// What follows where lanes came back that have parted from others; `fuel`: what there was when they began.
#[expect(clippy::too_many_arguments, reason = "what a visit has, and what is left of it")]
fn left_apart<C: Control, S: Sink>(
    (back, fault): (Back, Option<Box<Fault>>),
    at: Left,
    warp: &mut Warp<C>,
    flow: &mut Flow,
    sh: &mut Shared<'_>,
    fuel: &mut u32,
    session: &mut Session,
    sink: &mut S,
) -> Result<Visit, Box<Halt>> {
    let Left { fueled, apart, before, told, next } = at;
    let executed = fueled - back.left;
    flow.pc = back.pc;
    let rest = *fuel + sh.more - executed;
    let fuels = (fueled, back.left);
    let now = if apart { session.apart.end(&session.kernel.plan, warp, flow, fuels, (before, told)) } else { None };
    match now {
        None => *fuel = fuel.saturating_sub(executed),
        Some((told, lease)) => {
            *fuel = rest.min(lease);
            sh.runs = Some((flow.mask, told));
        }
    }
    (sh.more, sh.turn) = (rest - *fuel, before - sh.begun + executed + *fuel);
    (session.lanes.0, session.lanes.2) = (flow.mask, flow.mask.count_ones());
    let place = (back.pc - session.kernel.plan.function.start.0) as usize;
    warp.lines.0.at = Some((place as u32, flow.mask));
    let spared = back.exit == Exit::Fuel && *fuel > 0 && apart;
    match back.exit {
        Exit::Diverge => {}
        // All have met, or who meets whom is to be seen.
        Exit::Meet if now.is_some_and(|(_, lease)| lease == u32::MAX) && *fuel > 0 => return Ok(Visit::On),
        Exit::Meet => return Ok(Visit::Went(Went::Stop)),
        Exit::Fuel | Exit::Check | Exit::Outside | Exit::Barrier | Exit::End if *fuel == 0 => {
            return Ok(Visit::Went(Went::Stop));
        }
        // It is the patience of others that was used up.
        _ if spared && executed > 0 => return Ok(Visit::On),
        _ => {}
    }
    let (before, active) = (*fuel, u64::from(session.lanes.2));
    let visit = came_back((Back { left: *fuel, ..back }, fault), warp, flow, sh, fuel, session, sink);
    session.executed += active * u64::from(before - *fuel);
    if spared { Ok(Visit::Went(Went::Interpret(next))) } else { visit }
}

/// What there is for a warp: fuel, how much more the control model was not told of, and its patience.
#[derive(Clone, Copy)]
pub(super) struct Fueled {
    pub fuel: u32,
    pub untold: u32,
    pub patience: u32,
}

/// What lanes of a warp are run on from where they are; what native code holds of its registers is made to be that of these lanes.
/// `None`: none of them are there, or the values of some register do not lie on the line that they should.
#[inline(always)]
pub(super) fn entry_of<'a, C>(plan: &Plan, warp: &'a mut Warp<C>, flow: Flow, fuel: Fueled) -> Option<Entry<'a>> {
    let number = ready(plan, warp, flow)?;
    entry_at(warp, flow, fuel, number)
}

/// Makes what native code holds of a warp's registers that of some lanes; gives the number of the entry where they are.
#[inline(always)]
fn ready<C>(plan: &Plan, warp: &mut Warp<C>, flow: Flow) -> Option<u32> {
    let k = flow.pc.wrapping_sub(plan.function.start.0);
    let number = plan.entries.get(k as usize).copied().flatten()?;
    let frame = warp.frames.first_mut()?;
    warp.lines.0.ready(plan, k, flow.mask, frame).then_some(number)
}

/// What lanes are run on that are ready.
#[inline(always)]
fn entry_at<C>(warp: &mut Warp<C>, flow: Flow, on: Fueled, number: u32) -> Option<Entry<'_>> {
    let Warp { frames, local, lines, index, .. } = warp;
    let frame = frames.first_mut()?;
    let (Fueled { fuel, untold, patience }, scalars) = (on, &mut lines.0.values);
    Some(Entry { warp: *index, frame, local, scalars, fuel, untold, patience, number, from: flow.pc })
}

/// Tells a warp of whose lanes some came back where the others are; `flow`: all that ran, then those that came back.
#[inline(always)]
pub(super) fn tell<C: Control>(partings: &Partings, plan: &Plan, warp: &mut Warp<C>, flow: &mut Flow) {
    if !partings.open().is_empty() {
        tell_all(partings, plan, warp, flow);
    }
}

#[cold]
fn tell_all<C: Control>(partings: &Partings, plan: &Plan, warp: &mut Warp<C>, flow: &mut Flow) {
    let (at, start) = (flow.pc, plan.function.start.0);
    for (level, parting) in partings.open().iter().enumerate() {
        let Parting { mask, taken, tokens, branch, second, .. } = *parting;
        let k = branch as usize;
        let (Some(i), Some(region)) = (plan.code.get(k), plan.regions[k].as_ref()) else { continue };
        *flow = Flow { pc: start + branch, mask, depth: 0 };
        push(warp, *flow, plan.tokens[k].as_deref().unwrap_or_default(), tokens as usize);
        let runs = parting.runs();
        if runs != mask {
            let place = if second == 0 {
                warp.control.diverge(flow, taken, i.imm);
                branch
            } else {
                region.join as u32
            };
            warp.lines.0.wait(place, mask & !runs, partings.numbers(level));
        }
        flow.mask = runs;
    }
    flow.pc = at;
}

/// Tokens that were pushed natively are still on the stack.
fn push<C: Control>(warp: &mut Warp<C>, flow: Flow, stack: &[Token], count: usize) {
    for (kind, to) in &stack[stack.len().saturating_sub(count)..] {
        let mut here = flow;
        warp.control.push(&mut here, *kind, flow.mask, *to);
    }
}

/// What follows where native code came back.
#[inline(always)]
pub(super) fn came_back<C: Control, S: Sink>(
    (back, fault): (Back, Option<Box<Fault>>),
    warp: &mut Warp<C>,
    flow: &mut Flow,
    sh: &mut Shared<'_>,
    fuel: &mut u32,
    session: &Session,
    sink: &mut S,
) -> Result<Visit, Box<Halt>> {
    let (mask, plan) = (flow.mask, &session.kernel.plan);
    let at = (back.pc - plan.function.start.0) as usize;
    warp.lines.0.at = Some((at as u32, mask));
    if back.tokens > 0 && !on(Mutant::NativeTokens) {
        push(warp, *flow, plan.tokens[at].as_deref().unwrap_or_default(), back.tokens as usize);
    }
    let i = &plan.code[at];
    match back.exit {
        Exit::Barrier => {
            if mask == warp.control.live()
                && let Some(id) = sh.join(i, mask, warp.index)
            {
                one(fuel, sh, session.lanes.2);
                arrived(sink, sh.who, back.pc, id, mask).map_err(|stop| stopped(Fault::Stop(stop), mask))?;
                // It goes on at the instruction behind, with the same lanes.
                if plan.carries[at] {
                    warp.lines.0.at = Some((at as u32 + 1, mask));
                }
                return Ok(handed::<C>(flow, |flow| warp.control.wait(flow, mask, Wait::Barrier(id))));
            }
            settle(session, warp);
            Ok(Visit::Went(Went::Interpret(1)))
        }
        Exit::End if !C::WAITS || mask == warp.control.live() => {
            one(fuel, sh, session.lanes.2);
            exited(sink, sh.who, back.pc, mask).map_err(|stop| stopped(Fault::Stop(stop), mask))?;
            warp.lines.0.at = None;
            sh.exited += session.lanes.2;
            sh.barriers.leave_cluster(warp.arrivals.exit(mask));
            Ok(handed::<C>(flow, |flow| warp.control.exit(flow, mask)))
        }
        Exit::Break => Ok(handed::<C>(flow, |flow| warp.control.brk(flow, back.taken, i.imm))),
        Exit::Diverge => Ok(handed::<C>(flow, |flow| warp.control.diverge(flow, back.taken, i.imm))),
        Exit::Sync => match warp.control.rejoin(TokenKind::Sync, mask, flow.depth) {
            Some(to) => {
                flow.pc = to;
                Ok(Visit::On)
            }
            None => Ok(handed::<C>(flow, |flow| warp.control.sync(flow))),
        },
        exit => {
            settle(session, warp);
            match exit {
                Exit::Fault => match fault {
                    Some(fault) => Err(stopped(*fault, mask)),
                    None => Ok(Visit::Went(Went::Interpret(1))),
                },
                Exit::Fuel => Ok(Visit::Went(Went::Interpret(u32::MAX))),
                _ => Ok(Visit::Went(Went::Interpret(plan.next[at]))),
            }
        }
    }
}

/// An instruction more was executed.
fn one(fuel: &mut u32, sh: &mut Shared<'_>, lanes: u32) {
    *fuel -= 1;
    sh.threads = sh.threads.wrapping_add(lanes.into());
}

/// What of a warp's registers native code holds is written to its frame: somebody else goes on with it.
pub(in crate::machine) fn settle<C>(session: &Session, warp: &mut Warp<C>) {
    if let Some(frame) = warp.frames.first_mut() {
        warp.lines.0.give(&session.kernel.plan, frame);
    }
}
