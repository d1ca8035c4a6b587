//! Programs whose accesses overlap in part: each such access is an event for each of its parts.
//!
//! A read of eight bytes may find four that one thread has written and four that another has: it has two sources, and PTX's axioms speak
//! of "any byte" that a read takes from a write (8.9.7, 8.10.3). So an access is taken apart into the coarsest parts of which each
//! access to any of its bytes is made up, and a part has one source. What belongs together is the relation `parts` of models. Where
//! accesses go depends on what is read, so the parts are found as a fixed point: a search that meets accesses which overlap in part, in a
//! way that it did not know of, is begun again with more parts. Where there are none, nothing is different.
//!
//! Rule: D-axiom-mixed

use super::execution::Execution;
use super::model::Model;
use super::partition::{Partition, Parts, Seen, part_of, whole_of};
use super::program::{End, Event, Kind, Known, Place, Position, Program, Sources, Stall, Trace, Whole};
use super::question::{Limits, Question, Searched};
use super::way::{Way, search_by};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// So often a search is begun again at most.
const ROUNDS: u32 = 256;

/// As [`search_by`], of programs whose accesses may overlap in part. What is asked of places and of last values is as ever; events of
/// executions may be parts of accesses ([`Event::whole`]), and [`Execution::accesses`] puts them together.
pub fn search_mixed(
    way: Way,
    program: &dyn Program,
    model: &Model,
    question: &Question<'_>,
    limits: Limits,
    found: &mut dyn FnMut(&Execution) -> ControlFlow<()>,
) -> Searched {
    let mut seen = Seen::default();
    let asked = program.initial().into_iter().map(|(place, _)| place).chain(question.finals.iter().copied());
    for place in asked {
        seen.add(place);
    }
    let mut tried = 0;
    for _ in 0..ROUNDS {
        let partition = seen.partition();
        if !partition.is_empty() && !model.relations.iter().any(|name| name == "parts") {
            break;
        }
        let choices = limits.choices.saturating_sub(tried);
        let shapes = Mutex::new(vec![Vec::new(); program.threads()]);
        let split = Split { of: program, partition, seen: Mutex::new(seen), stale: AtomicBool::new(false), shapes };
        let mut searched = split.search(way, model, question, Limits { choices, ..limits }, found);
        tried += searched.choices;
        seen = split.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !split.stale.into_inner() {
            (searched.choices, searched.mixed) = (tried, !split.partition.is_empty());
            return searched;
        }
    }
    let known = model.relations.iter().any(|name| name == "parts");
    let what = match known {
        true => "accesses of different widths overlap in ever more ways",
        false => {
            "accesses of different widths overlap, and the model says nothing of their `parts`: ptx-v6.0 and ptx-v7.5 do"
        }
    };
    Searched { choices: tried, mixed: true, unsupported: Some(what.to_owned()), ..Searched::default() }
}

/// Where the accesses of a thread go that it makes one after the other.
type Shape = Vec<(Kind, Option<Place>)>;

/// A program with its accesses taken apart.
struct Split<'a> {
    of: &'a dyn Program,
    partition: Partition,
    seen: Mutex<Seen>,
    /// Whether accesses overlapped in part that are not taken apart.
    stale: AtomicBool,
    /// The accesses of each thread in its longest run so far: most often they are those of the next one.
    shapes: Mutex<Vec<Shape>>,
}

impl Split<'_> {
    fn search(
        &self,
        way: Way,
        model: &Model,
        question: &Question<'_>,
        limits: Limits,
        found: &mut dyn FnMut(&Execution) -> ControlFlow<()>,
    ) -> Searched {
        if self.partition.is_empty() {
            return search_by(way, self, model, question, limits, &mut |execution| self.fresh(execution, found));
        }
        let parts: Vec<Parts> = question.finals.iter().map(|place| self.partition.of(*place)).collect();
        let finals: Vec<Place> = parts.iter().flatten().copied().collect();
        let together = |values: &[Option<u64>]| -> Vec<Option<u64>> {
            let mut values = values.iter().copied();
            let whole = |(place, parts): (&Place, &Parts)| {
                // All of them are taken, known or not.
                let held: Parts = parts.clone();
                let values: Vec<Option<u64>> = values.by_ref().take(held.len()).collect();
                whole_of(*place, held.into_iter().zip(values))
            };
            question.finals.iter().zip(&parts).map(whole).collect()
        };
        let wanted =
            |registers: &[&[Option<u64>]], values: &[Option<u64>]| (question.wanted)(registers, &together(values));
        let apart =
            Question { finals: &finals, wanted: &wanted, symmetries: question.symmetries, flagged: question.flagged };
        search_by(way, self, model, &apart, limits, &mut |execution| {
            let values: Vec<Option<u64>> = execution.finals.iter().map(|(_, value)| Some(*value)).collect();
            let mut execution = execution.clone();
            let values = together(&values).into_iter().map(|value| value.unwrap_or(0));
            execution.finals = question.finals.iter().copied().zip(values).collect();
            self.fresh(&execution, found)
        })
    }

    /// Passes an execution on, unless the search is to begin again.
    fn fresh(&self, execution: &Execution, found: &mut dyn FnMut(&Execution) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.stale.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { found(execution) }
    }

    /// Notes what a run accesses; whether the search is to begin again.
    fn is_stale(&self, trace: &Trace) -> bool {
        if self.seen.lock().unwrap_or_else(PoisonError::into_inner).trace(trace) {
            self.stale.store(true, Ordering::Relaxed);
        }
        self.stale.load(Ordering::Relaxed)
    }

    fn parts(&self, place: Option<Place>) -> Parts {
        place.map_or_else(Parts::new, |place| self.partition.of(place))
    }

    /// What the reads of a thread return that accesses this, by what their parts do.
    fn gathered(&self, shape: &Shape, reads: &[Option<u64>]) -> Vec<Option<u64>> {
        let mut at = 0;
        let gather = |(kind, place): &(Kind, Option<Place>)| {
            let parts = self.parts(*place);
            let first = at;
            at += parts.len().max(1);
            let value = |position: usize| reads.get(position).copied().flatten();
            let place = place.filter(|_| *kind == Kind::Read)?;
            if parts.len() == 1 {
                return value(first);
            }
            whole_of(place, parts.into_iter().enumerate().map(|(k, part)| (part, value(first + k))))
        };
        shape.iter().map(gather).collect()
    }

    /// A run of a thread, parts of whose reads return what is known. Which of them are of which read depends on where its accesses go, and so on
    /// what its reads return: each time around, one more access at least is where it is.
    fn whole(&self, thread: usize, known: Known<'_>) -> Option<Trace> {
        let shapes = || self.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut shape = shapes().get(thread).cloned().unwrap_or_default();
        let mut reads = self.gathered(&shape, known.reads);
        for _ in 0..=1 << 20 {
            let trace = self.of.run(thread, Known { reads: &reads, ..known });
            if self.is_stale(&trace) {
                return None;
            }
            let events = trace.events.iter();
            let met: Shape = events.map(|event| (event.kind, event.place)).collect();
            let again = self.gathered(&met, known.reads);
            let given = |all: &[Option<u64>], k: usize| all.get(k).copied().flatten();
            let same = (0..met.len()).all(|k| given(&again, k) == given(&reads, k));
            if same {
                if met.len() >= shape.len()
                    && let Some(longest) = shapes().get_mut(thread)
                {
                    longest.clone_from(&met);
                }
                return Some(trace);
            }
            (shape, reads) = (met, again);
        }
        self.stale.store(true, Ordering::Relaxed);
        None
    }

    /// A run with its accesses taken apart.
    fn apart(&self, trace: Trace, reads: &[Option<u64>]) -> Trace {
        let accesses = |event: &Event| matches!(event.kind, Kind::Read | Kind::Write);
        let open = trace.events.iter().position(|event| accesses(event) && event.place.is_none());
        let mut spans: Vec<(Position, Parts)> = Vec::with_capacity(trace.events.len());
        let mut at = 0;
        for event in &trace.events {
            let parts = self.parts(event.place);
            let count = Position::try_from(parts.len().max(1)).unwrap_or(1);
            spans.push((at, parts));
            at += count;
        }
        let all = |from: &Sources| -> Sources {
            let span = |source: &Position| spans.get(*source as usize).map(|(at, parts)| (*at, parts.len().max(1)));
            let each = |(at, count): (Position, usize)| (at..).take(count);
            from.iter().filter_map(span).flat_map(each).collect()
        };
        let mut end = match trace.end {
            End::Stalled(stall) => End::Stalled(Stall { on: all(&stall.on), ..stall }),
            end => end,
        };
        let mut events = Vec::with_capacity(at as usize);
        for (position, event) in (0..).zip(&trace.events) {
            if open == Some(position) {
                // How many parts it has is not known, nor where what follows is.
                let (on, options) = (all(&event.addr), smallvec::SmallVec::new());
                end = End::Stalled(Stall { on, control: false, at: u32::MAX, decision: u32::MAX, options });
                break;
            }
            let (at, parts) = &spans[position];
            let mut one =
                Event { addr: all(&event.addr), data: all(&event.data), ctrl: all(&event.ctrl), ..event.clone() };
            let rmw = event.rmw.and_then(|read| Some(spans.get(read as usize)?.0));
            one.rmw = rmw;
            let Some(place) = event.place.filter(|_| parts.len() > 1) else {
                events.push(one);
                continue;
            };
            let whole = Some(Whole { position: Position::try_from(position).unwrap_or(Position::MAX), place });
            for (k, part) in (0..).zip(parts) {
                let known = || reads.get((at + k) as usize).copied().flatten().filter(|_| event.kind == Kind::Read);
                let value = event.value.map(|value| part_of(place, value, *part)).or_else(known);
                events.push(Event { place: Some(*part), whole, value, rmw: rmw.map(|read| read + k), ..one.clone() });
            }
        }
        Trace { events, end, registers: trace.registers }
    }
}

impl Program for Split<'_> {
    fn threads(&self) -> usize {
        self.of.threads()
    }

    fn run(&self, thread: usize, known: Known<'_>) -> Trace {
        // What a search does that begins again does not matter.
        let gone =
            |registers: usize| Trace { events: Vec::new(), end: End::Contradiction, registers: vec![None; registers] };
        if self.partition.is_empty() {
            let trace = self.of.run(thread, known);
            return if self.is_stale(&trace) { gone(trace.registers.len()) } else { trace };
        }
        self.whole(thread, known).map_or_else(|| gone(0), |trace| self.apart(trace, known.reads))
    }

    fn tags(&self) -> &[&'static str] {
        self.of.tags()
    }

    fn initial(&self) -> Vec<(Place, u64)> {
        let each = |(place, value): (Place, u64)| {
            self.partition.of(place).into_iter().map(move |part| (part, part_of(place, value, part)))
        };
        self.of.initial().into_iter().flat_map(each).collect()
    }

    fn initial_value(&self, place: Place) -> Option<u64> {
        self.of.initial_value(place).or_else(|| self.initial().into_iter().find(|(at, _)| *at == place).map(|(_, v)| v))
    }

    fn initial_tags(&self, place: Place) -> u64 {
        self.of.initial_tags(place)
    }

    fn may_write(&self, thread: usize, stall: &Stall, place: Place) -> bool {
        self.of.may_write(thread, stall, place)
    }

    fn constants(&self) -> Vec<u64> {
        self.of.constants()
    }

    fn in_parts(&self) -> bool {
        !self.partition.is_empty()
    }

    fn related(&self, relation: &str, one: (Option<usize>, &Event), two: (Option<usize>, &Event)) -> bool {
        self.of.related(relation, one, two)
    }
}

impl Execution {
    /// The events of a thread with its accesses put together: positions are those of the program, as it is without parts.
    #[must_use]
    pub fn accesses(&self, thread: usize) -> Vec<Event> {
        let mut all: Vec<Event> = Vec::new();
        let own =
            self.events.iter().filter(|(id, _)| id.thread != super::frame::INITIAL && id.thread as usize == thread);
        for (_, event) in own {
            let Some(whole) = event.whole else {
                all.push(event.clone());
                continue;
            };
            let Some(part) = event.place else { continue };
            let first = part.offset == whole.place.offset;
            if first {
                all.push(Event { place: Some(whole.place), whole: None, ..event.clone() });
            } else if let Some(last) = all.last_mut() {
                let (before, value) = (last.value, event.value);
                let shift = 8 * (part.offset - whole.place.offset);
                last.value = before.zip(value).map(|(all, value)| all | value.checked_shl(shift).unwrap_or(0));
            }
        }
        all
    }
}
