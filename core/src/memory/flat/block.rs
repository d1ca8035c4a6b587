//! A block of device memory.

use crate::verdict::{AllocKind, Lifetime, Nearest, Relation, Unwritten};

/// A block of device memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Address of the first byte.
    pub address: u64,
    /// Where that is in the vector of all bytes.
    pub(super) at: usize,
    /// Size in bytes.
    pub len: u64,
    /// What it is.
    pub kind: AllocKind,
    /// Who allocated and freed it, where it is of the heap.
    pub(super) life: Option<Box<Lifetime>>,
    /// The name of the buffer or variable; "" when it has none.
    pub name: String,
    /// The part of a buffer that the host has not written.
    pub unwritten: Option<Unwritten>,
}

impl Block {
    /// Whether it was freed.
    #[must_use]
    pub fn is_freed(&self) -> bool {
        self.life.as_ref().is_some_and(|life| life.freed.is_some())
    }
}

/// What an address is nearest to in a block.
pub(super) fn nearest(block: &Block, address: u64) -> Nearest {
    let relation = if address < block.address {
        Relation::Before(block.address - address)
    } else if address - block.address >= block.len {
        Relation::After(address - block.address - block.len)
    } else {
        Relation::Inside(address - block.address)
    };
    let (name, life) = (block.name.clone(), block.life.clone());
    Nearest { name, kind: block.kind, bytes: block.len, relation, freed: block.is_freed(), life }
}
