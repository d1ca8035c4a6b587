//! What a run that never ends is called, and why it does not end (`semantics.md`, section 5).

use super::{Class, Inside, Kind, Place, Space, Token, Who};
use crate::base::{LaneMask, Pc};
use serde::{Serialize, Serializer};

/// Why a run never ends: who runs on, what they read, and who does not come to write it.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hang {
    /// What it is called. `None`: nobody has looked, or the search that would tell reached its limit.
    #[serde(serialize_with = "named")]
    #[cfg_attr(feature = "schema", schemars(with = "String", extend("enum" = ["simt-deadlock", "starvation", "mixed", "livelock", "endless"])))]
    pub class: Option<Class>,
    /// Who runs on: one for the lanes of a warp that go through the same instructions.
    pub spinners: Vec<Spinner>,
    /// What they read while they do: the locations that others would write, or else all.
    pub reads: Vec<SpinRead>,
    /// The locks that are waited for and held.
    pub locks: Vec<Lock>,
    /// Live lanes that execute nothing.
    pub blocked: Vec<Blocked>,
    /// The token stacks of the warps that have any.
    pub stacks: Vec<Stack>,
    /// The blocks that are not issued, if there are any.
    pub unissued: Option<Unissued>,
    /// What `locks` is found from, where nobody has looked yet.
    #[serde(skip)]
    pub taken: Vec<Taken>,
}

/// A location that is waited for by `cas` or `exch`, and that another thread has taken so and not given back.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lock {
    /// Its address in the generic address space.
    pub address: u64,
    /// The block whose shared memory it belongs to.
    pub block: Option<u64>,
    /// The buffer or variable that it lies in.
    #[serde(flatten, serialize_with = "spot")]
    #[cfg_attr(feature = "schema", schemars(with = "Spot"))]
    pub inside: Option<Inside>,
    /// Who holds it, and the instruction that took it.
    pub holder: Place,
    /// Whether the holder has exited.
    pub exited: bool,
    /// Who waits for it, and by which instruction.
    pub waiters: Vec<Place>,
}

/// Atomic operations on a location since which nobody has stored to it: the last of each lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// Its address in the generic address space.
    pub address: u64,
    /// The block whose shared memory it belongs to.
    pub block: Option<u64>,
    /// The lanes of a warp, the instruction, and what the location held before it where that was known.
    pub by: Vec<(Who, LaneMask, Pc, Option<u64>)>,
}

/// Lanes of a warp that run on.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spinner {
    /// The warp.
    #[serde(skip)]
    pub who: Who,
    /// Who they are; the first instruction of their loop.
    #[serde(rename = "thread")]
    pub place: Place,
    /// The instructions that they execute, in ascending order.
    pub code: Vec<Pc>,
}

/// A location that is read again and again.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpinRead {
    /// Its address in the generic address space.
    pub address: u64,
    /// The bytes that are read.
    pub bytes: u32,
    /// The block whose shared memory it belongs to.
    pub block: Option<u64>,
    /// The buffer or variable that it lies in.
    #[serde(flatten, serialize_with = "spot")]
    #[cfg_attr(feature = "schema", schemars(with = "Spot"))]
    pub inside: Option<Inside>,
    /// The values that are read.
    pub values: Vec<u64>,
    /// Who reads it: one for each warp and instruction.
    pub readers: Vec<Place>,
    /// Who would write it, were nobody held up, and by which instruction.
    pub writers: Vec<Place>,
}

/// Lanes that execute nothing.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Blocked {
    /// The warp.
    #[serde(skip)]
    pub who: Who,
    /// Who they are, and where they would go on; those that wait for others: where they wait.
    #[serde(rename = "thread")]
    pub place: Place,
    /// What holds them.
    pub by: Holds,
}

/// What holds lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Holds {
    /// A token that is not popped, and the instruction that pushed it.
    Token {
        /// The token.
        token: Token,
        /// The instruction.
        pushed: Option<Pc>,
    },
    /// A barrier of the block: how many threads have come, of how many.
    Barrier {
        /// Its number; 16 for that of the cluster.
        id: u32,
        /// Threads that have come.
        arrived: u32,
        /// Threads that it awaits.
        expected: u32,
    },
    /// Other members of a mask, or of the warp.
    Members {
        /// The mask; that of the warp has all lanes.
        mask: LaneMask,
    },
    /// Nothing: they can step now and then, and a fair scheduler need not let them.
    Nothing,
}

/// The tokens of a warp, the top last, each with the instruction that pushed it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stack {
    /// The warp.
    #[serde(flatten, serialize_with = "warp")]
    #[cfg_attr(feature = "schema", schemars(with = "Warp"))]
    pub who: Who,
    /// Its tokens; as data, the top first.
    #[serde(serialize_with = "pushed")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Pushed>"))]
    pub tokens: Vec<(Token, Pc)>,
}

/// A token of a stack, as data.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Pushed {
    /// The token.
    token: Token,
    /// The instruction that pushed it.
    pushed: Pc,
}

fn pushed<S: Serializer>(stack: &[(Token, Pc)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(stack.iter().rev().map(|&(token, pushed)| Pushed { token, pushed }))
}

/// Blocks that are not issued before others end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unissued {
    /// The index of the first of them.
    pub first: u64,
    /// Blocks in the grid.
    pub total: u64,
    /// Blocks that are resident now: the device has no room for more.
    pub resident: u64,
}

/// A warp as data.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Warp {
    /// Its block.
    block: u64,
    /// The warp in its block.
    warp: u32,
}

fn warp<S: Serializer>(who: &Who, serializer: S) -> Result<S::Ok, S::Error> {
    Warp { block: who.block, warp: who.warp }.serialize(serializer)
}

/// A place in memory as data.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Spot<'a> {
    /// The buffer or variable, if it has a name.
    name: Option<&'a str>,
    /// Its state space.
    space: Space,
    /// Bytes from its start; null when it lies in none.
    offset: Option<u64>,
}

fn spot<S: Serializer>(inside: &Option<Inside>, serializer: S) -> Result<S::Ok, S::Error> {
    let (name, space) = inside.as_ref().map_or((None, Space::Global), |i| (i.name(), i.kind.space()));
    Spot { name, space, offset: inside.as_ref().map(|i| i.offset) }.serialize(serializer)
}

fn named<S: Serializer>(class: &Option<Class>, serializer: S) -> Result<S::Ok, S::Error> {
    Kind::of_class(*class).serialize(serializer)
}
