//! What memory that acts later says when it stops, and what it has in flight.

use crate::machine::context::state::ContextState;
use crate::machine::control::Control;
use crate::machine::warp::state::{Halt, Why};
use crate::memory::{Environment, Fault, Trouble};
use crate::verdict::{Operation, OperationView, Stop, StuckKind};

/// Completes what memory said when it stopped.
pub(in crate::machine) fn at_fault<C: Control, M: Environment>(state: &ContextState<C, M>, trouble: Trouble) -> Stop {
    let Trouble { at, lanes, fault } = trouble;
    match (state.owner(at.who), fault) {
        (Some((env, grid, block)), fault) => {
            block.stop(env, &grid.loaded, at.who.warp, Halt { why: Why::Fault(fault), pc: at.pc, lanes })
        }
        // Silent rules are nobody's.
        (None, Fault::Stop(stop)) => stop,
        (None, Fault::Limit(limit)) => Stop::Limit(limit),
        (None, Fault::Bug(..) | Fault::Program(_)) => {
            Stop::internal("a memory operation is at fault whose warp is gone", None)
        }
    }
}

/// The operations in flight, for a report.
pub(in crate::machine) fn operations<C: Control, M: Environment>(
    state: &ContextState<C, M>,
) -> Result<Vec<Operation>, Stop> {
    let operation = |OperationView { who, pc, lanes, name: program, file, line, .. }| {
        let gone = || Stop::internal("a memory operation is in flight whose warp is gone", None);
        let place = state.place(who, lanes, pc).ok_or_else(gone)?;
        Ok(Operation { place, program, file, line })
    };
    let pending = if state.memory.pending() > 0 { state.memory.view().operations } else { Vec::new() };
    pending.into_iter().map(operation).collect()
}

impl<C: Control, M: Environment> ContextState<C, M> {
    /// Why nothing in the context can step, when that is so.
    #[must_use]
    pub fn stuck(&self) -> Option<Stop> {
        match operations(self) {
            Ok(operations) if operations.is_empty() => {}
            Ok(operations) => return Some(Stop::Stuck(Box::new(StuckKind::Operations { operations }))),
            Err(stop) => return Some(stop),
        }
        self.grids.iter().filter(|g| !g.completed).find_map(|g| g.stuck(&self.program(g.program)?.program.0))
    }
}
