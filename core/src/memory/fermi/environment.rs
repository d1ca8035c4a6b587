//! The memory environment η of the report, 4.3: device memory, the L2 cache, and of each multiprocessor its L1 cache and
//! the locks of its shared memory's banks.
//!
//! Departures: registers, parameters, shared and local memory are with the warps and blocks that own them ([`Stores`]); local memory is
//! addressed by (owner, place), where the 32-bit words of a warp's threads are interleaved as the hardware does it, so that
//! a warp that accesses one variable accesses one line.

use super::cache::{ByteMask, Bytes, Cache, DeviceSpace, LineKey, OpIdx, bits, runs};
use super::model::DeviceModel;
use super::operation::{Body, Issued, Operation, Target, decompose};
use super::program::{Around, AtomPlace, Atomic, Eta, Fill, Level, Piece, ProgramSet, Sigma, stalled};
use super::writers::Writers;
use crate::base::LANES;
use crate::choice::{Site, one_of};
use crate::memory::flat::Arena;
use crate::memory::{Cx, Stores};
use crate::verdict::{AccessId, Rule, Sink, Stop};
use smallvec::SmallVec;

/// A streaming multiprocessor's part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Multiprocessor {
    pub l1: Cache,
    /// The locked banks, one bit each.
    pub locked: u64,
}

/// Everything behind the operations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Environment {
    pub arena: Arena,
    pub l2: Cache,
    pub sms: Vec<Multiprocessor>,
    /// Who wrote which byte, where an observer asks.
    pub writers: Writers,
}

impl Environment {
    pub fn new(model: &DeviceModel, base: u64, cap: Option<u64>) -> Self {
        let sm = Multiprocessor { l1: Cache::new(model.geometry(model.l1)), locked: 0 };
        Self {
            arena: Arena::new(base, cap),
            l2: Cache::new(model.geometry(model.l2)),
            sms: vec![sm; model.processors.max(1) as usize],
            writers: Writers::default(),
        }
    }

    /// The L2, and the L1 of each multiprocessor.
    pub fn caches(&self) -> impl Iterator<Item = &Cache> {
        std::iter::once(&self.l2).chain(self.sms.iter().map(|sm| &sm.l1))
    }

    /// The same, to be changed.
    pub fn caches_mut(&mut self) -> impl Iterator<Item = &mut Cache> {
        std::iter::once(&mut self.l2).chain(self.sms.iter_mut().map(|sm| &mut sm.l1))
    }

    /// The L1 of a multiprocessor, or the L2.
    pub fn cache(&self, sm: Option<u32>) -> Option<&Cache> {
        sm.map_or(Some(&self.l2), |sm| self.sm(sm).map(|sm| &sm.l1))
    }

    /// The same, to be changed.
    pub fn cache_mut(&mut self, sm: Option<u32>) -> Option<&mut Cache> {
        match sm {
            Some(sm) => self.sms.get_mut(sm as usize).map(|sm| &mut sm.l1),
            None => Some(&mut self.l2),
        }
    }

    pub fn sm(&self, sm: u32) -> Option<&Multiprocessor> {
        self.sms.get(sm as usize)
    }

    /// Reads global or constant memory behind the caches; what lies outside of every block of memory is zero.
    pub fn read_global(&self, key: LineKey, want: ByteMask, into: &mut Bytes) {
        let bytes = |at: usize, len: usize| {
            let address = key.base.wrapping_add(at as u64);
            self.arena.place_of(address, len).and_then(|place| self.arena.bytes.get(place))
        };
        for run in runs(want) {
            match bytes(run.start, run.len()) {
                Some(bytes) => into.put(run.start, bytes),
                None => run.for_each(|at| {
                    into.set(at, bytes(at, 1).and_then(|b| b.first()).copied().unwrap_or(0));
                }),
            }
        }
        self.writers.read(key, want, into);
    }

    /// Writes global memory behind the caches.
    pub fn write_global(&mut self, key: LineKey, from: &Bytes) {
        self.writers.write(key, from);
        for at in bits(from.mask()) {
            let place = self.arena.place_of(key.base.wrapping_add(at as u64), 1);
            let place = place.and_then(|p| self.arena.bytes.get_mut(p.start));
            if let (Some(place), Some(byte)) = (place, from.get(at)) {
                *place = byte;
            }
        }
    }

    /// Reads memory behind the caches; what lies outside of every block of memory is zero.
    pub fn read(&self, key: LineKey, want: ByteMask, into: &mut Bytes, stores: &mut dyn Stores) {
        match key.space {
            DeviceSpace::Global | DeviceSpace::Const => self.read_global(key, want, into),
            DeviceSpace::Param => {
                let params = stores.param(key.owner.launch).unwrap_or(&[]);
                let first = usize::try_from(key.base).unwrap_or(usize::MAX);
                for at in bits(want) {
                    into.set(at, first.checked_add(at).and_then(|k| params.get(k)).copied().unwrap_or(0));
                }
            }
            DeviceSpace::Local => {
                let local = stores.local(key.owner);
                for at in bits(want) {
                    let (lane, offset) = unmap_local(key.base + at as u64);
                    let byte = local.as_ref().map_or(0, |l| l.read(lane, offset, 1));
                    into.set(at, u8::try_from(byte & 0xff).unwrap_or(0));
                }
            }
        }
    }

    /// Bytes came to the L2, where an observer asks for such.
    pub fn arrived(&mut self, key: LineKey, bytes: &Bytes) {
        self.writers.arrive(key, bytes);
        if let Some(line) = self.l2.line(key) {
            self.writers.same(key, bytes, !line.dirty);
        }
    }

    /// Writes memory behind the caches. False for memory that cannot be written.
    pub fn write(&mut self, key: LineKey, from: &Bytes, stores: &mut dyn Stores) -> bool {
        match key.space {
            DeviceSpace::Global => {
                self.write_global(key, from);
                true
            }
            DeviceSpace::Local => {
                // A warp that is gone has no memory to write to.
                let Some(local) = stores.local(key.owner) else { return true };
                for at in bits(from.mask()) {
                    let (lane, offset) = unmap_local(key.base + at as u64);
                    local.write(lane, offset, 1, from.get(at).unwrap_or(0).into());
                }
                true
            }
            DeviceSpace::Const | DeviceSpace::Param => false,
        }
    }
}

/// Threads of a warp as local memory is laid out for them, whatever the warp size is.
const STRIDE: u64 = LANES as u64;

/// Where byte `offset` of a thread's local memory lies among the warp's.
pub(super) const fn map_local(lane: usize, offset: u64) -> u64 {
    (offset / 4 * STRIDE + lane as u64) * 4 + offset % 4
}

/// The lane and the byte of its local memory at a place of the warp's.
pub(super) const fn unmap_local(place: u64) -> (usize, u64) {
    let word = place / 4;
    ((word % STRIDE) as usize, word / STRIDE * 4 + place % 4)
}

/// The banks of bytes of shared memory (D-banks): successive 32-bit words lie in successive banks.
pub(super) fn banks(piece: Piece, count: u32) -> u64 {
    let first = piece.offset / 4;
    let last = (piece.offset + u32::from(piece.len.max(1)) - 1) / 4;
    (first..=last).fold(0, |set, word| set | 1 << (word % count.max(1)).min(63))
}

/// The environment as the program of one operation sees it.
pub(super) struct View<'a, 'b, S> {
    pub env: &'a mut Environment,
    pub model: &'a DeviceModel,
    pub operation: &'a Issued,
    pub stores: &'a mut dyn Stores,
    pub cx: &'a mut Cx<'b, S>,
    /// What the micro step did that others may wait for.
    pub touched: Touched,
    /// Whose the bytes of shared memory were that the micro step has read, by offset, where an observer asks: the same micro step may write
    /// them.
    pub found: Vec<(u32, SmallVec<[AccessId; 16]>)>,
}

/// What a micro step did that others may wait for.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Touched {
    pub l1: bool,
    pub l2: bool,
    /// Other multiprocessors' L1 caches.
    pub others: bool,
    pub locks: bool,
    pub released: bool,
    /// What was read went to registers, or an atomic operation used it.
    pub used: bool,
}

impl<S: Sink> Eta for View<'_, '_, S> {
    const ON: bool = S::ON;

    fn cache(&mut self, level: Level) -> &mut Cache {
        if level == Level::L1
            && let Some(sm) = self.env.sms.get_mut(self.operation.issuer.sm as usize)
        {
            self.touched.l1 = true;
            return &mut sm.l1;
        }
        self.touched.l2 = true;
        &mut self.env.l2
    }

    fn others(&mut self) -> impl Iterator<Item = &mut Cache> {
        self.touched.others = true;
        let own = self.operation.issuer.sm as usize;
        let others = self.env.sms.iter_mut().enumerate().filter(move |(k, _)| *k != own);
        others.map(|(_, sm)| &mut sm.l1)
    }

    fn fill(&self) -> Fill {
        self.model.fill
    }

    fn victim(&mut self, _: Level, among: &[LineKey]) -> Result<usize, Stop> {
        one_of(self.cx.oracle, Site::Victim, among.len())
    }

    fn read_device(&mut self, key: LineKey, want: ByteMask, into: &mut Bytes) {
        self.env.read(key, want, into, self.stores);
    }

    fn write_device(&mut self, key: LineKey, from: &Bytes) -> bool {
        self.arrived(key, from);
        self.env.write(key, from, self.stores)
    }

    fn read_shared(&mut self, piece: Piece, into: &mut Vec<u8>) -> bool {
        let who = self.operation.issuer.who;
        let Some(shared) = self.stores.shared(who.launch, who.block) else { return false };
        let first = piece.offset as usize;
        let Some(bytes) = shared.get(first..first + usize::from(piece.len)) else { return false };
        into.extend_from_slice(bytes);
        if S::ON {
            self.found.push((piece.offset, self.env.writers.of_shared((who.launch, who.block), piece)));
        }
        true
    }

    fn write_shared(&mut self, piece: Piece, place: usize, from: &[u8]) -> bool {
        let who = self.operation.issuer.who;
        if S::ON {
            let access_id = self.id_of(place);
            self.env.writers.write_shared((who.launch, who.block), piece, access_id);
        }
        let Some(shared) = self.stores.shared(who.launch, who.block) else { return false };
        let first = piece.offset as usize;
        let Some(bytes) = shared.get_mut(first..first + from.len()) else { return false };
        bytes.copy_from_slice(from);
        true
    }

    fn locked(&self, piece: Piece) -> bool {
        let banks = banks(piece, self.model.banks);
        self.env.sm(self.operation.issuer.sm).is_some_and(|sm| sm.locked & banks != 0)
    }

    fn set_lock(&mut self, piece: Piece, locked: bool) {
        let banks = banks(piece, self.model.banks);
        self.touched.locks = true;
        if let Some(sm) = self.env.sms.get_mut(self.operation.issuer.sm as usize) {
            sm.locked = if locked { sm.locked | banks } else { sm.locked & !banks };
        }
    }

    fn write_regs(&mut self, sigma: &Sigma) -> bool {
        let Issued { issuer, lanes, parts, target, .. } = self.operation;
        self.touched.used = true;
        if let Target::None = target {
            return false;
        }
        match (target, self.stores.frame(issuer.who, issuer.depth)) {
            (Target::Held(held), Some(frame)) => held.put(frame, *lanes),
            (Target::Registers(to), Some(frame)) => decompose(parts, to, frame, sigma),
            // The warp is gone, and its registers with it.
            (_, None) | (Target::None, _) => {}
        }
        true
    }

    fn release_regs(&mut self) {
        self.touched.released = true;
    }

    fn computed(&mut self) {
        self.touched.used = true;
    }

    fn arrived(&mut self, key: LineKey, bytes: &Bytes) {
        if S::ON {
            self.env.arrived(key, bytes);
        }
    }

    fn fired(&mut self, rule: Rule) -> Result<(), Stop> {
        self.cx.sink.fire(self.operation.issuer.who, rule)
    }
}

/// Whether all that an operation's next micro step would do is to wait.
pub(super) fn waits(env: &Environment, model: &DeviceModel, set: &ProgramSet, k: u32, operation: &Operation) -> bool {
    let own = operation.issued.issuer.sm;
    let (id, at) = match operation.body {
        Body::Program { id, at } => (id, at),
        Body::Fence { wide, discards } => return !fence_may_end(env.sm(own), wide, discards),
    };
    let Some((program, sm)) = set.get(id).zip(env.sm(own)) else { return false };
    let locked = match &operation.sigma {
        Sigma::Atomic(Atomic { place: AtomPlace::Shared(piece), .. }) => sm.locked & banks(*piece, model.banks) != 0,
        _ => false,
    };
    let others = || (0..).zip(&env.sms).filter(|(k, _)| *k != own);
    let pinned_elsewhere = &|key| others().any(|(_, sm)| sm.l1.pinned(key));
    let around = Around { l1: &sm.l1, l2: &env.l2, locked, pinned_elsewhere };
    stalled(program, at, OpIdx(k), &operation.sigma, &around)
}

/// Whether the condition of D-membar holds, apart from earlier operations: no line that others should see is dirty in the
/// multiprocessor's L1; and where its lines are to be discarded, none is being fetched.
///
/// Departure: lines that the thread wrote are not told apart from others' lines, since that would have to be remembered.
pub(super) fn fence_may_end(sm: Option<&Multiprocessor>, wide: bool, discards: bool) -> bool {
    let Some(sm) = sm else { return true };
    let global = || sm.l1.lines().filter(|l| l.key.space == DeviceSpace::Global);
    (!wide || global().all(|l| l.dirty == 0)) && (!discards || sm.l1.can_flush())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_local_memory_go_both_ways() {
        for lane in 0..LANES {
            for offset in 0..40 {
                assert_eq!(unmap_local(map_local(lane, offset)), (lane, offset));
            }
        }
        // One word of all threads is one line.
        assert_eq!(map_local(31, 4) / 128, map_local(0, 7) / 128);
    }

    #[test]
    fn banks_hold_successive_words() {
        assert_eq!(banks(Piece { offset: 0, len: 4 }, 32), 1);
        assert_eq!(banks(Piece { offset: 126, len: 4 }, 32), 1 << 31 | 1);
        assert_eq!(banks(Piece { offset: 8, len: 16 }, 4), 0b1111);
        assert_eq!(banks(Piece { offset: 256, len: 1 }, 32), 1);
    }
}
