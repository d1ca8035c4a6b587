//! How the instructions of a warp are compiled for each kind of observer.

use crate::base::{Baseline, Best, Tier};
use crate::machine::control::{Control, Flow, Next};
use crate::machine::native::Went;
use crate::machine::observer::Observed;
use crate::machine::warp::instructions::flow_on;
use crate::machine::warp::state::{Halt, Shared, Warp};
use crate::memory::{Cx, Memory};
use crate::verdict::{Silent, Sink};
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

/// How the instructions of a warp are compiled for an observer: runs that nobody observes are compiled into their loops
/// and for each instruction set, observed ones once for each control model and memory, whoever steps them.
pub trait Watched: Sink + Sized {
    /// Runs the lanes until they stop, wait or are handed over.
    ///
    /// # Errors
    /// Why they halted.
    fn flow_on<V: Simd, C: Control, M: Memory>(
        simd: V,
        lanes: Lanes<'_, '_, '_, C, M, Self>,
    ) -> Result<Next, Box<Halt>>;
}

impl Watched for Silent {
    #[inline(always)]
    fn flow_on<V: Simd, C: Control, M: Memory>(
        _: V,
        mut lanes: Lanes<'_, '_, '_, C, M, Self>,
    ) -> Result<Next, Box<Halt>> {
        Best::run(&mut lanes)
    }
}

impl Watched for Observed<'_> {
    /// On vector units where accesses take no time of their own.
    #[inline(never)]
    fn flow_on<V: Simd, C: Control, M: Memory>(
        _: V,
        mut lanes: Lanes<'_, '_, '_, C, M, Self>,
    ) -> Result<Next, Box<Halt>> {
        if M::IMMEDIATE { Best::run(&mut lanes) } else { Baseline::run(&mut lanes) }
    }
}
