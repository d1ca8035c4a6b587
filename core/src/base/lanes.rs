//! Values of a warp's lanes, struct of arrays, and the frame of registers that holds them.
//!
//! A 32-bit slot is `[u32; 32]`, a 64-bit slot `[u64; 32]`, a predicate one bit a lane. Slots start at 64-byte
//! boundaries, so that a vector register's worth of lanes is one aligned access.

use super::LaneMask;
use serde::{Deserialize, Serialize};

/// Lanes of a warp: the width of every slot, whatever warp size a run is configured with.
pub const LANES: usize = 32;

/// A 32-bit slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Lanes32(pub [u32; LANES]);

/// A 64-bit slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Lanes64(pub [u64; LANES]);

impl Lanes32 {
    /// Zero in every lane.
    pub const ZERO: Self = Self([0; LANES]);
}

impl Lanes64 {
    /// Zero in every lane.
    pub const ZERO: Self = Self([0; LANES]);
}

/// The registers of one function activation, for all lanes of a warp.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// 32-bit slots.
    pub w: Vec<Lanes32>,
    /// 64-bit slots.
    pub q: Vec<Lanes64>,
    /// Predicates, one bit a lane.
    pub p: Vec<LaneMask>,
}

impl Frame {
    /// Makes room for so many slots of each class; slots that are there keep their values.
    pub fn grow(&mut self, w: usize, q: usize, p: usize) {
        if self.w.len() < w {
            self.w.resize(w, Lanes32::ZERO);
        }
        if self.q.len() < q {
            self.q.resize(q, Lanes64::ZERO);
        }
        if self.p.len() < p {
            self.p.resize(p, 0);
        }
    }
}

/// Tables that vectorised loops read. They come from memory on purpose: were they constants, the compiler would fold
/// lane 0 and turn the loops into scalar code.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct LaneTables {
    /// `1 << lane`
    pub bit: [u32; LANES],
    /// `4 * lane`
    pub times4: [u64; LANES],
    /// Zero.
    pub zero: usize,
}

impl Default for LaneTables {
    /// The tables, opaque to the optimiser.
    fn default() -> Self {
        std::hint::black_box(Self {
            bit: std::array::from_fn(|k| 1 << k),
            times4: std::array::from_fn(|k| 4 * k as u64),
            zero: 0,
        })
    }
}

/// A mask as lanes: all ones where the bit is set. Blending by it needs no conditional on a lane.
#[inline(always)]
#[must_use]
pub fn expand(mask: LaneMask, tables: &LaneTables) -> Lanes32 {
    if mask == !0 {
        return Lanes32([!0; LANES]);
    }
    let mut v = [0u32; LANES];
    for (k, x) in v.iter_mut().enumerate() {
        *x = u32::from(mask & tables.bit[k] != 0).wrapping_neg();
    }
    Lanes32(v)
}

/// Writes `new` into the lanes that are all ones in `lanes`.
#[inline(always)]
pub fn blend32(d: &mut Lanes32, new: &[u32; LANES], lanes: &Lanes32) {
    for (k, x) in d.0.iter_mut().enumerate() {
        *x = (new[k] & lanes.0[k]) | (*x & !lanes.0[k]);
    }
}

/// Writes `new` into the lanes that are all ones in `lanes`.
#[inline(always)]
pub fn blend64(d: &mut Lanes64, new: &[u64; LANES], lanes: &Lanes32) {
    for (k, x) in d.0.iter_mut().enumerate() {
        let m = i64::from(lanes.0[k].cast_signed()).cast_unsigned();
        *x = (new[k] & m) | (*x & !m);
    }
}

/// Writes predicate bits into the lanes of `mask`.
#[inline(always)]
pub fn put_mask(d: &mut LaneMask, new: LaneMask, mask: LaneMask) {
    *d = (*d & !mask) | (new & mask);
}
