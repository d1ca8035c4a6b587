//! Prefixes that a model allows and in which reads see other than coherence-last writes.

use super::cycles::Graph;
use super::tail::{Arrived, State, Tail};
use crate::axiom::{Execution, INITIAL, Id, Kind, Known, Limits, Model, Program, Question, Searched, Way, search_by};
use crate::litmus::decided::Lasso;
use crate::litmus::events::{Arriving, Threads};
use std::cell::Cell;
use std::ops::ControlFlow;

/// Goes on from where each allowed prefix ends; answers one from which an execution does not end.
pub(super) fn prefixes(
    threads: &Threads,
    tail: &Tail<'_>,
    model: &Model,
    (way, limits): (Way, Limits),
    up: &dyn Fn() -> bool,
    graph: &mut Graph<'_>,
) -> (Option<Lasso>, Searched) {
    let stopping = threads.stopping();
    let stopped = Cell::new(false);
    let wanted = |_: &[&[Option<u64>]], _: &[Option<u64>]| {
        stopped.set(stopped.get() || up());
        Some(!stopped.get())
    };
    let question = Question { finals: &[], wanted: &wanted, symmetries: &[], flagged: false };
    let mut lasso = None;
    let mut searched = search_by(way, &stopping, model, &question, limits, &mut |execution| {
        lasso = Begun::new(threads, tail, execution, limits).cuts(graph, &|| {
            stopped.set(stopped.get() || up());
            stopped.get()
        });
        if lasso.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    searched.limited |= stopped.get();
    (lasso, searched)
}

/// For each number of a thread's events that is a whole number of instructions: that, the next step, and the registers.
type Stops = Vec<(usize, usize, Vec<u64>)>;

/// An execution from which a test goes on.
pub(super) struct Begun<'a> {
    threads: &'a Threads,
    tail: &'a Tail<'a>,
    execution: &'a Execution,
    /// The most states that are looked at.
    most: u64,
    /// Of each thread.
    stops: Vec<Stops>,
}

impl<'a> Begun<'a> {
    pub(super) fn new(threads: &'a Threads, tail: &'a Tail<'a>, execution: &'a Execution, limits: Limits) -> Self {
        let of = |thread: usize| {
            let own = |id: &Id| id.thread as usize == thread && id.thread != INITIAL;
            let events = execution.events.iter().filter(|(id, _)| own(id));
            let reads: Vec<Option<u64>> = events.map(|(_, e)| e.value.filter(|_| e.kind == Kind::Read)).collect();
            threads.stops(thread, Known { reads: &reads, assumed: &[], bound: limits.bound })
        };
        let stops = (0..threads.threads()).map(of).collect();
        Self { threads, tail, execution, most: limits.choices, stops }
    }

    /// Goes on from the execution's end.
    pub(super) fn whole(&self, graph: &mut Graph<'_>) -> Option<Lasso> {
        let chosen: Vec<usize> = self.stops.iter().map(|stops| stops.len() - 1).collect();
        let cut: Vec<usize> = self.stops.iter().zip(&chosen).map(|(stops, k)| stops[*k].0).collect();
        self.onward(&chosen, &cut, graph)
    }

    /// Goes on from each set of its events that is closed under program order and reads-from.
    fn cuts(&self, graph: &mut Graph<'_>, up: &dyn Fn() -> bool) -> Option<Lasso> {
        let mut chosen = vec![0; self.stops.len()];
        let mut cut = vec![0; self.stops.len()];
        let see = &mut |chosen: &[usize], cut: &[usize]| self.onward(chosen, cut, graph);
        each(&self.stops, self.execution, &mut chosen, &mut cut, self.stops.len(), up, see)
    }

    /// Goes on from where each thread is at a stop, with so many events.
    fn onward(&self, chosen: &[usize], cut: &[usize], graph: &mut Graph<'_>) -> Option<Lasso> {
        let (arrived, waits) = arrivals(self.threads, self.execution, cut)?;
        for memory in memories(self.threads, self.execution, cut) {
            let stops = self.stops.iter().zip(chosen).map(|(stops, k)| &stops[*k]);
            let (pcs, registers) = stops.map(|(_, pc, registers)| (*pc, registers.clone())).unzip();
            let stepped = cut.iter().enumerate().filter(|(_, n)| **n > 0).fold(0, |all, (t, _)| all | 1 << t);
            let (arrived, waits) = (arrived.clone(), waits.clone());
            let state = self.tail.at(State { pcs, registers, memory, stepped, arrived, waits });
            if !graph.knows(&state)
                && let Some(lasso) = graph.explore(state, self.most)
            {
                return Some(Lasso { prefix: Some((self.execution.clone(), cut.to_vec())), ..lasso });
            }
        }
        None
    }
}

/// What is called with the numbers of stops and of events of all threads.
type See<'a> = dyn FnMut(&[usize], &[usize]) -> Option<Lasso> + 'a;

/// Calls `see` with each closed set; threads from `thread` on have been given their stops.
fn each(
    all: &[Stops],
    execution: &Execution,
    chosen: &mut [usize],
    cut: &mut [usize],
    thread: usize,
    up: &dyn Fn() -> bool,
    see: &mut See<'_>,
) -> Option<Lasso> {
    let Some(thread) = thread.checked_sub(1) else { return if up() { None } else { see(chosen, cut) } };
    for (k, stop) in all[thread].iter().enumerate() {
        (chosen[thread], cut[thread]) = (k, stop.0);
        if closed(execution, cut, thread)
            && let Some(lasso) = each(all, execution, chosen, cut, thread, up, see)
        {
            return Some(lasso);
        }
    }
    None
}

/// Whether an event is among the first ones of its thread.
fn within(execution: &Execution, event: usize, cut: &[usize]) -> bool {
    let (id, _) = &execution.events[event];
    cut.get(id.thread as usize).is_none_or(|n| (id.position as usize) < *n)
}

/// Whether the threads from one on are closed under reads-from among each other.
fn closed(execution: &Execution, cut: &[usize], from: usize) -> bool {
    let given = |event: usize| execution.events[event].0.thread as usize >= from;
    let inside = |event: usize| within(execution, event, cut);
    execution.rf.iter().all(|(write, read)| !given(write) || !given(read) || inside(write) || !inside(read))
}

/// Who has come to barriers with a quorum within a cut, and who waits there. None: a thread has passed one too early.
fn arrivals(threads: &Threads, execution: &Execution, cut: &[usize]) -> Option<(Arrived, Vec<Option<Arriving>>)> {
    let mut arrived = Arrived::new();
    let mut comers = Vec::new();
    for (id, event) in execution.events.iter().filter(|(id, _)| id.thread != INITIAL) {
        let thread = id.thread as usize;
        let Some(arrival) = event.arrival.filter(|_| (id.position as usize) < cut[thread]) else { continue };
        let (Some((instance, number)), Some(quorum)) = (arrival.barrier, arrival.quorum) else { continue };
        let barrier = threads.arriving(thread, instance, (number != i64::MIN).then_some(number), quorum);
        *arrived.entry(barrier.clone()).or_default() += 1;
        if arrival.waits {
            comers.push((thread, id.position as usize + 1 == cut[thread], barrier));
        }
    }
    let mut waits = vec![None; cut.len()];
    for (thread, last, barrier) in comers.into_iter().filter(|(.., barrier)| arrived[barrier] < barrier.quorum) {
        if !last {
            return None;
        }
        waits[thread] = Some(barrier);
    }
    arrived.iter_mut().for_each(|(barrier, come)| *come = (*come).min(barrier.quorum));
    Some((arrived, waits))
}

/// What memory may hold after a cut: where coherence does not say which write is last, any of them may be.
fn memories(threads: &Threads, execution: &Execution, cut: &[usize]) -> Vec<Vec<u64>> {
    let writes: Vec<usize> = (0..execution.events.len())
        .filter(|n| execution.events[*n].1.kind == Kind::Write && within(execution, *n, cut))
        .collect();
    let mut all = vec![threads.initial_memory()];
    for location in 0..all[0].len() {
        let here = |n: &&usize| execution.events[**n].1.place.is_some_and(|p| threads.is_at(location, p));
        let last = |n: &&usize| !writes.iter().any(|later| execution.co.contains(**n, *later));
        let mut values: Vec<u64> =
            writes.iter().filter(here).filter(last).filter_map(|n| execution.events[*n].1.value).collect();
        values.sort_unstable();
        values.dedup();
        if values.is_empty() {
            continue;
        }
        all = all
            .iter()
            .flat_map(|memory| {
                values.iter().map(move |value| {
                    let mut memory = memory.clone();
                    memory[location] = *value;
                    memory
                })
            })
            .collect();
    }
    all
}
