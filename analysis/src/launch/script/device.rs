//! A device that a host script is run on, and what its host knows of it.

use super::Script;
use crate::base::SourceMap;
use crate::launch::failure::Placed;
use crate::launch::problem::{Problem, ProblemKind};
use crate::launch::{Mismatch, Scalar, load};
use crate::machine::device::message::{ContextId, DeviceOutput, GridId, ProgramId, Tag};
use crate::machine::{Config, ControlModel, Machine, Stopwatch, machine};
use crate::program::env::ProgEnv;
use crate::verdict::{Standing, Stop};
use indexmap::IndexMap;
use std::sync::Arc;

/// Programs by name.
pub(super) type Programs = IndexMap<String, Arc<ProgEnv>>;

/// Reads the programs of a script and gives the control model that all of them run under: the one asked for, or what the
/// hardware of the oldest target has.
///
/// # Errors
/// Every problem of every file; programs whose addresses have different sizes.
pub fn programs(
    script: &Script,
    control: Option<ControlModel>,
    sources: &mut SourceMap,
) -> Result<(Programs, ControlModel), Vec<Problem>> {
    let mut all = IndexMap::new();
    let mut problems = Vec::new();
    for (name, modules) in &script.programs {
        match load(modules, control, sources) {
            Ok(env) => drop(all.insert(name.clone(), Arc::new(env))),
            Err(more) => problems.extend(more),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let oldest = all.values().map(|env: &Arc<ProgEnv>| env.target.sm).min().unwrap_or_default();
    let chosen = control.unwrap_or(ControlModel::of_target(oldest));
    for (name, modules) in &script.programs {
        // A newer target's program was built for its own control model.
        if chosen == ControlModel::Crs && all.get(name).is_some_and(|env| !env.injected) {
            all.insert(name.clone(), Arc::new(load(modules, Some(chosen), sources)?));
        }
    }
    let mut bits = all.iter().map(|(name, env)| (name, env.target.address_bits));
    if let Some((other, other_bits)) = bits.next()
        && let Some((program, bits)) = bits.find(|(_, bits)| *bits != other_bits)
    {
        let kind = ProblemKind::AddressSizes { program: program.clone(), bits, other: other.clone(), other_bits };
        return Err(kind.into());
    }
    Ok((all, chosen))
}

/// A context by name.
#[derive(Clone, PartialEq)]
pub(super) struct Known {
    pub(super) tag: Tag,
    pub(super) id: Option<ContextId>,
    pub(super) buffers: IndexMap<String, Placed>,
    pub(super) destroyed: bool,
}

/// A launch by name.
#[derive(Clone, PartialEq)]
pub(super) struct Launched {
    pub(super) context: String,
    pub(super) tag: Tag,
    pub(super) grid: Option<GridId>,
    /// Nobody waits for it any more.
    pub(super) over: bool,
}

/// How far the host is, and what it knows of the device.
#[derive(Clone, PartialEq, Default)]
pub(super) struct Host {
    /// The step that it is at, and how far it is within it: launches waited for, or warp instructions that the device has
    /// executed.
    pub(super) at: usize,
    pub(super) within: u64,
    pub(super) contexts: IndexMap<String, Known>,
    pub(super) loaded: IndexMap<(String, String), Option<ProgramId>>,
    pub(super) launches: IndexMap<String, Launched>,
    /// Messages that no step has asked for yet.
    pub(super) answers: Vec<DeviceOutput>,
    pub(super) mismatches: Vec<Mismatch>,
    pub(super) printed: Vec<u8>,
    /// Nothing is left to be done by the device.
    pub(super) drained: bool,
    /// Whether it may access memory without being asked, and whether it may do so once.
    pub(super) accesses: Access,
}

/// When a host may access memory.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Access {
    /// As soon as it comes to it.
    #[default]
    AtOnce,
    /// When it is asked.
    Asked,
    /// Now, once.
    Now,
}

/// What a host waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Need {
    /// To be asked whether it looks at memory, or writes it, now or later.
    Access,
    /// A message.
    Answer,
    /// That the device has executed so many warp instructions, or has nothing to do.
    Instructions(u64),
    /// That the device has nothing to do.
    Rest,
}

/// A device that a host script is run on.
pub struct ScriptDevice {
    pub(super) machine: Box<dyn Machine>,
    pub(super) programs: IndexMap<String, Arc<ProgEnv>>,
    pub(super) control: ControlModel,
    pub(super) config: Config,
    pub(super) sources: SourceMap,
    pub(super) host: Host,
    pub(super) watch: Stopwatch,
}

/// A state of a device and its host, to go on from.
pub struct ScriptState {
    pub(super) machine: Box<dyn Machine>,
    pub(super) host: Host,
}

impl PartialEq for ScriptState {
    fn eq(&self, other: &Self) -> bool {
        self.host == other.host && self.machine.same(&*other.machine)
    }
}

impl ScriptState {
    /// A hash: equal states have equal ones.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let host = (self.host.at as u64) << 32 | self.host.within;
        self.machine.fingerprint().rotate_left(1) ^ host
    }
}

impl ScriptDevice {
    /// A device for the programs of a script ([`programs`]). `sources` are the files that they came from.
    #[must_use]
    pub fn new(
        programs: IndexMap<String, Arc<ProgEnv>>,
        control: ControlModel,
        sources: SourceMap,
        config: Config,
    ) -> Self {
        let watch = Stopwatch::start(config.timeout);
        let machine = fresh(&programs, control, &config);
        Self { machine, programs, control, watch, config, sources, host: Host::default() }
    }

    /// The sources of the programs and of the script.
    #[must_use]
    pub const fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// The names of the buffers of all contexts that are left, as `context.buffer`.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        let left = self.host.contexts.iter().filter(|(_, c)| !c.destroyed);
        left.flat_map(|(name, c)| c.buffers.keys().map(move |b| format!("{name}.{b}")))
    }

    /// The element type and the bytes of a buffer, named `context.buffer`. `None` when it is not there.
    #[must_use]
    pub fn contents(&self, name: &str) -> Option<(Scalar, &[u8])> {
        let (context, buffer) = name.split_once('.')?;
        self.look(context, buffer)
    }

    /// The same of a buffer, or a variable, of a context.
    pub(super) fn look(&self, context: &str, buffer: &str) -> Option<(Scalar, &[u8])> {
        let (id, Placed { address, bytes, ty }) = self.placed(context, buffer)?;
        Some((ty, self.machine.arena(id)?.bytes_at(address, bytes)?))
    }

    /// Where a buffer or a variable of a context is.
    pub(super) fn placed(&self, context: &str, name: &str) -> Option<(ContextId, Placed)> {
        let known = self.host.contexts.get(context)?;
        let id = known.id?;
        if let Some(placed) = known.buffers.get(name) {
            return Some((id, *placed));
        }
        let mut programs = self.host.loaded.iter().filter(|((c, _), _)| c == context).filter_map(|(_, p)| *p);
        let (address, bytes) = programs.find_map(|p| self.machine.symbol(id, p, name))?;
        Some((id, Placed { address, bytes, ty: Scalar::BYTE }))
    }

    /// Warp instructions that were executed.
    #[must_use]
    pub fn clock(&self) -> u64 {
        self.machine.clock()
    }

    /// From the next [beginning](ScriptDevice::begin) on, a run may execute so many warp instructions.
    pub const fn limit_steps(&mut self, steps: Option<u64>) {
        self.config.max_steps = steps;
    }

    /// Whether a program reads a clock.
    #[must_use]
    pub fn reads_clocks(&self) -> bool {
        self.programs.values().any(|env| env.reads_clocks())
    }

    /// What the grids that were started are called, by their numbers.
    pub fn grids(&self) -> impl Iterator<Item = (GridId, &str)> {
        self.host.launches.iter().filter_map(|(name, l)| Some((l.grid?, name.as_str())))
    }

    /// What the contexts that were made are called, by their numbers.
    pub fn contexts(&self) -> impl Iterator<Item = (ContextId, &str)> {
        self.host.contexts.iter().filter_map(|(name, c)| Some((c.id?, name.as_str())))
    }

    /// Where the warps of all contexts are.
    #[must_use]
    pub fn standing(&self) -> Vec<Standing> {
        self.host.contexts.values().filter_map(|c| c.id).flat_map(|id| self.machine.standing(id)).collect()
    }

    /// A hash of the memory of all contexts that are left. The same on every host.
    #[must_use]
    pub fn memory_hash(&self) -> u64 {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for id in self.host.contexts.values().filter_map(|c| c.id) {
            if let Some(arena) = self.machine.arena(id) {
                arena.digest(&mut hasher);
            }
        }
        hasher.digest()
    }
}

/// A device on which nothing has been done.
pub(super) fn fresh(programs: &Programs, control: ControlModel, config: &Config) -> Box<dyn Machine> {
    let sm = programs.values().map(|env| env.target.sm).min().unwrap_or_default();
    let bits = programs.values().map(|env| env.target.address_bits).next().unwrap_or(64);
    machine(control, (sm, bits), programs.values().any(|env| env.copies()), config)
}

/// A step that names what is not there: scripts are checked before anything runs.
pub(super) fn unchecked() -> Stop {
    Stop::internal("a step of a host script names what is not there, and the check before the run let it through", None)
}
