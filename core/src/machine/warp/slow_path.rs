//! What instructions outside the innermost loop work on, and what they come to.

use crate::base::{Frame, LaneMask, lanes_of, put_mask};
use crate::machine::block::barrier::Arrival;
use crate::machine::control::{Flow, Next};
use crate::machine::warp::state::Shared;
use crate::memory::{Fault, LocalMemory};
use crate::program::env::FuncId;
use crate::verdict::BugKind;

/// What an instruction did to the flow.
pub(in crate::machine) enum Did {
    /// The next instruction follows.
    Next,
    /// A control instruction.
    Control(Next),
    /// Lanes entered a function.
    Enter(FuncId, LaneMask, Next),
}

/// Why it could not.
pub(in crate::machine) enum Trouble {
    /// The program's fault.
    Fault(Fault),
    /// Ours.
    Unsupported(String),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// What a rare instruction works on.
pub(in crate::machine) struct Rare<'a, 'b, C, M> {
    pub control: &'a mut C,
    pub flow: &'a mut Flow,
    pub local: &'a mut LocalMemory,
    pub sh: &'a mut Shared<'b>,
    pub mem: &'a mut M,
    pub warp: u32,
}

pub(in crate::machine) fn bug(kind: BugKind, lanes: LaneMask) -> Trouble {
    Trouble::Fault(Fault::Bug(kind, lanes))
}

/// Writes a barrier's reduction to the lanes that waited for it.
pub(in crate::machine) fn reduced(
    frames: &mut [Frame],
    arrival: &Arrival,
    red: crate::program::instr::BarrierRed,
    value: u32,
) {
    let frame = &mut frames[arrival.depth as usize];
    if red == crate::program::instr::BarrierRed::Popc {
        for l in lanes_of(arrival.lanes) {
            frame.w[arrival.dest.index()].0[l] = value;
        }
    } else {
        put_mask(&mut frame.p[arrival.dest.index()], value.wrapping_neg(), arrival.lanes);
    }
}
