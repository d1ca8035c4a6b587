//! The wavefronts that have something in flight, and the numbers of their steps.

use super::wavefront::Wavefront;
use crate::memory::lockstep::{Hash, Pool, Slots};
use crate::verdict::Who;
use rustc_hash::FxHashMap;

/// All wavefronts. A slot has 64 numbers ([`Wavefront::steps`]), and a word of those that a run may make now.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Wavefronts {
    slots: Vec<Option<Wavefront>>,
    ready: Vec<u64>,
    places: FxHashMap<Who, u32>,
    /// Parts that are left.
    live: usize,
    /// The slots of those that the pool has refused.
    refused: Vec<u32>,
}

impl Wavefronts {
    /// The wavefront of a warp.
    pub fn of(&self, who: Who) -> Option<&Wavefront> {
        self.at(self.place(who)?)
    }

    /// The wavefront of a slot.
    fn at(&self, slot: u32) -> Option<&Wavefront> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// The slot of a warp.
    pub fn place(&self, who: Who) -> Option<u32> {
        self.places.get(&who).copied()
    }

    /// Takes a wavefront out, to be changed and [put](Wavefronts::put) back.
    pub fn take(&mut self, slot: u32) -> Option<Wavefront> {
        let wavefront = self.slots.get_mut(slot as usize)?.take()?;
        self.live -= wavefront.left();
        self.ready[slot as usize] = 0;
        self.places.remove(&wavefront.who);
        self.refused.retain(|s| *s != slot);
        Some(wavefront)
    }

    /// Takes out that of a warp; a new one where there is none.
    pub fn take_of(&mut self, who: Who) -> (u32, Wavefront) {
        let slot = self.place(who);
        let taken = slot.and_then(|slot| Some((slot, self.take(slot)?)));
        taken.unwrap_or_else(|| (self.free(), Wavefront::new(who)))
    }

    fn free(&self) -> u32 {
        let slot = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        u32::try_from(slot).unwrap_or(u32::MAX)
    }

    /// Puts a wavefront back; one without anything in flight goes.
    pub fn put(&mut self, slot: u32, wavefront: Wavefront, hash: Hash) {
        let at = slot as usize;
        if !wavefront.idle() {
            if self.slots.len() <= at {
                self.slots.resize_with(at + 1, || None);
                self.ready.resize(at + 1, 0);
            }
            self.live += wavefront.left();
            self.ready[at] = wavefront.offers(hash);
            self.places.insert(wavefront.who, slot);
            if !wavefront.refused.is_empty() {
                self.refused.push(slot);
            }
            self.slots[at] = Some(wavefront);
        }
        // Equal states compare equal, however many slots there once were.
        while self.slots.last().is_some_and(Option::is_none) {
            self.slots.pop();
            self.ready.pop();
        }
    }

    /// Mutexes have been given back: whoever was refused one that is free now may ask again.
    pub fn given_back<S: Slots>(&mut self, hash: Hash, pool: &Pool<S>) {
        let Self { slots, ready, refused, .. } = self;
        refused.retain(|slot| {
            let at = *slot as usize;
            let Some(wavefront) = slots.get_mut(at).and_then(Option::as_mut) else { return false };
            let before = wavefront.refused.len();
            wavefront.refused.retain(|entry| pool.slots().is_taken(*entry));
            if wavefront.refused.len() != before {
                ready[at] = wavefront.offers(hash);
            }
            !wavefront.refused.is_empty()
        });
    }

    /// The steps that a run may make, as a bitset over their numbers.
    pub fn ready(&self) -> &[u64] {
        &self.ready
    }

    /// How many parts of instructions are left.
    pub const fn len(&self) -> usize {
        self.live
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Wavefront> {
        self.slots.iter().flatten()
    }
}
