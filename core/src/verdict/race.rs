//! A data race: two accesses that conflict, that nothing orders, and that are not morally strong (D-race).

use super::{AccessKind, AllocKind, Inside};
use serde::Serialize;

/// A data race between two accesses. The bug's place is the later one's, the other place the earlier one's.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Race {
    /// The access that came first in this run.
    pub first: Party,
    /// The access that came second.
    pub second: Party,
    /// The state space: global or shared.
    #[serde(serialize_with = "AllocKind::in_space")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::verdict::Space"))]
    pub space: AllocKind,
    /// Why nothing makes it good.
    pub cause: Unordered,
    /// The buffer or variable that the second access lies in.
    pub inside: Option<Inside>,
    /// Whether both were stores of the same value to the same bytes (`--benign` hides such races).
    pub same_value: bool,
}

/// One access of a race.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Party {
    /// What it does.
    pub kind: AccessKind,
    /// Whether it is strong (`.relaxed` or stronger, `.volatile`, atomic).
    pub strong: bool,
    /// Its address: of the generic address space.
    pub address: u64,
    /// Its length in bytes: of the element that takes part, where it is a vector.
    pub bytes: u32,
    /// What it wrote or read, least significant byte first; what an atomic operation found. `None` where memory has
    /// changed since, and above 8 bytes.
    pub value: Option<u64>,
}

/// Why two conflicting accesses are a race; the farther apart the threads, the greater.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unordered {
    /// Lanes of one instruction write one location: which one stays is open.
    SameInstruction,
    /// One is of an asynchronous copy that its thread has not waited for.
    InFlight,
    /// One is of a bulk copy, which goes by another proxy, and no fence between proxies comes between.
    Proxy,
    /// Threads of one warp, with no synchronisation of the warp between.
    SameWarp,
    /// Threads of one block, with no barrier between.
    SameBlock,
    /// Threads of different blocks, with no release and acquire between.
    OtherBlock,
    /// Both are strong, but the scope of one does not include the other's thread.
    Scopes,
    /// Both are strong, but they overlap partly: their sizes differ.
    Sizes,
}
