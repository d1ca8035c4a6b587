//! Litmus programs as PTX for the operational engines.
//!
//! The threads of a cta become the threads of one block, each in a warp of its own, or all in one warp; or each thread
//! becomes a block. One kernel branches to each thread's code by the thread's number. Locations are `.global` variables
//! of 8 bytes that lie in different cache lines; registers have 64 bits, as in the format's tools. The PTX is text that
//! goes through the normal pipeline, and its instructions are said to stand where the litmus file has them.
//!
//! What of a test only axiomatic models tell apart is dropped where no engine can show it: generic aliases are the same
//! memory, GPUs matter to scopes only. Other proxies are a gap ([`Gap::Proxy`](super::Gap::Proxy)), tests for Vulkan are
//! one as a whole. Barriers: [`barrier`]; where everything is: [`layout`]; tests for wavefronts: [`lockstep`].

mod barrier;
mod code;
mod layout;
mod lockstep;

pub use layout::{Placement, Spot};

use super::error::{Gap, LitmusError, LitmusErrorKind};
use super::tree::{Arch, Litmus};
use crate::base::{FileId, SourceMap, Span, sort};
use crate::launch::{Problem, build};
use crate::machine::{Config, ControlModel, Launch};
use crate::program::env::ProgEnv;
use code::Writer;
use indexmap::IndexMap;
use layout::Layout;
use std::sync::Arc;

/// How a test is laid out on the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Where its threads are.
    pub placement: Placement,
    /// The control model that it will run under; independent threads when absent.
    pub control: Option<ControlModel>,
}

/// A litmus program that is ready to run.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program. Its origins point into the litmus file, as far as an instruction is one of the file's.
    pub env: Arc<ProgEnv>,
    /// The generated PTX, in the source map.
    pub ptx: FileId,
    /// The launch.
    pub launch: Launch,
    /// Threads in a warp.
    pub warp_size: u32,
    /// Where each thread is, in the order of the file.
    pub threads: Vec<Spot>,
    /// The `.global` variable of each location of the file; aliases have their target's.
    variables: IndexMap<String, String>,
}

/// Why a test was not lowered.
#[derive(Clone, PartialEq, Debug)]
pub enum Failure {
    /// What the machine cannot express.
    Gaps(Vec<LitmusError>),
    /// The generated PTX was refused.
    Refused(Vec<Problem>),
}

impl Lowered {
    /// `config` with the warp size of this layout.
    #[must_use]
    pub fn config(&self, config: Config) -> Config {
        Config { warp_size: self.warp_size, ..config }
    }

    /// The name of the `.global` variable that holds a location's 8 bytes.
    #[must_use]
    pub fn variable(&self, location: &str) -> Option<&str> {
        self.variables.get(location).map(String::as_str)
    }

    /// The name of the 64-bit register that holds a register of the file; each thread has its own.
    #[must_use]
    pub fn register(&self, name: &str) -> String {
        code::register(name)
    }
}

/// A PTX program of a test that parsed without complaints; `file` is its place in `sources`, which receives the PTX.
///
/// # Errors
/// What the machine cannot express.
pub fn lower(litmus: &Litmus, file: FileId, options: Options, sources: &mut SourceMap) -> Result<Lowered, Failure> {
    let mut gaps = Vec::new();
    // One for all that the machine lacks.
    let gap = match litmus.arch {
        Arch::Ptx | Arch::Lockstep => None,
        Arch::Vulkan => Some(Gap::Vulkan),
        Arch::OpenCl => Some(Gap::OpenCl),
    };
    if let Some(gap) = gap {
        let span = litmus.threads.first().map_or(Span::default(), |t| t.span);
        return Err(Failure::Gaps(vec![LitmusError { kind: LitmusErrorKind::Unsupported(gap), file, span }]));
    }
    let (layout, writer) = match &litmus.lockstep {
        Some(program) => {
            let layout = Layout::of_waves(litmus, program, &mut gaps);
            let writer = lockstep::write(litmus, program, &layout);
            (layout, writer)
        }
        None => {
            let layout = Layout::of(litmus, options.placement, &mut gaps);
            let writer = code::write(litmus, &layout, &mut gaps);
            (layout, writer)
        }
    };
    if !gaps.is_empty() {
        sort::sort_by_key(&mut gaps, |(_, span)| *span);
        let errors = gaps.into_iter().map(|(gap, span)| {
            let kind = LitmusErrorKind::Unsupported(gap);
            LitmusError { kind, file, span }
        });
        return Err(Failure::Gaps(errors.collect()));
    }
    let Writer { text, marks, .. } = writer;
    let ptx = sources.add(format!("{} as PTX", litmus.name), text);
    let control = options.control.unwrap_or(ControlModel::Its);
    let mut env = build(&[ptx], Some(control), sources).map_err(Failure::Refused)?;
    for origin in env.origin.iter_mut().filter(|o| o.file == ptx) {
        let at = marks.partition_point(|(start, _)| *start <= origin.span.start);
        if let Some(span) = at.checked_sub(1).and_then(|k| marks.get(k)).and_then(|(_, span)| *span) {
            (origin.file, origin.span) = (file, span);
        }
    }
    let launch = Launch {
        entry: layout.entry.clone(),
        grid: [layout.blocks, 1, 1],
        block: [layout.block, 1, 1],
        shared_bytes: 0,
        params: Vec::new(),
    };
    let Layout { warp_size, threads, variables, .. } = layout;
    let variables = variables.into_iter().map(|(name, v)| (name.to_owned(), v.name)).collect();
    Ok(Lowered { env: Arc::new(env), ptx, launch, warp_size, threads, variables })
}
