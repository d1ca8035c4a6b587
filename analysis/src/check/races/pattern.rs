//! How the addresses of a warp's accesses lie.

use crate::base::{Best, LANES, LaneMask, Tier};
use crate::verdict::Stride;
use pulp::{Simd, WithSimd};

/// Lanes of half a warp, and words of a row.
pub(super) const HALF: usize = 16;
/// They, as a mask.
pub(super) const FULL: LaneMask = (1 << HALF) - 1;
/// Bytes of a row.
const ROW: u64 = 4 * HALF as u64;

/// How the words lie that half a warp accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pattern {
    /// All lanes access a row, one word after another. Its address is a multiple of its size.
    Row(u64),
    /// All lanes that take part access the word at this address.
    One(u64),
    /// The words lie in the row at this address.
    Within(u64),
    /// Anything else.
    Apart,
}

impl Pattern {
    /// The patterns of both halves of a warp; `strides`: what is known of them.
    #[inline]
    pub fn of(addresses: &[u64; LANES], lanes: LaneMask, strides: [Stride; 2]) -> [Self; 2] {
        let [low, high] = strides;
        match (Self::known(low, lanes & FULL), Self::known(high, lanes >> HALF)) {
            (Some(low), Some(high)) => {
                debug_assert_eq!(
                    [low, high],
                    Best::run(Sort { addresses, lanes }),
                    "a memory says how its accesses lie"
                );
                [low, high]
            }
            _ => Best::run(Sort { addresses, lanes }),
        }
    }

    /// The pattern of a half, where its stride tells.
    #[inline(always)]
    fn known(stride: Stride, lanes: LaneMask) -> Option<Self> {
        match stride {
            Stride::Row(row) if lanes == FULL && row.is_multiple_of(ROW) => Some(Self::Row(row)),
            Stride::Same(one) if one.is_multiple_of(4) => Some(Self::One(one)),
            _ => None,
        }
    }

    #[inline(always)]
    fn of_half(addresses: &[u64; HALF], lanes: LaneMask) -> Self {
        let first = addresses[lanes.trailing_zeros() as usize % HALF];
        let (mut order, mut bits, mut odd) = (0, 0, 0);
        if lanes == FULL {
            for (k, address) in (0..).zip(addresses) {
                order |= address ^ first.wrapping_add(4 * k);
                bits |= address ^ first;
                odd |= address;
            }
            if order == 0 && first.is_multiple_of(ROW) {
                return Self::Row(first);
            }
        } else {
            for (k, address) in (0..).zip(addresses) {
                let taken = u64::from(lanes >> k & 1).wrapping_neg();
                bits |= (address ^ first) & taken;
                odd |= address & taken;
            }
        }
        match (bits, (bits / ROW) | (odd % 4)) {
            (0, 0) => Self::One(first),
            (_, 0) => Self::Within(first - first % ROW),
            _ => Self::Apart,
        }
    }
}

/// The patterns of a warp's lanes, on vector units.
struct Sort<'a> {
    addresses: &'a [u64; LANES],
    lanes: LaneMask,
}

impl WithSimd for Sort<'_> {
    type Output = [Pattern; 2];

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) -> Self::Output {
        let Self { addresses, lanes } = self;
        let (halves, _) = addresses.as_chunks::<HALF>();
        [Pattern::of_half(&halves[0], lanes & FULL), Pattern::of_half(&halves[1], lanes >> HALF)]
    }
}

/// The lanes from the first of `lanes` on, which is given, that have one address.
#[inline]
pub(super) fn alike(addresses: &[u64; LANES], lanes: LaneMask, lane: usize) -> LaneMask {
    let address = addresses[lane & (LANES - 1)];
    let same = |k: &usize| lanes >> k & 1 == 1 && addresses[*k] == address;
    (lane..LANES).take_while(same).fold(0, |group, k| group | 1 << k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same by the definitions.
    fn plainly(addresses: &[u64], lanes: LaneMask) -> Pattern {
        let taken: Vec<u64> = (0..HALF).filter(|k| lanes >> k & 1 == 1).map(|k| addresses[k]).collect();
        let Some(&first) = taken.first() else { return Pattern::One(addresses[0]) };
        let row = first - first % ROW;
        if (0..HALF as u64).map(|k| row + 4 * k).eq(taken.iter().copied()) {
            return Pattern::Row(row);
        }
        if taken.iter().any(|a| a % 4 != 0 || a - a % ROW != row) {
            return Pattern::Apart;
        }
        if taken.iter().all(|a| *a == first) { Pattern::One(first) } else { Pattern::Within(row) }
    }

    /// What a memory says of lanes.
    fn stride(addresses: &[u64], lanes: LaneMask) -> Stride {
        let taken: Vec<usize> = (0..HALF).filter(|k| lanes >> k & 1 == 1).collect();
        let row = addresses[taken[0]].wrapping_sub(4 * taken[0] as u64);
        if taken.iter().all(|k| addresses[*k] == row.wrapping_add(4 * *k as u64)) {
            return Stride::Row(row);
        }
        let one = addresses[taken[0]];
        if taken.iter().all(|k| addresses[*k] == one) { Stride::Same(one) } else { Stride::Mixed }
    }

    fn half() -> impl Strategy<Value = Vec<u64>> {
        let base = || (0_u64..8).prop_map(|n| n * 32);
        prop_oneof![
            base().prop_map(|b| (0..16).map(|k| b + 4 * k).collect()),
            base().prop_map(|b| vec![b; HALF]),
            (base(), proptest::collection::vec(0_u64..8, HALF))
                .prop_map(|(b, w)| w.iter().map(|k| b + 4 * k).collect()),
            proptest::collection::vec(0_u64..256, HALF),
        ]
    }

    fn some() -> impl Strategy<Value = LaneMask> {
        prop_oneof![Just(FULL), 1..=FULL]
    }

    proptest! {
        #[test]
        fn patterns_are_as_defined(low in half(), high in half(), a in some(), b in some()) {
            let all: Vec<u64> = low.iter().chain(&high).copied().collect();
            let addresses: [u64; LANES] = all.try_into().unwrap_or([0; LANES]);
            let is = [plainly(&low, a), plainly(&high, b)];
            let unknown = [Stride::Mixed; 2];
            prop_assert_eq!(Pattern::of(&addresses, a | b << HALF, unknown), is);
            let strides = [stride(&low, a), stride(&high, b)];
            prop_assert_eq!(Pattern::of(&addresses, a | b << HALF, strides), is);
        }
    }
}
