//! Litmus programs as PTX for the operational engines.
//!
//! The threads of a cta become the threads of one block, each in a warp of its own, or all in one warp; or each thread
//! becomes a block. One kernel branches to each thread's code by the thread's number. Locations are `.global` variables
//! of 8 bytes that lie in different cache lines; registers have 64 bits, as in the format's tools. The PTX is text that
//! goes through the normal pipeline, and its instructions are said to stand where the litmus file has them.
//!
//! What of a test only axiomatic models tell apart is dropped where no engine can show it: generic aliases are the same
//! memory, GPUs matter to scopes only. Other proxies are a gap ([`Gap::Proxy`]). Barriers: [`barrier`].

mod barrier;
mod code;

use super::check::Names;
use super::error::{Gap, LitmusError, LitmusErrorKind};
use super::tree::{DeclKind, Initial, Litmus, Proxy};
use crate::base::{FileId, SourceMap, Span};
use crate::launch::{Problem, build};
use crate::machine::{Config, ControlModel, Launch};
use crate::program::env::ProgEnv;
use code::Writer;
use indexmap::{IndexMap, IndexSet};
use std::sync::Arc;

/// How a test is laid out on the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Where its threads are.
    pub placement: Placement,
    /// The control model that it will run under; independent threads when absent.
    pub control: Option<ControlModel>,
}

/// Where a test's threads are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Placement {
    /// The threads of a cta are one block, each in a warp of its own.
    #[default]
    Warps,
    /// The threads of a cta are one block and one warp.
    SameWarp,
    /// Each thread is a block of its own, whatever its cta: for progress between blocks.
    Blocks,
}

/// A thread on the machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spot {
    /// The linear index of its block.
    pub block: u64,
    /// Its number in the block.
    pub thread: u32,
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
    let layout = Layout::of(litmus, options.placement, &mut gaps);
    let writer = code::write(litmus, &layout, &mut gaps);
    if !gaps.is_empty() {
        gaps.sort_by_key(|(_, span)| *span);
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

/// What holds a location.
#[derive(Clone, Debug)]
struct Variable {
    /// Its name in the PTX.
    name: String,
    /// The value it begins with.
    initial: i64,
    /// Whether it stands for itself: an alias does not.
    own: bool,
}

/// Where everything is.
struct Layout<'a> {
    names: Names<'a>,
    placement: Placement,
    entry: String,
    threads: Vec<Spot>,
    blocks: u32,
    /// Threads of a block.
    block: u32,
    warp_size: u32,
    variables: IndexMap<&'a str, Variable>,
}

/// The most threads of a block, on every target.
const BLOCK: usize = 1024;
/// The most threads of a warp.
const WARP: usize = 32;

impl<'a> Layout<'a> {
    fn of(litmus: &'a Litmus, placement: Placement, gaps: &mut Vec<(Gap, Span)>) -> Self {
        let names = Names::of(litmus);
        let (threads, sizes) = spots(litmus, placement);
        let largest = sizes.iter().copied().max().unwrap_or(1);
        let limit = if placement == Placement::SameWarp { WARP } else { BLOCK };
        if let Some(thread) = litmus.threads.get(limit).filter(|_| largest > limit) {
            gaps.push((Gap::Threads { threads: largest, limit }, thread.span));
        }
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let mut used: IndexSet<String> = IndexSet::new();
        let variables = variables(litmus, &names, &mut used);
        let entry = fresh("litmus", &mut used);
        let warp_size = if placement == Placement::SameWarp { narrow(largest) } else { 1 };
        let (blocks, block) = (narrow(sizes.len()), narrow(largest));
        Self { names, placement, entry, threads, blocks, block, warp_size, variables }
    }
}

/// Where the threads go, and how many each block has. Blocks are in the order of GPUs and ctas.
fn spots(litmus: &Litmus, placement: Placement) -> (Vec<Spot>, Vec<usize>) {
    if placement == Placement::Blocks {
        let spots = (0..litmus.threads.len() as u64).map(|block| Spot { block, thread: 0 });
        return (spots.collect(), vec![1; litmus.threads.len()]);
    }
    let mut ctas: Vec<(u32, u32)> = litmus.threads.iter().map(|t| (t.gpu, t.cta)).collect();
    ctas.sort_unstable();
    ctas.dedup();
    let mut sizes = vec![0usize; ctas.len()];
    let spots = litmus.threads.iter().map(|t| {
        let block = ctas.partition_point(|cta| *cta < (t.gpu, t.cta));
        let thread = u32::try_from(sizes[block]).unwrap_or(u32::MAX);
        sizes[block] += 1;
        Spot { block: block as u64, thread }
    });
    (spots.collect(), sizes)
}

/// A name that no other has.
fn fresh(name: &str, used: &mut IndexSet<String>) -> String {
    let mut name = name.to_owned();
    while !used.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// The variables of all locations.
fn variables<'a>(litmus: &'a Litmus, names: &Names<'a>, used: &mut IndexSet<String>) -> IndexMap<&'a str, Variable> {
    // A constant of PTX is no name there, nor is the sink.
    used.insert("WARP_SZ".to_owned());
    used.insert("_".to_owned());
    let mut all: IndexMap<&'a str, Variable> = IndexMap::new();
    for decl in &litmus.init {
        let (name, variable) = match &decl.kind {
            DeclKind::Location { name, value } => {
                let initial = match value {
                    Initial::Number(n) => *n,
                    Initial::Of(of) => all.get(of.name.as_str()).map_or(0, |v| v.initial),
                };
                (name, Variable { name: fresh(&name.name, used), initial, own: true })
            }
            // Other proxies than the generic one are refused where they are used.
            DeclKind::Alias { name, of, .. } => match all.get(of.name.as_str()) {
                Some(of) => (name, Variable { own: false, ..of.clone() }),
                None => continue,
            },
            DeclKind::Register { .. } => continue,
        };
        all.insert(&name.name, variable);
    }
    for name in &names.locations {
        if !all.contains_key(name) {
            all.insert(name, Variable { name: fresh(name, used), initial: 0, own: true });
        }
    }
    all
}

/// Whether an access by a proxy is like any other here.
const fn ordinary(proxy: Proxy) -> bool {
    matches!(proxy, Proxy::Generic)
}
