//! The state of memory with caches in sections: what each warp has in flight, each set of each cache, the locked banks, and
//! memory behind the caches.
//!
//! An operation's number is the lowest that was free, which depends on the order in which others came and went. So a pin
//! names its operation by warp and place in the warp's queue, and the operations of a queue that is put back take the
//! numbers of those that were at their places: lines whose sections are the same are pinned by the same operations then.

use super::cache::{Name, OpIdx};
use super::engine::Fermi;
use super::operation::{Blocked, Operation, Queue};
use crate::memory::{Part, Snapshot, snapshot};
use crate::verdict::Who;

/// The name of no operation: its line stays pinned.
const ENDED: u32 = u32::MAX;

impl Snapshot for Fermi {
    fn sections(&self) -> u32 {
        1 + self.all_sets() + self.env.arena.sections()
    }

    fn changed(&mut self, out: &mut Vec<u32>) {
        let (sets, chunks) = (self.all_sets(), self.env.arena.sections());
        out.push(0);
        let mut first = 1;
        for cache in self.env.caches_mut() {
            cache.take_changed(|set| out.push(first + set));
            first += cache.shape().sets;
        }
        out.extend(1 + sets..1 + sets + chunks);
    }

    fn save(&self, part: Part, out: &mut Vec<u8>) {
        match part {
            Part::Heap => self.env.arena.save(part, out),
            Part::Warp(who) => self.save_queue(who, out),
            Part::Shared(0) => {
                if self.env.sms.iter().any(|sm| sm.locked != 0) {
                    self.env.sms.iter().for_each(|sm| snapshot::put(&sm.locked, out));
                }
            }
            Part::Shared(section) => match self.set_at(section - 1) {
                Ok((processor, set)) => {
                    self.env.cache(processor).into_iter().for_each(|cache| cache.save(set, |pin| self.name(pin), out));
                }
                Err(chunk) => self.env.arena.save(Part::Shared(chunk), out),
            },
        }
    }

    fn load(&mut self, part: Part, mut from: &[u8]) {
        match part {
            Part::Heap => self.env.arena.load(part, from),
            Part::Warp(who) => self.load_queue(who, from),
            Part::Shared(0) => {
                self.env.sms.iter_mut().for_each(|sm| sm.locked = snapshot::take(&mut from).unwrap_or(0));
            }
            Part::Shared(section) => {
                let place = self.set_at(section - 1);
                let Self { env, queues, .. } = self;
                let numbered = |(who, place): Name| {
                    let operation = queues.get(&who).and_then(|q| q.operations.get(place as usize));
                    OpIdx(operation.copied().unwrap_or(ENDED))
                };
                match place {
                    Ok((processor, set)) => {
                        env.cache_mut(processor).into_iter().for_each(|cache| cache.load(set, numbered, from));
                    }
                    Err(chunk) => env.arena.load(Part::Shared(chunk), from),
                }
            }
        }
    }
}

impl Fermi {
    /// Sets of all caches.
    fn all_sets(&self) -> u32 {
        self.env.caches().map(|c| c.shape().sets).sum()
    }

    /// The multiprocessor of whose L1 a set among all is, none for the L2, and which set it is there; or how far it is behind
    /// the last.
    fn set_at(&self, mut set: u32) -> Result<(Option<u32>, u32), u32> {
        let processors = std::iter::once(None).chain((0..).map(Some));
        for (processor, cache) in processors.zip(self.env.caches()) {
            match set.checked_sub(cache.shape().sets) {
                None => return Ok((processor, set)),
                Some(rest) => set = rest,
            }
        }
        Err(set)
    }

    fn name(&self, pin: OpIdx) -> Name {
        let named = || {
            let who = self.operations.get(pin.0)?.issued.issuer.who;
            let place = self.queues.get(&who)?.operations.iter().position(|k| *k == pin.0)?;
            Some((who, u32::try_from(place).ok()?))
        };
        named().unwrap_or((Who::default(), ENDED))
    }

    fn save_queue(&self, who: Who, out: &mut Vec<u8>) {
        let Some(Queue { operations, board, .. }) = self.queues.get(&who) else { return };
        snapshot::put(&operations.len(), out);
        operations.iter().filter_map(|k| self.operations.get(*k)).for_each(|operation| snapshot::put(operation, out));
        for blocked in board {
            let place = operations.iter().position(|k| *k == blocked.operation);
            snapshot::put(&(place, blocked), out);
        }
    }

    fn load_queue(&mut self, who: Who, mut from: &[u8]) {
        let mut numbers = self.queues.remove(&who).unwrap_or_default().operations.into_iter();
        self.operations.stalled.retain(|s| !numbers.as_slice().contains(&s.operation));
        let count: usize = snapshot::take(&mut from).unwrap_or(0);
        for operation in (0..count).map_while(|_| snapshot::take::<Operation>(&mut from)) {
            self.enter(operation, numbers.next());
        }
        numbers.for_each(|k| {
            self.operations.take(k);
            self.operations.free(k);
        });
        let Some(Queue { operations, board, .. }) = self.queues.get_mut(&who) else { return };
        while let Some((place, blocked)) = snapshot::take::<(Option<usize>, Blocked)>(&mut from) {
            let operation = place.and_then(|place| operations.get(place)).copied().unwrap_or(ENDED);
            board.push(Blocked { operation, ..blocked });
        }
    }
}
