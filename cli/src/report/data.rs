//! What a stop looks like for programs: its message, who did it, and its particulars.
//!
//! Particulars are the data of `verdict` itself, which knows instructions by their addresses and nothing of sources; their places
//! are put in by one walk over the data (`StopReport::resolve`).

use super::diagnostic::{Message, SourcePlace, place};
use super::internal;
use super::stop::{Cuda, StopReport};
use super::suppress::Suppressed;
use super::words::{awaited, program};
use crate::base::{Pc, SourceMap, lanes_of};
use crate::verdict::{BugKind, Hang, Internal, LimitKind, NeverPopped, Place, Standing, Stop, StuckKind};
use serde::Serialize;
use serde_json::{Value, json};

/// Why a run stopped.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stopped<'a> {
    #[serde(flatten)]
    message: Message<'a>,
    /// What sort of stop it is.
    stop: Sort,
    /// Who did it; null when nobody is known to have.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<Option<&'a Place>>,
    /// The other party, where there are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Option<&'a Place>>,
    /// Who waits in a deadlock.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<Vec<Waits<'a>>>,
    /// The particulars of the kind of stop.
    details: Details<'a>,
    /// Where the warps were when a limit ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<&'a [Standing]>,
    /// How often it happened, where it does not end a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<u64>,
    /// Why it does not make the command fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    suppressed: Option<&'a Suppressed>,
}

/// Sorts of stops.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum Sort {
    Bug,
    Stuck,
    Limit,
    Unsupported,
    Diverged,
    Internal,
}

/// Lanes or an operation that wait.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Waits<'a> {
    thread: &'a Place,
    /// For what, or which memory operation, in words.
    on: String,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Details<'a> {
    Bug(&'a BugKind),
    /// barrier-deadlock
    Deadlock {
        /// Threads of the block that have exited, where the barrier counts them.
        exited: u32,
    },
    /// simt-deadlock, starvation, mixed, livelock, endless
    Endless {
        /// Warp by warp, the topmost first.
        never_popped: &'a [NeverPopped],
        hang: &'a Hang,
    },
    /// memory-program
    MemoryProgram {
        /// What the memory program serves, e.g. ld.global.ca.
        program: &'a str,
        /// Its file.
        file: &'a str,
        /// Its line.
        line: u32,
        /// Why no rule applies, as a word.
        cause: &'a str,
    },
    Limit(LimitKind),
    /// unsupported
    Unsupported {
        /// What warpstep cannot do.
        what: &'a str,
    },
    /// diverged
    Diverged {
        /// Number of the decision, from 0.
        decision: u64,
        /// What the schedule says.
        expected: &'a str,
        /// What the run offers.
        found: &'a str,
    },
    /// internal
    Internal(Noticed<'a>),
    /// memory-deadlock
    Nothing {},
}

/// An error of warpstep.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Noticed<'a> {
    /// What does not hold, as a clause.
    what: &'a str,
    /// Where in warpstep's source that was noticed.
    noticed: String,
    /// The version that has the error.
    version: String,
    /// The command line.
    command: String,
    /// The files of the program.
    files: Vec<&'a str>,
}

impl<'a> Noticed<'a> {
    fn new(error: &'a Internal, sources: &'a SourceMap) -> Self {
        Self {
            what: &error.what,
            noticed: internal::noticed(error),
            version: internal::version(),
            command: internal::command(),
            files: sources.iter().map(|s| s.name.as_str()).collect(),
        }
    }
}

/// A thread at an instruction.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Thread<'a> {
    /// The entry; empty when the host did it.
    kernel: &'a str,
    /// The function that the instruction is in.
    function: &'a str,
    /// The block's index in the grid.
    block: [u32; 3],
    /// The thread's index in its block.
    thread: [u32; 3],
    /// The warp in its block.
    warp: u32,
    /// The thread's lane.
    lane: u32,
    /// Every lane of the warp that did the same.
    lanes: Vec<usize>,
    /// Its text.
    instruction: Option<&'a str>,
    place: Option<SourcePlace<'a>>,
    /// The CUDA line; null without `.loc`.
    cuda: Option<Cuda>,
    /// The calls on the thread's stack, innermost first.
    calls: Vec<Call<'a>>,
}

/// A call.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Call<'a> {
    /// The caller.
    function: &'a str,
    place: Option<SourcePlace<'a>>,
    cuda: Option<Cuda>,
}

impl StopReport<'_> {
    /// The report as data.
    #[must_use]
    pub fn json(&self) -> Value {
        let diagnostic = self.diagnostic();
        let message = diagnostic.message(self.sources);
        let waits = |thread, on| Waits { thread, on };
        let (stop, thread, waiting, details) = match self.stop {
            Stop::Bug(bug) => (Sort::Bug, Some(Some(&bug.place)), None, Details::Bug(&bug.kind)),
            Stop::Stuck(stuck) => match &**stuck {
                StuckKind::BarrierDeadlock { waiting, exited } => {
                    let waiting = waiting.iter().map(|w| waits(&w.place, awaited(w))).collect();
                    (Sort::Stuck, None, Some(waiting), Details::Deadlock { exited: *exited })
                }
                StuckKind::Endless { tokens, place, hang, .. } => {
                    (Sort::Stuck, Some(Some(place)), None, Details::Endless { never_popped: tokens, hang })
                }
                StuckKind::Operations { operations } => {
                    let waiting = operations.iter().map(|o| waits(&o.place, program(o))).collect();
                    (Sort::Stuck, None, Some(waiting), Details::Nothing {})
                }
                StuckKind::MemoryProgram { operation, cause } => {
                    let (program, file, line) = (&*operation.program, &*operation.file, operation.line);
                    let details = Details::MemoryProgram { program, file, line, cause };
                    (Sort::Stuck, Some(Some(&operation.place)), None, details)
                }
            },
            Stop::Limit(limit) => (Sort::Limit, None, None, Details::Limit(*limit)),
            Stop::Unsupported(what, place) => {
                (Sort::Unsupported, Some(place.as_deref()), None, Details::Unsupported { what })
            }
            Stop::Diverged { decision, expected, found } => {
                (Sort::Diverged, None, None, Details::Diverged { decision: *decision, expected, found })
            }
            Stop::Internal(error) => {
                let details = Details::Internal(Noticed::new(error, self.sources));
                (Sort::Internal, Some(error.place.as_ref()), None, details)
            }
        };
        let other = if let Stop::Bug(bug) = self.stop { Some(bug.other.as_ref()) } else { None };
        let standing = matches!(self.stop, Stop::Limit(_)).then_some(&*self.ended.standing);
        let (times, suppressed) = (self.times, self.suppressed);
        let stopped = Stopped { message, stop, thread, other, waiting, details, standing, times, suppressed };
        self.resolved(&stopped)
    }

    /// Data with places and threads where it names instructions and parties.
    pub(super) fn resolved(&self, data: &impl Serialize) -> Value {
        let mut value = json!(data);
        self.resolve(&mut value);
        value
    }

    fn resolve(&self, value: &mut Value) {
        match value {
            Value::Array(all) => {
                let instructions = all.first().is_some_and(|v| v.get(Pc::KEY).is_some());
                all.iter_mut().for_each(|v| self.resolve(v));
                if instructions {
                    // Injected instructions have the place of the one for whose sake they are.
                    all.dedup();
                }
            }
            Value::Object(all) if all.contains_key(Pc::KEY) => {
                if let Ok(pc) = serde_json::from_value(value.take()) {
                    *value = json!(self.source_place(pc));
                }
            }
            Value::Object(all) if all.contains_key(Place::KEY) => {
                if let Ok(place) = serde_json::from_value(value.take()) {
                    *value = json!(self.thread(&place));
                }
            }
            Value::Object(all) => all.values_mut().for_each(|v| self.resolve(v)),
            _ => {}
        }
    }

    fn source_place(&self, pc: Pc) -> Option<SourcePlace<'_>> {
        let (file, span) = self.span(pc);
        place(file, span, self.sources)
    }

    fn thread<'s>(&'s self, p: &'s Place) -> Thread<'s> {
        let (file, span) = self.span(p.pc);
        let call = |pc: &Pc| Call { function: self.function(*pc), place: self.source_place(*pc), cuda: self.cuda(*pc) };
        Thread {
            kernel: &p.entry,
            function: self.function(p.pc),
            block: p.block,
            thread: p.thread,
            warp: p.warp,
            lane: p.lane,
            lanes: lanes_of(p.lanes).collect(),
            instruction: self.sources.get(file).map(|s| span.of(&s.text)),
            place: self.source_place(p.pc),
            cuda: self.cuda(p.pc),
            calls: p.calls.iter().map(call).collect(),
        }
    }
}
