//! What native code calls back for, and what lanes of functions are run on.

use super::apart::Apart;
use crate::base::{Frame, LaneMask};
use crate::memory::LocalMemory;
use crate::verdict::Row;

/// What native code works on beside a frame, and calls back for.
pub(super) trait Host {
    /// A number that changes where sites are of no use any more: where the bytes of device memory are that are not lent.
    fn place(&mut self) -> usize;

    /// The block's shared memory.
    fn shared(&mut self) -> &mut [u8];

    /// Executes the instruction at an address on a warp's frame and local memory, for some lanes. False: it failed, and why is kept;
    /// an exchange has not been executed then, since not all who take part are there.
    fn plain(&mut self, on: (u32, &mut Frame, &mut LocalMemory), pc: u32, lanes: LaneMask) -> bool;

    /// The block of device memory that all of `bytes` at an address lie in, when instructions may read and write them, or a part of it,
    /// for a site of the code for some lanes or that for all: its address, where it is, and how many bytes it has. They are the host's alone where an instruction of the site stores, and stay there while code runs. Where
    /// somebody observes, the part of it where accesses of a site need not be told, from a multiple of `unit`.
    fn block(&mut self, site: (bool, u32), address: u64, bytes: u64, unit: u32) -> Option<(u64, usize, u64)>;

    /// Takes note of accesses of a warp, in their order. False: not of all.
    fn note(&mut self, warp: u32, rows: &[Row]) -> bool;

    /// The lanes that run call, or return, at an address, with so much fuel left as in [`Context::left`].
    fn transfer(&mut self, _pc: u32, _left: i64) -> Transferred<'_> {
        Transferred::No
    }

    /// What lanes of functions are run on.
    fn placed(&mut self) -> Option<Placed<'_>> {
        None
    }
}

/// Lanes of a function that is called, and what they are run on.
pub(super) struct Placed<'a> {
    pub warp: u32,
    pub frame: &'a mut Frame,
    pub local: &'a mut LocalMemory,
    /// Who waits in the function.
    pub apart: &'a mut Apart,
    /// The row where the stack frame begins, and whether lanes are ready in callers.
    pub stack: usize,
    pub beyond: bool,
    /// The number of the entry, and its address.
    pub number: u32,
    pub from: u32,
}

/// What has become of lanes that call, or return.
pub(super) enum Transferred<'a> {
    /// They do not, natively.
    No,
    /// Others go on, or they do so elsewhere; so many thread instructions were fewer than if all lanes had executed each.
    Elsewhere(u64),
    /// The same of lanes that go on in the same function.
    On(u64, Placed<'a>),
}
