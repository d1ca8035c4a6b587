//! Layer 5: the memory environment η behind one trait.
//!
//! A request is the report's warp memory action (5.4): it names register slots and does not carry values. [`flat::Flat`]
//! completes it in `issue`; an engine with caches turns it into operations and completes it in `perform`. Knows nothing
//! of scheduling, of convergence or of barriers.

mod environment;
pub mod fermi;
pub mod flat;
mod local;
mod registers;
mod snapshot;
pub mod split;

pub use environment::{Environment, FermiModel};
pub use local::LocalMemory;
pub use registers::{Held, Uses, Waits};
pub use snapshot::{Part, Snapshot};

use crate::base::{Frame, LaneMask, LaneTables, Lanes32, Pc, number};
use crate::choice::Oracle;
use crate::program::env::{AddressMap, Root};
use crate::program::instr::{CacheOp, MemOp, NO_SLOT, Order, Scope, Slot, Space, WarpRequest};
use crate::program::ops::Class;
use crate::verdict::{BugKind, LimitKind, MemoryView, Sink, Stop, Who};
use flat::Arena;
use serde::{Deserialize, Serialize};

/// Who issues a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Issuer {
    /// The warp.
    pub who: Who,
    /// The instruction.
    pub pc: Pc,
    /// Depth of the call stack, which says in which frame the registers are.
    pub depth: u32,
    /// The streaming multiprocessor that the warp's block is on.
    pub sm: u32,
}

/// The lanes that execute an instruction, as a mask and expanded.
#[derive(Clone, Copy, Debug)]
pub struct Active<'a> {
    /// One bit a lane.
    pub mask: LaneMask,
    /// All ones or zero per lane.
    pub lanes: &'a Lanes32,
}

/// The memories that belong to the issuing warp's block and launch.
#[derive(Debug)]
pub struct Near<'a> {
    /// The block's shared memory.
    pub shared: &'a mut [u8],
    /// The warp's local memory.
    pub local: &'a mut LocalMemory,
    /// The kernel's parameters.
    pub param: &'a [u8],
    /// The windows of the generic address space.
    pub map: &'a AddressMap,
    /// The variable that the instruction's address was made from, where the code says so (D-roots).
    pub root: Root<'a>,
    /// The registers that the instruction names and that can be blocked; none where memory is immediate.
    pub names: &'a [(Class, Slot)],
}

/// What a run carries along that is not state: observers, the oracle, caches.
pub struct Cx<'a, S> {
    /// The observer.
    pub sink: S,
    /// Who decides.
    pub oracle: &'a mut dyn Oracle,
    /// Where accesses of a site went last.
    pub hints: SiteHints,
    /// Tables for vectorised loops.
    pub tables: LaneTables,
    /// Receives what the device prints.
    pub out: &'a mut dyn FnMut(&[u8]),
}

/// A block of memory that accesses of one site hit last, so that the next one need not search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hint {
    /// Address of its first byte.
    pub address: u64,
    /// Size in bytes; 0 matches nothing.
    pub len: u64,
    /// Where it begins in the vector of all bytes.
    pub at: usize,
    /// What may be done there: a set of the bits of [`Hint::READ`] and the others.
    pub allowed: u8,
}

impl Hint {
    /// Global reads.
    pub const READ: u8 = 1;
    /// Global writes and atomics.
    pub const WRITE: u8 = 2;
    /// Reads of constant memory.
    pub const CONST: u8 = 4;
}

/// Hints by instruction. A cache: never part of the state, and no result depends on it.
#[derive(Clone, Debug, Default)]
pub struct SiteHints([Hint; 16]);

impl SiteHints {
    /// The hint of an instruction.
    #[inline(always)]
    pub fn at(&mut self, pc: Pc) -> &mut Hint {
        &mut self.0[pc.0 as usize & 15]
    }

    /// Forgets everything: memory was freed.
    pub fn clear(&mut self) {
        self.0 = Default::default();
    }
}

/// Why a request failed; the machine adds the place.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// The program broke a rule: what, and the lanes that did (the first one is reported).
    Bug(BugKind, LaneMask),
    /// A budget ended.
    Limit(LimitKind),
    /// An observer stopped the run.
    Stop(Stop),
    /// A memory program is stuck.
    Program(ProgramFault),
}

/// A memory program to none of whose steps a rule applies (report, 4.4.2: ⊥).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramFault {
    /// The operation that it serves, e.g. `ld.global.ca`.
    pub program: String,
    /// Its file.
    pub file: String,
    /// Line in the file, from 1; 0 when there is no program.
    pub line: u32,
    /// Why.
    pub cause: &'static str,
}

/// Why an operation could not go on, and whose it is.
#[derive(Clone, PartialEq, Debug)]
pub struct Trouble {
    /// The warp and the instruction that issued it.
    pub at: Issuer,
    /// Its lanes.
    pub lanes: LaneMask,
    /// Why.
    pub fault: Fault,
}

/// An operation that has not ended, for a report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InFlight {
    /// The warp and the instruction that issued it.
    pub at: Issuer,
    /// Its lanes.
    pub lanes: LaneMask,
    /// The operation that its memory program serves.
    pub program: String,
    /// The program's file and line; line 0 for a fence, which has none.
    pub file: String,
    /// See `file`.
    pub line: u32,
}

/// Where an engine finds what belongs to warps and blocks when it acts later than their requests.
pub trait Stores {
    /// The registers of a warp at a depth of its call stack.
    fn frame(&mut self, who: Who, depth: u32) -> Option<&mut Frame>;

    /// The shared memory of a block.
    fn shared(&mut self, launch: u32, block: u64) -> Option<&mut [u8]>;

    /// The local memory of a warp.
    fn local(&mut self, who: Who) -> Option<&mut LocalMemory>;

    /// The kernel's parameters in a launch.
    fn param(&mut self, launch: u32) -> Option<&[u8]>;
}

/// The memory environment.
///
/// An engine that is not immediate completes what it took in by its actions: micro steps of memory programs and silent
/// rules (report, 4.6). Those are numbered; the numbers that may be used now are the set bits of [`Memory::ready`], and
/// they are stable while their operation lives.
///
/// Bodies are those of memory that completes every request in [`Memory::issue`] and has no caches, where nothing waits. What
/// an engine holds besides, it says by [`Snapshot`], which has no bodies: one that forgot some would make a search take
/// different states for one.
pub trait Memory: Snapshot {
    /// Whether every request completes in `issue`: then nothing is in flight, and asking compiles out.
    const IMMEDIATE: bool;

    /// Whether multiprocessors have memory of their own: then it matters which of them takes a block.
    const CACHES: bool;

    /// Whether what an instruction writes to registers is an operation as well (report, listing 4.6): then
    /// [`Memory::wrote`] takes it over.
    const TAKES_REGISTERS: bool;

    /// The blocks of global and constant memory and their bytes, as the host sees them after [`Memory::write_back`].
    fn arena(&self) -> &Arena;

    /// The same, to be changed by the host.
    fn arena_mut(&mut self) -> &mut Arena;

    /// Carries out, or takes in, a request of a warp.
    ///
    /// # Errors
    /// The program accessed memory it must not access.
    fn issue<S: Sink>(
        &mut self,
        at: Issuer,
        on: Active<'_>,
        request: &WarpRequest,
        regs: &mut Frame,
        near: &mut Near<'_>,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Box<Fault>>;

    /// A plain 32-bit load of global or shared memory: address in 64-bit slot `a`, plus `offset`, to 32-bit slot `d`.
    ///
    /// # Errors
    /// As [`Memory::issue`].
    fn load32<S: Sink>(
        &mut self,
        at: Issuer,
        on: Active<'_>,
        site: Plain32,
        regs: &mut Frame,
        near: &mut Near<'_>,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Box<Fault>> {
        self.issue(at, on, &site.request(MemOp::Load), regs, near, cx)
    }

    /// A plain 32-bit store of slot `d`.
    ///
    /// # Errors
    /// As [`Memory::issue`].
    fn store32<S: Sink>(
        &mut self,
        at: Issuer,
        on: Active<'_>,
        site: Plain32,
        regs: &mut Frame,
        near: &mut Near<'_>,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Box<Fault>> {
        self.issue(at, on, &site.request(MemOp::Store), regs, near, cx)
    }

    /// The number that lies at an address of global memory where all multiprocessors see it, least significant byte first; at
    /// most 8 bytes.
    fn number(&self, address: u64, bytes: u32) -> Option<u64> {
        self.arena().bytes_at(address, bytes.into()).filter(|_| bytes <= 8).map(number)
    }

    /// The lanes of `lanes` that may not execute an instruction yet, because a register it names is blocked, a fence is
    /// pending or the instruction waits for earlier operations (D-ready).
    fn blocked(&self, _: Issuer, _: &Uses, _: LaneMask) -> LaneMask {
        0
    }

    /// An instruction wrote registers (report, listing 4.6; [`Memory::TAKES_REGISTERS`]): takes the new values over, puts the
    /// old ones back and blocks the registers until a memory program releases them.
    ///
    /// # Errors
    /// As [`Memory::issue`].
    fn wrote<S: Sink>(
        &mut self,
        _: Issuer,
        _: LaneMask,
        _: &Held,
        _: &mut Frame,
        _: &mut Cx<'_, S>,
    ) -> Result<(), Box<Fault>> {
        Ok(())
    }

    /// `membar` and `fence`: pending for the lanes until the condition of D-membar holds.
    ///
    /// # Errors
    /// As [`Memory::issue`].
    fn fence<S: Sink>(
        &mut self,
        _: Issuer,
        _: LaneMask,
        _: Scope,
        _: Order,
        _: &mut Cx<'_, S>,
    ) -> Result<(), Box<Fault>> {
        Ok(())
    }

    /// The operations that may make a micro step now, as a bitset over their numbers.
    fn ready(&self) -> &[u64] {
        &[]
    }

    /// How many operations have not ended.
    fn pending(&self) -> usize {
        0
    }

    /// The operations of a warp that may make a micro step which is more than to wait, by their names in ascending order: for
    /// a search, to which states are equal that differ in numbers, or in who has tried in vain.
    fn movable(&self, _: Who, _: &mut Vec<Movable>) {}

    /// The number of an operation of a launch.
    fn operation(&self, _: u32, _: OperationName) -> Option<u32> {
        None
    }

    /// Makes a micro step of an operation, by its number (report, 4.6, rules (step) and (end)).
    ///
    /// # Errors
    /// The operation's memory program is stuck, or an observer stopped the run.
    fn step<S: Sink>(&mut self, _: u32, _: &mut dyn Stores, _: &mut Cx<'_, S>) -> Result<(), Box<Trouble>> {
        Ok(())
    }

    /// The warps for which a register was written or released, or whose operation ended, since the last call.
    fn woken(&mut self, _: &mut Vec<Who>) {}

    /// How many warps of a launch, or of one of its blocks, have operations that have not ended.
    fn in_flight(&self, _: u32, _: Option<u64>) -> usize {
        0
    }

    /// The operations that have not ended, for a report.
    fn describe(&self) -> Vec<InFlight> {
        Vec::new()
    }

    /// The environment as it is, for people.
    fn view(&self) -> MemoryView {
        MemoryView::default()
    }

    /// Whether some silent rule may fire; `wanted`: one that an operation waits for.
    fn has_silent(&self, wanted: bool) -> bool {
        self.silent(wanted) > 0
    }

    /// How many silent rules may fire; `_wanted`: of those that an operation waits for.
    fn silent(&self, _wanted: bool) -> usize {
        0
    }

    /// Fires one of them, by its place in a fixed order.
    ///
    /// # Errors
    /// An observer stopped the run.
    fn fire<S: Sink>(
        &mut self,
        _wanted: bool,
        _: usize,
        _: &mut dyn Stores,
        _: &mut Cx<'_, S>,
    ) -> Result<(), Box<Trouble>> {
        Ok(())
    }

    /// A block has completed and its operations have ended: its local memory is gone.
    fn retire(&mut self, _launch: u32, _block: u64) {}

    /// Writes back what caches hold dirty, as the silent rules may at any time: the host, or the device runtime, is about
    /// to look at memory.
    fn write_back(&mut self, _: &mut dyn Stores) {}

    /// The device runtime is about to look at memory for an instruction: memory and the warp's local memory hold what caches
    /// do.
    fn runtime_begins(&mut self, _: Issuer, _: &mut LocalMemory) {}

    /// The device runtime may have written the warp's local memory.
    fn runtime_ends(&mut self, _: Issuer, _: &mut LocalMemory) {}

    /// No operation is in flight, and a launch that depends on the earlier ones begins or the host goes on (D-flush): caches
    /// are written back and emptied.
    fn flush(&mut self, _: &mut dyn Stores) {}
}

/// An operation that can go on, for a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Movable {
    /// Its name.
    pub name: OperationName,
    /// The lanes that issued it.
    pub lanes: LaneMask,
}

/// What an operation is called in every state that is equal to this one, whereas its number ([`Memory::operation`]) depends
/// on which operations came and went before. One that makes no step for ever keeps its name
/// from some point on: others of its warp that end before it are replaced behind it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OperationName {
    /// Its block.
    pub block: u64,
    /// Its warp.
    pub warp: u32,
    /// Its place among its warp's.
    pub place: u32,
}

/// A plain 32-bit access: only the operands that differ.
#[derive(Clone, Copy, Debug)]
pub struct Plain32 {
    /// Global or shared.
    pub space: Space,
    /// The address's 64-bit slot.
    pub a: Slot,
    /// Data or destination.
    pub d: Slot,
    /// Byte offset.
    pub offset: i32,
    /// The cache operator.
    pub cache: CacheOp,
}

impl Plain32 {
    /// The access as the request that it was.
    pub(crate) fn request(self, op: MemOp) -> WarpRequest {
        let mut regs = [NO_SLOT; 8];
        regs[0] = self.d;
        WarpRequest {
            op,
            space: self.space,
            width: 4,
            elems: 1,
            wide: false,
            signed: false,
            ext: 32,
            addr: self.a,
            addr_wide: true,
            offset: self.offset.into(),
            regs,
            cache: self.cache,
            order: Order::Weak,
            scope: Scope::Lane,
        }
    }
}
