//! Where steps lead that are known from before, told without making them.
//!
//! A search looks up each state that a step leads to in a table larger than the processor's caches. Where the numbers of several are
//! known at once, it waits for memory once for all of them; and a step to a state that was seen before is not made at all.

use super::walker::Walker;
use super::{Agent, Foreseen};
use crate::machine::control::Explored;
use crate::memory::Environment;

impl<C: Explored + 'static, M: Environment + 'static> Walker<C, M> {
    /// Where steps of agents lead from here; none of those that were not made yet with what they depend on, that complete a block,
    /// or that lead to a state in which agents are exchanged, whose number is not the sum of its parts.
    pub(super) fn foreseen(&mut self, agents: &[Agent], out: &mut Vec<Option<Foreseen>>) {
        if !self.remembers() || !self.journal.parts.is_idle() {
            out.resize(out.len() + agents.len(), None);
            return;
        }
        for agent in agents {
            let known = self.key_of(*agent).and_then(|(key, _)| self.memo.foresee(&key));
            out.push(known.and_then(|effect| self.journal.foresee(effect)));
        }
    }
}
