//! The seam of instruction sets: what is above the instructions of a warp is compiled once for each control model, memory and kind
//! of observer, they for each instruction set besides.

use crate::base::{Baseline, Best, Tier};
use crate::machine::control::{Control, Flow, Next};
use crate::machine::native::Went;
use crate::machine::warp::instructions::flow_on;
use crate::machine::warp::state::{Halt, Shared, Warp};
use crate::memory::{Cx, Memory};
use crate::verdict::Sink;
use pulp::{Simd, WithSimd};

/// Lanes of a warp that are about to run, and what they run on.
pub struct Lanes<'a, 'l, 'o, C, M, S> {
    pub warp: &'a mut Warp<C>,
    /// Where they are, and how far they went natively, if they have begun so.
    pub(in crate::machine) flow: (&'a mut Flow, Option<Went>),
    pub sh: &'a mut Shared<'l>,
    pub mem: &'a mut M,
    /// Instructions that they may execute.
    pub fuel: &'a mut u32,
    pub cx: &'a mut Cx<'o, S>,
}

/// By reference: copied from where its parts were just written, it would stall.
impl<C: Control, M: Memory, S: Sink> WithSimd for &mut Lanes<'_, '_, '_, C, M, S> {
    type Output = Result<Next, Box<Halt>>;

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) -> Self::Output {
        let Lanes { warp, flow, sh, mem, fuel, cx } = self;
        flow_on(simd, warp, (&mut *flow.0, flow.1.take()), sh, &mut **mem, fuel, cx)
    }
}

impl<C: Control, M: Memory, S: Sink> Lanes<'_, '_, '_, C, M, S> {
    /// Runs them until they stop, wait or are handed over: on vector units where accesses take no time of their own.
    ///
    /// # Errors
    /// Why they halted.
    #[inline(always)]
    pub(super) fn run(mut self) -> Result<Next, Box<Halt>> {
        if M::IMMEDIATE { Best::run(&mut self) } else { Baseline::run(&mut self) }
    }
}
