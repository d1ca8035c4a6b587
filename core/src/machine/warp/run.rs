//! A warp runs: its control model says which lanes go, and for how long (report, 5.4).
//!
//! [`run`] goes on until its fuel is used up, the warp waits, or it is done; with fuel 1 it is the small step.

use crate::base::Pc;
use crate::machine::control::{Control, Flow, Idle, Next};
use crate::machine::warp::instrumented::{Lanes, Watched};
use crate::machine::warp::mistakes::lost_lanes;
use crate::machine::warp::ready::blocked;
use crate::machine::warp::state::{Halt, Shared, Warp, Why, Yield};
use crate::memory::{Cx, Fault, Memory};
use pulp::Simd;

/// Runs a warp for at most `fuel` instructions; says why it stopped and how many it executed.
#[inline(always)]
pub fn run<V: Simd, C: Control, M: Memory, S: Watched>(
    simd: V,
    warp: &mut Warp<C>,
    sh: &mut Shared<'_>,
    mem: &mut M,
    fuel: u32,
    cx: &mut Cx<'_, S>,
) -> Result<(Yield, u32), Box<Halt>> {
    let mut left = fuel;
    loop {
        let halt = |why| Box::new(Halt { why, pc: Pc(0), lanes: !0 });
        let (who, sm, uses) = (sh.who, sh.sm, &sh.loaded.uses[..]);
        let can = |flow: Flow| M::IMMEDIATE || blocked(mem, who, sm, uses, flow) == 0;
        let picked = warp.control.pick(cx.oracle, can).map_err(|s| halt(Why::Fault(Fault::Stop(s))))?;
        let (flow, lease) = match picked {
            Ok(run) => run,
            Err(Idle::Blocked) => return Ok((Yield::Blocked, fuel - left)),
            Err(Idle::Done) => return Ok((Yield::Done, fuel - left)),
            Err(Idle::Barrier) => return Ok((Yield::Barrier, fuel - left)),
            Err(Idle::Members) => return Ok((Yield::Members, fuel - left)),
            Err(Idle::Corrupt(pc)) => return Err(lost_lanes(pc, !0)),
        };
        let used = run_flow(simd, warp, flow, left.min(lease), sh, mem, cx)?;
        left -= used;
        warp.control.ran(flow.mask, used);
        if left == 0 {
            return Ok((Yield::Fuel, fuel));
        }
    }
}

/// Runs lanes that were picked, for at most `fuel` instructions; says how many they executed.
#[inline(always)]
pub fn run_flow<V: Simd, C: Control, M: Memory, S: Watched>(
    simd: V,
    warp: &mut Warp<C>,
    mut flow: Flow,
    fuel: u32,
    sh: &mut Shared<'_>,
    mem: &mut M,
    cx: &mut Cx<'_, S>,
) -> Result<u32, Box<Halt>> {
    let mut rest = fuel;
    sh.turn = fuel;
    let lanes = Lanes { warp: &mut *warp, flow: &mut flow, sh: &mut *sh, mem, fuel: &mut rest, cx };
    let outcome = S::flow_on(simd, lanes);
    let used = fuel - rest;
    sh.clock += u64::from(used);
    match outcome {
        // Whoever took the lanes over has parked them already.
        Ok(Next::Pick) => {}
        Ok(Next::Go) => warp.control.park(flow),
        Err(mut halt) => {
            halt.pc = Pc(flow.pc);
            warp.control.park(flow);
            return Err(halt);
        }
    }
    Ok(used)
}
