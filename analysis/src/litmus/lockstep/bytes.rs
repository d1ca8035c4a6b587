//! Into which parts accesses are taken apart: the coarsest ones of which all are made up, and single bytes where lanes of one
//! instruction store to the same ones, since each byte has a last one of its own there (D-lsc-bytes).

use super::tree::{LOCATION, Op, Program, Spot};
use crate::base::sorted::{SortedMap, SortedSet};

/// By location, the bytes that parts begin at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Cuts(SortedMap<u32, SortedSet<u32>>);

/// The bytes of a spot: the first, and the first behind it.
fn range(spot: &Spot) -> (u32, u32) {
    (spot.offset, spot.offset + spot.size.bytes())
}

impl Cuts {
    /// The cuts of a program whose columns are in lockstep as `groups` says; `number` gives the numbers of locations. `whole`: locations
    /// that are looked at in the end, all of each.
    pub(super) fn of(program: &Program, groups: &[Vec<usize>], number: &dyn Fn(&str) -> u32, whole: &[u32]) -> Self {
        let mut all: SortedMap<u32, SortedSet<u32>> = SortedMap::new();
        let whole = whole.iter().map(|location| (*location, (0, LOCATION)));
        let cells = program.rows.iter().flatten().flatten();
        let spots = cells.filter_map(|cell| cell.kind.spot());
        for (location, (from, to)) in spots.map(|spot| (number(&spot.location.name), range(spot))).chain(whole) {
            all.entry(location).or_default().extend([from, to]);
        }
        for group in groups {
            for (_, cells) in program.rows_of(group) {
                let stores: Vec<&Spot> = cells
                    .iter()
                    .filter_map(|(_, cell)| match &cell.kind {
                        Op::Store { to, .. } => Some(to),
                        _ => None,
                    })
                    .collect();
                for (k, one) in stores.iter().enumerate() {
                    for other in stores[k + 1..].iter().filter(|other| other.location.name == one.location.name) {
                        let ((a, b), (c, d)) = (range(one), range(other));
                        all.entry(number(&one.location.name)).or_default().extend(a.max(c)..=b.min(d));
                    }
                }
            }
        }
        Self(all)
    }

    /// The parts of bytes of a location: where each begins and how many bytes it has.
    pub(super) fn parts(&self, location: u32, offset: u32, bytes: u32) -> Vec<(u32, u32)> {
        let end = offset + bytes;
        let inside = self.0.get(&location).into_iter().flat_map(|cuts| cuts.range(offset + 1..end.max(offset + 1)));
        let ends: Vec<u32> = inside.copied().chain([end]).collect();
        let begins = [offset].into_iter().chain(ends.iter().copied());
        begins.zip(&ends).map(|(from, to)| (from, to - from)).collect()
    }
}

/// So many low bytes of a value.
pub(super) const fn low(value: u64, bytes: u32) -> u64 {
    if bytes >= 8 { value } else { value & ((1 << (8 * bytes)) - 1) }
}

/// Bytes of a value, from one on.
pub(super) const fn part(value: u64, first: u32, bytes: u32) -> u64 {
    low(value >> (8 * (first % 8)), bytes)
}
