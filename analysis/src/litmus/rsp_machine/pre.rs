//! Pre-executions (section 2.2): what a program does where a load may return any value, and the candidate executions made of them.

use super::axioms::{Inclusion, judge};
use super::compile::Compiled;
use crate::base::sort;
use crate::base::sorted::SortedSet;
use crate::explore::promotion::Graph;
use crate::memory::rsp::{Event, Instruction, Program, Source, System, Update};

/// What a thread does in a pre-execution: for each of its events, what it reads and what it writes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Run {
    reads: Vec<(Event, i32)>,
    writes: Vec<(Event, i32)>,
}

/// All runs of a thread whose reads return values of a set.
fn runs(program: &Program, thread: usize, values: &[i32]) -> Vec<Run> {
    let mut system = System::default();
    system.carry_on_thread(program, thread);
    let (mut left, mut done) = (vec![(system, Run::default())], Vec::new());
    while let Some((mut system, mut run)) = left.pop() {
        let position = usize::from(system.next[thread]);
        let Some(instruction) = program.threads()[thread].code.get(position) else {
            done.push(run);
            continue;
        };
        system.next[thread] += 1;
        let event = program.event(thread, position).unwrap_or(Event(0));
        match *instruction {
            Instruction::Load(to, _) | Instruction::Update(_, _, to, _) => {
                for value in values {
                    let (mut system, mut run) = (system, run.clone());
                    run.reads.push((event, *value));
                    if let Instruction::Update(_, update, ..) = *instruction {
                        run.writes.extend(stored(&system, update, *value).map(|new| (event, new)));
                    }
                    system.registers[usize::from(to.0)] = *value;
                    system.carry_on_thread(program, thread);
                    left.push((system, run));
                }
                continue;
            }
            Instruction::Store(from, _) => run.writes.push((event, system.value(from))),
            _ => {}
        }
        system.carry_on_thread(program, thread);
        left.push((system, run));
    }
    done
}

fn stored(system: &System, update: Update, found: i32) -> Option<i32> {
    match update {
        Update::Increment => Some(found.wrapping_add(1)),
        Update::Apply(function, operand) => Some(function.of(found, system.value(operand))),
        Update::Exchange(expected, new) => (found == system.value(expected)).then(|| system.value(new)),
    }
}

/// The values that locations can have: those that they begin with, and what is written by somebody who read such values.
fn values(program: &Program) -> Vec<i32> {
    let mut known: SortedSet<i32> = program.initial().iter().copied().collect();
    // A value that is new takes an event that has not written yet.
    for _ in program.events() {
        let list: Vec<i32> = known.iter().copied().collect();
        let all = (0..program.threads().len()).flat_map(|t| runs(program, t, &list));
        let more: SortedSet<i32> = all.flat_map(|run| run.writes).map(|(_, value)| value).collect();
        let before = known.len();
        known.extend(more);
        if known.len() == before {
            break;
        }
    }
    known.into_iter().collect()
}

/// Told of a candidate execution, and of what each read returns in it; says whether that is enough.
type Told<'a> = dyn FnMut(&Graph, &[(Event, i32)]) -> bool + 'a;

/// Asks about every candidate execution, until somebody says `true`; gives whether somebody did. `found` is also given what reads return.
pub fn candidates(compiled: &Compiled, found: &mut Told<'_>) -> bool {
    let program = &compiled.program;
    let values = values(program);
    let threads: Vec<Vec<Run>> = (0..program.threads().len()).map(|t| runs(program, t, &values)).collect();
    let mut chosen = Run::default();
    combine(program, &threads, &mut chosen, found)
}

/// A run of each thread.
fn combine(program: &Program, threads: &[Vec<Run>], chosen: &mut Run, found: &mut Told<'_>) -> bool {
    let Some((first, rest)) = threads.split_first() else {
        let events = program.events().len();
        let mut graph = Graph { reads: vec![None; events], order: vec![None; events] };
        return sources(program, chosen, 0, &mut graph, found);
    };
    first.iter().any(|run| {
        let lengths = (chosen.reads.len(), chosen.writes.len());
        chosen.reads.extend(&run.reads);
        chosen.writes.extend(&run.writes);
        let stop = combine(program, rest, chosen, found);
        chosen.reads.truncate(lengths.0);
        chosen.writes.truncate(lengths.1);
        stop
    })
}

/// A source for each read: a write of the value that it returns.
fn sources(program: &Program, run: &Run, k: usize, graph: &mut Graph, found: &mut Told<'_>) -> bool {
    let Some((event, value)) = run.reads.get(k) else {
        let left: Vec<Event> = run.writes.iter().map(|(event, _)| *event).collect();
        return orders(program, &left, graph, &mut |graph| found(graph, &run.reads));
    };
    let at = program.location_of(*event);
    let writes = run.writes.iter().filter(|(e, v)| v == value && e != event && program.location_of(*e) == at);
    let initial = (program.initial()[usize::from(at.0)] == *value).then(Source::default);
    let all: Vec<Source> = initial.into_iter().chain(writes.map(|(e, _)| Source::from(*e))).collect();
    all.into_iter().any(|source| {
        graph.reads[usize::from(event.0)] = Some(source);
        let stop = sources(program, run, k + 1, graph, found);
        graph.reads[usize::from(event.0)] = None;
        stop
    })
}

/// An order of the writes of each location.
fn orders(program: &Program, left: &[Event], graph: &mut Graph, found: &mut dyn FnMut(&Graph) -> bool) -> bool {
    let Some(first) = left.first() else { return found(graph) };
    let at = program.location_of(*first);
    let next = |graph: &Graph| {
        let placed = (0..program.events().len()).filter(|k| graph.order[*k].is_some());
        placed.filter(|k| program.location_of(Event(*k as u8)) == at).count() as u8
    };
    // The writes of the first one's location, one after the other; those of others wait.
    left.iter().filter(|e| program.location_of(**e) == at).any(|event| {
        let rest: Vec<Event> = left.iter().copied().filter(|e| e != event).collect();
        graph.order[usize::from(event.0)] = Some(next(graph));
        // Those of the same location come first again.
        let mut sorted = rest;
        sort::sort_by_key(&mut sorted, |e| program.location_of(*e) != at);
        let stop = orders(program, &sorted, graph, found);
        graph.order[usize::from(event.0)] = None;
        stop
    })
}

/// Whether a program is racy: an execution is consistent and has a data race. `atomic` says which locations are atomic.
#[must_use]
pub fn races(compiled: &Compiled, atomic: &[bool], inclusion: Inclusion) -> bool {
    races_until(compiled, atomic, inclusion, &|| false).unwrap_or(false)
}

/// The same, asked until `up` says to stop; nothing if that was before it is known.
pub fn races_until(compiled: &Compiled, atomic: &[bool], inclusion: Inclusion, up: &dyn Fn() -> bool) -> Option<bool> {
    let mut stopped = false;
    let found = candidates(compiled, &mut |graph, _| {
        let judgement = judge(compiled, atomic, graph, inclusion);
        let races = judgement.violated.is_none() && judgement.race.is_some();
        stopped = !races && up();
        races || stopped
    });
    (!stopped).then_some(found)
}
