//! What is known of contents where agents that are alike are not told apart (D-symmetry): numbers without who it is.

use super::store::Content;
use crate::machine::alike::Alike;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

/// What is known of contents beside their bytes.
#[derive(Default)]
pub(super) struct Parts {
    /// By launch; none at all where nobody is like anybody in any of them.
    pub alike: Vec<Option<Arc<Alike>>>,
    /// Of a block: a number without who waits at its barriers.
    pub blocks: FxHashMap<Content, u128>,
    /// Of a warp: a number for each of its lanes.
    pub lanes: FxHashMap<Content, Box<[u128]>>,
    bytes: usize,
}

impl Parts {
    /// Whether nobody is like anybody in any launch.
    pub const fn is_idle(&self) -> bool {
        self.alike.is_empty()
    }

    pub fn of(&self, launch: u32) -> Option<&Alike> {
        self.alike.get(launch as usize)?.as_deref()
    }

    /// Takes note of a block that is packed; `canonical`: its bytes without who it is and who waits.
    pub fn note_block(&mut self, content: Content, canonical: impl FnOnce() -> Vec<u8>) {
        self.blocks.entry(content).or_insert_with(|| {
            self.bytes += 48;
            xxh3_128(&canonical())
        });
    }

    /// Whether the lanes of a warp are known.
    pub fn knows_lanes(&self, content: Content) -> bool {
        self.lanes.contains_key(&content)
    }

    /// Takes note of a warp that is packed, lane by lane.
    pub fn note_lanes(&mut self, content: Content, lanes: Box<[u128]>) {
        self.bytes += lanes.len() * 16 + 48;
        self.lanes.insert(content, lanes);
    }

    /// How many bytes this takes, about.
    pub const fn held(&self) -> usize {
        self.bytes
    }
}

/// Numbers of the current state, as far as they are known: a step changes one block or two.
#[derive(Default)]
pub(super) struct Known {
    /// The launch that they are of.
    pub launch: Option<u32>,
    /// By slot: whether its numbers are those of what is there now.
    pub valid: Vec<bool>,
    /// By slot: whether there is a block, and its number.
    pub blocks: Vec<Option<u128>>,
    /// Slot by slot, those of warps or lanes.
    pub within: Vec<u128>,
    /// Warps or lanes in the order in which they were put last, which is nearly that of the next state.
    pub order: Vec<u16>,
}

impl Known {
    /// Something has changed in a slot.
    pub fn forget(&mut self, slot: usize) {
        if let Some(valid) = self.valid.get_mut(slot) {
            *valid = false;
        }
    }
}

/// One more number of a sequence.
pub(super) fn mix(sum: u128, next: u128) -> u128 {
    const ODD: u128 = 0xd6e8_feb8_6659_fd93_a5a3_5625_c1f6_4b8f;
    let mixed = (sum ^ next).wrapping_mul(ODD);
    (mixed ^ mixed >> 71).wrapping_mul(ODD)
}
