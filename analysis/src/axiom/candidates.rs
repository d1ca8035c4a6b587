//! Executions of a program by trying all candidates (way `candidates`), as herd does.
//!
//! What every thread does for any values that its reads may find ([`runs`]); every way to combine that; every source of each
//! read among the writes of its value; every order of writes, fences and late-comers ([`orders`]). Each candidate is then judged by
//! [`Evaluation`]. Nothing is concluded from a model before that, but for axioms that only look at what is chosen already. So it
//! takes exponential time, and shares with the other ways only the events.
//!
//! Whether an execution comes out of thin air (D-thin-air) is decided by what could be known first ([`grounded`]).

mod grounded;
mod orders;
mod runs;

use super::evaluate::Evaluation;
use super::execution::Execution;
use super::frame::{Base, Choice, Frame, base, frame, overlap};
use super::model::{Model, Node, Role};
use super::program::{Kind, Place, Program, Trace};
use super::question::{Limits, Question, Searched, asked_for, total};
use super::relation::Relation;
use crate::base::sorted::SortedSet;
use grounded::Grounds;
use orders::{LARGEST, orders, subsets};
use runs::Runs;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Calls `found` with an execution for each way to read and each last value that is asked about, where it is wanted and allowed.
pub(super) fn search(
    program: &dyn Program,
    model: &Model,
    question: &Question<'_>,
    limits: Limits,
    found: &mut dyn FnMut(&Execution) -> ControlFlow<()>,
) -> Searched {
    let mut runs = Runs::new(program, limits);
    runs.collect(question);
    let early = early(model);
    let supplied = (0..runs.all.len()).map(|from| supplied(program, &runs.all[from..])).collect();
    let mut all = Candidates {
        program,
        model,
        early: &early,
        question,
        limits,
        supplied,
        done: runs.done,
        constants: runs.constants,
        found,
    };
    if !all.done.limited && runs.all.iter().all(|of_thread| !of_thread.is_empty()) {
        let _ = all.combine(&runs.all, &mut Vec::new());
    }
    all.done
}

/// A model's axioms that look at no order, only at what threads do and what reads read from.
fn early(model: &Model) -> Model {
    let mut open = vec![false; model.nodes.len()];
    loop {
        let before = open.clone();
        for (k, node) in model.nodes.iter().enumerate() {
            open[k] |= match node {
                Node::BaseRelation(name) => {
                    !matches!(base(&model.relations[*name as usize]), Base::Static | Base::Choice(Choice::Rf))
                }
                _ => node.operands().any(|of| open[of.index()]),
            };
        }
        for group in &model.groups {
            for (name, body) in group.names.iter().zip(&group.bodies) {
                open[name.index()] |= open[body.index()];
            }
        }
        if open == before {
            break;
        }
    }
    let mut model = model.clone();
    model.axioms.retain(|axiom| axiom.role == Role::Axiom && !open[axiom.of.index()]);
    model
}

/// A location and what it holds at some time.
type Content = (u32, u32, Option<u64>);

fn content(place: Place, value: Option<u64>) -> Content {
    (place.location, place.offset, value)
}

/// What some runs of some threads write, and what memory holds at the start.
fn supplied(program: &dyn Program, runs: &[Vec<Trace>]) -> SortedSet<Content> {
    let initial = program.initial().into_iter().map(|(place, value)| content(place, Some(value)));
    initial.chain(runs.iter().flatten().flat_map(|trace| contents(trace, Kind::Write))).collect()
}

/// What a run writes, or what it reads.
fn contents(trace: &Trace, kind: Kind) -> impl Iterator<Item = Content> + '_ {
    let such = trace.events.iter().filter(move |event| event.kind == kind);
    such.filter_map(|event| Some(content(event.place?, event.value)))
}

struct Candidates<'a, 'm> {
    program: &'a dyn Program,
    model: &'m Model,
    early: &'a Model,
    question: &'a Question<'a>,
    limits: Limits,
    /// What runs of the threads from each one on write.
    supplied: Vec<SortedSet<Content>>,
    constants: Vec<u64>,
    done: Searched,
    found: &'a mut dyn FnMut(&Execution) -> ControlFlow<()>,
}

/// Threads, and what their reads read from.
struct Reading<'a> {
    frame: &'a Rc<Frame>,
    registers: Vec<Vec<u64>>,
    rf: Relation,
    meetings: Relation,
    fences: Relation,
    /// Last values for which there was an execution.
    finals: SortedSet<Vec<u64>>,
}

impl Candidates<'_, '_> {
    fn count(&mut self) -> ControlFlow<()> {
        self.done.choices += 1;
        if self.question.ends_at(self.done.choices, self.supplied.len(), self.limits) {
            self.done.limited = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// One run of each thread after those that are chosen.
    fn combine(&mut self, runs: &[Vec<Trace>], chosen: &mut Vec<Trace>) -> ControlFlow<()> {
        let next = chosen.len();
        if next > 0 && !self.promising(runs, chosen) {
            return ControlFlow::Continue(());
        }
        if next == runs.len() {
            return self.combination(chosen);
        }
        for run in &runs[next] {
            self.count()?;
            chosen.push(run.clone());
            let flow = self.combine(runs, chosen);
            chosen.pop();
            flow?;
        }
        ControlFlow::Continue(())
    }

    /// Whether the registers may be wanted, and whether what is read may be there, as far as threads are chosen.
    fn promising(&self, runs: &[Vec<Trace>], chosen: &[Trace]) -> bool {
        let unknown: Vec<Vec<Option<u64>>> =
            runs[chosen.len()..].iter().map(|of_thread| vec![None; of_thread[0].registers.len()]).collect();
        let known = chosen.iter().map(|trace| &trace.registers[..]);
        let registers: Vec<&[Option<u64>]> = known.chain(unknown.iter().map(|list| &list[..])).collect();
        if (self.question.wanted)(&registers, &vec![None; self.question.finals.len()]) == Some(false) {
            return false;
        }
        let written: SortedSet<Content> = chosen.iter().flat_map(|trace| contents(trace, Kind::Write)).collect();
        let later = self.supplied.get(chosen.len());
        chosen.iter().flat_map(|trace| contents(trace, Kind::Read)).all(|read| {
            written.contains(&read) || later.is_some_and(|later| later.contains(&read)) || self.starts_with(read)
        })
    }

    /// Whether memory may hold this at the start.
    fn starts_with(&self, (location, offset, value): Content) -> bool {
        let mut known =
            self.program.initial().into_iter().filter(|(p, _)| (p.location, p.offset) == (location, offset));
        match known.next() {
            Some((_, initial)) => value == Some(initial),
            // Places that are met only in a run.
            None => true,
        }
    }

    fn combination(&mut self, traces: &[Trace]) -> ControlFlow<()> {
        let frame = Rc::new(frame(self.program, self.model, traces, &mut asked_for(self.program, self.question)));
        if frame.mixed {
            let what = "accesses of different widths overlap";
            self.done.unsupported.get_or_insert_with(|| what.to_owned());
        }
        if frame.blocked.contains(&true) {
            return ControlFlow::Continue(());
        }
        let reads = (0..frame.len()).filter(|n| frame.event(*n).kind == Kind::Read).collect::<Vec<_>>();
        let none = Relation::new(frame.len());
        let registers = traces.iter().map(|t| t.registers.iter().map(|r| r.unwrap_or(0)).collect()).collect();
        let mut reading = Reading {
            frame: &frame,
            registers,
            rf: none.clone(),
            meetings: none.clone(),
            fences: none,
            finals: SortedSet::new(),
        };
        self.sources(&mut reading, &reads)
    }

    /// A source of each read: a write of its value.
    fn sources(&mut self, reading: &mut Reading<'_>, reads: &[usize]) -> ControlFlow<()> {
        let Some((read, rest)) = reads.split_first() else { return self.read(reading) };
        let frame = Rc::clone(reading.frame);
        let value = frame.event(*read).value;
        for write in 0..frame.len() {
            let source = frame.event(write).value;
            let fits = match source {
                None => value.is_some_and(|value| self.constants.contains(&value)),
                _ => source == value,
            };
            if fits && frame.rf.contains(write, *read) {
                self.count()?;
                reading.rf.insert(write, *read);
                let flow = self.sources(reading, rest);
                reading.rf.remove(write, *read);
                flow?;
            }
        }
        ControlFlow::Continue(())
    }

    /// All sources are chosen.
    fn read(&mut self, reading: &mut Reading<'_>) -> ControlFlow<()> {
        let frame = Rc::clone(reading.frame);
        if !(Grounds { frame: &frame, rf: &reading.rf, constants: &self.constants }).hold() {
            return ControlFlow::Continue(());
        }
        reading.finals.clear();
        reading.fences = Relation::new(frame.len());
        if !self.early.axioms.is_empty() {
            let none = Relation::new(frame.len());
            let bases = self.execution(reading, &none, Vec::new()).bases(self.early);
            if Evaluation::of(self.early, &bases).failed().is_some() {
                return ControlFlow::Continue(());
            }
        }
        for meetings in meetings(&frame) {
            reading.meetings = meetings;
            self.fences(reading)?;
        }
        ControlFlow::Continue(())
    }

    /// Orders of fences: those in each other's scope one way or the other, others perhaps. It is enough that orders are closed: models
    /// take the closure of what they build on them.
    fn fences(&mut self, reading: &mut Reading<'_>) -> ControlFlow<()> {
        let frame = Rc::clone(reading.frame);
        let list: Vec<usize> = frame.fences.domain().iter().collect();
        let Some(all) = self.some_orders(list.len(), false) else { return ControlFlow::Break(()) };
        for order in all {
            let fences = on(&frame, &list, &order);
            let mut ordered = fences.clone();
            ordered.add(&fences.inverse());
            if frame.near.within(&ordered) {
                reading.fences = fences;
                self.coherence(reading, &locations(&frame), frame.begins.clone())?;
            }
        }
        ControlFlow::Continue(())
    }

    /// All orders of so many things, if that is not too many.
    fn some_orders(&mut self, count: usize, total: bool) -> Option<Vec<Vec<u32>>> {
        if count > LARGEST {
            self.done.limited = true;
            return None;
        }
        Some(orders(count, total))
    }

    /// Orders of the writes to each location: of all of them, or partial ones where a model leaves writes unordered. Those that are not
    /// closed are left out: models that have partial ones close them first.
    fn coherence(&mut self, reading: &mut Reading<'_>, open: &[Vec<usize>], co: Relation) -> ControlFlow<()> {
        let Some((writes, rest)) = open.split_first() else { return self.candidate(reading, &co) };
        let Some(all) = self.some_orders(writes.len(), total(self.model)) else { return ControlFlow::Break(()) };
        for order in all {
            let mut co = co.clone();
            co.add(&on(reading.frame, writes, &order));
            self.coherence(reading, rest, co)?;
        }
        ControlFlow::Continue(())
    }

    /// Everything is chosen but which of several last writes is looked at.
    fn candidate(&mut self, reading: &mut Reading<'_>, co: &Relation) -> ControlFlow<()> {
        self.count()?;
        let registers: Vec<Vec<Option<u64>>> =
            reading.registers.iter().map(|list| list.iter().copied().map(Some).collect()).collect();
        let registers: Vec<&[Option<u64>]> = registers.iter().map(|list| &list[..]).collect();
        let mut lasts = self.lasts(reading.frame, co);
        lasts.retain(|values| {
            let known: Vec<Option<u64>> = values.iter().copied().map(Some).collect();
            !reading.finals.contains(values) && (self.question.wanted)(&registers, &known) != Some(false)
        });
        if lasts.is_empty() {
            return ControlFlow::Continue(());
        }
        let mut execution = self.execution(reading, co, Vec::new());
        let evaluation = Evaluation::of(self.model, &execution.bases(self.model));
        if evaluation.failed().is_some() {
            return ControlFlow::Continue(());
        }
        execution.flags = evaluation.flags().into_iter().map(|flag| flag.axiom.name.clone()).collect();
        if self.question.flagged && execution.flags.is_empty() {
            return ControlFlow::Continue(());
        }
        if !self.question.flagged {
            execution.flags.clear();
        }
        for values in lasts {
            execution.finals = self.question.finals.iter().copied().zip(values.iter().copied()).collect();
            reading.finals.insert(values);
            self.done.found += 1;
            (self.found)(&execution)?;
        }
        ControlFlow::Continue(())
    }

    /// The last values of the places that are asked about, each of a write that none comes after.
    fn lasts(&self, frame: &Frame, co: &Relation) -> Vec<Vec<u64>> {
        let mut all = vec![Vec::new()];
        for place in self.question.finals {
            let here = |n: &usize| {
                let event = frame.event(*n);
                event.kind == Kind::Write
                    && event.place.is_some_and(|p| overlap(p, *place))
                    && co.from(*n).next().is_none()
            };
            let values: SortedSet<u64> =
                (0..frame.len()).filter(here).map(|n| frame.event(n).value.unwrap_or(0)).collect();
            all = all
                .iter()
                .flat_map(|before: &Vec<u64>| {
                    values.iter().map(|value| before.iter().copied().chain([*value]).collect())
                })
                .collect();
        }
        all
    }

    fn execution(&self, reading: &Reading<'_>, co: &Relation, finals: Vec<(Place, u64)>) -> Execution {
        Execution {
            frame: Rc::clone(reading.frame),
            events: reading.frame.events.clone(),
            rf: reading.rf.clone(),
            co: co.clone(),
            fences: reading.fences.clone(),
            meetings: reading.meetings.clone(),
            registers: reading.registers.clone(),
            finals,
            flags: Vec::new(),
        }
    }
}

/// The writes to each location that are not initial.
fn locations(frame: &Frame) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    for write in frame.co.range().iter() {
        let same = |other: usize| frame.co.contains(write, other);
        match all.iter_mut().find(|list| same(list[0])) {
            Some(list) => list.push(write),
            None => all.push(vec![write]),
        }
    }
    all
}

/// An order as pairs of events.
fn on(frame: &Frame, list: &[usize], order: &[u32]) -> Relation {
    let pairs = order.iter().zip(list).flat_map(|(below, b)| {
        list.iter().enumerate().filter(move |(k, _)| below >> k & 1 == 1).map(move |(_, a)| (*a, *b))
    });
    Relation::of(frame.len(), pairs)
}

/// Who meets at barriers: where more come than a quorum, any so many come first, and the others after them (D-litmus-late).
fn meetings(frame: &Frame) -> Vec<Relation> {
    let mut all = vec![frame.meetings.clone()];
    for (quorum, list) in &frame.late {
        let firsts = subsets(list.len(), usize::try_from(*quorum).unwrap_or(usize::MAX));
        let meet = |before: &Relation, first: u32| {
            let late = |n: &usize| list.iter().position(|m| m == n).map(|k| first >> k & 1 == 0);
            let pairs = before.iter().filter(|(a, b)| late(a) != Some(true) || late(b).is_none());
            Relation::of(frame.len(), pairs)
        };
        all =
            all.iter().flat_map(|before| firsts.iter().map(|first| meet(before, *first)).collect::<Vec<_>>()).collect();
    }
    all
}
