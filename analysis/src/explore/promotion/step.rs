//! Steps of the machine.

use crate::memory::rsp::{Move, Program, System};
use crate::verdict::Rule;

/// A step of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// A thread executes its next instruction.
    Thread(u8),
    /// The environment makes a transition.
    Environment(Move),
}

/// Makes a step. `None`: it is blocked, and nothing has changed.
pub(super) fn fire(program: &Program, system: &mut System, step: Step) -> Option<Rule> {
    match step {
        Step::Thread(thread) => system.execute(program, usize::from(thread)),
        Step::Environment(step) => system.perform(program, step),
    }
}
