//! Lanes that have called functions run natively, call others and return (D-its): of independent threads those who are deepest run,
//! of these those who are behind. The control model is told of all of it when lanes have come to what native code cannot do, or when
//! somebody else is to run.

use super::apart::Apart;
use super::calls::Calls;
use super::code::Along;
use super::context::{Back, Exit};
use super::nest::{Nest, Within};
use super::session::{Kernel, Session};
use super::stacked::{Begun, Here};
use super::visit::{Visit, Went, handed};
use crate::base::{LaneMask, expand};
use crate::machine::control::{Control, Flow};
use crate::machine::warp::state::{Halt, Shared, Warp, stopped};
use crate::memory::{Cx, Fault, Memory};
use crate::verdict::Sink;
use std::sync::Arc;

/// Runs lanes that are in a function, and those that they call.
#[inline(never)]
pub(super) fn nested<C: Control, M: Memory, S: Sink>(
    warp: &mut Warp<C>,
    flow: &mut Flow,
    sh: &mut Shared<'_>,
    mem: &mut M,
    fuel: &mut u32,
    cx: &mut Cx<'_, S>,
    session: &mut Session,
) -> Result<Visit, Box<Halt>> {
    let interpret = |n| Ok(Visit::Went(Went::Interpret(n)));
    let (kernel, now) = (Arc::clone(&session.kernel), !session.auto);
    if S::ON || !C::JOINS {
        return interpret(u32::MAX);
    }
    let Some(number) = kernel.callees.at(flow.pc) else { return interpret(u32::MAX) };
    let Some(callee) = kernel.callees.get(number, sh.env, kernel.setting, now) else { return interpret(u32::MAX) };
    let k = (flow.pc - callee.plan.function.start.0) as usize;
    let next = callee.plan.next[k];
    if *fuel == 0 || callee.plan.entries[k].is_none() {
        return interpret(next);
    }
    let before = sh.begun + sh.turn - *fuel;
    let told = sh.runs.map_or(0, |(_, told)| told);
    let Some(frame) = warp.frames.get(flow.depth as usize) else { return interpret(next) };
    let beside = if cx.oracle.takes_turns() { warp.control.nested(*flow) } else { None };
    let begun = beside.and_then(|beside| session.stacked.begin(callee, frame, *flow, beside));
    let most = |begun: &Begun| begun.patience.saturating_sub(before - told).min(*fuel + sh.more);
    let begun = begun.filter(|begun| most(begun) > 0);
    let others = begun.is_some();
    let Some(begun) = begun.or_else(|| session.stacked.alone(callee, frame, *flow)) else { return interpret(next) };
    let (given, ready, base) = (if others { most(&begun) } else { *fuel }, begun.ready, begun.base);
    let watch = if others { u32::MAX } else { warp.control.watch() };
    let here = Here { number, base, depth: flow.depth, mask: flow.mask, k };
    session.look(here.mask, cx);
    let Session { lanes, trip, partings, apart, stacked, callees, rows, .. } = &mut *session;
    let nest = Nest { kernel: &kernel, stacked, here, ready, beyond: begun.beyond, now, together: false };
    let calls = Calls { sh: &mut *sh, mem, cx: &mut *cx, sites: [&[]; 2], depth: here.depth, fault: None };
    let mut host = Within { calls, nest, warp: &mut *warp };
    let (mut left, mut visits) = (given, Visits::default());
    let back = loop {
        let number = host.nest.here.number;
        let (Some(callee), Some(sites)) = (kernel.callees.made(number), callees.get_mut(number)) else { break None };
        host.calls.sites = [&callee.code.sites; 2];
        let mask = host.nest.here.mask;
        if lanes.0 != mask {
            *lanes = (mask, expand(mask, &host.calls.cx.tables), mask.count_ones());
        }
        host.nest.stacked.apart.enter(left);
        host.nest.stacked.apart.all.mask = mask;
        let (trip, lanes_of, patience, beyond) = (*trip, &mut lanes.1, C::PATIENCE, None);
        let along = Along { sites, beyond, patience, mask, lanes: lanes_of, partings, apart, watch, trip, rows };
        let back = callee.code.nest(left, along, &mut host);
        // Where lanes were moved, these are not those that native code had expanded.
        let last = host.nest.stacked.apart.all.mask;
        let expanded = back.is_some_and(|back| back.exit != Exit::Moved);
        (lanes.0, lanes.2) = (if expanded { last } else { !last }, last.count_ones());
        let Some(back) = back else { break None };
        visits.add(left, back, &host.nest.stacked.apart);
        left = back.left;
        if back.exit != Exit::Moved {
            host.nest.came_to(back.pc);
            break Some(back);
        }
        if host.nest.together {
            break Some(Back { exit: Exit::Meet, ..back });
        }
    };
    let (fault, here) = (host.calls.fault, host.nest.here);
    let exit = back.map_or(Exit::Outside, |back| back.exit);
    visits.count(&mut sh.threads, session);
    session.checks += u64::from(exit == Exit::Check);
    let at = Left { given, left, before, told, ready, others };
    tell(at, here, &kernel, warp, flow, sh, fuel, session);
    came_back((exit, back, fault), (here, at), &kernel, warp, flow, *fuel)
}

/// Visits to native code, and what was executed in them.
#[derive(Clone, Copy, Default)]
struct Visits {
    visits: u64,
    instructions: u64,
    threads: u64,
}

impl Visits {
    /// One more, that began with so much fuel.
    fn add(&mut self, fuel: u32, back: Back, apart: &Apart) {
        let executed = fuel - back.left;
        self.visits += 1;
        self.instructions += u64::from(executed);
        self.threads += u64::from(u32::BITS) * u64::from(executed - back.hidden) - apart.fewer(back);
    }

    /// They count as others; `all`: thread instructions so far.
    fn count(self, all: &mut u64, session: &mut Session) {
        *all = all.wrapping_add(self.threads);
        session.executed += self.threads;
        session.visits += self.visits;
        session.instructions += self.instructions;
    }
}

/// A visit that has ended.
#[derive(Clone, Copy)]
struct Left {
    /// Fuel at its beginning, and what is left of it.
    given: u32,
    left: u32,
    /// Instructions of the turn before that, and those that the control model had been told of.
    before: u32,
    told: u32,
    ready: LaneMask,
    /// Whether native code could let others run.
    others: bool,
}

/// Tells the control model who is where and who has run.
#[expect(clippy::too_many_arguments, reason = "what a visit has, and what is left of it")]
fn tell<C: Control>(
    at: Left,
    here: Here,
    kernel: &Kernel,
    warp: &mut Warp<C>,
    flow: &mut Flow,
    sh: &mut Shared<'_>,
    fuel: &mut u32,
    session: &mut Session,
) {
    let Left { given, left, before, told, ready, others } = at;
    let start = kernel.callees.made(here.number).map_or(0, |callee| callee.plan.function.start.0);
    let (whole, executed) = (flow.mask == ready, given - left);
    *flow = Flow { pc: start + here.k as u32, mask: here.mask, depth: here.depth };
    let rest = *fuel + sh.more - executed;
    let stacked = &mut session.stacked;
    if !others || whole && !stacked.apart.has_run() {
        // They have run as they were, and nobody has waited.
        *fuel = fuel.saturating_sub(executed);
    } else {
        let booked = stacked.apart.book(here.mask, (given, left), (before, told));
        let waiting = stacked.others(&kernel.callees, here);
        let runs = &stacked.apart.all.runs[..booked.runs];
        if !runs.is_empty() {
            warp.control.has_run(*flow, &waiting, runs, booked.now - told);
        }
        let lease = if here.mask == ready { u32::MAX } else { booked.lease };
        *fuel = rest.min(lease);
        sh.runs = Some((flow.mask, booked.now));
    }
    (sh.more, sh.turn) = (rest - *fuel, before - sh.begun + executed + *fuel);
}

/// What follows where lanes came back.
fn came_back<C: Control>(
    (exit, back, fault): (Exit, Option<Back>, Option<Box<Fault>>),
    (here, at): (Here, Left),
    kernel: &Kernel,
    warp: &mut Warp<C>,
    flow: &mut Flow,
    fuel: u32,
) -> Result<Visit, Box<Halt>> {
    let Some(plan) = kernel.callees.made(here.number).map(|callee| &callee.plan) else {
        return Ok(Visit::Went(Went::Stop));
    };
    let (taken, target) = (back.map_or(0, |back| back.taken), plan.code.get(here.k).map_or(0, |i| i.imm));
    let next = plan.next.get(here.k).copied().unwrap_or(1);
    Ok(match exit {
        Exit::Diverge => handed::<C>(flow, |flow| warp.control.diverge(flow, taken, target)),
        Exit::Break => handed::<C>(flow, |flow| warp.control.brk(flow, taken, target)),
        Exit::Sync => handed::<C>(flow, |flow| warp.control.sync(flow)),
        Exit::Fault => match fault {
            Some(fault) => return Err(stopped(*fault, flow.mask)),
            None => Visit::Went(Went::Interpret(1)),
        },
        _ if fuel == 0 => Visit::Went(Went::Stop),
        Exit::Meet if flow.mask == at.ready => Visit::On,
        Exit::Meet | Exit::Moved => Visit::Went(Went::Stop),
        // They come to where others are.
        Exit::Fuel if !at.others => Visit::Went(Went::Interpret(u32::MAX)),
        // It is the patience of others that was used up.
        Exit::Fuel if at.left < at.given => Visit::On,
        Exit::Barrier | Exit::End | Exit::Call | Exit::Return => Visit::Went(Went::Interpret(1)),
        Exit::Fuel | Exit::Check | Exit::Outside => Visit::Went(Went::Interpret(next)),
    })
}
