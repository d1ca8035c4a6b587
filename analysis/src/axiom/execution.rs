//! Executions: what a search finds, and what witnesses show.

use super::evaluate::Bases;
use super::frame::{Base, Choice, Frame, Id, base, frame};
use super::model::Model;
use super::program::{Event, Place, Program, Trace};
use super::relation::Relation;
use indexmap::IndexSet;
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

/// The choices that make an execution of events, as pairs of their numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub struct Chosen {
    /// A write, and a read that reads from it.
    pub rf: Vec<(usize, usize)>,
    /// Writes in the order in which they are coherent.
    pub co: Vec<(usize, usize)>,
    /// Fences in their order.
    pub fences: Vec<(usize, usize)>,
    /// Arrivals at a barrier that meet: the first is behind none of them, the second waits.
    pub meetings: Vec<(usize, usize)>,
}

impl Execution {
    /// The execution of threads that have come to their ends, with choices that somebody has made: nothing is judged. `choose` is given
    /// the events, initial writes first.
    pub fn of(
        program: &dyn Program,
        model: &Model,
        traces: &[Trace],
        choose: impl FnOnce(&[(Id, Event)]) -> Chosen,
    ) -> Self {
        let frame = frame(program, model, traces, &mut IndexSet::new());
        let chosen = choose(&frame.events);
        let relation = |pairs: &[(usize, usize)]| Relation::of(frame.len(), pairs.iter().copied());
        Self {
            events: frame.events.clone(),
            rf: relation(&chosen.rf),
            co: relation(&chosen.co),
            fences: relation(&chosen.fences),
            meetings: relation(&chosen.meetings),
            registers: traces.iter().map(|t| t.registers.iter().map(|r| r.unwrap_or(0)).collect()).collect(),
            finals: Vec::new(),
            flags: Vec::new(),
            frame: Rc::new(frame),
        }
    }

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
