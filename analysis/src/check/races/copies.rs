//! Asynchronous copies in flight, as races see them (D-async-races).
//!
//! A copy reads and writes at any time between its instruction and its thread's wait for it. What another thread does in a run
//! before, or after, is ordered with the copy by what orders it with the first moment, or with the last: the accesses are noted as its
//! thread's at both. Between the two nobody is ordered with it, not even its own thread: whoever touches the bytes that it writes, or
//! writes those that it reads, races.

use super::clock::Thread;
use super::proxies::Proxies;
use super::sites::{Awaited, Flight, Side};
use crate::base::{LANES, LaneMask, Pc, lanes_of, sort};
use crate::verdict::{Access, AccessKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An age of what is in no group yet.
pub(super) const NO_GROUP: u32 = u32::MAX;
/// Device memory, in place of a block's shared memory.
pub(super) const DEVICE: usize = usize::MAX;

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
    /// Whether it is a bulk copy.
    pub bulk: bool,
    /// Whose shared memory it reads and writes, or [`DEVICE`].
    places: [usize; 2],
    pub from: [u64; LANES],
    pub taken: [u32; LANES],
    pub to: [u64; LANES],
    pub bytes: [u32; LANES],
    /// What it does to its destination: it writes, or combines by atomic operations.
    pub writes: AccessKind,
    /// How many groups a lane has committed since it committed this, or [`NO_GROUP`].
    pub ages: [u32; LANES],
    /// The instructions by which lanes arrive at barriers when this has landed. Whichever arrives first tells of it.
    arrives: SmallVec<[(Pc, LaneMask); 2]>,
}

impl Flown {
    /// The lane whose source, or destination, has one of some bytes, and the first such byte.
    fn touches(&self, source: bool, address: u64, bytes: u32) -> Option<(usize, u64)> {
        let (first, sizes) = if source { (&self.from, &self.taken) } else { (&self.to, &self.bytes) };
        lanes_of(self.lanes).find_map(|lane| {
            let from = first[lane].max(address);
            let end = first[lane].saturating_add(sizes[lane].into()).min(address.saturating_add(bytes.into()));
            (from < end).then_some((lane, from))
        })
    }

    /// Whether a barrier is told when a lane's has landed.
    pub(super) fn tells(&self, lane: usize) -> bool {
        self.bulk && self.arrives.iter().any(|(_, lanes)| lanes >> lane & 1 == 1)
    }
}

/// The sources that an instruction has named so far.
#[derive(Clone, Debug)]
struct Sources {
    pc: Pc,
    place: usize,
    from: [u64; LANES],
    taken: [u32; LANES],
}

/// Who copies to or from bytes of a chunk: of the shared memory of the block at a place, or of [`DEVICE`] memory.
type Chunks = FxHashMap<(usize, u64), SmallVec<[u32; 2]>>;

/// Bytes of a chunk: those of the largest `cp.async`, so that a lane's is one. Tables by words were four times as large, and did not fit
/// into caches (benches/README.md).
const CHUNK: u64 = 16;

/// Who begins a copy: the block's place, the warp in it, and the thread in its first lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct By {
    pub at: usize,
    pub warp: u32,
    pub first: Thread,
}

/// All copies that nobody has waited for.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    all: FxHashMap<u32, Flown>,
    /// The number of the one that begins next.
    next: u32,
    /// That of the last one of a warp of the block at a place.
    last: FxHashMap<(usize, u32), u32>,
    /// By warp: the block's place and the number.
    sources: FxHashMap<(usize, u32), Sources>,
    written: Chunks,
    read: Chunks,
    /// Ordinary stores that bulk copies must not read yet.
    pub proxies: Proxies,
}

/// The chunks that bytes at an address lie in.
fn chunks(address: u64, bytes: u32) -> impl Iterator<Item = u64> {
    address / CHUNK..address.saturating_add(bytes.into()).div_ceil(CHUNK)
}

impl Copies {
    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Takes note of what a lane reads and writes, or forgets it.
    fn note(&mut self, number: u32, flown: &Flown, lane: usize, begins: bool) {
        let change = |list: &mut SmallVec<[u32; 2]>| {
            if begins {
                list.push(number);
            } else if let Some(place) = list.iter().position(|n| *n == number) {
                // An instruction's lanes may name a chunk several times.
                list.swap_remove(place);
            }
            list.is_empty()
        };
        let [from, to] = flown.places;
        for chunk in chunks(flown.to[lane], flown.bytes[lane]) {
            if change(self.written.entry((to, chunk)).or_default()) {
                self.written.remove(&(to, chunk));
            }
        }
        for chunk in chunks(flown.from[lane], flown.taken[lane]).filter(|_| flown.taken[lane] > 0) {
            if change(self.read.entry((from, chunk)).or_default()) {
                self.read.remove(&(from, chunk));
            }
        }
    }

    /// The copies of some lanes have read their sources, and may not have written.
    fn end_reading(&mut self, number: u32, lanes: LaneMask) {
        let Some(flown) = self.all.remove(&number) else { return };
        let mut read = flown.clone();
        lanes_of(lanes & flown.lanes).for_each(|lane| read.taken[lane] = 0);
        for lane in lanes_of(lanes & flown.lanes) {
            self.note(number, &flown, lane, false);
            self.note(number, &read, lane, true);
        }
        self.all.insert(number, read);
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
        self.last.retain(|(block, _), _| *block != at);
        self.proxies.fenced(at);
        for number in self.of(|flown| flown.at == at) {
            self.end(number, !0);
        }
    }

    /// The numbers of some of them, in the order in which they began.
    pub fn of(&self, which: impl Fn(&Flown) -> bool) -> Vec<u32> {
        let mut all: Vec<u32> = self.all.iter().filter(|(_, flown)| which(flown)).map(|(number, _)| *number).collect();
        sort::sort(&mut all);
        all
    }

    /// Lanes of a warp make what they have begun a group.
    pub fn commit(&mut self, at: usize, warp: u32, lanes: LaneMask, bulk: bool) {
        let theirs = |flown: &&mut Flown| (flown.at, flown.warp, flown.bulk) == (at, warp, bulk);
        for flown in self.all.values_mut().filter(theirs) {
            for lane in lanes_of(lanes) {
                let age = &mut flown.ages[lane];
                *age = if *age == NO_GROUP { 0 } else { age.saturating_add(1).min(NO_GROUP - 1) };
            }
        }
    }

    /// Which copies lanes of a warp have waited for, of each the lanes.
    pub fn awaited(&self, at: usize, warp: u32, lanes: LaneMask, awaited: Awaited) -> Vec<(u32, LaneMask)> {
        let over = |flown: &Flown| {
            let over = |lane: &usize| match awaited.newest {
                _ if flown.bulk != awaited.bulk || flown.tells(*lane) => false,
                None => true,
                Some(newest) => flown.ages[*lane] != NO_GROUP && flown.ages[*lane] >= newest,
            };
            lanes_of(flown.lanes & lanes).filter(over).fold(0, |m: LaneMask, lane| m | 1 << lane)
        };
        let all = self.of(|flown| (flown.at, flown.warp) == (at, warp)).into_iter();
        all.filter_map(|number| Some((number, over(self.all.get(&number)?)))).filter(|(_, lanes)| *lanes != 0).collect()
    }

    /// The copies of some lanes are over, or have read: gives what they did.
    pub fn wait(&mut self, number: u32, lanes: LaneMask, read: bool) -> Option<Flown> {
        let flown = self.all.get(&number)?.clone();
        if read {
            self.end_reading(number, lanes)
        } else {
            self.end(number, lanes)
        }
        Some(flown)
    }

    /// A barrier will be told when what lanes of a warp have begun has landed: of their last bulk copy, or of all their other copies.
    fn arrive(&mut self, at: usize, warp: u32, pc: Pc, lanes: LaneMask, bulk: bool) {
        let last = bulk.then(|| self.last.get(&(at, warp)).copied().unwrap_or(u32::MAX));
        let theirs = |number: u32, flown: &Flown| {
            (flown.at, flown.warp, flown.bulk) == (at, warp, bulk) && last.is_none_or(|last| last == number)
        };
        for (_, flown) in self.all.iter_mut().filter(|(number, flown)| theirs(**number, flown)) {
            match flown.arrives.iter_mut().find(|(known, _)| *known == pc) {
                Some((_, all)) => *all |= lanes,
                None => flown.arrives.push((pc, lanes)),
            }
        }
    }

    /// Lanes of a warp have arrived by an instruction: who waits at the barrier comes after their copies, which were noted when
    /// they began.
    pub fn landed(&mut self, at: usize, warp: u32, pc: Pc, lanes: LaneMask) {
        for number in self.of(|flown| (flown.at, flown.warp) == (at, warp)) {
            let Some(flown) = self.all.get(&number) else { continue };
            let told = flown.arrives.iter().find(|(known, _)| *known == pc).map_or(0, |(_, all)| *all);
            self.end(number, lanes & told);
        }
    }

    /// What lanes of a warp name as sources, or begin to copy, in the shared memory of a block or in device memory. A bulk copy is told a piece
    /// after the other, and a lane after the other.
    pub fn begin(&mut self, by: By, access: &Access<'_>, Flight { side, bulk }: Flight, place: usize) {
        let By { at, warp, first } = by;
        match side {
            Side::Arrival => return self.arrive(at, warp, access.pc, access.lanes, bulk),
            Side::Source => {
                let fresh = Sources { pc: access.pc, place, from: [0; LANES], taken: [0; LANES] };
                let known = self.sources.entry((at, warp)).or_insert_with(|| fresh.clone());
                if known.pc != access.pc {
                    *known = fresh;
                }
                for lane in lanes_of(access.lanes) {
                    let (address, bytes) = (access.addresses[lane], access.bytes);
                    if bulk && known.taken[lane] > 0 && known.from[lane] + u64::from(known.taken[lane]) == address {
                        known.taken[lane] += bytes;
                    } else {
                        (known.from[lane], known.taken[lane]) = (address, bytes);
                    }
                }
                return;
            }
            Side::Destination => {}
        }
        let sources = self.sources.remove(&(at, warp));
        if bulk && sources.is_none() && self.goes_on(by, access) {
            return;
        }
        let none = Sources { pc: access.pc, place: DEVICE, from: [0; LANES], taken: [0; LANES] };
        let Sources { pc, place: source, from, taken } = sources.unwrap_or(none);
        let flown = Flown {
            at,
            warp,
            first,
            lanes: access.lanes,
            pcs: [pc, access.pc],
            bulk,
            places: [source, place],
            from,
            taken,
            to: *access.addresses,
            bytes: [access.bytes; LANES],
            writes: access.kind,
            ages: [NO_GROUP; LANES],
            arrives: SmallVec::new(),
        };
        let number = self.next;
        self.next += 1;
        self.last.insert((at, warp), number);
        lanes_of(flown.lanes).for_each(|lane| self.note(number, &flown, lane, true));
        self.all.insert(number, flown);
    }

    /// Whether an access is a piece more of the destination of the copy that its warp began last; then it is noted.
    fn goes_on(&mut self, By { at, warp, .. }: By, access: &Access<'_>) -> bool {
        let Some(number) = self.last.get(&(at, warp)).copied() else { return false };
        let Some(mut flown) = self.all.remove(&number) else { return false };
        // From registers each lane writes once.
        let of_registers = flown.pcs[0] == flown.pcs[1] && flown.lanes & access.lanes != 0;
        let begun = !flown.arrives.is_empty() || flown.ages.iter().any(|age| *age != NO_GROUP);
        let same = (flown.at, flown.warp, flown.pcs[1]) == (at, warp, access.pc) && !of_registers && !begun;
        if same {
            for lane in lanes_of(access.lanes) {
                if flown.lanes >> lane & 1 == 1 {
                    self.note(number, &flown, lane, false);
                    flown.bytes[lane] += access.bytes;
                } else {
                    flown.lanes |= 1 << lane;
                    (flown.to[lane], flown.bytes[lane]) = (access.addresses[lane], access.bytes);
                }
                self.note(number, &flown, lane, true);
            }
        }
        self.all.insert(number, flown);
        same
    }

    /// The copy in flight that an access of bytes by a lane races with, in the shared memory of a block or in device memory, whether it is
    /// its source, and a byte that both touch.
    pub fn meets(
        &self,
        place: usize,
        kind: AccessKind,
        address: u64,
        bytes: u32,
    ) -> Option<(&Flown, bool, usize, u64)> {
        let among = |list: &[u32], source: bool| {
            list.iter().filter_map(|number| self.all.get(number)).find_map(|flown| {
                // Atomic operations of others do not race with those of copies.
                let atomic = !source && flown.writes == AccessKind::Atomic && kind == AccessKind::Atomic;
                let (lane, byte) = flown.touches(source, address, bytes).filter(|_| !atomic)?;
                Some((flown, source, lane, byte))
            })
        };
        chunks(address, bytes).find_map(|chunk| {
            let written = self.written.get(&(place, chunk)).and_then(|list| among(list, false));
            let read = || self.read.get(&(place, chunk)).and_then(|list| among(list, true));
            written.or_else(|| if kind == AccessKind::Read { None } else { read() })
        })
    }

    /// All that decides about what comes, as bytes: equal ones whatever their numbers are.
    pub fn bytes(&self, out: &mut Vec<u8>) {
        let mut all: Vec<_> = self.all.iter().map(|(number, flown)| ((flown.at, flown.warp, *number), flown)).collect();
        sort::sort_by_key(&mut all, |(order, _)| *order);
        for (_, flown) in all {
            let Flown { at, warp, lanes, pcs, bulk, places, writes, arrives, .. } = flown;
            let numbers = [*at as u64, (*warp).into(), (*lanes).into(), pcs[0].0.into(), pcs[1].0.into()];
            let more = [u64::from(*bulk), places[0] as u64, places[1] as u64, *writes as u64, arrives.len() as u64];
            numbers.iter().chain(&more).for_each(|n| out.extend(n.to_le_bytes()));
            for lane in lanes_of(*lanes) {
                let ends = [flown.from[lane], flown.taken[lane].into(), flown.to[lane], flown.bytes[lane].into()];
                ends.iter().for_each(|n| out.extend(n.to_le_bytes()));
                out.extend(flown.ages[lane].to_le_bytes());
            }
            let mut arrives: Vec<_> = arrives.iter().map(|(pc, lanes)| (pc.0, *lanes)).collect();
            sort::sort(&mut arrives);
            arrives.iter().for_each(|(pc, lanes)| out.extend((u64::from(*pc) << 32 | u64::from(*lanes)).to_le_bytes()));
        }
        let mut named: Vec<_> = self.sources.iter().collect();
        sort::sort_by_key(&mut named, |(by, _)| **by);
        for ((at, warp), Sources { pc, place, from, taken }) in named {
            [*at as u64, (*warp).into(), pc.0.into(), *place as u64].iter().for_each(|n| out.extend(n.to_le_bytes()));
            from.iter().for_each(|n| out.extend(n.to_le_bytes()));
            taken.iter().for_each(|n| out.extend(n.to_le_bytes()));
        }
        self.proxies.bytes(out);
    }

    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether accesses that are no copies' matter.
    pub fn looks_at_all(&self) -> bool {
        !self.all.is_empty() || self.proxies.matter()
    }
}
