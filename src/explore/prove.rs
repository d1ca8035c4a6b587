//! Proving and refuting: what all schedules of a target come to.

use super::checkpoint::CheckpointError;
use super::progress::Progress;
use super::record::{Limits, Recorded};
use super::retrace::{Follow, Script, follow};
use super::space::{
    Cycle, Fairness, Graph, Move, Options, Progress as Counts, Rest, Space, Unfit, explore, freeze, go_on, thaw,
};
use super::target::{Ending, Target};
use crate::check::Observers;
use crate::choice::Recorder;
use crate::machine::walk::{Grain, Walk};
use crate::machine::{ControlModel, MemoryModel};
use crate::program::instr::Op;
use crate::verdict::{LimitKind, Stop};

/// States of the search that decides what a run without end is called.
const FREED: u64 = 200_000;

/// How to prove.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prove {
    /// Whom the scheduler promises progress.
    pub progress: Progress,
    /// How it keeps its promise.
    pub fairness: Fairness,
    /// Whether steps that nobody else notices are steps of their own.
    pub grain: Grain,
}

/// What all schedules come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proved {
    /// All end, and as they should.
    Holds,
    /// Some do not.
    Refuted,
    /// A limit was reached before anything was found.
    Limit(LimitKind),
}

/// What a run that never ends is called (`semantics.md`, section 5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// Were the inactive lanes of the warps free to go on, every fair run would leave the cycle.
    SimtDeadlock,
    /// Were all blocks issued, every fair run would leave the cycle.
    Starvation,
    /// Some warps run in the cycle, others wait at a barrier.
    Mixed,
    /// None of these.
    Livelock,
}

/// A run that never ends.
pub struct Endless {
    /// The states that it goes through.
    pub cycle: Cycle,
    /// What it is called. `None`: the search that would tell reached its limit.
    pub class: Option<Class>,
    /// A run to the cycle, and on by the fair schedule, which may leave it.
    pub shown: Shown,
}

/// Something that was found, shown by an ordinary run.
pub struct Shown {
    /// In how many states it was found.
    pub count: u64,
    /// The steps of the search to the first of them.
    pub path: Vec<Move>,
    /// The run.
    pub recorded: Recorded,
}

/// What a search came to.
pub struct Proof {
    /// The verdict.
    pub proved: Proved,
    /// Runs that came to their ends, one for each content of the memory; those with other results than expected first.
    pub outcomes: Vec<Shown>,
    /// Defects that stop a run, one for each kind and place.
    pub defects: Vec<Shown>,
    /// Runs that never end.
    pub endless: Vec<Endless>,
    /// Why the search ended early, also when something was found by then.
    pub limit: Option<LimitKind>,
    /// Counts.
    pub counts: Counts,
    /// The states and steps.
    pub graph: Graph,
}

impl Target {
    /// Goes through all states of the target.
    ///
    /// # Errors
    /// [`Stop::Unsupported`] from the program's first need of what warpstep cannot do; a stop before anybody has a choice.
    pub fn prove(
        &self,
        how: Prove,
        options: &mut Options<'_>,
        observers: &dyn Fn() -> Observers,
    ) -> Result<Proof, Stop> {
        let mut walk = self.start().context().walk(self.launches(), how.grain)?;
        let env = self.program();
        options.stepped = how.progress.needs_stepped();
        let space = explore(&mut *walk, &env, options, &mut |walk| walk.memory_hash());
        self.judge(how, &mut *walk, space, observers)
    }

    /// The same, of a search that is kept: it goes on from what `kept` holds, if anything, and leaves there what it has done.
    /// Whole states ([`Options::audit`]) are not kept.
    ///
    /// # Errors
    /// As of [`Target::prove`]; `kept` is of another search.
    pub fn prove_on(
        &self,
        how: Prove,
        options: &mut Options<'_>,
        observers: &dyn Fn() -> Observers,
        kept: &mut Option<Vec<u8>>,
    ) -> Result<Result<Proof, Stop>, CheckpointError> {
        let mut walk = match self.start().context().walk(self.launches(), how.grain) {
            Ok(walk) => walk,
            Err(stop) => return Ok(Err(stop)),
        };
        let env = self.program();
        options.stepped = how.progress.needs_stepped();
        // What decides which states there are; by whom progress is promised is asked of the graph.
        let named = format!("{:?} stepped {} preemptions {:?}", how.grain, options.stepped, options.preemptions);
        let from = match kept {
            None => (Space::default(), Rest::default()),
            Some(bytes) => thaw(bytes, &named, &mut *walk).map_err(|unfit| match unfit {
                Unfit::Damaged => CheckpointError::Damaged,
                Unfit::Options => CheckpointError::OtherOptions,
            })?,
        };
        let mut left = None;
        let mut stopped = |space: &Space<u64>, rest: &Rest| left = Some(freeze(space, rest, named.clone()));
        let space = go_on(&mut *walk, &env, options, &mut |walk| walk.memory_hash(), from, &mut stopped);
        let space = space.ok_or(CheckpointError::Damaged)?;
        *kept = left;
        Ok(self.judge(how, &mut *walk, space, observers))
    }

    /// What a search found comes to.
    fn judge(
        &self,
        how: Prove,
        walk: &mut dyn Walk,
        space: Space<u64>,
        observers: &dyn Fn() -> Observers,
    ) -> Result<Proof, Stop> {
        let env = self.program();
        let mut proof = Proof {
            proved: Proved::Holds,
            outcomes: Vec::new(),
            defects: Vec::new(),
            endless: Vec::new(),
            limit: space.limit,
            counts: space.progress,
            graph: Graph::default(),
        };
        for (memory, reaches) in &space.outcomes {
            let recorded = self.retrace(walk, &reaches.path, observers());
            assert_eq!(recorded.played.device.memory_hash(), *memory, "the run that a search found is another one");
            proof.outcomes.push(Shown { count: reaches.count, path: reaches.path.clone(), recorded });
        }
        proof.outcomes.sort_by_key(|shown| !shown.recorded.played.ending.is_defect());
        for found in &space.found {
            match &found.stop {
                Stop::Unsupported(..) => return Err(found.stop.clone()),
                _ => {
                    let recorded = self.retrace(walk, &found.path, observers());
                    proof.defects.push(Shown { count: 1, path: found.path.clone(), recorded });
                }
            }
        }
        // A state is a clock's, too: where one is read, no cycle proves anything (D-clock).
        let clocks = env.code.iter().any(|i| matches!(i.op, Op::ReadSpecial(_)));
        let endless = if clocks { Vec::new() } else { how.progress.endless(&space.graph, how.fairness) };
        for cycle in endless {
            let path = cycle.states.first().map_or_else(Vec::new, |s| space.graph.path(*s));
            let class = class(walk, &path);
            let recorded = self.retrace(walk, &path, observers());
            proof.endless.push(Endless {
                class,
                shown: Shown { count: cycle.states.len() as u64, path, recorded },
                cycle,
            });
        }
        let unexpected = |s: &Shown| matches!(s.recorded.played.ending, Ending::Unexpected(..));
        let refuted = !proof.defects.is_empty() || !proof.endless.is_empty() || proof.outcomes.iter().any(unexpected);
        proof.proved = match space.limit.or_else(|| clocks.then_some(LimitKind::Clock)) {
            _ if refuted => Proved::Refuted,
            Some(limit) => Proved::Limit(limit),
            None => Proved::Holds,
        };
        proof.graph = space.graph;
        Ok(proof)
    }

    /// An ordinary run that goes the way of a search, and on by the fair schedule.
    fn retrace(&self, walk: &mut dyn Walk, path: &[Move], observers: Observers) -> Recorded {
        let script = Script::of(walk, path, self.control() == ControlModel::ItsSplit);
        let config = self.start().context().config();
        let warps: Vec<u32> =
            self.launches().iter().map(|l| l.block.iter().product::<u32>().div_ceil(config.warp_size)).collect();
        // Where memory acts on its own, it does after the last instruction, too: the path is left at the next one.
        let after = u64::from(config.memory != MemoryModel::Flat);
        let steps = (script.length() + after).max(1);
        let oracle = Follow::new(script, &warps);
        let mut recorder = Recorder::new(&oracle);
        // A path that ends a run does so within its length; one to a cycle is followed by the fair schedule.
        let limits = Limits { steps, fair_steps: Limits::of(steps).fair_steps };
        let told = self.observe(&mut recorder, limits, observers, &mut |who, event| oracle.event(who, event));
        let (played, trace, switches) = told;
        Recorded::new(played, recorder.schedule, trace, switches)
    }

    /// The control model that the target runs under.
    #[must_use]
    pub fn control(&self) -> ControlModel {
        let context = self.start().context();
        context.config().control.unwrap_or(ControlModel::of_target(context.env().target.sm))
    }
}

/// What a run is called that stays in a cycle; `path` leads to a state of it.
fn class(walk: &mut dyn Walk, path: &[Move]) -> Option<Class> {
    let start = walk.mark();
    follow(walk, path);
    let lanes = walk.lanes();
    let held = lanes.iter().any(|(.., lane)| lane.token.is_some());
    let waits = lanes.iter().any(|(.., lane)| lane.wait.is_some());
    let free = if held { walk.freed(false).ok() } else { None };
    let all = walk.freed(true).ok();
    walk.back(start);
    let mut unknown = false;
    let mut ends = |walk: Option<Box<dyn Walk>>| {
        let Some(mut walk) = walk else { return false };
        match fair_runs_end(&mut *walk) {
            Some(ends) => ends,
            None => {
                unknown = true;
                false
            }
        }
    };
    if ends(free) {
        return Some(Class::SimtDeadlock);
    }
    if ends(all) {
        return Some(if held { Class::SimtDeadlock } else { Class::Starvation });
    }
    match (unknown, waits) {
        (true, _) => None,
        (false, true) => Some(Class::Mixed),
        (false, false) => Some(Class::Livelock),
    }
}

/// Whether every fair run from a state ends. `None`: there are too many states to tell.
fn fair_runs_end(walk: &mut dyn Walk) -> Option<bool> {
    let mut poll = |_: &Counts| None;
    let mut options = Options { max_states: Some(FREED), ..Options::states(false, &mut poll) };
    let env = walk.program();
    let space: Space<()> = explore(walk, &env, &mut options, &mut |_| ());
    let endless = !Progress::Fair.endless(&space.graph, Fairness::Weak).is_empty();
    match space.limit {
        _ if endless => Some(false),
        Some(_) => None,
        None => Some(true),
    }
}
