//! Local memory of a warp's threads.
//!
//! Each thread sees bytes 0 … of its own; here the 32-bit words of all lanes are interleaved, as the hardware does it, so
//! that lanes which access the same offset access neighbouring words, and memory grows with what is used.

use crate::base::{LANES, Lanes32};

/// The local memory of one warp.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LocalMemory {
    rows: Vec<Lanes32>,
    /// Bytes per thread that are valid: frames and `alloca` so far.
    extent: u32,
    /// Whether anything was written since the last [`LocalMemory::renew`].
    written: bool,
}

impl LocalMemory {
    /// Bytes per thread that may be accessed.
    #[must_use]
    pub const fn extent(&self) -> u32 {
        self.extent
    }

    /// Whether anything was written since the last [`LocalMemory::renew`].
    #[must_use]
    pub const fn is_written(&self) -> bool {
        self.written
    }

    /// The 32-bit words within the extent, each for all lanes.
    #[must_use]
    pub fn rows(&self) -> &[Lanes32] {
        self.rows.get(..self.extent.div_ceil(4) as usize).unwrap_or(&[])
    }

    /// Bytes of this computer that `bytes` of each thread take.
    #[must_use]
    pub const fn bytes_of(bytes: u64) -> u64 {
        bytes.div_ceil(4).saturating_mul(size_of::<Lanes32>() as u64)
    }

    /// Makes the first `bytes` of every thread's local memory accessible; new ones are zero.
    #[inline]
    pub fn reach(&mut self, bytes: u32) {
        if bytes > self.extent {
            self.extent = bytes;
            let rows = bytes.div_ceil(4) as usize;
            if rows > self.rows.len() {
                self.rows.resize(rows, Lanes32::ZERO);
            }
        }
    }

    /// Back to zeroed memory of `bytes` per thread; costs nothing when none was written.
    #[inline]
    pub fn renew(&mut self, bytes: u32) {
        if self.written {
            self.rows.clear();
            self.written = false;
        }
        self.extent = 0;
        self.reach(bytes);
    }

    /// The 32-bit word at a multiple of four, for all lanes.
    #[must_use]
    pub fn row(&self, offset: u64) -> Option<&Lanes32> {
        self.rows.get(usize::try_from(offset / 4).ok()?)
    }

    /// The 32-bit word at a multiple of four, for all lanes.
    pub fn row_mut(&mut self, offset: u64) -> Option<&mut Lanes32> {
        self.written = true;
        self.rows.get_mut(usize::try_from(offset / 4).ok()?)
    }

    /// Some words within the extent, each for all lanes, from one on; they count as written if they may be. `None`: they are not there.
    pub fn part(&mut self, first: usize, count: usize, writes: bool) -> Option<&mut [Lanes32]> {
        let all = (self.extent / 4) as usize;
        let part = self.rows.get_mut(..all)?.get_mut(first..first.checked_add(count)?)?;
        self.written |= writes;
        Some(part)
    }

    /// Reads `bytes` (at most 8) of a lane, little-endian; zero beyond the extent.
    #[must_use]
    pub fn read(&self, lane: usize, offset: u64, bytes: u32) -> u64 {
        let mut value = 0;
        for k in 0..u64::from(bytes) {
            let at = offset + k;
            let word = self.row(at).map_or(0, |r| r.0[lane % LANES]);
            value |= u64::from(word >> (at % 4 * 8) & 0xff) << (k * 8);
        }
        value
    }

    /// Writes `bytes` (at most 8) of a lane, little-endian.
    pub fn write(&mut self, lane: usize, offset: u64, bytes: u32, value: u64) {
        for k in 0..u64::from(bytes) {
            let at = offset + k;
            if let Some(row) = self.row_mut(at) {
                let shift = at % 4 * 8;
                let byte = u32::try_from(value >> (k * 8) & 0xff).unwrap_or(0);
                let word = &mut row.0[lane % LANES];
                *word = *word & !(0xff << shift) | byte << shift;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_have_their_own_bytes() {
        let mut m = LocalMemory::default();
        m.reach(16);
        m.write(3, 5, 8, 0x1122_3344_5566_7788);
        m.write(4, 5, 2, 0xabcd);
        assert_eq!(m.read(3, 5, 8), 0x1122_3344_5566_7788);
        assert_eq!(m.read(3, 7, 2), 0x5566);
        assert_eq!(m.read(4, 5, 8), 0xabcd);
        m.renew(16);
        assert_eq!(m.read(3, 5, 8), 0);
    }
}
