//! Steps that are known from before.
//!
//! What a warp's step does depends on its own state, its block's barriers and shared memory, and on device memory, not on
//! where all other warps stand. A state space is made of few such parts in very many combinations; so what a step does is
//! found once for each combination of the parts that it can depend on, and looked up in all states that share them
//! (D-search-memo; S. Blom, J. van de Pol, M. Weber, "Bridging the Gap between Enumerative and Symbolic Model Checkers", 2009:
//! transition caching).

use super::store::{At, Content};
use crate::base::LaneMask;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// Unknown steps between two questions whether to remember them pays. A search meets its first combinations of parts once
/// each, however often it meets them later: of a lock's on split memory one in 30 was known when 32,768 had not been, one in
/// five after 131,072, and half of all after 262,144.
const TRIAL: u64 = 1 << 17;

/// Remembering pays where one step in so many is known: making one takes thousands of instructions, looking it up some
/// hundred.
const WORTH: u64 = 8;

/// Added to the place of a warp whose operation makes a micro step.
pub(super) const OPERATION: At = 1 << 30;

/// The places of the operations of a warp that can go on, with the lanes that issued them.
pub(super) type Movables = SmallVec<[(u32, LaneMask); 2]>;

/// What a step can depend on, in as few words as it fits in: one is made for every step of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Key([u64; 3]);

impl Key {
    /// Of a step in a memory, of a warp in a block. `head`: the launch, which blocks have been issued, and how many are resident;
    /// `who`: the place of the warp, and whether its lanes step or what it has in flight ([`OPERATION`]), or silent rules;
    /// `which`: the lanes, the place of the operation, or that of the rule.
    pub fn of(memory: u32, [warp, block, head]: [Content; 3], who: At, which: u32) -> Self {
        let both = |a: u32, b: u32| u64::from(a) << 32 | u64::from(b);
        Self([both(memory, warp.0), both(block.0, head.0), both(who, which)])
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.iter().for_each(|word| hasher.write_u64(*word));
    }
}

/// What a step does.
#[derive(Clone)]
pub(super) struct Effect {
    /// What is added to the number of the state.
    pub delta: u128,
    pub changes: SmallVec<[(At, Content); 2]>,
    /// Which memory it is afterwards.
    pub memory: u32,
    /// Instructions executed.
    pub used: u32,
    /// The block is complete by it: what its other warps were, which differs from state to state, is taken from the number
    /// of the state, too.
    pub completes: bool,
}

/// The steps that are known.
#[derive(Default)]
pub(super) struct Memo {
    /// Their places among the effects: a table of small entries stays in the processor's caches.
    known: FxHashMap<Key, u32>,
    effects: Vec<Effect>,
    /// The operations that can go on, by what their warp is and which memory it is.
    movable: FxHashMap<(Content, u32), Movables>,
    /// How many silent rules may fire, by which memory it is.
    silent: FxHashMap<u32, u32>,
    /// Steps since the last question that were known, and that were not.
    found: u64,
    missed: u64,
    /// Nothing is remembered any more.
    off: bool,
}

impl Memo {
    /// What a step does, if it is known.
    pub fn get(&mut self, key: &Key) -> Option<&Effect> {
        if self.off {
            return None;
        }
        let Some(place) = self.known.get(key) else {
            self.missed += 1;
            return None;
        };
        self.found += 1;
        self.effects.get(*place as usize)
    }

    /// What a step does, if it is known, for who may not make it: one that is not is counted when it is made.
    pub fn foresee(&mut self, key: &Key) -> Option<&Effect> {
        let place = self.known.get(key)?;
        self.found += 1;
        self.effects.get(*place as usize)
    }

    /// Remembers a step. Where hardly any is met again, none are remembered, not to fill memory in vain.
    pub fn learn(&mut self, key: Key, effect: Effect) {
        if self.missed >= TRIAL {
            self.off = self.found < self.missed / WORTH;
            (self.found, self.missed) = (0, 0);
        }
        if self.off {
            *self = Self { off: true, ..Self::default() };
        } else {
            let fresh = u32::try_from(self.effects.len()).unwrap_or(u32::MAX);
            self.known.insert(key, fresh);
            self.effects.push(effect);
        }
    }

    /// The operations of a warp that can go on, if they are known.
    pub fn movable(&self, of: (Content, u32)) -> Option<&Movables> {
        self.movable.get(&of)
    }

    /// They were found.
    pub fn learn_movable(&mut self, of: (Content, u32), found: Movables) {
        if !self.off {
            self.movable.insert(of, found);
        }
    }

    /// How many silent rules may fire, if it is known.
    pub fn silent(&self, memory: u32) -> Option<u32> {
        self.silent.get(&memory).copied()
    }

    /// They were counted.
    pub fn learn_silent(&mut self, memory: u32, count: u32) {
        if !self.off {
            self.silent.insert(memory, count);
        }
    }

    /// Bytes that the tables grow by when so many more steps are known.
    pub fn grows(&self, more: usize) -> usize {
        let twice = |len, full, size| if len + more > full { 2 * full * size } else { 0 };
        twice(self.known.len(), self.known.capacity(), size_of::<(Key, u32)>() + 1)
            + twice(self.effects.len(), self.effects.capacity(), size_of::<Effect>())
    }

    /// How many bytes this takes, about.
    pub fn held(&self) -> usize {
        let tables = self.known.capacity() * (size_of::<(Key, u32)>() + 1)
            + self.movable.capacity() * (size_of::<((Content, u32), Movables)>() + 1)
            + self.silent.capacity() * (size_of::<(u32, u32)>() + 1);
        tables + self.effects.capacity() * size_of::<Effect>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_comes_to_take_was_foreseen() {
        let mut memo = Memo::default();
        for k in 0..10_000 {
            let key = Key::of(k, [Content(k), Content(0), Content(0)], 0, 0);
            let (changes, foreseen) = (SmallVec::new(), memo.held() + memo.grows(1));
            memo.learn(key, Effect { delta: 0, changes, memory: k, used: 1, completes: false });
            // The smallest tables do not double.
            assert!(k < 100 || memo.held() <= foreseen, "{k}: {} of {foreseen}", memo.held());
        }
    }
}
