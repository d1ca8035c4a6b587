//! A warp runs: its control model says which lanes go, and for how long (report, 5.4).
//!
//! `run` goes on until its fuel is used up, the warp waits, or it is done; with fuel 1 it is the small step.

use crate::base::{LaneMask, Pc};
use crate::machine::control::{Control, Flow, Idle, Next};
use crate::machine::native::Went;
use crate::machine::warp::lanes::Lanes;
use crate::machine::warp::mistakes::lost_lanes;
use crate::machine::warp::ready::blocked;
use crate::machine::warp::state::{Halt, Shared, Warp, Why, Yield};
use crate::memory::{Cx, Fault, Memory};
use crate::verdict::Sink;

/// Lanes that have begun a turn natively.
pub(in crate::machine) struct Begun {
    /// Where they are by now.
    pub flow: Flow,
    /// How they go on. `None`: natively.
    pub went: Option<Went>,
    /// Instructions that they have executed.
    pub used: u32,
    /// What they may execute before it is looked who runs.
    pub lease: u32,
    /// See [`Shared::runs`].
    pub runs: Option<(LaneMask, u32)>,
}

/// Runs a warp for at most `fuel` instructions, lanes that have begun the turn natively first; says why it stopped and how many it
/// executed of these.
#[inline(always)]
pub(in crate::machine) fn run<C: Control, M: Memory, S: Sink>(
    warp: &mut Warp<C>,
    sh: &mut Shared<'_>,
    mem: &mut M,
    (fuel, mut begun): (u32, Option<Begun>),
    cx: &mut Cx<'_, S>,
) -> Result<(Yield, u32), Box<Halt>> {
    let mut left = fuel;
    loop {
        let (flow, lease, went, before, runs) = match begun.take() {
            Some(Begun { flow, went, used, lease, runs }) => (flow, lease, went, used, runs),
            None => {
                let halt = |why| Box::new(Halt { why, pc: Pc(0), lanes: !0 });
                let (who, sm, uses) = (sh.who, sh.sm, &sh.loaded.uses[..]);
                let can = |flow: Flow| M::IMMEDIATE || blocked(mem, who, sm, uses, flow) == 0;
                let asks = C::JOINS && M::IMMEDIATE && cx.oracle.takes_turns();
                let first = if asks { warp.control.first() } else { None };
                let picked = match first {
                    Some(first) => Ok(first),
                    None => warp.control.pick(cx.oracle, can).map_err(|s| halt(Why::Fault(Fault::Stop(s))))?,
                };
                match picked {
                    Ok((flow, lease)) => (flow, lease, None, 0, None),
                    Err(Idle::Blocked) => return Ok((Yield::Blocked, fuel - left)),
                    Err(Idle::Done) => return Ok((Yield::Done, fuel - left)),
                    Err(Idle::Barrier) => return Ok((Yield::Barrier, fuel - left)),
                    Err(Idle::Members) => return Ok((Yield::Members, fuel - left)),
                    Err(Idle::Corrupt(pc)) => return Err(lost_lanes(pc, !0)),
                }
            }
        };
        let now = left.min(lease);
        if C::JOINS {
            (sh.more, sh.begun, sh.runs) = (left - now, before, runs);
        }
        let used = run_flow(warp, (flow, went), now, sh, mem, cx)?;
        left -= used;
        if C::JOINS {
            // What others have executed meanwhile, the control model knows.
            let (lanes, told) = sh.runs.unwrap_or((flow.mask, 0));
            let own = before + used - told;
            if own > 0 || sh.runs.is_none() {
                warp.control.ran(lanes, own);
            }
        }
        if left == 0 {
            return Ok((Yield::Fuel, fuel));
        }
    }
}

/// Runs lanes that were picked, for at most `fuel` instructions; says how many they executed. With how far they went natively, if
/// they have begun so.
#[inline(always)]
pub(in crate::machine) fn run_flow<C: Control, M: Memory, S: Sink>(
    warp: &mut Warp<C>,
    (mut flow, went): (Flow, Option<Went>),
    fuel: u32,
    sh: &mut Shared<'_>,
    mem: &mut M,
    cx: &mut Cx<'_, S>,
) -> Result<u32, Box<Halt>> {
    let mut rest = fuel;
    sh.turn = fuel;
    let lanes = Lanes { warp: &mut *warp, flow: (&mut flow, went), sh: &mut *sh, mem, fuel: &mut rest, cx };
    let outcome = lanes.run();
    // Native code may have made it more where lanes part by themselves.
    let used = if C::JOINS { sh.turn } else { fuel } - rest;
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
