//! The state of a warp, and what stops it (report, 5.4).

use crate::base::{Aside, Frame, LaneMask, Pc};
use crate::machine::block::barrier::Barriers;
use crate::machine::block::cluster::Arrivals;
use crate::machine::grid::loaded::Loaded;
use crate::machine::native::{Lines, Session};
use crate::memory::{Fault, Issuer, LocalMemory};
use crate::program::env::{AddressMap, FuncId, ProgEnv};
use crate::verdict::Who;

/// A warp of a resident block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warp<C> {
    /// The control model's state.
    pub control: C,
    /// Registers, by depth of the call stack.
    pub frames: Vec<Frame>,
    /// The function whose preloads fill a frame for all lanes.
    pub filled: Vec<Option<FuncId>>,
    /// Local memory of its threads.
    pub local: LocalMemory,
    /// Its arrivals at the barrier of the cluster.
    pub arrivals: Arrivals,
    /// Its number in the block.
    pub index: u32,
    /// What native code holds of its registers; the frame has everything while nobody runs.
    pub lines: Aside<Lines>,
}

/// Why a warp stopped running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Yield {
    /// The fuel is used up.
    Fuel,
    /// It waits at a barrier of the block.
    Barrier,
    /// Its lanes wait for memory operations (D-ready).
    Blocked,
    /// Its lanes wait for members that cannot come on their own.
    Members,
    /// All lanes have exited.
    Done,
}

/// What stopped a run, with the lanes and address it stopped at; the block adds the rest of the place.
#[derive(Clone, PartialEq, Debug)]
pub struct Halt {
    /// Why.
    pub why: Why,
    /// The instruction.
    pub pc: Pc,
    /// The lanes that executed it.
    pub lanes: LaneMask,
}

/// Why a warp halted.
#[derive(Clone, PartialEq, Debug)]
pub enum Why {
    /// The program broke a rule, a budget ended, an observer objected.
    Fault(Fault),
    /// Our gap.
    Unsupported(String),
}

/// What a warp shares with the other warps of its block, and with its launch.
pub struct Shared<'a> {
    /// The program.
    pub env: &'a ProgEnv,
    /// The launch: preloads, sizes.
    pub loaded: &'a Loaded,
    /// Barriers of the block.
    pub barriers: &'a mut Barriers,
    /// Shared memory of the block.
    pub shared: &'a mut [u8],
    /// Windows of the generic address space.
    pub map: AddressMap,
    /// Who runs.
    pub who: Who,
    /// Block index, for preloads.
    pub block: [u32; 3],
    /// Streaming multiprocessor.
    pub sm: u32,
    /// Warp instructions executed so far in the run, for clocks.
    pub clock: u64,
    /// Thread instructions executed so far.
    pub threads: u64,
    /// Lanes that have exited since the warp was handed over.
    pub exited: u32,
    /// Who runs by now of a turn's lanes, and how many of its instructions are told, where native code has let others run before.
    pub runs: Option<(LaneMask, u32)>,
    /// Instructions that they had executed natively when the turn was handed over.
    pub begun: u32,
    /// Fuel that lanes have when it has been looked again who runs.
    pub more: u32,
    /// Fuel of the current turn: what is left of it says how far the clock is.
    pub turn: u32,
    /// The launch's kernel as machine code.
    pub(in crate::machine) native: Option<&'a mut Session>,
}

impl Shared<'_> {
    /// The warp at an instruction, as memory knows it.
    #[inline(always)]
    pub const fn issuer(&self, pc: u32, depth: u32) -> Issuer {
        Issuer { who: self.who, pc: Pc(pc), depth, sm: self.sm }
    }
}

#[cold]
pub(in crate::machine) fn stopped(fault: Fault, lanes: LaneMask) -> Box<Halt> {
    let lanes = match &fault {
        Fault::Bug(_, bad) if *bad != 0 => *bad,
        _ => lanes,
    };
    Box::new(Halt { why: Why::Fault(fault), pc: Pc(0), lanes })
}
