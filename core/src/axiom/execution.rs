//! Executions: what a search finds, and what witnesses show.

use super::bounds::Choices;
use super::frame::{Frame, Id};
use super::program::{Event, Place};
use super::relation::Relation;
use std::rc::Rc;

/// A finished execution.
#[derive(Clone, Debug)]
pub struct Execution {
    pub(super) frame: Rc<Frame>,
    /// Its events with their values: initial writes first, then the threads' in program order.
    pub events: Vec<(Id, Event)>,
    /// Which write each read reads from.
    pub rf: Relation,
    /// The order in which writes to a location are coherent, as far as the model orders them.
    pub co: Relation,
    /// The order of fences that are sequentially consistent.
    pub fences: Relation,
    /// Arrivals that meet at a barrier.
    pub meetings: Relation,
    /// The registers that are asked about, of each thread.
    pub registers: Vec<Vec<u64>>,
    /// The last values that are asked about.
    pub finals: Vec<(Place, u64)>,
    /// The names of the flags that are raised.
    pub flags: Vec<String>,
}

impl Execution {
    /// What is chosen in it.
    pub(super) fn choices(&self) -> Choices {
        let fixed = |r: &Relation| super::bounds::Interval { must: r.clone(), may: r.clone() };
        Choices { rf: fixed(&self.rf), co: fixed(&self.co), fences: fixed(&self.fences), meetings: fixed(&self.meetings) }
    }
}
