//! Newtyped ids.

/// A source file of a [`SourceMap`](super::SourceMap).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// A program address: an index into a program environment's instructions (the report's `ProgAddr`, 5.1.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub struct Pc(pub u32);

/// A warp of a block, counted from 0 (thread `t` of the block belongs to warp `t / warp size`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub struct WarpId(pub u32);
