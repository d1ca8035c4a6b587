//! A range of addresses.

use super::{Row, Stride};
use crate::base::{LANES, LaneMask, lanes_of};

/// Bytes of a word of a [`Stride::Row`], and of half a warp's.
const WORD: u64 = 4;
const ROW: u64 = 16 * WORD;

/// A range of addresses of the generic address space.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Extent {
    /// The first one.
    pub first: u64,
    /// How many there are.
    pub bytes: u64,
}

impl Extent {
    /// Those of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let first = self.first.max(other.first);
        let end = self.end().min(other.end());
        Self { first, bytes: end.saturating_sub(first) }
    }

    const fn end(self) -> u64 {
        self.first.saturating_add(self.bytes)
    }

    /// Whether two have an address in common.
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        self.and(other).bytes != 0
    }

    /// Whether all that a row accesses lies in it.
    #[must_use]
    #[inline(always)]
    pub fn holds(self, row: &Row) -> bool {
        let (word, rest) = (u64::from(Row::WORD), u64::from(15 * row.step));
        let inside = |address: u64, bytes: u64| {
            self.bytes.checked_sub(bytes).is_some_and(|last| address.wrapping_sub(self.first) <= last)
        };
        let whole = |half: usize| row.half(half) == 0 || inside(row.first[half], rest + word);
        whole(0) && whole(1) || lanes_of(row.lanes).all(|lane| inside(row.address(lane), word))
    }

    /// Those of `lanes` whose `width` bytes from their addresses on do not all lie in the range; `strides` is how the
    /// addresses of each half lie.
    #[must_use]
    #[inline(always)]
    pub fn outside(self, (addresses, strides, width): (&[u64; LANES], [Stride; 2], u32), lanes: LaneMask) -> LaneMask {
        let Self { first, bytes } = self;
        let Some(last) = bytes.checked_sub(width.into()) else { return lanes };
        let inside = |address: u64, last: u64| address.wrapping_sub(first) <= last;
        let both = strides.iter().zip([0, 16]).all(|(stride, shift)| match stride {
            _ if lanes >> shift & 0xffff == 0 => true,
            Stride::Row(row) => bytes.checked_sub(ROW).is_some_and(|last| inside(*row, last)),
            Stride::Same(one) => inside(*one, last),
            Stride::Mixed => false,
        });
        if both {
            return 0;
        }
        let mut bad = 0;
        for (lane, address) in addresses.iter().enumerate() {
            bad |= u32::from(!inside(*address, last)) << lane;
        }
        bad & lanes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_is_outside_by_a_byte() {
        let first = 0x1000;
        let check =
            |addresses: [u64; LANES], strides, bytes| Extent { first, bytes }.outside((&addresses, strides, 4), !0);
        let row: [u64; LANES] = std::array::from_fn(|l| first + 4 * l as u64);
        let strides = [Stride::Row(first), Stride::Row(first + 64)];
        for strides in [strides, [Stride::Mixed; 2]] {
            assert_eq!(check(row, strides, 128), 0);
            assert_eq!(check(row, strides, 127), 1 << 31);
            assert_eq!(check(row.map(|a| a - 1), strides.map(|s| s.moved(1u64.wrapping_neg())), 128), 1);
            assert_eq!(check(row, strides, 3), !0);
        }
    }

    #[test]
    fn a_row_is_outside_by_a_byte() {
        let extent = Extent { first: 0x1000, bytes: 128 };
        let row = Row { first: [0x1000, 0x1040], lanes: !0, step: 4, ..Row::default() };
        assert!(extent.holds(&row) && !Extent { bytes: 127, ..extent }.holds(&row));
        assert!(!Extent { first: 0x1001, ..extent }.holds(&row) && !Extent::default().holds(&row));
        let part = Row { lanes: 0x7fff_fffe, ..row };
        assert!(
            Extent { first: 0x1004, bytes: 120 }.holds(&part) && !Extent { first: 0x1004, bytes: 119 }.holds(&part)
        );
        let one = Row { first: [0x1004; 2], step: 0, ..row };
        assert!(Extent { first: 0x1004, bytes: 4 }.holds(&one) && !Extent { first: 0x1004, bytes: 3 }.holds(&one));
    }

    #[test]
    fn what_two_have_in_common() {
        let of = |first, bytes| Extent { first, bytes };
        assert_eq!(of(8, 8).and(of(12, 100)), of(12, 4));
        assert!(!of(8, 8).meets(of(16, 8)) && of(8, 8).meets(of(15, 1)) && !of(8, 0).meets(of(0, 100)));
        assert!(of(8, u64::MAX).meets(of(u64::MAX - 1, 1)));
    }
}
