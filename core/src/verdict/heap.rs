//! The life of memory that device code allocates.

use super::Place;
use serde::Serialize;

/// Who allocated a block, and who freed it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lifetime {
    /// The call of `malloc`.
    pub allocated: Place,
    /// The call of `free`, if there was one.
    pub freed: Option<Place>,
}

/// Blocks that one instruction allocated and nobody freed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeakSite {
    /// The instruction, and the thread that allocated the block at the lowest address.
    #[serde(rename = "thread")]
    pub place: Place,
    /// How many.
    pub blocks: u64,
    /// Bytes in all.
    pub bytes: u64,
}

/// What is wrong with a format of the device's `printf` (CUDA C++ Programming Guide, "Formatted Output").
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FormatProblem {
    /// There is no such conversion.
    Conversion(String),
    /// It ends within a conversion.
    Cut(String),
    /// A width or precision of more characters than any host must be able to print.
    Wide(String),
    /// A string has no end within so many bytes.
    Endless {
        /// Its address.
        address: u64,
        /// How many bytes were looked at.
        bytes: u64,
    },
}

impl FormatProblem {
    /// The conversion that it is about, if it is about one.
    #[must_use]
    pub fn conversion(&self) -> Option<&str> {
        match self {
            Self::Conversion(text) | Self::Cut(text) | Self::Wide(text) => Some(text),
            Self::Endless { .. } => None,
        }
    }
}
