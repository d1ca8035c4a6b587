//! In place of machine code, where that is left out: kernels are interpreted.

use crate::machine::block::step::Executing;
use crate::machine::block::turns::{Turns, Whose};
use crate::machine::books::{Books, Stats};
use crate::machine::config::Engine;
use crate::machine::control::{Control, Flow};
use crate::machine::grid::loaded::Loaded;
use crate::machine::warp::state::{Halt, Shared, Warp};
use crate::memory::{Cx, Memory};
use crate::program::env::ProgEnv;
use crate::verdict::Needs;
use std::sync::Arc;

/// Nothing is held.
pub type Lines = ();

/// None runs.
#[derive(Debug)]
pub(in crate::machine) enum Session {}

impl Session {
    /// Nobody asks.
    pub(in crate::machine) const fn is_poor(&self) -> bool {
        match *self {}
    }

    /// Nobody asks.
    pub(in crate::machine) const fn visits_are_long(&self) -> bool {
        match *self {}
    }

    /// Nobody asks.
    pub(in crate::machine) const fn is_plain(&self) -> bool {
        match *self {}
    }

    /// Nobody asks.
    pub(in crate::machine) fn give_up(&self) {
        match *self {}
    }

    /// Nothing is executed.
    pub(in crate::machine) const fn executed(&self) -> u64 {
        match *self {}
    }
}

/// How far lanes went.
pub(in crate::machine) enum Went {
    /// The interpreter goes on with them, for so many instructions at most.
    Interpret(u32),
    /// They were handed over.
    #[expect(dead_code, reason = "as where there is machine code")]
    Pick,
    /// Their control model must look at them: they may meet others now.
    #[expect(dead_code, reason = "as where there is machine code")]
    Stop,
}

/// Nothing is compiled.
pub(in crate::machine) fn session(
    _: &Arc<ProgEnv>,
    _: &Loaded,
    _: Engine,
    _: u64,
    _: Option<&Needs>,
) -> Result<Session, u64> {
    Err(u64::MAX)
}

/// Nobody calls it.
pub(in crate::machine) fn go<C: Control, M: Memory, S>(
    _: &mut Warp<C>,
    _: &mut Flow,
    _: &mut Shared<'_>,
    _: &mut M,
    _: &mut u32,
    _: &mut Cx<'_, S>,
) -> Result<Went, Box<Halt>> {
    Ok(Went::Interpret(u32::MAX))
}

/// Nobody calls it.
pub(in crate::machine) fn phases<C: Control, M: Memory, S>(
    _: &mut Executing<'_, C>,
    _: Whose<'_>,
    _: &mut M,
    _: &mut Cx<'_, S>,
    _: &mut Books<'_>,
    _: &mut Stats,
) -> Result<Turns, Box<Halt>> {
    Ok(Turns::default())
}

/// All is in the frame.
pub(in crate::machine) fn settle<C>(session: &Session, _: &mut Warp<C>) {
    match *session {}
}
