//! How visits to native code end.

use crate::machine::control::{Control, Flow, Next};

/// How far lanes went.
pub(in crate::machine) enum Went {
    /// The interpreter goes on with them, for so many instructions at most.
    Interpret(u32),
    /// They were handed over.
    Pick,
    /// Their control model must look at them: they may meet others now.
    Stop,
}

/// How a visit to native code ended.
pub(super) enum Visit {
    /// They may go on natively.
    On,
    Went(Went),
}

/// What the control model makes of the lanes: on a copy of the flow, so that it stays in registers.
#[inline(always)]
pub(super) fn handed<C: Control>(flow: &mut Flow, by: impl FnOnce(&mut Flow) -> Next) -> Visit {
    let mut here = *flow;
    let next = by(&mut here);
    *flow = here;
    match next {
        Next::Go if C::JOINS => Visit::Went(Went::Stop),
        Next::Go => Visit::On,
        Next::Pick => Visit::Went(Went::Pick),
    }
}
