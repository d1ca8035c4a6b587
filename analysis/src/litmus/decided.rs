//! What is asked of a test or a kernel under a model, and what the model says.

use crate::axiom::{Execution, Searched};
use crate::base::words;

words! {
    /// What is asked of a test under a model.
    pub enum Property {
        /// What the test's condition asks.
        Safety = "safety",
        /// Whether every execution ends, where reads that spin see the coherence-last write in the end.
        Liveness = "liveness",
        /// Whether no execution raises a flag of the model, which stands for a data race.
        Drf = "drf",
    }
}

/// What a model says.
#[derive(Clone, Debug)]
pub struct Decided {
    /// Whether the property passes.
    pub pass: bool,
    /// An execution that shows it: what was asked for, or what must not be.
    pub witness: Option<Execution>,
    /// Of liveness: an execution that does not end.
    pub lasso: Option<Lasso>,
    /// What the search did.
    pub searched: Searched,
}

/// An execution that does not end.
#[derive(Clone, Debug)]
pub struct Lasso {
    /// What the model allows before it, where reads see other than coherence-last writes; events that are part of it, by thread.
    pub prefix: Option<(Execution, Vec<usize>)>,
    /// The steps up to the repeated part: thread and instruction.
    pub stem: Vec<(usize, usize)>,
    /// The steps of the repeated part; none: nobody can take a step, since all wait at barriers.
    pub round: Vec<(usize, usize)>,
    /// Threads of a kernel that wait at barriers meanwhile, for those that take steps.
    pub waits: Vec<(usize, usize)>,
}
