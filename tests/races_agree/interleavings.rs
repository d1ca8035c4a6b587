//! All interleavings of a litmus test's threads on memory that acts at once, as executions of a model: whoever steps makes its next
//! event, a read reads the last write, and orders are those of time. It shares nothing with the searches but the threads as
//! functions and the evaluator of models.

use std::collections::{BTreeMap, BTreeSet};
use warpstep::axiom::{
    Chosen, End, Evaluation, Event, Execution, Finding, INITIAL, Id, Kind, Known, Model, Program, Trace, Witness,
};
use warpstep::litmus::Threads;

/// A thread under way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Under {
    reads: Vec<Option<u64>>,
    /// Its next event.
    next: usize,
}

/// An interleaving under way.
#[derive(Clone)]
struct State {
    threads: Vec<Under>,
    /// Events in the order of time, those of one atomic operation one after the other.
    way: Vec<Id>,
}

/// What an interleaving has come to: how far threads are, what reads read from, and the orders of writes to each location, of fences, and of
/// arrivals. Others that come to the same go on in the same ways.
type Come = (Vec<Under>, BTreeMap<Id, Option<Id>>, BTreeMap<u32, Vec<Id>>, Vec<Id>);

/// Goes through interleavings.
struct Walk<'a> {
    program: &'a Threads,
    model: &'a Model,
    /// How many threads come to a barrier that says nothing of it: by its number and the thread.
    counts: &'a dyn Fn(usize, &Event) -> u64,
    /// The executions, each once: what threads read, and the choices.
    seen: BTreeSet<(Vec<Vec<Option<u64>>>, Chosen)>,
    executions: Vec<Execution>,
    been: BTreeSet<Come>,
    left: u64,
}

/// The executions of all interleavings; none where there are more than `most` steps, or a thread comes to no end.
pub fn executions(
    program: &Threads,
    model: &Model,
    counts: &dyn Fn(usize, &Event) -> u64,
    most: u64,
) -> Option<Vec<Execution>> {
    let threads = vec![Under::default(); program.threads()];
    let mut walk = Walk {
        program,
        model,
        counts,
        seen: BTreeSet::new(),
        executions: Vec::new(),
        been: BTreeSet::new(),
        left: most,
    };
    walk.go(&State { threads, way: Vec::new() })?;
    Some(walk.executions)
}

impl Walk<'_> {
    fn trace(&self, state: &State, thread: usize) -> Trace {
        self.program.run(thread, Known { reads: &state.threads[thread].reads, assumed: &[], bound: 1 })
    }

    /// Goes on from a state in all ways. A state in which nobody can step although some threads have not ended is left: on the machine
    /// it is a defect of its own.
    fn go(&mut self, state: &State) -> Option<()> {
        let traces: Vec<Trace> = (0..state.threads.len()).map(|t| self.trace(state, t)).collect();
        if !self.been.insert(Self::come(state, &traces)) {
            return Some(());
        }
        self.left = self.left.checked_sub(1)?;
        let over = |t: usize| state.threads[t].next == traces[t].events.len();
        if (0..traces.len()).all(over) {
            if traces.iter().any(|trace| trace.end != End::Done) {
                return None;
            }
            self.finished(state, &traces);
            return Some(());
        }
        for thread in (0..traces.len()).filter(|t| !over(*t)) {
            if self.waits(state, &traces, thread) {
                continue;
            }
            let mut next = state.clone();
            self.step(&mut next, &traces, thread);
            self.go(&next)?;
        }
        Some(())
    }

    fn come(state: &State, traces: &[Trace]) -> Come {
        let (mut sources, mut writes) = (BTreeMap::new(), BTreeMap::<u32, Vec<Id>>::new());
        let mut others = Vec::new();
        for id in &state.way {
            let event = Self::event(traces, *id);
            match (event.kind, event.place) {
                (Kind::Read, Some(place)) => {
                    sources.insert(*id, writes.get(&place.location).and_then(|all| all.last()).copied());
                }
                (Kind::Write, Some(place)) => writes.entry(place.location).or_default().push(*id),
                _ => others.push(*id),
            }
        }
        (state.threads.clone(), sources, writes, others)
    }

    fn event(traces: &[Trace], id: Id) -> &Event {
        &traces[id.thread as usize].events[id.position as usize]
    }

    /// Arrivals so far at the barrier of an event.
    fn arrivals(&self, way: &[Id], traces: &[Trace], thread: usize, event: &Event) -> u64 {
        let here = |id: &&Id| {
            let other = Self::event(traces, **id);
            let same = other.arrival.and_then(|a| a.barrier) == event.arrival.and_then(|a| a.barrier);
            other.kind == Kind::Barrier
                && same
                && self.program.related("meets", (Some(thread), event), (Some(id.thread as usize), other))
        };
        way.iter().filter(here).count() as u64
    }

    /// Whether a thread waits: the event before its next one is a barrier to which too few have come.
    fn waits(&self, state: &State, traces: &[Trace], thread: usize) -> bool {
        let Some(at) = state.threads[thread].next.checked_sub(1) else { return false };
        let event = &traces[thread].events[at];
        let Some(arrival) = event.arrival.filter(|a| a.waits) else { return false };
        let count = arrival.quorum.unwrap_or_else(|| (self.counts)(thread, event));
        self.arrivals(&state.way, traces, thread, event) < count
    }

    /// A thread makes its next event, both of an atomic operation.
    fn step(&self, state: &mut State, traces: &[Trace], thread: usize) {
        let at = state.threads[thread].next;
        let event = &traces[thread].events[at];
        let id = Id { thread: thread as u32, position: at as u32 };
        if event.kind == Kind::Read {
            let value = match self.last(&state.way, traces, event) {
                Some(write) => Self::event(traces, write).value,
                None => event.place.and_then(|place| self.program.initial_value(place)).or(Some(0)),
            };
            let reads = &mut state.threads[thread].reads;
            reads.resize(reads.len().max(at + 1), None);
            reads[at] = value;
        }
        state.way.push(id);
        state.threads[thread].next += 1;
        if event.kind == Kind::Read {
            let trace = self.trace(state, thread);
            if trace.events.get(at + 1).is_some_and(|next| next.rmw == Some(at as u32)) {
                state.way.push(Id { thread: thread as u32, position: at as u32 + 1 });
                state.threads[thread].next += 1;
            }
        }
    }

    /// The last write to the place of an event.
    fn last(&self, way: &[Id], traces: &[Trace], event: &Event) -> Option<Id> {
        let place = |event: &Event| event.place.map(|p| p.location);
        way.iter().rev().copied().find(|id| {
            let other = Self::event(traces, *id);
            other.kind == Kind::Write && place(other) == place(event)
        })
    }

    fn finished(&mut self, state: &State, traces: &[Trace]) {
        let mut chosen = Chosen::default();
        let sc = self.program.tags().iter().position(|tag| *tag == "SC").expect("a tag of fences");
        let mut execution = Execution::of(self.program, self.model, traces, |events| {
            chosen = orders(&state.way, events, sc, self.program);
            chosen.clone()
        });
        let reads = state.threads.iter().map(|t| t.reads.clone()).collect();
        if !self.seen.insert((reads, chosen.clone())) {
            return;
        }
        let time = |n: usize| state.way.iter().position(|id| *id == execution.events[n].0);
        let times: Vec<Option<usize>> = (0..execution.events.len()).map(time).collect();
        // Fences whose scopes do not include each other are in order where they are in causality order: as far as the model asks for it, and
        // not against the order of time.
        while let Some(pair) = self.asked(&execution).filter(|(a, b)| times[*a] < times[*b] && times[*a].is_some()) {
            chosen.fences.push(pair);
            execution = Execution::of(self.program, self.model, traces, |_| chosen.clone());
        }
        self.executions.push(execution);
    }

    /// Fences that an axiom wants to be in order.
    fn asked(&self, execution: &Execution) -> Option<(usize, usize)> {
        match Evaluation::of(self.model, &execution.bases(self.model)).failed()? {
            Finding { axiom, witness: Witness::Pair(a, b) } if axiom.name == "Fence-SC" => {
                Some((a, b)).filter(|(a, b)| !execution.fences.contains(*a, *b))
            }
            _ => None,
        }
    }
}

/// The choices of an interleaving.
fn orders(way: &[Id], events: &[(Id, Event)], sc: usize, program: &Threads) -> Chosen {
    let number = |id: Id| events.iter().position(|(other, _)| *other == id).expect("an event of the execution");
    let location = |n: usize| events[n].1.place.map(|p| p.location);
    let order: Vec<usize> = way.iter().map(|id| number(*id)).collect();
    let initial = |n: usize| (0..events.len()).find(|w| events[*w].0.thread == INITIAL && location(*w) == location(n));
    let mut chosen = Chosen::default();
    let related = |name: &str, a: usize, b: usize| {
        let of = |n: usize| (Some(events[n].0.thread as usize), &events[n].1);
        program.related(name, of(a), of(b))
    };
    let barrier = |n: usize| events[n].1.arrival.and_then(|a| a.barrier);
    for (k, &n) in order.iter().enumerate() {
        let earlier = || order[..k].iter().copied();
        let event = &events[n].1;
        let writes = || earlier().filter(|w| events[*w].1.kind == Kind::Write && location(*w) == location(n));
        match event.kind {
            Kind::Read => chosen.rf.extend(writes().next_back().or_else(|| initial(n)).map(|w| (w, n))),
            Kind::Write => chosen.co.extend(initial(n).into_iter().chain(writes()).map(|w| (w, n))),
            Kind::Fence if event.tags >> sc & 1 == 1 => {
                let before = earlier().filter(|f| events[*f].1.kind == Kind::Fence && events[*f].1.tags >> sc & 1 == 1);
                chosen.fences.extend(before.filter(|f| related("sr", *f, n)).map(|f| (f, n)));
            }
            Kind::Barrier => {
                let all = order.iter().copied().filter(|m| barrier(*m).is_some() && barrier(*m) == barrier(n));
                let waits = event.arrival.is_some_and(|a| a.waits);
                chosen.meetings.extend(all.filter(|m| waits && related("meets", *m, n)).map(|m| (m, n)));
            }
            _ => {}
        }
    }
    for pairs in [&mut chosen.rf, &mut chosen.co, &mut chosen.fences, &mut chosen.meetings] {
        pairs.sort_unstable();
    }
    chosen
}
