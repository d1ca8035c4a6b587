//! Asynchronous copies in flight, as races see them (D-async-races).
//!
//! A copy reads and writes at any time between its instruction and its thread's wait for it. What another thread does in a run
//! before, or after, is ordered with the copy by what orders it with the first moment, or with the last: the accesses are noted as its
//! thread's at both. Between the two nobody is ordered with it, not even its own thread: whoever touches the bytes that it writes, or
//! writes those that it reads, races.

use super::clock::Thread;
use super::context::Context;
use crate::base::{LANES, LaneMask, Pc, lanes_of};
use crate::verdict::AccessKind;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An age of what is in no group yet.
pub(super) const NO_GROUP: u32 = u32::MAX;

/// The copies of one instruction.
#[derive(Clone, Debug)]
pub(super) struct Flown {
    /// Where the block is.
    pub at: usize,
    pub warp: u32,
    /// The thread in its first lane.
    pub first: Thread,
    /// The lanes that have not waited for theirs.
    pub lanes: LaneMask,
    /// The instructions that stand for the source and the destination.
    pub pcs: [Pc; 2],
    pub from: [u64; LANES],
    pub taken: [u32; LANES],
    pub to: [u64; LANES],
    pub bytes: u32,
    /// How many groups a lane has committed since it committed this, or [`NO_GROUP`].
    pub ages: [u32; LANES],
    /// The instruction by which a lane arrives at a barrier when this has landed, if it does; the last one that began.
    arrives: [Option<Pc>; LANES],
}

/// The sources that an instruction has named so far.
#[derive(Clone, Debug)]
struct Sources {
    pc: Pc,
    from: [u64; LANES],
    taken: [u32; LANES],
}

/// Who copies to or from a word.
type Words<K> = FxHashMap<K, SmallVec<[u32; 1]>>;

/// All copies that nobody has waited for.
#[derive(Debug, Default)]
pub(super) struct Copies {
    all: FxHashMap<u32, Flown>,
    /// The number of the one that begins next.
    next: u32,
    /// By warp: the block's place and the number.
    sources: FxHashMap<(usize, u32), Sources>,
    /// By the block's place and the word, of its shared memory.
    written: Words<(usize, u64)>,
    /// By the word, of device memory.
    read: Words<u64>,
}

/// The words that bytes at an address lie in.
fn words(address: u64, bytes: u32) -> impl Iterator<Item = u64> {
    let bytes = u64::from(bytes);
    let end = if bytes == 0 { 0 } else { address.wrapping_add(bytes - 1) / 4 + 1 };
    address / 4..end.max(address / 4)
}

impl Copies {
    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Takes note of what a lane reads and writes, or forgets it.
    fn note(&mut self, number: u32, flown: &Flown, lane: usize, begins: bool) {
        let change = |list: &mut SmallVec<[u32; 1]>| {
            if begins {
                list.push(number);
            } else if let Some(place) = list.iter().position(|n| *n == number) {
                // An instruction's lanes may name a word several times.
                list.swap_remove(place);
            }
            list.is_empty()
        };
        for word in words(flown.to[lane], flown.bytes) {
            if change(self.written.entry((flown.at, word)).or_default()) {
                self.written.remove(&(flown.at, word));
            }
        }
        for word in words(flown.from[lane], flown.taken[lane]) {
            if change(self.read.entry(word).or_default()) {
                self.read.remove(&word);
            }
        }
    }

    /// The copies of some lanes are over.
    pub fn end(&mut self, number: u32, lanes: LaneMask) {
        let Some(flown) = self.all.remove(&number) else { return };
        lanes_of(lanes & flown.lanes).for_each(|lane| self.note(number, &flown, lane, false));
        let left = flown.lanes & !lanes;
        if left != 0 {
            self.all.insert(number, Flown { lanes: left, ..flown });
        }
    }

    /// A block is complete: nobody touches its shared memory any more.
    pub fn end_block(&mut self, at: usize) {
        self.sources.retain(|(block, _), _| *block != at);
        for number in self.of(|flown| flown.at == at) {
            self.end(number, !0);
        }
    }

    /// The numbers of some of them, in the order in which they began.
    pub fn of(&self, which: impl Fn(&Flown) -> bool) -> Vec<u32> {
        let mut all: Vec<u32> = self.all.iter().filter(|(_, flown)| which(flown)).map(|(number, _)| *number).collect();
        all.sort_unstable();
        all
    }

    /// Lanes of a warp make what they have begun a group.
    pub fn commit(&mut self, at: usize, warp: u32, lanes: LaneMask) {
        for flown in self.all.values_mut().filter(|flown| (flown.at, flown.warp) == (at, warp)) {
            for lane in lanes_of(lanes) {
                let age = &mut flown.ages[lane];
                *age = if *age == NO_GROUP { 0 } else { age.saturating_add(1).min(NO_GROUP - 1) };
            }
        }
    }

    /// Lanes of a warp will arrive at a barrier when what they have begun has landed.
    fn arrive(&mut self, at: usize, warp: u32, pc: Pc, lanes: LaneMask) {
        for flown in self.all.values_mut().filter(|flown| (flown.at, flown.warp) == (at, warp)) {
            lanes_of(lanes).for_each(|lane| flown.arrives[lane] = Some(pc));
        }
    }

    /// Lanes of a warp have arrived by an instruction: who waits at the barrier comes after their copies, which were noted when
    /// they began.
    pub fn landed(&mut self, at: usize, warp: u32, pc: Pc, lanes: LaneMask) {
        for number in self.of(|flown| (flown.at, flown.warp) == (at, warp)) {
            let Some(flown) = self.all.get(&number) else { continue };
            let over = lanes_of(lanes).filter(|lane| flown.arrives[*lane] == Some(pc));
            let over = over.fold(0, |m: LaneMask, lane| m | 1 << lane);
            self.end(number, over);
        }
    }

    /// What lanes of a warp name as sources, or begin to copy.
    pub fn begin(&mut self, cx: &Context<'_>, first: Thread) {
        let access = cx.access;
        let (at, warp) = (cx.at, u32::try_from(cx.warp).unwrap_or(0));
        if access.kind == AccessKind::Atomic {
            return self.arrive(at, warp, access.pc, access.lanes);
        }
        if access.kind == AccessKind::Read {
            let fresh = Sources { pc: access.pc, from: [0; LANES], taken: [0; LANES] };
            let known = self.sources.entry((at, warp)).or_insert_with(|| fresh.clone());
            if known.pc != access.pc {
                *known = fresh;
            }
            for lane in lanes_of(access.lanes) {
                (known.from[lane], known.taken[lane]) = (access.addresses[lane], access.bytes);
            }
            return;
        }
        let none = Sources { pc: access.pc, from: [0; LANES], taken: [0; LANES] };
        let Sources { pc, from, taken } = self.sources.remove(&(at, warp)).unwrap_or(none);
        let flown = Flown {
            at,
            warp,
            first,
            lanes: access.lanes,
            pcs: [pc, access.pc],
            from,
            taken,
            to: *access.addresses,
            bytes: access.bytes,
            ages: [NO_GROUP; LANES],
            arrives: [None; LANES],
        };
        let number = self.next;
        self.next += 1;
        lanes_of(flown.lanes).for_each(|lane| self.note(number, &flown, lane, true));
        self.all.insert(number, flown);
    }

    /// The copy in flight that an access of bytes by a lane races with, whether it is its source, and a byte that both touch.
    pub fn meets(&self, at: usize, kind: AccessKind, address: u64, bytes: u32) -> Option<(&Flown, bool, usize, u64)> {
        let lane_of = |flown: &Flown, word: u64, source: bool| {
            lanes_of(flown.lanes).find(|lane| {
                let (first, bytes) =
                    if source { (flown.from[*lane], flown.taken[*lane]) } else { (flown.to[*lane], flown.bytes) };
                words(first, bytes).any(|w| w == word)
            })
        };
        words(address, bytes).find_map(|word| {
            let written = self.written.get(&(at, word)).map(|list| (list, false));
            let read = self.read.get(&word).filter(|_| kind != AccessKind::Read).map(|list| (list, true));
            let (list, source) = written.or(read)?;
            let flown = self.all.get(list.first()?)?;
            Some((flown, source, lane_of(flown, word, source)?, (word * 4).max(address)))
        })
    }

    /// One of them.
    pub fn get(&self, number: u32) -> Option<&Flown> {
        self.all.get(&number)
    }

    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}
