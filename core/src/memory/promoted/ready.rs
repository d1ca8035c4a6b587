//! Who can go on: lanes of instructions, and what the environment may do, by number.
//!
//! A lane that is blocked is set aside until something happens that it may have waited for. That is no part of the state: whether it
//! can go on is what the rules say.

use super::caches::{Group, Thread, Unit};
use crate::base::LANES;
use std::collections::BTreeMap;

/// What a blocked lane waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Wait {
    /// An entry of its block's cache.
    Entry(Group, Unit),
    /// Its markers.
    Markers(Thread),
    /// A lock.
    Lock,
}

/// What a number stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Numbered {
    /// A lane of the instruction in a slot.
    Lane(usize, usize),
    /// A dirty entry is flushed: its number.
    Flush(u32),
    /// An entry is fetched.
    Fetch(u32),
}

/// Numbers of two words: 32 lanes of each of two instructions, then two transitions of each of 32 entries.
const PAIR: u32 = 128;

impl Numbered {
    pub fn number(self) -> u32 {
        let small = |n: usize| u32::try_from(n).unwrap_or(0);
        let entry = |e: u32, kind: u32| (e / 32).saturating_mul(PAIR) + 64 + 2 * (e % 32) + kind;
        match self {
            Self::Lane(slot, lane) => small(slot / 2) * PAIR + small(slot % 2 * LANES + lane),
            Self::Flush(e) => entry(e, 0),
            Self::Fetch(e) => entry(e, 1),
        }
    }

    pub const fn of(number: u32) -> Self {
        let (pair, within) = (number / PAIR, number % PAIR);
        match within.checked_sub(64) {
            None => Self::Lane((pair * 2 + within / 32) as usize, (within % 32) as usize),
            Some(k) if k % 2 == 0 => Self::Flush(pair * 32 + k / 2),
            Some(k) => Self::Fetch(pair * 32 + k / 2),
        }
    }
}

/// The numbers that may be used now, and who was set aside.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Ready {
    words: Vec<u64>,
    aside: BTreeMap<Wait, Vec<(usize, usize)>>,
}

impl Ready {
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub fn set(&mut self, what: Numbered, ready: bool) {
        let number = what.number() as usize;
        let (word, bit) = (number / 64, 1 << (number % 64));
        if ready && self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        if let Some(word) = self.words.get_mut(word) {
            *word = if ready { *word | bit } else { *word & !bit };
        }
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }

    pub fn wait(&mut self, lane: (usize, usize), waits: Wait) {
        let list = self.aside.entry(waits).or_default();
        if !list.contains(&lane) {
            list.push(lane);
        }
    }

    /// Those who waited for something.
    pub fn waited(&mut self, waits: Wait) -> Vec<(usize, usize)> {
        self.aside.remove(&waits).unwrap_or_default()
    }

    pub fn clear(&mut self) {
        self.words.clear();
        self.aside.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::Numbered;

    #[test]
    fn a_number_stands_for_one_thing() {
        let lanes = (0..5).flat_map(|slot| (0..32).map(move |lane| Numbered::Lane(slot, lane)));
        let entries = (0..70).flat_map(|e| [Numbered::Flush(e), Numbered::Fetch(e)]);
        let all: Vec<Numbered> = lanes.chain(entries).collect();
        let mut numbers: Vec<u32> = all.iter().map(|n| n.number()).collect();
        assert!(all.iter().zip(&numbers).all(|(what, number)| Numbered::of(*number) == *what));
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), all.len());
    }
}
