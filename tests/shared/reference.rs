//! The reference of all searches: depth first over [`Walk`], with every instruction a step (`Grain::Instruction`). It listens to
//! each step, so that none is looked up (D-search-memo). It shares nothing with
//! `explore::space` but the walk: a state is the hash of all that it consists of, not its number; strongly connected parts are
//! petgraph's; who steps is counted lane by lane.
//!
//! [`Reference::remembers`] off, it keeps only the states of the schedule under way and goes through every schedule: then
//! equal states are not even merged.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use warpstep::explore::Odometer;
use warpstep::explore::space::{Fairness, Space, cycles_until};
use warpstep::machine::Tell;
use warpstep::machine::walk::{Agent, Mark, Reached, State, Walk};
use warpstep::memory::OperationName;
use warpstep::verdict::{Event, Stop, Who};
use xxhash_rust::xxh3::xxh3_128;

/// What a search found: outcomes, defects by kind and place, and whether a weakly fair run never ends (`None`: not asked).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found<O> {
    pub outcomes: BTreeSet<O>,
    pub defects: BTreeSet<String>,
    pub endless: Option<bool>,
}

impl<O: Ord + Clone> Found<O> {
    /// What our own search found; `None`: a limit ended it.
    pub fn of(space: &Space<O>) -> Option<Self> {
        assert_eq!(space.progress.collisions, 0, "equal numbers of different states");
        Some(Self {
            outcomes: space.outcomes.keys().cloned().collect(),
            defects: space.found.iter().map(|f| name(&f.stop)).collect(),
            endless: Some(!cycles_until(&space.graph, Fairness::Weak, &mut |_, _| (), &|| None).0.is_empty()),
        })
        .filter(|_| space.limit.is_none())
    }

    /// The same without what a search through schedules is not asked for.
    pub fn ends(self) -> Self {
        Self { endless: None, ..self }
    }
}

fn name(stop: &Stop) -> String {
    format!("{:?}", stop.identity())
}

/// Somebody who is promised progress: a lane of a warp, or an operation of memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Actor {
    Lane(u64, u32, u32),
    Operation(u64, u32, u32),
}

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// Whether a warp is scheduled as a whole (control model `crs`).
    pub warps: bool,
    /// Whether a state is gone on from only once; otherwise every schedule is gone through.
    pub remembers: bool,
    /// Steps at most.
    pub most: u64,
}

/// A state of the schedule under way.
struct Level {
    number: u128,
    node: NodeIndex,
    mark: Mark,
    agents: Vec<Agent>,
    next: usize,
    odometer: Odometer,
}

/// A search under way.
struct Run<'a, O> {
    how: Reference,
    walk: &'a mut dyn Walk,
    outcome: &'a mut dyn FnMut(&dyn State) -> O,
    seen: FxHashMap<u128, NodeIndex>,
    /// States with the agents that can step there; steps with who made them.
    graph: DiGraph<Vec<Agent>, Agent>,
    stack: Vec<Level>,
    outcomes: BTreeSet<O>,
    defects: BTreeSet<String>,
    steps: u64,
}

impl Reference {
    /// A search that goes on from each state once.
    pub const fn states(warps: bool, most: u64) -> Self {
        Self { warps, remembers: true, most }
    }

    /// One through every schedule.
    pub const fn schedules(warps: bool, most: u64) -> Self {
        Self { warps, remembers: false, most }
    }

    /// What it finds, and how many states it saw; `None`: it is larger than the bound. `outcome` says what a run that came to
    /// its end is counted as. The walk stands where it stood before, afterwards.
    pub fn search<O: Ord>(
        self,
        walk: &mut dyn Walk,
        outcome: &mut dyn FnMut(&dyn State) -> O,
    ) -> Option<(Found<O>, usize)> {
        let start = walk.mark();
        let (seen, stack, graph) = (FxHashMap::default(), Vec::new(), DiGraph::new());
        let (outcomes, defects) = (BTreeSet::new(), BTreeSet::new());
        let mut run = Run { how: self, walk, outcome, seen, graph, stack, outcomes, defects, steps: 0 };
        run.enter(None);
        while !run.stack.is_empty() && run.steps <= self.most {
            run.step();
        }
        run.walk.back(start);
        let endless = self.remembers.then(|| run.endless());
        let found = Found { outcomes: run.outcomes, defects: run.defects, endless };
        run.stack.is_empty().then(|| (found, run.graph.node_count()))
    }
}

impl<O: Ord> Run<'_, O> {
    /// The walk stands in a state that a step led to: goes on from it, unless the search has.
    fn enter(&mut self, by: Option<(NodeIndex, Agent)>) {
        let number = xxh3_128(&self.walk.whole());
        let before = self.seen.get(&number).copied();
        let node = before.unwrap_or_else(|| self.graph.add_node(Vec::new()));
        if let Some((from, agent)) = by.filter(|_| self.how.remembers) {
            self.graph.add_edge(from, node, agent);
        }
        if before.is_some() {
            return;
        }
        let mut agents = Vec::new();
        self.walk.agents(&mut agents);
        if agents.is_empty() {
            let state = self.walk.state();
            match state.reached() {
                Reached::End => drop(self.outcomes.insert((self.outcome)(state))),
                Reached::Stuck(stop) => drop(self.defects.insert(name(&stop))),
            }
        }
        self.seen.insert(number, node);
        self.graph[node].clone_from(&agents);
        let mark = self.walk.mark();
        self.stack.push(Level { number, node, mark, agents, next: 0, odometer: Odometer::new() });
    }

    /// The next step from the last state of the schedule, or back behind it.
    fn step(&mut self) {
        let Some(level) = self.stack.last_mut() else { return };
        let Some(&agent) = level.agents.get(level.next) else {
            if !self.how.remembers {
                self.seen.remove(&level.number);
            }
            self.stack.pop();
            return;
        };
        self.walk.back(level.mark);
        let mut ignore = |_: Who, _: Event<'_>| Ok(());
        let tell: Option<Tell<'_>> = Some(&mut ignore);
        let done = self.walk.advance(agent, &mut level.odometer, tell);
        self.steps += 1;
        if !level.odometer.advance() {
            (level.next, level.odometer) = (level.next + 1, Odometer::new());
        }
        let from = level.node;
        match done {
            Ok(_) => self.enter(Some((from, agent))),
            Err(Stop::Limit(limit)) => panic!("a step is limited: {limit:?}"),
            Err(stop) => drop(self.defects.insert(name(&stop))),
        }
    }

    /// Those of some agents who are promised progress.
    fn actors<'s>(&self, agents: impl Iterator<Item = &'s Agent>) -> BTreeSet<Actor> {
        let mut all = BTreeSet::new();
        for agent in agents {
            match *agent {
                Agent::Flow { block, warp, .. } if self.how.warps => drop(all.insert(Actor::Lane(block, warp, 0))),
                Agent::Flow { block, warp, flow, .. } => {
                    let lanes = (0..32).filter(|lane| flow.mask >> lane & 1 == 1);
                    all.extend(lanes.map(|lane| Actor::Lane(block, warp, lane)));
                }
                Agent::Micro(operation) => {
                    let OperationName { block, warp, place } = operation.name;
                    all.insert(Actor::Operation(block, warp, place));
                }
                Agent::Begin | Agent::Silent(_) => {}
            }
        }
        all
    }

    /// Whether a weakly fair run never ends: it stays in one strongly connected part, in which everybody who is promised
    /// progress steps or is now and then not able to. What holds of a smaller part of it holds of the whole.
    fn endless(&self) -> bool {
        kosaraju_scc(&self.graph).iter().any(|part| {
            let inside: BTreeSet<NodeIndex> = part.iter().copied().collect();
            let edges = part.iter().flat_map(|node| self.graph.edges(*node));
            let steps: Vec<&Agent> = edges.filter(|e| inside.contains(&e.target())).map(|e| e.weight()).collect();
            if steps.is_empty() {
                return false;
            }
            let stepped = self.actors(steps.into_iter());
            let mut waiting: Option<BTreeSet<Actor>> = None;
            for node in part {
                let here = self.actors(self.graph[*node].iter());
                waiting = Some(waiting.map_or_else(|| here.clone(), |before| &before & &here));
            }
            waiting.is_none_or(|waiting| waiting.is_subset(&stepped))
        })
    }
}
