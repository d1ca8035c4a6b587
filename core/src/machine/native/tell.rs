//! What an observer is told of the ends of turns that the machine notes itself: warps that wait at a barrier or exit.

use crate::base::mutant::{Mutant, on};
use crate::base::{Frame, LaneMask, Pc};
use crate::verdict::{Arrive, Event, Sink, Step, Stop, Who};

/// Lanes of a warp arrive at a barrier and wait there.
///
/// # Errors
/// The observer's.
#[inline(always)]
pub(super) fn arrived<S: Sink>(sink: &mut S, who: Who, pc: u32, id: u32, lanes: LaneMask) -> Result<(), Stop> {
    if !S::ON || !sink.wants_barriers() || on(Mutant::NativeArrive) {
        return Ok(());
    }
    sink.event(who, Event::Arrive(Arrive { pc: Pc(pc), id, lanes, waits: true, releases: true }))
}

/// Lanes of a warp exit. Whoever observes native code looks at nothing but the lanes.
///
/// # Errors
/// The observer's.
#[inline(always)]
pub(super) fn exited<S: Sink>(sink: &mut S, who: Who, pc: u32, lanes: LaneMask) -> Result<(), Stop> {
    if !S::ON || !sink.wants(Pc(pc)) {
        return Ok(());
    }
    let regs = &Frame::default();
    sink.event(who, Event::Step(Step { pc: Pc(pc), lanes, active: lanes, depth: 0, regs, tokens: None }))
}

/// A block is over, and the next one takes its place on a multiprocessor.
///
/// # Errors
/// The observer's.
#[inline(always)]
pub(super) fn succeeded<S: Sink>(sink: &mut S, (before, now): (Who, Who), processor: u32) -> Result<(), Stop> {
    if !S::ON {
        return Ok(());
    }
    sink.event(Who { warp: 0, ..before }, Event::BlockDone)?;
    sink.event(Who { warp: 0, ..now }, Event::Block { processor })
}
