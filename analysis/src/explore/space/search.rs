//! The loop of the search.

use super::frozen::{Before, Keep, Level, Rest};
use super::graph::NONE;
use super::left::Left;
use super::{Found, Move, Options, Reaches, Space, Unit};
use crate::explore::odometer::Odometer;
use crate::explore::retrace::follow;
use crate::machine::Bounds;
use crate::machine::walk::{Agent, Mark, Reached, Roles, State, Walk};
use crate::verdict::{Identity, LimitKind, Stop};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::hash::Hash;
use std::ops::Range;

/// Steps between two questions whether to go on: one takes some microseconds at most.
const PATIENCE: u64 = 1 << 6;

/// A state on the way: small, since ways are long.
struct Node {
    state: u32,
    /// The step that led to it; the one before is on its way to other agents by then.
    by: Option<Move>,
    mark: Mark,
    /// Its agents: where they begin in the list of all, and how many there are.
    first: usize,
    count: u32,
    /// The agent whose turn it is, and the number of its combination of choices.
    next: u32,
    nth: u32,
    /// What few states have.
    extra: Option<Box<Extra>>,
}

/// What is known of a state on the way beyond its number.
#[derive(Default)]
struct Extra {
    /// The combination of choices of the agent whose turn it is.
    odometer: Odometer,
    before: Before,
    /// Who may be exchanged.
    roles: Option<Roles>,
}

impl Node {
    fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    fn before(&self) -> Before {
        self.extra.as_ref().map_or_else(Before::default, |e| e.before)
    }

    /// Who may be exchanged in it.
    fn roles(&self) -> Option<&Roles> {
        self.extra.as_ref()?.roles.as_ref()
    }

    /// Its agents among all.
    const fn agents(&self) -> Range<usize> {
        self.first..self.first + self.count as usize
    }
}

struct Run<'a, 'o, 'k, O> {
    walk: &'a mut dyn Walk,
    options: &'a mut Options<'o>,
    outcome: &'a mut dyn FnMut(&dyn State) -> O,
    space: Space<O>,
    stack: Vec<Node>,
    agents: Vec<Agent>,
    told: BTreeSet<Identity>,
    whole: FxHashMap<u128, Vec<u8>>,
    pruned: bool,
    /// States at most, with those of the search that goes on.
    most: u64,
    keep: Keep<'k, O>,
    /// Warp instructions that were executed.
    executed: u64,
}

fn index(k: usize) -> u32 {
    u32::try_from(k).unwrap_or(u32::MAX)
}

/// Explores a walk from where it stands. `outcome` says what a run that came to its end is counted as.
///
/// The walk stands where it stood before, afterwards.
pub fn explore<O: Eq + Hash>(
    walk: &mut dyn Walk,
    options: &mut Options<'_>,
    outcome: &mut dyn FnMut(&dyn State) -> O,
) -> Space<O> {
    let nobody = Keep { due: &mut || false, save: &mut |_, _| () };
    go_on(walk, options, outcome, Default::default(), nobody).unwrap_or_default()
}

/// Goes on with a search through all states where it stood; `None`: the rest is not of this walk. A search that has seen no
/// state begins. `keep` is told where it stands now and then, and when it stops, before it is prepared to be judged.
pub fn go_on<O: Eq + Hash>(
    walk: &mut dyn Walk,
    options: &mut Options<'_>,
    outcome: &mut dyn FnMut(&dyn State) -> O,
    (space, rest): (Space<O>, Rest),
    keep: Keep<'_, O>,
) -> Option<Space<O>> {
    let start = walk.mark();
    let told = space.found.iter().map(|f| f.stop.identity()).collect();
    let most = options.max_states.map_or(u64::MAX, |most| most.saturating_add(space.progress.states));
    let mut run = Run {
        walk,
        options,
        outcome,
        space,
        stack: Vec::new(),
        agents: Vec::new(),
        told,
        most,
        keep,
        executed: 0,
        whole: FxHashMap::default(),
        pruned: rest.pruned,
    };
    let fits = run.stand(&rest.stack);
    if fits {
        run.search();
    }
    if run.space.limit.is_some() {
        run.space.standing = run.walk.state().standing();
        run.space.growth = run.walk.growth();
    }
    run.walk.back(start);
    if fits {
        let rest = run.rest();
        (run.keep.save)(&run.space, &rest);
    }
    run.own_up();
    let mut space = run.space;
    if run.pruned && space.limit.is_none() {
        space.limit = Some(LimitKind::Switches(run.options.preemptions.unwrap_or(0)));
    }
    space.progress.bytes = (space.graph.bytes() + walk.held()) as u64;
    fits.then_some(space)
}

impl<O: Eq + Hash> Run<'_, '_, '_, O> {
    /// Goes along a stack, to where the search stood. Tells whether its states are those of this walk.
    fn stand(&mut self, stack: &[Level]) -> bool {
        for level in stack {
            let Level { state, by, next, nth, before, .. } = *level;
            if let Some(by) = by {
                let _ = follow(self.walk, &[by], &Bounds::default());
            }
            if self.space.graph.known(self.number(before)) != Some(state) {
                return false;
            }
            self.push(state, by, before);
            let Some(node) = self.stack.last_mut() else { return false };
            (node.next, node.nth) = (index(next), nth);
            if level.odometer != Odometer::new() {
                node.extra().odometer = level.odometer.clone();
            }
        }
        true
    }

    /// Where the search stands.
    fn rest(&self) -> Rest {
        let level = |n: &Node| Level {
            state: n.state,
            by: n.by,
            next: n.next as usize,
            odometer: n.extra.as_ref().map_or_else(Odometer::new, |e| e.odometer.clone()),
            nth: n.nth,
            before: n.before(),
        };
        Rest { stack: self.stack.iter().map(level).collect(), pruned: self.pruned }
    }

    /// What was left out because of a limit is noted: who could step and did not.
    fn own_up(&mut self) {
        let rest = |node: &Node| (node.state, node.first + node.next as usize..node.agents().end);
        let states = self.stack.iter().map(rest).collect();
        let units = if self.space.graph.followed().is_empty() {
            Vec::new()
        } else {
            let of = |node: &Node| self.agents[node.agents()].iter().map(|a| self.unit(node.roles(), a)).collect();
            self.stack.iter().flat_map::<Vec<Unit>, _>(of).collect()
        };
        self.space.graph.leave(Left::new(std::mem::take(&mut self.agents), units, states, self.options.warps));
    }

    fn search(&mut self) {
        if self.space.graph.states() == 0 {
            let before = Before::default();
            let (state, _) = self.space.graph.state(self.number(before));
            self.enter(state, None, before);
        }
        let mut patience = PATIENCE;
        while let Some(node) = self.stack.last() {
            let Some(&agent) = self.agents[node.agents()].get(node.next as usize) else {
                self.leave();
                continue;
            };
            if self.one_too_many(agent) {
                self.skip(agent);
            } else {
                self.step(agent);
            }
            patience -= 1;
            if patience == 0 && (self.keep.due)() {
                let rest = self.rest();
                (self.keep.save)(&self.space, &rest);
            }
            if patience == 0 || self.space.limit.is_some() {
                patience = PATIENCE;
                self.space.limit = self.space.limit.or_else(|| self.over());
                if self.space.limit.is_some() || self.options.first && !self.space.found.is_empty() {
                    return;
                }
            } else if self.options.first && !self.space.found.is_empty() {
                return;
            }
        }
    }

    /// A limit that is reached.
    fn over(&mut self) -> Option<LimitKind> {
        let bytes = (self.space.graph.bytes() + self.walk.held()) as u64;
        self.space.progress.bytes = bytes;
        // A table that grows is there twice for a moment.
        let next = (self.space.graph.grows(PATIENCE) + self.walk.grows(PATIENCE)) as u64;
        let memory = self.options.max_bytes.filter(|cap| bytes + next > *cap);
        memory.map(|cap| LimitKind::Search { cap, taken: bytes }).or_else(|| (self.options.poll)(&self.space.progress))
    }

    /// The number of the state that the walk stands in, with what of the way to it belongs to it.
    fn number(&self, before: Before) -> u128 {
        const ODD: u128 = 0xd6e8_feb8_6659_fd93_a5a3_5625_c1f6_4b8f;
        let mut key = self.walk.key();
        if self.options.preemptions.is_some() {
            let (block, warp) = before.last.unwrap_or((u64::MAX, u32::MAX));
            let extra = u128::from(block) << 64 | u128::from(warp) << 32 | u128::from(before.switches);
            key = key.wrapping_add((extra | 1 << 127).wrapping_mul(ODD));
        }
        if self.options.stepped {
            key = key.wrapping_add((u128::from(before.stepped) | 1 << 126).wrapping_mul(ODD).rotate_left(64));
        }
        key
    }

    /// Goes on from the state that the walk stands in.
    fn enter(&mut self, state: u32, by: Option<Move>, before: Before) {
        self.space.progress.deepest = self.space.progress.deepest.max(self.stack.len() as u64);
        self.push(state, by, before);
        if self.stack.last().is_some_and(|n| n.count == 0) {
            self.space.progress.schedules += 1;
            let path = self.path(None);
            let state = self.walk.state();
            match state.reached() {
                Reached::End => {
                    let outcome = (self.outcome)(state);
                    self.space.outcomes.entry(outcome).or_insert(Reaches { count: 0, path }).count += 1;
                }
                Reached::Stuck(stop) => self.find(stop, path),
            }
        }
    }

    /// The state that the walk stands in comes onto the stack.
    fn push(&mut self, state: u32, by: Option<Move>, before: Before) {
        let first = self.agents.len();
        self.walk.agents(&mut self.agents);
        let roles = self.walk.roles();
        if let Some(roles) = &roles {
            self.space.graph.followed_mut().state(state, roles);
        }
        let has = before != Before::default() || roles.is_some();
        let extra = has.then(|| Box::new(Extra { before, roles, ..Extra::default() }));
        let (mark, count) = (self.walk.mark(), index(self.agents.len() - first));
        self.stack.push(Node { state, by, mark, first, count, next: 0, nth: 0, extra });
    }

    fn leave(&mut self) {
        let Some(node) = self.stack.pop() else { return };
        self.agents.truncate(node.first);
    }

    /// The steps on the way, and one more.
    fn path(&self, last: Option<Move>) -> Vec<Move> {
        self.stack.iter().filter_map(|n| n.by).chain(last).collect()
    }

    fn find(&mut self, stop: Stop, path: Vec<Move>) {
        if self.told.insert(stop.identity()) {
            self.space.found.push(Found { stop, path });
        }
    }

    /// Whether a step of the agent switches from a warp that could go on, once too often.
    fn one_too_many(&mut self, agent: Agent) -> bool {
        let Some(most) = self.options.preemptions else { return false };
        let too_many =
            self.stack.last().is_some_and(|n| n.before().switches + u32::from(self.switches(n, agent)) > most);
        self.pruned |= too_many;
        too_many
    }

    fn switches(&self, node: &Node, agent: Agent) -> bool {
        let warp = |a: &Agent| match a {
            Agent::Flow { block, warp, .. } => Some((*block, *warp)),
            Agent::Begin | Agent::Micro(_) | Agent::Silent(_) => None,
        };
        let (here, last) = (&self.agents[node.agents()], node.before().last);
        last.is_some() && warp(&agent) != last && here.iter().any(|a| warp(a) == last)
    }

    /// An agent that could step and does not: that it could is noted, for fairness.
    fn skip(&mut self, agent: Agent) {
        let Some(node) = self.stack.last() else { return };
        let unit = self.unit(node.roles(), &agent);
        self.space.graph.edge(node.state, unit, node.next as usize, 0, NONE);
        if let Some(node) = self.stack.last_mut() {
            node.next += 1;
        }
    }

    /// A step of an agent, and on from where it leads.
    fn step(&mut self, agent: Agent) {
        let Some(node) = self.stack.last_mut() else { return };
        self.walk.back(node.mark);
        let mut odometer = node.extra.as_mut().map_or_else(Odometer::new, |e| std::mem::take(&mut e.odometer));
        let done = self.walk.advance(agent, &mut odometer, None);
        if let Err(Stop::Limit(limit)) = done {
            // It was not taken: that it could be is owned up to.
            self.space.limit = Some(limit);
            node.extra().odometer = odometer;
            return;
        }
        self.space.progress.transitions += 1;
        let (state, at, nth) = (node.state, node.next as usize, node.nth);
        let unit = self.stack.last().map_or(Unit::Silent, |node| self.unit(node.roles(), &agent));
        let narrow = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        let this = Move { agent: narrow(at), nth: narrow(nth as usize) };
        let used = match done {
            Ok(used) => used,
            Err(stop) => {
                self.space.graph.edge(state, unit, at, nth, NONE);
                self.space.progress.schedules += 1;
                let path = self.path(Some(this));
                self.find(stop, path);
                self.next(odometer);
                return;
            }
        };
        self.executed += u64::from(used);
        if let Some(most) = self.options.max_steps.filter(|most| self.executed > *most) {
            self.space.limit = Some(LimitKind::Steps(most));
        }
        let before = self.before(agent);
        // Who spins leads nowhere else, which needs no look-up.
        let stays = self.stack.last().is_some_and(|n| n.mark == self.walk.mark() && n.before() == before);
        let number = if stays && !self.options.audit { None } else { Some(self.number(before)) };
        let (to, new) = number.map_or((state, false), |number| self.space.graph.state(number));
        if new && self.options.stepped {
            self.space.graph.set_stepped(to, before.stepped);
        }
        let edge = self.space.graph.edge(state, unit, at, nth, to);
        if new {
            self.space.graph.reached(to, state, edge);
        }
        self.follow(edge);
        self.space.progress.states = self.space.graph.states() as u64;
        if self.space.progress.states > self.most {
            self.space.limit = Some(LimitKind::States(self.options.max_states.unwrap_or(0)));
        }
        number.into_iter().for_each(|number| self.audit(number));
        // The node goes on to the next combination, or agent, before its child is entered.
        self.next(odometer);
        if new {
            self.enter(to, Some(this), before);
        }
    }

    /// Where the places of the last node lead by a step, to the state that the walk stands in.
    fn follow(&mut self, edge: u32) {
        let here = self.walk.mark();
        let Some(node) = self.stack.last() else { return };
        let Some(before) = node.roles() else { return };
        // Nothing was changed by who spins.
        let after = if here == node.mark { None } else { self.walk.roles() };
        self.space.graph.followed_mut().step(edge, before, after.as_ref());
    }

    /// Who an agent is, as far as fairness goes: where some may be exchanged, by its place among them.
    fn unit(&self, roles: Option<&Roles>, agent: &Agent) -> Unit {
        let unit = Unit::of(agent, self.options.warps);
        let Unit::Lanes(block, _, lanes) = unit else { return unit };
        let Some((roles, place)) = roles.and_then(|roles| Some((roles, roles.of(agent)?))) else {
            return unit;
        };
        let lanes = if roles.lanes { 1 } else { lanes };
        Unit::Lanes(if roles.blocks { 0 } else { block }, place.into(), lanes)
    }

    /// What belongs to the state that a step of the agent leads to.
    fn before(&self, agent: Agent) -> Before {
        let asked = self.options.preemptions.is_some() || self.options.stepped;
        let Some(node) = self.stack.last().filter(|_| asked) else { return Before::default() };
        let before = node.before();
        let Agent::Flow { block, warp, .. } = agent else { return before };
        Before {
            last: Some((block, warp)),
            switches: before.switches + u32::from(self.switches(node, agent)),
            stepped: before.stepped | 1u64.checked_shl(u32::try_from(block).unwrap_or(u32::MAX)).unwrap_or(0),
        }
    }

    /// The next combination of choices of the last node's agent, or its next agent.
    fn next(&mut self, mut odometer: Odometer) {
        let Some(node) = self.stack.last_mut() else { return };
        if odometer.advance() {
            node.nth += 1;
            node.extra().odometer = odometer;
        } else {
            (node.next, node.nth) = (node.next + 1, 0);
        }
    }

    fn audit(&mut self, number: u128) {
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
}
