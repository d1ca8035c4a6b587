//! Executions in which threads only look at memory in the end (D-lasso): who goes around a loop for ever has gone around it once, and its reads
//! in that round see the coherence-last write, which is one more axiom. So they are looked for as other executions are.

use super::cut::Begun;
use super::cycles::Graph;
use super::tail::Tail;
use crate::axiom::{End, Kind, Known, Limits, Model, Program, Question, Rerun, Searched, Trace, Way, search_by};
use crate::base::mutant::{Mutant, on};
use crate::litmus::decided::Lasso;
use crate::litmus::events::Threads;
use crate::litmus::lasting::{LASTING, lasting, orbit};
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// A test of which some threads spin.
struct Spinning<'a> {
    threads: &'a Threads,
    /// The thread that is sure to spin.
    sure: usize,
    /// Whether each thread may spin.
    may: Vec<bool>,
    /// The bit of [`LASTING`].
    bit: u64,
    /// Whether a thread came to the bound otherwise than by a round in which it only read.
    bounded: AtomicBool,
}

/// An execution that does not end, of a test whose loops do not write for ever and whose accesses coherence orders.
pub(super) fn spins(
    (threads, tail): (&Threads, &Tail<'_>),
    model: &Model,
    (way, limits): (Way, Limits),
    up: &dyn Fn() -> bool,
    graph: &mut Graph<'_>,
) -> (Option<Lasso>, Searched) {
    let model = lasting(model);
    let mut tags = threads.tags().to_vec();
    tags.push(LASTING);
    let symmetries = threads.symmetries();
    let mut searched = Searched::default();
    let mut may = vec![true; threads.threads()];
    // Of threads that may take each other's places it does not matter which one spins.
    for sure in 0..threads.threads() {
        if !may[sure] {
            continue;
        }
        let bit = 1 << (tags.len() - 1);
        let spinning = Spinning { threads, sure, may: may.clone(), bit, bounded: AtomicBool::new(false) };
        let left = Limits { choices: limits.choices.saturating_sub(searched.choices), ..limits };
        let fixed: Vec<Vec<usize>> = symmetries.iter().filter(|to| to[sure] == sure).cloned().collect();
        let (lasso, more) = spinning.search((&model, &tags), (&fixed, tail), (way, left), up, graph);
        searched.choices += more.choices;
        searched.limited |= more.limited;
        searched.bounded |= spinning.bounded.load(Ordering::Relaxed);
        searched.unsupported = searched.unsupported.or(more.unsupported);
        if lasso.is_some() || searched.limited || searched.unsupported.is_some() {
            return (lasso, searched);
        }
        orbit(sure, &symmetries).into_iter().for_each(|thread| may[thread] = false);
    }
    (None, searched)
}

impl Spinning<'_> {
    fn search(
        &self,
        (model, tags): (&Model, &[&'static str]),
        (symmetries, tail): (&[Vec<usize>], &Tail<'_>),
        (way, limits): (Way, Limits),
        up: &dyn Fn() -> bool,
        graph: &mut Graph<'_>,
    ) -> (Option<Lasso>, Searched) {
        let run = |thread: usize, known: Known<'_>| self.run(thread, known);
        let program = Rerun { of: self.threads, tags, run };
        let stopped = Cell::new(false);
        let wanted = |fates: &[&[Option<u64>]], _: &[Option<u64>]| {
            if up() {
                stopped.set(true);
                return Some(false);
            }
            fates.iter().all(|fate| fate.first().is_some_and(Option::is_some)).then_some(true)
        };
        let question = Question { finals: &[], wanted: &wanted, symmetries, flagged: false };
        let (lasso, graph) = (RefCell::new(None), RefCell::new(graph));
        let mut searched = search_by(way, &program, model, &question, limits, &mut |execution| {
            let begun = Begun::new(self.threads, tail, execution, limits);
            *lasso.borrow_mut() = begun.whole(&mut graph.borrow_mut());
            if lasso.borrow().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        searched.limited |= stopped.get();
        (lasso.into_inner(), searched)
    }

    /// A thread that ends where it spins; its register says whether it does.
    fn run(&self, thread: usize, known: Known<'_>) -> Trace {
        let (mut trace, since) = self.threads.spun(thread, known);
        let spins = match trace.end {
            End::Done => false,
            End::Spin | End::Bound => true,
            _ => {
                trace.registers = vec![None];
                return trace;
            }
        };
        if trace.end == End::Bound {
            self.bounded.store(true, Ordering::Relaxed);
        }
        let round = since.unwrap_or(trace.events.len());
        let reads = trace.events[round..].iter_mut().filter(|event| event.kind == Kind::Read);
        reads.for_each(|event| event.tags |= self.bit);
        let alone = on(Mutant::OneSpins) && thread != self.sure;
        let fits = if spins { self.may[thread] && !alone } else { thread != self.sure };
        trace.end = if fits { End::Done } else { End::Contradiction };
        trace.registers = vec![Some(spins.into())];
        trace
    }
}
