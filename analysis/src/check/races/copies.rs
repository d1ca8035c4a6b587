//! Asynchronous copies in flight, as races see them (D-async-races).
//!
//! A copy reads and writes at any time between its instruction and its thread's wait for it. What another thread does in a run
//! before, or after, is ordered with the copy by what orders it with the first moment, or with the last: the accesses are noted as its
//! thread's at both. Between the two nobody is ordered with it, not even its own thread: whoever touches the bytes that it writes, or
//! writes those that it reads, races.

use super::access;
use super::clock::Thread;
use super::context::Context;
use super::finding::Conflict;
use super::history::Raced;
use super::sites::Site;
use super::watch::Watch;
use crate::base::{LANES, LaneMask, Pc, lanes_of};
use crate::verdict::{Access, AccessKind, Contents, DeviceMemory, Step, Stop, Stride, Who};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An age of what is in no group yet.
const NO_GROUP: u32 = u32::MAX;

/// The copies of one instruction.
#[derive(Clone, Debug)]
struct Flown {
    /// Where the block is.
    at: usize,
    warp: u32,
    /// The thread in its first lane.
    first: Thread,
    /// The lanes that have not waited for theirs.
    lanes: LaneMask,
    /// The instructions that stand for the source and the destination.
    pcs: [Pc; 2],
    from: [u64; LANES],
    taken: [u32; LANES],
    to: [u64; LANES],
    bytes: u32,
    /// How many groups a lane has committed since it committed this, or [`NO_GROUP`].
    ages: [u32; LANES],
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
    fn end(&mut self, number: u32, lanes: LaneMask) {
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
    fn of(&self, which: impl Fn(&Flown) -> bool) -> Vec<u32> {
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
    fn begin(&mut self, cx: &Context<'_>, first: Thread) {
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
    fn meets(&self, at: usize, kind: AccessKind, address: u64, bytes: u32) -> Option<(&Flown, bool, usize, u64)> {
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

    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl Watch {
    /// An access meets copies in flight, and may begin some itself.
    ///
    /// # Errors
    /// A race, where the first one is to stop the run.
    #[inline(never)]
    pub(super) fn beside_copies(&mut self, cx: &Context<'_>) -> Result<(), Stop> {
        let access = cx.access;
        if !self.copies.is_empty() {
            for lane in lanes_of(access.lanes) {
                let address = access.addresses[lane];
                let Some((flown, source, theirs, byte)) = self.copies.meets(cx.at, access.kind, address, access.bytes)
                else {
                    continue;
                };
                let shared = self.is_shared(cx, address).unwrap_or(false);
                let thread = Thread { lane: u32::try_from(theirs).unwrap_or(0), ..flown.first };
                let raced = Raced { thread, pc: flown.pcs[usize::from(!source)], value: None, times: 1 };
                let conflict = Conflict { raced, byte, shared, in_flight: true };
                let start = cx.site.start(byte);
                self.conflict(cx, lane, start, None, &conflict)?;
            }
        }
        if cx.site.copies
            && let Some(block) = &self.blocks[cx.at]
        {
            let me = block.thread(cx.warp, 0);
            self.copies.begin(cx, me);
        }
        Ok(())
    }

    /// Lanes of a warp have waited for their copies, for all groups but so many of the newest, or for all: their accesses come before what
    /// the lanes do next, and may have been as late as now.
    ///
    /// # Errors
    /// A race, where the first one is to stop the run.
    pub(super) fn waited(
        &mut self,
        who: Who,
        step: &Step<'_>,
        newest: Option<u32>,
        sites: &[Site],
    ) -> Result<(), Stop> {
        let Some(at) = self.block(who) else { return Ok(()) };
        let awaited = |flown: &Flown| {
            let over = |lane: &usize| match newest {
                None => true,
                Some(newest) => flown.ages[*lane] != NO_GROUP && flown.ages[*lane] >= newest,
            };
            lanes_of(flown.lanes & step.lanes).filter(over).fold(0, |m: LaneMask, lane| m | 1 << lane)
        };
        for number in self.copies.of(|flown| (flown.at, flown.warp) == (at, who.warp)) {
            let Some(flown) = self.copies.all.get(&number) else { continue };
            let lanes = awaited(flown);
            if lanes == 0 {
                continue;
            }
            let flown = flown.clone();
            self.copies.end(number, lanes);
            let memory = Contents { device: &Nothing, window: 0, shared: &[], later: true };
            let mut again = |pc, lanes, kind, addresses: &[u64; LANES], bytes| {
                let strides = [Stride::Mixed; 2];
                let (together, element, regs) = (lanes, 0, step.regs);
                let access = Access {
                    pc,
                    lanes,
                    together,
                    element,
                    kind,
                    addresses,
                    strides,
                    bytes,
                    regs,
                    memory,
                    access_id: None,
                };
                access::noted(self, at, who, &access, sites)
            };
            let mut sizes: Vec<u32> = lanes_of(lanes).map(|lane| flown.taken[lane]).filter(|n| *n > 0).collect();
            sizes.sort_unstable();
            sizes.dedup();
            for size in sizes {
                let alike = lanes_of(lanes).filter(|l| flown.taken[*l] == size).fold(0, |m: LaneMask, l| m | 1 << l);
                again(flown.pcs[0], alike, AccessKind::Read, &flown.from, size)?;
            }
            again(flown.pcs[1], lanes, AccessKind::Write, &flown.to, flown.bytes)?;
        }
        Ok(())
    }
}

/// Memory of which nothing is known.
#[derive(Debug)]
struct Nothing;

impl DeviceMemory for Nothing {
    fn bytes(&self, _: u64, _: u64) -> Option<&[u8]> {
        None
    }
}
