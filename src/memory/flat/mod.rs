//! Flat memory: every access takes effect at once, a warp's accesses of one instruction together.
//!
//! Stronger than sequential consistency of threads (`semantics.md`, section 5). Follows no chapter of the report: it is
//! the engine for running programs. All device memory lies in one arena of bytes with gaps between blocks.

mod arena;
mod general;
mod heap;
mod plain;

pub use arena::{Arena, Block};
pub(super) use general::{Place, Told, check, places, tell};

use super::{
    Active, Cx, Fault, Held, InFlight, Issuer, LocalMemory, Memory, Movable, Near, Plain32, Stores, Trouble, Uses,
};
use crate::base::{Frame, LaneMask};
use crate::program::instr::{Order, Scope, WarpRequest};
use crate::verdict::{self, Sink, Who};

/// Flat device memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flat {
    arena: Arena,
}

impl Flat {
    /// Empty memory whose first address is `base`; `cap` limits its size in bytes.
    #[must_use]
    pub fn new(base: u64, cap: Option<u64>) -> Self {
        Self { arena: Arena::new(base, cap) }
    }

    /// The blocks of memory and their bytes.
    #[must_use]
    pub const fn arena(&self) -> &Arena {
        &self.arena
    }

    /// The blocks of memory and their bytes.
    pub const fn arena_mut(&mut self) -> &mut Arena {
        &mut self.arena
    }
}

impl Memory for Flat {
    const IMMEDIATE: bool = true;
    const CACHES: bool = false;
    const TAKES_REGISTERS: bool = false;
    type Silent = ();

    #[inline(always)]
    fn issue<S: Sink>(
        &mut self,
        at: Issuer,
        on: Active<'_>,
        request: &WarpRequest,
        regs: &mut Frame,
        near: &mut Near<'_>,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Box<Fault>> {
        general::issue(&mut self.arena, at, on, request, regs, near, cx)
    }

    #[inline(always)]
    fn load32<S: Sink>(
        &mut self,
        at: Issuer,
        on: Active<'_>,
        site: Plain32,
        regs: &mut Frame,
        near: &mut Near<'_>,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Box<Fault>> {
        plain::load(&mut self.arena, at, on, site, regs, near, cx)
    }

    #[inline(always)]
    fn store32<S: Sink>(
        &mut self,
        at: Issuer,
        on: Active<'_>,
        site: Plain32,
        regs: &mut Frame,
        near: &mut Near<'_>,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Box<Fault>> {
        plain::store(&mut self.arena, at, on, site, regs, near, cx)
    }

    fn malloc(&mut self, bytes: u64, heap: u64, by: verdict::Place) -> Result<Option<u64>, Box<Fault>> {
        self.arena.malloc(bytes, heap, by)
    }

    fn free(&mut self, address: u64, by: verdict::Place) -> Result<(), Box<Fault>> {
        self.arena.free(address, by)
    }

    fn digest(&self, into: &mut dyn std::hash::Hasher) {
        self.arena.hash_state(into);
    }

    fn peek(&self, address: u64, bytes: u64) -> Option<&[u8]> {
        self.arena.bytes_at(address, bytes)
    }

    // Every request completes in `issue`, and there are no caches: nothing is in flight, nothing waits.

    fn blocked(&self, _: Issuer, _: &Uses, _: LaneMask) -> LaneMask {
        0
    }

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

    fn ready(&self) -> &[u64] {
        &[]
    }

    fn pending(&self) -> usize {
        0
    }

    fn movable(&self, _: &mut Vec<Movable>) {}

    fn step<S: Sink>(&mut self, _: u32, _: &mut dyn Stores, _: &mut Cx<'_, S>) -> Result<(), Box<Trouble>> {
        Ok(())
    }

    fn has_silent(&self, _: bool) -> bool {
        false
    }

    fn silent(&self, _: bool, _: &mut Vec<()>) {}

    fn fire<S: Sink>(&mut self, (): (), _: &mut dyn Stores, _: &mut Cx<'_, S>) -> Result<(), Box<Trouble>> {
        Ok(())
    }

    fn woken(&mut self, _: &mut Vec<Who>) {}

    fn in_flight(&self, _: u32, _: Option<u64>) -> bool {
        false
    }

    fn describe(&self) -> Vec<InFlight> {
        Vec::new()
    }

    fn retire(&mut self, _: u32, _: u64) {}

    fn write_back(&mut self, _: &mut dyn Stores) {}

    fn runtime_begins(&mut self, _: Issuer, _: &mut LocalMemory) {}

    fn runtime_ends(&mut self, _: Issuer, _: &mut LocalMemory) {}

    fn flush(&mut self, _: &mut dyn Stores) {}
}
