//! What lockstep sequential consistency costs in messages (Puthoor and Lipasti, "Systems-on-Chip with Strong Ordering", 2021,
//! section 9.2): what figure 17 counts, not how long anything takes.
//!
//! Mutexes are the engine's (`--memory lsc-mutex`): it says what its wavefronts ask the pool. Beside it a model of the caches of
//! Table 1 goes along, for traffic only: values never depend on it, and it is no part of any state. Blocks are dealt to its compute
//! units in turn (D-lsc-ptx-units). First-level caches (GL1), one for each unit, and the second-level cache (GL2) are written through, and their lines are valid or not. A
//! [`Directory`] at the GL2 says which GL1s may have a line: these are sent invalidations of it when another one's store is
//! written through. Evictions are not silent, and every sixteenth of a set carries the set's recalculated hash (section 6.1).

mod cache;
mod directory;

use crate::verdict::{Event, Needs, Sink, Stop, Traffic, Who};
use cache::Cache;
use directory::{Directory, HASHES};
use fixedbitset::FixedBitSet;
use serde::Serialize;
use std::sync::Arc;

/// The caches (Table 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hardware {
    /// Compute units.
    pub units: u32,
    /// Bytes of a line.
    pub line: u32,
    /// Bytes of a first-level cache, of which each compute unit has one.
    pub gl1_bytes: u32,
    /// Lines of one of its sets.
    pub gl1_ways: u32,
    /// Bytes of the second-level cache.
    pub gl2_bytes: u32,
    /// Lines of one of its sets.
    pub gl2_ways: u32,
    /// Every so many evictions from a set of a first-level cache the recalculated hash is sent.
    pub rehash_every: u32,
}

impl Default for Hardware {
    fn default() -> Self {
        Self {
            units: 8,
            line: 64,
            gl1_bytes: 16 << 10,
            gl1_ways: 64,
            gl2_bytes: 512 << 10,
            gl2_ways: 16,
            rehash_every: 16,
        }
    }
}

/// Messages that were counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counters {
    /// Requests for mutexes that were sent to the pool; each is answered.
    pub mutex_requests: u64,
    /// Mutexes that were wanted and already in the wavefront's vector, so that no request was sent.
    pub mutex_hits: u64,
    /// Requests that the pool refused.
    pub mutex_refusals: u64,
    /// Mutexes that were given back.
    pub mutex_releases: u64,
    /// Coalesced loads.
    pub loads: u64,
    /// Those of them that found their line in the GL1.
    pub gl1_hits: u64,
    /// Those that did not, and found it in the GL2.
    pub gl2_hits: u64,
    /// Coalesced stores, which are written through.
    pub stores: u64,
    /// Coalesced atomic operations.
    pub atomics: u64,
    /// Lines evicted from GL1s, each told to the GL2 and acknowledged.
    pub evictions: u64,
    /// Those of these messages that carried a recalculated hash.
    pub rehashes: u64,
    /// Invalidations that the GL2 sent to GL1s, each acknowledged.
    pub invalidations: u64,
    /// Those of them for a line that the GL1 did not have: the directory took it for a sharer.
    pub false_invalidations: u64,
    /// Lines evicted from the GL2.
    pub gl2_evictions: u64,
}

/// Bytes on the way between compute units, caches, the directory and the pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bandwidth {
    /// What is sent without lockstep sequential consistency, too: loads that miss, what is written through, and answers.
    pub baseline: u64,
    /// Requests for mutexes, answers and releases.
    pub mutex: u64,
    /// Evictions and their acknowledgements.
    pub eviction: u64,
    /// Invalidations and their acknowledgements.
    pub invalidation: u64,
    /// Recalculated hashes.
    pub rehash: u64,
}

/// Bytes of a message that carries neither data nor a hash (D-lsc-ptx-bytes).
const HEADER: u64 = 8;

impl Counters {
    /// The bytes of all these messages, where a line has so many.
    #[must_use]
    pub fn bandwidth(&self, line: u32) -> Bandwidth {
        let there_and_back = |n: u64| 2 * HEADER * n;
        let fetched = [self.loads - self.gl1_hits, self.loads - self.gl1_hits - self.gl2_hits];
        let written = self.stores + self.atomics;
        let data = u64::from(line);
        Bandwidth {
            // From the GL1 to the GL2 and from there to memory; what is written goes both ways.
            baseline: fetched.iter().chain([&written, &written]).map(|n| there_and_back(*n) + data * n).sum(),
            mutex: there_and_back(self.mutex_requests) + HEADER * self.mutex_releases,
            eviction: there_and_back(self.evictions),
            invalidation: there_and_back(self.invalidations),
            rehash: 8 * HASHES as u64 * self.rehashes,
        }
    }
}

/// A first-level cache and how many lines each of its sets has evicted since it sent a hash.
#[derive(Clone, PartialEq, Eq, Debug)]
struct First {
    cache: Cache,
    evicted: Vec<u32>,
}

/// Counts the messages of runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Costs {
    hardware: Hardware,
    counters: Counters,
    /// By compute unit.
    gl1: Vec<First>,
    gl2: Cache,
    directory: Directory,
}

impl Default for Costs {
    fn default() -> Self {
        Self::new(Hardware::default())
    }
}

impl Costs {
    /// Nothing has been sent, and the caches are empty.
    #[must_use]
    pub fn new(hardware: Hardware) -> Self {
        let Hardware { line, gl2_bytes, gl2_ways, .. } = hardware;
        let directory = Directory::new(Self::first(hardware).cache.sets());
        let gl2 = Cache::new(gl2_bytes, gl2_ways, line);
        Self { hardware, counters: Counters::default(), gl1: Vec::new(), gl2, directory }
    }

    /// What was counted so far.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The bytes of that.
    #[must_use]
    pub fn bandwidth(&self) -> Bandwidth {
        self.counters.bandwidth(self.hardware.line)
    }

    fn first(hardware: Hardware) -> First {
        let Hardware { line, gl1_bytes, gl1_ways, .. } = hardware;
        let cache = Cache::new(gl1_bytes, gl1_ways, line);
        let evicted = vec![0; cache.sets()];
        First { cache, evicted }
    }

    /// The cache of a compute unit.
    fn gl1(&mut self, unit: u32) -> &mut First {
        let (at, hardware) = (unit as usize, self.hardware);
        if self.gl1.len() <= at {
            self.gl1.resize_with(at + 1, || Self::first(hardware));
        }
        &mut self.gl1[at]
    }

    /// Takes note of something that was sent from a compute unit.
    pub fn note(&mut self, unit: u32, traffic: Traffic) {
        match traffic {
            Traffic::Request { granted, .. } => {
                self.counters.mutex_requests += 1;
                self.counters.mutex_refusals += u64::from(!granted);
            }
            Traffic::Hit { .. } => self.counters.mutex_hits += 1,
            Traffic::Release { .. } => self.counters.mutex_releases += 1,
            Traffic::Load { line } => self.load(unit, line),
            Traffic::Store { line } => {
                self.counters.stores += 1;
                self.gl1(unit).cache.touch(line);
                self.write_through(unit, line);
            }
            Traffic::Atomic { line } => {
                self.counters.atomics += 1;
                // It is performed behind the cache, which would keep what was there before.
                self.gl1(unit).cache.remove(line);
                self.write_through(unit, line);
            }
        }
    }

    fn load(&mut self, unit: u32, line: u64) {
        self.counters.loads += 1;
        if self.gl1(unit).cache.touch(line) {
            self.counters.gl1_hits += 1;
            return;
        }
        if self.gl2.touch(line) {
            self.counters.gl2_hits += 1;
        } else {
            self.counters.gl2_evictions += u64::from(self.gl2.fill(line).is_some());
        }
        let set = self.gl1(unit).cache.set(line);
        if self.gl1(unit).cache.fill(line).is_some() {
            self.evicted(unit, set, line);
        }
        self.directory.fill(unit as usize, set, line);
    }

    /// A line was evicted from a set, into which `line` came.
    fn evicted(&mut self, unit: u32, set: usize, line: u64) {
        self.counters.evictions += 1;
        let every = self.hardware.rehash_every;
        let First { cache, evicted } = self.gl1(unit);
        evicted[set] += 1;
        if evicted[set] < every {
            return;
        }
        evicted[set] = 0;
        let rest: Vec<u64> = cache.lines(set).iter().copied().filter(|l| *l != line).collect();
        self.counters.rehashes += 1;
        self.directory.rehash(unit as usize, set, &rest);
    }

    /// A line is written through: whoever else may have it is sent an invalidation.
    fn write_through(&mut self, writer: u32, line: u64) {
        self.gl2.touch(line);
        let set = self.gl1(writer).cache.set(line);
        let others: Vec<usize> = self.directory.sharers(set, line).filter(|c| *c != writer as usize).collect();
        for cache in others {
            self.counters.invalidations += 1;
            let had = self.gl1.get_mut(cache).is_some_and(|first| first.cache.remove(line));
            self.counters.false_invalidations += u64::from(!had);
        }
    }
}

impl Sink for Costs {
    const ON: bool = true;
    const FRUGAL: bool = true;

    fn needs(&self) -> Needs {
        Needs {
            steps: Some(Arc::new(FixedBitSet::new())),
            rules: false,
            quiet: Arc::default(),
            rows: false,
            barriers: true,
        }
    }

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        if let Event::Traffic(traffic) = event {
            let unit = who.block % u64::from(self.hardware.units.max(1));
            self.note(u32::try_from(unit).unwrap_or(0), traffic);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of one set: with the sizes of Table 1 a GL1 has four.
    fn line_of_set_0(n: u64) -> u64 {
        4 * n
    }

    fn loads(costs: &mut Costs, unit: u32, lines: impl Iterator<Item = u64>) {
        lines.for_each(|line| costs.note(unit, Traffic::Load { line }));
    }

    #[test]
    fn every_sixteenth_eviction_of_a_set_carries_the_hash() {
        let mut costs = Costs::default();
        loads(&mut costs, 0, (0..64).map(line_of_set_0));
        assert_eq!((costs.counters.evictions, costs.counters.loads, costs.counters.gl1_hits), (0, 64, 0));
        loads(&mut costs, 0, (64..64 + 15).map(line_of_set_0));
        assert_eq!((costs.counters.evictions, costs.counters.rehashes), (15, 0));
        // Fifteen of another set are of no account.
        loads(&mut costs, 0, (0..64 + 15).map(|n| line_of_set_0(n) + 1));
        assert_eq!((costs.counters.evictions, costs.counters.rehashes), (30, 0));
        loads(&mut costs, 0, (79..81).map(line_of_set_0));
        assert_eq!((costs.counters.evictions, costs.counters.rehashes), (32, 1));
    }

    #[test]
    fn a_store_invalidates_what_others_have() {
        let mut costs = Costs::default();
        for unit in 0..3 {
            loads(&mut costs, unit, [5, 6].into_iter());
        }
        assert_eq!((costs.counters.gl2_hits, costs.counters.gl1_hits), (4, 0));
        costs.note(0, Traffic::Store { line: 5 });
        assert_eq!((costs.counters.invalidations, costs.counters.false_invalidations), (2, 0));
        // The writer has the line still, the others must fetch it.
        for unit in 0..3 {
            loads(&mut costs, unit, [5].into_iter());
        }
        assert_eq!((costs.counters.gl1_hits, costs.counters.gl2_hits), (1, 6));
        // An atomic operation leaves nobody a copy.
        costs.note(0, Traffic::Atomic { line: 5 });
        assert_eq!((costs.counters.invalidations, costs.counters.false_invalidations), (4, 0));
        loads(&mut costs, 0, [5].into_iter());
        assert_eq!((costs.counters.gl1_hits, costs.counters.atomics), (1, 1));
    }

    #[test]
    fn a_line_that_was_evicted_is_invalidated_in_vain_until_the_hash_is_sent() {
        let mut costs = Costs::default();
        loads(&mut costs, 1, (0..65).map(line_of_set_0));
        costs.note(0, Traffic::Store { line: line_of_set_0(0) });
        assert_eq!((costs.counters.invalidations, costs.counters.false_invalidations), (1, 1));
        let sizes = Hardware { rehash_every: 1, gl1_ways: 2, gl1_bytes: 128, ..Hardware::default() };
        let mut costs = Costs::new(sizes);
        loads(&mut costs, 1, 0..3);
        costs.note(0, Traffic::Store { line: 0 });
        assert_eq!((costs.counters.rehashes, costs.counters.invalidations), (1, 0));
        costs.note(0, Traffic::Store { line: 2 });
        assert_eq!((costs.counters.invalidations, costs.counters.false_invalidations), (1, 0));
    }

    #[test]
    fn bytes_are_of_messages_and_their_answers() {
        let counters = Counters {
            mutex_requests: 3,
            mutex_releases: 2,
            loads: 4,
            gl1_hits: 1,
            gl2_hits: 2,
            stores: 1,
            evictions: 5,
            rehashes: 1,
            invalidations: 2,
            ..Counters::default()
        };
        let Bandwidth { baseline, mutex, eviction, invalidation, rehash } = counters.bandwidth(64);
        assert_eq!((baseline, mutex, eviction, invalidation, rehash), (6 * 80, 3 * 16 + 2 * 8, 80, 32, 40));
    }
}
