//! What happens on the way round a cycle of states: who executes which instructions, what is read, what is written.

use crate::base::{LANES, LaneMask, Pc, lanes_of};
use crate::machine::walk::State;
use crate::program::env::ProgEnv;
use crate::verdict::{Access, AccessKind, Event, Place, Sink, Stop, Who};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What some lanes did on their own, in all ways in which they can.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Deeds {
    /// The bytes that they accessed, and whether one of them changed it. What ends the search is not among them: it left the
    /// cycle.
    pub bytes: BTreeMap<Location, bool>,
    /// The blocks in which they arrived at barriers or exchanged values.
    pub meets: BTreeSet<u64>,
    /// They did what all others notice: blocks began, memory was made, lanes stepped that were not known.
    pub more: bool,
    /// Some of their runs end, or wait, without having left the cycle.
    pub ends: bool,
}

/// A lane: block, warp, lane.
pub(super) type LaneId = (u64, u32, u32);

/// A location: the block whose shared memory it belongs to, and the generic address.
pub(super) type Location = (Option<u64>, u64);

/// Reads of a location.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Reads {
    /// The most bytes that are read at once.
    pub bytes: u32,
    /// The values read.
    pub values: BTreeSet<u64>,
    /// Who reads, and by which instruction.
    pub by: BTreeSet<(LaneId, Pc)>,
}

/// A write, before it takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Write {
    pub lane: LaneId,
    pub pc: Pc,
    pub at: Location,
    pub bytes: u32,
    /// An atomic operation, which may leave things as they are.
    pub atomic: bool,
}

/// What happens on the way round.
pub(super) struct Circle {
    /// The instructions of each lane that runs.
    pub runs: BTreeMap<LaneId, BTreeSet<Pc>>,
    /// The locations of global and shared memory that are read.
    pub reads: BTreeMap<Location, Reads>,
    /// Stores in the cycle. An atomic operation reads what an earlier one left, in one round or the next.
    pub stores: BTreeSet<(Location, u32)>,
    /// Whether lanes meet others in it, at barriers or to exchange values.
    pub meets: bool,
    /// Whether atomic operations take effect later than they are told of: whether they change anything is not known.
    guesses: bool,
    /// First address of the shared window and its size.
    window: (u64, u64),
}

impl Circle {
    /// Nothing yet.
    pub fn new(env: &Arc<ProgEnv>) -> Self {
        let map = env.addresses();
        Self {
            runs: BTreeMap::new(),
            reads: BTreeMap::new(),
            stores: BTreeSet::new(),
            meets: false,
            guesses: false,
            window: (map.shared, map.window),
        }
    }

    /// Looks up what reads find that take effect later than they are told of, in a state of the cycle; where something is
    /// stored in the cycle, that is not known.
    pub fn look(&mut self, state: &dyn State) {
        let Self { reads, stores, .. } = self;
        for (at, reads) in reads.iter_mut().filter(|(_, reads)| reads.values.is_empty()) {
            if !reads.stored_to(*at, stores) {
                reads.values.extend(state.number(at.0, at.1, reads.bytes));
            }
        }
    }

    /// Whether nobody in it depends on what others do: then nobody can end it.
    pub fn is_apart(&self) -> bool {
        self.reads.is_empty() && !self.meets
    }

    /// Whether nothing that is read in it ever changes there, so that each of its lanes goes round whatever the others do.
    pub fn is_constant(&self) -> bool {
        let constant =
            |(at, reads): (&Location, &Reads)| reads.values.len() == 1 && !reads.stored_to(*at, &self.stores);
        !self.meets && !self.guesses && self.reads.iter().all(constant)
    }

    /// What its lanes do, where nothing that is read changes.
    pub fn deeds(&self) -> Deeds {
        let mut deeds = Deeds::default();
        let reads = self.reads.iter().map(|(at, reads)| (*at, reads.bytes, false));
        for (at, bytes, changes) in reads.chain(self.stores.iter().map(|(at, bytes)| (*at, *bytes, true))) {
            bytes_of(at, bytes).for_each(|byte| *deeds.bytes.entry(byte).or_insert(false) |= changes);
        }
        deeds
    }

    /// All instructions that are executed.
    pub fn code(&self) -> BTreeSet<Pc> {
        self.runs.values().flatten().copied().collect()
    }

    /// The location of a generic address; `None`: no other thread can access it.
    fn location(&self, who: Who, access: &Access<'_>, address: u64) -> Option<Location> {
        let (first, size) = self.window;
        if address.wrapping_sub(first) < size {
            return Some((Some(who.block), address));
        }
        access.memory.device.bytes(address, 1).map(|_| (None, address))
    }

    fn access(&mut self, who: Who, access: &Access<'_>) {
        self.guesses |= access.kind == AccessKind::Atomic && access.memory.later;
        for Write { lane, pc, at, bytes, .. } in self.accesses(who, access) {
            if access.kind == AccessKind::Write {
                self.stores.insert((at, bytes));
                continue;
            }
            let reads = self.reads.entry(at).or_default();
            reads.bytes = reads.bytes.max(bytes);
            reads.values.extend(access.memory.number(at.1, bytes));
            reads.by.insert((lane, pc));
        }
    }

    /// What each lane accesses, also when it only reads.
    pub fn accesses(&self, who: Who, access: &Access<'_>) -> Vec<Write> {
        let of = |lane: usize| {
            let at = self.location(who, access, access.addresses[lane % LANES])?;
            let (lane, atomic) = ((who.block, who.warp, narrow(lane)), access.kind == AccessKind::Atomic);
            Some(Write { lane, pc: access.pc, at, bytes: access.bytes, atomic })
        };
        lanes_of(access.lanes).filter_map(of).collect()
    }
}

impl Reads {
    /// Whether one of the stores changes what is read at location `at`.
    pub fn stored_to(&self, at: Location, stores: &BTreeSet<(Location, u32)>) -> bool {
        stores.iter().any(|(other, bytes)| self.touched(at, *other, *bytes))
    }

    /// Whether `bytes` at `other` overlap with the reads of location `at`.
    pub fn touched(&self, at: Location, other: Location, bytes: u32) -> bool {
        let (first, second) = (at.1, other.1);
        at.0 == other.0 && first < second + u64::from(bytes) && second < first + u64::from(self.bytes)
    }
}

/// The bytes from a location on.
pub(super) fn bytes_of((block, first): Location, bytes: u32) -> impl Iterator<Item = Location> {
    (0..u64::from(bytes)).map(move |k| (block, first + k))
}

/// Where lanes stand, or what they executed: one for each warp and instruction.
pub(super) fn places(walk: &dyn State, lanes: impl IntoIterator<Item = (LaneId, Pc)>) -> Vec<Place> {
    let place = |((block, warp, pc), lanes)| walk.place_of(Who { launch: walk.launch(), block, warp }, lanes, pc);
    by_warp(lanes).into_iter().map(place).collect()
}

pub(super) fn narrow(lane: usize) -> u32 {
    u32::try_from(lane).unwrap_or(0)
}

/// Lanes with something in common, by warp: the lanes of each as a mask.
pub(super) fn by_warp<K: Ord + Clone>(
    lanes: impl IntoIterator<Item = (LaneId, K)>,
) -> BTreeMap<(u64, u32, K), LaneMask> {
    let mut all = BTreeMap::new();
    for ((block, warp, lane), key) in lanes {
        *all.entry((block, warp, key)).or_insert(0) |= 1 << lane;
    }
    all
}

impl Sink for Circle {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            Event::Step(step) => {
                for lane in lanes_of(step.active) {
                    self.runs.entry((who.block, who.warp, narrow(lane))).or_default().insert(step.pc);
                }
            }
            Event::Access(access) => self.access(who, access),
            Event::Arrive(_) | Event::Exchange(_) => self.meets = true,
            // The state at which the round begins.
            Event::Remembered => {
                self.runs.clear();
                self.reads.clear();
                self.stores.clear();
                self.meets = false;
                self.guesses = false;
            }
            _ => {}
        }
        Ok(())
    }
}
