//! Relations whose pairs are literals, between static bounds: pairs outside the upper one have no literal, those of the lower one need
//! none (section 6.2 of the paper). A set is the relation that has its events with themselves.
//!
//! A pair says what is so where both of its events are done. So what is known of events alone needs no literals though they may not be
//! done; whoever passes an event in the middle adds that it is done.

use super::cnf::Bit;
use crate::axiom::relation::Relation;
use batsat::Lit;
use rustc_hash::FxHashMap;

/// A relation in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// The lower bound.
    pub(super) must: Relation,
    /// The upper bound.
    pub(super) may: Relation,
    /// What the others depend on.
    lits: FxHashMap<(usize, usize), Lit>,
}

impl Pairs {
    pub(super) fn new(len: usize) -> Self {
        Self::fixed(Relation::new(len))
    }

    /// A relation that nothing changes.
    pub(super) fn fixed(relation: Relation) -> Self {
        Self { must: relation.clone(), may: relation, lits: FxHashMap::default() }
    }

    /// Whether nothing changes it.
    pub(super) fn is_fixed(&self) -> bool {
        self.lits.is_empty()
    }

    pub(super) fn get(&self, a: usize, b: usize) -> Bit {
        if self.must.contains(a, b) {
            return Bit::Yes;
        }
        self.lits.get(&(a, b)).map_or(Bit::No, |lit| Bit::If(*lit))
    }

    pub(super) fn set(&mut self, a: usize, b: usize, bit: Bit) {
        match bit {
            Bit::No => {}
            Bit::Yes => {
                self.must.insert(a, b);
                self.may.insert(a, b);
                self.lits.remove(&(a, b));
            }
            Bit::If(lit) => {
                self.may.insert(a, b);
                self.lits.insert((a, b), lit);
            }
        }
    }

    /// Pairs that it may have, with what they depend on, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, usize, Bit)> {
        self.may.iter().map(|(a, b)| (a, b, self.get(a, b)))
    }

    /// Every pair the other way round.
    pub(super) fn inverse(&self) -> Self {
        let lits = self.lits.iter().map(|((a, b), lit)| ((*b, *a), *lit)).collect();
        Self { must: self.must.inverse(), may: self.may.inverse(), lits }
    }
}
