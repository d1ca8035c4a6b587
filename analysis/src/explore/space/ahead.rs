//! Which steps of the state that a search stands in lead to states that were seen before.
//!
//! Most do, five of six in a lock. They are looked up together, so that the search waits for the table once for all of them, and are
//! not made: that they could be is all that is noted of them.

use super::book::Book;
use super::search::Run;
use crate::machine::walk::Foreseen;
use std::hash::Hash;

/// Steps at least that are looked up together: one or two are made sooner.
const FEWEST: usize = 3;

/// A step that leads to a state that was seen before: which one, and how many instructions it executes.
pub(super) type Seen = (u32, u32);

/// What is known of the steps of the states on the way.
#[derive(Default)]
pub(super) struct Ahead {
    /// For each agent of each state, as far as they were looked up.
    steps: Vec<Option<Seen>>,
    /// For how many states on the way the last one was looked up after all others that are seen by now; 0: for none.
    depth: usize,
    /// Room for the agents that are looked up, for what the walk foresees of them, and for the numbers of states.
    foreseen: Vec<Option<Foreseen>>,
    asked: Vec<(usize, u32)>,
    numbers: Vec<u128>,
    found: Vec<Option<u32>>,
}

impl Ahead {
    /// The search stands somewhere else; so many agents are on its way.
    pub fn moved(&mut self, agents: usize) {
        self.steps.resize(agents, None);
        self.depth = 0;
    }
}

impl<O: Eq + Hash, B: Book> Run<'_, '_, '_, O, B> {
    /// What is known of the step of the agent whose turn it is; `None`: it leads to a new state, or is to be made to know where.
    pub fn ahead(&mut self) -> Option<Seen> {
        if self.ahead.depth != self.stack.len() {
            self.look_ahead();
        }
        let node = self.stack.last().filter(|node| node.nth == 0)?;
        self.ahead.steps[node.first + node.next as usize]
    }

    /// Looks up where the steps of the last state lead that are left and not known.
    fn look_ahead(&mut self) {
        self.ahead.depth = self.stack.len();
        // Where whole states are compared, each step is made.
        let Some(node) = self.stack.last().filter(|_| !self.options.audit) else { return };
        let left = node.first + node.next as usize..node.first + node.end as usize;
        if left.len() < FEWEST {
            return;
        }
        let mut ahead = std::mem::take(&mut self.ahead);
        ahead.foreseen.clear();
        ahead.asked.clear();
        ahead.numbers.clear();
        ahead.found.clear();
        self.walk.back(node.mark);
        self.walk.foresee(&self.agents[left.clone()], &mut ahead.foreseen);
        for (at, foreseen) in left.zip(&ahead.foreseen) {
            if let Some(step) = foreseen.filter(|_| ahead.steps[at].is_none()) {
                ahead.asked.push((at, step.used));
                ahead.numbers.push(self.numbered(step.number, self.before(self.agents[at])));
            }
        }
        self.book.known_of(&ahead.numbers, &mut ahead.found);
        for (&(at, used), found) in ahead.asked.iter().zip(&ahead.found) {
            ahead.steps[at] = found.map(|to| (to, used));
        }
        self.ahead = ahead;
    }
}
