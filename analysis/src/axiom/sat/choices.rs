//! What makes an execution, as literals: which parts of threads are done, what reads return and which writes they read from, the orders
//! of writes and fences, who comes first to barriers, and the registers and last values that are asked about.

use super::cnf::{Bit, Formula, Needs, Term, term};
use super::pairs::Pairs;
use super::unfold::{Row, Unfolding};
use crate::axiom::frame::{Choice, Frame, overlap, related};
use crate::axiom::model::Model;
use crate::axiom::program::{End, Kind, Place, Program};
use crate::axiom::relation::Relation;
use crate::base::sorted::SortedMap;

/// What is called so is so, and the reverse.
const EXACT: Needs = Needs { up: true, down: true };

/// What is so is called so.
const UP: Needs = Needs { up: true, down: false };

/// What something is: values with when.
pub(super) type Values = Vec<(u64, Bit)>;

/// The events of all runs with their choices.
pub(super) struct World {
    pub(super) frame: Frame,
    /// Whether each thread has one run only.
    pub(super) straight: bool,
    /// Whether each part is done.
    pub(super) branches: Vec<Bit>,
    /// Whether each event is done.
    pub(super) done: Vec<Bit>,
    /// Pairs of events of one run.
    pub(super) compatible: Relation,
    /// Pairs of which the second is done if the first is.
    implied: Relation,
    /// What each read returns.
    pub(super) returns: SortedMap<usize, Values>,
    pub(super) rf: Pairs,
    pub(super) co: Pairs,
    pub(super) fences: Pairs,
    pub(super) meetings: Pairs,
    /// What the registers of each thread are that are asked about. Empty: too much to tell before.
    pub(super) registers: Vec<Vec<Values>>,
    /// Which write to each place that is asked about is the last one.
    pub(super) last: Vec<Vec<(usize, Bit)>>,
    /// What it holds then.
    pub(super) finals: Vec<Values>,
}

impl World {
    pub(super) const fn choice(&self, choice: Choice) -> &Pairs {
        match choice {
            Choice::Rf => &self.rf,
            Choice::Co => &self.co,
            Choice::Fences => &self.fences,
            Choice::Meetings => &self.meetings,
        }
    }

    /// Whether an event is done, where two others are.
    pub(super) fn through(&self, a: usize, b: usize, c: usize) -> Bit {
        if self.implied.contains(a, b) || self.implied.contains(c, b) { Bit::Yes } else { self.done[b] }
    }

    /// The closure of a relation, as far as it passes only events that are done if its ends are.
    pub(super) fn closed(&self, of: &Relation) -> Relation {
        if self.straight {
            return of.plus();
        }
        let len = of.events();
        let mut all = of.clone();
        for b in 0..len {
            let before: Vec<usize> = (0..len).filter(|a| all.contains(*a, b)).collect();
            let after: Vec<usize> = all.from(b).collect();
            for a in before {
                for c in after.iter().filter(|c| self.compatible.contains(a, **c)) {
                    if self.through(a, b, *c) == Bit::Yes {
                        all.insert(a, *c);
                    }
                }
            }
        }
        all
    }
}

/// Makes the choices.
struct Builder<'a, 'q> {
    unfolding: &'a Unfolding,
    formula: &'a mut Formula<'q>,
    world: World,
}

/// The choices of all runs.
pub(super) fn world(
    program: &dyn Program,
    model: &Model,
    unfolding: &Unfolding,
    finals: &[Place],
    total: bool,
    formula: &mut Formula<'_>,
) -> World {
    let frame = related(program, model, Frame { events: unfolding.events.clone(), ..Frame::default() });
    let none = || Pairs::new(frame.events.len());
    let (rf, co, fences, meetings) = (none(), none(), none(), none());
    let world = World {
        straight: unfolding.branches.len() == program.threads(),
        branches: Vec::new(),
        done: Vec::new(),
        compatible: Relation::default(),
        implied: Relation::default(),
        returns: SortedMap::new(),
        registers: Vec::new(),
        last: Vec::new(),
        finals: Vec::new(),
        frame,
        rf,
        co,
        fences,
        meetings,
    };
    let mut this = Builder { unfolding, formula, world };
    this.values();
    this.parts();
    this.sources();
    this.coherence(total);
    this.fences();
    this.meetings();
    this.registers(program.threads());
    this.finals(finals);
    this.world
}

impl Builder<'_, '_> {
    fn done(&self, event: usize) -> Bit {
        self.world.done[event]
    }

    /// Each read returns one value.
    fn values(&mut self) {
        for (read, values) in &self.unfolding.returns {
            let bits: Vec<Bit> = match values.len() {
                1 => vec![Bit::Yes],
                2 => {
                    let one = Bit::If(self.formula.fresh());
                    vec![one, !one]
                }
                _ => {
                    let bits: Vec<Bit> = values.iter().map(|_| Bit::If(self.formula.fresh())).collect();
                    self.formula.clause(bits.iter().copied());
                    self.formula.at_most_one(&bits);
                    bits
                }
            };
            self.world.returns.insert(*read, values.iter().copied().zip(bits).collect());
        }
    }

    fn returned(&self, read: usize, value: u64) -> Bit {
        let values = self.world.returns.get(&read);
        values.and_then(|all| all.iter().find(|(other, _)| *other == value)).map_or(Bit::No, |(_, bit)| *bit)
    }

    fn row(&self, row: &Row) -> Option<Term> {
        let bits: Vec<Bit> = row.0.iter().map(|(read, value)| self.returned(*read, *value)).collect();
        term(&bits)
    }

    /// Which parts of threads are done, and what of their events may be in one run.
    fn parts(&mut self) {
        let unfolding = self.unfolding;
        for branch in &unfolding.branches {
            let bit = match branch.before {
                None => Bit::Yes,
                Some((before, read, value)) => {
                    let bits = [self.world.branches[before], self.returned(read, value)];
                    self.formula.both(&bits, EXACT)
                }
            };
            if branch.end.as_ref().is_some_and(|end| *end != End::Done) {
                self.formula.forbid([bit]);
            }
            self.world.branches.push(bit);
        }
        let owners = &unfolding.owners;
        self.world.done = owners.iter().map(|owner| owner.map_or(Bit::Yes, |part| self.world.branches[part])).collect();
        // Whether a part is another one or leads to it.
        let leads = |one: usize, two: usize| {
            let mut at = Some(two);
            while let Some(part) = at.filter(|part| *part > one) {
                at = unfolding.branches[part].before.map(|(before, ..)| before);
            }
            at == Some(one)
        };
        let parts = unfolding.branches.len();
        let leading = Relation::matching(parts, leads);
        let len = unfolding.events.len();
        let thread = |part: usize| unfolding.branches[part].thread;
        self.world.compatible = Relation::matching(len, |a, b| match (owners[a], owners[b]) {
            (Some(a), Some(b)) => thread(a) != thread(b) || leading.contains(a, b) || leading.contains(b, a),
            _ => true,
        });
        self.world.implied = Relation::matching(len, |a, b| match (owners[a], owners[b]) {
            (Some(a), Some(b)) => leading.contains(b, a) || self.world.branches[b] == Bit::Yes,
            (None, Some(b)) => self.world.branches[b] == Bit::Yes,
            _ => true,
        });
        let (frame, compatible) = (&mut self.world.frame, &self.world.compatible);
        frame.relations.iter_mut().for_each(|relation| relation.keep(compatible));
        let others = [&mut frame.rf, &mut frame.co, &mut frame.begins, &mut frame.fences, &mut frame.near];
        others.into_iter().for_each(|relation| relation.keep(compatible));
        frame.meetings.keep(compatible);
        frame.dep.keep(compatible);
        frame.data.keep(compatible);
    }

    /// Each read reads what one write wrote.
    fn sources(&mut self) {
        let into = self.world.frame.rf.inverse();
        for read in self.unfolding.returns.keys().copied() {
            let mut sources = Vec::new();
            for write in into.from(read) {
                let rows = self.unfolding.writes.get(&write).map_or(&[][..], |rows| rows);
                if !rows.iter().any(|(_, value)| self.returned(read, *value) != Bit::No) {
                    continue;
                }
                let source = Bit::If(self.formula.fresh());
                self.formula.imply(&[source], self.done(write));
                self.formula.imply(&[source], self.done(read));
                for row in rows {
                    let Some(term) = self.row(row) else { continue };
                    let premises = term.iter().map(|lit| Bit::If(!*lit)).chain([!source]);
                    let conclusion = self.returned(read, row.1);
                    self.formula.clause(premises.chain([conclusion]));
                }
                self.world.rf.set(write, read, source);
                sources.push(source);
            }
            self.formula.at_most_one(&sources);
            sources.push(!self.done(read));
            self.formula.clause(sources);
        }
    }

    /// An order of pairs: no cycles, closed; one of each two pairs of `total`.
    fn order(&mut self, pairs: &Relation, total: &Relation) -> Pairs {
        let mut all = Pairs::new(pairs.events());
        for (a, b) in pairs.iter().filter(|(a, b)| a < b || !pairs.contains(*b, *a)) {
            let one = Bit::If(self.formula.fresh());
            all.set(a, b, one);
            if total.contains(a, b) && total.contains(b, a) {
                all.set(b, a, !one);
            } else if pairs.contains(b, a) {
                let other = Bit::If(self.formula.fresh());
                all.set(b, a, other);
                self.formula.forbid([one, other]);
            }
        }
        all
    }

    fn close(&mut self, all: &Pairs) {
        for (a, b, one) in all.iter() {
            for c in all.may.from(b).filter(|c| *c != a && self.world.compatible.contains(a, *c)) {
                self.formula.imply(&[one, all.get(b, c)], all.get(a, c));
            }
        }
    }

    fn coherence(&mut self, total: bool) {
        let frame = &self.world.frame;
        let mut pairs = frame.co.clone();
        pairs.take(&frame.begins);
        let begins = frame.begins.clone();
        let none = Relation::new(pairs.events());
        let mut all = self.order(&pairs, if total { &pairs } else { &none });
        begins.iter().for_each(|(a, b)| all.set(a, b, Bit::Yes));
        self.close(&all);
        self.world.co = all;
    }

    fn fences(&mut self) {
        let (pairs, near) = (self.world.frame.fences.clone(), self.world.frame.near.clone());
        let all = self.order(&pairs, &near);
        self.close(&all);
        self.world.fences = all;
    }

    /// Of arrivals at a barrier with a quorum, so many come first, or all if there are fewer.
    fn meetings(&mut self) {
        let mut first: SortedMap<usize, (usize, Bit)> = SortedMap::new();
        for (group, (quorum, list)) in self.world.frame.late.clone().into_iter().enumerate() {
            let quorum = usize::try_from(quorum).unwrap_or(usize::MAX);
            let bits: Vec<Bit> = list.iter().map(|_| Bit::If(self.formula.fresh())).collect();
            let done: Vec<Bit> = list.iter().map(|event| self.done(*event)).collect();
            bits.iter().zip(&done).for_each(|(bit, done)| self.formula.imply(&[*bit], *done));
            let (most, least) = (subsets(list.len(), quorum + 1), subsets(list.len() - 1, list.len() - quorum));
            most.iter().for_each(|some| self.formula.forbid(some.iter().map(|k| bits[*k])));
            for k in 0..list.len() {
                let others: Vec<Bit> = (0..list.len()).filter(|other| *other != k).map(|other| bits[other]).collect();
                for some in &least {
                    let coming = some.iter().map(|k| others[*k]);
                    self.formula.clause(coming.chain([bits[k], !done[k]]));
                }
            }
            first.extend(list.iter().copied().zip(bits.into_iter().map(|bit| (group, bit))));
        }
        let mut all = Pairs::fixed(self.world.frame.meetings.clone());
        for (a, b) in self.world.frame.meetings.iter() {
            if let (Some((one, bit)), Some((two, _))) = (first.get(&a), first.get(&b))
                && one == two
            {
                all.must.remove(a, b);
                all.set(a, b, *bit);
            }
        }
        self.world.meetings = all;
    }

    /// What the registers are that are asked about.
    fn registers(&mut self, threads: usize) {
        let unfolding = self.unfolding;
        for thread in 0..threads {
            let ends: Vec<usize> = (0..unfolding.branches.len())
                .filter(|part| {
                    let branch = &unfolding.branches[*part];
                    branch.thread == thread && branch.end == Some(End::Done)
                })
                .collect();
            let count = ends.first().map_or(0, |part| unfolding.branches[*part].registers.len());
            let mut all = Vec::new();
            for register in 0..count {
                let tables: Vec<_> =
                    ends.iter().map(|part| (*part, &unfolding.branches[*part].registers[register])).collect();
                let mut terms: SortedMap<u64, Vec<Term>> = SortedMap::new();
                for (part, row) in tables.iter().flat_map(|(part, rows)| rows.iter().map(move |row| (*part, row))) {
                    let Some(mut when) = self.row(row) else { continue };
                    match self.world.branches[part] {
                        Bit::No => continue,
                        Bit::Yes => {}
                        Bit::If(lit) => when.push(lit),
                    }
                    terms.entry(row.1).or_default().push(when);
                }
                let told = tables.iter().all(|(_, rows)| !rows.is_empty());
                let values = terms.into_iter().map(|(value, when)| (value, self.formula.some(when, UP)));
                let values: Values = values.collect();
                all.push(if told { values } else { Vec::new() });
            }
            self.world.registers.push(all);
        }
    }

    /// Last writes to the places that are asked about.
    fn finals(&mut self, places: &[Place]) {
        for place in places {
            let frame = &self.world.frame;
            let here = |write: &usize| {
                let event = frame.event(*write);
                event.kind == Kind::Write && event.place.is_some_and(|p| overlap(p, *place))
            };
            let writes: Vec<usize> = (0..frame.events.len()).filter(here).collect();
            let mut last = Vec::new();
            let mut terms: SortedMap<u64, Vec<Term>> = SortedMap::new();
            for write in writes {
                let this = self.formula.fresh();
                self.formula.imply(&[Bit::If(this)], self.world.done[write]);
                let later: Vec<usize> = self.world.co.may.from(write).collect();
                for later in later {
                    self.formula.forbid([Bit::If(this), self.world.co.get(write, later), self.world.done[later]]);
                }
                for row in self.unfolding.writes.get(&write).into_iter().flatten() {
                    if let Some(mut when) = self.row(row) {
                        when.push(this);
                        terms.entry(row.1).or_default().push(when);
                    }
                }
                last.push((write, Bit::If(this)));
            }
            let bits: Vec<Bit> = last.iter().map(|(_, bit)| *bit).collect();
            self.formula.at_most_one(&bits);
            self.formula.clause(bits);
            let values = terms.into_iter().map(|(value, when)| (value, self.formula.some(when, UP))).collect();
            self.world.finals.push(values);
            self.world.last.push(last);
        }
    }
}

/// All ways to take so many of the numbers below a number.
fn subsets(count: usize, size: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return if size == 0 { vec![Vec::new()] } else { Vec::new() } };
    let mut all = subsets(last, size);
    if let Some(rest) = size.checked_sub(1) {
        all.extend(subsets(last, rest).into_iter().map(|mut some| {
            some.push(last);
            some
        }));
    }
    all
}
