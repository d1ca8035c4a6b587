//! What is known of the choices that make an execution, and what follows from what they are.

use super::frame::{Choice, Frame};
use super::relation::{Relation, Set};
use crate::base::mutant::{Mutant, on};

/// No choice is left that would satisfy all axioms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Conflict;

/// What is known of a choice.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Interval {
    /// Its pairs.
    pub(super) must: Relation,
    /// Pairs that it may have, those of `must` among them.
    pub(super) may: Relation,
}

impl Interval {
    /// Whether a pair is open.
    pub(super) fn open(&self, a: usize, b: usize) -> bool {
        self.may.contains(a, b) && !self.must.contains(a, b)
    }

    /// Adds a pair.
    pub(super) fn fix(&mut self, a: usize, b: usize) -> Result<(), Conflict> {
        if !self.may.contains(a, b) {
            return Err(Conflict);
        }
        self.must.insert(a, b);
        Ok(())
    }

    /// Leaves a pair out.
    pub(super) fn drop(&mut self, a: usize, b: usize) -> Result<(), Conflict> {
        if self.must.contains(a, b) {
            return Err(Conflict);
        }
        self.may.remove(a, b);
        Ok(())
    }

    pub(super) fn check(&self) -> Result<(), Conflict> {
        if self.must.within(&self.may) { Ok(()) } else { Err(Conflict) }
    }
}

/// What is known of all choices.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Choices {
    pub(super) rf: Interval,
    pub(super) co: Interval,
    pub(super) fences: Interval,
    pub(super) meetings: Interval,
}

impl Choices {
    /// Nothing is chosen yet.
    pub(super) fn of(frame: &Frame) -> Self {
        let none = Relation::new(frame.len());
        let open = |may: &Relation| Interval { must: none.clone(), may: may.clone() };
        let mut all = Self {
            rf: open(&frame.rf),
            co: open(&frame.co),
            fences: open(&frame.fences),
            meetings: open(&frame.meetings),
        };
        all.co.must = frame.begins.clone();
        all.meetings.must = frame.meetings.clone();
        for list in frame.late.iter().map(|(_, list)| list) {
            let all_of_them = Set::of(frame.len(), list.iter().copied());
            all.meetings.must.take(&Relation::product(&all_of_them, &all_of_them));
        }
        all
    }

    /// A sum that changes whenever they do: choices only ever gain certain pairs and lose possible ones.
    pub(super) fn sum(&self) -> [u128; 2] {
        let all = [&self.rf, &self.co, &self.fences, &self.meetings];
        [all.iter().map(|it| it.must.sum()).sum(), all.iter().map(|it| it.may.sum()).sum()]
    }

    pub(super) const fn get(&self, choice: Choice) -> &Interval {
        match choice {
            Choice::Rf => &self.rf,
            Choice::Co => &self.co,
            Choice::Fences => &self.fences,
            Choice::Meetings => &self.meetings,
        }
    }

    pub(super) const fn get_mut(&mut self, choice: Choice) -> &mut Interval {
        match choice {
            Choice::Rf => &mut self.rf,
            Choice::Co => &mut self.co,
            Choice::Fences => &mut self.fences,
            Choice::Meetings => &mut self.meetings,
        }
    }

    /// What follows from what the choices are: reads have one source, orders no cycles, a total one leaves no pair out.
    pub(super) fn settle(&mut self, frame: &Frame, total: bool) -> Result<(), Conflict> {
        self.settle_rf(frame)?;
        let co = &mut self.co;
        co.must = co.must.plus();
        order(co, &co.must.clone(), total.then_some(&frame.co))?;
        let closure = self.fences.must.plus();
        order(&mut self.fences, &closure, Some(&frame.near))?;
        self.meetings.check()
    }

    fn settle_rf(&mut self, frame: &Frame) -> Result<(), Conflict> {
        // Nothing is done, and no place accessed, because of itself, whatever the model says (D-thin-air).
        let mut causes = frame.dep.clone();
        causes.add(&self.rf.must);
        let causes = causes.plus();
        if causes.reflexive().next().is_some() {
            return Err(Conflict);
        }
        self.rf.may.take(&causes.inverse());
        if !frame.data.is_empty() {
            // Nor because of a value that depends on itself alone.
            let mut values = causes;
            values.add(&frame.data);
            let values = values.plus();
            let alone: Vec<usize> = values.reflexive().collect();
            let caused = |read: usize| alone.iter().any(|value| *value == read || values.contains(*value, read));
            if !alone.is_empty() && frame.dep.domain().iter().any(caused) {
                return Err(Conflict);
            }
        }
        let (must, may) = (self.rf.must.inverse(), self.rf.may.inverse());
        for read in frame.rf.range().iter() {
            let mut chosen = must.from(read);
            if let Some(write) = chosen.next() {
                if chosen.next().is_some() {
                    return Err(Conflict);
                }
                let others: Vec<usize> = may.from(read).filter(|other| *other != write).collect();
                others.into_iter().for_each(|other| self.rf.may.remove(other, read));
            } else if !frame.open {
                let mut left = may.from(read);
                let only = left.next().ok_or(Conflict)?;
                let others = left.next().is_some();
                if others && on(Mutant::SourceLost) {
                    self.rf.may.remove(only, read);
                } else if !others {
                    self.rf.must.insert(only, read);
                }
            }
        }
        self.rf.check()
    }
}

/// What follows in an order: `closure` is what is so already; one of each two pairs of `total` is chosen.
fn order(it: &mut Interval, closure: &Relation, total: Option<&Relation>) -> Result<(), Conflict> {
    if closure.reflexive().next().is_some() {
        return Err(Conflict);
    }
    it.may.take(&closure.inverse());
    if let Some(total) = total {
        for (a, b) in total.iter() {
            if !it.may.contains(b, a) && !it.must.contains(a, b) {
                it.fix(a, b)?;
            }
        }
    }
    it.check()
}
