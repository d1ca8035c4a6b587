//! The state in sections: what each warp has in flight, all caches and locks, and device memory.

use super::Promoted;
use super::caches::Caches;
use crate::memory::{Part, Snapshot, snapshot};

impl Snapshot for Promoted {
    fn sections(&self) -> u32 {
        1 + self.arena.sections()
    }

    fn changed(&mut self, out: &mut Vec<u32>) {
        out.push(0);
        out.extend(1..self.sections());
    }

    fn save(&self, part: Part, out: &mut Vec<u8>) {
        match part {
            Part::Heap => self.arena.save(part, out),
            Part::Warp(who) => self.pending.save(who, out),
            Part::Shared(0) => snapshot::put(&self.caches, out),
            Part::Shared(k) => self.arena.save(Part::Shared(k - 1), out),
        }
    }

    fn load(&mut self, part: Part, mut from: &[u8]) {
        match part {
            Part::Heap => self.arena.load(part, from),
            Part::Warp(who) => self.pending.load(who, from),
            Part::Shared(0) => {
                self.caches = snapshot::take::<Caches>(&mut from).unwrap_or_default();
                self.caches.recount();
            }
            Part::Shared(k) => self.arena.load(Part::Shared(k - 1), from),
        }
        self.walked = true;
    }
}
