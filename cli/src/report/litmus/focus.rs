//! What of a large execution is shown: why it is no interleaving, and whatever that and its flags and results need.

use super::data::LitmusExecution;
use crate::axiom::{Event, Execution, INITIAL, Id, Kind, Link, Place, Relation};

/// Whether two events are of one thread and in that order.
fn program_order(execution: &Execution, a: usize, b: usize) -> bool {
    let ((one, x), (two, y)) = (&execution.events[a], &execution.events[b]);
    let parts = x.whole.is_some() && x.whole == y.whole && x.kind == y.kind;
    one.thread != INITIAL && one.thread == two.thread && one.position < two.position && !parts
}

/// Whether a read and a write are one atomic operation.
fn atomic(execution: &Execution, read: usize, write: usize) -> bool {
    let ((one, _), (two, event)) = (&execution.events[read], &execution.events[write]);
    one.thread != INITIAL && one.thread == two.thread && event.rmw == Some(one.position)
}

/// A shortest cycle of program order, rf, co and fr, where atomic operations are one step: from their writes one goes back to their reads. An
/// interleaving is an order of all of them and has none.
pub(super) fn cycle(execution: &Execution) -> Vec<Link> {
    let count = execution.events.len();
    let po = Relation::matching(count, |a, b| program_order(execution, a, b) && !atomic(execution, a, b));
    let rmw = Relation::matching(count, |a, b| atomic(execution, b, a));
    let co = execution.co.plus();
    let mut fr = execution.rf.inverse().then(&co);
    for event in 0..count {
        fr.remove(event, event);
    }
    // An atomic operation overwrites what it read itself, which is no step to another.
    rmw.iter().for_each(|(write, read)| fr.remove(read, write));
    let mut all = po.clone();
    [&execution.rf, &co, &fr, &rmw].into_iter().for_each(|relation| all.add(relation));
    let Some(events) = all.cycle() else { return Vec::new() };
    let name = |a: usize, b: usize| match (execution.rf.contains(a, b), co.contains(a, b), fr.contains(a, b)) {
        (true, ..) => "rf",
        (_, true, _) => "co",
        (.., true) => "fr",
        _ if rmw.contains(a, b) => "rmw",
        _ => "po",
    };
    let ends = events.iter().skip(1).chain(events.first());
    events.iter().zip(ends).map(|(a, b)| Link { from: *a, to: *b, name: name(*a, *b).to_owned() }).collect()
}

/// What is to be shown besides a cycle and flags.
pub(super) struct Focus<'a> {
    /// Places whose last values are asked about.
    pub places: &'a [Place],
    /// Threads.
    pub threads: &'a [usize],
    /// Whether flags are asked about; they are shown where there is no cycle, too.
    pub flags: bool,
}

/// The events that have no part in what is to be shown. Of threads that are on the cycle, raise flags or are named, all is shown but
/// accesses of what nobody else accesses; of others what is read by that, and last values that are asked about. Where no thread that is shown wrote
/// one of these, who wrote the first has a part.
pub(super) fn asides(execution: &Execution, shown: &LitmusExecution, focus: &Focus<'_>) -> Vec<usize> {
    let events = &execution.events;
    let thread = |event: usize| events[event].0.thread;
    let asked = |event: usize| {
        let at = events[event].1.place;
        at.is_some_and(|at| focus.places.iter().any(|place| overlap(*place, at)))
    };
    let last = |event: &usize| {
        let is = events[*event].1.kind == Kind::Write && asked(*event);
        is && thread(*event) != INITIAL && execution.co.from(*event).next().is_none()
    };
    let cycle = shown.cycle.iter().flat_map(|edge| [edge.from, edge.to]);
    let flags = shown.flags.iter().flat_map(|flag| flag.events.iter().copied());
    let chosen: Vec<usize> = if shown.cycle.is_empty() { flags.collect() } else { cycle.collect() };
    let named = focus.threads.iter().filter_map(|thread| u32::try_from(*thread).ok());
    let mut threads: Vec<u32> = chosen.iter().map(|e| thread(*e)).filter(|t| *t != INITIAL).chain(named).collect();
    if !(0..events.len()).filter(last).any(|event| threads.contains(&thread(event))) {
        threads.extend((0..events.len()).find(last).map(thread));
    }
    let shared = |event: usize| {
        let Some(place) = events[event].1.place else { return true };
        let others = events.iter().filter(|(id, _)| id.thread != thread(event) && id.thread != INITIAL);
        let mut places = others.filter_map(|(_, other)| other.place);
        places.any(|other| overlap(place, other))
    };
    let own = |event: usize| {
        let of = thread(event);
        of != INITIAL && (threads.contains(&of) || threads.is_empty()) && (shared(event) || asked(event))
    };
    let kept = |event: usize| chosen.contains(&event) || own(event) || last(&event);
    // An access is shown with all its parts.
    let with = |event: usize, shown: &dyn Fn(usize) -> bool| {
        let (id, this) = &events[event];
        let part = |(other, e): &(Id, Event)| other.thread == id.thread && e.whole == this.whole && e.kind == this.kind;
        shown(event) || this.whole.is_some() && (0..events.len()).any(|n| part(&events[n]) && shown(n))
    };
    let kept = |event: usize| with(event, &kept);
    let read = |event: usize| with(event, &|event| execution.rf.from(event).any(kept));
    (0..events.len()).filter(|event| !kept(*event) && !read(*event)).collect()
}

const fn overlap(a: Place, b: Place) -> bool {
    a.location == b.location && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes
}
