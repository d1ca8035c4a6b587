//! The state in sections: what each warp has in flight with the mutexes that it has, the pool, and memory.
//!
//! Whom the pool has refused is left out: it asks again. Which warp has a mutex is in the warp's section, that somebody has it in
//! the pool's.

use super::Mutexed;
use super::wavefront::{Instruction, Wavefront};
use crate::memory::lockstep::{Asker, Entry, Pool, Status};
use crate::memory::{Part, Snapshot, snapshot};
use crate::verdict::Who;
use std::collections::VecDeque;

/// What a warp has in flight, as it is saved.
type Saved = (Vec<u32>, Vec<u32>, Option<Instruction>, Option<Instruction>, VecDeque<Instruction>, bool);

impl Mutexed {
    fn save_wavefront(&self, who: Who, out: &mut Vec<u8>) {
        if let Some(w) = self.wavefronts.of(who) {
            let of = |wanted| {
                let all = w.gmm.vector().iter().filter(move |(_, status)| *status == wanted);
                all.map(|(entry, _)| entry.0).collect::<Vec<u32>>()
            };
            let (has, asks) = (of(Status::Acquired), of(Status::Requested));
            snapshot::put(&(has, asks, &w.current, &w.shared, &w.stores, w.begun), out);
        }
    }

    fn load_wavefront(&mut self, who: Who, mut from: &[u8]) {
        let (slot, _) = self.wavefronts.take_of(who);
        let mut w = Wavefront::new(who);
        if let Some((has, asks, current, shared, stores, begun)) = snapshot::take::<Saved>(&mut from) {
            for entry in has.into_iter().map(Entry) {
                w.gmm.want(entry);
                w.gmm.acquired(entry);
            }
            asks.into_iter().for_each(|entry| _ = w.gmm.want(Entry(entry)));
            stores.iter().flat_map(|store| &store.parts).for_each(|_| w.gmm.store_issued());
            (w.current, w.shared, w.stores, w.begun) = (current, shared, stores, begun);
        }
        self.wavefronts.put(slot, w, self.hash);
    }
}

impl Snapshot for Mutexed {
    fn sections(&self) -> u32 {
        1 + self.arena.sections()
    }

    fn changed(&mut self, out: &mut Vec<u32>) {
        if std::mem::take(&mut self.pool_changed) {
            out.push(0);
        }
        let first = out.len();
        self.arena.changed(out);
        out[first..].iter_mut().for_each(|section| *section += 1);
    }

    fn save(&self, part: Part, out: &mut Vec<u8>) {
        match part {
            Part::Warp(who) => self.save_wavefront(who, out),
            Part::Shared(0) => self.pool.slots().taken().for_each(|entry| snapshot::put(&entry.0, out)),
            Part::Shared(section) => self.arena.save(Part::Shared(section - 1), out),
            Part::Heap => self.arena.save(part, out),
        }
    }

    fn load(&mut self, part: Part, mut from: &[u8]) {
        match part {
            Part::Warp(who) => self.load_wavefront(who, from),
            Part::Shared(0) => {
                self.pool = Pool::default();
                while let Some(entry) = snapshot::take(&mut from) {
                    self.pool.ask(Entry(entry), Asker::Wavefront);
                }
            }
            Part::Shared(section) => self.arena.load(Part::Shared(section - 1), from),
            Part::Heap => self.arena.load(part, from),
        }
    }
}
