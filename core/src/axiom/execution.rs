//! Executions: what a search finds, and what witnesses show.

use super::evaluate::Bases;
use super::frame::{Base, Choice, Frame, Id, base};
use super::model::Model;
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
    /// It as a model sees it: what [`Evaluation`](super::Evaluation) judges, which knows nothing of how it was found.
    #[must_use]
    pub fn bases(&self, model: &Model) -> Bases {
        let frame = &self.frame;
        let sets = frame.sets.clone();
        let relations = model.relations.iter().zip(&frame.relations).map(|(name, fixed)| match base(name) {
            Base::Choice(Choice::Rf) => self.rf.clone(),
            Base::Choice(Choice::Co) => self.co.clone(),
            Base::Choice(Choice::Fences) => self.fences.clone(),
            Base::Choice(Choice::Meetings) => self.meetings.clone(),
            Base::Fr => self.rf.inverse().then(&self.co),
            Base::Static => fixed.clone(),
        });
        Bases { events: frame.len(), sets, relations: relations.collect() }
    }
}
