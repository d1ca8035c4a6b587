//! What cannot happen to a warp unless by an error of ours.

use crate::base::{LaneMask, Pc};
use crate::machine::warp::state::{Halt, Why};
use crate::memory::Fault;
use crate::verdict::Stop;

/// The report's `unwind` is undefined (5.4.1): with the instructions that we inject it never is.
#[cold]
pub(in crate::machine) fn lost_lanes(pc: u32, lanes: LaneMask) -> Box<Halt> {
    mistake("the token stack is empty but a thread still waits for its return or break", pc, lanes)
}

#[cold]
pub(in crate::machine) fn no_frame(pc: u32, lanes: LaneMask) -> Box<Halt> {
    mistake("a warp has no registers for the call that it is in", pc, lanes)
}

#[cold]
pub(in crate::machine) fn no_code(pc: u32, lanes: LaneMask) -> Box<Halt> {
    mistake("there is no instruction where a warp goes on", pc, lanes)
}

#[cold]
pub(in crate::machine) fn no_warp() -> Box<Halt> {
    mistake("a warp steps that its block does not have", 0, !0)
}

fn mistake(what: &str, pc: u32, lanes: LaneMask) -> Box<Halt> {
    Box::new(Halt { why: Why::Fault(Fault::Stop(Stop::internal(what, None))), pc: Pc(pc), lanes })
}

/// A device that is at rest with a launch that is not over.
pub fn nothing_steps() -> Stop {
    Stop::internal("nothing can step, and nobody waits for anything", None)
}
