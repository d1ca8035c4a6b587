//! Host scripts: what a host program tells a device, step by step (report, 5.7.2 and 5.8.2).
//!
//! A launch file describes one context with one program whose kernels run in order. A script sends the report's messages
//! itself: several contexts, several programs in a context, grids that run at the same time, abortion at any time. Names
//! stand for the indices that the device gives: a step that needs an index waits for the message that brings it.

mod device;
mod host;
mod read;
mod run;

pub use device::{ScriptDevice, ScriptState, programs};
pub use run::By;

use super::problem::At;
use super::wishes::Wishes;
use super::{Buffer, Expect, ExpectStdout, Global, KernelLaunch};
use indexmap::IndexMap;
use std::path::PathBuf;

/// A host script.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Script {
    /// Programs by name: the modules of each, linked together.
    pub programs: IndexMap<String, Vec<(PathBuf, At)>>,
    /// Buffers of contexts, by the names of the context and the buffer.
    pub buffers: IndexMap<String, IndexMap<String, Buffer>>,
    /// What the host does, in order.
    pub steps: Vec<Step>,
    /// Expected output of `printf`.
    pub stdout: Option<ExpectStdout>,
    /// What it asks of tests.
    pub test: Wishes,
}

impl Script {
    /// Where the contents of a buffer are first expected; `name` is `CONTEXT.BUFFER`.
    pub(super) fn expected_at(&self, name: &str) -> At {
        let here = |s: &&Step| matches!(&s.what, Do::Expect { context, buffer, .. } if name.strip_prefix(context.as_str()).and_then(|n| n.strip_prefix('.')) == Some(buffer));
        self.steps.iter().find(here).and_then(|s| s.at)
    }

    /// The programs that the steps before this one load into a context.
    pub(super) fn loaded_before(&self, step: usize, context: &str) -> impl Iterator<Item = &str> {
        let steps = self.steps.iter().take(step);
        steps.filter_map(move |s| match &s.what {
            Do::Load { context: c, program } if c == context => Some(program.as_str()),
            _ => None,
        })
    }

    /// How many steps compare something.
    #[must_use]
    pub fn expects(&self) -> usize {
        self.steps.iter().filter(|s| matches!(s.what, Do::Expect { .. })).count()
    }
}

/// A step of the host.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// What it does.
    pub what: Do,
    /// Where it is described.
    pub at: At,
}

/// What the host does. Contexts, programs and launches are named.
#[derive(Clone, PartialEq, Debug)]
pub enum Do {
    /// `create`: a context, with its buffers as soon as it is there.
    Create(String),
    /// `load`: a program into a context.
    Load {
        /// The context.
        context: String,
        /// The program.
        program: String,
    },
    /// `start`: a kernel of a program of a context.
    Start(Box<Start>),
    /// `abort`: a launch.
    Abort(String),
    /// `destroy`: a context.
    Destroy(String),
    /// Waits for the ends of launches.
    Wait(Vec<String>),
    /// Lets the device execute so many warp instructions, or fewer when it has nothing to do.
    Run(u64),
    /// `set`: writes a buffer or a variable now, as the host's copies do.
    Set {
        /// The context.
        context: String,
        /// The buffer, or a variable of one of the context's programs.
        name: String,
        /// What is written, from its start.
        value: Box<Global>,
    },
    /// Compares what a buffer holds now.
    Expect {
        /// The context.
        context: String,
        /// The buffer, or a variable of one of the context's programs.
        buffer: String,
        /// What it should hold.
        expect: Box<Expect>,
    },
}

/// A launch of a script.
#[derive(Clone, PartialEq, Debug)]
pub struct Start {
    /// The context.
    pub context: String,
    /// The program.
    pub program: String,
    /// The launch's name.
    pub launch: String,
    /// The kernel, its sizes and arguments.
    pub kernel: KernelLaunch,
}
