//! Executions of a program that a model allows, each built once (way `graphs`).
//!
//! Threads run as far as what is known lets them. Then a read is chosen whose source is open: it reads from one of the writes that
//! are there, or from one that is not there yet. These cases exclude each other, so no execution is met twice; and since they are
//! all there is, none is missed. Nothing asks for an order in which events happen: a read may wait for a write that comes later
//! in its own thread, as load buffering needs. A thread stops where its way depends on a read that is open; what would follow depends on
//! that read, too, so that it can read from nothing there: no execution has a cycle of reads-from and dependency
//! of control or addresses (D-thin-air). Only where what follows does not all depend on the read (a compare-and-swap that may store nothing) and all open reads
//! wait for writes to come, the thread assumes what it would see.
//!
//! After each choice the axioms narrow the others ([`Bounds`]).

use super::bounds::Bounds;
use super::choices::{Choices, Conflict};
use super::coming::{Coming, starves};
use super::cone::Cone;
use super::execution::Execution;
use super::frame::{Frame, INITIAL, Id, frame};
use super::frames::{Frames, same_shape};
use super::future::{Futures, Knowledge};
use super::hope::Waiting;
use super::leaf;
use super::model::Model;
use super::program::{End, Event, Kind, Known, Place, Program, Stall, Trace};
use super::question::{Limits, Question, Searched, asked_for, total};
use super::relation::Set;
use super::symmetry;
use super::uniform::fitting;
use super::unwanted::Begun;
use crate::base::mutant::{Mutant, on};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

/// A choice, of events however many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Decision {
    /// A read reads from a write.
    Rf(Id, Id),
    /// It does not.
    NotRf(Id, Id),
}

/// A node of the search.
#[derive(Clone)]
struct State<'m> {
    decisions: Vec<Decision>,
    /// What each thread's reads returned.
    reads: Vec<Vec<Option<u64>>>,
    /// What each thread assumes.
    assumed: Vec<Vec<(u32, u64)>>,
    traces: Vec<Trace>,
    bounds: Rc<RefCell<Bounds<'m>>>,
    choices: Choices,
}

/// What follows for a node of the search.
enum Next {
    /// Nothing is left of it.
    Dead,
    /// It is to be looked at.
    Go,
}

/// Calls `found` with each execution that is wanted and allowed.
pub fn search(
    program: &dyn Program,
    model: &Model,
    question: &Question<'_>,
    limits: Limits,
    found: &mut dyn FnMut(&Execution) -> ControlFlow<()>,
) -> Searched {
    let model = &*fitting(program, model);
    let cone = Cone::of(model);
    let mut search = Search {
        program,
        model,
        cone: &cone,
        question,
        limits,
        places: asked_for(program, question),
        ends: FxHashMap::default(),
        going: FxHashMap::default(),
        futures: Futures::default(),
        frames: Frames::default(),
        done: Searched::default(),
        found,
    };
    let _ = search.start();
    search.done
}

struct Search<'a, 'm> {
    program: &'a dyn Program,
    model: &'m Model,
    cone: &'m Cone,
    question: &'a Question<'a>,
    limits: Limits,
    /// The places that have initial writes, in the order in which they were met.
    places: IndexSet<Place>,
    /// How threads end that know so much.
    ends: FxHashMap<Knowledge, End>,
    /// Whether threads that know so much write or wait then.
    going: FxHashMap<Knowledge, bool>,
    futures: Futures,
    frames: Frames<'m>,
    done: Searched,
    found: &'a mut dyn FnMut(&Execution) -> ControlFlow<()>,
}

impl<'m> Search<'_, 'm> {
    fn run(&self, thread: usize, reads: &[Option<u64>], assumed: &[(u32, u64)]) -> Trace {
        self.program.run(thread, Known { reads, assumed, bound: self.limits.bound })
    }

    /// Notes how a thread ended; whether its execution is one to go on with.
    fn ended(&mut self, end: &End) -> bool {
        match end {
            End::Done | End::Stalled(_) => true,
            End::Bound => {
                self.done.bounded = true;
                false
            }
            End::Spin | End::Contradiction => false,
            End::Fault(kind) => {
                self.done.faults += 1;
                self.done.fault.get_or_insert(*kind);
                false
            }
            End::Unsupported(what) => {
                self.done.unsupported.get_or_insert_with(|| what.clone());
                false
            }
        }
    }

    fn start(&mut self) -> ControlFlow<()> {
        let count = self.program.threads();
        let (reads, assumed) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        let traces: Vec<Trace> = (0..count).map(|thread| self.run(thread, &[], &[])).collect();
        if !traces.iter().all(|trace| self.ended(&trace.end)) {
            return ControlFlow::Continue(());
        }
        let (bounds, choices) = self.framed(&traces);
        let mut state = State { decisions: Vec::new(), reads, assumed, traces, bounds, choices };
        self.narrow(&mut state);
        self.explore(state)
    }

    /// Leaves out sources with which nothing comes about that is asked for.
    fn narrow(&self, state: &mut State<'m>) {
        let frame = Rc::clone(&state.bounds.borrow().frame);
        let State { traces, reads, choices, .. } = &*state;
        let begun = Begun { frame: &frame, traces, reads, sources: &choices.rf.may, question: self.question };
        let written = |write: usize| written(state, &frame, write);
        let found = begun.unwanted(&written, &|thread, reads| self.run(thread, reads, &[]));
        for (write, read) in found {
            state.decisions.push(Decision::NotRf(frame.events[write].0, frame.events[read].0));
            state.choices.rf.may.remove(write, read);
        }
    }

    /// A frame for traces, with nothing chosen.
    fn framed(&mut self, traces: &[Trace]) -> (Rc<RefCell<Bounds<'m>>>, Choices) {
        let bounds = self.frames.of(traces, self.places.len(), || {
            let frame = Rc::new(frame(self.program, self.model, traces, &mut self.places));
            Bounds::new(self.model, self.cone, frame, total(self.model), self.question.flagged)
        });
        let frame = Rc::clone(&bounds.borrow().frame);
        if frame.mixed {
            let what = "accesses of different widths overlap";
            self.done.unsupported.get_or_insert_with(|| what.to_owned());
        }
        let choices = Choices::of(&frame);
        (bounds, choices)
    }

    /// Draws conclusions until there are no more.
    fn conclude(&mut self, state: &mut State<'m>) -> Result<(), Conflict> {
        loop {
            state.bounds.borrow_mut().propagate(&mut state.choices)?;
            let news = learn(state)?;
            if news.is_empty() {
                if self.leads_nowhere(state) {
                    continue;
                }
                return Ok(());
            }
            let mut reshaped = false;
            for thread in news {
                let trace = self.run(thread, &state.reads[thread], &state.assumed[thread]);
                if !self.ended(&trace.end) {
                    return Err(Conflict);
                }
                reshaped |= !same_shape(&trace, &state.traces[thread]);
                state.traces[thread] = trace;
            }
            if reshaped {
                self.reframe(state)?;
            }
        }
    }

    /// Leaves out sources whose value would end a thread in a way that is not looked at: around a loop for nothing, say. Whether there were any.
    fn leads_nowhere(&mut self, state: &mut State<'m>) -> bool {
        let frame = Rc::clone(&state.bounds.borrow().frame);
        let sources = state.choices.rf.may.inverse();
        let mut found = false;
        for thread in 0..state.traces.len() {
            let End::Stalled(stall) = &state.traces[thread].end else { continue };
            let id = |position: u32| Id { thread: thread as u32, position };
            let mut open = stall.on.iter().copied().filter(|position| known(state, id(*position)).is_none());
            let (Some(position), None) = (open.next(), open.next()) else { continue };
            let Some(read) = frame.number(id(position)) else { continue };
            let mut reads = state.reads[thread].clone();
            for write in sources.from(read) {
                let Some(value) = written(state, &frame, write) else { continue };
                set(&mut reads, position, value);
                let end = self.end(thread, &reads, &state.assumed[thread]);
                if !self.ended(&end) {
                    state.choices.rf.may.remove(write, read);
                    found = true;
                }
            }
        }
        found
    }

    /// How a thread ends that knows so much.
    fn end(&mut self, thread: usize, reads: &[Option<u64>], assumed: &[(u32, u64)]) -> End {
        let key = (thread, reads.to_vec(), assumed.to_vec());
        if let Some(end) = self.ends.get(&key) {
            return end.clone();
        }
        let end = self.run(thread, reads, assumed).end;
        self.ends.insert(key, end.clone());
        end
    }

    /// The same choices among the events that there are now.
    fn reframe(&mut self, state: &mut State<'m>) -> Result<(), Conflict> {
        let (bounds, mut choices) = self.framed(&state.traces);
        let frame = Rc::clone(&bounds.borrow().frame);
        for decision in &state.decisions {
            let (Decision::Rf(write, read) | Decision::NotRf(write, read)) = *decision;
            let (Some(write), Some(read)) = (frame.number(write), frame.number(read)) else { continue };
            match decision {
                Decision::Rf(..) => choices.rf.fix(write, read)?,
                Decision::NotRf(..) => choices.rf.drop(write, read)?,
            }
        }
        (state.bounds, state.choices) = (bounds, choices);
        Ok(())
    }

    /// Draws conclusions; whether anything is left, as far as what is asked is known.
    fn next(&mut self, state: &mut State<'m>) -> Next {
        self.done.choices += 1;
        if self.done.choices > self.limits.choices {
            self.done.limited = true;
            return Next::Dead;
        }
        if hopeless(state) || self.conclude(state).is_err() || hopeless(state) {
            return Next::Dead;
        }
        let registers: Vec<&[Option<u64>]> = state.traces.iter().map(|trace| &trace.registers[..]).collect();
        let unknown = vec![None; self.question.finals.len()];
        if (self.question.wanted)(&registers, &unknown) == Some(false) {
            return Next::Dead;
        }
        if self.question.flagged && !state.bounds.borrow().may_flag() {
            return Next::Dead;
        }
        Next::Go
    }

    fn explore(&mut self, mut state: State<'m>) -> ControlFlow<()> {
        if matches!(self.next(&mut state), Next::Dead) {
            return ControlFlow::Continue(());
        }
        let frame = Rc::clone(&state.bounds.borrow().frame);
        let coming = frame.open && !on(Mutant::NothingComes) && self.coming(&state, &frame);
        if frame.open && !coming && starves(&frame, &state.choices.rf.may) {
            return ControlFlow::Continue(());
        }
        match self.pick(&state, &frame, coming) {
            Some(read) => self.sources(&state, &frame, read, coming),
            None if frame.open => {
                if self.assume(&state)? {
                    return ControlFlow::Continue(());
                }
                // Who waits for a value that depends on itself may go on, as long as nothing is done because of it (D-thin-air).
                match circular(&state, &frame) {
                    Some(read) => self.constants(&state, frame.events[read].0),
                    None => ControlFlow::Continue(()),
                }
            }
            None => self.values(state, &frame),
        }
    }

    /// The read to choose a source for, with the fewest sources. While threads wait, only reads that somebody waits for: others could be
    /// left to writes to come in as many ways as there are of them, for nothing. A read that is left to writes to come is not chosen again
    /// before there are any.
    fn pick(&mut self, state: &State<'m>, frame: &Frame, coming: bool) -> Option<usize> {
        let may = state.choices.rf.may.inverse();
        let chosen = state.choices.rf.must.range();
        let open = |read: &usize| !chosen.contains(*read) && may.from(*read).next().is_some();
        let reads = (0..frame.events.len()).filter(|n| frame.event(*n).kind == Kind::Read).filter(open);
        let sources = |read: &usize| may.from(*read).count();
        if !frame.open {
            return reads.min_by_key(sources);
        }
        let waited = waited(state, frame);
        // A source whose value is not known yet leads no thread on.
        let vague = |read: &usize| may.from(*read).any(|write| written(state, frame, write).is_none());
        // One that reads from what is there for certain is no loss.
        let cost = |read: &usize| (coming && self.later(state, frame, *read), vague(read), sources(read));
        reads.filter(|read| waited.contains(*read)).min_by_key(cost)
    }

    /// A read reads from one of the writes that are there, or from one to come. What has been looked at is left out afterwards where
    /// it is the same but for threads that may change places.
    fn sources(&mut self, state: &State<'m>, frame: &Frame, read: usize, coming: bool) -> ControlFlow<()> {
        let writes: Vec<usize> =
            (0..frame.events.len()).filter(|write| state.choices.rf.may.contains(*write, read)).collect();
        let alike = self.alike(state, frame);
        let id = |event: usize| frame.events[event].0;
        let without = |child: &mut State<'m>, write: usize, read: usize| {
            child.decisions.push(Decision::NotRf(id(write), id(read)));
            child.choices.rf.drop(write, read).is_ok()
        };
        let others = |child: &mut State<'m>, before: &[usize]| {
            let mut pairs =
                before.iter().flat_map(|write| alike.iter().map(move |places| (places[*write], places[read])));
            pairs.all(|(write, other)| without(child, write, other))
        };
        for (k, write) in writes.iter().enumerate() {
            let mut child = state.clone();
            child.decisions.push(Decision::Rf(id(*write), id(read)));
            if child.choices.rf.fix(*write, read).is_ok() && others(&mut child, &writes[..k]) {
                self.explore(child)?;
            }
        }
        if !(coming && self.later(state, frame, read)) || on(Mutant::NoLaterSource) {
            return ControlFlow::Continue(());
        }
        let mut child = state.clone();
        let left = writes.iter().all(|write| without(&mut child, *write, read));
        if left && others(&mut child, &writes) { self.explore(child) } else { ControlFlow::Continue(()) }
    }

    /// Whether a read may read from a write that is yet to come: of a thread that may still write there, and goes on without that read.
    fn later(&mut self, state: &State<'m>, frame: &Frame, read: usize) -> bool {
        let (id, event) = &frame.events[read];
        let Some(place) = event.place else { return true };
        let hidden = state
            .traces
            .iter()
            .any(|trace| trace.events.iter().any(|event| event.place.is_none() && event.kind == Kind::Write));
        let mut threads = state.traces.iter().enumerate();
        frame.open
            && (hidden
                || threads.any(|(thread, trace)| match &trace.end {
                    End::Stalled(stall) => {
                        let own = thread as u32 == id.thread && stall.on.contains(&id.position);
                        !(own && stall.control) && self.may_write(state, (thread, stall), place)
                    }
                    _ => frame.blocked[thread],
                }))
    }

    /// Whether any write is to come.
    fn coming(&mut self, state: &State<'m>, frame: &Frame) -> bool {
        let State { reads, assumed, traces, choices, .. } = state;
        let coming = Coming { frame, traces, reads, sources: &choices.rf.may.inverse() };
        coming.any(&|write| written(state, frame, write), &mut |thread, reads, before| {
            self.goes_on(thread, reads, &assumed[thread], before)
        })
    }

    /// Whether a thread that knows so much writes behind so many events, or waits.
    fn goes_on(&mut self, thread: usize, reads: &[Option<u64>], assumed: &[(u32, u64)], before: usize) -> bool {
        let key = (thread, reads.to_vec(), assumed.to_vec());
        if let Some(goes_on) = self.going.get(&key) {
            return *goes_on;
        }
        let trace = self.run(thread, reads, assumed);
        let writes = || trace.events.iter().skip(before).any(|event| event.kind == Kind::Write);
        let goes_on = match trace.end {
            End::Stalled(_) => true,
            End::Done => writes(),
            _ => false,
        };
        self.going.insert(key, goes_on);
        goes_on
    }

    /// Whether a thread that has stalled may yet write to a place.
    fn may_write(&mut self, state: &State<'m>, (thread, stall): (usize, &Stall), place: Place) -> bool {
        let (program, bound) = (self.program, self.limits.bound);
        let run = |(thread, reads, assumed): &Knowledge| program.run(*thread, Known { reads, assumed, bound });
        let knowledge = (thread, state.reads[thread].clone(), state.assumed[thread].clone());
        let events = state.traces[thread].events.len();
        program.may_write(thread, stall, place) && self.futures.may_write(knowledge, events, place, &run)
    }

    /// How events may change places now.
    fn alike(&self, state: &State<'m>, frame: &Frame) -> Vec<Vec<usize>> {
        let State { reads, assumed, traces, choices, .. } = state;
        let known = |symmetry: &&Vec<usize>| {
            let mut all = symmetry.iter().enumerate();
            all.all(|(thread, other)| reads[thread] == reads[*other] && assumed[thread] == assumed[*other])
        };
        let moved = self.question.symmetries.iter().filter(known).filter_map(|s| symmetry::moved(frame, traces, s));
        moved.filter(|places| symmetry::invariant(choices, places)).collect()
    }

    /// A thread that waits assumes one thing or the other; whether there is one.
    fn assume(&mut self, state: &State<'m>) -> ControlFlow<(), bool> {
        let stalls = state.traces.iter().enumerate().filter_map(|(thread, trace)| match &trace.end {
            End::Stalled(stall) if !stall.control && !stall.options.is_empty() => Some((thread, stall)),
            _ => None,
        });
        let useful: Vec<(usize, &Stall)> =
            stalls.filter(|(thread, stall)| self.goes_on_apart(state, *thread, stall)).collect();
        let Some((thread, stall)) = useful.into_iter().min_by_key(|(_, stall)| stall.options.len()) else {
            return ControlFlow::Continue(false);
        };
        for option in &stall.options {
            let mut child = state.clone();
            child.assumed[thread].push((stall.decision, *option));
            self.changed(child, thread)?;
        }
        ControlFlow::Continue(true)
    }

    /// Whether a thread that assumes something comes to an event that does not depend on what it waits for; without, there would
    /// be nothing that the reads which it waits for could read from (D-thin-air).
    fn goes_on_apart(&self, state: &State<'m>, thread: usize, stall: &Stall) -> bool {
        stall.options.iter().any(|option| {
            let mut assumed = state.assumed[thread].clone();
            assumed.push((stall.decision, *option));
            let trace = self.run(thread, &state.reads[thread], &assumed);
            let news = &trace.events[state.traces[thread].events.len().min(trace.events.len())..];
            let apart = |event: &Event| !stall.on.iter().any(|read| event.ctrl.contains(read) || event.addr.contains(read));
            // Who waits again may come to such an event later.
            let again = matches!(&trace.end, End::Stalled(next) if !next.control && next.on.iter().all(|read| !stall.on.contains(read)));
            again || news.iter().any(apart)
        })
    }

    /// Goes on after something else is known of a thread.
    fn changed(&mut self, mut state: State<'m>, thread: usize) -> ControlFlow<()> {
        let trace = self.run(thread, &state.reads[thread], &state.assumed[thread]);
        if !self.ended(&trace.end) {
            return ControlFlow::Continue(());
        }
        let reshaped = !same_shape(&trace, &state.traces[thread]);
        state.traces[thread] = trace;
        if reshaped && self.reframe(&mut state).is_err() {
            return ControlFlow::Continue(());
        }
        self.explore(state)
    }

    /// All sources are chosen. Where values still depend on themselves, each that is looked at is tried.
    fn values(&mut self, state: State<'m>, frame: &Rc<Frame>) -> ControlFlow<()> {
        let unknown = frame.events.iter().find(|(id, event)| event.kind == Kind::Read && known(&state, *id).is_none());
        match unknown {
            Some((id, _)) => self.constants(&state, *id),
            None => self.leaf(&state, frame),
        }
    }

    /// A read whose value depends on itself alone returns one number or another.
    fn constants(&mut self, state: &State<'m>, read: Id) -> ControlFlow<()> {
        let thread = read.thread as usize;
        for value in self.program.constants() {
            let mut child = state.clone();
            set(&mut child.reads[thread], read.position, value);
            self.changed(child, thread)?;
        }
        ControlFlow::Continue(())
    }

    /// Everything that threads do is known; orders remain.
    fn leaf(&mut self, state: &State<'m>, frame: &Rc<Frame>) -> ControlFlow<()> {
        if frame.blocked.contains(&true) {
            return ControlFlow::Continue(());
        }
        let mut bounds = state.bounds.borrow_mut();
        let leaf = leaf::Leaf { model: self.model, question: self.question, traces: &state.traces };
        leaf.orders(&mut bounds, state.choices.clone(), &mut |execution| {
            self.done.found += 1;
            (self.found)(execution)
        })
    }
}

/// Whether no thread that waits can go on.
fn hopeless(state: &State<'_>) -> bool {
    let bounds = state.bounds.borrow();
    let State { traces, reads, choices, .. } = state;
    Waiting { frame: &bounds.frame, traces, reads, sources: &choices.rf.may }.hopeless()
}

/// The value of a read, where it is known.
fn known(state: &State<'_>, id: Id) -> Option<u64> {
    state.reads.get(id.thread as usize)?.get(id.position as usize).copied().flatten()
}

fn set(reads: &mut Vec<Option<u64>>, position: u32, value: u64) {
    let position = position as usize;
    if reads.len() <= position {
        reads.resize(position + 1, None);
    }
    reads[position] = Some(value);
}

/// What a write writes, where that is known.
fn written(state: &State<'_>, frame: &Frame, write: usize) -> Option<u64> {
    let (id, event) = &frame.events[write];
    match id.thread {
        INITIAL => event.value,
        thread => state.traces[thread as usize].events[id.position as usize].value,
    }
}

/// Reads whose source and value are known now; answers the threads that know more.
fn learn(state: &mut State<'_>) -> Result<Vec<usize>, Conflict> {
    let frame = Rc::clone(&state.bounds.borrow().frame);
    let mut news = Vec::new();
    for (write, read) in state.choices.rf.must.iter() {
        let (id, _) = &frame.events[read];
        let Some(value) = written(state, &frame, write) else { continue };
        match known(state, *id) {
            Some(old) if old != value => return Err(Conflict),
            Some(_) => {}
            None => {
                let thread = id.thread as usize;
                set(&mut state.reads[thread], id.position, value);
                if !news.contains(&thread) {
                    news.push(thread);
                }
            }
        }
    }
    Ok(news)
}

/// A read whose value depends on itself, as far as sources are chosen.
fn circular(state: &State<'_>, frame: &Frame) -> Option<usize> {
    let mut values = state.choices.rf.must.clone();
    values.add(&frame.data);
    let values = values.plus();
    let unknown = |event: &usize| {
        let (id, event) = &frame.events[*event];
        event.kind == Kind::Read && known(state, *id).is_none()
    };
    (0..frame.events.len()).find(|event| values.contains(*event, *event) && unknown(event))
}

/// The reads that threads wait for, and those that the values of these may depend on.
fn waited(state: &State<'_>, frame: &Frame) -> Set {
    let mut all = Set::new(frame.len());
    let mut queue: Vec<usize> = Vec::new();
    let wait = |all: &mut Set, queue: &mut Vec<usize>, thread: u32, on: &[u32]| {
        for position in on {
            if let Some(read) = frame.number(Id { thread, position: *position }).filter(|read| !all.contains(*read)) {
                all.insert(read);
                queue.push(read);
            }
        }
    };
    for (thread, trace) in (0..).zip(&state.traces) {
        if let End::Stalled(stall) = &trace.end {
            wait(&mut all, &mut queue, thread, &stall.on);
        }
        for event in trace.events.iter().filter(|event| event.place.is_none()) {
            wait(&mut all, &mut queue, thread, &event.addr);
        }
    }
    let sources = state.choices.rf.may.inverse();
    while let Some(read) = queue.pop() {
        for write in sources.from(read) {
            let (id, event) = &frame.events[write];
            wait(&mut all, &mut queue, id.thread, &event.data);
        }
    }
    all
}
