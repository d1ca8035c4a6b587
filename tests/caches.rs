//! Caches against an independent model: every sequence of operations on small caches, byte by byte.
//!
//! The model knows for each byte the value that was written last. Whatever a cache and the memory behind it do, a byte's
//! value is the cache's if it has one, else the memory's, and that is the value written last.

use indexmap::IndexSet;
use std::collections::BTreeMap;
use warpstep::memory::fermi::cache::{
    ByteMask, Bytes, Cache, DeviceSpace, Effect, EvClass, Flow, Geometry, LineKey, OpIdx, Reserve, Room, bits,
};
use warpstep::verdict::Who;

const LINE: u64 = 2;

/// What one operation is doing, as a memory program would.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
enum Op {
    #[default]
    Idle,
    /// Has reserved a line.
    Reserved(u64, ByteMask),
    /// Has read these bytes behind the cache.
    Fetched(u64, Bytes),
    /// Has brought them in, and will read.
    Reading(u64, ByteMask),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct World {
    cache: Cache,
    memory: BTreeMap<u64, u8>,
    /// The value of each byte that was written last.
    newest: BTreeMap<u64, u8>,
    ops: [Op; 2],
}

fn key(line: u64) -> LineKey {
    LineKey { space: DeviceSpace::Global, owner: Who::default(), base: line * LINE }
}

/// What is tried: the lines, the masks, whether a miss fetches the whole line.
struct Setup {
    shape: Geometry,
    lines: u64,
    whole: bool,
    depth: usize,
}

type Check<T> = Result<T, String>;

impl World {
    fn new(setup: &Setup) -> Self {
        let memory: BTreeMap<u64, u8> = (0..setup.lines * LINE).map(|a| (a, 10 + a as u8)).collect();
        Self { cache: Cache::new(setup.shape), newest: memory.clone(), memory, ops: Default::default() }
    }

    fn bytes_behind(&self, line: u64, mask: ByteMask) -> Bytes {
        let mut bytes = Bytes::NONE;
        bits(mask).for_each(|at| bytes.set(at, self.memory[&(line * LINE + at as u64)]));
        bytes
    }

    /// The model's answer: the cache's valid byte, else memory's.
    fn visible(&self, address: u64) -> u8 {
        let line = self.cache.line(key(address / LINE));
        line.and_then(|l| l.bytes.get((address % LINE) as usize)).unwrap_or(self.memory[&address])
    }

    /// What must hold in every state.
    fn check(&self, shape: Geometry) -> Check<()> {
        for (address, newest) in &self.newest {
            let seen = self.visible(*address);
            if seen != *newest {
                return Err(format!("byte {address} is {seen}, {newest} was written last"));
            }
        }
        for line in self.cache.lines() {
            if line.dirty & !line.valid() != 0 || line.fill & line.valid() != 0 {
                return Err(format!("masks contradict each other: {line:?}"));
            }
            let holder = |op: &Op| matches!(op, Op::Reserved(l, _) | Op::Fetched(l, _) | Op::Reading(l, _) if key(*l) == line.key);
            for (k, op) in self.ops.iter().enumerate() {
                let pinned = line.pins.contains(&OpIdx(k as u32));
                if pinned && !holder(op) {
                    return Err(format!("operation {k} pins {line:?} for nothing"));
                }
            }
        }
        for (k, op) in self.ops.iter().enumerate() {
            if let Op::Reserved(l, _) | Op::Fetched(l, _) = op
                && !self.cache.line(key(*l)).is_some_and(|line| line.pins.contains(&OpIdx(k as u32)))
            {
                return Err(format!("the line that operation {k} reserved is gone"));
            }
        }
        for set in 0..u64::from(shape.sets) {
            let used = self.cache.lines().filter(|l| l.key.base / LINE % u64::from(shape.sets) == set).count();
            if used > shape.ways as usize {
                return Err(format!("set {set} has {used} lines"));
            }
        }
        Ok(())
    }

    /// The lines that may make room for a line; `None` alone where no choice is to be made.
    fn victims(&self, line: u64) -> Vec<Option<LineKey>> {
        match self.cache.room(key(line)) {
            Room::Evict(list) => list.into_iter().map(Some).collect(),
            _ => vec![None],
        }
    }

    /// Every state that one step leads to.
    fn next(&self, setup: &Setup) -> Check<Vec<Self>> {
        let mut all = Vec::new();
        let masks: [ByteMask; 3] = [1, 2, 3];
        for line in 0..setup.lines {
            for victim in self.victims(line) {
                for mask in masks {
                    let mut value = Bytes::NONE;
                    bits(mask).for_each(|at| value.set(at, 1));
                    let mut w = self.clone();
                    if w.cache.write(key(line), &value, victim).flow == Flow::Done {
                        bits(mask).for_each(|at| _ = w.newest.insert(line * LINE + at as u64, 1));
                        all.push(w);
                    }
                }
                all.extend(self.reserves(setup, line, victim)?);
            }
            for mask in masks {
                let mut w = self.clone();
                if w.cache.discard(key(line), mask).flow == Flow::Done {
                    // What was not written back is gone: these bytes are memory's again, and no others.
                    for at in bits(mask) {
                        let address = line * LINE + at as u64;
                        w.newest.insert(address, w.memory[&address]);
                    }
                    all.push(w);
                }
            }
            let mut w = self.clone();
            if w.cache.evict(key(line)).flow == Flow::Done {
                all.push(w);
            }
            let mut w = self.clone();
            if w.cache.classify(key(line), EvClass::First).is_some() {
                all.push(w);
            }
        }
        for dirty in self.cache.dirty() {
            let mut w = self.clone();
            let bytes = w.cache.dirty_bytes(dirty);
            bits(bytes.mask()).for_each(|at| _ = w.memory.insert(dirty.base + at as u64, bytes.data()[at]));
            w.cache.clean(dirty, !0);
            all.push(w);
        }
        for victim in self.cache.evictable() {
            let mut w = self.clone();
            w.cache.evict(victim);
            all.push(w);
        }
        for k in 0..2 {
            all.extend(self.advance(k)?);
        }
        Ok(all)
    }

    fn reserves(&self, setup: &Setup, line: u64, victim: Option<LineKey>) -> Check<Vec<Self>> {
        let mut all = Vec::new();
        for (k, mask) in [(0, 1), (1, 2)] {
            if self.ops[k] != Op::Idle {
                continue;
            }
            let fill = if setup.whole { 3 } else { mask };
            let mut w = self.clone();
            if w.cache.is_cached(key(line), mask) {
                w.ops[k] = Op::Reading(line, mask);
                all.push(w);
                continue;
            }
            let asked = Reserve { key: key(line), mask, fill, op: OpIdx(k as u32), again: false };
            match w.cache.reserve(asked, victim) {
                Some(Effect { flow: Flow::Done, .. }) => {
                    w.ops[k] = Op::Reserved(line, fill);
                    all.push(w);
                }
                Some(_) => {}
                None => return Err("reserve of an uncached address is undefined".to_owned()),
            }
        }
        Ok(all)
    }

    /// The next step of an operation that fetches or reads.
    fn advance(&self, k: usize) -> Check<Option<Self>> {
        let mut w = self.clone();
        match self.ops[k].clone() {
            Op::Idle => return Ok(None),
            Op::Reserved(line, fill) => w.ops[k] = Op::Fetched(line, self.bytes_behind(line, fill)),
            Op::Fetched(line, bytes) => {
                w.cache.update(key(line), &bytes).ok_or("update of a reserved line is undefined")?;
                w.ops[k] = Op::Reading(line, bytes.mask());
            }
            Op::Reading(line, mask) => {
                let mut value = Bytes::NONE;
                match w.cache.read(key(line), mask, OpIdx(k as u32), &mut value) {
                    Some(Effect { flow: Flow::Done, .. }) => {
                        for at in bits(mask) {
                            let (seen, newest) = (value.data()[at], w.newest[&(line * LINE + at as u64)]);
                            if seen != newest {
                                return Err(format!(
                                    "byte {at} of line {line} reads {seen}, {newest} was written last"
                                ));
                            }
                        }
                        w.ops[k] = Op::Idle;
                    }
                    Some(_) => {}
                    // The line was evicted, or bytes of it discarded, between the query and the read: programs ask and
                    // read in one micro step.
                    None => w.ops[k] = Op::Idle,
                }
            }
        }
        Ok(Some(w))
    }
}

/// All states within some steps; the number of them, or what is wrong in one.
fn explore(setup: &Setup) -> Check<usize> {
    let start = World::new(setup);
    start.check(setup.shape)?;
    let mut seen: IndexSet<World> = IndexSet::from([start.clone()]);
    let mut front = vec![start];
    for _ in 0..setup.depth {
        let mut next = Vec::new();
        for world in &front {
            for after in world.next(setup)? {
                if seen.contains(&after) {
                    continue;
                }
                after.check(setup.shape)?;
                seen.insert(after.clone());
                next.push(after);
            }
        }
        front = next;
    }
    Ok(seen.len())
}

fn setups() -> [Setup; 4] {
    let shape = |sets, ways| Geometry { sets, ways, line: LINE as u32 };
    [
        Setup { shape: shape(1, 1), lines: 2, whole: true, depth: 6 },
        Setup { shape: shape(1, 1), lines: 2, whole: false, depth: 6 },
        Setup { shape: shape(1, 2), lines: 3, whole: true, depth: 5 },
        Setup { shape: shape(2, 1), lines: 3, whole: false, depth: 5 },
    ]
}

/// Lines of class `first` are evicted before others; dirty and pinned ones never (D-cache).
fn victims() -> Check<()> {
    let mut cache = Cache::new(Geometry { sets: 1, ways: 4, line: LINE as u32 });
    for line in 0..4 {
        let asked = Reserve { key: key(line), mask: 1, fill: 1, op: OpIdx(0), again: false };
        cache.reserve(asked, None).ok_or("reserve")?;
        if line != 3 {
            let mut bytes = Bytes::NONE;
            bytes.set(0, 0);
            cache.update(key(line), &bytes).ok_or("update")?;
            cache.read(key(line), 1, OpIdx(0), &mut bytes).ok_or("read")?;
        }
    }
    let mut offered = Vec::new();
    for class in [EvClass::Normal, EvClass::First] {
        cache.classify(key(1), class).ok_or("classify")?;
        match cache.room(key(9)) {
            Room::Evict(list) => offered.push(list.iter().map(|k| k.base / LINE).collect::<Vec<_>>()),
            other => return Err(format!("{other:?}")),
        }
    }
    let wanted = [vec![0, 1, 2], vec![1]];
    if offered == wanted { Ok(()) } else { Err(format!("{offered:?} may be evicted, expected {wanted:?}")) }
}

#[test]
fn no_write_is_lost_and_no_old_value_is_read() {
    for setup in setups() {
        let states = explore(&setup).unwrap_or_else(|e| panic!("{e}"));
        assert!(states > 1000, "{states}");
    }
    victims().unwrap();
}

#[cfg(feature = "mutants")]
pub mod mutants {
    use super::*;
    use warpstep::base::mutant::{Mutant, select};

    pub fn are_noticed() {
        for mutant in [
            Mutant::LineWideDiscard,
            Mutant::UnpinnedFill,
            Mutant::WholeLineWriteBack,
            Mutant::UpdateOverwrites,
            Mutant::EvictDirty,
            Mutant::EvictPinned,
            Mutant::WriteStaysClean,
            Mutant::ReadKeepsPin,
            Mutant::SetOverflows,
            Mutant::ClassIgnored,
        ] {
            select(Some(mutant));
            let noticed = victims().is_err() || setups().iter().any(|setup| explore(setup).is_err());
            select(None);
            assert!(noticed, "{}", mutant.name());
        }
    }
}
