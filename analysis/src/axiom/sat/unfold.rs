//! All runs of a program's threads side by side, as trees: runs of a thread share their events until its way, or a place, depends on
//! what a read returns; there they branch by its value. What only goes into values makes no branches: such a write has a table.
//!
//! What a read may return is the least set that has what the writes to its place may write, but not what comes about only by what this
//! read returns. Values that depend on themselves alone begin with the program's constants (D-thin-air). A value passes each read at most
//! once, so that what is not there after as many rounds as an execution has reads is never there.

use crate::axiom::frame::{INITIAL, Id, initial, placed};
use crate::axiom::program::{End, Event, Kind, Known, Place, Program, Trace};
use crate::base::mutant::{Mutant, on};
use crate::base::sorted::{SortedMap, SortedSet};
use indexmap::IndexSet;
use petgraph::graph::{DiGraph, NodeIndex};

/// So many events, values of a place, or rows of a table are looked at at most.
const MOST: usize = 600;

/// Reads and what they return.
pub(super) type Returned = Vec<(usize, u64)>;

/// A value that a write or a register has where reads return these.
pub(super) type Row = (Returned, u64);

/// A part of a thread's runs: from a point where they branch, or the start, to the next such point or the end.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) thread: usize,
    /// The part before it, and what a read returned so that it came to this.
    pub(super) before: Option<(usize, usize, u64)>,
    /// The thread's events so far, by their positions.
    pub(super) events: Vec<usize>,
    /// How the thread ends with this part, if it does.
    pub(super) end: Option<End>,
    /// At the end: what each register that is asked about is. Empty: too much for a table.
    pub(super) registers: Vec<Vec<Row>>,
}

/// All runs of all threads.
#[derive(Debug, Default)]
pub(super) struct Unfolding {
    /// Initial writes, then events of threads.
    pub(super) events: Vec<(Id, Event)>,
    /// The part that each event is in; none of initial writes.
    pub(super) owners: Vec<Option<usize>>,
    pub(super) branches: Vec<Branch>,
    /// What each read may return.
    pub(super) returns: SortedMap<usize, Vec<u64>>,
    /// What each write may write.
    pub(super) writes: SortedMap<usize, Vec<Row>>,
    /// The places that have initial writes.
    pub(super) places: IndexSet<Place>,
    /// Whether values may depend on themselves.
    pub(super) loops: bool,
    /// Whether it is not all.
    pub(super) cut: bool,
    /// Whether accesses overlap in part.
    pub(super) mixed: bool,
}

/// Where bytes are: what overlaps and is not the same is not expressed.
type Spot = (u32, u32);

const fn spot(place: Place) -> Spot {
    (place.location, place.offset)
}

/// Reads, by thread and position, that a value passes however it comes about.
type Passed = SortedSet<(usize, u32)>;

/// What places may hold.
type Domains = SortedMap<Spot, SortedMap<u64, Passed>>;

struct Unfolder<'a> {
    program: &'a dyn Program,
    bound: u32,
    domains: Domains,
    all: Unfolding,
}

/// Unfolds the threads of a program. `places`: those that have initial writes whoever accesses them.
pub(super) fn unfold(program: &dyn Program, places: IndexSet<Place>, bound: u32) -> Unfolding {
    let begin = program.initial().into_iter().fold(Domains::new(), |mut all, (place, value)| {
        all.entry(spot(place)).or_default().insert(value, Passed::new());
        all
    });
    let mut this = Unfolder { program, bound, domains: begin, all: Unfolding::default() };
    this.settle();
    // What is tried may lead to parts of threads by which more values may depend on themselves.
    let mut looped = SortedSet::new();
    while let Some(more) = Some(this.looped()).filter(|more| !more.is_subset(&looped) && !this.all.cut) {
        for spot in more.iter().filter(|spot| !looped.contains(spot) && !on(Mutant::ConstantsUntried)) {
            let constants = program.constants().into_iter().map(|value| (value, Passed::new()));
            this.domains.entry(*spot).or_default().extend(constants);
        }
        looped.extend(more);
        this.settle();
    }
    this.all.loops = !looped.is_empty();
    let Unfolder { mut all, .. } = this;
    all.places = places;
    all.with_initial(program);
    all
}

impl Unfolding {
    /// Puts initial writes before the events.
    fn with_initial(&mut self, program: &dyn Program) {
        let accessed: Vec<Place> = self.events.iter().filter_map(|(_, event)| event.place).collect();
        let (mut events, mixed) = initial(program, accessed.into_iter(), &mut self.places);
        let by = events.len();
        self.cut |= events.iter().any(|(_, event)| event.value.is_none());
        self.mixed = mixed;
        events.append(&mut self.events);
        self.events = events;
        self.owners = vec![None; by].into_iter().chain(self.owners.drain(..)).collect();
        let moved = |list: &mut Vec<Row>| list.iter_mut().flat_map(|row| &mut row.0).for_each(|(read, _)| *read += by);
        self.returns = std::mem::take(&mut self.returns).into_iter().map(|(read, all)| (read + by, all)).collect();
        self.writes = std::mem::take(&mut self.writes).into_iter().map(|(write, all)| (write + by, all)).collect();
        self.writes.values_mut().for_each(moved);
        for branch in &mut self.branches {
            branch.events.iter_mut().for_each(|event| *event += by);
            branch.before = branch.before.map(|(before, read, value)| (before, read + by, value));
            branch.registers.iter_mut().for_each(moved);
        }
        for (number, (_, event)) in self.events[..by].iter().enumerate() {
            self.writes.insert(number, event.value.map(|value| (Vec::new(), value)).into_iter().collect());
        }
    }
}

impl Unfolder<'_> {
    /// Unfolds until no more values appear.
    fn settle(&mut self) {
        let mut rounds = 0;
        loop {
            self.all = Unfolding::default();
            for thread in 0..self.program.threads() {
                self.grow(thread, None, Vec::new(), Vec::new());
            }
            let mut domains = self.domains.clone();
            for (write, rows) in &self.all.writes {
                let Some(place) = self.all.events[*write].1.place else { continue };
                let initial = || self.program.initial_value(place).map(|v| (v, Passed::new())).into_iter().collect();
                for row in rows {
                    let passed = self.passed(*write, row);
                    let held = domains.entry(spot(place)).or_insert_with(initial);
                    let known = held.entry(row.1).or_insert_with(|| passed.clone());
                    known.retain(|read| passed.contains(read));
                }
            }
            self.all.cut |= domains.values().any(|values| values.len() > MOST / 4);
            if domains == self.domains || self.all.cut || rounds > self.depth() {
                return;
            }
            self.domains = domains;
            rounds += 1;
        }
    }

    /// How many reads an execution has at most.
    fn depth(&self) -> usize {
        let reads = |branch: &Branch| branch.events.iter().filter(|e| self.all.returns.contains_key(e)).count();
        let most = |thread: usize| {
            self.all.branches.iter().filter(|branch| branch.thread == thread).map(reads).max().unwrap_or(0)
        };
        (0..self.program.threads()).map(most).sum()
    }

    /// What a value of a write's table passes: the reads that it, or whether and where it is written, depends on, and what these pass.
    fn passed(&self, write: usize, row: &Row) -> Passed {
        let event = &self.all.events[write].1;
        let mut all = Passed::new();
        let mut pass = |read: usize, value: u64| {
            let (id, event) = &self.all.events[read];
            all.insert((id.thread as usize, id.position));
            let known = event.place.and_then(|place| self.domains.get(&spot(place))?.get(&value));
            all.extend(known.into_iter().flatten().copied());
        };
        row.0.iter().for_each(|(read, value)| pass(*read, *value));
        let mut part = self.all.owners[write].map(|part| &self.all.branches[part]);
        while let Some(branch) = part {
            if let Some((_, read, value)) = branch.before {
                let position = self.all.events[read].0.position;
                if [&event.addr, &event.data, &event.ctrl].into_iter().any(|reads| reads.contains(&position)) {
                    pass(read, value);
                }
            }
            part = branch.before.map(|(before, ..)| &self.all.branches[before]);
        }
        all
    }

    /// The places by which values may depend on themselves.
    fn looped(&self) -> SortedSet<Spot> {
        let events = &self.all.events;
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<NodeIndex> = events.iter().map(|_| graph.add_node(())).collect();
        for write in self.all.writes.keys() {
            // What a branch is by may be data, too.
            let Some(part) = self.all.owners[*write].map(|part| &self.all.branches[part]) else { continue };
            for read in &events[*write].1.data {
                graph.update_edge(nodes[part.events[*read as usize]], nodes[*write], ());
            }
            for read in self.all.returns.keys().filter(|read| self.spot(**read) == self.spot(*write)) {
                graph.update_edge(nodes[*write], nodes[*read], ());
            }
        }
        let circles = petgraph::algo::tarjan_scc(&graph).into_iter().filter(|part| part.len() > 1).flatten();
        circles.filter_map(|node| self.spot(node.index())).collect()
    }

    fn spot(&self, event: usize) -> Option<Spot> {
        self.all.events[event].1.place.map(spot)
    }

    fn run(&self, thread: usize, reads: &[Option<u64>]) -> Trace {
        self.program.run(thread, Known { reads, assumed: &[], bound: self.bound })
    }

    /// What a read may return.
    fn domain(&self, read: usize) -> Vec<u64> {
        let Some(place) = self.all.events[read].1.place else { return Vec::new() };
        let id = self.all.events[read].0;
        let this = (id.thread as usize, id.position);
        match self.domains.get(&spot(place)) {
            Some(values) => {
                values.iter().filter(|(_, passed)| !passed.contains(&this)).map(|(value, _)| *value).collect()
            }
            None => self.program.initial_value(place).into_iter().collect(),
        }
    }

    /// A part of a thread from where it has these events, with these reads known, and all that follows it.
    fn grow(
        &mut self,
        thread: usize,
        before: Option<(usize, usize, u64)>,
        known: Vec<Option<u64>>,
        mut events: Vec<usize>,
    ) {
        if self.all.events.len() > MOST || self.all.cut {
            self.all.cut = true;
            return;
        }
        let trace = self.run(thread, &known);
        let this = self.all.branches.len();
        let is_known = |read: &u32| known.get(*read as usize).is_some_and(Option::is_some);
        let open = trace.events.iter().position(|event| !placed(event));
        let upto = open.unwrap_or(trace.events.len());
        let waits = match (open, &trace.end) {
            (Some(at), _) => trace.events[at].addr.iter().find(|read| !is_known(read)),
            (None, End::Stalled(stall)) => stall.on.iter().find(|read| !is_known(read)),
            _ => None,
        };
        let first = events.len();
        for (event, position) in trace.events[..upto].iter().zip(0..).skip(first) {
            let number = self.all.events.len();
            let id = Id { thread: u32::try_from(thread).unwrap_or(INITIAL), position };
            self.all.events.push((id, event.clone()));
            self.all.owners.push(Some(this));
            events.push(number);
        }
        let end = match (waits, open, &trace.end) {
            (Some(_), ..) => None,
            (None, None, End::Stalled(_)) | (None, Some(_), _) => Some(End::Unsupported("a thread waits".to_owned())),
            (None, None, end) => Some(end.clone()),
        };
        let done = end == Some(End::Done);
        self.all.branches.push(Branch { thread, before, events: events.clone(), end, registers: Vec::new() });
        self.tables(thread, &known, &events, first);
        if done {
            let rows = (0..trace.registers.len()).map(|register| self.register(thread, &known, &events, register));
            self.all.branches[this].registers = rows.collect();
        }
        let Some(position) = waits.copied() else { return };
        let Some(&read) = events.get(position as usize) else { return };
        for value in self.domain(read) {
            let mut known = known.clone();
            let at = position as usize;
            known.resize(known.len().max(at + 1), None);
            known[at] = Some(value);
            self.grow(thread, Some((this, read, value)), known, events.clone());
        }
    }

    /// What reads return and writes write, of the events of a thread from one on.
    fn tables(&mut self, thread: usize, known: &[Option<u64>], events: &[usize], first: usize) {
        for (position, number) in events.iter().enumerate().skip(first) {
            let event = self.all.events[*number].1.clone();
            match event.kind {
                Kind::Read => drop(self.all.returns.insert(*number, self.domain(*number))),
                Kind::Write => {
                    let reads: Vec<usize> = event.data.iter().map(|read| *read as usize).collect();
                    let value = |trace: &Trace| trace.events.get(position).and_then(|event| event.value);
                    let rows = self.table(thread, known, events, &reads, &value);
                    self.all.cut |= rows.is_empty();
                    self.all.writes.insert(*number, rows);
                }
                Kind::Fence | Kind::Barrier | Kind::Other => {}
            }
        }
    }

    /// What something is for each way in which some reads return what they may.
    fn table(
        &self,
        thread: usize,
        known: &[Option<u64>],
        events: &[usize],
        reads: &[usize],
        of: &dyn Fn(&Trace) -> Option<u64>,
    ) -> Vec<Row> {
        let mut known = known.to_vec();
        known.resize(known.len().max(events.len()), None);
        let open: Vec<usize> = reads.iter().copied().filter(|read| known[*read].is_none()).collect();
        let size = |product: usize, read: &usize| product.saturating_mul(self.domain(events[*read]).len());
        if open.iter().fold(1, size) > MOST * 4 {
            return Vec::new();
        }
        let mut ways: Vec<Returned> = vec![Vec::new()];
        for read in &open {
            let values = self.domain(events[*read]);
            let more = |way: &Returned| {
                let one = |value: &u64| way.iter().copied().chain([(*read, *value)]).collect();
                values.iter().map(one).collect::<Vec<Returned>>()
            };
            ways = ways.iter().flat_map(more).collect();
        }
        let row = |way: Returned| {
            let mut known = known.clone();
            way.iter().for_each(|(read, value)| known[*read] = Some(*value));
            let value = of(&self.run(thread, &known))?;
            Some((way.into_iter().map(|(read, value)| (events[read], value)).collect(), value))
        };
        ways.into_iter().map(row).collect::<Option<Vec<Row>>>().unwrap_or_default()
    }

    /// What a register is at the end. It depends on those reads without which it is not known.
    fn register(&self, thread: usize, known: &[Option<u64>], events: &[usize], register: usize) -> Vec<Row> {
        let value = |trace: &Trace| trace.registers.get(register).copied().flatten();
        let reads = events.iter().enumerate().filter(|(_, event)| self.all.returns.contains_key(event));
        let mut all = known.to_vec();
        all.resize(all.len().max(events.len()), None);
        let mut open: Vec<usize> = Vec::new();
        for (at, event) in reads {
            if all[at].is_none() {
                all[at] = self.domain(*event).first().copied();
                open.push(at);
            }
        }
        open.retain(|read| {
            let mut without = all.clone();
            without[*read] = None;
            value(&self.run(thread, &without)).is_none()
        });
        self.table(thread, known, events, &open, &value)
    }
}
