//! What a complete execution leaves behind: registers, memory, and the execution graph that the ghost projects (section 6.2).

use crate::memory::rsp::{Event, Place, Program, Source, System};

/// An execution graph: the accesses that were made, who read from whom, and the order of the writes of each location.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Graph {
    /// For each event of the program: where it read from, if it read.
    pub reads: Vec<Option<Source>>,
    /// For each event of the program: its place in the order of its location's writes, if it wrote.
    pub order: Vec<Option<u8>>,
}

impl Graph {
    /// The graph of a state in which all is flushed.
    pub(super) fn of(program: &Program, system: &System) -> Self {
        let events = program.events().len();
        let order = |k: usize| Some(system.ghost.rank[k]).filter(|_| system.ghost.place[k] != Place::NONE);
        Self { reads: (0..events).map(|k| system.ghost.source(k)).collect(), order: (0..events).map(order).collect() }
    }

    /// Whether an event took place.
    #[must_use]
    pub fn took_place(&self, event: Event) -> bool {
        let k = usize::from(event.0);
        self.reads[k].is_some() || self.order[k].is_some()
    }
}

/// The end of a complete execution.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct End {
    /// What the registers hold.
    pub registers: Vec<i32>,
    /// What memory holds.
    pub memory: Vec<i32>,
    /// What happened; nothing where the ghost was not asked for.
    pub graph: Graph,
}
