//! A context: device memory and the launches that share it, in order (report, 5.7).

use super::control::{Control, Crs, Its};
use super::device::{Budget, Go, Stats};
use super::loaded::{Loaded, arguments, per_block};
use crate::base::LaneTables;
use crate::choice::{Fair, Oracle, Seeded};
use crate::memory::fermi::Fermi;
use crate::memory::fermi::model::DeviceModel;
use crate::memory::fermi::program::{ProgramSet, preset};
use crate::memory::flat::{Arena, Flat};
use crate::memory::{Cx, Fault, Memory, SiteHints, Uses};
use crate::program::env::{FuncId, GlobalVar, Init, Preload, ProgEnv, Special};
use crate::program::instr::Op;
use crate::verdict::{AllocKind, Event, LimitKind, Silent, Sink, Stop, Who};
use pulp::{Scalar, WithSimd};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Control models by name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ControlModel {
    /// The report's token stack.
    Crs,
    /// A program counter per lane, lanes at one address run together.
    Its,
    /// Every thread on its own.
    Thread,
}

impl ControlModel {
    /// What a target's hardware does: independent threads from sm_70 on (`semantics.md`, section 5).
    #[must_use]
    pub const fn of_target(sm: u32) -> Self {
        if sm < 70 { Self::Crs } else { Self::Its }
    }
}

/// How a context runs its launches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// The control model; by the program's target when absent.
    pub control: Option<ControlModel>,
    /// Threads in a warp, 1 to 32.
    pub warp_size: u32,
    /// A random schedule; the fair, deterministic one when absent.
    pub seed: Option<u64>,
    /// Limit of warp instructions of all launches together.
    pub max_steps: Option<u64>,
    /// Limit of time of one launch.
    pub timeout: Option<Duration>,
    /// Limit of device memory in bytes.
    pub max_memory: Option<u64>,
    /// Limit of a thread's stack in bytes.
    pub stack_limit: u32,
    /// Streaming multiprocessors.
    pub sms: u32,
    /// Whether observed runs look for a state that repeats, so that they never end. Under a random schedule, and in
    /// programs that read a clock, they do not: no repetition would prove anything.
    pub liveness: bool,
    /// The memory engine.
    pub memory: MemoryModel,
}

/// A memory engine by name, with what it is made from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum MemoryModel {
    /// Every access takes effect at once.
    #[default]
    Flat,
    /// The report's chapter 4: caches and memory programs.
    Fermi(Arc<DeviceModel>, Arc<ProgramSet>),
}

impl MemoryModel {
    /// The engine of a preset device, with the preset's memory programs; `flat` is flat memory.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        if name == "flat" {
            return Some(Self::Flat);
        }
        let model = DeviceModel::preset(name)?;
        let programs = preset(&model.programs)?;
        Some(Self::Fermi(Arc::new(model), Arc::new(programs)))
    }

    /// Streaming multiprocessors, where the engine has so many.
    fn processors(&self) -> Option<u32> {
        match self {
            Self::Flat => None,
            Self::Fermi(model, _) => Some(model.processors),
        }
    }
}

/// The memory of a context.
enum Backing {
    Flat(Flat),
    Fermi(Box<Fermi>),
}

impl Backing {
    fn new(env: &ProgEnv, config: &Config) -> Self {
        let base = env.addresses().global;
        match &config.memory {
            MemoryModel::Flat => Self::Flat(Flat::new(base, config.max_memory)),
            MemoryModel::Fermi(model, programs) => {
                let (model, programs) = (Arc::clone(model), Arc::clone(programs));
                Self::Fermi(Box::new(Fermi::new(model, programs, env.target.sm, base, config.max_memory)))
            }
        }
    }

    const fn arena(&self) -> &Arena {
        match self {
            Self::Flat(flat) => flat.arena(),
            Self::Fermi(fermi) => fermi.arena(),
        }
    }

    const fn arena_mut(&mut self) -> &mut Arena {
        match self {
            Self::Flat(flat) => flat.arena_mut(),
            Self::Fermi(fermi) => fermi.arena_mut(),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            control: None,
            warp_size: 32,
            seed: None,
            max_steps: None,
            timeout: None,
            max_memory: None,
            stack_limit: 64 << 10,
            sms: 132,
            liveness: false,
            memory: MemoryModel::Flat,
        }
    }
}

/// A kernel launch. Sizes are in blocks and threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The entry's name.
    pub entry: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u32,
    /// The parameter area, laid out as the entry's [`Function::params`](crate::program::env::Function::params) say.
    pub params: Vec<u8>,
}

/// Which instruction sets a run is compiled for. Each costs seconds of compile time for each control model and observer.
trait Tier {
    fn run<G: WithSimd>(go: G) -> G::Output;
}

/// What the compiler was told to expect of every processor.
struct Baseline;
/// The best of what this processor has.
struct Best;

impl Tier for Baseline {
    fn run<G: WithSimd>(go: G) -> G::Output {
        go.with_simd(Scalar::new())
    }
}

impl Tier for Best {
    #[cfg(not(debug_assertions))]
    fn run<G: WithSimd>(go: G) -> G::Output {
        pulp::Arch::new().dispatch(go)
    }

    /// Debug builds are for finding bugs, and must compile quickly.
    #[cfg(debug_assertions)]
    fn run<G: WithSimd>(go: G) -> G::Output {
        Baseline::run(go)
    }
}

/// Any observer behind one type, so that the machine is compiled for observation once.
struct Observed<'a>(&'a mut dyn FnMut(Who, Event<'_>) -> Result<(), Stop>);

impl Sink for Observed<'_> {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        (self.0)(who, event)
    }
}

/// A context on flat memory.
pub struct Context {
    env: Arc<ProgEnv>,
    config: Config,
    memory: Backing,
    variables: Vec<u64>,
    launches: u32,
    steps: u64,
}

fn stop(fault: Fault) -> Stop {
    match fault {
        Fault::Stop(stop) => stop,
        Fault::Limit(limit) => Stop::Limit(limit),
        Fault::Program(f) => {
            let place = crate::verdict::Place::default();
            let operation = crate::verdict::Operation { place, program: f.program, file: f.file, line: f.line };
            Stop::Stuck(Box::new(crate::verdict::StuckKind::MemoryProgram { operation, cause: f.cause }))
        }
        Fault::Bug(kind, lanes) => {
            let place = crate::verdict::Place { lanes, ..Default::default() };
            Stop::Bug(Box::new(crate::verdict::Bug { kind, place, other: None }))
        }
    }
}

impl Context {
    /// A context with a program loaded: its variables have addresses and initial values.
    ///
    /// # Errors
    /// The memory cap.
    pub fn new(env: impl Into<Arc<ProgEnv>>, config: Config) -> Result<Self, Stop> {
        let env = env.into();
        let mut memory = Backing::new(&env, &config);
        let mut variables = Vec::with_capacity(env.variables.len());
        for (name, v) in &env.variables {
            let kind = if v.constant { AllocKind::Const } else { AllocKind::Global };
            variables.push(memory.arena_mut().alloc(name, kind, v.bytes, v.align).map_err(|f| stop(*f))?);
        }
        let mut context = Self { env, config, memory, variables, launches: 0, steps: 0 };
        for k in 0..context.variables.len() {
            context.initialise(k);
        }
        Ok(context)
    }

    /// Writes a variable's initial value.
    fn initialise(&mut self, k: usize) {
        let Some((_, GlobalVar { bytes, init, relocations, .. })) = self.env.variables.get_index(k) else { return };
        let mut image = init.clone();
        image.resize(usize::try_from(*bytes).unwrap_or(0), 0);
        for r in relocations {
            let address = self.address_of(r.of) >> r.shift;
            let at = usize::try_from(r.at).unwrap_or(usize::MAX);
            let width = usize::from(r.bytes.min(8));
            if let Some(to) = image.get_mut(at..at.saturating_add(width)) {
                to.copy_from_slice(&address.to_le_bytes()[..width]);
            }
        }
        if let Some(to) = self.memory.arena_mut().bytes_at_mut(self.variables[k], *bytes) {
            to.copy_from_slice(&image);
        }
    }

    fn address_of(&self, of: Init) -> u64 {
        let map = self.env.addresses();
        match of {
            Init::Const(v) => v,
            Init::Variable { index, offset } => {
                self.variables.get(index as usize).copied().unwrap_or(0).wrapping_add_signed(offset)
            }
            Init::Function(id) => self.env.function(id).map_or(0, |f| map.code_of(f.start)),
            Init::Code(pc) => map.code_of(pc),
            Init::DynamicShared(_) | Init::Special(_) | Init::Param { .. } => 0,
        }
    }

    /// The program.
    #[must_use]
    pub fn env(&self) -> &ProgEnv {
        &self.env
    }

    /// The program, to be shared with observers of its runs.
    #[must_use]
    pub fn program(&self) -> Arc<ProgEnv> {
        Arc::clone(&self.env)
    }

    /// Makes a zeroed buffer of `bytes`; gives its device address, a multiple of 256.
    ///
    /// # Errors
    /// The memory cap.
    pub fn alloc(&mut self, name: &str, bytes: u64) -> Result<u64, Stop> {
        self.memory.arena_mut().alloc(name, AllocKind::Buffer, bytes, 256).map_err(|f| stop(*f))
    }

    /// The bytes at a device address; `None` when they are not inside one block of memory.
    #[must_use]
    pub fn bytes(&self, address: u64, len: u64) -> Option<&[u8]> {
        self.memory.arena().bytes_at(address, len)
    }

    /// The bytes at a device address, to be changed by the host.
    pub fn bytes_mut(&mut self, address: u64, len: u64) -> Option<&mut [u8]> {
        self.memory.arena_mut().bytes_at_mut(address, len)
    }

    /// Address and size in bytes of a `.global` or `.const` variable.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<(u64, u64)> {
        let (k, _, v) = self.env.variables.get_full(name)?;
        Some((self.variables[k], v.bytes))
    }

    /// A hash of all device memory: addresses, sizes and contents of its blocks. The same on every host.
    #[must_use]
    pub fn memory_hash(&self) -> u64 {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        let arena = self.memory.arena();
        for block in arena.blocks().iter().filter(|b| !b.freed) {
            let address = arena.address(block);
            hasher.update(&address.to_le_bytes());
            hasher.update(&block.len.to_le_bytes());
            hasher.update(arena.bytes_at(address, block.len).unwrap_or(&[]));
        }
        hasher.digest()
    }

    /// Runs a kernel to its end, unobserved; `out` receives what the device prints.
    ///
    /// # Errors
    /// Why it stopped before its end.
    pub fn launch(&mut self, launch: &Launch, out: &mut dyn FnMut(&[u8])) -> Result<Stats, Stop> {
        self.launch_with(launch, Silent, out)
    }

    /// Runs a kernel to its end under an observer.
    ///
    /// # Errors
    /// Why it stopped before its end.
    pub fn launch_with<S: Sink>(
        &mut self,
        launch: &Launch,
        sink: S,
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<Stats, Stop> {
        let mut seeded;
        let mut fair = Fair;
        let oracle: &mut dyn Oracle = match self.config.seed {
            Some(seed) => {
                // Each launch has a stream of its own, so that one launch's length does not shift the next one's schedule.
                seeded = Seeded::new(seed ^ u64::from(self.launches).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                &mut seeded
            }
            None => &mut fair,
        };
        self.launch_by(launch, sink, oracle, out)
    }

    /// Runs a kernel to its end under an observer, with an oracle of the caller's.
    ///
    /// # Errors
    /// Why it stopped before its end.
    pub fn launch_by<S: Sink>(
        &mut self,
        launch: &Launch,
        mut sink: S,
        oracle: &mut dyn Oracle,
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<Stats, Stop> {
        if S::ON {
            let mut tell = |who: Who, event: Event<'_>| sink.event(who, event);
            self.observed(launch, &mut tell, oracle, out)
        } else {
            self.silent(launch, oracle, out)
        }
    }

    /// A run that nobody watches: the only one compiled for every instruction set, since observed and thread-level runs
    /// spend their time elsewhere.
    fn silent(&mut self, launch: &Launch, oracle: &mut dyn Oracle, out: &mut dyn FnMut(&[u8])) -> Result<Stats, Stop> {
        let loaded = self.load(launch)?;
        match self.control()? {
            ControlModel::Crs => self.go::<Crs, Silent, Best>(&loaded, Silent, oracle, out),
            ControlModel::Its => self.go::<Its<false>, Silent, Best>(&loaded, Silent, oracle, out),
            ControlModel::Thread => self.go::<Its<true>, Silent, Baseline>(&loaded, Silent, oracle, out),
        }
    }

    fn observed(
        &mut self,
        launch: &Launch,
        tell: &mut dyn FnMut(Who, Event<'_>) -> Result<(), Stop>,
        oracle: &mut dyn Oracle,
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<Stats, Stop> {
        let loaded = self.load(launch)?;
        match self.control()? {
            ControlModel::Crs => self.go::<Crs, _, Baseline>(&loaded, Observed(tell), oracle, out),
            ControlModel::Its => self.go::<Its<false>, _, Baseline>(&loaded, Observed(tell), oracle, out),
            ControlModel::Thread => self.go::<Its<true>, _, Baseline>(&loaded, Observed(tell), oracle, out),
        }
    }

    fn control(&self) -> Result<ControlModel, Stop> {
        let control = self.config.control.unwrap_or(ControlModel::of_target(self.env.target.sm));
        if control == ControlModel::Crs && !self.env.injected {
            return Err(Stop::Unsupported("control model crs for a program built without injection".into(), None));
        }
        Ok(control)
    }

    /// What the launch fixes.
    fn load(&mut self, launch: &Launch) -> Result<Loaded, Stop> {
        let missing = || Stop::Unsupported(format!("no entry named {}", launch.entry), None);
        let (k, _, entry) = self.env.functions.get_full(&launch.entry).ok_or_else(missing)?;
        let dynamic_at = entry.shared_bytes.next_multiple_of(16);
        let cooperative = |p: &Preload| matches!(p.init, Init::Special(Special::EnvReg(_)));
        let workspace = if entry.preloads.iter().any(cooperative) {
            self.memory.arena_mut().alloc("grid workspace", AllocKind::Buffer, 256, 256).map_err(|f| stop(*f))?
        } else {
            0
        };
        Ok(Loaded {
            entry: FuncId(u32::try_from(k).unwrap_or(u32::MAX)),
            grid: launch.grid,
            block: launch.block,
            warp_size: self.config.warp_size.clamp(1, 32),
            params: launch.params.clone(),
            shared_bytes: dynamic_at + launch.shared_bytes,
            dynamic_at,
            dynamic_bytes: launch.shared_bytes,
            sms: self.config.memory.processors().unwrap_or(self.config.sms),
            number: self.launches,
            variables: self.variables.clone(),
            stack_limit: self.config.stack_limit,
            workspace,
            moves_stack: self.env.code.iter().any(|i| matches!(i.op, Op::Alloca | Op::StackRestore)),
            arguments: arguments(&self.env),
            per_block: per_block(&entry.preloads),
            uses: if self.config.memory == MemoryModel::Flat { Vec::new() } else { Uses::of_program(&self.env) },
        })
    }

    fn go<C: Control, S: Sink, T: Tier>(
        &mut self,
        loaded: &Loaded,
        sink: S,
        oracle: &mut dyn Oracle,
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<Stats, Stop> {
        let mut cx = Cx { sink, oracle, hints: SiteHints::default(), tables: LaneTables::new(), out };
        #[expect(clippy::disallowed_methods, reason = "a limit of time; no choice depends on it")]
        let clock = Instant::now();
        let timeout = self.config.timeout;
        let mut time_up = || {
            let limit = timeout.filter(|t| clock.elapsed() >= *t)?;
            Some(LimitKind::Time(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)))
        };
        let limit = self.config.max_steps.unwrap_or(u64::MAX);
        let budget = Budget { steps: limit.saturating_sub(self.steps), limit, time_up: &mut time_up };
        let residents = residents(loaded);
        // Only a schedule without memory of its own repeats when the state does; a clock never does.
        let watch = self.config.liveness
            && self.config.seed.is_none()
            && !self.env.code.iter().any(|i| matches!(i.op, Op::ReadSpecial(_)));
        let (env, cx, clock, control) = (&*self.env, &mut cx, self.steps, PhantomData::<C>);
        self.launches += 1;
        let stats = match &mut self.memory {
            Backing::Flat(mem) => {
                T::run(Go::<C, Flat, S> { env, loaded, mem, cx, budget, clock, residents, watch, control })?
            }
            Backing::Fermi(mem) => {
                let mem = &mut **mem;
                let go = Go::<C, Fermi, S> { env, loaded, mem, cx, budget, clock, residents, watch, control };
                let stats = Baseline::run(go)?;
                mem.flush();
                stats
            }
        };
        self.steps += stats.warp_instructions;
        Ok(stats)
    }
}

/// How many blocks fit the device at once: 2048 threads, 32 blocks and 228 KiB of shared memory a multiprocessor.
fn residents(loaded: &Loaded) -> usize {
    let by_threads = 2048 / loaded.threads().clamp(1, 2048);
    let by_shared = (228 << 10) / loaded.shared_bytes.max(1);
    (loaded.sms * by_threads.min(by_shared).clamp(1, 32)) as usize
}
