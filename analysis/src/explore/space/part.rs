//! Parts of a search: what is left of it, what somebody else goes on with, who steps in it, and where that leads.

use super::Unit;
use super::ahead::{Ahead, FEWEST, MOST};
use super::book::Book;
use super::frozen::Before;
use super::job::Job;
use super::left::Left;
use super::search::Run;
use super::way::{Node, index};
use crate::explore::retrace::follow;
use crate::machine::Bounds;
use crate::machine::walk::{Agent, Foreseen, Roles};
use crate::verdict::LimitKind;
use std::hash::Hash;
use std::ops::Range;

impl<O: Eq + Hash, B: Book> Run<'_, '_, '_, O, B> {
    /// States at most.
    pub fn bound(&mut self, most: Option<u64>) {
        self.most = most.unwrap_or(u64::MAX);
    }

    /// Whether switches were left out.
    pub const fn is_pruned(&self) -> bool {
        self.pruned
    }

    /// What was left out because of a limit: who could step and did not.
    pub fn left(&mut self) -> Left {
        let rest = |node: &Node| (node.state, node.first + node.next as usize..node.first + node.end as usize);
        let states = self.stack.iter().map(rest).collect();
        let units = if self.stack.iter().all(|node| node.roles().is_none()) {
            Vec::new()
        } else {
            let of = |node: &Node| self.agents[node.agents()].iter().map(|a| self.unit(node.roles(), a)).collect();
            self.stack.iter().flat_map::<Vec<Unit>, _>(of).collect()
        };
        Left::new(std::mem::take(&mut self.agents), units, states, self.options.warps)
    }

    /// Goes on with a part of another search of the same states; the walk stands at the start. Tells whether it came there: a
    /// limit of time may end a step on the way.
    pub fn take_over(&mut self, job: Job) -> bool {
        let _ = follow(self.walk, &job.path, &Bounds::default());
        let number = self.number(job.before);
        if self.book.known(number) != Some(job.state) {
            let why = (self.options.poll)(&self.space.progress).unwrap_or(LimitKind::Interrupted);
            self.space.limit = Some(why);
            self.book.give(job);
            return false;
        }
        self.book.begin(&job);
        let Range { start, end } = job.agents;
        if start == 0 && end == u32::MAX {
            self.enter(job.state, None, job.before);
        } else {
            self.push(job.state, None, job.before);
        }
        if let Some(node) = self.stack.last_mut() {
            (node.next, node.end) = (start, end.min(node.count));
        }
        (self.base, self.bottom) = (job.path, 0);
        true
    }

    /// Gives away half of what is left of the state next to the start that has something left.
    pub fn share(&mut self) {
        let from = |node: &Node| node.next + u32::from(node.nth > 0);
        self.bottom = self.bottom.min(self.stack.len());
        while let Some(node) = self.stack.get(self.bottom) {
            if from(node) < node.end {
                break;
            }
            self.bottom += 1;
        }
        let way = self.stack.iter().take(self.bottom + 1).filter_map(|n| n.by);
        let path = self.base.iter().copied().chain(way).collect();
        let last = self.bottom + 1 >= self.stack.len();
        let Some(node) = self.stack.get_mut(self.bottom) else { return };
        // The search is about to go on from its last state: one agent is kept.
        let (first, end) = (from(node) + u32::from(last), node.end);
        if first >= end {
            return;
        }
        node.end = first + (end - first) / 2;
        let (state, before, agents) = (node.state, node.before(), node.end..end);
        let here = node.first + node.end as usize..node.first + end as usize;
        let Some(node) = self.stack.get(self.bottom) else { return };
        let away = self.agents[here].to_vec();
        let units =
            node.roles().map_or_else(Vec::new, |roles| away.iter().map(|a| self.unit(Some(roles), a)).collect());
        self.book.give(Job { state, path, before, agents, waiting: (away, units) });
    }

    /// Whether a step of the agent switches from a warp that could go on, once too often.
    pub fn one_too_many(&mut self, agent: Agent) -> bool {
        let Some(most) = self.options.preemptions else { return false };
        let too_many =
            self.stack.last().is_some_and(|n| n.before().switches + u32::from(self.switches(n, agent)) > most);
        self.pruned |= too_many;
        too_many
    }

    pub fn switches(&self, node: &Node, agent: Agent) -> bool {
        let warp = |a: &Agent| match a {
            Agent::Flow { block, warp, .. } => Some((*block, *warp)),
            Agent::Begin | Agent::Micro(_) | Agent::Silent(_) => None,
        };
        let (here, last) = (&self.agents[node.agents()], node.before().last);
        last.is_some() && warp(&agent) != last && here.iter().any(|a| warp(a) == last)
    }

    /// Who an agent is, as far as fairness goes: where some may be exchanged, by its place among them.
    pub fn unit(&self, roles: Option<&Roles>, agent: &Agent) -> Unit {
        let unit = Unit::of(agent, self.options.warps);
        let Unit::Lanes(block, _, lanes) = unit else { return unit };
        let Some((roles, place)) = roles.and_then(|roles| Some((roles, roles.of(agent)?))) else {
            return unit;
        };
        let lanes = if roles.lanes { 1 } else { lanes };
        Unit::Lanes(if roles.blocks { 0 } else { block }, place.into(), lanes)
    }

    /// What belongs to the state that a step of the agent leads to.
    pub fn before(&self, agent: Agent) -> Before {
        let Some(node) = self.stack.last().filter(|_| self.tells_way()) else { return Before::default() };
        let before = node.before();
        let Agent::Flow { block, warp, .. } = agent else { return before };
        Before {
            last: Some((block, warp)),
            switches: before.switches + u32::from(self.switches(node, agent)),
            stepped: before.stepped | 1u64.checked_shl(u32::try_from(block).unwrap_or(u32::MAX)).unwrap_or(0),
        }
    }

    /// Counts equal numbers of different states.
    pub fn audit(&mut self, number: u128) {
        if !self.options.audit {
            return;
        }
        let whole = self.walk.whole();
        match self.whole.get(&number) {
            Some(before) => self.space.progress.collisions += u64::from(*before != whole),
            None => {
                self.whole.insert(number, whole);
            }
        }
    }

    /// How many agents whose turns come next make steps that lead to states that were seen before; the step of another one leads to a
    /// new state, or is to be made to know where.
    pub fn ahead(&mut self) -> usize {
        let Some(node) = self.stack.last().filter(|node| node.nth == 0) else { return 0 };
        if self.ahead.depth != self.stack.len() || node.next >= self.ahead.until {
            self.look_ahead();
        }
        let Some(node) = self.stack.last() else { return 0 };
        // Some may have been given away since they were looked up.
        let left = node.first + node.next as usize..node.first + self.ahead.until.min(node.end) as usize;
        let seen = self.ahead.steps[left].iter().take_while(|step| step.is_some()).count();
        // Who makes one switch too many is to be asked of each.
        if self.options.preemptions.is_some() { seen.min(1) } else { seen }
    }

    /// Looks up where the steps of the last state lead that are left and not known.
    fn look_ahead(&mut self) {
        self.ahead.depth = self.stack.len();
        let Some(node) = self.stack.last() else { return };
        let first = node.first + node.next as usize;
        let left = first..(node.first + node.end as usize).min(first + MOST);
        self.ahead.until = index(left.end - node.first);
        // Where whole states are compared, each step is made.
        if left.len() < FEWEST || self.options.audit {
            return;
        }
        self.walk.back(node.mark);
        let ahead = &mut self.ahead;
        ahead.clear();
        ahead.asked.extend(left.filter(|at| ahead.steps[*at].is_none()));
        self.walk.foresee(&self.agents, &ahead.asked, &mut ahead.told);
        if self.tells_way() {
            for k in 0..self.ahead.told.len() {
                let (at, Foreseen { number, .. }) = self.ahead.told[k];
                self.ahead.told[k].1.number = self.numbered(number, self.before(self.agents[at]));
            }
        }
        let Ahead { steps, told, numbers, found, .. } = &mut self.ahead;
        numbers.extend(told.iter().map(|(_, step)| step.number));
        self.book.known_of(numbers, found);
        for ((at, step), to) in told.iter().zip(found) {
            steps[*at] = to.map(|to| (to, step.used));
        }
    }

    /// Whether something of the way to a state belongs to it.
    const fn tells_way(&self) -> bool {
        self.options.preemptions.is_some() || self.options.stepped
    }
}
