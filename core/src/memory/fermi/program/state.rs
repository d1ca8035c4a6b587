//! The implicit state of memory programs (report, 4.4.1), as far as programs act on it; fences have one, too (D-fence).
//!
//! What the report keeps beside it in Σ, the decomposition function, the blocked registers and the multiprocessor's index,
//! belongs to the engine that runs the operation: programs reach it through [`Eta`](super::Eta) only.

use crate::memory::fermi::cache::{ByteMask, Bytes, LineKey};
use crate::program::ops::{AtomOp, AtomTy};
use crate::verdict::AccessId;
use serde::{Deserialize, Serialize};

/// The state of a memory program: the report's four kinds, and that of fences.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Sigma {
    /// Atomic operations.
    Atomic(Atomic),
    /// Loads and stores of memory in DRAM.
    Device(Device),
    /// Loads and stores of shared memory.
    Shared(Shared),
    /// Updates of registers.
    Reg,
    /// A fence, which has no address (D-fence).
    Fence {
        /// Its threads may not go on before it has ended.
        holds: bool,
    },
}

/// Σ_device. An operation stays within one line.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Device {
    /// The line.
    pub key: LineKey,
    /// The bytes of the line that the operation reads or writes.
    pub mask: ByteMask,
    /// The bytes that it fetches: those of `mask`, and the line's others once it has undertaken to fill a line.
    pub want: ByteMask,
    /// The report's `v_in/out`: what is to be written, or has been read.
    pub value: Bytes,
}

impl Device {
    /// A load.
    #[must_use]
    pub const fn load(key: LineKey, mask: ByteMask) -> Self {
        Self { key, mask, want: mask, value: Bytes::NONE }
    }
}

/// Σ_atomic: one location.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Atomic {
    /// Where.
    pub place: AtomPlace,
    /// The operation.
    pub op: AtomOp,
    /// The type.
    pub ty: AtomTy,
    /// The report's `v_out`: the old value, with the bytes of the line around it where a line is filled. For shared memory
    /// it starts at byte 0.
    pub out: Bytes,
    /// The report's `v_in,1`: the operand, and after `atomOp` the new value.
    pub first: u128,
    /// The report's `v_in,2`: the second operand (`cas`).
    pub second: u128,
    /// What an observer calls its write.
    #[serde(skip)]
    pub access_id: AccessId,
}

/// Where an atomic operation acts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum AtomPlace {
    /// Global memory.
    Global {
        /// The line.
        key: LineKey,
        /// The location's bytes, which follow each other.
        mask: ByteMask,
        /// See [`Device::want`].
        want: ByteMask,
    },
    /// The block's shared memory.
    Shared(Piece),
}

/// Bytes of shared memory that follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Piece {
    /// Offset of the first one in the block's shared memory.
    pub offset: u32,
    /// How many: at most 16.
    pub len: u8,
}

/// Σ_shared: locations that lie in different banks.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Shared {
    /// The locations.
    pub pieces: Vec<Piece>,
    /// The report's `v_in/out`: their contents one after the other; empty before a load has read.
    pub value: Vec<u8>,
}

impl Sigma {
    /// The line that a state with caches is about, and the bytes that it wants of it.
    pub(super) fn line(&self) -> Option<(LineKey, ByteMask, ByteMask)> {
        match self {
            Self::Device(d) => Some((d.key, d.mask, d.want)),
            Self::Atomic(Atomic { place: AtomPlace::Global { key, mask, want }, .. }) => Some((*key, *mask, *want)),
            _ => None,
        }
        .filter(|(key, ..)| key.space.cached())
    }

    /// The line that an operation is about.
    pub(in crate::memory::fermi) const fn key(&self) -> Option<LineKey> {
        match self {
            Self::Device(Device { key, .. }) | Self::Atomic(Atomic { place: AtomPlace::Global { key, .. }, .. }) => {
                Some(*key)
            }
            Self::Atomic(_) | Self::Shared(_) | Self::Reg | Self::Fence { .. } => None,
        }
    }

    /// Widens what is fetched.
    pub(super) fn widen(&mut self, by: ByteMask) {
        match self {
            Self::Device(d) => d.want |= by,
            Self::Atomic(Atomic { place: AtomPlace::Global { want, .. }, .. }) => *want |= by,
            _ => {}
        }
    }

    /// Where values that are read go, and `update` takes them from.
    pub(super) fn read(&mut self) -> Option<&mut Bytes> {
        match self {
            Self::Device(d) => Some(&mut d.value),
            Self::Atomic(a) => Some(&mut a.out),
            _ => None,
        }
    }

    /// What `writeMem` and `writeL1`, `writeL2` write, at its place in the line.
    pub(super) fn written(&self) -> Bytes {
        match self {
            Self::Device(d) => d.value.only(d.mask),
            Self::Atomic(a) => {
                let (at, len) = a.extent();
                let mut bytes = Bytes::NONE;
                bytes.put(at, a.first.to_le_bytes().get(..len).unwrap_or(&[]));
                bytes.written_by(at, len, a.access_id);
                bytes
            }
            _ => Bytes::NONE,
        }
    }

    /// Whether everything that the operation reads has been read.
    pub(in crate::memory::fermi) fn complete(&self) -> bool {
        match self {
            Self::Device(d) => d.mask & !d.value.mask() == 0,
            Self::Atomic(a) => a.old().is_some(),
            Self::Shared(s) => s.value.len() == s.pieces.iter().map(|p| usize::from(p.len)).sum::<usize>(),
            Self::Reg | Self::Fence { .. } => true,
        }
    }
}

impl Atomic {
    /// Offset of the location in `out`, and its size in bytes.
    fn extent(&self) -> (usize, usize) {
        match self.place {
            AtomPlace::Global { mask, .. } => (mask.trailing_zeros() as usize, mask.count_ones() as usize),
            AtomPlace::Shared(piece) => (0, usize::from(piece.len)),
        }
    }

    /// The old value, once it has been read.
    #[must_use]
    pub fn old(&self) -> Option<u128> {
        let (at, len) = self.extent();
        (0..len.min(16)).try_fold(0, |value, k| Some(value | u128::from(self.out.get(at + k)?) << (8 * k)))
    }
}
