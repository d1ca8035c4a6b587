//! What a machine tells its observers.
//!
//! Checkers, traces, coverage and reduction all read this stream; a silent sink costs nothing, since `ON` is a constant.

use super::{
    Access, Extent, Look, MemoryStep, MemoryView, Named, Performed, Place, Row, Rule, Stop, Tokens, Traffic, Who,
};
use crate::base::{Frame, LaneMask, Pc};
use fixedbitset::FixedBitSet;
use std::sync::Arc;

/// An instruction about to be executed.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Where.
    pub pc: Pc,
    /// The lanes that execute it: active, and their guard holds.
    pub lanes: LaneMask,
    /// The active lanes, guard or not.
    pub active: LaneMask,
    /// Depth of the call stack, 0 in the entry.
    pub depth: u32,
    /// The registers before it.
    pub regs: &'a Frame,
    /// The token stack before it, where convergence is by tokens.
    pub tokens: Option<Tokens<'a>>,
}

/// The shape of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// The entry: its index among the program's functions.
    pub entry: u32,
    /// Blocks in the grid.
    pub grid: [u32; 3],
    /// Threads in a block.
    pub block: [u32; 3],
    /// Threads in a warp.
    pub warp_size: u32,
}

impl Shape {
    /// Threads in a block.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        self.block[0] * self.block[1] * self.block[2]
    }

    /// The lanes of a warp that hold threads.
    #[must_use]
    pub fn populated(&self, warp: u32) -> LaneMask {
        let before = warp.saturating_mul(self.warp_size);
        let threads = self.threads().saturating_sub(before).min(self.warp_size);
        if threads >= 32 { !0 } else { (1 << threads) - 1 }
    }

    /// The index in the grid of the block with a linear index.
    #[must_use]
    pub fn block_index(&self, linear: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(|n| u64::from(n.max(1)));
        [linear % x, linear / x % y, linear / (x * y)].map(|v| u32::try_from(v).unwrap_or(u32::MAX))
    }

    /// The index in its block of the thread in a lane of a warp.
    #[must_use]
    pub const fn thread_index(&self, warp: u32, lane: u32) -> [u32; 3] {
        let t = warp * self.warp_size + lane;
        let [x, y, _] = self.block;
        // Blocks of one dimension, the commonest, without divisions.
        if t < x { [t, 0, 0] } else { [t % x, t / x % y, t / (x * y)] }
    }

    /// Where a thread executes an instruction of a program's kernel, outside of calls; `at`: its block, warp and lane.
    #[must_use]
    pub fn place(&self, (program, entry): (u32, String), pc: Pc, at: (u64, u32, u32)) -> Place {
        let (block, warp, lane) = at;
        let (block, thread) = (self.block_index(block), self.thread_index(warp, lane));
        Place { program, entry, pc, block, thread, warp, lane, lanes: 1 << lane, calls: Vec::new() }
    }
}

/// Threads of a warp arrive at a barrier of their block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Arrive {
    /// The instruction.
    pub pc: Pc,
    /// The barrier's number.
    pub id: u32,
    /// Who takes part: the lanes that execute it, or all live ones where an arrival counts for its warp
    /// (D-barrier-crs).
    pub lanes: LaneMask,
    /// Whether they wait until it is complete; `bar.arrive` does not, nor do those who arrive at the barrier of their cluster.
    pub waits: bool,
    /// Whether what they did before is ordered before what is behind the waits of others: not for
    /// `barrier.cluster.arrive.relaxed`.
    pub releases: bool,
}

/// What the barrier of a cluster is called where barriers have numbers: the first that no program can name.
pub const CLUSTER: u32 = 16;

/// Lanes that enter a function.
#[derive(Clone, Copy, Debug)]
pub struct Enter<'a> {
    /// Who they are.
    pub lanes: LaneMask,
    /// The depth of the callee's frame.
    pub depth: u32,
    /// The callee: its index among the program's functions.
    pub function: u32,
    /// The callee's registers, preloads filled.
    pub regs: &'a Frame,
}

/// What happens to a message between the host and the device (report, 5.7.2 and 5.8.2). Numbers are indices of contexts,
/// of programs in their context, and of grids; the context comes last.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Message {
    /// A context is made.
    Create(u32),
    /// A context is destroyed.
    Destroy(u32),
    /// A program is loaded.
    Load(u32, u32),
    /// A message is handed on to a context.
    ToContext(u32),
    /// A message is taken over from a context.
    FromContext(u32),
    /// A grid is made.
    Start(u32, u32),
    /// A grid is removed before its end.
    Abort(u32, u32),
    /// A grid that is complete is removed.
    Complete(u32, u32),
    /// The host is told of a context.
    Created(u32),
    /// The host is told of a program.
    Loaded(u32, u32),
    /// The host is told of a grid.
    Started(u32, u32),
    /// The host is told of a grid's end.
    Completed(u32, u32),
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A grid begins; `tokens`: its warps follow the report's branching algorithm (5.4.1).
    Launch {
        /// Whether convergence is by tokens.
        tokens: bool,
        /// The number that the host gave to the program when it loaded it.
        program: u32,
        /// Its entry and dimensions.
        shape: Shape,
        /// The buffers and variables of its context.
        names: &'a [Named],
        /// The kernel's arguments: its parameter area.
        params: &'a [u8],
        /// Bytes of dynamic shared memory.
        dynamic_shared: u32,
        /// Where its program's variables lie, in their order: another program's may have the same names.
        variables: &'a [u64],
        /// Whether accesses and fences take effect later than they are issued, on what caches hold by then.
        later: bool,
    },
    /// A block is issued.
    Block {
        /// The multiprocessor that takes it.
        processor: u32,
    },
    /// A warp executes an instruction.
    Step(Step<'a>),
    /// A rule fired besides the step itself.
    Fired(Rule),
    /// Memory that acts on its own is about to do so: an operation makes a micro step, or a silent rule fires.
    Memory,
    /// A step that memory has made; several follow an [`Event::Memory`] where micro steps are made at once.
    MemoryStep(Look<'a, MemoryStep>),
    /// Memory as it is after what an [`Event::Memory`] announced.
    Environment(Look<'a, MemoryView>),
    /// Memory is accessed.
    Access(&'a Access<'a>),
    /// An access or a fence takes effect that was told before.
    Performed(Performed<'a>),
    /// Asynchronous copies of lanes have landed, and so the lanes have arrived at a barrier: all copies that they had begun at an
    /// instruction.
    Landed {
        /// The instruction that arrives.
        pc: Pc,
        /// The lanes.
        lanes: LaneMask,
    },
    /// Several lanes of an instruction wrote different values to one location: `winner`'s is there.
    Survivor {
        /// The instruction.
        pc: Pc,
        /// The lanes.
        lanes: LaneMask,
        /// The one of them whose write survived.
        winner: u32,
    },
    /// The device's `malloc` makes a block of memory.
    Alloc {
        /// The lane that called it.
        lane: u32,
        /// Its address.
        address: u64,
        /// Its size in bytes.
        bytes: u64,
    },
    /// A function is entered by lanes.
    Enter(Enter<'a>),
    /// The lanes of a vote, a shuffle or the like exchange values now. Its [`Event::Step`] may have come several times
    /// before, while members were missing.
    Exchange(Step<'a>),
    /// Threads arrive at a barrier of the block.
    Arrive(Arrive),
    /// A barrier of the block is complete: whoever waited goes on. Of the barrier of the cluster ([`CLUSTER`]) a phase is, and
    /// those who wait or have still to wait for it go on when [`Event::Passed`] says so.
    Released(u32),
    /// Threads have waited at the barrier of their cluster, and go on behind it.
    Passed {
        /// The lanes.
        lanes: LaneMask,
    },
    /// A block is complete.
    BlockDone,
    /// The whole state is remembered, to be compared with later ones.
    Remembered,
    /// The whole state is the one that was remembered last: under a deterministic schedule the run never ends.
    Repeated,
    /// A message is sent, handled or answered.
    Message(Message),
    /// The mutex mechanism of lockstep sequential consistency sends something.
    Traffic(Traffic),
}

/// Which of the frequent events an observer needs to be told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Needs {
    /// The instructions whose [`Event::Step`] it needs. `None`: all.
    pub steps: Option<Arc<FixedBitSet>>,
    /// Whether it needs [`Event::Fired`].
    pub rules: bool,
    /// By instruction: [`Event::Access`] is not needed of one all of whose lanes stay in this. Of instructions beyond its
    /// end, all are.
    pub quiet: Arc<[Extent]>,
    /// Whether it takes rows ([`Sink::rows`]), so that kernels may run natively. Where that is so it looks at no [`Event::Exchange`],
    /// at nothing but the lanes of an [`Event::Step`] of an exit, and does not mind that warps which arrive at a barrier, or
    /// exit, do so later among what other warps of the block do, as long as it is before the barrier is complete or the block is.
    pub rows: bool,
    /// Whether it needs [`Event::Arrive`] and [`Event::Released`] of kernels that run natively.
    pub barriers: bool,
}

impl Needs {
    /// All of them.
    #[must_use]
    pub fn all() -> Self {
        Self { steps: None, rules: true, quiet: Arc::default(), rows: false, barriers: true }
    }

    /// What two observers need.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let steps = match (self.steps, other.steps) {
            (Some(mut a), Some(b)) => {
                Arc::make_mut(&mut a).union_with(&b);
                Some(a)
            }
            _ => None,
        };
        let quiet = self.quiet.iter().zip(&*other.quiet).map(|(a, b)| a.and(*b)).collect();
        let (rules, barriers) = (self.rules || other.rules, self.barriers || other.barriers);
        Self { steps, rules, quiet, rows: self.rows && other.rows, barriers }
    }
}

/// An observer.
pub trait Sink {
    /// Whether events are made at all.
    const ON: bool;
    /// Whether [`Sink::needs`] leaves something out. One that is asked may rely on not being told the rest.
    const FRUGAL: bool = false;

    /// Takes note of an event.
    ///
    /// # Errors
    /// A checker stops the run when the program broke its rule.
    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop>;

    /// What it needs; other events of these kinds may be left out. It may change with each [`Event::Launch`].
    fn needs(&self) -> Needs {
        Needs::all()
    }

    /// Whether the step of an instruction is told.
    fn wants(&self, _: Pc) -> bool {
        true
    }

    /// Where accesses of an instruction need not be told ([`Needs::quiet`]).
    fn quiet(&self, _: Pc) -> Extent {
        Extent::default()
    }

    /// What it needs, if kernels that it observes may run natively ([`Needs::rows`]).
    fn takes_rows(&self) -> Option<&Needs> {
        None
    }

    /// Whether barriers are told of natively ([`Needs::barriers`]).
    fn wants_barriers(&self) -> bool {
        true
    }

    /// Takes note of accesses of a warp, in their order, as far as there is nothing to be told of any; gives how many it has taken
    /// note of. The next one is told as an [`Event::Access`], as it would have been without; that it has been looked at before
    /// makes no difference.
    fn rows(&mut self, _: Who, _: &[Row]) -> usize {
        0
    }

    /// Whether rules that fire are told.
    fn wants_rules(&self) -> bool {
        true
    }

    /// A rule fires.
    ///
    /// # Errors
    /// As for [`Sink::event`].
    #[inline(always)]
    fn fire(&mut self, who: Who, rule: Rule) -> Result<(), Stop> {
        if self.wants_rules() { self.event(who, Event::Fired(rule)) } else { Ok(()) }
    }
}

/// The sink that costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Sink for Silent {
    const ON: bool = false;

    #[inline(always)]
    fn event(&mut self, _: Who, _: Event<'_>) -> Result<(), Stop> {
        Ok(())
    }

    #[inline(always)]
    fn wants_rules(&self) -> bool {
        false
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    const ON: bool = S::ON;

    #[inline(always)]
    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        (**self).event(who, event)
    }

    fn needs(&self) -> Needs {
        (**self).needs()
    }

    fn wants(&self, pc: Pc) -> bool {
        (**self).wants(pc)
    }

    fn quiet(&self, pc: Pc) -> Extent {
        (**self).quiet(pc)
    }

    fn takes_rows(&self) -> Option<&Needs> {
        (**self).takes_rows()
    }

    fn wants_barriers(&self) -> bool {
        (**self).wants_barriers()
    }

    fn rows(&mut self, who: Who, rows: &[Row]) -> usize {
        (**self).rows(who, rows)
    }

    fn wants_rules(&self) -> bool {
        (**self).wants_rules()
    }
}
