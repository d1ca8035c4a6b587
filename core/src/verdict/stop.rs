//! How a run can stop before its program has finished.
//!
//! Six causes never mix, because a reader must know whose fault it is: the program broke a rule ([`Stop::Bug`]), no rule
//! applies any more ([`Stop::Stuck`]), a budget ended ([`Stop::Limit`]), we cannot do it ([`Stop::Unsupported`]), a
//! schedule does not fit ([`Stop::Diverged`]), we made a mistake ([`Stop::Internal`]). A panic is one of the last, too.

use super::{
    AllocKind, BarrierProblem, FormatProblem, Hang, ImageProblem, Inside, Kind, LeakSite, Lifetime, NeverPopped,
    Origin, Place, Race, Violation, Who,
};
use crate::base::{LaneMask, Pc};
use serde::{Serialize, Serializer};
use std::panic::Location;

/// Why a run stopped.
#[derive(Clone, PartialEq, Debug)]
pub enum Stop {
    /// The program broke a rule.
    Bug(Box<Bug>),
    /// The state is not final and no rule applies.
    Stuck(Box<StuckKind>),
    /// A budget ended; nothing is proved.
    Limit(LimitKind),
    /// Our gap: what it is, and where when it is an instruction.
    Unsupported(String, Option<Box<Place>>),
    /// A schedule that does not belong to this run: the decision's number and what was expected and found.
    Diverged {
        /// Number of the decision, from 0.
        decision: u64,
        /// What the schedule says.
        expected: String,
        /// What the run offers.
        found: String,
    },
    /// An error of warpstep: something does not hold that must. Nothing is said about the program.
    Internal(Box<Internal>),
}

/// An error of warpstep.
#[derive(Clone, PartialEq, Debug)]
pub struct Internal {
    /// What was relied on and does not hold, as a clause: `the token stack is empty, …`.
    pub what: String,
    /// Where warpstep noticed it, in its own source.
    pub noticed: &'static Location<'static>,
    /// Where the program was, as far as that is known.
    pub place: Option<Place>,
}

impl Stop {
    /// An error of warpstep, noticed where this is called.
    #[must_use]
    #[track_caller]
    pub fn internal(what: impl Into<String>, place: Option<Place>) -> Self {
        Self::Internal(Box::new(Internal { what: what.into(), noticed: Location::caller(), place }))
    }

    /// A run that never ends: a warp that runs on, and where it is. What it is called nobody has looked for.
    #[must_use]
    pub fn endless(who: Who, place: Place) -> Self {
        Self::Stuck(Box::new(StuckKind::Endless { tokens: Vec::new(), who, place, hang: Box::default() }))
    }

    /// Whether it is an error of warpstep: noticed, or that a thread did what it would not do alone (`--check safety`).
    #[must_use]
    pub fn is_ours(&self) -> bool {
        match self {
            Self::Internal(_) => true,
            Self::Bug(bug) => matches!(bug.kind, BugKind::Unsafe(_)),
            _ => false,
        }
    }

    /// The number of the program that it is about, as the host gave it.
    #[must_use]
    pub fn program(&self) -> u32 {
        self.places().first().map_or(0, |p| p.program)
    }

    /// Everybody who is party to it: whom its message names first, then the others.
    #[must_use]
    pub fn places(&self) -> Vec<&Place> {
        match self {
            Self::Bug(bug) => std::iter::once(&bug.place).chain(&bug.other).collect(),
            Self::Stuck(stuck) => match &**stuck {
                StuckKind::BarrierDeadlock { waiting, .. } => waiting.iter().map(|w| &w.place).collect(),
                StuckKind::Endless { tokens, place, .. } => {
                    std::iter::once(place).chain(tokens.iter().map(|t| &t.place)).collect()
                }
                StuckKind::Operations { operations } => operations.iter().map(|o| &o.place).collect(),
                StuckKind::MemoryProgram { operation, .. } => vec![&operation.place],
            },
            Self::Unsupported(_, place) => place.as_deref().into_iter().collect(),
            Self::Internal(error) => error.place.iter().collect(),
            Self::Limit(_) | Self::Diverged { .. } => Vec::new(),
        }
    }
}

/// A rule that the program broke.
#[derive(Clone, PartialEq, Debug)]
pub struct Bug {
    /// What happened.
    pub kind: BugKind,
    /// Where.
    pub place: Place,
    /// The other party, where there are two.
    pub other: Option<Place>,
}

/// How an address lies to a block of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "relation", content = "distance", rename_all = "lowercase")]
pub enum Relation {
    /// So many bytes before its start.
    Before(u64),
    /// So many bytes after its end.
    After(u64),
    /// It starts inside, at this offset, and ends beyond.
    Inside(u64),
}

/// The block of memory nearest to a wrong address.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nearest {
    /// Its name (buffer or variable), or "" when it has none.
    pub name: String,
    /// What it is.
    pub kind: AllocKind,
    /// Its size in bytes.
    pub bytes: u64,
    /// How the address lies to it.
    #[serde(flatten)]
    pub relation: Relation,
    /// Whether it was freed.
    pub freed: bool,
    /// Who allocated and freed it, where device code did.
    pub life: Option<Box<Lifetime>>,
}

/// The ways a program can break a rule.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[expect(missing_docs, reason = "fields are named for what they are: addresses, sizes in bytes, masks of lanes")]
pub enum BugKind {
    /// An access outside every block of memory of its space.
    OutOfBounds { address: u64, bytes: u32, write: bool, space: &'static str, nearest: Option<Nearest> },
    /// An access outside of the object that its address was made from, wherever it goes (reported under `--check bounds`
    /// only; D-provenance): what lies there, and the argument that the address comes from, where that is known.
    OutsideObject {
        address: u64,
        bytes: u32,
        write: bool,
        space: &'static str,
        #[serde(rename = "origin")]
        object: Box<Nearest>,
        hit: Option<Inside>,
        argument: Option<String>,
    },
    /// An access to freed memory.
    UseAfterFree { address: u64, bytes: u32, write: bool, nearest: Nearest },
    /// An access through an address within the first page.
    Null { address: u64, bytes: u32, write: bool, space: &'static str },
    /// An address that is no multiple of the access's size.
    Misaligned { address: u64, bytes: u32, write: bool, space: &'static str },
    /// An address that belongs to another state space than the instruction's.
    WrongSpace {
        address: u64,
        bytes: u32,
        write: bool,
        space: &'static str,
        #[serde(serialize_with = "AllocKind::in_space")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::verdict::Space"))]
        actual: AllocKind,
    },
    /// A write to constant memory or kernel parameters.
    WriteToReadOnly {
        address: u64,
        bytes: u32,
        /// It does write.
        write: bool,
        #[serde(serialize_with = "AllocKind::in_space")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::verdict::Space"))]
        actual: AllocKind,
    },
    /// A register or byte that was never written decides something (D-undefined).
    Uninitialised {
        #[serde(rename = "use")]
        what: UninitUse,
        register: Option<String>,
        address: Option<u64>,
        origin: Option<Box<Origin>>,
    },
    /// A lane executes a `.sync` instruction whose member mask does not name it.
    NotAMember { mask: LaneMask },
    /// A member mask names lanes that are not active at this instruction (control model `crs`).
    MembersInactive { mask: LaneMask, active: LaneMask },
    /// Members wait for lanes that can no longer come.
    MembersNeverCome { mask: LaneMask, waiting: LaneMask },
    /// A matrix instruction that some lanes of its warp do not execute; those of them that have exited or never were.
    PartialWarp { missing: LaneMask, gone: LaneMask },
    /// The size of a bulk copy is no multiple of 16.
    BulkSize { bytes: u32 },
    /// A bulk copy goes to other blocks than those that its cluster has, as a set, or to none.
    BulkBlocks { blocks: u32 },
    /// Metadata of a sparse matrix that mean nothing: which four bits from which one on, and whether indices have to ascend.
    SparsityMetadata { metadata: u32, bit: u32, indices: u32, ordered: bool },
    /// A sparsity selector beyond those that a shape has.
    SparsitySelector { selector: u32, selectors: u32 },
    /// An `mbarrier` instruction that PTX does not define (D-mbarrier).
    Barrier(BarrierProblem),
    /// A texture or surface instruction that PTX does not define (D-texture-defects).
    Image(ImageProblem),
    /// Lanes of one warp do not execute an aligned barrier together (barrier divergence).
    BarrierDivergence { arrived: LaneMask, missing: LaneMask, elsewhere: Vec<Elsewhere> },
    /// Threads for which a barrier stands have exited, or do nothing more but exit (`--check barriers`).
    BarrierExited { id: u32, arrived: LaneMask, elsewhere: Vec<Elsewhere> },
    /// A member mask names lanes that have exited (`--check barriers`).
    MembersExited { mask: LaneMask, exited: LaneMask, elsewhere: Vec<Elsewhere> },
    /// Lanes read by `shfl` from lanes that take no part in it (`--check barriers`).
    AbsentSource { readers: LaneMask, sources: LaneMask, elsewhere: Vec<Elsewhere> },
    /// A barrier number above 15.
    BarrierNumber { id: u32 },
    /// A thread count of zero or no multiple of the warp size.
    BarrierCount { count: u32 },
    /// Two arrivals at one barrier contradict each other (count or kind).
    BarrierMismatch { id: u32, first: String, second: String },
    /// A thread arrives at the barrier of its cluster again without having waited, or waits without having arrived.
    ClusterBarrier { arrives: bool },
    /// The thread's stack outgrew its local memory.
    StackOverflow { bytes: u64, limit: u64 },
    /// `assert` failed in device code.
    Assertion { message: String, file: String, line: u32, function: String },
    /// A defect of which there is nothing more to know than its kind and place: `trap`, `brkpt`, a division by zero (reported
    /// under `--check div0` only; D-div0).
    #[serde(serialize_with = "nothing")]
    #[cfg_attr(feature = "schema", schemars(with = "Nothing"))]
    Plain(Kind),
    /// A call through an address that is no function's.
    BadCallTarget { address: u64 },
    /// A call of a function that is declared but not defined.
    Undefined { function: String },
    /// `brx.idx` beyond its table.
    BadBranchIndex { index: u32, targets: u32 },
    /// The branching algorithm lost a thread or led it astray (report, chapter 6).
    Unsafe(Box<Violation>),
    /// `free` of an address that `malloc` did not give, or twice.
    BadFree { address: u64, twice: bool, life: Option<Box<Lifetime>> },
    /// Blocks that device code allocated and nobody freed, at the end of their context (reported under `--check leaks` only).
    Leak { blocks: u64, bytes: u64, sites: Vec<LeakSite> },
    /// A format of `printf` that cannot be printed.
    BadFormat {
        /// As data, the conversion as the program wrote it; null for a string without an end.
        #[serde(rename = "conversion", serialize_with = "conversion")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
        problem: FormatProblem,
    },
    /// Two accesses that nothing orders (D-race).
    Race(Box<Race>),
    /// Lanes of one instruction write different values to one location, strongly: no race, but which value stays is open.
    LaneDecides { address: u64, bytes: u32, inside: Option<Inside>, first: Option<u64>, second: Option<u64> },
}

/// A defect without particulars, as data.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Nothing {}

fn nothing<S: Serializer>(_: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    Nothing {}.serialize(serializer)
}

fn conversion<S: Serializer>(problem: &FormatProblem, serializer: S) -> Result<S::Ok, S::Error> {
    problem.conversion().serialize(serializer)
}

/// Lanes of the same block that are not where others wait for them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Elsewhere {
    /// Their warp.
    pub warp: u32,
    /// The lanes.
    pub lanes: LaneMask,
    /// Where they are.
    #[serde(skip)]
    pub pc: Pc,
    /// What they do there.
    pub doing: Doing,
}

/// What lanes do that are not where others wait for them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Doing {
    /// They go on here.
    Runs,
    /// They wait here for something else.
    Waits,
    /// They go on here, and do nothing more but exit.
    Leaves,
    /// They have exited here.
    Exited,
}

/// What an undefined value was used for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum UninitUse {
    /// As an address.
    Address,
    /// As a branch condition, guard or call target.
    Condition,
    /// As a value stored to memory that outlives the thread.
    Stored,
}

/// What a warp or lanes of it wait for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum WaitingFor {
    /// A barrier of the block; 16 is that of the cluster.
    Barrier(u32),
    /// Other members of a `.sync` instruction's mask.
    Members(LaneMask),
}

/// Lanes of a warp that wait.
#[derive(Clone, PartialEq, Debug)]
pub struct Waiting {
    /// Where, and which lanes.
    pub place: Place,
    /// For what.
    pub on: WaitingFor,
}

/// No rule applies.
#[derive(Clone, PartialEq, Debug)]
pub enum StuckKind {
    /// No warp can step and some wait at a barrier that cannot complete.
    BarrierDeadlock {
        /// Who waits.
        waiting: Vec<Waiting>,
        /// Threads of the block that have exited, if the barrier counts threads explicitly.
        exited: u32,
    },
    /// The whole state repeats under a deterministic schedule: the run never ends (report, 6.5).
    Endless {
        /// Tokens that are never popped though lanes wait for them, warp by warp, the topmost first.
        tokens: Vec<NeverPopped>,
        /// A warp that runs on.
        who: Who,
        /// Where it is.
        place: Place,
        /// What it is called and why, as far as somebody has looked.
        hang: Box<Hang>,
    },
    /// Memory operations are in flight and none of them can go on, nor can any warp (report, 4.6).
    Operations {
        /// The operations.
        operations: Vec<Operation>,
    },
    /// No rule applies to the next statement of a memory program (report, 4.4: ⊥).
    MemoryProgram {
        /// The operation, and where its program is.
        operation: Operation,
        /// Why, as a word.
        cause: &'static str,
    },
}

/// A memory operation in flight.
#[derive(Clone, PartialEq, Debug)]
pub struct Operation {
    /// The instruction and the lanes that issued it.
    pub place: Place,
    /// What its memory program serves, e.g. `ld.global.ca`.
    pub program: String,
    /// The program's file; "" for what has no program.
    pub file: String,
    /// Line in the file, from 1.
    pub line: u32,
}

/// What takes memory of this computer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Taker {
    /// All of a run: the device, and who observes it.
    #[serde(rename = "the run and its checks")]
    Run,
    /// Buffers, and what they are filled with.
    #[serde(rename = "buffers and their contents")]
    Buffers,
    /// Blocks that run: registers, local and shared memory.
    #[serde(rename = "a block's registers, local and shared memory")]
    Blocks,
    /// Calls: registers and local memory of functions.
    #[serde(rename = "the registers and local memory of a call")]
    Stacks,
}

/// Which budget ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LimitKind {
    /// Warp instructions.
    Steps(u64),
    /// Time, in milliseconds.
    #[serde(rename = "milliseconds")]
    Time(u64),
    /// States of a search.
    States(u64),
    /// Switches between warps in a schedule: others were not looked at.
    Switches(u32),
    /// The program reads a clock, which no search can go through in full (D-clock).
    Clock,
    /// Somebody stopped it.
    Interrupted,
    /// A store to memory that nothing was known to write, at an address in the program: reads of it were not watched for
    /// races.
    Stray(
        #[serde(serialize_with = "Pc::number")]
        #[cfg_attr(feature = "schema", schemars(with = "u32"))]
        Pc,
    ),
    /// Any lanes of a group may run without the others, and groups of so many have too many parts to be gone through.
    #[serde(untagged)]
    Parts {
        /// Lanes of the widest group.
        lanes: u32,
        /// The most whose parts are gone through.
        most: u32,
    },
    /// The device's heap: its size and the block that was asked for, in bytes.
    #[serde(untagged)]
    Heap {
        /// The size.
        #[serde(rename = "heap")]
        size: u64,
        /// The block.
        wanted: u64,
    },
    /// Memory of the device, in bytes: the cap and what was asked for.
    #[serde(untagged)]
    Memory {
        /// The cap.
        cap: u64,
        /// Wanted in all.
        wanted: u64,
    },
    /// Memory of this computer, in bytes: a command's cap, and what it has taken or would have.
    #[serde(untagged)]
    Taken {
        /// The cap.
        cap: u64,
        /// Taken, with what was asked for last.
        #[serde(rename = "wanted")]
        taken: u64,
        /// What asked for it.
        by: Taker,
    },
    /// Bytes that this computer does not have.
    #[serde(untagged)]
    Host {
        /// Asked for at once.
        wanted: u64,
    },
    /// Accesses of one location that the race check keeps: one that was forgotten might race with the one at an address.
    #[serde(untagged)]
    Accesses {
        /// How many are kept.
        #[serde(rename = "accesses")]
        kept: u64,
        /// The address in the program.
        #[serde(rename = "pc", serialize_with = "Pc::number")]
        #[cfg_attr(feature = "schema", schemars(with = "u32"))]
        at: Pc,
    },
    /// What a search keeps of states, in bytes.
    #[serde(untagged)]
    Search {
        /// The cap.
        cap: u64,
        /// Taken by now.
        #[serde(rename = "wanted")]
        taken: u64,
    },
}
