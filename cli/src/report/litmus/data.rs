//! What the axioms say of litmus tests, as data: JSON is this, text and pictures are made of it.

use crate::launch::{Mismatch, Value as Typed};
use crate::report::parts::Exit;
use crate::report::stop::Cuda;
use serde::Serialize;
use serde_json::Value;

/// What models say of litmus tests.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Consistency {
    /// The exit code.
    pub exit: Exit,
    /// Each test, in the order of their paths.
    pub tests: Vec<TestVerdicts>,
    /// How many verdicts there are of each kind.
    pub counts: Counts,
}

/// A test under one or more models.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TestVerdicts {
    /// Its file.
    pub path: String,
    /// Its name.
    pub test: String,
    /// What it is written for; null where the file is wrong.
    pub language: Option<&'static str>,
    /// Of a kernel: blocks and threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch: Option<Dimensions>,
    /// One for each model.
    pub verdicts: Vec<ModelVerdict>,
    /// What is wrong with the file, or why no model fits it.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::report::diagnostic::Message<'_>>"))]
    pub problems: Vec<Value>,
}

/// The dimensions of a launch.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dimensions {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
}

/// A thread of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spot {
    /// Its block's index.
    pub block: [u32; 3],
    /// Its own in the block.
    pub thread: [u32; 3],
}

/// How a question was answered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The property holds.
    Pass,
    /// It does not.
    Fail,
    /// A limit was reached before that was settled.
    Limit,
    /// The test does what the axioms are not applied to here.
    Unsupported,
    /// The input is wrong.
    Wrong,
}

impl Answer {
    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Limit => "limit",
            Self::Unsupported => "unsupported",
            Self::Wrong => "wrong",
        }
    }
}

/// Numbers of verdicts.
#[derive(Clone, Copy, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Tests.
    pub tests: usize,
    /// Properties that hold.
    pub pass: usize,
    /// Properties that do not.
    pub fail: usize,
    /// Limits reached.
    pub limit: usize,
    /// Tests that are not supported.
    pub unsupported: usize,
    /// Files that are wrong, or that no model fits.
    pub wrong: usize,
}

/// What a model says of a test.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelVerdict {
    /// The model.
    pub model: String,
    /// What was asked: `safety`, `liveness` or `drf`; of a kernel `exists`, too.
    pub property: &'static str,
    /// Of liveness: who is promised progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<&'static str>,
    /// How often the body of a loop is gone through at most.
    pub bound: u32,
    /// The question as the test has it.
    pub asked: String,
    /// The answer.
    pub answer: Answer,
    /// The answer in words.
    pub said: String,
    /// Whether something beyond the bound was left out on which the answer may depend.
    pub bounded: bool,
    /// How many choices were tried.
    pub choices: u64,
    /// Of a kernel: the results that are other than expected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mismatches: Vec<Mismatch>,
    /// Of a kernel: why a thread stops before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::report::data::Stopped<'_>>"))]
    pub defect: Option<Value>,
    /// An execution that shows the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<LitmusExecution>,
    /// An execution that never ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endless: Option<EndlessExecution>,
    /// Why there is none. Only with `--why`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Vec<Forbidden>>,
    /// What executions come to. Only with `--all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<Vec<LitmusOutcome>>,
}

/// An execution of a litmus test.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LitmusExecution {
    /// Its events: initial writes, then those of each thread in program order.
    pub events: Vec<LitmusEvent>,
    /// Pairs of a write and a read that reads from it.
    pub rf: Vec<[usize; 2]>,
    /// Pairs of writes, the first next before the second in coherence order.
    pub co: Vec<[usize; 2]>,
    /// Pairs of a read and the write next after what it read.
    pub fr: Vec<[usize; 2]>,
    /// Pairs of other relations: those that the model shows, and the order of sequentially consistent fences.
    pub edges: Vec<Edge>,
    /// The flags that are raised.
    pub flags: Vec<Deciding>,
    /// Of a kernel: a cycle of program order, rf, co and fr. Where there is one, no interleaving of the threads is this execution.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<Edge>,
}

/// An event of an execution.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LitmusEvent {
    /// Its number, from 0.
    pub number: usize,
    /// Its thread's number; null of initial writes.
    pub thread: Option<u32>,
    /// Of a kernel: its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot: Option<Spot>,
    /// The line of its instruction.
    pub line: Option<u32>,
    /// Its instruction, as the file has it.
    pub instruction: Option<String>,
    /// The line of CUDA source that the instruction was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda: Option<Cuda>,
    /// What it does.
    pub kind: EventKind,
    /// The sets of the model that it is in.
    pub tags: Vec<&'static str>,
    /// The location that it accesses.
    pub location: Option<String>,
    /// The access that it is a part of, where others overlap that in part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<PartOf>,
    /// What it reads or writes.
    pub value: Option<i64>,
    /// The same as the buffer's type has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typed: Option<Typed>,
    /// The location whose address the value is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_of: Option<String>,
    /// The write that it reads from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads_from: Option<usize>,
    /// Whether it has no part in what is to be shown: text and pictures leave it out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub aside: bool,
}

/// A part of an access.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartOf {
    /// The event of the first part.
    pub event: usize,
    /// The location that all of it accesses.
    pub location: String,
    /// The first byte of the part, counted from where the access begins.
    pub first: u32,
    /// Its last byte.
    pub last: u32,
    /// What all of it reads or writes.
    pub value: Option<i64>,
    /// The same as the buffer's type has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typed: Option<Typed>,
}

/// What an event does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the kinds of events of models")]
pub enum EventKind {
    Read,
    Write,
    Fence,
    Barrier,
    Other,
}

/// A pair of a relation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Edge {
    /// The event that it leads from.
    pub from: usize,
    /// The event that it leads to.
    pub to: usize,
    /// The relation.
    pub name: String,
}

/// A flag that is raised, or an axiom that does not hold, with the events that show it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deciding {
    /// Its name.
    pub name: String,
    /// The events.
    pub events: Vec<usize>,
    /// How they are related: a way from the first to the last, or around.
    pub chain: Vec<Edge>,
}

/// An axiom that forbids what was asked for.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Forbidden {
    /// The axiom, and what of the execution contradicts it.
    pub axiom: Deciding,
    /// Whether what was asked for is reachable without this axiom alone; otherwise other axioms forbid it as well.
    pub alone: bool,
    /// The execution.
    pub execution: LitmusExecution,
}

/// An execution that never ends.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndlessExecution {
    /// What comes first, where that needs reads of other than the last values.
    pub prefix: Option<LitmusExecution>,
    /// The steps up to where it repeats.
    pub stem: Vec<LitmusStep>,
    /// The steps that repeat for ever; none: all that are left wait at barriers.
    pub round: Vec<LitmusStep>,
    /// Of a kernel: the barriers at which other threads wait meanwhile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<LitmusStep>,
}

/// A step of a thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LitmusStep {
    /// The thread's number.
    pub thread: u32,
    /// Of a kernel: the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot: Option<Spot>,
    /// The line of the instruction.
    pub line: u32,
    /// The instruction, as the file has it.
    pub instruction: String,
    /// The line of CUDA source that it was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda: Option<Cuda>,
}

/// What executions come to.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LitmusOutcome {
    /// The values of what the test asks about.
    pub values: Vec<PlaceValue>,
    /// Whether they satisfy the condition.
    pub satisfies: bool,
}

/// A register or location and its value.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceValue {
    /// As the condition names it.
    pub place: String,
    /// The value.
    pub value: i64,
}
