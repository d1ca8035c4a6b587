//! A context with one program, for hosts that launch one kernel after another: the device with one context (report, 5.7).
//!
//! What it does goes through the device's messages and its step; nobody is asked in which order messages are handled,
//! because this host waits for each answer.

use crate::choice::{Fair, Oracle, Seeded};
use crate::machine::alone::Apart;
use crate::machine::books::Stats;
use crate::machine::bounds::Stopwatch;
use crate::machine::config::{Config, ControlModel};
use crate::machine::context::state::stop;
use crate::machine::device::message::{
    ContextId, ContextInput, ContextOutput, DeviceInput, DeviceOutput, Program, ProgramId, Tag,
};
use crate::machine::device::state::Ran;
use crate::machine::grid::launch::Launch;
use crate::machine::images::Images;
use crate::machine::observer::{Heard, Tell, again};
use crate::machine::runner::{Machine, Run, machine};
use crate::machine::walk::Grain;
use crate::machine::walk::Walk;
use crate::machine::warp::mistakes::nothing_steps;
use crate::memory::MemoryModel;
use crate::memory::flat::{Arena, HostMemory, Lent};
use crate::program::env::ProgEnv;
use crate::verdict::{Event, Named, Place, Silent, Sink, Standing, Stop, StuckKind, Unwritten, Who};
use std::sync::Arc;

/// A context on flat memory.
pub struct Context {
    env: Arc<ProgEnv>,
    config: Config,
    machine: Box<dyn Machine>,
    context: ContextId,
    program: ProgramId,
    launches: u32,
    /// The time that the grid started last may take.
    watch: Stopwatch,
    /// The device in the state that was seen to repeat, when a run never ends.
    endless: Option<Box<dyn Machine>>,
    /// Where the warps were when a limit ended a run.
    standing: Vec<Standing>,
}

impl Context {
    /// A context with a program loaded: its variables have addresses and initial values.
    ///
    /// # Errors
    /// The memory cap.
    pub fn new(env: impl Into<Arc<ProgEnv>>, config: Config) -> Result<Self, Stop> {
        let env = env.into();
        let control = config.control.unwrap_or(ControlModel::of_target(env.target.sm));
        let machine = machine(control, (env.target.sm, env.target.address_bits), env.copies(), &config);
        let (context, program) = (ContextId(0), ProgramId(0));
        let watch = Stopwatch::start(None);
        let mut new =
            Self { env, config, machine, context, program, launches: 0, watch, endless: None, standing: Vec::new() };
        new.tell(DeviceInput::Create(Tag(0)))?;
        new.context = match new.answer()? {
            DeviceOutput::Created(id, _) => id,
            _ => return Err(Stop::internal("the device answered `create` with something else", None)),
        };
        new.tell(DeviceInput::Load(Program(Arc::clone(&new.env)), new.context, Tag(0)))?;
        new.program = match new.answer()? {
            DeviceOutput::Loaded(id, ..) => id,
            _ => return Err(Stop::internal("the device answered `load` with something else", None)),
        };
        Ok(new)
    }

    /// Another context in the same state, cheaply: the program is shared, memory is copied.
    #[must_use]
    pub fn fork(&self) -> Self {
        let (env, config, machine) = (Arc::clone(&self.env), self.config.clone(), self.machine.fork());
        let Self { context, program, launches, watch, .. } = *self;
        Self { env, config, machine, context, program, launches, watch, endless: None, standing: Vec::new() }
    }

    /// Sends a message that names only what exists.
    fn tell(&mut self, message: DeviceInput) -> Result<(), Stop> {
        self.machine
            .send(message)
            .map_err(|error| Stop::internal(format!("the device refuses a message: {error:?}"), None))
    }

    /// The device's answer, when no grid runs.
    fn answer(&mut self) -> Result<DeviceOutput, Stop> {
        match self.machine.run(Run::new(&mut Fair, &mut |_| ()))? {
            Ran::Output(message) => Ok(message),
            Ran::Spent | Ran::Idle => Err(Stop::internal("the device does not answer", None)),
        }
    }

    /// How it runs.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
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
        self.machine
            .alloc(self.context, name, bytes)?
            .ok_or_else(|| Stop::internal("a buffer for a context that does not exist", None))
    }

    /// Makes a zeroed buffer at an address of the caller's choice. `None`: nothing can be there ([`Arena::alloc_at`]).
    ///
    /// # Errors
    /// The memory cap.
    pub fn alloc_at(&mut self, name: &str, bytes: u64, address: u64) -> Result<Option<u64>, Stop> {
        let arena = self.machine.arena_mut(self.context);
        let arena = arena.ok_or_else(|| Stop::internal("a buffer for a context that does not exist", None))?;
        arena.alloc_at(name, bytes, address).map_err(|fault| stop(*fault))
    }

    /// Whether buffers can lie in memory that the host lends: where memory acts at once, and nothing is copied beside it.
    #[must_use]
    pub fn takes_loans(&self) -> bool {
        matches!(self.config.memory, MemoryModel::Flat) && !self.env.copies()
    }

    /// Makes a buffer of bytes that the host lends for as long as the context is there; gives its device address. Only where
    /// [`Context::takes_loans`].
    ///
    /// # Errors
    /// The memory cap.
    pub fn lend(&mut self, name: &str, loan: Box<dyn Lent>) -> Result<u64, Stop> {
        let arena = self.machine.arena_mut(self.context);
        let arena = arena.ok_or_else(|| Stop::internal("a buffer for a context that does not exist", None))?;
        arena.lend(name, loan).map_err(|fault| stop(*fault))
    }

    /// Lets kernels access memory of the host's process by its addresses. Only where [`Context::takes_loans`], with
    /// [`Config::host_addresses`].
    pub fn mirror(&mut self, host: Arc<dyn HostMemory>) {
        if let Some(arena) = self.machine.arena_mut(self.context) {
            arena.mirror(host, self.env.store_unit());
        }
    }

    /// Gives the host the bytes of its memory that kernels have changed.
    ///
    /// # Errors
    /// An address that cannot be written any more: the host's memory is as it was before.
    pub fn give_back(&self) -> Result<(), u64> {
        self.arena().map_or(Ok(()), Arena::give_back)
    }

    /// What the handles of textures and surfaces stand for. `None`: the context is gone.
    #[must_use]
    pub fn images(&self) -> Option<&Images> {
        self.machine.images(self.context)
    }

    /// What the handles of textures and surfaces stand for, to be changed by the host before a launch. `None`: the context is gone.
    pub fn images_mut(&mut self) -> Option<&mut Images> {
        self.machine.images_mut(self.context)
    }

    /// What is wrong with the context at its end, when memory of the heap that is not freed is a defect
    /// ([`Config::leaks`]; D-leaks).
    #[must_use]
    pub fn leaks(&self) -> Option<Stop> {
        let bug = self.arena().filter(|_| self.config.leaks)?.leaks()?;
        Some(Stop::Bug(Box::new(bug)))
    }

    /// Notes what the host has not written of a buffer, for observers.
    pub fn leave_unwritten(&mut self, address: u64, unwritten: Option<Unwritten>) {
        if let Some(arena) = self.machine.arena_mut(self.context) {
            arena.leave_unwritten(address, unwritten);
        }
    }

    /// The buffers and variables of memory.
    #[must_use]
    pub fn names(&self) -> Vec<Named> {
        self.arena().map(Arena::names).unwrap_or_default()
    }

    fn arena(&self) -> Option<&Arena> {
        self.machine.arena(self.context)
    }

    /// Bytes of all device memory, with the gaps in it.
    #[must_use]
    pub fn bytes_in_all(&self) -> u64 {
        self.arena().map_or(0, |arena| arena.size())
    }

    /// The bytes at a device address; `None` when they are not inside one block of memory.
    #[must_use]
    pub fn bytes(&self, address: u64, len: u64) -> Option<&[u8]> {
        self.arena()?.bytes_at(address, len)
    }

    /// The bytes at a device address, to be changed by the host.
    pub fn bytes_mut(&mut self, address: u64, len: u64) -> Option<&mut [u8]> {
        self.machine.arena_mut(self.context)?.bytes_at_mut(address, len)
    }

    /// Address and size in bytes of a `.global` or `.const` variable.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<(u64, u64)> {
        self.machine.symbol(self.context, self.program, name)
    }

    /// A hash of all device memory: addresses, sizes and contents of its blocks. The same on every host.
    #[must_use]
    pub fn memory_hash(&self) -> u64 {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        if let Some(arena) = self.arena() {
            arena.digest(&mut hasher);
        }
        hasher.digest()
    }

    /// A search's way through launches, from the state of the memory now.
    ///
    /// # Errors
    /// A launch that cannot be; a stop before anybody has a choice.
    pub fn walk(&self, launches: &[Launch], grain: Grain) -> Result<Box<dyn Walk>, Stop> {
        self.machine.walk(self.context, self.program, launches, grain)
    }

    /// The threads of a launch, each to be run on its own, from the state of the memory now.
    ///
    /// # Errors
    /// A launch that cannot be.
    pub fn apart(&self, launch: &Launch) -> Result<Apart, Stop> {
        self.machine.apart(self.context, self.program, launch)
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
        let mut oracle = self.oracle();
        self.launch_by(launch, sink, &mut *oracle, out)
    }

    /// The oracle that the configuration asks for.
    #[must_use]
    pub fn oracle(&self) -> Box<dyn Oracle> {
        self.config.seed.map_or_else(|| Box::new(Fair) as Box<dyn Oracle>, |seed| Box::new(Seeded::new(seed)))
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
        let mut heard = Heard(&mut sink);
        let tell: Option<Tell<'_>> = if S::ON { Some(&mut heard) } else { None };
        self.start(launch, oracle)?;
        let ran = self.go(Course { tell, oracle, out, until: u64::MAX, look: true })?;
        ran.ok_or_else(|| Stop::internal("a launch without a limit was interrupted", None))
    }

    /// Starts a grid, to be run by [`Context::go`]. The oracle is told that a launch begins.
    ///
    /// # Errors
    /// There is no such entry; a schedule that is replayed does not fit.
    pub fn start(&mut self, launch: &Launch, oracle: &mut dyn Oracle) -> Result<(), Stop> {
        if !self.env.functions.contains_key(&launch.entry) {
            return Err(Stop::Unsupported(format!("no entry named {}", launch.entry), None));
        }
        oracle.launch(self.launches)?;
        let start = ContextInput::Start(self.program, Box::new(launch.clone()), Tag(self.launches));
        self.tell(DeviceInput::Context(self.context, start))?;
        self.launches += 1;
        self.watch = Stopwatch::start(self.config.timeout);
        Ok(())
    }

    /// Goes on with the grid that was started last. `None`: the clock has reached `until`, and the grid has not ended; the
    /// turn that had begun by then has.
    ///
    /// # Errors
    /// Why it stopped before its end; it is gone then.
    pub fn go(&mut self, mut course: Course<'_>) -> Result<Option<Stats>, Stop> {
        loop {
            let hold = course.until.saturating_sub(self.machine.clock());
            let tell = again(&mut course.tell);
            let (watch, look) = (self.watch, course.look);
            let run = Run { tell, hold, watch, look, ..Run::new(&mut *course.oracle, &mut *course.out) };
            let stopped = match self.machine.run(run) {
                Ok(Ran::Output(DeviceOutput::Context(_, ContextOutput::Completed(grid)))) => {
                    self.machine.settle(self.context);
                    return Ok(Some(self.machine.stats(grid)));
                }
                Ok(Ran::Output(_)) => continue,
                Ok(Ran::Spent) => return Ok(None),
                Ok(Ran::Idle) => self.machine.stuck().unwrap_or_else(nothing_steps),
                Err(stop) => stop,
            };
            let repeats = matches!(&stopped, Stop::Stuck(s) if matches!(**s, StuckKind::Endless { .. }));
            self.endless = repeats.then(|| self.machine.fork());
            if matches!(stopped, Stop::Limit(_)) {
                self.standing = self.machine.standing(self.context);
            }
            self.machine.abandon();
            return Err(stopped);
        }
    }

    /// After a run that a limit ended: where its warps were.
    #[must_use]
    pub fn standing(&self) -> &[Standing] {
        &self.standing
    }

    /// After a run that never ends: a walk from the state that repeats. `None`: no run did, or memory is such that no
    /// search can go on from there.
    #[must_use]
    pub fn repeating(&self) -> Option<Box<dyn Walk>> {
        self.endless.as_ref()?.walk_on(self.context)
    }

    /// After a run that never ends: goes once more through the states that repeat, under an observer.
    pub fn once_more<S: Sink>(&self, mut sink: S) {
        let Some(mut machine) = self.endless.as_ref().map(|m| m.fork()) else { return };
        let mut tell = |who: Who, event: Event<'_>| {
            let again = matches!(event, Event::Repeated);
            sink.event(who, event)?;
            if again { Err(Stop::endless(who, Place::default())) } else { Ok(()) }
        };
        // It ends where the state is the same again.
        let _ = machine.run(Run { tell: Some(&mut tell), look: true, ..Run::new(&mut Fair, &mut |_| ()) });
    }

    /// Thread instructions that were executed as machine code so far, of all launches.
    #[must_use]
    pub fn native(&self) -> u64 {
        self.machine.native()
    }

    /// Blocks that ran ahead of those before them on several threads ([`Config::threads`]), as in their turn, and those that did for
    /// nothing. No result depends on it.
    #[must_use]
    pub fn ahead(&self) -> [u64; 2] {
        self.machine.ahead()
    }

    /// Warp instructions executed so far, of all launches.
    #[must_use]
    pub fn clock(&self) -> u64 {
        self.machine.clock()
    }
}

/// How a grid goes on.
pub struct Course<'a> {
    /// The observer, if any.
    pub tell: Option<Tell<'a>>,
    /// Who decides.
    pub oracle: &'a mut dyn Oracle,
    /// Receives what the device prints.
    pub out: &'a mut dyn FnMut(&[u8]),
    /// The value of [`Context::clock`] at which it returns.
    pub until: u64,
    /// Whether an observed run looks for a state that repeats, where the configuration asks for it
    /// ([`Config::liveness`]).
    pub look: bool,
}
