//! Steps that are known from before.
//!
//! What a warp's step does depends on its own state, its block's barriers and shared memory, and on device memory, not on
//! where all other warps stand. A state space is made of few such parts in very many combinations; so what a step does is
//! found once for each combination of the parts that it can depend on, and looked up in all states that share them
//! (D-search-memo; S. Blom, J. van de Pol, M. Weber, "Bridging the Gap between Enumerative and Symbolic Model Checkers", 2009:
//! transition caching).

use super::journal::At;
use super::store::Content;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Steps that are remembered before it is asked whether that pays.
const TRIAL: u64 = 1 << 15;

/// What a step can depend on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    /// The number of memory.
    pub memory: u128,
    pub warp: Content,
    pub block: Content,
    /// The launch, and which blocks have been issued.
    pub head: Content,
    /// The place of the warp.
    pub at: At,
    pub lanes: u32,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(super) struct Effect {
    /// What is added to the number of the state.
    pub delta: u128,
    /// The number of memory afterwards.
    pub memory: u128,
    pub changes: SmallVec<[(At, Content); 4]>,
    /// Instructions executed.
    pub used: u32,
}

/// The steps that are known.
#[derive(Default)]
pub(super) struct Memo {
    known: FxHashMap<Key, Effect>,
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
        let effect = self.known.get(key);
        match effect {
            Some(_) => self.found += 1,
            None => self.missed += 1,
        }
        effect
    }

    /// Remembers a step. Where hardly any is met again, none are remembered, not to fill memory in vain.
    pub fn learn(&mut self, key: Key, effect: Effect) {
        self.off |= self.missed >= TRIAL && self.found < self.missed;
        if self.off {
            self.known = FxHashMap::default();
        } else {
            self.known.insert(key, effect);
        }
    }

    /// How many bytes this takes, about.
    pub fn held(&self) -> usize {
        self.known.capacity() * (size_of::<(Key, Effect)>() + 1)
    }
}
