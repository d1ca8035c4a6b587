//! Layer 5: the memory environment η behind one trait.
//!
//! A request is the report's warp memory action (5.4): it names register slots and does not carry values. [`flat::Flat`]
//! completes it in `issue`; an engine with caches turns it into operations and completes it in `perform`. Knows nothing
//! of scheduling, of convergence or of barriers.

pub mod flat;
mod local;

pub use local::LocalMemory;

use crate::base::{Frame, LaneMask, LaneTables, Lanes32, Pc};
use crate::choice::Oracle;
use crate::program::env::AddressMap;
use crate::program::instr::{Slot, Space, WarpRequest};
use crate::verdict::{BugKind, LimitKind, Sink, Stop, Who};

/// Who issues a request.
#[derive(Clone, Copy, Debug)]
pub struct Issuer {
    /// The warp.
    pub who: Who,
    /// The instruction.
    pub pc: Pc,
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
    pub map: AddressMap,
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
    /// First byte, as an offset in the arena.
    pub base: u64,
    /// Size in bytes; 0 matches nothing.
    pub len: u64,
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
}

/// The memory environment.
pub trait Memory {
    /// Whether every request completes in `issue`: then `blocked` and `actions` compile out.
    const IMMEDIATE: bool;

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
    ) -> Result<(), Box<Fault>>;

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
    ) -> Result<(), Box<Fault>>;

    /// Makes a block of device memory on behalf of a kernel (`malloc`); 0 when there is none left.
    ///
    /// # Errors
    /// The memory cap.
    fn malloc(&mut self, bytes: u64) -> Result<u64, Box<Fault>>;

    /// Frees a block that [`Memory::malloc`] made.
    ///
    /// # Errors
    /// A wrong address.
    fn free(&mut self, address: u64) -> Result<(), Box<Fault>>;

    /// Bytes at an address of global or constant memory, as the host sees them.
    fn peek(&self, address: u64, bytes: u64) -> Option<&[u8]>;
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
}
