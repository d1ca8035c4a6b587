//! Contents of sections, each kept once, with what follows from them alone.

use crate::machine::control::Flow;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_128;

/// Where a section stands: a block or a warp from 0 on, a shared one of memory with the highest bit set.
pub(super) type At = u32;

/// Places of shared sections of memory.
pub(super) const MEMORY: At = 1 << 31;

/// No place.
pub(super) const NOWHERE: At = At::MAX;

/// A content: equal ones have equal numbers. The default is the empty one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Content(pub u32);

/// All contents so far.
pub(super) struct Store {
    contents: IndexSet<Box<[u8]>, FxBuildHasher>,
    hashes: Vec<u128>,
    /// The groups of lanes that can step, and in which launch.
    flows: Vec<Option<(u32, SmallVec<[Flow; 4]>)>>,
    bytes: usize,
}

impl Store {
    /// The empty content only.
    pub fn new() -> Self {
        let mut new = Self { contents: IndexSet::default(), hashes: Vec::new(), flows: Vec::new(), bytes: 0 };
        new.keep(&[]);
        new
    }

    /// Keeps a content.
    pub fn keep(&mut self, bytes: &[u8]) -> Content {
        if let Some(at) = self.contents.get_index_of(bytes) {
            return Content(u32::try_from(at).unwrap_or(u32::MAX));
        }
        let (at, _) = self.contents.insert_full(bytes.into());
        self.hashes.push(if bytes.is_empty() { 0 } else { xxh3_128(bytes) });
        self.flows.push(None);
        self.bytes += bytes.len() + size_of::<(Box<[u8]>, u128, Option<SmallVec<[Flow; 4]>>)>() + 16;
        Content(u32::try_from(at).unwrap_or(u32::MAX))
    }

    /// How many contents there are.
    pub fn count(&self) -> usize {
        self.contents.len()
    }

    /// Its bytes.
    pub fn bytes(&self, content: Content) -> &[u8] {
        self.contents.get_index(content.0 as usize).map_or(&[], |bytes| bytes)
    }

    /// A hash of its bytes; 0 for the empty one.
    pub fn hash(&self, content: Content) -> u128 {
        self.hashes[content.0 as usize]
    }

    /// A number for a content at a place; 0 for the empty one.
    pub fn number(&self, place: u64, content: Content) -> u128 {
        const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
        if content == Content::default() {
            return 0;
        }
        // Contents without a hash would be one, and with them the states that differ in them.
        let hash = self.hashes[content.0 as usize];
        let mixed = (hash ^ u128::from(place).wrapping_mul(ODD)).wrapping_mul(ODD);
        mixed ^ mixed >> 67
    }

    /// The groups of lanes that can step in a warp of this content, if they were found before.
    pub fn flows(&self, content: Content, launch: u32) -> Option<&[Flow]> {
        let (of, flows) = self.flows.get(content.0 as usize)?.as_ref()?;
        (*of == launch).then_some(flows)
    }

    /// The groups were found.
    pub fn set_flows(&mut self, content: Content, launch: u32, flows: SmallVec<[Flow; 4]>) {
        if let Some(place) = self.flows.get_mut(content.0 as usize) {
            *place = Some((launch, flows));
        }
    }

    /// Bytes that the table grows by when there are so many more contents.
    pub fn grows(&self, more: usize) -> usize {
        let full = self.contents.len() + more > self.contents.capacity();
        if full { 2 * self.contents.capacity() * size_of::<usize>() } else { 0 }
    }

    /// How many bytes all this takes, about.
    pub const fn held(&self) -> usize {
        self.bytes
    }
}
