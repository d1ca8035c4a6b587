//! The loop of the search.

use super::ahead::Ahead;
use super::book::{Book, Done};
use super::frozen::{Before, Keep, Level, Rest};
use super::graph::{Graph, NONE};
use super::way::{Extra, Node, Place, index, numbered};
use super::{Found, Move, Options, Progress, Reaches, Space, Unit};
use crate::base::sort;
use crate::explore::odometer::Odometer;
use crate::explore::retrace::follow;
use crate::machine::Bounds;
use crate::machine::walk::{Agent, Reached, State, Walk};
use crate::verdict::{Identity, LimitKind, Stop};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::hash::Hash;

/// Steps between two questions whether to go on: one takes some microseconds at most.
const PATIENCE: u64 = 1 << 6;

pub(super) struct Run<'a, 'o, 'k, O, B> {
    pub walk: &'a mut dyn Walk,
    pub options: &'a mut Options<'o>,
    outcome: &'a mut dyn FnMut(&dyn State) -> O,
    pub space: Space<O>,
    /// Where states and steps are noted.
    pub book: B,
    /// States in which runs came to their ends, each with the place of the outcome, and where they stop, by state or by step, where
    /// that is told by a graph that is made later.
    pub ends: Vec<(u32, usize)>,
    pub stops: Vec<(Place, Identity)>,
    /// The way to the first state of the stack, and up to which state on it nothing is left to be given away.
    pub base: Vec<Move>,
    pub bottom: usize,
    pub stack: Vec<Node>,
    pub agents: Vec<Agent>,
    pub ahead: Ahead,
    told: BTreeSet<Identity>,
    pub whole: FxHashMap<u128, Vec<u8>>,
    pub pruned: bool,
    /// States at most, with those of the search that goes on.
    pub most: u64,
    keep: Keep<'k, O>,
    /// Warp instructions that were executed.
    executed: u64,
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
    let told = sort::set_of(space.found.iter().map(|f| f.stop.identity()));
    let most = options.max_states.map_or(u64::MAX, |most| most.saturating_add(space.progress.states));
    let (mut space, book) = (space, Graph::default());
    let book = std::mem::replace(&mut space.graph, book);
    let mut run = Run { told, most, pruned: rest.pruned, space, ..Run::new(walk, options, outcome, book, keep) };
    let fits = run.stand(&rest.stack);
    if fits {
        run.begin();
        run.search();
    }
    if run.space.limit.is_some() {
        run.space.standing = run.walk.state().standing();
        run.space.growth = run.walk.growth();
    }
    run.walk.back(start);
    if fits {
        run.save();
    }
    let left = run.left();
    let mut space = run.space;
    space.graph = run.book;
    space.graph.leave(left);
    if run.pruned && space.limit.is_none() {
        space.limit = Some(LimitKind::Switches(run.options.preemptions.unwrap_or(0)));
    }
    space.progress.bytes = (space.graph.bytes() + walk.held()) as u64;
    fits.then_some(space)
}

impl<O: Eq + Hash> Run<'_, '_, '_, O, Graph> {
    /// Goes along a stack, to where the search stood. Tells whether its states are those of this walk.
    fn stand(&mut self, stack: &[Level]) -> bool {
        for level in stack {
            let Level { state, by, next, nth, before, .. } = *level;
            if let Some(by) = by {
                let _ = follow(self.walk, &[by], &Bounds::default());
            }
            if self.book.known(self.number(before)) != Some(state) {
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

    /// The first state, of a search that has seen none.
    fn begin(&mut self) {
        if self.book.states() == 0 {
            let before = Before::default();
            let (state, _) = self.book.state(self.number(before));
            self.space.progress.states = self.book.own();
            self.enter(state, None, before);
        }
    }
}

impl<'a, 'o, 'k, O: Eq + Hash, B: Book> Run<'a, 'o, 'k, O, B> {
    /// A search that stands nowhere yet and goes on without an end.
    pub fn new(
        walk: &'a mut dyn Walk,
        options: &'a mut Options<'o>,
        outcome: &'a mut dyn FnMut(&dyn State) -> O,
        book: B,
        keep: Keep<'k, O>,
    ) -> Self {
        Self {
            walk,
            options,
            outcome,
            space: Space::default(),
            book,
            ends: Vec::new(),
            stops: Vec::new(),
            base: Vec::new(),
            bottom: 0,
            stack: Vec::new(),
            agents: Vec::new(),
            ahead: Ahead::default(),
            told: BTreeSet::new(),
            most: u64::MAX,
            keep,
            executed: 0,
            whole: FxHashMap::default(),
            pruned: false,
        }
    }

    /// Notes what was done so far; gives what all have done who note the same states.
    pub fn pause(&mut self) -> Done {
        let Progress { transitions, .. } = self.space.progress;
        let bytes = (self.book.bytes() + self.walk.held()) as u64;
        let (states, executed) = (self.book.own(), self.executed);
        self.book.pause(Done { transitions, states, executed, bytes })
    }

    /// Keeps what was done.
    fn save(&mut self) {
        let rest = self.rest();
        self.book.lend(&mut self.space.graph);
        (self.keep.save)(&self.space, &rest);
        self.book.lend(&mut self.space.graph);
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

    /// Goes on until the stack is empty, or a limit is reached.
    pub fn search(&mut self) {
        let mut patience = PATIENCE;
        while let Some(node) = self.stack.last() {
            if node.next >= node.end {
                self.leave();
                continue;
            }
            let agent = self.agents[node.first + node.next as usize];
            let steps = if self.one_too_many(agent) {
                self.skip(agent);
                1
            } else {
                self.step(agent)
            };
            patience = patience.saturating_sub(steps);
            if patience == 0 && (self.keep.due)() {
                self.save();
            }
            if patience == 0 && self.book.is_wanted() {
                self.share();
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
        let done = self.pause();
        self.space.progress.bytes = done.bytes;
        // A table that grows is there twice for a moment.
        let next = (self.book.grows(PATIENCE) + self.walk.grows(PATIENCE)) as u64;
        let memory = self.options.max_bytes.filter(|cap| done.bytes + next > *cap);
        let steps = self.options.max_steps.filter(|most| done.executed > *most);
        let Done { transitions, states, bytes, .. } = done;
        let all = Progress { transitions, states, ..self.space.progress };
        memory
            .map(|cap| LimitKind::Search { cap, taken: bytes })
            .or(steps.map(LimitKind::Steps))
            .or_else(|| (self.options.poll)(&all))
    }

    /// The number of the state that the walk stands in, with what of the way to it belongs to it.
    pub fn number(&self, before: Before) -> u128 {
        self.numbered(self.walk.key(), before)
    }

    /// The number of the state with a number of the walk's.
    pub fn numbered(&self, key: u128, before: Before) -> u128 {
        numbered(key, (self.options.preemptions.is_some(), self.options.stepped), before)
    }

    /// Goes on from the state that the walk stands in.
    pub fn enter(&mut self, state: u32, by: Option<Move>, before: Before) {
        self.space.progress.deepest = self.space.progress.deepest.max(self.stack.len() as u64);
        self.push(state, by, before);
        if self.stack.last().is_some_and(|n| n.count == 0) {
            self.space.progress.schedules += 1;
            let stands = self.walk.state();
            match stands.reached() {
                Reached::End => {
                    let outcome = (self.outcome)(stands);
                    self.end(state, outcome);
                }
                Reached::Stuck(stop) => self.find(stop, Place::State(state), None),
            }
        }
    }

    /// A run came to its end.
    fn end(&mut self, state: u32, outcome: O) {
        let at = if let Some((at, _, known)) = self.space.outcomes.get_full_mut(&outcome) {
            known.count += 1;
            at
        } else {
            let path = self.path(None);
            self.space.outcomes.insert_full(outcome, Reaches { count: 1, path }).0
        };
        if !B::ALONE {
            self.ends.push((state, at));
        }
    }

    /// The state that the walk stands in comes onto the stack.
    pub fn push(&mut self, state: u32, by: Option<Move>, before: Before) {
        let first = self.agents.len();
        self.walk.agents(&mut self.agents);
        self.ahead.moved(self.agents.len());
        let roles = self.walk.roles();
        if let Some(roles) = &roles {
            self.book.roles(state, roles);
        }
        let has = before != Before::default() || roles.is_some();
        let extra = has.then(|| Box::new(Extra { before, roles, ..Extra::default() }));
        let (mark, count) = (self.walk.mark(), index(self.agents.len() - first));
        self.stack.push(Node { state, by, mark, first, count, next: 0, end: count, nth: 0, extra });
    }

    fn leave(&mut self) {
        let Some(node) = self.stack.pop() else { return };
        self.agents.truncate(node.first);
        self.ahead.moved(node.first);
    }

    /// The steps on the way, and one more.
    fn path(&self, last: Option<Move>) -> Vec<Move> {
        self.base.iter().copied().chain(self.stack.iter().filter_map(|n| n.by)).chain(last).collect()
    }

    /// A run stops: in a state, or by a step from the last one.
    fn find(&mut self, stop: Stop, place: Place, by: Option<Move>) {
        let identity = stop.identity();
        let new = !self.told.contains(&identity);
        if new {
            self.told.insert(identity.clone());
            let path = self.path(by);
            self.space.found.push(Found { stop, path });
        }
        if !B::ALONE {
            self.stops.push((place, identity));
        }
    }

    /// An agent that could step and does not: that it could is noted, for fairness.
    fn skip(&mut self, agent: Agent) {
        let Some(node) = self.stack.last() else { return };
        let unit = self.unit(node.roles(), &agent);
        self.book.edge(node.state, unit, node.next as usize, 0, NONE);
        if let Some(node) = self.stack.last_mut() {
            node.next += 1;
        }
    }

    /// A step of an agent, and on from where it leads; or steps of it and those behind it that need not be made. Gives how many.
    fn step(&mut self, agent: Agent) -> u64 {
        match self.ahead() {
            0 => {
                self.make(agent);
                1
            }
            seen => self.skim(seen),
        }
    }

    /// Steps of so many agents that lead to states that were seen before, and are not made. Gives how many a limit let through.
    fn skim(&mut self, seen: usize) -> u64 {
        let Some(&Node { state, first, next, .. }) = self.stack.last() else { return 1 };
        let from = first + next as usize;
        let mut steps = 0;
        for at in from..from + seen {
            let Some((to, used)) = self.ahead.steps[at] else { break };
            let unit = Unit::of(&self.agents[at], self.options.warps);
            self.book.edge(state, unit, at - first, 0, to);
            steps += 1;
            self.execute(used);
            if self.space.limit.is_some() {
                break;
            }
        }
        if let Some(node) = self.stack.last_mut() {
            node.next += index(steps);
        }
        self.space.progress.transitions += steps as u64;
        steps as u64
    }

    /// So many instructions more were executed.
    fn execute(&mut self, used: u32) {
        self.executed += u64::from(used);
        if let Some(most) = self.options.max_steps.filter(|most| self.executed > *most) {
            self.space.limit = Some(LimitKind::Steps(most));
        }
    }

    /// Makes a step of an agent.
    fn make(&mut self, agent: Agent) {
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
                let edge = self.book.edge(state, unit, at, nth, NONE);
                self.space.progress.schedules += 1;
                self.find(stop, Place::Step(state, edge), Some(this));
                self.next(odometer);
                return;
            }
        };
        self.execute(used);
        let before = self.before(agent);
        // Who spins leads nowhere else, which needs no look-up.
        let stays = self.stack.last().is_some_and(|n| n.mark == self.walk.mark() && n.before() == before);
        let number = if stays && !self.options.audit { None } else { Some(self.number(before)) };
        let (to, new) = number.map_or((state, false), |number| self.book.state(number));
        if new && self.options.stepped {
            self.book.set_stepped(to, before.stepped);
        }
        let edge = self.book.edge(state, unit, at, nth, to);
        if new {
            self.book.reached(to, state, edge);
        }
        self.follow(edge);
        self.space.progress.states = self.book.own();
        if self.book.states() > self.most {
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
        self.book.follow(edge, before, after.as_ref());
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
}
