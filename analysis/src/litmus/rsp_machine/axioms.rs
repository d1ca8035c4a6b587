//! Figure 2 of the paper, with `incl` of section 3, over a handful of events: sets and relations are words of bits.
//!
//! Of OpenCL it has what the litmus tests need beyond the figure: operations that do not acquire or do not release are no end of
//! `sw` (D-rsp-machine-order).

use super::compile::Compiled;
use crate::explore::promotion::Graph;
use crate::litmus::rsp::MemoryScope;
use crate::memory::rsp::Kind;
use crate::memory::rsp::{EVENTS, Event, LOCATIONS};

/// Events of the program, then one that initialises each location.
const MOST: usize = EVENTS + LOCATIONS;

/// The axioms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[expect(missing_docs, reason = "their names in figure 2")]
pub enum Axiom {
    Hb,
    Coh,
    Rf,
    Narf,
    Rmw,
}

impl Axiom {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hb => "Hb",
            Self::Coh => "Coh",
            Self::Rf => "Rf",
            Self::Narf => "Narf",
            Self::Rmw => "Rmw",
        }
    }
}

/// Which definition of scope inclusion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Inclusion {
    /// That of section 3: `incl1 ∩ incl1⁻¹ ∪ [rem]; incl1 ∪ incl1⁻¹; [rem]`.
    #[default]
    Section3,
    /// What footnote 3 warns of: `[rem]; unv` is a part of `incl1`.
    Footnote3,
}

#[derive(Clone, Copy, Default)]
struct Relation([u32; MOST]);

impl Relation {
    const fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] >> b & 1 == 1
    }

    const fn add(&mut self, a: usize, b: usize) {
        self.0[a] |= 1 << b;
    }

    fn then(&self, other: &Self) -> Self {
        let mut found = Self::default();
        for (row, result) in self.0.iter().zip(&mut found.0) {
            let mut rest = *row;
            while rest != 0 {
                *result |= other.0[rest.trailing_zeros() as usize];
                rest &= rest - 1;
            }
        }
        found
    }

    fn inverse(&self) -> Self {
        let mut found = Self::default();
        for a in 0..MOST {
            let mut rest = self.0[a];
            while rest != 0 {
                found.add(rest.trailing_zeros() as usize, a);
                rest &= rest - 1;
            }
        }
        found
    }

    fn zip(&self, other: &Self, by: impl Fn(u32, u32) -> u32) -> Self {
        let mut found = *self;
        found.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a = by(*a, *b));
        found
    }

    fn or(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    fn and(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    fn minus(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// Only pairs that end in a set.
    fn ending(&self, set: u32) -> Self {
        Self(self.0.map(|row| row & set))
    }

    /// Only pairs that begin in a set.
    fn beginning(&self, set: u32) -> Self {
        let mut found = *self;
        for (a, row) in found.0.iter_mut().enumerate() {
            *row &= 0_u32.wrapping_sub(set >> a & 1);
        }
        found
    }

    /// `r⁺`
    fn closed(mut self) -> Self {
        for middle in 0..MOST {
            let row = self.0[middle];
            for a in 0..MOST {
                if self.has(a, middle) {
                    self.0[a] |= row;
                }
            }
        }
        self
    }

    fn is_irreflexive(&self) -> bool {
        (0..MOST).all(|a| !self.has(a, a))
    }

    /// `r?`
    fn or_same(mut self, all: u32) -> Self {
        for a in (0..MOST).filter(|a| all >> a & 1 == 1) {
            self.add(a, a);
        }
        self
    }

    /// A pair of it.
    fn first(&self) -> Option<(usize, usize)> {
        self.0.iter().enumerate().find(|(_, row)| **row != 0).map(|(a, row)| (a, row.trailing_zeros() as usize))
    }
}

/// What the axioms say of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judgement {
    /// An axiom of consistency that is violated.
    pub violated: Option<Axiom>,
    /// Two events that race (`dr`), by their numbers; neither initialises a location.
    pub race: Option<(u8, u8)>,
}

/// What does not depend on who reads from whom.
struct Events<'a> {
    compiled: &'a Compiled,
    atomic: &'a [bool],
    all: u32,
    reads: u32,
    writes: u32,
    plain: u32,
    acquires: u32,
    releases: u32,
    remote: u32,
    initial: u32,
    nal: u32,
    /// Same location.
    loc: Relation,
    thd: Relation,
    sb: Relation,
}

impl<'a> Events<'a> {
    fn new(compiled: &'a Compiled, atomic: &'a [bool], graph: &Graph) -> Self {
        let program = &compiled.program;
        let mut events = Self {
            compiled,
            atomic,
            all: 0,
            reads: 0,
            writes: 0,
            plain: 0,
            acquires: 0,
            releases: 0,
            remote: 0,
            initial: 0,
            nal: 0,
            loc: Relation::default(),
            thd: Relation::default(),
            sb: Relation::default(),
        };
        let set = |set: &mut u32, k: usize, holds: bool| *set |= u32::from(holds) << k;
        for (k, made) in compiled.events.iter().enumerate() {
            if !graph.took_place(Event(k as u8)) {
                continue;
            }
            let (reads, writes) = (graph.reads[k].is_some(), graph.order[k].is_some());
            let failed = made.kind == Kind::Update && !writes;
            set(&mut events.all, k, true);
            set(&mut events.reads, k, reads);
            set(&mut events.writes, k, writes);
            set(&mut events.plain, k, made.atomic.is_none());
            set(&mut events.acquires, k, reads && if failed { made.failure_acquires } else { made.acquires });
            set(&mut events.releases, k, writes && made.releases);
            set(&mut events.remote, k, made.atomic.is_some_and(|(_, remote)| remote));
        }
        for at in 0..program.initial().len() {
            for mask in [&mut events.all, &mut events.writes, &mut events.plain, &mut events.initial] {
                set(mask, EVENTS + at, true);
            }
        }
        let all = events.all;
        let there = || (0..MOST).filter(move |a| all >> a & 1 == 1);
        for a in there() {
            let at = events.location(a);
            set(&mut events.nal, a, !atomic[at]);
            for b in there() {
                events.relate(a, b);
            }
        }
        events
    }

    fn relate(&mut self, a: usize, b: usize) {
        if self.location(a) == self.location(b) {
            self.loc.add(a, b);
        }
        match (self.thread(a), self.thread(b)) {
            (Some(one), Some(other)) if one == other => {
                self.thd.add(a, b);
                if a < b {
                    self.sb.add(a, b);
                }
            }
            (None, Some(_)) => self.sb.add(a, b),
            _ => {}
        }
    }

    fn location(&self, event: usize) -> usize {
        event.checked_sub(EVENTS).unwrap_or_else(|| self.compiled.program.location_of(Event(event as u8)).0.into())
    }

    fn thread(&self, event: usize) -> Option<usize> {
        (event < EVENTS).then(|| usize::from(self.compiled.program.events()[event].0))
    }

    /// `incl`
    fn inclusion(&self, inclusion: Inclusion) -> Relation {
        let program = &self.compiled.program;
        let home = |e: usize| {
            self.thread(e).map(|t| {
                let group = program.group_of(t);
                (program.device_of(group), group)
            })
        };
        let mut wide = Relation::default();
        for a in 0..EVENTS {
            let Some((scope, remote)) = self.compiled.events.get(a).and_then(|m| m.atomic) else { continue };
            let (Some(here), true) = (home(a), self.all >> a & 1 == 1) else { continue };
            for b in (0..MOST).filter(|b| self.all >> b & 1 == 1) {
                let reaches = match (scope, home(b)) {
                    (MemoryScope::All, _) => true,
                    (_, None) => false,
                    (MemoryScope::Device, Some(there)) => here.0 == there.0,
                    (MemoryScope::WorkGroup, Some(there)) => here.1 == there.1,
                };
                if reaches || remote && inclusion == Inclusion::Footnote3 {
                    wide.add(a, b);
                }
            }
        }
        let back = wide.inverse();
        let remote = wide.beginning(self.remote);
        if inclusion == Inclusion::Footnote3 {
            return wide.and(&back);
        }
        wide.and(&back).or(&remote).or(&back.ending(self.remote))
    }

    /// `rf` and `mo`, of which the second is about atomic locations only.
    fn witness(&self, graph: &Graph) -> (Relation, Relation) {
        let (mut rf, mut mo) = (Relation::default(), Relation::default());
        let rank =
            |e: usize| e.checked_sub(EVENTS).map_or_else(|| graph.order[e].map(|r| i32::from(r) + 1), |_| Some(0));
        for a in (0..MOST).filter(|a| self.all >> a & 1 == 1) {
            if let Some(source) = graph.reads.get(a).copied().flatten() {
                rf.add(source.event().map_or(EVENTS + self.location(a), |e| e.0.into()), a);
            }
            for b in (0..MOST).filter(|b| self.loc.has(a, *b) && self.atomic[self.location(a)]) {
                if let (Some(one), Some(other)) = (rank(a), rank(b))
                    && one < other
                {
                    mo.add(a, b);
                }
            }
        }
        (rf, mo)
    }
}

/// Judges an execution of a program by figure 2. `atomic` says which locations are atomic.
#[must_use]
pub fn judge(compiled: &Compiled, atomic: &[bool], graph: &Graph, inclusion: Inclusion) -> Judgement {
    let e = Events::new(compiled, atomic, graph);
    let (rf, mo) = e.witness(graph);
    let incl = e.inclusion(inclusion);
    let unv_updates = Relation([e.reads & e.writes; MOST]);
    let rs_ = e.thd.or(&unv_updates);
    let rs = mo.and(&rs_).minus(&mo.minus(&rs_).then(&mo));
    let sw = rs.or_same(e.all).beginning(e.releases).then(&rf).ending(e.acquires).and(&incl).minus(&e.thd);
    let hb = e.sb.or(&sw).closed();
    let vis = hb.minus(&hb.ending(e.writes).then(&hb.and(&e.loc)));
    let read_by = rf.inverse();
    let (rf_, read_by_) = (rf.or_same(e.all), read_by.or_same(e.all));
    let checks = [
        (Axiom::Hb, hb.is_irreflexive()),
        (Axiom::Coh, read_by_.then(&mo).then(&rf_).then(&hb).is_irreflexive()),
        (Axiom::Rf, rf.then(&hb).is_irreflexive()),
        (Axiom::Narf, rf.ending(e.nal).minus(&vis).first().is_none()),
        (Axiom::Rmw, rf.or(&mo.then(&mo).then(&read_by)).or(&mo.then(&rf)).is_irreflexive()),
    ];
    let violated = checks.into_iter().find(|(_, holds)| !holds).map(|(axiom, _)| axiom);
    let writes = e.loc.beginning(e.writes);
    let conflict = writes.or(&e.loc.ending(e.writes)).beginning(!e.initial).ending(!e.initial).minus(&e.thd);
    let race = conflict.minus(&hb).minus(&hb.inverse()).minus(&incl).first();
    Judgement { violated, race: race.map(|(a, b)| (a as u8, b as u8)) }
}
