//! Flat memory: every access takes effect at once, a warp's accesses of one instruction together.
//!
//! Stronger than sequential consistency of threads (`semantics.md`, section 5). Follows no chapter of the report: it is
//! the engine for running programs. All device memory lies in one arena of bytes with gaps between blocks.

mod arena;
mod block;
mod general;
mod heap;
mod place;
mod plain;

pub use arena::Arena;
pub use block::Block;
pub(super) use general::{Told, carry_out, extend, tell};
pub(super) use place::places;

use super::{Active, Cx, Environment, Fault, Memory, Part, Plain32, Snapshot};
use crate::program::instr::WarpRequest;
use crate::verdict::Sink;
use pulp::Simd;

/// Flat device memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flat {
    arena: Arena,
}

impl Environment for Flat {
    type Model = ();

    fn create((): &(), base: u64, cap: Option<u64>) -> Self {
        Self { arena: Arena::new(base, cap) }
    }
}

impl Snapshot for Flat {
    fn sections(&self) -> u32 {
        self.arena.sections()
    }

    /// Taking note of each write would cost more than comparing.
    fn changed(&mut self, out: &mut Vec<u32>) {
        out.extend(0..self.arena.sections());
    }

    fn save(&self, part: Part, out: &mut Vec<u8>) {
        match part {
            Part::Heap => self.arena.save_heap(out),
            Part::Warp(_) => {}
            Part::Shared(section) => self.arena.save(section, out),
        }
    }

    fn load(&mut self, part: Part, from: &[u8]) {
        match part {
            Part::Heap => self.arena.load_heap(from),
            Part::Warp(_) => {}
            Part::Shared(section) => self.arena.load(section, from),
        }
    }
}

impl Memory for Flat {
    const IMMEDIATE: bool = true;
    const CACHES: bool = false;
    const TAKES_REGISTERS: bool = false;

    fn arena(&self) -> &Arena {
        &self.arena
    }

    fn arena_mut(&mut self) -> &mut Arena {
        &mut self.arena
    }

    #[inline(always)]
    fn issue<S: Sink>(
        &mut self,
        on: Active<'_, '_>,
        request: &WarpRequest,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Box<Fault>> {
        let Active { at, mask, regs, near, .. } = on;
        if S::ON {
            let told = Told { memory: self.arena.contents(near), together: mask, element: 0, access_id: None };
            tell(told, at, mask, request, regs, near, cx)?;
        }
        carry_out(&mut self.arena, mask, request, regs, near, cx.hints.at(at.pc))
    }

    #[inline(always)]
    fn plain32<V: Simd, S: Sink>(
        &mut self,
        simd: V,
        on: Active<'_, '_>,
        site: Plain32,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Box<Fault>> {
        plain::access(simd, &mut self.arena, on, site, cx)
    }
}
