//! Lanes that have called functions: where they and the others are, and what becomes of them when they have run on.

use super::{Group, Its};
use crate::base::{LaneMask, lanes_of, lanes_with, set_lanes};
use crate::machine::control::{Control, Flow, Grouping, Nested, Waiting};
use smallvec::SmallVec;

impl Its {
    /// See [`Control::nested`].
    pub(super) fn beside(&self, flow: Flow) -> Option<Nested> {
        let patience = Self::PATIENCE.saturating_sub(self.starved);
        let mut nested = Nested { here: SmallVec::new(), beyond: 0, patience };
        if self.together.is_some() {
            return Some(nested);
        }
        let others = self.ready & !flow.mask;
        let rest = lanes_with(&self.depth, flow.depth) & others;
        nested.beyond = others & !rest;
        let deeper = lanes_of(nested.beyond).any(|l| self.depth[l] > flow.depth);
        if self.grouping != Grouping::All || deeper {
            return None;
        }
        nested.here = self.places_of(rest);
        // Those who are behind run: nobody is where these are, or before.
        nested.here.iter().all(|(_, pc)| *pc > flow.pc).then_some(nested)
    }

    /// See [`Control::at_depth`].
    pub(super) fn those_at(&self, lanes: LaneMask, depth: u32) -> Waiting {
        self.places_of(lanes_with(&self.depth, depth) & lanes)
    }

    /// Lanes by their addresses.
    fn places_of(&self, lanes: LaneMask) -> Waiting {
        let (mut all, mut rest) = (Waiting::new(), lanes);
        while rest != 0 {
            let pc = self.pc[rest.trailing_zeros() as usize];
            let with = lanes_with(&self.pc, pc) & rest;
            all.push((with, pc));
            rest &= !with;
        }
        all
    }

    /// See [`Control::has_run`].
    pub(super) fn stand(&mut self, flow: Flow, others: &[Group], runs: &[LaneMask], used: u32) {
        self.part();
        for (lanes, pc, depth) in others {
            self.place(*lanes, *pc, *depth);
        }
        self.place(flow.mask, flow.pc, flow.depth);
        self.met &= !flow.mask;
        self.note(runs);
        // Where all that are ready run, nobody waits.
        self.starved = if flow.mask == self.ready { 0 } else { self.starved.saturating_add(used) };
        self.set_watch(flow);
    }

    /// Lanes of a function at a depth are to go on at an address when what they call returns.
    #[inline(always)]
    pub(in crate::machine::control) fn remember(&mut self, lanes: LaneMask, depth: u32, back: u32) {
        let depth = depth as usize;
        if self.returns.len() <= depth {
            self.returns.resize(depth + 1, [0; 32]);
        }
        set_lanes(&mut self.returns[depth], lanes, back);
    }

    /// See [`Control::returns_to`].
    #[inline(always)]
    pub(super) fn back_of(&self, lanes: LaneMask, depth: u32) -> Option<u32> {
        let all = self.returns.get(depth as usize)?;
        let back = all[lanes.trailing_zeros() as usize % 32];
        lanes_of(lanes).all(|l| all[l] == back).then_some(back)
    }
}
