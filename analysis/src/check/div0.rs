//! Integer division by zero (`--check div0`; decision D-div0).
//!
//! PTX leaves the result open and the machine gives what the hardware gives; this observer makes it a defect.

use super::{bug, plain};
use crate::base::lanes_of;
use crate::program::env::ProgEnv;
use crate::program::ops::{AluOp, IntOp};
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

/// Whether an operation divides integers.
const fn divides(op: AluOp) -> bool {
    use IntOp as I;
    let AluOp::Int(op) = op else { return false };
    let quotient = matches!(op, I::DivU16 | I::DivS16 | I::DivU32 | I::DivS32 | I::DivU64 | I::DivS64);
    quotient || matches!(op, I::RemU16 | I::RemS16 | I::RemU32 | I::RemS32 | I::RemU64 | I::RemS64)
}

impl Sink for Div0 {
    const ON: bool = true;

    fn event(&mut self, _: Who, event: Event<'_>) -> Result<(), Stop> {
        let Event::Step(step) = event else { return Ok(()) };
        let Some(i) = self.env.code.get(step.pc.0 as usize) else { return Ok(()) };
        let Some(op) = plain::data_op(i.op).filter(|op| divides(*op)) else { return Ok(()) };
        let Some(&class) = op.shape().sources.get(1) else { return Ok(()) };
        let zero = |lane: &usize| plain::value(step.regs, class, i.b, *lane) == 0;
        let bad = lanes_of(step.lanes).filter(zero).fold(0, |m, l| m | 1 << l);
        if bad == 0 { Ok(()) } else { Err(bug(BugKind::Plain(Kind::DivisionByZero), step.pc, bad)) }
    }
}
