//! Flat memory: every access takes effect at once, a warp's accesses of one instruction together.
//!
//! Stronger than sequential consistency of threads (`semantics.md`, section 5). Follows no chapter of the report: it is
//! the engine for running programs. All device memory lies in one arena of bytes with gaps between blocks.

mod arena;
mod block;
mod deeds;
mod general;
mod heap;
mod host;
mod lent;
mod mirror;
mod over;
mod place;
mod plain;
mod shown;

pub use arena::Arena;
pub(crate) use deeds::{Deeds, Former, Together, Written};
pub(super) use general::{Told, carry_out, extend, tell, tell_of};
pub use lent::Lent;
pub use mirror::{HostMemory, HostRange};
#[cfg(all(feature = "native", target_arch = "x86_64"))]
pub(crate) use over::Does;
pub(crate) use over::{Below, Manners, Slabs, View};
pub(super) use place::addresses;
pub(crate) use place::{lane_address, places};

use super::{Active, Cx, Environment, Memory, Plain32, Taken};
use crate::base::{LaneMask, expand};
use crate::program::instr::WarpRequest;
use crate::verdict::Sink;
use pulp::Simd;

/// Flat device memory: the arena itself.
pub type Flat = Arena;

impl Environment for Arena {
    type Model = ();

    fn create((): &(), base: u64, cap: Option<u64>) -> Self {
        Self::new(base, cap)
    }
}

impl Arena {
    /// Carries out at once what the lanes that are not among those for `later` do: their accesses are of no memory that others see.
    pub(super) fn issue_rest<S: Sink>(
        &mut self,
        on: Active<'_, '_>,
        later: LaneMask,
        request: &WarpRequest,
        cx: &mut Cx<'_, S>,
    ) -> Taken {
        let mask = on.mask & !later;
        if mask == 0 {
            return Ok(());
        }
        let lanes = &expand(mask, &cx.tables);
        self.issue(Active { mask, lanes, ..on }, request, cx)
    }
}

impl Memory for Arena {
    const IMMEDIATE: bool = true;
    const NATIVE: bool = cfg!(all(feature = "native", target_arch = "x86_64"));

    fn arena(&self) -> &Arena {
        self
    }

    fn arena_mut(&mut self) -> &mut Arena {
        self
    }

    #[inline(always)]
    fn issue<S: Sink>(&mut self, on: Active<'_, '_>, request: &WarpRequest, cx: &mut Cx<'_, S>) -> Taken {
        let Active { at, mask, regs, near, .. } = on;
        if S::ON {
            let told = Told { memory: self.contents(near), together: mask, element: 0, access_id: None };
            tell(told, at, mask, request, regs, near, cx)?;
        }
        if self.has_guests {
            self.fetch((at.who, mask), request, regs, near, cx.hints.at(at.pc))?;
        }
        carry_out(self, mask, request, regs, near, cx.hints.at(at.pc))
    }

    #[inline(always)]
    fn plain32<V: Simd, S: Sink>(&mut self, simd: V, on: Active<'_, '_>, site: Plain32, cx: &mut Cx<'_, S>) -> Taken {
        plain::access(simd, self, on, site, cx)
    }
}
