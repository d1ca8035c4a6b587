//! Objects of memory: buffers, variables, blocks of the heap, with their names.

use serde::{Serialize, Serializer};
use std::ops::Range;

/// What a block of memory is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AllocKind {
    /// A buffer of the host.
    Buffer,
    /// A `.global` variable.
    Global,
    /// A `.const` variable.
    Const,
    /// Device `malloc`.
    Heap,
    /// The block's shared memory.
    Shared,
    /// The thread's local memory.
    Local,
    /// The kernel's parameters.
    Param,
}

/// A state space, as messages call it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "named as the state spaces of PTX")]
pub enum Space {
    Global,
    Constant,
    Shared,
    Local,
    Parameter,
}

impl AllocKind {
    /// The state space that such a block belongs to.
    #[must_use]
    pub const fn space(self) -> Space {
        match self {
            Self::Buffer | Self::Global | Self::Heap => Space::Global,
            Self::Const => Space::Constant,
            Self::Shared => Space::Shared,
            Self::Local => Space::Local,
            Self::Param => Space::Parameter,
        }
    }

    /// As data, the state space.
    ///
    /// # Errors
    /// Those of the serialiser.
    pub fn in_space<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.space().serialize(serializer)
    }
}

/// A part of a buffer that the host has not written before the first launch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Unwritten {
    /// The bytes, from the buffer's start.
    pub bytes: Range<u64>,
    /// Nobody said so: nothing was said, and the bytes are taken to be zeros.
    pub assumed: bool,
}

/// A piece of device memory that has a name.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Named {
    /// The name of the buffer or variable.
    pub name: String,
    /// What it is.
    pub kind: AllocKind,
    /// Its first byte, in the generic address space.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The part that the host has not written.
    pub unwritten: Option<Unwritten>,
}

/// Where in a buffer or variable an address lies.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inside {
    /// Its name, or "" when it has none; as data, null.
    #[serde(serialize_with = "Inside::as_name")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub name: String,
    /// What it is; as data, its state space.
    #[serde(rename = "space", serialize_with = "AllocKind::in_space")]
    #[cfg_attr(feature = "schema", schemars(with = "Space"))]
    pub kind: AllocKind,
    /// Bytes from its start; from that of the block's shared memory, where that has no name here.
    pub offset: u64,
}

impl Inside {
    /// Its name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        Some(self.name.as_str()).filter(|n| !n.is_empty())
    }

    fn as_name<S: Serializer>(name: &str, serializer: S) -> Result<S::Ok, S::Error> {
        Some(name).filter(|n| !n.is_empty()).serialize(serializer)
    }

    /// Where an address lies among these.
    #[must_use]
    pub fn of(all: &[Named], address: u64) -> Option<Self> {
        let Named { name, kind, address: start, .. } =
            all.iter().find(|n| address.wrapping_sub(n.address) < n.bytes)?;
        Some(Self { name: name.clone(), kind: *kind, offset: address - start })
    }
}
