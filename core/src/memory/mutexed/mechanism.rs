//! The sizes of the mechanism.

/// The sizes of the mechanism (Table 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mechanism {
    /// Bytes of a line: a power of two from 32 on, so that no access of a lane has a part in two.
    pub line: u32,
    /// Entries of the pool.
    pub entries: u32,
}

impl Default for Mechanism {
    fn default() -> Self {
        Self { line: 64, entries: 1024 }
    }
}
