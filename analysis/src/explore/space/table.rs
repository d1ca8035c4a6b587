//! Which states have been seen, by their numbers.
//!
//! A search asks this once for each step, in an order that no cache foresees, so that a question should wait for memory
//! once: open addressing with half of a state's hash beside its place in one word. Half of the hash also says where a
//! word goes when the table grows, so that nothing but the table is read then.

/// Words that a table has at first, as a power of two.
const FIRST: u32 = 10;

/// The words of the table: 0, or half a hash above the number of a state from 1 on.
#[derive(Clone, Debug)]
pub(in crate::explore) struct Table {
    words: Vec<u64>,
    used: usize,
    /// How far the half of a hash is shifted to the right, to say where its search begins.
    shift: u32,
}

impl Default for Table {
    fn default() -> Self {
        Self { words: vec![0; 1 << FIRST], used: 0, shift: u32::BITS - FIRST }
    }
}

impl Table {
    /// Forgets all states, and keeps the room for some.
    pub fn clear(&mut self) {
        let words = self.words.len().min(1 << FIRST);
        self.words.truncate(words);
        self.words.fill(0);
        (self.used, self.shift) = (0, u32::BITS - words.trailing_zeros());
    }

    /// The state with a hash for which `is` holds; else `fresh` comes to where it was looked for.
    pub fn find_or_insert(&mut self, hash: u32, fresh: u32, is: impl Fn(u32) -> bool) -> u32 {
        let at = match self.find(hash, is) {
            Ok(state) => return state,
            Err(at) => at,
        };
        self.words[at] = word(hash, fresh);
        self.used += 1;
        if self.used * 3 > self.words.len() * 2 {
            self.grow();
        }
        fresh
    }

    /// The state with a hash for which `is` holds; else the empty word at which the search for it ended.
    pub fn find(&self, hash: u32, is: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let last = self.words.len() - 1;
        let mut at = (hash >> self.shift) as usize;
        loop {
            let found = self.words[at & last];
            if found == 0 {
                return Err(at & last);
            }
            let state = (found as u32).wrapping_sub(1);
            if (found >> 32) as u32 == hash && is(state) {
                return Ok(state);
            }
            at += 1;
        }
    }

    /// Twice as many words. They are in the order of their hashes nearly, so that both tables are gone through in order.
    fn grow(&mut self) {
        // Half a hash names no more places; from there on searches become longer.
        self.shift = self.shift.saturating_sub(1);
        let before = std::mem::take(&mut self.words);
        self.words = vec![0; before.len() * 2];
        for found in before.into_iter().filter(|w| *w != 0) {
            if let Err(at) = self.find((found >> 32) as u32, |_| false) {
                self.words[at] = found;
            }
        }
    }

    /// Bytes that it grows by when so many more are inserted.
    pub const fn grows(&self, more: usize) -> usize {
        if (self.used + more) * 3 > self.words.len() * 2 { self.bytes() * 2 } else { 0 }
    }

    /// Bytes that it takes.
    pub const fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }
}

const fn word(hash: u32, state: u32) -> u64 {
    (hash as u64) << 32 | (state as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_inserted_is_found_while_the_table_grows() {
        let mut table = Table::default();
        // Neighbours, equal halves, and the last place, from which a search goes on at the first.
        let hash = |state: u32| match state % 3 {
            0 => state.wrapping_mul(0x9e37_79b9),
            1 => 7,
            _ => u32::MAX - state % 5,
        };
        let count = 3000;
        for state in 0..count {
            assert_eq!(table.find_or_insert(hash(state), state, |s| s == state), state);
            assert_eq!(table.find_or_insert(hash(state), count, |s| s == state), state);
        }
        assert!((0..count).all(|state| table.find(hash(state), |s| s == state) == Ok(state)));
        assert!(table.find(7, |s| s == count).is_err());
        assert!(table.used == count as usize && table.words.iter().filter(|w| **w != 0).count() == table.used);
        table.clear();
        assert!((0..count).all(|state| table.find(hash(state), |s| s == state).is_err()));
        assert_eq!(table.find_or_insert(hash(5), 0, |_| false), 0);
        assert_eq!(table.find(hash(5), |s| s == 0), Ok(0));
    }
}
