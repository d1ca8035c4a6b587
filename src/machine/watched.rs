//! How the instructions of a warp are compiled for each kind of observer.

use super::control::{Control, Flow, Next};
use super::observed::Observed;
use super::warp::{Halt, Shared, Warp, flow_on};
use crate::memory::{Cx, Memory};
use crate::verdict::{Silent, Sink};
use pulp::{Scalar, Simd};

/// How the instructions of a warp are compiled for an observer: runs that nobody observes are compiled into their loops
/// and for each instruction set, observed ones once for each control model and memory, whoever steps them.
pub trait Watched: Sink + Sized {
    /// Runs the lanes of `flow` until they stop, wait or are handed over.
    ///
    /// # Errors
    /// Why they halted.
    fn flow_on<V: Simd, C: Control, M: Memory>(
        simd: V,
        warp: &mut Warp<C>,
        flow: &mut Flow,
        sh: &mut Shared<'_>,
        mem: &mut M,
        fuel: &mut u32,
        cx: &mut Cx<'_, Self>,
    ) -> Result<Next, Box<Halt>>;
}

impl Watched for Silent {
    #[inline(always)]
    fn flow_on<V: Simd, C: Control, M: Memory>(
        simd: V,
        warp: &mut Warp<C>,
        flow: &mut Flow,
        sh: &mut Shared<'_>,
        mem: &mut M,
        fuel: &mut u32,
        cx: &mut Cx<'_, Self>,
    ) -> Result<Next, Box<Halt>> {
        flow_on(simd, warp, flow, sh, mem, fuel, cx)
    }
}

impl Watched for Observed<'_> {
    #[inline(never)]
    fn flow_on<V: Simd, C: Control, M: Memory>(
        _: V,
        warp: &mut Warp<C>,
        flow: &mut Flow,
        sh: &mut Shared<'_>,
        mem: &mut M,
        fuel: &mut u32,
        cx: &mut Cx<'_, Self>,
    ) -> Result<Next, Box<Halt>> {
        flow_on(Scalar::new(), warp, flow, sh, mem, fuel, cx)
    }
}
