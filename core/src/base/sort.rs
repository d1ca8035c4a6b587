//! Sorting and collecting where it is rare: what does it is compiled once, not for each type.
//!
//! The sorts of the standard library are two thousand lines of code for each type, and there are a hundred of them; where a sort
//! is not on a hot path, these are as good (benches/README.md, "Build time"). All of them are stable.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// So many are put in their places one by one, as the standard library does.
const SHORT: usize = 20;

/// Sorts by a comparison.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if items.len() <= SHORT {
        for end in 1..items.len() {
            let mut at = end;
            while at > 0 && compare(&items[at - 1], &items[at]) == Ordering::Greater {
                items.swap(at - 1, at);
                at -= 1;
            }
        }
    } else {
        let places = order(items.len(), &|a, b| compare(&items[a], &items[b]));
        arrange(places, &mut |a, b| items.swap(a, b));
    }
}

/// Sorts by a key.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts.
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// A set of what comes. `collect` would sort it first.
pub fn set_of<T: Ord>(all: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    set.extend(all);
    set
}

/// A map of what comes; of equal keys the last one counts. `collect` would sort it first.
pub fn map_of<K: Ord, V>(all: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(all);
    map
}

/// Which element comes to each place.
fn order(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut all: Vec<usize> = (0..len).collect();
    all.sort_by(|a, b| compare(*a, *b));
    all
}

/// Swaps until each place has the element that comes there, one cycle after the other.
fn arrange(mut from: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..from.len() {
        let mut place = start;
        loop {
            let next = std::mem::replace(&mut from[place], place);
            if next == start {
                break;
            }
            swap(place, next);
            place = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As the standard library, equal elements in the order in which they were.
        #[test]
        fn sorts_as_the_standard_library(all: Vec<(u8, u16)>) {
            let (mut ours, mut theirs) = (all.clone(), all.clone());
            sort_by_key(&mut ours, |x| x.0 % 16);
            theirs.sort_by_key(|x| x.0 % 16);
            prop_assert_eq!(&ours, &theirs);
            sort(&mut ours);
            theirs.sort_unstable();
            prop_assert_eq!(&ours, &theirs);
            prop_assert_eq!(set_of(all.clone()), all.iter().copied().collect());
            prop_assert_eq!(map_of(all.clone()), all.into_iter().collect());
        }
    }
}
