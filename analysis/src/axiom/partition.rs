//! Parts of accesses that overlap in part: the coarsest ones of which each access is made up.

use super::program::{Place, Trace};
use crate::base::sorted::{SortedMap, SortedSet};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// What an access is made up of, in ascending order.
pub(super) type Parts = SmallVec<[Place; 4]>;

/// The places that were accessed so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    places: FxHashSet<Place>,
    /// By location: where accesses begin, and how many bytes they have.
    ranges: SortedMap<u32, SortedSet<(u32, u32)>>,
    /// The widest access.
    widest: u32,
}

impl Seen {
    /// Adds what a run accesses; whether some of it is new and overlaps something in part.
    pub(super) fn trace(&mut self, trace: &Trace) -> bool {
        let mut mixed = false;
        for place in trace.events.iter().filter_map(|event| event.place) {
            mixed |= self.add(place);
        }
        mixed
    }

    /// Adds a place; whether it is new and overlaps another one in part.
    pub(super) fn add(&mut self, place: Place) -> bool {
        if !self.places.insert(place) {
            return false;
        }
        self.widest = self.widest.max(place.bytes);
        let here = self.ranges.entry(place.location).or_default();
        let end = place.offset.saturating_add(place.bytes);
        let near = here.range((place.offset.saturating_sub(self.widest), 0)..(end, 0));
        let mixed = near.iter().any(|(offset, bytes)| {
            offset.saturating_add(*bytes) > place.offset && (*offset, *bytes) != (place.offset, place.bytes)
        });
        here.insert((place.offset, place.bytes));
        mixed
    }

    /// The parts that this makes.
    pub(super) fn partition(&self) -> Partition {
        let mut cuts: SortedMap<u32, SortedSet<u32>> = SortedMap::new();
        for (location, ranges) in &self.ranges {
            let ends = |(offset, bytes): &(u32, u32)| [*offset, offset.saturating_add(*bytes)];
            let edges: SortedSet<u32> = ranges.iter().flat_map(ends).collect();
            for (offset, bytes) in ranges {
                let inside = edges.range(offset + 1..offset.saturating_add(*bytes).max(offset + 1));
                cuts.entry(*location).or_default().extend(inside.iter().copied());
            }
        }
        cuts.retain(|_, inside| !inside.is_empty());
        Partition { cuts }
    }
}

/// Where accesses are taken apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Partition {
    /// By location: the bytes that parts begin at.
    cuts: SortedMap<u32, SortedSet<u32>>,
}

impl Partition {
    /// Whether no access is taken apart.
    pub(super) fn is_empty(&self) -> bool {
        self.cuts.is_empty()
    }

    /// The parts of a place: itself alone where nothing cuts it.
    pub(super) fn of(&self, place: Place) -> Parts {
        let mut parts = Parts::new();
        let mut offset = place.offset;
        let end = place.offset.saturating_add(place.bytes);
        if let Some(cuts) = self.cuts.get(&place.location).filter(|_| place.bytes > 1) {
            for cut in cuts.range(offset + 1..end) {
                parts.push(Place { offset, bytes: cut - offset, ..place });
                offset = *cut;
            }
        }
        parts.push(Place { offset, bytes: end - offset, ..place });
        parts
    }
}

/// The value of a part of a place that holds a value.
pub(super) fn part_of(place: Place, value: u64, part: Place) -> u64 {
    let low = value.checked_shr(8 * part.offset.saturating_sub(place.offset)).unwrap_or(0);
    if part.bytes >= 8 { low } else { low & ((1 << (8 * part.bytes)) - 1) }
}

/// The value of a place, of those of its parts; none: some is not known.
pub(super) fn whole_of(place: Place, parts: impl IntoIterator<Item = (Place, Option<u64>)>) -> Option<u64> {
    parts.into_iter().try_fold(0, |all, (part, value)| {
        let value = part_of(part, value?, part);
        Some(all | value.checked_shl(8 * part.offset.saturating_sub(place.offset)).unwrap_or(0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: u32, bytes: u32) -> Place {
        Place { location: 3, address: 3, offset, bytes }
    }

    fn parts(seen: &[(u32, u32)], of: (u32, u32)) -> Vec<(u32, u32)> {
        let mut all = Seen::default();
        for (offset, bytes) in seen {
            all.add(at(*offset, *bytes));
        }
        all.partition().of(at(of.0, of.1)).iter().map(|part| (part.offset, part.bytes)).collect()
    }

    #[test]
    fn parts_are_the_coarsest() {
        assert_eq!(parts(&[(0, 8), (0, 4)], (0, 8)), [(0, 4), (4, 4)]);
        assert_eq!(parts(&[(0, 8), (0, 4)], (0, 4)), [(0, 4)]);
        assert_eq!(parts(&[(0, 8), (2, 1)], (0, 8)), [(0, 2), (2, 1), (3, 5)]);
        // Neighbours do not overlap.
        assert_eq!(parts(&[(0, 4), (4, 4), (8, 8)], (8, 8)), [(8, 8)]);
        assert_eq!(parts(&[(0, 4), (2, 4)], (2, 4)), [(2, 2), (4, 2)]);
    }

    #[test]
    fn only_what_overlaps_in_part_is_new() {
        let mut seen = Seen::default();
        assert!(!seen.add(at(0, 8)));
        assert!(!seen.add(at(0, 8)));
        assert!(!seen.add(at(8, 4)));
        assert!(seen.add(at(4, 4)));
        assert!(!seen.add(at(4, 4)));
        assert!(seen.add(at(6, 8)));
    }

    #[test]
    fn values_are_taken_apart_and_put_together() {
        let (place, value) = (at(16, 8), 0x1122_3344_5566_7788);
        let cut = [at(16, 2), at(18, 1), at(19, 5)];
        let values = cut.map(|part| part_of(place, value, part));
        assert_eq!(values, [0x7788, 0x66, 0x11_2233_4455]);
        assert_eq!(whole_of(place, cut.into_iter().zip(values.map(Some))), Some(value));
        assert_eq!(whole_of(place, [(cut[0], Some(1)), (cut[1], None)]), None);
    }
}
