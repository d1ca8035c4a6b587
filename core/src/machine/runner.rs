//! A device behind one type: its control model and memory are chosen when it is made, the observer when it runs.
//!
//! Each combination is compiled here and nowhere else (`warp::lanes`: the instructions of warps).

use crate::base::LaneTables;
use crate::choice::Oracle;
use crate::machine::ahead::Remembered;
use crate::machine::alone::Apart;
use crate::machine::books::{Books, Budget, Stats};
use crate::machine::bounds::Stopwatch;
use crate::machine::config::{Config, ControlModel, DeviceShape};
use crate::machine::context::state::ContextState;
use crate::machine::control::Crs;
use crate::machine::control::Explored;
use crate::machine::control::Its;
use crate::machine::device::Unnoticed;
use crate::machine::device::message::{ContextId, DeviceInput, GridId, MessageError, ProgramId};
use crate::machine::device::state::{Device, Order, Ran};
use crate::machine::grid::launch::Launch;
use crate::machine::images::Images;
use crate::machine::observer::{Observed, Tell};
use crate::machine::walk::Grain;
use crate::machine::walk::Walk;
use crate::machine::walk::Walker;
use crate::memory::flat::{Arena, Flat, Slabs};
use crate::memory::{Accesses, Cx, Delayed, Environment, FermiModel, Memory, MemoryModel, SiteHints, WithCopies};
use crate::verdict::{Rule, Silent, Sink, Standing, Stop, Who};
use std::any::Any;
use std::sync::Arc;

/// How runs that nobody observes are compiled: memory that acts later costs more than an observer who does not listen, so that it is
/// not compiled for silence at all.
trait Quiet {
    fn quietly(&mut self, run: Run<'_>) -> Result<Ran, Stop>;
}

impl<C: Explored + 'static> Quiet for Hosted<C, Flat> {
    fn quietly(&mut self, run: Run<'_>) -> Result<Ran, Stop> {
        // Only machine code runs ahead.
        if <Arena as Memory>::NATIVE && self.may_run_ahead(&run) { self.run_ahead(run) } else { self.go(Silent, run) }
    }
}

impl<C: Explored + 'static> Quiet for Hosted<C, WithCopies<Delayed>> {
    fn quietly(&mut self, run: Run<'_>) -> Result<Ran, Stop> {
        self.go(Observed::new(None), run)
    }
}

/// How a device is run.
pub struct Run<'a> {
    /// The observer, if any.
    pub tell: Option<Tell<'a>>,
    /// Who decides.
    pub oracle: &'a mut dyn Oracle,
    /// Receives what the device prints.
    pub out: &'a mut dyn FnMut(&[u8]),
    /// How messages are handled.
    pub order: Order,
    /// Warp instructions to be executed at most before it returns.
    pub hold: u64,
    /// Whether a turn that has begun by then goes on to its end, so that it makes no difference where a run pauses.
    pub whole_turns: bool,
    /// Time.
    pub watch: Stopwatch,
    /// Whether an observed run looks for a state that repeats, where the configuration asks for it
    /// ([`Config::liveness`]). The oracle must be one that the state determines.
    pub look: bool,
}

impl<'a> Run<'a> {
    /// One that nobody observes, without bounds: turns are whole, and messages are handled as they come.
    pub fn new(oracle: &'a mut dyn Oracle, out: &'a mut dyn FnMut(&[u8])) -> Self {
        let (order, hold, watch) = (Order::Prompt, u64::MAX, Stopwatch::start(None));
        Self { tell: None, oracle, out, order, hold, whole_turns: true, watch, look: false }
    }
}

/// A device of any control model and memory.
pub trait Machine: Send + Sync {
    /// Another device in the same state: programs are shared, memory is copied.
    fn fork(&self) -> Box<dyn Machine>;

    /// Forgets whose turn it was, which only a schedule that takes turns depends on, and the order of messages.
    fn forget_turns(&mut self);

    /// A step that nothing else notices; `host`: that includes what the host hears.
    fn unnoticed(&mut self, host: bool) -> Option<Unnoticed>;

    /// A hash of the state: equal states have equal ones.
    fn fingerprint(&self) -> u64;

    /// Whether another machine is in the same state.
    fn same(&self, other: &dyn Machine) -> bool;

    /// For [`Machine::same`].
    fn as_any(&self) -> &dyn Any;

    /// Takes a message from the host.
    ///
    /// # Errors
    /// It names something that does not exist now.
    fn send(&mut self, message: DeviceInput) -> Result<(), MessageError>;

    /// Runs until there is a message for the host, its steps are used up, or nothing can be done.
    ///
    /// # Errors
    /// Why a grid stopped before its end; a limit.
    fn run(&mut self, run: Run<'_>) -> Result<Ran, Stop>;

    /// A context's memory.
    fn arena(&self, context: ContextId) -> Option<&Arena>;

    /// A context's memory, to be changed by the host.
    fn arena_mut(&mut self, context: ContextId) -> Option<&mut Arena>;

    /// Makes a zeroed buffer in a context; gives its address. `None`: there is no such context.
    ///
    /// # Errors
    /// The memory cap.
    fn alloc(&mut self, context: ContextId, name: &str, bytes: u64) -> Result<Option<u64>, Stop>;

    /// What the handles of a context stand for.
    fn images(&self, context: ContextId) -> Option<&Images>;

    /// What the handles of a context stand for, to be changed by the host.
    fn images_mut(&mut self, context: ContextId) -> Option<&mut Images>;

    /// Address and size in bytes of a variable.
    fn symbol(&self, context: ContextId, program: ProgramId, name: &str) -> Option<(u64, u64)>;

    /// The host is about to look at a context's memory: what caches hold is written back, as the silent rules may at any
    /// time.
    fn settle(&mut self, context: ContextId);

    /// A search's way through launches of a loaded program, from this state of a context. No grid of the device may be left.
    ///
    /// # Errors
    /// There is no such context or program; a launch that cannot be; a stop before anybody has a choice.
    fn walk(
        &self,
        context: ContextId,
        program: ProgramId,
        launches: &[Launch],
        grain: Grain,
    ) -> Result<Box<dyn Walk>, Stop>;

    /// A launch of a loaded program whose threads run each on its own, from this state of a context.
    ///
    /// # Errors
    /// There is no such context or program; a launch that cannot be.
    fn apart(&self, context: ContextId, program: ProgramId, launch: &Launch) -> Result<Apart, Stop>;

    /// A search's way on from this state of a context in which a grid runs, to the end of that grid. `None`: none runs, or
    /// the state is none that a search can go on from.
    fn walk_on(&self, context: ContextId) -> Option<Box<dyn Walk>>;

    /// Why nothing can step, when grids are left.
    fn stuck(&self) -> Option<Stop>;

    /// Where the live lanes of a context's warps stand.
    fn standing(&self, context: ContextId) -> Vec<Standing>;

    /// Warp instructions executed so far.
    fn clock(&self) -> u64;

    /// What a grid has done.
    fn stats(&self, grid: GridId) -> Stats;

    /// Thread instructions of all grids that were executed as machine code.
    fn native(&self) -> u64;

    /// Blocks that ran ahead of those before them, as in their turn, and those that did for nothing.
    fn ahead(&self) -> [u64; 2];

    /// Forgets all grids and messages, after a run that stopped before its end.
    fn abandon(&mut self);
}

#[derive(Clone)]
pub(in crate::machine) struct Hosted<C, M: Environment> {
    pub(in crate::machine) device: Device<C, M>,
    pub(in crate::machine) config: Config,
    /// What the configuration says of looking for repeated states; each run may leave it out.
    liveness: bool,
    pub(in crate::machine) clock: u64,
    pub(in crate::machine) stats: Vec<(GridId, Stats)>,
    /// Messages that were sent since the last run: the observer is told then.
    sent: u32,
    /// Thread instructions that were executed natively.
    pub(in crate::machine) native: u64,
    /// See [`Books::stops`] and [`Books::between`].
    pub(in crate::machine) stops: Option<u64>,
    pub(in crate::machine) between: bool,
    /// See [`Machine::ahead`].
    pub(in crate::machine) ahead: [u64; 2],
    /// Room for copies of memory that was used before.
    pub(in crate::machine) spare: Slabs,
    /// What launches have shown of the next ones that run ahead.
    pub(in crate::machine) remembered: Remembered,
}

/// A device for programs of a target: 70 for `sm_70`, with addresses of 32 or 64 bits. `copies`: they copy asynchronously.
#[must_use]
pub fn machine(
    control: ControlModel,
    (sm, address_bits): (u32, u32),
    copies: bool,
    config: &Config,
) -> Box<dyn Machine> {
    let accesses = match &config.memory {
        MemoryModel::Flat if !copies => return controlled::<Flat>(control, (), address_bits, config),
        MemoryModel::Fermi(device, programs) => {
            Accesses::Fermi(FermiModel { device: Arc::clone(device), programs: Arc::clone(programs), sm })
        }
        MemoryModel::Flat => Accesses::Whole,
        MemoryModel::Split => Accesses::Split,
        MemoryModel::Mutexed(mechanism) => Accesses::Mutexed(*mechanism),
        MemoryModel::Lsc => Accesses::Lsc,
        MemoryModel::Slsc => Accesses::Slsc,
        MemoryModel::Rsp(scheme) => Accesses::Promoted(*scheme),
    };
    controlled::<WithCopies<Delayed>>(control, (accesses, copies), address_bits, config)
}

fn controlled<M: Environment + 'static>(
    control: ControlModel,
    model: M::Model,
    address_bits: u32,
    config: &Config,
) -> Box<dyn Machine>
where
    Hosted<Crs, M>: Quiet,
    Hosted<Its, M>: Quiet,
{
    match control {
        ControlModel::Crs => Hosted::<Crs, M>::boxed(model, address_bits, config),
        _ => Hosted::<Its, M>::boxed(model, address_bits, config),
    }
}

impl<C: Explored + 'static, M: Environment + 'static> Hosted<C, M> {
    fn boxed(model: M::Model, address_bits: u32, config: &Config) -> Box<dyn Machine>
    where
        Self: Quiet,
    {
        let device = Device::new(model, address_bits);
        let mut config = config.clone();
        // What was described for the device goes before what its memory is like.
        if config.device == DeviceShape::default() {
            config.device = config.memory.device().map_or(config.device, DeviceShape::of);
        }
        let liveness = config.liveness;
        let (stats, ahead, spare, remembered) = (Vec::new(), [0; 2], Slabs::default(), Remembered::default());
        let (clock, sent, native, stops, between) = (0, 0, 0, None, false);
        Box::new(Self {
            device,
            config,
            liveness,
            clock,
            stats,
            sent,
            native,
            stops,
            between,
            ahead,
            spare,
            remembered,
        })
    }

    pub(in crate::machine) fn go<S: Sink>(&mut self, mut sink: S, run: Run<'_>) -> Result<Ran, Stop> {
        let Run { oracle, out, order, hold, watch, whole_turns, .. } = run;
        for _ in 0..std::mem::take(&mut self.sent) {
            if S::ON {
                sink.fire(Who::default(), Rule::DeviceIn)?;
            }
        }
        let takes_turns = oracle.takes_turns();
        let mut cx = Cx { sink, oracle, hints: SiteHints::default(), tables: LaneTables::default(), out };
        let bounds = self.config.bounds.clone();
        let mut time_up = || watch.up().or_else(|| bounds.up());
        let limit = self.config.max_steps.unwrap_or(u64::MAX);
        let budget = Budget { steps: limit.saturating_sub(self.clock), limit, patience: 0, time_up: &mut time_up };
        let Config { small_steps: small, eager, engine, .. } = self.config;
        let (clock, stats, native, watched) = (self.clock, &mut self.stats, &mut self.native, false);
        let single = order == Order::Single;
        let (stops, between, counts_native) = (self.stops, false, self.config.counts_native);
        let mut books = Books {
            budget,
            clock,
            stats,
            small,
            watched,
            whole_turns,
            single,
            takes_turns,
            eager,
            engine,
            native,
            stops,
            counts_native,
            between,
        };
        let ran = self.device.run(&self.config, order, hold, &mut cx, &mut books);
        (self.clock, self.between) = (books.clock, books.between);
        ran
    }
}

impl<C: Explored + 'static, M: Environment + 'static> Machine for Hosted<C, M>
where
    Self: Quiet,
{
    fn fork(&self) -> Box<dyn Machine> {
        Box::new(self.clone())
    }

    fn forget_turns(&mut self) {
        self.device.forget_turns();
    }

    fn unnoticed(&mut self, host: bool) -> Option<Unnoticed> {
        self.device.unnoticed(&self.config, host)
    }

    fn fingerprint(&self) -> u64 {
        self.device.fingerprint()
    }

    fn same(&self, other: &dyn Machine) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| self.device == other.device)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn send(&mut self, message: DeviceInput) -> Result<(), MessageError> {
        self.device.send(message)?;
        self.sent += 1;
        Ok(())
    }

    fn run(&mut self, mut run: Run<'_>) -> Result<Ran, Stop> {
        self.config.liveness = self.liveness && run.look;
        match run.tell.take() {
            None => self.quietly(run),
            Some(tell) => self.go(Observed::new(Some(tell)), run),
        }
    }

    fn arena(&self, context: ContextId) -> Option<&Arena> {
        self.device.context(context).map(|c| c.memory.arena())
    }

    fn arena_mut(&mut self, context: ContextId) -> Option<&mut Arena> {
        self.device.context_mut(context).map(ContextState::host_memory)
    }

    fn alloc(&mut self, context: ContextId, name: &str, bytes: u64) -> Result<Option<u64>, Stop> {
        self.device.context_mut(context).map(|c| c.alloc(name, bytes)).transpose()
    }

    fn images(&self, context: ContextId) -> Option<&Images> {
        self.device.context(context).map(|c| &*c.images)
    }

    fn images_mut(&mut self, context: ContextId) -> Option<&mut Images> {
        self.device.context_mut(context).map(|c| Arc::make_mut(&mut c.images))
    }

    fn symbol(&self, context: ContextId, program: ProgramId, name: &str) -> Option<(u64, u64)> {
        self.device.context(context)?.symbol(program, name)
    }

    fn settle(&mut self, context: ContextId) {
        if let Some(context) = self.device.context_mut(context) {
            context.settle();
        }
    }

    fn walk(
        &self,
        context: ContextId,
        program: ProgramId,
        launches: &[Launch],
        grain: Grain,
    ) -> Result<Box<dyn Walk>, Stop> {
        let missing = || Stop::internal("a search from a context that does not exist", None);
        let state = self.device.context(context).ok_or_else(missing)?.clone();
        Ok(Box::new(Walker::new(state, program, launches, &self.config, grain)?))
    }

    fn apart(&self, context: ContextId, program: ProgramId, launch: &Launch) -> Result<Apart, Stop> {
        let missing = || Stop::internal("threads of a context that does not exist", None);
        let mut state = self.device.context(context).ok_or_else(missing)?.clone();
        let loaded = state.loaded(program, launch, GridId(0), &self.config)?;
        let env = state.program(program).map(|p| Arc::clone(&p.program.0)).ok_or_else(missing)?;
        Ok(Apart::new(env, loaded, state.memory.arena().clone()))
    }

    fn walk_on(&self, context: ContextId) -> Option<Box<dyn Walk>> {
        let state = self.device.context(context)?.clone();
        Some(Box::new(Walker::going(state, &self.config)?))
    }

    fn stuck(&self) -> Option<Stop> {
        self.device.stuck()
    }

    fn standing(&self, context: ContextId) -> Vec<Standing> {
        self.device.context(context).map_or_else(Vec::new, ContextState::standing)
    }

    fn clock(&self) -> u64 {
        self.clock
    }

    fn stats(&self, grid: GridId) -> Stats {
        self.stats.iter().find(|(id, _)| *id == grid).map_or_else(Stats::default, |(_, stats)| *stats)
    }

    fn native(&self) -> u64 {
        self.native
    }

    fn ahead(&self) -> [u64; 2] {
        self.ahead
    }

    fn abandon(&mut self) {
        self.device.abandon();
        self.sent = 0;
    }
}
