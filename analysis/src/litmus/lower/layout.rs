//! Where a test's threads and locations are on the machine.

use crate::base::{Span, sort};
use crate::litmus::check::Names;
use crate::litmus::error::Gap;
use crate::litmus::lockstep::{Column, Program};
use crate::litmus::tree::{DeclKind, Initial, Litmus};
use indexmap::{IndexMap, IndexSet};

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

/// What holds a location.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    /// Its name in the PTX.
    pub name: String,
    /// The value it begins with.
    pub initial: i64,
    /// Whether it stands for itself: an alias does not.
    pub own: bool,
}

/// Where everything is.
pub(super) struct Layout<'a> {
    pub names: Names<'a>,
    pub placement: Placement,
    pub entry: String,
    pub threads: Vec<Spot>,
    pub blocks: u32,
    /// Threads of a block.
    pub block: u32,
    pub warp_size: u32,
    pub variables: IndexMap<&'a str, Variable>,
}

/// The most threads of a block, on every target.
const BLOCK: usize = 1024;
/// The most threads of a warp.
const WARP: usize = 32;

impl<'a> Layout<'a> {
    pub fn of(litmus: &'a Litmus, placement: Placement, gaps: &mut Vec<(Gap, Span)>) -> Self {
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

impl<'a> Layout<'a> {
    /// That of wavefronts: each is a block of one warp, and so is each thread of a CPU.
    pub fn of_waves(litmus: &'a Litmus, program: &Program, gaps: &mut Vec<(Gap, Span)>) -> Self {
        for cell in program.rows.iter().flatten().flatten() {
            if let Some(spot) = cell.kind.spot().filter(|spot| !spot.offset.is_multiple_of(spot.size.bytes())) {
                gaps.push((Gap::Alignment { offset: spot.offset, bytes: spot.size.bytes() }, cell.span));
            }
        }
        let names = Names::of(litmus);
        let waves = program.waves();
        let thread = |column: usize| lane(program.columns[column].0);
        let spot = |column: usize| {
            let block = waves.iter().position(|wave| wave.contains(&column)).unwrap_or(0);
            Spot { block: block as u64, thread: thread(column) }
        };
        let threads: Vec<Spot> = (0..program.columns.len()).map(spot).collect();
        let warp_size = threads.iter().map(|spot| spot.thread + 1).max().unwrap_or(1);
        let mut used: IndexSet<String> = IndexSet::new();
        let variables = variables(litmus, &names, &mut used);
        let entry = fresh("litmus", &mut used);
        let blocks = u32::try_from(waves.len()).unwrap_or(u32::MAX);
        let placement = Placement::SameWarp;
        Self { names, placement, entry, threads, blocks, block: warp_size, warp_size, variables }
    }
}

/// The lane that a column is on the machine.
pub(super) const fn lane(column: Column) -> u32 {
    match column {
        Column::Lane { lane, .. } => lane,
        Column::Cpu(_) => 0,
    }
}

/// Where the threads go, and how many each block has. Blocks are in the order of GPUs and ctas.
fn spots(litmus: &Litmus, placement: Placement) -> (Vec<Spot>, Vec<usize>) {
    if placement == Placement::Blocks {
        let spots = (0..litmus.threads.len() as u64).map(|block| Spot { block, thread: 0 });
        return (spots.collect(), vec![1; litmus.threads.len()]);
    }
    let mut ctas: Vec<[u32; 2]> = litmus.threads.iter().map(|t| t.place.group()).collect();
    sort::sort(&mut ctas);
    ctas.dedup();
    let mut sizes = vec![0usize; ctas.len()];
    let spots = litmus.threads.iter().map(|t| {
        let block = ctas.partition_point(|cta| *cta < t.place.group());
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
