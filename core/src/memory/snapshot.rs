//! The state of memory in sections: what a search keeps of a state, compares and goes back to.
//!
//! A step changes few sections, so only those are saved again (the collapse of G. J. Holzmann, "State Compression in SPIN",
//! 1997). A section holds what later steps depend on and nothing else: equal states have equal sections, however operations
//! happen to be numbered, and what follows from other sections is left out.

use crate::verdict::Who;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A part of the state of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The blocks that programs have made and freed.
    Heap,
    /// What a warp has in flight.
    Warp(Who),
    /// What all warps share: one of [`Snapshot::sections`].
    Shared(u32),
}

/// A state in sections. One that holds nothing is empty.
pub trait Snapshot {
    /// How many sections all warps share.
    fn sections(&self) -> u32;

    /// Appends the shared sections that may have changed since this was called last.
    fn changed(&mut self, out: &mut Vec<u32>);

    /// Appends the content of a section.
    fn save(&self, part: Part, out: &mut Vec<u8>);

    /// The section becomes what was saved. Where several do, [`Part::Heap`] comes first and shared ones last, since these may
    /// name what warps have in flight.
    fn load(&mut self, part: Part, from: &[u8]);
}

/// Appends a value.
pub(super) fn put<T: Serialize>(value: &T, out: &mut Vec<u8>) {
    // Plain data: it always has a form.
    let _ = postcard::to_io(value, out);
}

/// The next value; `None` at the end.
///
/// # Panics
/// What comes next is no such value: sections never leave this process, and are loaded as they were saved.
pub(super) fn take<T: DeserializeOwned>(from: &mut &[u8]) -> Option<T> {
    if from.is_empty() {
        return None;
    }
    let (value, rest) = postcard::take_from_bytes(from).expect("a section is loaded as it was saved");
    *from = rest;
    Some(value)
}
