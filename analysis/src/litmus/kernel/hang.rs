//! Whether every execution of a kernel ends.
//!
//! An execution does not end where threads spin: each goes around a loop in which it changes nothing, and would for ever, since memory
//! holds in the end what it sees. Others have ended, or wait at a barrier for one that spins. An execution of this kind is finite: who
//! spins has gone around once, and its reads in that round see the coherence-last write, which is one more axiom. So it is looked for as
//! any other, and what is found is run on by values, to see that it repeats (`onward`).

use super::onward::{Onward, onward};
use super::plans::{Plan, Plans, symmetries};
use super::run::Ran;
use super::runs::{Runs, View};
use super::watched::Fate;
use super::{Gap, Judged, Kernel, tags};
use crate::axiom::{
    End, Event, Execution, INITIAL, Kind, Known, Limits, Model, Place, Program, Question, Rerun, Searched, Trace, Way,
    forgets, search_mixed,
};
use crate::litmus::decided::{Decided, Lasso};
use crate::litmus::lasting::{LASTING, lasting};
use crate::program::instr::Op;
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// Choices that are tried at first for each plan.
const FIRST: u64 = 64;

/// Its bit: behind those of the kernel's sets.
const BIT: u64 = 1 << tags::NAMES.len();

/// What runs of threads told.
#[derive(Default)]
struct Notes {
    gap: Option<Gap>,
    /// Whether a thread came to the bound.
    bounded: bool,
    /// The most barriers that a thread came to.
    arrivals: u64,
    /// Whether threads came to a barrier with a count, or some to one and some to another.
    counted: bool,
    /// By block: the barriers that a thread of it came to, the longest way.
    ways: Vec<Vec<i64>>,
}

/// A kernel of which some threads spin.
struct Spinning<'k> {
    kernel: &'k Kernel,
    plan: Plan,
    tags: &'k [&'static str],
    notes: &'k Mutex<Notes>,
    runs: &'k Runs<'k>,
}

/// What is searched, and how far.
struct Asked<'a> {
    kernel: &'a Kernel,
    model: &'a Model,
    tags: &'a [&'static str],
    way: Way,
    limits: Limits,
    up: &'a dyn Fn() -> bool,
}

/// Decides whether every execution ends.
///
/// First for what the ways of threads depend on alone: where none of that spins for ever, nothing does.
///
/// Rule: D-axiom-hang
#[must_use]
pub fn decide_hang(kernel: &Kernel, model: &Model, (way, limits): (Way, Limits), up: &dyn Fn() -> bool) -> Judged {
    let apart = forgets(model);
    let model = lasting(model);
    let mut all: Vec<&'static str> = kernel.tags().to_vec();
    all.push(LASTING);
    let asked = Asked { kernel, model: &model, tags: &all, way, limits, up };
    if apart {
        let judged = asked.alike(true);
        if judged.decided.pass || up() {
            return judged;
        }
    }
    asked.alike(false)
}

impl Asked<'_> {
    /// Searches, until what is taken to be alike, and not to matter, is so.
    fn alike(&self, apart: bool) -> Judged {
        let mut view = View::first(self.kernel.threads(), apart);
        loop {
            let runs = Runs::new(self.kernel, view);
            let judged = self.search(&runs);
            match runs.better() {
                Some(better) if !(self.up)() => view = better,
                _ => return judged,
            }
        }
    }

    fn search(&self, runs: &Runs<'_>) -> Judged {
        let Asked { kernel, limits, up, .. } = *self;
        let each = kernel.shape().threads().max(1) as usize;
        let symmetries = symmetries(runs.view(), each);
        let notes = Mutex::new(Notes { ways: vec![Vec::new(); kernel.threads() / each], ..Notes::default() });
        let told = || notes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut searched = Searched::default();
        let mut lasso = None;
        // A plan that leads far is put off: another may show soon what it would in the end.
        let mut budget = FIRST;
        let stop = || up() || runs.better().is_some();
        loop {
            let mut put_off = false;
            let mut plans = Plans::new(&symmetries, kernel.threads(), each);
            loop {
                let arrivals = told().arrivals;
                let Some(plan) = plans.next(arrivals) else { break };
                let choices = limits.choices.saturating_sub(searched.choices).min(budget);
                let spinning = Spinning { kernel, plan, tags: self.tags, notes: &notes, runs };
                let (found, more) = spinning.search(self, &symmetries, Limits { choices, ..limits }, &stop);
                searched.choices += more.choices;
                searched.mixed |= more.mixed;
                searched.unsupported = searched.unsupported.or(more.unsupported);
                put_off |= more.limited;
                lasso = found;
                if lasso.is_some() || searched.unsupported.is_some() || stop() {
                    break;
                }
            }
            searched.limited = put_off && lasso.is_none();
            let over = stop() || searched.choices >= limits.choices;
            if !put_off || lasso.is_some() || searched.unsupported.is_some() || over {
                break;
            }
            budget = budget.saturating_mul(8);
        }
        let notes = notes.into_inner().unwrap_or_else(PoisonError::into_inner);
        if lasso.is_none() && notes.counted {
            let what = "threads of a block that meet at several barriers or by a count, whose deadlocks `warpstep prove` looks for";
            searched.unsupported.get_or_insert_with(|| what.to_owned());
        }
        searched.bounded = notes.bounded;
        searched.mixed |= runs.mixed();
        let decided = Decided { pass: lasso.is_none(), witness: None, lasso, searched };
        Judged { decided, mismatches: Vec::new(), defect: None, gap: notes.gap }
    }
}

impl Spinning<'_> {
    fn each(&self) -> usize {
        self.kernel.shape().threads().max(1) as usize
    }

    /// An execution in which the plan's threads spin for ever.
    fn search(
        &self,
        asked: &Asked<'_>,
        symmetries: &[Vec<usize>],
        limits: Limits,
        up: &dyn Fn() -> bool,
    ) -> (Option<Lasso>, Searched) {
        let stopped = Cell::new(false);
        let wanted = |registers: &[&[Option<u64>]], _: &[Option<u64>]| {
            if up() {
                stopped.set(true);
                return Some(false);
            }
            self.possible(registers)
        };
        let Plan { sure, waits, .. } = &self.plan;
        let fits = |to: &&Vec<usize>| {
            let wait = |thread: usize| waits[thread / self.each()];
            to[*sure] == *sure && to.iter().enumerate().all(|(thread, other)| wait(thread) == wait(*other))
        };
        let symmetries: Vec<Vec<usize>> = symmetries.iter().filter(fits).cloned().collect();
        let question = Question { finals: &[], wanted: &wanted, symmetries: &symmetries, flagged: false };
        let lasso = RefCell::new(None);
        let run = |thread: usize, known: Known<'_>| self.run(thread, known);
        let again = Rerun { of: self.kernel, tags: self.tags, run };
        let mut searched = search_mixed(asked.way, &again, asked.model, &question, limits, &mut |execution| {
            *lasso.borrow_mut() = self.lasso(execution);
            if lasso.borrow().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        searched.limited |= stopped.get();
        (lasso.into_inner(), searched)
    }

    /// Whether threads may have ended so: fates and numbers of barriers passed, as far as they are known.
    fn possible(&self, registers: &[&[Option<u64>]]) -> Option<bool> {
        let known = |thread: &[Option<u64>]| Some((thread.first().copied()??, thread.get(1).copied()??));
        let mut open = false;
        for (block, wait) in registers.chunks(self.each()).zip(&self.plan.waits) {
            let ends: Vec<(u64, u64)> = block.iter().filter_map(|thread| known(thread)).collect();
            let spinning = || ends.iter().filter(|(fate, _)| *fate == Fate::Cut.number()).map(|(_, passed)| *passed);
            let passed = ends.iter().map(|(_, passed)| *passed).max();
            if spinning().min() < passed && spinning().next().is_some() {
                return Some(false);
            }
            if ends.len() < block.len() {
                open = true;
            } else if let Some(wait) = wait
                && !spinning().any(|passed| passed == *wait)
            {
                return Some(false);
            }
        }
        if open { None } else { Some(true) }
    }

    /// The execution, if all who spin do so for ever.
    fn lasso(&self, execution: &Execution) -> Option<Lasso> {
        if self.runs.view().kept.is_some() {
            // Something may spin: whether it does is seen with all events.
            return Some(Lasso { prefix: None, stem: Vec::new(), round: Vec::new(), waits: Vec::new() });
        }
        let fate = |thread: usize| execution.registers.get(thread).and_then(|all| all.first()).copied();
        let all = |fate_is: Fate| (0..self.kernel.threads()).filter(move |t| fate(*t) == Some(fate_is.number()));
        let count = |thread: usize| {
            let events = execution.events.iter().filter(|(id, _)| id.thread != INITIAL);
            events.filter(|(id, _)| id.thread as usize == thread).count()
        };
        let last = |place: Place| self.last(execution, place);
        let mut round = Vec::new();
        for thread in all(Fate::Cut) {
            match onward(self.kernel, thread, &execution.accesses(thread), &last) {
                Onward::Spins(at) => round.extend(at.into_iter().map(|pc| (thread, pc as usize))),
                Onward::GoesOn | Onward::Unknown => return None,
            }
        }
        let waits = all(Fate::Waits).map(|thread| {
            let at = execution.registers[thread].get(2).copied().unwrap_or(0);
            (thread, usize::try_from(at).unwrap_or(usize::MAX))
        });
        let cut = (0..self.kernel.threads()).map(count).collect();
        Some(Lasso { prefix: Some((execution.clone(), cut)), stem: Vec::new(), round, waits: waits.collect() })
    }

    /// A byte in the end. Where coherence does not say which write is last, it is one that somebody who spins has read, if there is one.
    fn last(&self, execution: &Execution, place: Place) -> Option<u8> {
        let here = |p: Place| p.location == place.location && (p.offset..p.offset + p.bytes).contains(&place.offset);
        let writes = (0..execution.events.len()).filter(|n| {
            let (_, event) = &execution.events[*n];
            event.kind == Kind::Write && event.place.is_some_and(here) && execution.co.from(*n).next().is_none()
        });
        let lasting = |n: usize| execution.rf.from(n).any(|read| execution.events[read].1.tags & BIT != 0);
        let Some(write) = writes.max_by_key(|n| (lasting(*n), *n)) else {
            return self.kernel.initial_value(place).and_then(|value| u8::try_from(value).ok());
        };
        let (_, event) = &execution.events[write];
        let shift = 8 * (place.offset - event.place?.offset);
        Some(event.value?.checked_shr(shift)?.to_le_bytes()[0])
    }

    /// Marks the reads of the last round of the loop that a thread leaves at a branch back.
    fn mark(&self, events: &mut [Event], at: Option<u32>) {
        let Some(back) = at.and_then(|pc| self.kernel.env().code.get(pc as usize).filter(|i| i.op == Op::Bra)) else {
            return;
        };
        let body = back.imm..=at.unwrap_or(0);
        let mut seen: Vec<(u32, Option<Place>, Kind)> = Vec::new();
        for event in events.iter_mut().rev() {
            let this = (event.origin, event.place, event.kind);
            if !body.contains(&event.origin) || seen.contains(&this) {
                return;
            }
            seen.push(this);
            if event.kind == Kind::Read {
                event.tags |= BIT;
            }
        }
    }

    /// Notes what barriers a thread came to.
    fn note(&self, thread: usize, Ran { trace, at, .. }: &Ran) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if let End::Unsupported(what) = &trace.end {
            notes.gap.get_or_insert_with(|| Gap { thread, at: *at, what: what.clone() });
        }
        let arrivals = trace.events.iter().filter_map(|event| event.arrival);
        let way: Vec<i64> = arrivals.clone().filter_map(|arrival| Some(arrival.barrier?.0)).collect();
        notes.arrivals = notes.arrivals.max(way.len() as u64);
        notes.bounded |= trace.end == End::Bound;
        notes.counted |= arrivals.clone().any(|arrival| arrival.quorum.is_some());
        let block = thread / self.each();
        let Some(known) = notes.ways.get(block) else { return };
        let other = known.iter().zip(&way).any(|(a, b)| a != b);
        let longer = way.len() > known.len();
        notes.counted |= other;
        if longer {
            notes.ways[block] = way;
        }
    }
}

impl Spinning<'_> {
    /// A thread as the plan has it.
    fn run(&self, thread: usize, known: Known<'_>) -> Trace {
        let ran = self.runs.run(thread, known, &|thread, ran| self.note(thread, ran));
        let (mut trace, at) = (ran.trace.clone(), ran.at);
        let arrivals = (0..).zip(&trace.events).filter(|(_, event)| event.kind == Kind::Barrier).map(|(k, _)| k);
        let arrivals: Vec<usize> = arrivals.collect();
        let wait = self.plan.waits.get(thread / self.each()).copied().flatten();
        let stop = wait.and_then(|n| arrivals.get(usize::try_from(n).ok()?)).copied();
        let mut passed = arrivals.len() as u64;
        let mut place = 0;
        let fate = match (&trace.end, stop) {
            (End::Contradiction, _) => return trace,
            (_, Some(at)) => {
                place = trace.events[at].origin.into();
                passed = wait.unwrap_or(0);
                trace.events.truncate(at);
                Some(Fate::Waits)
            }
            (End::Done, _) => Some(Fate::Done),
            (End::Bound | End::Spin, _) => {
                self.mark(&mut trace.events, at);
                Some(Fate::Cut)
            }
            _ => None,
        };
        let Some(fate) = fate else {
            trace.registers = vec![None; 3];
            return trace;
        };
        let fits = if fate == Fate::Cut { self.plan.may[thread] } else { thread != self.plan.sure };
        trace.end = if fits { End::Done } else { End::Contradiction };
        trace.registers = vec![Some(fate.number()), Some(passed), Some(place)];
        trace
    }
}
