//! The events of all threads side by side, and the relations between them that no choice changes.

use super::model::Model;
use super::program::{End, Event, Kind, Place, Program, Trace};
use super::relation::{Relation, Set};
use indexmap::IndexSet;
use std::ops::Range;

/// An event, however many others there are: the position of its thread, and within that; initial writes have the thread [`INITIAL`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Id {
    /// Its thread.
    pub thread: u32,
    /// Its position there; of an initial write, the number of its place.
    pub position: u32,
}

/// The thread of initial writes.
pub const INITIAL: u32 = u32::MAX;

/// The choices that make an execution of some events, as relations that a model names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Choice {
    /// Which write each read reads from.
    Rf,
    /// In which order writes to a location become coherent.
    Co,
    /// In which order fences that are sequentially consistent are.
    Fences,
    /// Which arrivals at a barrier with a quorum come first.
    Meetings,
}

/// What a base relation of a model is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Base {
    /// A choice.
    Choice(Choice),
    /// What follows from two choices: a read before the writes that overwrite what it read.
    Fr,
    /// Whatever is known of the events.
    Static,
}

/// What a base relation of this name is.
pub(super) fn base(name: &str) -> Base {
    match name {
        "rf" => Base::Choice(Choice::Rf),
        "co" => Base::Choice(Choice::Co),
        "sync_fence" => Base::Choice(Choice::Fences),
        "syncbar" => Base::Choice(Choice::Meetings),
        "fr" => Base::Fr,
        _ => Base::Static,
    }
}

/// The events of all threads, as far as these have come.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    /// Initial writes, then the threads' events in their order. Events whose place or barrier is not known are left out.
    pub(super) events: Vec<(Id, Event)>,
    /// Whether each thread waits at a barrier to which too few have come.
    pub(super) blocked: Vec<bool>,
    /// Whether some accesses overlap in part.
    pub(super) mixed: bool,
    /// Whether more events may come: then one more number stands for all of them, the last.
    pub(super) open: bool,
    /// The base sets of the model.
    pub(super) sets: Vec<Set>,
    /// The base relations of the model that are static; others are empty here.
    pub(super) relations: Vec<Relation>,
    /// Pairs of writes and reads that may be of `rf`, as far as places tell.
    pub(super) rf: Relation,
    /// Pairs of which the second depends on the first: by its address, or by whether it is done at all.
    pub(super) dep: Relation,
    /// Pairs of which the second writes what depends on the first.
    pub(super) data: Relation,
    /// Pairs of different writes to overlapping places, but for those that end in an initial write.
    pub(super) co: Relation,
    /// Pairs of writes of which the first is initial.
    pub(super) begins: Relation,
    /// Pairs of different fences that are sequentially consistent.
    pub(super) fences: Relation,
    /// Those of them whose scopes include each other.
    pub(super) near: Relation,
    /// Pairs of arrivals that meet.
    pub(super) meetings: Relation,
    /// Arrivals at barriers to which more come than the quorum: the quorum and the events.
    pub(super) late: Vec<(u64, Vec<usize>)>,
}

impl Frame {
    /// How many numbers of events there are.
    pub(super) fn len(&self) -> usize {
        self.events.len() + usize::from(self.open)
    }

    /// The number of an event.
    pub(super) fn number(&self, id: Id) -> Option<usize> {
        self.events.binary_search_by(|(other, _)| order(*other).cmp(&order(id))).ok()
    }

    pub(super) fn event(&self, number: usize) -> &Event {
        &self.events[number].1
    }

    /// How many initial writes there are.
    pub(super) fn initial(&self) -> usize {
        self.events.partition_point(|(id, _)| id.thread == INITIAL)
    }
}

/// Initial writes come first.
const fn order(id: Id) -> (u32, u32) {
    (id.thread.wrapping_add(1), id.position)
}

/// Whether two places have bytes in common.
pub(super) const fn overlap(one: Place, two: Place) -> bool {
    one.location == two.location && one.offset < two.offset + two.bytes && two.offset < one.offset + one.bytes
}

/// Whether an event is in view: what it accesses, or where it arrives, is known.
pub(super) const fn placed(event: &Event) -> bool {
    match event.kind {
        Kind::Read | Kind::Write => event.place.is_some(),
        Kind::Barrier => match &event.arrival {
            Some(arrival) => arrival.barrier.is_some(),
            None => true,
        },
        Kind::Fence | Kind::Other => true,
    }
}

/// How many events each thread has up to the first barrier that it waits at in vain, and whether there is one.
///
/// A barrier with a quorum lets nobody pass before so many have come; one without lets all pass, as the public tests have it
/// (their models relate only those that do meet).
fn passed(program: &dyn Program, traces: &[Trace]) -> Vec<(usize, bool)> {
    let mut ways: Vec<(usize, bool)> = vec![(0, true); traces.len()];
    let come = |ways: &[(usize, bool)], thread: usize, event: &Event| {
        let seen = |t: usize| traces[t].events[..ways[t].0].iter();
        let here = event.arrival.and_then(|a| a.barrier);
        let meets = |t: usize, e: &Event| program.related("meets", (Some(thread), event), (Some(t), e));
        let same = |t: usize| {
            seen(t)
                .filter(move |e| e.arrival.and_then(|a| a.barrier) == here && here.is_some())
                .filter(move |e| meets(t, e))
                .count()
        };
        (0..traces.len()).map(same).sum::<usize>() as u64
    };
    loop {
        let mut moved = false;
        for thread in 0..traces.len() {
            let events = &traces[thread].events;
            while ways[thread].1 {
                let (at, _) = ways[thread];
                let waits = |e: &Event| e.arrival.filter(|a| a.waits).and_then(|a| a.quorum);
                if at > 0 && waits(&events[at - 1]).is_some_and(|quorum| come(&ways, thread, &events[at - 1]) < quorum)
                {
                    break;
                }
                moved = true;
                ways[thread] = if at == events.len() { (at, false) } else { (at + 1, true) };
            }
        }
        if !moved {
            return ways;
        }
    }
}

/// The initial writes; and whether some place overlaps another one in part. Places that are
/// met later come later.
pub(super) fn initial(
    program: &dyn Program,
    accessed: impl Iterator<Item = Place>,
    places: &mut IndexSet<Place>,
) -> (Vec<(Id, Event)>, bool) {
    places.extend(program.initial().into_iter().map(|(place, _)| place));
    let mut mixed = false;
    for place in accessed {
        let same = |other: &&Place| overlap(**other, place);
        match places.iter().find(same) {
            Some(other) => mixed |= (other.offset, other.bytes) != (place.offset, place.bytes),
            None => drop(places.insert(place)),
        }
    }
    let write = |(place, position): (&Place, u32)| {
        let (value, tags) = (program.initial_value(*place), program.initial_tags(*place));
        (Id { thread: INITIAL, position }, Event { place: Some(*place), value, tags, ..Event::new(Kind::Write) })
    };
    (places.iter().zip(0..).map(write).collect(), mixed)
}

/// The events of traces, and the initial writes.
pub(super) fn frame(program: &dyn Program, model: &Model, traces: &[Trace], places: &mut IndexSet<Place>) -> Frame {
    let accessed = traces.iter().flat_map(|trace| &trace.events).filter_map(|event| event.place);
    let (mut events, mixed) = initial(program, accessed, places);
    let ways = passed(program, traces);
    let mut open = false;
    for ((trace, thread), (length, blocked)) in traces.iter().zip(0..).zip(&ways) {
        open |= !blocked && matches!(trace.end, End::Stalled(_));
        for (event, position) in trace.events[..*length].iter().zip(0..) {
            if placed(event) {
                events.push((Id { thread, position }, event.clone()));
            } else {
                open = true;
            }
        }
    }
    let blocked = ways.iter().map(|(_, blocked)| *blocked).collect();
    related(program, model, Frame { events, blocked, open, mixed, ..Frame::default() })
}

/// The sets and relations of the events of a frame.
pub(super) fn related(program: &dyn Program, model: &Model, mut frame: Frame) -> Frame {
    let builder = Builder { program, frame: &frame };
    let sets = model.sets.iter().map(|name| builder.set(name)).collect();
    let relations = model
        .relations
        .iter()
        .map(|name| if base(name) == Base::Static { builder.relation(name) } else { Relation::new(frame.len()) })
        .collect();
    let (rf, co, begins) = (builder.rf(), builder.co(), builder.begins());
    let (fences, near) = (builder.fences(), builder.near());
    let (meetings, late) = builder.meetings();
    let (dep, data) = (builder.dep(), builder.depends(|e| &e.data));
    (frame.dep, frame.data) = (dep, data);
    (frame.sets, frame.relations) = (sets, relations);
    (frame.rf, frame.co, frame.begins, frame.fences, frame.near) = (rf, co, begins, fences, near);
    (frame.meetings, frame.late) = (meetings, late);
    frame
}

struct Builder<'a> {
    program: &'a dyn Program,
    frame: &'a Frame,
}

impl Builder<'_> {
    fn event(&self, number: usize) -> (Id, &Event) {
        let (id, event) = &self.frame.events[number];
        (*id, event)
    }

    fn numbers(&self) -> Range<usize> {
        0..self.frame.events.len()
    }

    /// The events that pass a test.
    fn such(&self, test: impl Fn(Id, &Event) -> bool) -> Set {
        let chosen = self.numbers().filter(|n| {
            let (id, event) = self.event(*n);
            test(id, event)
        });
        Set::of(self.frame.len(), chosen)
    }

    /// The pairs that pass a test.
    fn pairs(&self, test: impl Fn((Id, &Event), (Id, &Event)) -> bool) -> Relation {
        let all = self.numbers().flat_map(|a| self.numbers().map(move |b| (a, b)));
        Relation::of(self.frame.len(), all.filter(|(a, b)| test(self.event(*a), self.event(*b))))
    }

    fn set(&self, name: &str) -> Set {
        match name {
            "R" => self.such(|_, e| e.kind == Kind::Read),
            "W" => self.such(|_, e| e.kind == Kind::Write),
            "M" => self.such(|_, e| e.place.is_some()),
            "IW" => self.such(|id, _| id.thread == INITIAL),
            "CBAR" => self.such(|_, e| e.kind == Kind::Barrier),
            "F" => self.such(|_, e| matches!(e.kind, Kind::Fence | Kind::Barrier)),
            _ => match self.program.tags().iter().position(|tag| *tag == name) {
                Some(bit) => self.such(|_, e| e.tags >> bit & 1 == 1),
                None => Set::new(self.frame.len()),
            },
        }
    }

    /// Pairs of one thread of which the second depends on the first.
    fn depends(&self, of: impl Fn(&Event) -> &[u32]) -> Relation {
        self.pairs(|(a, _), (b, event)| a.thread == b.thread && a.thread != INITIAL && of(event).contains(&a.position))
    }

    fn dep(&self) -> Relation {
        let mut all = self.depends(|e| &e.addr);
        all.add(&self.depends(|e| &e.ctrl));
        all
    }

    fn relation(&self, name: &str) -> Relation {
        let places = |a: &Event, b: &Event| a.place.zip(b.place);
        // Parts of an access are in no order among themselves (D-axiom-mixed).
        let together = |x: &Event, y: &Event| x.whole.is_some_and(|whole| y.whole == Some(whole) && x.kind == y.kind);
        let po = |(a, x): (Id, &Event), (b, y): (Id, &Event)| {
            let lockstep = x.instruction.is_some() && x.instruction == y.instruction;
            let apart = !(together(x, y) || lockstep && x.origin != y.origin);
            a.thread == b.thread && a.position < b.position && a.thread != INITIAL && apart
        };
        let loc = |a: &Event, b: &Event| places(a, b).is_some_and(|(a, b)| overlap(a, b));
        match name {
            "id" => self.pairs(|(a, _), (b, _)| a == b),
            "int" => self.pairs(|(a, _), (b, _)| a == b || a.thread == b.thread && a.thread != INITIAL),
            "ext" => self.pairs(|(a, _), (b, _)| a != b && (a.thread != b.thread || a.thread == INITIAL)),
            "po" => self.pairs(po),
            "po-loc" => self.pairs(|a, b| po(a, b) && loc(a.1, b.1)),
            "parts" => self.pairs(|(a, x), (b, y)| a != b && a.thread == b.thread && together(x, y)),
            "loc" => self.pairs(|(_, a), (_, b)| loc(a, b)),
            // Complete overlap at one virtual address, of parts, too.
            "vloc" => self.pairs(|(_, a), (_, b)| places(a, b).is_some_and(|(a, b)| a == b)),
            "mixed" => self.pairs(|(_, a), (_, b)| {
                let bytes = |e: &Event| e.extent().map(|place| (place.offset, place.bytes));
                loc(a, b) && bytes(a) != bytes(b)
            }),
            "rmw" => self.pairs(|(a, _), (b, event)| a.thread == b.thread && event.rmw == Some(a.position)),
            "addr" => self.depends(|e| &e.addr),
            "data" => self.depends(|e| &e.data),
            "ctrl" => self.depends(|e| &e.ctrl),
            _ => self.pairs(|(a, one), (b, two)| {
                let thread = |id: Id| (id.thread != INITIAL).then_some(id.thread as usize);
                self.program.related(name, (thread(a), one), (thread(b), two))
            }),
        }
    }

    fn rf(&self) -> Relation {
        self.pairs(|(_, a), (_, b)| {
            a.kind == Kind::Write && b.kind == Kind::Read && a.place.zip(b.place).is_some_and(|(a, b)| overlap(a, b))
        })
    }

    fn co(&self) -> Relation {
        self.pairs(|(a, x), (b, y)| {
            let writes = x.kind == Kind::Write && y.kind == Kind::Write;
            a != b && writes && b.thread != INITIAL && x.place.zip(y.place).is_some_and(|(x, y)| overlap(x, y))
        })
    }

    fn begins(&self) -> Relation {
        let mut pairs = self.co();
        pairs.keep(&Relation::product(&self.set("IW"), &self.set("W")));
        pairs
    }

    fn fences(&self) -> Relation {
        let Some(bit) = self.program.tags().iter().position(|tag| *tag == "SC") else {
            return Relation::new(self.frame.len());
        };
        let strict = |e: &Event| e.kind == Kind::Fence && e.tags >> bit & 1 == 1;
        self.pairs(|(a, x), (b, y)| a != b && strict(x) && strict(y))
    }

    fn near(&self) -> Relation {
        let mut pairs = self.fences();
        pairs.keep(&self.relation("sr"));
        pairs
    }

    /// Arrivals meet where their barriers are the same and their threads are in the scope of both. Late-comers to a barrier with a quorum
    /// are after those that it waited for, not the other way round (D-litmus-late).
    fn meetings(&self) -> (Relation, Vec<(u64, Vec<usize>)>) {
        let met = |e: &Event| e.arrival.and_then(|a| a.barrier);
        let scope = |a: Id, b: Id, x: &Event, y: &Event| {
            let thread = |id: Id| Some(id.thread as usize);
            self.program.related("meets", (thread(a), x), (thread(b), y))
        };
        let all = self.pairs(|(a, x), (b, y)| {
            let waits = y.arrival.is_some_and(|arrival| arrival.waits);
            waits && met(x).is_some() && met(x) == met(y) && scope(a, b, x, y)
        });
        let mut late: Vec<(u64, Vec<usize>)> = Vec::new();
        for n in self.numbers() {
            let (id, event) = self.event(n);
            let Some(quorum) = event.arrival.and_then(|a| a.quorum) else { continue };
            let same = |m: &usize| {
                let (other, e) = self.event(*m);
                met(e) == met(event) && scope(id, other, event, e)
            };
            match late.iter_mut().find(|(_, list)| same(&list[0])) {
                Some((_, list)) => list.push(n),
                None => late.push((quorum, vec![n])),
            }
        }
        late.retain(|(quorum, list)| list.len() as u64 > *quorum);
        (all, late)
    }
}
