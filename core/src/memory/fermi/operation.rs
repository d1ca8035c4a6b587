//! Memory operations in flight (report, 4.6), and the registers that they block (5.7.1).
//!
//! An operation is a memory program's position and state, and what the report keeps beside it in Σ: who issued it, the
//! decomposition of its value as data ([`Part`]), the registers that it blocks. A fence is an operation, too: it ends when
//! the condition of D-membar holds, or has a program (D-fence).

use super::program::{At, AtomPlace, Atomic, Device, ProgramId, Shared, Sigma};
use crate::base::mutant::{Mutant, on};
use crate::base::{Frame, LANES, LaneMask};
use crate::memory::flat::extend;
use crate::memory::{Held, Issuer};
use crate::program::instr::{NO_SLOT, Slot};
use crate::program::ops::Class;
use crate::verdict::AccessId;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A piece of a thread's value in an operation's: `len` bytes at `at` of the line, or of the shared value, are the bytes
/// from `from` on of register `register`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub(super) struct Part {
    pub lane: u8,
    /// Which of the request's registers.
    pub register: u8,
    pub from: u8,
    pub len: u8,
    pub at: u16,
}

/// Where what an operation has read goes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Target {
    /// Nowhere.
    None,
    /// A load's or an atomic operation's registers.
    Registers(Registers),
    /// Values that an instruction computed (listing 4.6).
    Held(Held),
}

/// The registers of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Registers {
    pub slots: [Slot; 8],
    /// Bytes of an element.
    pub width: u8,
    /// 64-bit registers.
    pub wide: bool,
    /// Extend the sign to so many bits.
    pub signed: bool,
    pub ext: u8,
}

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Body {
    /// A memory program.
    Program { id: ProgramId, at: At },
    /// `membar`, `fence`, or the fence that an acquire or a release implies (D-strong), where no program serves it.
    Fence {
        /// No line of the multiprocessor's L1 may be dirty (D-membar).
        wide: bool,
        /// It discards the multiprocessor's global L1 lines.
        discards: bool,
    },
}

/// How an operation is ordered after others of its threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub(super) struct Rank {
    /// `volatile`: keeps its place among the thread's volatile operations.
    pub volatile: bool,
    /// Relaxed or stronger: keeps its place among the thread's operations on the same bytes (PTX ISA 8.10.6).
    pub strong: bool,
    /// It does not write.
    pub read: bool,
}

/// What an operation was issued as: that stays.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Issued {
    pub issuer: Issuer,
    pub lanes: LaneMask,
    /// The decomposition of its value.
    pub parts: SmallVec<[Part; 8]>,
    pub target: Target,
    pub rank: Rank,
    /// What an observer calls the access of its instruction's first lane.
    #[serde(skip)]
    pub access_id: AccessId,
}

impl Issued {
    /// What has no parts, keeps nothing and waits for nothing.
    pub fn by(issuer: Issuer, lanes: LaneMask) -> Self {
        let (parts, rank, access_id) = (SmallVec::new(), Rank::default(), AccessId::NONE);
        Self { issuer, lanes, parts, target: Target::None, rank, access_id }
    }
}

/// An operation in flight.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Operation {
    pub issued: Issued,
    pub body: Body,
    /// The state of its program; that of a fence also where it has none.
    pub sigma: Sigma,
    /// How many operations in flight are above it (D-prio). Follows from the rest of the state.
    #[serde(skip)]
    pub above: u32,
    /// It was tried, had to wait, and nothing has changed that it waits for. Follows from the rest of the state.
    #[serde(skip)]
    pub stalled: bool,
}

impl Operation {
    /// An operation that nothing is above yet.
    pub const fn new(issued: Issued, body: Body, sigma: Sigma) -> Self {
        Self { issued, body, sigma, above: 0, stalled: false }
    }

    /// Whether it is a fence.
    pub const fn is_fence(&self) -> bool {
        matches!(self.sigma, Sigma::Fence { .. })
    }

    /// Whether its threads may not go on before it has ended.
    pub const fn holds(&self) -> bool {
        matches!(self.sigma, Sigma::Fence { holds: true })
    }

    /// Whether `self`, issued earlier, is above `later`, issued by the same warp (D-prio).
    pub fn is_above(&self, later: &Self, same_thread_order: bool) -> bool {
        if self.issued.lanes & later.issued.lanes == 0 {
            return false;
        }
        if self.is_fence() || later.is_fence() {
            return true;
        }
        let (rank, other_rank) = (self.issued.rank, later.issued.rank);
        if rank.volatile && other_rank.volatile && !on(Mutant::VolatileUnordered) {
            return true;
        }
        let keeps = same_thread_order && !on(Mutant::SameBytesUnordered)
            || rank.strong && other_rank.strong && !on(Mutant::VolatileUnordered);
        keeps && !(rank.read && other_rank.read) && self.overlaps(later)
    }

    /// Whether some thread accesses a byte by both.
    fn overlaps(&self, later: &Self) -> bool {
        let (sigma, other) = (&self.sigma, &later.sigma);
        // About one line, or both about shared memory.
        if matches!(sigma, Sigma::Reg) || matches!(other, Sigma::Reg) || sigma.key() != other.key() {
            return false;
        }
        self.issued.parts.iter().any(|p| {
            let first = address_of(sigma, p.at);
            later.issued.parts.iter().filter(|q| q.lane == p.lane).any(|q| {
                let second = address_of(other, q.at);
                first < second + u64::from(q.len) && second < first + u64::from(p.len)
            })
        })
    }
}

/// The address of byte `at` of an operation's value, or its offset in shared memory; 0 where it accesses none.
pub(super) fn address_of(sigma: &Sigma, at: u16) -> u64 {
    match sigma {
        Sigma::Device(Device { key, .. }) | Sigma::Atomic(Atomic { place: AtomPlace::Global { key, .. }, .. }) => {
            key.base + u64::from(at)
        }
        Sigma::Shared(s) => offset_of(s, at),
        Sigma::Atomic(Atomic { place: AtomPlace::Shared(piece), .. }) => u64::from(piece.offset) + u64::from(at),
        Sigma::Reg | Sigma::Fence { .. } => 0,
    }
}

/// Byte `at` of an operation's value, where it is known.
pub(super) fn byte_of(sigma: &Sigma, at: u16) -> Option<u8> {
    match sigma {
        Sigma::Device(d) => d.value.get(at.into()),
        Sigma::Atomic(a) => a.out.get(at.into()),
        Sigma::Shared(s) => s.value.get(usize::from(at)).copied(),
        Sigma::Reg | Sigma::Fence { .. } => None,
    }
}

/// The offset in shared memory of byte `at` of an operation's value.
fn offset_of(shared: &Shared, at: u16) -> u64 {
    let mut before = 0;
    for piece in &shared.pieces {
        let len = u16::from(piece.len);
        if at < before + len {
            return u64::from(piece.offset) + u64::from(at - before);
        }
        before += len;
    }
    u64::MAX / 2
}

/// A register that an operation blocks for some lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(super) struct Blocked {
    #[serde(skip)]
    pub operation: u32,
    pub depth: u32,
    pub class: Class,
    pub slot: Slot,
    pub lanes: LaneMask,
}

/// What a warp has in flight.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Queue {
    /// Its operations, in the order of issue.
    pub operations: SmallVec<[u32; 8]>,
    /// The registers that they block.
    pub board: Vec<Blocked>,
    /// Lanes that may not go on before a fence has ended.
    pub held: LaneMask,
}

/// The memory operations in flight by index (the report's `MemOpIdx`), and which may go. An index is free again when its
/// operation has ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct MemOps {
    slots: Vec<Option<Box<Operation>>>,
    pub ready: Vec<u64>,
    pub live: usize,
    /// Operations that are stalled.
    pub stalled: Vec<Stalled>,
    /// No number below it is free.
    lowest: usize,
}

/// A stalled operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stalled {
    pub operation: u32,
    pub sm: u32,
    /// The sets of its line in the L1 and in the L2.
    pub sets: Option<(usize, usize)>,
    /// It waits for more than these: for other multiprocessors' lines, or as a fence with a program for room in any set.
    pub far: bool,
}

impl MemOps {
    pub fn get(&self, k: u32) -> Option<&Operation> {
        self.slots.get(k as usize)?.as_deref()
    }

    pub fn get_mut(&mut self, k: u32) -> Option<&mut Operation> {
        self.slots.get_mut(k as usize)?.as_deref_mut()
    }

    /// Takes an operation out; its number stays taken until it is put back or [`MemOps::free`]d.
    pub fn take(&mut self, k: u32) -> Option<Box<Operation>> {
        self.slots.get_mut(k as usize)?.take()
    }

    pub fn put(&mut self, k: u32, operation: Box<Operation>) {
        let goes = operation.above == 0 && !operation.stalled;
        self.set_ready(k, goes);
        if let Some(slot) = self.slots.get_mut(k as usize) {
            *slot = Some(operation);
        }
    }

    /// Takes an operation in under the lowest free number.
    pub fn add(&mut self, operation: Operation) -> u32 {
        let free = self.slots.iter().skip(self.lowest).position(Option::is_none);
        let at = free.map_or(self.slots.len(), |k| self.lowest + k);
        if at == self.slots.len() {
            self.slots.push(None);
            self.ready.resize(self.slots.len().div_ceil(64), 0);
        }
        self.lowest = at + 1;
        let k = u32::try_from(at).unwrap_or(u32::MAX);
        self.live += 1;
        self.put(k, Box::new(operation));
        k
    }

    /// Gives a number back whose operation was taken out.
    pub fn free(&mut self, k: u32) {
        self.set_ready(k, false);
        self.live -= 1;
        self.lowest = self.lowest.min(k as usize);
        if self.live == 0 {
            self.slots.clear();
            self.ready.clear();
            self.lowest = 0;
        }
    }

    pub fn set_ready(&mut self, k: u32, on: bool) {
        if let Some(word) = self.ready.get_mut(k as usize / 64) {
            *word = *word & !(1 << (k % 64)) | u64::from(on) << (k % 64);
        }
    }
}

/// Writes what an operation has read to the registers (the report's decomposition function).
pub(super) fn decompose(parts: &[Part], to: &Registers, frame: &mut Frame, sigma: &Sigma) {
    for part in parts {
        let Some(&slot) = to.slots.get(usize::from(part.register)).filter(|s| **s != NO_SLOT) else { continue };
        let byte = |k: u16| u128::from(byte_of(sigma, part.at + k).unwrap_or(0)) << (8 * (k + u16::from(part.from)));
        let mut new = (0..part.len.into()).map(byte).fold(0, |all, byte| all | byte);
        // A part of a register leaves its other bytes alone; a whole element is extended.
        let mut mask: u128 = if part.len >= 16 { !0 } else { ((1 << (8 * part.len)) - 1) << (8 * part.from) };
        if part.len == to.width {
            mask = !0;
            if to.signed {
                new = extend(low(new), 8 * u32::from(to.width.min(8)), to.ext).into();
            }
        }
        let lane = usize::from(part.lane) % LANES;
        if !to.wide && to.width != 16 {
            if let Some(reg) = frame.w.get_mut(slot.index()) {
                reg.0[lane] = reg.0[lane] & !(low(mask) as u32) | low(new) as u32;
            }
            continue;
        }
        // 16 bytes are two registers.
        for (k, reg) in frame.q.iter_mut().skip(slot.index()).take(if to.width == 16 { 2 } else { 1 }).enumerate() {
            reg.0[lane] = reg.0[lane] & !low(mask >> (64 * k)) | low(new >> (64 * k));
        }
    }
}

/// The low half.
const fn low(value: u128) -> u64 {
    value as u64
}
