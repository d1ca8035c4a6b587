//! The checker of figure 2 that sweeps use against the model `rsp-figure2` on the engine for cat files: of every candidate execution of generated
//! programs both say the same.

use super::generate::{Sort, generated};
use std::collections::BTreeMap;
use warpstep::axiom::cat::builtin;
use warpstep::axiom::{
    Chosen, End, Evaluation, Event as Made, Execution, INITIAL, Id, Kind, Known, Model, Program, Trace,
};
use warpstep::explore::promotion::Graph;
use warpstep::litmus::rsp_machine::axioms::{Inclusion, judge};
use warpstep::litmus::rsp_machine::{Compiled, Scheme, candidates, compile};
use warpstep::litmus::{Threads, print};
use warpstep::memory::rsp::Event;

/// A thread of the test, whose reads return what they do in a candidate execution.
fn trace(threads: &Threads, thread: usize, values: &[i32]) -> Trace {
    let (mut reads, mut left) = (Vec::new(), values.iter());
    loop {
        let trace = threads.run(thread, Known { reads: &reads, assumed: &[], bound: 1 });
        reads.resize(trace.events.len(), None);
        let next = trace.events.iter().zip(&reads).position(|(e, value)| e.kind == Kind::Read && value.is_none());
        match (next, left.next()) {
            (Some(place), Some(value)) => reads[place] = Some(i64::from(*value).cast_unsigned()),
            (None, None) => {
                assert_eq!(trace.end, End::Done);
                return trace;
            }
            other => panic!("{other:?}: {trace:?}"),
        }
    }
}

/// The event of the machine's program that each event of a thread is a part of.
fn numbered(compiled: &Compiled, graph: &Graph, thread: usize, trace: &Trace) -> Vec<usize> {
    let program = &compiled.program;
    let own = |k: &usize| usize::from(program.events()[*k].0) == thread && graph.took_place(Event(*k as u8));
    let mut all = (0..program.events().len()).filter(own);
    let mut numbers: Vec<usize> = Vec::new();
    for event in &trace.events {
        let number = if event.rmw.is_some() { numbers.last().copied() } else { all.next() };
        numbers.push(number.expect("as many events as the machine has"));
    }
    assert_eq!(all.next(), None);
    numbers
}

/// What a candidate execution chooses, as the engine has it.
fn chosen(graph: &Graph, events: &[(Id, Made)], number: &dyn Fn(Id) -> Option<usize>) -> Chosen {
    let mut chosen = Chosen::default();
    let location = |e: &Made| e.place.map(|p| p.location);
    let rank = |id: Id| match number(id) {
        None => 0,
        Some(k) => 1 + usize::from(graph.order[k].expect("it wrote")),
    };
    for (a, (one, from)) in events.iter().enumerate().filter(|(_, (_, e))| e.kind == Kind::Write) {
        for (b, (other, to)) in events.iter().enumerate().filter(|(_, (_, e))| location(e) == location(from)) {
            if to.kind == Kind::Write && rank(*one) < rank(*other) {
                chosen.co.push((a, b));
            }
            let source = number(*other).and_then(|k| graph.reads[k]);
            let of = |s: warpstep::memory::rsp::Source| s.event().map(|e| usize::from(e.0));
            if to.kind == Kind::Read && source.is_some_and(|s| of(s) == number(*one)) {
                chosen.rf.push((a, b));
            }
        }
    }
    chosen
}

/// What the engine says of a candidate execution: whether it is consistent, and whether it has a race.
fn by_cat(
    threads: &Threads,
    model: &Model,
    compiled: &Compiled,
    graph: &Graph,
    reads: &[(Event, i32)],
) -> (bool, bool) {
    let count = compiled.threads.len();
    let values = |thread: usize| -> Vec<i32> {
        let mut own: Vec<(Event, i32)> = reads.to_vec();
        own.retain(|(event, _)| usize::from(compiled.program.events()[usize::from(event.0)].0) == thread);
        own.sort();
        own.into_iter().map(|(_, value)| value).collect()
    };
    // Threads of the machine stand by work-groups, those of the test as in its text.
    let at = |test: usize| compiled.threads.iter().position(|t| *t == test).expect("each thread is compiled");
    let traces: Vec<Trace> = (0..count).map(|test| trace(threads, test, &values(at(test)))).collect();
    let numbers: Vec<Vec<usize>> =
        traces.iter().enumerate().map(|(test, t)| numbered(compiled, graph, at(test), t)).collect();
    let number = |id: Id| (id.thread != INITIAL).then(|| numbers[id.thread as usize][id.position as usize]);
    let execution = Execution::of(threads, model, &traces, |events| chosen(graph, events, &number));
    let evaluation = Evaluation::of(model, &execution.bases(model));
    (evaluation.failed().is_none(), !evaluation.flags().is_empty())
}

/// What was counted: candidate executions that are consistent or not, with a race or without.
type Counts = BTreeMap<(bool, bool), u64>;

fn compare(seeds: std::ops::Range<u64>, counts: &mut Counts) {
    let model = builtin("rsp-figure2").expect("it comes along");
    for seed in seeds {
        let litmus = generated(seed, Sort::Small);
        let test = litmus.rsp.as_deref().expect("it is one");
        let compiled = compile(test, &Scheme::proposed()).expect("it is small");
        let threads = Threads::of(&litmus);
        let mut left = 400;
        candidates(&compiled, &mut |graph, reads| {
            let ours = judge(&compiled, &compiled.atomic, graph, Inclusion::Section3);
            let told = (ours.violated.is_none(), ours.race.is_some());
            let theirs = by_cat(&threads, model, &compiled, graph, reads);
            assert_eq!(told, theirs, "{graph:?} reads {reads:?} of\n{}", print(&litmus));
            *counts.entry(told).or_default() += 1;
            left -= 1;
            left == 0
        });
    }
}

#[test]
fn the_checker_of_sweeps_says_what_the_model_says() {
    let mut counts = Counts::default();
    compare(0..if super::stride(2) == 1 { 3_000 } else { 60 }, &mut counts);
    println!("candidate executions by (consistent, racy): {counts:?}");
    assert!(counts.len() == 4 && counts.values().all(|n| *n > 20), "{counts:?}");
}
