//! Which states have been seen, by their numbers, for one search or for several threads of one.
//!
//! A search asks this once for each step, in an order that no cache foresees, so that a question should wait for memory
//! once: open addressing, with 96 bits made of a state's number beside its place in 16 bytes, which lie in one line of the
//! cache. These bits also say where an entry goes when the table grows, so that nothing but the table is read then.
//!
//! Threads that share a table insert by compare-and-swap of an entry's first word; who finds that word taken by what may be
//! its own state waits for the second one. Nothing is ever taken out, so that all who look for a state look at the same
//! entries in the same order (A. Laarman, J. van de Pol, M. Weber, "Boosting Multi-Core Reachability Performance with Shared
//! Hash Tables", 2010). A table grows when nobody else holds it.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Entries of a table at first, as a power of two.
const FIRST: u32 = 9;

/// Bytes that the system hands out at once, at least.
const PAGE: usize = 4096;

/// Half of a state's number; then the rest of 96 bits above the number of its place from 1 on. Zeros: nothing.
type Entry = [AtomicU64; 2];

/// The table.
#[derive(Debug)]
pub(super) struct Slots {
    entries: Vec<Entry>,
    /// How far the first word is shifted to the right, to say where its search begins.
    shift: u32,
}

impl Default for Slots {
    fn default() -> Self {
        Self::with(FIRST)
    }
}

/// The 96 bits: the first word, which is not 0, and the upper half of the second.
const fn bits(number: u128) -> (u64, u64) {
    let (low, high) = (number as u64, (number >> 64) as u64);
    (if low == 0 { 1 } else { low }, (high ^ high << 32) & !0 << 32)
}

impl Slots {
    /// Room for a power of two of states, half of which may come.
    pub fn with(power: u32) -> Self {
        let mut entries: Vec<Entry> = (0..1_usize << power).map(|_| Entry::default()).collect();
        // Memory that is zero and was never written is one page that all share. To read it first and write it then, as a
        // table does that grows, takes two faults, and the second one interrupts all other threads.
        for page in black_box(&mut entries).chunks_mut(PAGE / size_of::<Entry>()) {
            page[0] = Entry::default();
        }
        Self { entries, shift: u64::BITS - power }
    }

    /// The state with a number; else `fresh` is, from now on. Tells whether it is new.
    pub fn find_or_insert(&self, number: u128, fresh: u32) -> (u32, bool) {
        let (first, second) = bits(number);
        let last = self.entries.len() - 1;
        let mut at = (first >> self.shift) as usize;
        loop {
            let [one, other] = &self.entries[at & last];
            let mut found = one.load(Relaxed);
            if found == 0 {
                match one.compare_exchange(0, first, Relaxed, Relaxed) {
                    Ok(_) => {
                        other.store(second | (u64::from(fresh) + 1), Release);
                        return (fresh, true);
                    }
                    Err(taken) => found = taken,
                }
            }
            if found == first {
                let rest = settled(other);
                if rest & !0 << 32 == second {
                    return ((rest as u32).wrapping_sub(1), false);
                }
            }
            at += 1;
        }
    }

    /// The state with a number, if it was seen.
    pub fn find(&self, number: u128) -> Option<u32> {
        let (first, second) = bits(number);
        let last = self.entries.len() - 1;
        let mut at = (first >> self.shift) as usize;
        // There are always entries that are nothing.
        loop {
            let [one, other] = &self.entries[at & last];
            match one.load(Relaxed) {
                0 => return None,
                found if found == first => {
                    let rest = settled(other);
                    if rest & !0 << 32 == second {
                        return Some((rest as u32).wrapping_sub(1));
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Appends the states with some numbers, those that were seen: the entries where they begin are asked for first, so that memory
    /// is waited for once for all.
    pub fn find_all(&self, numbers: &[u128], found: &mut Vec<Option<u32>>) {
        let last = self.entries.len() - 1;
        for number in numbers {
            let start = (bits(*number).0 >> self.shift) as usize;
            black_box(self.entries[start & last][0].load(Relaxed));
        }
        found.extend(numbers.iter().map(|number| self.find(*number)));
    }

    /// How many states it takes before it is to grow.
    pub const fn room(&self) -> usize {
        self.entries.len() / 8 * 5
    }

    /// Twice as many entries. They are in the order of their first words nearly, so that both tables are gone through in order.
    pub fn grow(&mut self) {
        let power = u64::BITS - self.shift + 1;
        let before = std::mem::replace(&mut self.entries, Self::with(power).entries);
        self.shift = u64::BITS - power;
        let last = self.entries.len() - 1;
        for [one, other] in before {
            let (first, second) = (one.into_inner(), other.into_inner());
            if first == 0 {
                continue;
            }
            let mut at = (first >> self.shift) as usize;
            while *self.entries[at & last][0].get_mut() != 0 {
                at += 1;
            }
            self.entries[at & last] = [first.into(), second.into()];
        }
    }

    /// Bytes that it grows by when so many states more than `used` are inserted.
    pub const fn grows(&self, used: usize, more: usize) -> usize {
        if used + more > self.room() { self.bytes() * 2 } else { 0 }
    }

    /// Bytes that it takes.
    pub const fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }
}

/// The second word of an entry, which follows the first one at once.
fn settled(word: &AtomicU64) -> u64 {
    loop {
        let found = word.load(Acquire);
        if found != 0 {
            return found;
        }
        spin_loop();
    }
}

impl Clone for Slots {
    fn clone(&self) -> Self {
        let entry = |[one, other]: &Entry| [one.load(Relaxed).into(), other.load(Relaxed).into()];
        Self { entries: self.entries.iter().map(entry).collect(), shift: self.shift }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    /// Numbers with equal halves, neighbours, and the last place, from which a search goes on at the first.
    fn number(state: u32) -> u128 {
        let high = u128::from(state.wrapping_mul(0x9e37_79b9)) << 64;
        match state % 4 {
            0 => high | u128::from(u64::from(state).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            1 => high | 7,
            2 => high | u128::from(u64::MAX),
            _ => high,
        }
    }

    #[test]
    fn what_was_inserted_is_found_while_the_table_grows() {
        let mut table = Slots::default();
        let count = 3000;
        for state in 0..count {
            assert_eq!(table.find(number(state)), None);
            assert_eq!(table.find_or_insert(number(state), state), (state, true));
            assert_eq!(table.find_or_insert(number(state), count), (state, false));
            if state as usize >= table.room() {
                table.grow();
            }
        }
        assert!((0..count).all(|state| table.find(number(state)) == Some(state)));
    }

    #[test]
    fn a_state_is_new_to_one_of_many_threads() {
        let table = Slots::with(13);
        let (count, new) = (4000, AtomicU32::new(0));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (table, new) = (&table, &new);
                scope.spawn(move || {
                    for k in 0..count {
                        let state = if thread % 2 == 0 { k } else { count - 1 - k };
                        let (_, first) = table.find_or_insert(number(state), state * 4 + thread);
                        new.fetch_add(first.into(), Relaxed);
                    }
                });
            }
        });
        assert_eq!(new.into_inner(), count);
        assert!((0..count).all(|state| table.find(number(state)).is_some_and(|found| found / 4 == state)));
    }
}
