//! Integer division by zero (`--check div0`; decision D-div0).
//!
//! PTX leaves the result open and the machine gives what the hardware gives; this observer makes it a defect.

use super::{bug, plain};
use crate::base::lanes_of;
use crate::program::env::ProgEnv;
use crate::program::ops::AluOp;
use crate::program::ops::IntOp;
use crate::verdict::{BugKind, Event, Kind, Sink, Stop, Who};
use std::sync::Arc;

/// Stops a run at an integer `div` or `rem` whose divisor is zero in a lane that executes it.
pub struct Div0 {
    env: Arc<ProgEnv>,
}

impl Div0 {
    /// An observer of a program's runs.
    #[must_use]
    pub const fn new(env: Arc<ProgEnv>) -> Self {
        Self { env }
    }
}

/// Whether an operation divides integers, and then whether its operands are 64-bit slots.
const fn divides(op: AluOp) -> Option<bool> {
    match op {
        AluOp::Int(
            IntOp::DivU16
            | IntOp::DivS16
            | IntOp::DivU32
            | IntOp::DivS32
            | IntOp::RemU16
            | IntOp::RemS16
            | IntOp::RemU32
            | IntOp::RemS32,
        ) => Some(false),
        AluOp::Int(IntOp::DivU64 | IntOp::DivS64 | IntOp::RemU64 | IntOp::RemS64) => Some(true),
        _ => None,
    }
}

impl Sink for Div0 {
    const ON: bool = true;

    fn event(&mut self, _: Who, event: Event<'_>) -> Result<(), Stop> {
        let Event::Step(step) = event else { return Ok(()) };
        let Some(i) = self.env.code.get(step.pc.0 as usize) else { return Ok(()) };
        let Some(wide) = plain::data_op(i.op).and_then(divides) else { return Ok(()) };
        let b = i.b.index();
        let zero = |lane: &usize| {
            if wide {
                step.regs.q.get(b).is_some_and(|v| v.0[*lane] == 0)
            } else {
                step.regs.w.get(b).is_some_and(|v| v.0[*lane] == 0)
            }
        };
        let bad = lanes_of(step.lanes).filter(zero).fold(0, |m, l| m | 1 << l);
        if bad == 0 { Ok(()) } else { Err(bug(BugKind::Plain(Kind::DivisionByZero), step.pc, bad)) }
    }
}
