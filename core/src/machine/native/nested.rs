//! Lanes that have called functions run natively, call others and return (D-its): of independent threads those who are deepest run,
//! of these those who are behind. A function runs natively from where lanes enter it to where they call or return; what follows is
//! done here. The control model is told of all of it when lanes have done what native code cannot, or somebody else is to run.

use super::apart::Apart;
use super::callees::{Callee, Callees};
use super::calls::Calls;
use super::code::{Along, Host, Placed, Transferred};
use super::context::{Back, Exit, RUNS};
use super::forms::Way;
use super::go::{Visit, Went, handed};
use super::session::{Kernel, Session};
use crate::base::mutant::{Mutant, on};
use crate::base::{Frame, LaneMask, expand, lanes_of};
use crate::machine::control::{Control, Flow, Group};
use crate::machine::warp::frames::{Deeper, Stack};
use crate::machine::warp::state::{Halt, Shared, Warp, stopped};
use crate::memory::{Cx, Fault, LocalMemory, Memory};
use crate::program::env::FuncId;
use crate::program::instr::{STACK_BASE, STACK_TOP};
use crate::verdict::{Row, Sink};
use pulp::Simd;
use std::sync::Arc;

/// Where stack frames begin: at multiples of so many bytes, as the interpreter has it.
const ALIGN: u32 = 16;

/// A function of which lanes wait while others run that have called from it.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Its number.
    number: usize,
    /// Where its frame begins.
    base: u32,
    /// How many wait in its callers.
    waiting: usize,
}

/// Room for functions that call each other natively.
#[derive(Debug)]
pub(super) struct Stacked {
    /// Who waits in the function that runs.
    apart: Apart,
    /// Its callers, the deepest last, as far as they have called natively.
    levels: Vec<Level>,
    /// By place, who waits in these.
    waiting: Vec<(u8, LaneMask)>,
    /// By depth: the function whose constants the frame has, and for which lanes, as far as that is known.
    filled: Vec<Option<(usize, LaneMask)>>,
}

/// Lanes that run.
#[derive(Clone, Copy)]
struct Here {
    /// Their function, and where its frame begins.
    number: usize,
    base: u32,
    depth: u32,
    mask: LaneMask,
    /// The instruction, from the function's start.
    k: usize,
}

/// What there is when lanes begin.
#[derive(Clone, Copy)]
struct Begun {
    /// Where the frame of their function begins.
    base: u32,
    /// All lanes that are ready; none where others are left to the control model. And those of them that are in callers.
    ready: LaneMask,
    beyond: LaneMask,
    /// How many instructions there may be until others come first.
    patience: u32,
}

impl Stacked {
    /// Nobody is in any.
    pub fn new() -> Self {
        Self { apart: Apart::new(0, 0), levels: Vec::new(), waiting: Vec::new(), filled: Vec::new() }
    }

    /// Gets ready for lanes in a function and for those who wait. `None`: it is not so simple.
    fn begin<C: Control>(&mut self, callee: &Callee, warp: &Warp<C>, flow: Flow) -> Option<Begun> {
        let nested = warp.control.nested(flow)?;
        let all = nested.here.iter().fold(flow.mask, |all, (lanes, _)| all | lanes);
        let base = base(callee, warp, flow, all)?;
        self.clear();
        for (lanes, pc) in nested.here {
            self.apart.wait(callee.plan.place(pc)?, lanes);
        }
        Some(Begun { base, ready: all | nested.beyond, beyond: nested.beyond, patience: nested.patience })
    }

    /// Gets ready for lanes in a function that run until somebody else is to.
    fn alone<C: Control>(&mut self, callee: &Callee, warp: &Warp<C>, flow: Flow) -> Option<Begun> {
        let base = base(callee, warp, flow, flow.mask)?;
        self.clear();
        // Where no run can be noted, native code leaves when lanes part.
        self.apart.all.count = RUNS as u32;
        Some(Begun { base, ready: 0, beyond: 0, patience: 0 })
    }

    fn clear(&mut self) {
        self.levels.clear();
        self.waiting.clear();
        self.filled.clear();
        // Who waited when functions were left is where the control model has it.
        while self.apart.take().is_some() {}
        self.apart.gather();
    }

    /// Those who run in a function wait for others, whom they have called.
    fn push(&mut self, here: Here) {
        self.levels.push(Level { number: here.number, base: here.base, waiting: self.waiting.len() });
        while let Some((place, lanes)) = self.apart.take() {
            self.waiting.push((place, lanes));
        }
    }

    /// Lanes have returned to where others may wait in the function that called last.
    fn come_back(&mut self, place: u8, lanes: LaneMask) {
        let from = self.levels.last().map_or(0, |level| level.waiting);
        match self.waiting[from..].iter_mut().find(|(other, _)| *other == place) {
            Some((_, others)) => *others |= lanes,
            None => self.waiting.push((place, lanes)),
        }
    }

    /// The function that runs next, of which those run who are behind: the same one, or where nobody is left in that, its caller.
    fn next(&mut self, callees: &Callees, here: Here) -> Option<Here> {
        let mut next = here;
        if self.apart.all.places == 0 {
            let level = self.levels.pop()?;
            for (place, lanes) in self.waiting.drain(level.waiting..) {
                self.apart.wait(place, lanes);
            }
            next = Here { number: level.number, base: level.base, depth: here.depth - 1, ..here };
        }
        let (place, mask) = self.apart.take()?;
        let k = *callees.made(next.number)?.plan.meets.get(usize::from(place))? as usize;
        Some(Here { mask, k, ..next })
    }

    /// Who waits where.
    fn others(&self, callees: &Callees, here: Here) -> Vec<Group> {
        let mut all = Vec::new();
        let mut add = |number: usize, depth: u32, place: u8, lanes: LaneMask| {
            if let Some(plan) = callees.made(number).map(|callee| &callee.plan)
                && let Some(k) = plan.meets.get(usize::from(place))
            {
                all.push((lanes, plan.function.start.0 + k, depth));
            }
        };
        self.apart.those().for_each(|(place, lanes)| add(here.number, here.depth, place, lanes));
        let ends = self.levels.iter().skip(1).map(|level| level.waiting).chain([self.waiting.len()]);
        for (index, (level, end)) in self.levels.iter().zip(ends).enumerate() {
            let depth = here.depth - (self.levels.len() - index) as u32;
            let waiting = &self.waiting[level.waiting..end];
            waiting.iter().for_each(|(place, lanes)| add(level.number, depth, *place, *lanes));
        }
        all
    }
}

/// Where the frame of a function begins. `None`: it is not the same for all of some lanes.
fn base<C>(callee: &Callee, warp: &Warp<C>, flow: Flow, all: LaneMask) -> Option<u32> {
    let frame = warp.frames.get(flow.depth as usize)?;
    let base = frame.w[STACK_BASE.index()].0[flow.mask.trailing_zeros() as usize % 32];
    let top = base.checked_add(callee.plan.function.frame_bytes)?;
    let same = |row: &[u32; 32], value: u32| lanes_of(all).all(|l| row[l] == value);
    let stands = same(&frame.w[STACK_BASE.index()].0, base) && same(&frame.w[STACK_TOP.index()].0, top);
    (stands && base.is_multiple_of(ALIGN)).then_some(base)
}

/// A visit to functions: who runs, and what goes along with it.
struct Nest<'a> {
    kernel: &'a Kernel,
    stacked: &'a mut Stacked,
    here: Here,
    /// All lanes that are ready, and those of them that are in callers that native code has not been in.
    ready: LaneMask,
    beyond: LaneMask,
    /// Whether functions are compiled that have not been run often.
    now: bool,
    /// Whether those who run are all that are ready, since they have called or returned: nobody has waited any more.
    together: bool,
}

impl Nest<'_> {
    /// The function that runs.
    #[inline(always)]
    fn callee(&self) -> Option<&Callee> {
        self.kernel.callees.made(self.here.number)
    }

    /// The lanes of a function call another one, with so much fuel left; gives how many thread instructions were fewer than if all
    /// lanes had executed each. `None`: they do not, natively.
    #[inline(always)]
    fn call<C: Control>(&mut self, left: i64, warp: &mut Warp<C>, sh: &Shared<'_>) -> Option<u64> {
        let (here, callees) = (self.here, &self.kernel.callees);
        let plan = &callees.made(here.number)?.plan;
        let id = FuncId(plan.code.get(here.k)?.imm);
        let number = callees.number(id)?;
        callees.get(number, sh.env, self.kernel.setting, self.now)?.plan.entries.first().copied().flatten()?;
        let depth = here.depth as usize + 1;
        let Stacked { filled, apart, .. } = &mut *self.stacked;
        if !apart.has_room() {
            return None;
        }
        if filled.len() <= depth {
            filled.resize(depth + 1, None);
        }
        let known = filled[depth].filter(|(other, _)| *other == number).map_or(0, |(_, lanes)| lanes);
        let base = here.base.checked_add(plan.function.frame_bytes)?.checked_next_multiple_of(ALIGN)?;
        let Warp { control, frames, filled: fills, local, index, .. } = warp;
        let deeper = Deeper { caller: here.depth, base, ready: known };
        if !(Stack { frames, filled: fills, local }).enter_again(sh, deeper, id, here.mask, *index) {
            return None;
        }
        filled[depth] = Some((number, known | here.mask));
        control.called(here.mask, here.depth, plan.function.start.0 + here.k as u32 + 1);
        let fewer = apart.turn(left);
        self.stacked.push(here);
        self.go_on(Here { number, base, depth: here.depth + 1, mask: here.mask, k: 0 });
        Some(fewer)
    }

    /// The lanes of a function return: see [`Nest::call`].
    #[inline(always)]
    fn ret<C: Control>(&mut self, left: i64, warp: &Warp<C>) -> Option<u64> {
        let (here, callees) = (self.here, &self.kernel.callees);
        let back = warp.control.returns_to(here.mask, here.depth - 1)?;
        if !self.stacked.apart.has_room() {
            return None;
        }
        if self.stacked.levels.is_empty() {
            self.callers(Flow { pc: back, mask: here.mask, depth: here.depth - 1 }, warp)?;
        }
        let place = callees.made(self.stacked.levels.last()?.number)?.plan.place(back)?;
        let fewer = self.stacked.apart.turn(left);
        self.stacked.come_back(place, here.mask);
        let next = self.stacked.next(callees, here)?;
        self.go_on(next);
        Some(fewer)
    }

    /// Others run, or elsewhere.
    #[inline(always)]
    fn go_on(&mut self, here: Here) {
        (self.here, self.stacked.apart.all.mask) = (here, here.mask);
        self.together = here.mask == self.ready && !on(Mutant::NativeTogether);
    }

    /// Native code came back at an instruction.
    fn came_to(&mut self, pc: u32) {
        let start = self.callee().map_or(pc, |callee| callee.plan.function.start.0);
        (self.here.k, self.here.mask) = ((pc - start) as usize, self.stacked.apart.all.mask);
    }

    /// Whether lanes are ready in callers.
    #[inline(always)]
    fn waits_beyond(&self) -> bool {
        let here = self.stacked.apart.those().fold(self.here.mask, |all, (_, lanes)| all | lanes);
        here != self.ready
    }

    /// Lanes return to where native code has not been yet: those who wait there are taken over from the control model. `None`: it is
    /// not so simple.
    fn callers<C: Control>(&mut self, flow: Flow, warp: &Warp<C>) -> Option<()> {
        let callees = &self.kernel.callees;
        let number = callees.at(flow.pc).filter(|_| flow.depth > 0)?;
        let callee = callees.made(number)?;
        let waiting = warp.control.at_depth(self.beyond, flow.depth);
        let all = waiting.iter().fold(flow.mask, |all, (lanes, _)| all | lanes);
        let base = base(callee, warp, flow, all)?;
        if waiting.iter().any(|(_, pc)| callee.plan.place(*pc).is_none()) {
            return None;
        }
        self.stacked.levels.push(Level { number, base, waiting: 0 });
        for (lanes, pc) in waiting {
            self.stacked.waiting.push((callee.plan.place(pc)?, lanes));
            self.beyond &= !lanes;
        }
        Some(())
    }
}

/// What native code calls back for in functions.
struct Within<'a, 'l, 'c, V, C, M, S> {
    calls: Calls<'a, 'l, 'c, V, M, S>,
    nest: Nest<'a>,
    warp: &'a mut Warp<C>,
}

impl<V: Simd, C: Control, M: Memory, S: Sink> Host for Within<'_, '_, '_, V, C, M, S> {
    fn place(&mut self) -> usize {
        self.calls.place()
    }

    fn shared(&mut self) -> &mut [u8] {
        self.calls.shared()
    }

    fn plain(&mut self, on: (u32, &mut Frame, &mut LocalMemory), pc: u32, lanes: LaneMask) -> bool {
        self.calls.depth = self.nest.here.depth;
        self.calls.plain(on, pc, lanes)
    }

    fn block(&mut self, site: (bool, u32), address: u64, bytes: u64, unit: u32) -> Option<(u64, usize, u64)> {
        self.calls.block(site, address, bytes, unit)
    }

    fn note(&mut self, warp: u32, rows: &[Row]) -> bool {
        self.calls.note(warp, rows)
    }

    fn transfer(&mut self, pc: u32, left: i64) -> Transferred<'_> {
        let Self { calls, nest, warp } = self;
        nest.came_to(pc);
        let before = nest.here.number;
        let calls_one = nest.callee().is_some_and(|callee| callee.plan.ways.get(nest.here.k) == Some(&Way::Call));
        let done = if calls_one { nest.call(left, warp, calls.sh) } else { nest.ret(left, warp) };
        let Some(fewer) = done else { return Transferred::No };
        if self.nest.together || self.nest.here.number != before {
            return Transferred::Elsewhere(fewer);
        }
        self.placed().map_or(Transferred::Elsewhere(fewer), |placed| Transferred::On(fewer, placed))
    }

    fn placed(&mut self) -> Option<Placed<'_>> {
        let beyond = self.nest.waits_beyond();
        let Nest { kernel, stacked, here, .. } = &mut self.nest;
        let plan = &kernel.callees.made(here.number)?.plan;
        let number = plan.entries.get(here.k).copied().flatten()?;
        let Warp { frames, local, index, .. } = &mut *self.warp;
        let (frame, from) = (frames.get_mut(here.depth as usize)?, plan.function.start.0 + here.k as u32);
        let stack = (here.base / 4) as usize;
        Some(Placed { warp: *index, frame, local, apart: &mut stacked.apart, stack, beyond, number, from })
    }
}

/// Runs lanes that are in a function, and those that they call.
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "as of the function that this is a part of")]
pub(super) fn nested<V: Simd, C: Control, M: Memory, S: Sink>(
    simd: V,
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
    let begun = if cx.oracle.takes_turns() { session.stacked.begin(callee, warp, *flow) } else { None };
    let most = |begun: &Begun| begun.patience.saturating_sub(before - told).min(*fuel + sh.more);
    let begun = begun.filter(|begun| most(begun) > 0);
    let others = begun.is_some();
    let Some(begun) = begun.or_else(|| session.stacked.alone(callee, warp, *flow)) else { return interpret(next) };
    let (given, ready, base) = (if others { most(&begun) } else { *fuel }, begun.ready, begun.base);
    let watch = if others { u32::MAX } else { warp.control.watch() };
    let here = Here { number, base, depth: flow.depth, mask: flow.mask, k };
    session.look(here.mask, cx);
    let Session { lanes, trip, partings, apart, stacked, callees, rows, .. } = &mut *session;
    let nest = Nest { kernel: &kernel, stacked, here, ready, beyond: begun.beyond, now, together: false };
    let calls = Calls { simd, sh: &mut *sh, mem, cx: &mut *cx, sites: [&[]; 2], depth: here.depth, fault: None };
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
    let Some(plan) = kernel.callees.made(here.number).map(|callee| &callee.plan) else { return Ok(Visit::Went(Went::Stop)) };
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
