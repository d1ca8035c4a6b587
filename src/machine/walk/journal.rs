//! The state in sections, with a number for each, and what it takes to go back.
//!
//! A step changes a warp or two, a barrier, a few bytes: only their sections are packed and hashed again, and what they
//! were goes into the journal. The number of the state is the sum of its sections' numbers, each mixed with its place.

use super::Mark;
use xxhash_rust::xxh3::xxh3_128;

/// Bytes of device memory that make a section.
pub(super) const CHUNK: usize = 512;

/// What a section was before a step.
pub(super) enum Undo<M> {
    /// A packed section.
    Section(u32, Vec<u8>, u128),
    /// A chunk of an image of memory.
    Chunk(u32, Vec<u8>, u128),
    /// A memory that has no image.
    Memory(Box<M>, u128),
}

#[derive(Default)]
struct Section {
    bytes: Vec<u8>,
    number: u128,
}

/// The state as it was last packed, and the way back.
pub(super) struct Journal<M> {
    sections: Vec<Section>,
    image: Vec<u8>,
    chunks: Vec<u128>,
    memory: u128,
    key: u128,
    undo: Vec<Undo<M>>,
    spare: Vec<Vec<u8>>,
}

/// A section's number where it stands; 0 for an empty one.
fn number(place: u64, bytes: &[u8]) -> u128 {
    const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    if bytes.is_empty() {
        return 0;
    }
    let mixed = (xxh3_128(bytes) ^ u128::from(place).wrapping_mul(ODD)).wrapping_mul(ODD);
    mixed ^ mixed >> 67
}

impl<M> Journal<M> {
    /// Nothing yet, and a memory whose image has `bytes` bytes.
    pub fn new(bytes: usize) -> Self {
        let mut new = Self {
            sections: Vec::new(),
            image: vec![0; bytes],
            chunks: Vec::new(),
            memory: 0,
            key: 0,
            undo: Vec::new(),
            spare: Vec::new(),
        };
        for k in 0..bytes.div_ceil(CHUNK) {
            let number = new.chunk_number(k);
            new.key = new.key.wrapping_add(number);
            new.chunks.push(number);
        }
        new
    }

    fn chunk(&self, k: usize) -> &[u8] {
        let end = ((k + 1) * CHUNK).min(self.image.len());
        self.image.get(k * CHUNK..end).unwrap_or(&[])
    }

    fn chunk_number(&self, k: usize) -> u128 {
        number(1 << 40 | k as u64, self.chunk(k))
    }

    pub const fn key(&self) -> u128 {
        self.key
    }

    pub const fn mark(&self) -> Mark {
        Mark(self.undo.len())
    }

    /// A section's bytes; empty where there is none.
    pub fn section(&self, place: u32) -> &[u8] {
        self.sections.get(place as usize).map_or(&[], |s| &s.bytes)
    }

    /// How many places of sections there are.
    pub fn places(&self) -> u32 {
        u32::try_from(self.sections.len()).unwrap_or(u32::MAX)
    }

    /// Takes over a section as it is now: `pack` appends its bytes.
    pub fn update(&mut self, place: u32, pack: impl FnOnce(&mut Vec<u8>)) {
        let at = place as usize;
        if self.sections.len() <= at {
            self.sections.resize_with(at + 1, Section::default);
        }
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        pack(&mut bytes);
        let section = &mut self.sections[at];
        if section.bytes == bytes {
            self.spare.push(bytes);
            return;
        }
        let number = number(place.into(), &bytes);
        self.key = self.key.wrapping_sub(section.number).wrapping_add(number);
        let before = std::mem::replace(section, Section { bytes, number });
        self.undo.push(Undo::Section(place, before.bytes, before.number));
    }

    /// Takes over the image of memory as it is now.
    pub fn update_image(&mut self, now: &[u8]) {
        for (k, new) in now.chunks(CHUNK).enumerate() {
            let at = k * CHUNK;
            let Some(old) = self.image.get_mut(at..at + new.len()) else { return };
            if old == new {
                continue;
            }
            let mut before = self.spare.pop().unwrap_or_default();
            before.clear();
            before.extend_from_slice(old);
            old.copy_from_slice(new);
            let number = self.chunk_number(k);
            let last = std::mem::replace(&mut self.chunks[k], number);
            self.key = self.key.wrapping_sub(last).wrapping_add(number);
            self.undo.push(Undo::Chunk(u32::try_from(k).unwrap_or(u32::MAX), before, last));
        }
    }

    /// Takes over the number of a memory that has no image; `before` gives what it was.
    pub fn update_memory(&mut self, digest: u128, before: impl FnOnce() -> Box<M>) {
        if digest != self.memory {
            let last = std::mem::replace(&mut self.memory, digest);
            self.key = self.key.wrapping_sub(last).wrapping_add(digest);
            self.undo.push(Undo::Memory(before(), last));
        }
    }

    /// The image of memory as last taken over.
    pub fn image(&self) -> &[u8] {
        &self.image
    }

    /// Forgets how to go back.
    pub fn settle(&mut self) {
        self.undo.clear();
    }

    /// Undoes the last change after a mark: `section` is told the place of a section and `chunk` the range of the image
    /// that were put back, `memory` gets the memory.
    pub fn back(&mut self, to: Mark) -> Option<Back<M>> {
        if self.undo.len() <= to.0 {
            return None;
        }
        Some(match self.undo.pop()? {
            Undo::Section(place, bytes, number) => {
                let section = self.sections.get_mut(place as usize)?;
                let now = std::mem::replace(section, Section { bytes, number });
                self.key = self.key.wrapping_sub(now.number).wrapping_add(number);
                self.spare.push(now.bytes);
                Back::Section(place)
            }
            Undo::Chunk(k, bytes, number) => {
                let at = k as usize * CHUNK;
                self.image.get_mut(at..at + bytes.len())?.copy_from_slice(&bytes);
                let range = at..at + bytes.len();
                self.spare.push(bytes);
                let now = std::mem::replace(self.chunks.get_mut(k as usize)?, number);
                self.key = self.key.wrapping_sub(now).wrapping_add(number);
                Back::Chunk(range)
            }
            Undo::Memory(memory, number) => {
                let now = std::mem::replace(&mut self.memory, number);
                self.key = self.key.wrapping_sub(now).wrapping_add(number);
                Back::Memory(memory)
            }
        })
    }

    /// Everything that the number of the state is made from.
    pub fn whole(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for section in &self.sections {
            all.extend_from_slice(&(section.bytes.len() as u64).to_le_bytes());
            all.extend_from_slice(&section.bytes);
        }
        all.extend_from_slice(&self.image);
        all.extend_from_slice(&self.memory.to_le_bytes());
        all
    }
}

/// What was put back in the journal and has to be put back in the device.
pub(super) enum Back<M> {
    Section(u32),
    Chunk(std::ops::Range<usize>),
    Memory(Box<M>),
}
