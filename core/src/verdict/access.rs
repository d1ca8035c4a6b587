//! Accesses of memory as observers see them.

use super::AccessId;
use crate::base::{Frame, LANES, LaneMask, Pc, number};
use serde::Serialize;
use std::cell::Cell;

/// The kind of a memory access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AccessKind {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An atomic operation.
    Atomic,
}

/// A memory access of a warp: one footprint per lane.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// The instruction.
    pub pc: Pc,
    /// The lanes that access memory.
    pub lanes: LaneMask,
    /// The lanes of the instruction that are not ordered among each other: more, where each lane's access is told by itself.
    pub together: LaneMask,
    /// The number of the first element, where each element's access is told by itself.
    pub element: u8,
    /// What they do.
    pub kind: AccessKind,
    /// First address of each lane in the generic address space (local addresses: the thread's own window).
    pub addresses: &'a [u64; LANES],
    /// How the addresses of each half of the warp lie, where memory has found that out.
    pub strides: [Stride; 2],
    /// Bytes per lane.
    pub bytes: u32,
    /// The registers before it, in which a store's values are.
    pub regs: &'a Frame,
    /// Memory before it.
    pub memory: Contents<'a>,
    /// Where memory acts later: the observer may name the access here, and is told of [`Event::Performed`](super::Event::Performed) then. Lane `l` has
    /// the name given plus `l`.
    pub access_id: Option<&'a Cell<AccessId>>,
}

impl Access<'_> {
    /// The addresses, how they lie, and the bytes of each: see [`Extent::outside`](super::Extent::outside).
    #[must_use]
    pub const fn footprint(&self) -> (&[u64; LANES], [Stride; 2], u32) {
        (self.addresses, self.strides, self.bytes)
    }
}

/// How the addresses of those lanes of half a warp lie that access memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stride {
    /// One word after another: this is where the word of the half's first lane is, or would be.
    Row(u64),
    /// All are this.
    Same(u64),
    /// Neither, or nobody has looked.
    Mixed,
}

impl Stride {
    /// The same in a window of addresses that begins there.
    #[must_use]
    pub const fn moved(self, window: u64) -> Self {
        match self {
            Self::Row(row) => Self::Row(row.wrapping_add(window)),
            Self::Same(one) => Self::Same(one.wrapping_add(window)),
            Self::Mixed => Self::Mixed,
        }
    }
}

/// Device memory as observers see it: blocks of bytes, with much address space between them.
pub trait DeviceMemory: std::fmt::Debug {
    /// Bytes at an address. `None`: not all of them are in one block that was not freed.
    fn bytes(&self, address: u64, len: u64) -> Option<&[u8]>;
}

/// What the memories that several threads see hold.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// Device memory.
    pub device: &'a dyn DeviceMemory,
    /// Address of the first byte of `shared` in the generic address space.
    pub window: u64,
    /// The shared memory of the block.
    pub shared: &'a [u8],
    /// Whether the access takes effect later, on what caches hold by then: what it finds is not known yet.
    pub later: bool,
}

impl Contents<'_> {
    /// The number that lies at a generic address, least significant byte first; at most 8 bytes. `None`: there is none, or it
    /// is not known yet.
    #[must_use]
    pub fn number(&self, address: u64, bytes: u32) -> Option<u64> {
        if self.later {
            return None;
        }
        let near = || {
            let at = usize::try_from(address.wrapping_sub(self.window)).ok()?;
            self.shared.get(at..at.checked_add(bytes as usize)?)
        };
        let found = near().or_else(|| self.device.bytes(address, bytes.into()));
        let found = found.filter(|_| bytes <= 8)?;
        Some(number(found))
    }
}
