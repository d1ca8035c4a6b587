//! The device's heap: how much of it is used, and what of it is never freed (D-heap).
//!
//! Its blocks are the arena's: those that have a life.

use super::block::Block;
use crate::verdict::{Bug, BugKind, LeakSite, Lifetime};
use std::collections::BTreeMap;

/// Bytes that a block takes at least, and a multiple of which it takes.
const UNIT: u64 = 16;

/// What a block takes of the heap.
const fn taken(bytes: u64) -> u64 {
    match bytes.checked_next_multiple_of(UNIT) {
        Some(0) => UNIT,
        Some(taken) => taken,
        None => u64::MAX,
    }
}

/// The blocks that are not freed.
fn live(blocks: &[Block]) -> impl Iterator<Item = (u64, &Lifetime)> {
    blocks.iter().filter(|b| !b.is_freed()).filter_map(|b| Some((b.len, b.life.as_deref()?)))
}

/// Whether a heap of `size` bytes has room for one more.
pub(super) fn has_room(blocks: &[Block], bytes: u64, size: u64) -> bool {
    live(blocks).map(|(bytes, _)| bytes).chain([bytes]).fold(0u64, |sum, bytes| sum.saturating_add(taken(bytes)))
        <= size
}

/// The blocks that are not freed, each instruction that allocated some once; the first of them by number of program and
/// address of the instruction stands for all.
pub(super) fn leaks(blocks: &[Block]) -> Option<Bug> {
    let mut sites: BTreeMap<_, LeakSite> = BTreeMap::new();
    for (bytes, Lifetime { allocated: place, .. }) in live(blocks) {
        let new = || LeakSite { place: place.clone(), blocks: 0, bytes: 0 };
        let site = sites.entry((place.program, place.pc)).or_insert_with(new);
        (site.blocks, site.bytes) = (site.blocks + 1, site.bytes.saturating_add(bytes));
    }
    let sites: Vec<LeakSite> = sites.into_values().collect();
    let place = sites.first()?.place.clone();
    let (blocks, bytes) = sites.iter().fold((0, 0), |(n, m), s| (n + s.blocks, s.bytes.saturating_add(m)));
    Some(Bug { kind: BugKind::Leak { blocks, bytes, sites }, place, other: None })
}
