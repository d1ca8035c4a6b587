//! A row says what a tree of the standard library says.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What is done to a map, by the number of the operation.
fn apply(ours: &mut SortedMap<u8, u16>, theirs: &mut BTreeMap<u8, u16>, (what, key, value): (u8, u8, u16)) {
    let key = key % 32;
    match what % 7 {
        0 => assert_eq!(ours.insert(key, value), theirs.insert(key, value)),
        1 => assert_eq!(ours.get_mut(&key).map(|v| *v = value), theirs.get_mut(&key).map(|v| *v = value)),
        2 => assert_eq!(ours.entry(key).or_insert(value), theirs.entry(key).or_insert(value)),
        3 => {
            *ours.entry(key).or_default() ^= value;
            *theirs.entry(key).or_default() ^= value;
        }
        4 => {
            ours.retain(|k, v| (u16::from(*k) ^ *v) & 7 != value & 7);
            theirs.retain(|k, v| (u16::from(*k) ^ *v) & 7 != value & 7);
        }
        5 => assert_eq!(ours.remove(&key), theirs.remove(&key)),
        _ => {
            ours.values_mut().for_each(|v| *v = v.wrapping_add(value));
            theirs.values_mut().for_each(|v| *v = v.wrapping_add(value));
        }
    }
    assert_eq!(ours.get(&key), theirs.get(&key));
    assert_eq!((ours.contains_key(&key), ours.len()), (theirs.contains_key(&key), theirs.len()));
    assert!(ours.iter().eq(theirs.iter()) && ours.keys().eq(theirs.keys()) && ours.values().eq(theirs.values()));
    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
}

proptest! {
    #[test]
    fn maps_are_maps(deeds: Vec<(u8, u8, u16)>, more: Vec<(u8, u16)>, from: u8, to: u8) {
        let (mut ours, mut theirs) = (SortedMap::new(), BTreeMap::new());
        for deed in deeds {
            apply(&mut ours, &mut theirs, deed);
        }
        ours.extend(more.iter().copied());
        theirs.extend(more.iter().copied());
        prop_assert!(from > to || ours.range(from..=to).eq(theirs.range(from..=to)));
        prop_assert!(ours.into_iter().eq(theirs));
        let (ours, theirs): (SortedMap<_, _>, BTreeMap<_, _>) = (more.iter().copied().collect(), more.into_iter().collect());
        prop_assert!(theirs.iter().all(|(key, value)| ours[key] == *value) && ours.into_values().eq(theirs.into_values()));
    }

    #[test]
    fn sets_are_sets(deeds: Vec<(bool, u8)>, more: Vec<u8>, others: Vec<u8>, from: u8, to: u8) {
        let (mut ours, mut theirs) = (SortedSet::new(), BTreeSet::new());
        for (put, item) in deeds {
            let item = item % 32;
            if put {
                prop_assert_eq!(ours.insert(item), theirs.insert(item));
            } else {
                ours.retain(|other| *other != item);
                theirs.remove(&item);
            }
            prop_assert_eq!(ours.contains(&item), theirs.contains(&item));
        }
        ours.extend(more.iter().copied());
        theirs.extend(more);
        prop_assert!(ours.iter().eq(theirs.iter()));
        prop_assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        prop_assert!(from > to || ours.range(from..to).iter().eq(theirs.range(from..to)));
        let (other, another): (SortedSet<u8>, BTreeSet<u8>) = (others.iter().copied().collect(), others.into_iter().collect());
        prop_assert_eq!(other.is_subset(&ours), another.is_subset(&theirs));
        prop_assert_eq!(other.cmp(&ours), another.cmp(&theirs));
        prop_assert!(ours.into_iter().eq(theirs));
    }
}
