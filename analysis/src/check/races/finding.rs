//! What the checker found: each pair of instructions once, with the first of its races.

use super::history::Raced;
use crate::base::Pc;
use crate::base::sorted::SortedMap;
use crate::verdict::{Bug, BugKind, Inside, Stop, Unordered};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// A race, and how often it happened.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// Its first occurrence.
    pub bug: Bug,
    /// How often it happened, each location of an access counted.
    pub times: u64,
}

/// Volatile data that a thread stores and another one loads, and that nothing orders (D-unordered).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnorderedData {
    /// The store.
    pub store: Pc,
    /// The load.
    pub load: Pc,
    /// Whether the threads are of one block.
    pub near: bool,
    /// How often it happened.
    pub times: u64,
}

/// All findings of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    /// By kind and the two instructions, the lower address first.
    all: IndexMap<(bool, Pc, Pc), Finding, FxBuildHasher>,
    /// Volatile data that is read unordered: the store, the load, whether both are of one block.
    unordered: SortedMap<(Pc, Pc, bool), u64>,
    /// Whether the first one stops the run.
    pub stop: bool,
    /// Races that are hidden.
    pub benign: Benign,
}

/// Which races are no defects (`--benign`; D-race-benign).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Benign {
    /// None.
    None,
    /// Lanes of one instruction store the same value to the same bytes.
    #[default]
    Instruction,
    /// Both accesses are stores of the same value to the same bytes.
    SameValue,
}

impl Benign {
    /// Whether such a race is hidden.
    pub(super) fn hides(self, kind: &BugKind) -> bool {
        let BugKind::Race(race) = kind else { return false };
        match self {
            Self::None => false,
            Self::Instruction => race.same_value && race.cause == Unordered::SameInstruction,
            Self::SameValue => race.same_value,
        }
    }
}

/// An access that a new one conflicts with, unordered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    /// It and those alike.
    pub raced: Raced,
    /// A byte, or the first byte of a word, that both touch.
    pub byte: u64,
    /// Whether it lies in shared memory.
    pub shared: bool,
    /// What makes it a race with an asynchronous copy, if it is one.
    pub with_copy: Option<Unordered>,
}

impl Findings {
    /// Those to be told.
    pub fn shown(&self) -> impl Iterator<Item = &Finding> {
        self.all.values().filter(|f| !self.benign.hides(&f.bug.kind))
    }

    /// The others.
    pub fn hidden(&self) -> impl Iterator<Item = &Finding> {
        self.all.values().filter(|f| self.benign.hides(&f.bug.kind))
    }

    /// A load observed volatile data of a store that nothing orders before it.
    pub fn unordered(&mut self, store: Pc, load: Pc, near: bool) {
        *self.unordered.entry((store, load, near)).or_default() += 1;
    }

    /// See [`Races::unordered`](super::Races::unordered).
    pub fn all_unordered(&self) -> impl Iterator<Item = UnorderedData> {
        self.unordered.iter().map(|(&(store, load, near), &times)| UnorderedData { store, load, near, times })
    }

    /// Takes note of a race; `inside` says where it is.
    pub fn add(&mut self, mut bug: Bug, times: u64, inside: impl FnOnce() -> Option<Inside>) -> Result<(), Stop> {
        if self.stop {
            name(&mut bug.kind, inside());
            let hidden = self.benign.hides(&bug.kind);
            // The block that is stopped knows the calls, too: it completes a place without an entry.
            bug.place.entry.clear();
            return if hidden { Ok(()) } else { Err(Stop::Bug(Box::new(bug))) };
        }
        let first = bug.other.as_ref().map_or(bug.place.pc, |o| o.pc);
        let race = matches!(bug.kind, BugKind::Race(_));
        let key = (race, first.min(bug.place.pc), first.max(bug.place.pc));
        let Some(known) = self.all.get_mut(&key) else {
            name(&mut bug.kind, inside());
            self.all.insert(key, Finding { bug, times });
            return Ok(());
        };
        known.times += times;
        // The occurrence of the widest scope stands for the pair, since what orders that one orders all; and a pair whose
        // values differ once is no benign pair.
        let (BugKind::Race(new), BugKind::Race(old)) = (&mut bug.kind, &mut known.bug.kind) else { return Ok(()) };
        let same = new.same_value && old.same_value;
        let better = new.cause > old.cause || new.cause == old.cause && old.same_value && !new.same_value;
        (new.same_value, old.same_value) = (same, same);
        if better {
            name(&mut bug.kind, inside());
            known.bug = bug;
        }
        Ok(())
    }
}

fn name(kind: &mut BugKind, at: Option<Inside>) {
    match kind {
        BugKind::Race(race) => race.inside = at,
        BugKind::LaneDecides { inside, .. } => *inside = at,
        _ => {}
    }
}
