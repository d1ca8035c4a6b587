//! Memory operations in flight (report, 4.6), and the registers that they block (5.7.1).
//!
//! An operation is a memory program's position and state, and what the report keeps beside it in Σ: who issued it, the
//! decomposition of its value as data ([`Part`]), the registers that it blocks. A fence is an operation, too: it ends when
//! the condition of D-membar holds, or has a program (D-fence).

use super::cache::LineKey;
use super::program::{At, ProgramId, Sigma};
use crate::base::mutant::{Mutant, on};
use crate::base::{Frame, LANES, LaneMask};
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
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "nearly all operations are programs, and each is boxed as a whole")]
pub(super) enum Body {
    /// A memory program.
    Program { id: ProgramId, at: At, sigma: Sigma },
    /// `membar`, `fence`, or the fence that an acquire or a release implies (D-strong), where no program serves it.
    Fence {
        /// Its threads may not go on before it has ended.
        holds: bool,
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

/// An operation in flight.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Operation {
    pub issuer: Issuer,
    pub lanes: LaneMask,
    pub body: Body,
    pub parts: SmallVec<[Part; 8]>,
    pub target: Target,
    pub rank: Rank,
    /// How many operations in flight are above it (D-prio). Follows from the rest of the state.
    #[serde(skip)]
    pub above: u32,
    /// It was tried, had to wait, and nothing has changed that it waits for. Follows from the rest of the state.
    #[serde(skip)]
    pub stalled: bool,
    /// What an observer calls the access of its instruction's first lane.
    #[serde(skip)]
    pub access_id: AccessId,
}

impl Operation {
    /// An operation without parts that keeps nothing and waits for nothing.
    pub fn new(issuer: Issuer, lanes: LaneMask, body: Body) -> Self {
        let (parts, rank, access_id) = (SmallVec::new(), Rank::default(), AccessId::NONE);
        Self { issuer, lanes, body, parts, target: Target::None, rank, above: 0, stalled: false, access_id }
    }

    /// Whether it is a fence.
    pub const fn is_fence(&self) -> bool {
        matches!(self.body, Body::Fence { .. } | Body::Program { sigma: Sigma::Fence { .. }, .. })
    }

    /// The line that it is about.
    pub const fn key(&self) -> Option<LineKey> {
        match &self.body {
            Body::Program { sigma, .. } => sigma.key(),
            Body::Fence { .. } => None,
        }
    }

    /// Whether its threads may not go on before it has ended.
    pub const fn holds(&self) -> bool {
        matches!(self.body, Body::Fence { holds: true, .. } | Body::Program { sigma: Sigma::Fence { holds: true }, .. })
    }

    /// Whether `self`, issued earlier, is above `later`, issued by the same warp (D-prio).
    pub fn is_above(&self, later: &Self, same_thread_order: bool) -> bool {
        if self.lanes & later.lanes == 0 {
            return false;
        }
        if self.is_fence() || later.is_fence() {
            return true;
        }
        let (Body::Program { sigma, .. }, Body::Program { sigma: other, .. }) = (&self.body, &later.body) else {
            return true;
        };
        if self.rank.volatile && later.rank.volatile && !on(Mutant::VolatileUnordered) {
            return true;
        }
        let keeps = same_thread_order && !on(Mutant::SameBytesUnordered)
            || self.rank.strong && later.rank.strong && !on(Mutant::VolatileUnordered);
        keeps && !(self.rank.read && later.rank.read) && self.overlaps(sigma, later, other)
    }

    /// Whether some thread accesses a byte by both.
    fn overlaps(&self, sigma: &Sigma, later: &Self, other: &Sigma) -> bool {
        if matches!(sigma, Sigma::Reg) || matches!(other, Sigma::Reg) || !same_memory(sigma, other) {
            return false;
        }
        let place = |sigma: &Sigma, part: &Part| match sigma {
            Sigma::Shared(s) => offset_of(s, part.at),
            Sigma::Atomic(a) => match a.place {
                super::program::AtomPlace::Shared(piece) => u64::from(piece.offset) + u64::from(part.at),
                super::program::AtomPlace::Global { .. } => part.at.into(),
            },
            _ => part.at.into(),
        };
        self.parts.iter().any(|p| {
            let first = place(sigma, p);
            later.parts.iter().filter(|q| q.lane == p.lane).any(|q| {
                let second = place(other, q);
                first < second + u64::from(q.len) && second < first + u64::from(p.len)
            })
        })
    }
}

/// The offset in shared memory of byte `at` of an operation's value.
pub(super) fn offset_of(shared: &super::program::Shared, at: u16) -> u64 {
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

/// Whether two states are about one line, or both about shared memory.
fn same_memory(a: &Sigma, b: &Sigma) -> bool {
    a.key() == b.key()
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

/// Operations by number, and which may go. A number is free again when its operation has ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Slab {
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

impl Slab {
    pub fn get(&self, k: u32) -> Option<&Operation> {
        self.slots.get(k as usize)?.as_deref()
    }

    pub fn get_mut(&mut self, k: u32) -> Option<&mut Operation> {
        self.slots.get_mut(k as usize)?.as_deref_mut()
    }

    /// Takes an operation out; its number stays taken until it is put back or [`Slab::free`]d.
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

/// Writes what was read to the registers (the report's decomposition function). `value` gives a byte of the operation's
/// value.
pub(super) fn decompose(parts: &[Part], to: &Registers, frame: &mut Frame, value: impl Fn(u16) -> u8) {
    for part in parts {
        let Some(&slot) = to.slots.get(usize::from(part.register)).filter(|s| **s != NO_SLOT) else { continue };
        let mut bits = 0u128;
        for k in 0..u16::from(part.len) {
            bits |= u128::from(value(part.at + k)) << (8 * (k + u16::from(part.from)));
        }
        let lane = usize::from(part.lane) % LANES;
        let low = |v: u128| u64::try_from(v & u128::from(u64::MAX)).unwrap_or(0);
        if to.width == 16 {
            let mask: u128 = if part.len == 16 { !0 } else { ((1 << (8 * part.len)) - 1) << (8 * part.from) };
            let next = slot.index() + 1;
            if let Some(reg) = frame.q.get_mut(slot.index()) {
                reg.0[lane] = reg.0[lane] & !low(mask) | low(bits);
            }
            if let Some(reg) = frame.q.get_mut(next) {
                reg.0[lane] = reg.0[lane] & !low(mask >> 64) | low(bits >> 64);
            }
            continue;
        }
        let mut bits = low(bits);
        // A part of a register leaves its other bytes alone; a whole element is extended.
        let mut mask = if part.len >= 8 { !0 } else { ((1u64 << (8 * part.len)) - 1) << (8 * part.from) };
        if part.len == to.width {
            if to.signed {
                let unused = 64 - 8 * u32::from(to.width.min(8));
                let wide = ((bits << unused).cast_signed() >> unused).cast_unsigned();
                bits = if to.ext >= 64 { wide } else { wide & ((1 << to.ext) - 1) };
            }
            mask = !0;
        }
        if to.wide {
            if let Some(reg) = frame.q.get_mut(slot.index()) {
                reg.0[lane] = reg.0[lane] & !mask | bits;
            }
        } else if let Some(reg) = frame.w.get_mut(slot.index()) {
            let old = u64::from(reg.0[lane]);
            reg.0[lane] = u32::try_from((old & !mask | bits) & 0xffff_ffff).unwrap_or(0);
        }
    }
}
