//! Proving and refuting: what all schedules of a target come to.

use super::checkpoint::{CheckpointError, Kept, search_on};
use super::endless::rounds;
use super::proof::{Proof, Prove, Proved, Shown, Unshown};
use super::record::{Limits, Recorded};
use super::retrace::{Follow, Script};
use super::space::{Graph, Move, Options, Progress as Counts, Space, explore};
use super::target::{Ending, Target};
use crate::base::drop_beside;
use crate::check::{Liveness, Observers};
use crate::choice::{Fair, Recorder};
use crate::machine::walk::{Grain, Walk};
use crate::machine::{ControlModel, MemoryModel, Stopwatch};
use crate::verdict::{Event, LimitKind, Sink, Stack, Stop, Taken, Who};
use std::collections::BTreeSet;

impl Target {
    /// Goes through all states of the target.
    ///
    /// # Errors
    /// [`Stop::Unsupported`] from the program's first need of what warpstep cannot do; a launch that cannot be; a limit; an
    /// error of ours.
    pub fn prove(
        &self,
        how: Prove,
        options: &mut Options<'_>,
        observers: &dyn Fn() -> Observers,
    ) -> Result<Proof, Stop> {
        let mut walk = match self.start().context().walk(self.launches(), how.grain) {
            Err(Stop::Bug(_) | Stop::Stuck(_)) => return Ok(self.at_once(observers())),
            walk => walk?,
        };
        options.stepped = how.progress.needs_stepped();
        let space = explore(&mut *walk, options, &mut |walk| walk.memory_hash());
        let proof = self.judge(how, &mut *walk, space, observers);
        drop_beside(walk);
        proof
    }

    /// The same, of a search that is kept: it goes on from what `kept` holds, if anything, and keeps there what it does.
    /// Whole states ([`Options::audit`]) are not kept.
    ///
    /// # Errors
    /// As of [`Target::prove`]; `kept` is of another search.
    pub fn prove_on(
        &self,
        how: Prove,
        options: &mut Options<'_>,
        observers: &dyn Fn() -> Observers,
        kept: &mut Kept<'_>,
    ) -> Result<Result<Proof, Stop>, CheckpointError> {
        let mut walk = match self.start().context().walk(self.launches(), how.grain) {
            Ok(walk) => walk,
            Err(Stop::Bug(_) | Stop::Stuck(_)) => return Ok(Ok(self.at_once(observers()))),
            Err(stop) => return Ok(Err(stop)),
        };
        options.stepped = how.progress.needs_stepped();
        let space = search_on(&mut *walk, how.grain, options, &mut |walk| walk.memory_hash(), kept)?;
        let proof = self.judge(how, &mut *walk, space, observers);
        drop_beside(walk);
        match proof {
            // No run goes the way of a step that the program does not make.
            Err(stop) if kept.before.is_some() && stop == not_shown() => Err(CheckpointError::Damaged),
            proof => Ok(proof),
        }
    }

    /// What a search found comes to.
    fn judge(
        &self,
        how: Prove,
        walk: &mut dyn Walk,
        space: Space<u64>,
        observers: &dyn Fn() -> Observers,
    ) -> Result<Proof, Stop> {
        let bounds = self.bounds();
        bounds.show();
        let mut proof = Proof {
            proved: Proved::Holds,
            outcomes: Vec::new(),
            defects: Vec::new(),
            endless: Vec::new(),
            unshown: Unshown::default(),
            limit: space.limit,
            standing: space.standing,
            counts: space.progress,
            graph: Graph::default(),
        };
        for found in &space.found {
            if found.stop.is_ours() || matches!(found.stop, Stop::Unsupported(..)) {
                return Err(found.stop.clone());
            }
            let Retraced { recorded, .. } = match self.retrace(how.grain, walk, &found.path, observers()) {
                Ok(retraced) => retraced,
                Err(Stop::Limit(limit)) => {
                    proof.leave_out(limit).defects.push(found.stop.clone());
                    continue;
                }
                Err(stop) => return Err(stop),
            };
            let shown = Shown { count: 1, path: found.path.clone(), recorded };
            let identity = shown.identity();
            if identity != Some(found.stop.identity()) && !shown.objected() {
                return Err(not_shown());
            }
            proof.defect(shown);
        }
        let clocks = self.judge_cycles(how, walk, &space.graph, observers, &mut proof)?;
        for (memory, reaches) in &space.outcomes {
            let Retraced { recorded, .. } = match self.retrace(how.grain, walk, &reaches.path, observers()) {
                Ok(retraced) => retraced,
                Err(Stop::Limit(limit)) => {
                    proof.leave_out(limit).outcomes += 1;
                    continue;
                }
                Err(stop) => return Err(stop),
            };
            let shown = Shown { count: reaches.count, path: reaches.path.clone(), recorded };
            if shown.objected() {
                // A check stopped the run on its way: that it gets no further is no wonder.
                proof.defect(shown);
                continue;
            }
            if shown.recorded.played.device.memory_hash() != *memory {
                return Err(not_shown());
            }
            proof.outcomes.push(shown);
        }
        let ours = |shown: &Shown| match &shown.recorded.played.ending {
            Ending::Stopped(stop) if stop.is_ours() => Some(stop.clone()),
            _ => None,
        };
        if let Some(stop) = proof.shown().find_map(|(shown, _)| ours(shown)) {
            return Err(stop);
        }
        proof.outcomes.sort_by_key(|shown| !shown.recorded.played.ending.is_defect());
        let unexpected = |s: &Shown| matches!(s.recorded.played.ending, Ending::Unexpected(..));
        let defects = !proof.defects.is_empty() || !proof.unshown.defects.is_empty();
        let endless = !proof.endless.is_empty() || proof.unshown.endless > 0;
        let refuted = defects || endless || proof.outcomes.iter().any(unexpected);
        proof.proved = match proof.limit.or_else(|| clocks.then_some(LimitKind::Clock)) {
            _ if refuted => Proved::Refuted,
            Some(limit) => Proved::Limit(limit),
            None => Proved::Holds,
        };
        proof.graph = space.graph;
        Ok(proof)
    }

    /// Shows runs that never end. Tells whether none are looked for: a state is a clock's, too, and where one is read, no
    /// cycle proves anything (D-clock).
    fn judge_cycles(
        &self,
        how: Prove,
        walk: &mut dyn Walk,
        graph: &Graph,
        observers: &dyn Fn() -> Observers,
        proof: &mut Proof,
    ) -> Result<bool, Stop> {
        if self.program().reads_clocks() {
            return Ok(true);
        }
        let bounds = self.bounds();
        // Of a search that has ended before its end, half of the time that is left is for showing what is found.
        let left = proof.limit.and(bounds.until_the_end());
        let half = Stopwatch::start(left.map(|left| left / 2));
        let up = || half.up().or_else(|| bounds.up());
        let (cycles, cut) = how.progress.endless_until(graph, how.fairness, &up);
        let none = cycles.is_empty();
        let (rounds, limit) = rounds(walk, graph, cycles, bounds);
        if let Some(limit) = limit.or(cut) {
            // One that is not even looked at is one all the same.
            proof.leave_out(limit).endless += u64::from(!none && rounds.is_empty());
        }
        for found in rounds {
            let Retraced { recorded, before, followed } = match self.retrace(how.grain, walk, &found.path, observers())
            {
                Ok(retraced) => retraced,
                Err(Stop::Limit(limit)) => {
                    proof.leave_out(limit).endless += 1;
                    continue;
                }
                Err(stop) => return Err(stop),
            };
            if !followed {
                let shown = Shown { count: 1, path: found.path, recorded };
                if !shown.objected() {
                    return Err(not_shown());
                }
                proof.defect(shown);
                continue;
            }
            proof.endless.push(self.endless(walk, found, (recorded, before)));
        }
        Ok(false)
    }

    /// What a search comes to that ends before anybody has a choice: at a defect that every run shows.
    fn at_once(&self, observers: Observers) -> Proof {
        let recorded = self.record(Fair, Limits::of(0), observers);
        let counts = Counts { states: 1, ..Counts::default() };
        let defects = vec![Shown { count: 1, path: Vec::new(), recorded }];
        let (outcomes, endless, graph) = (Vec::new(), Vec::new(), Graph::default());
        let (unshown, standing) = (Unshown::default(), Vec::new());
        Proof { proved: Proved::Refuted, outcomes, defects, endless, unshown, limit: None, standing, counts, graph }
    }

    /// An ordinary run that goes the way of a search, and on by the fair schedule.
    ///
    /// # Errors
    /// A bound was reached before it had come to its end.
    fn retrace(
        &self,
        grain: Grain,
        walk: &mut dyn Walk,
        path: &[Move],
        observers: Observers,
    ) -> Result<Retraced, Stop> {
        let bounds = self.bounds();
        if let Some(limit) = bounds.up() {
            return Err(Stop::Limit(limit));
        }
        let mut fresh = self.start().context().walk(self.launches(), grain)?;
        let script = Script::of(walk, &mut *fresh, path, self.control() == ControlModel::ItsSplit, bounds);
        let script = script.map_err(Stop::Limit)?;
        // Where memory acts on its own, it does after the last instruction, too: the path is left at the next one.
        let after = u64::from(self.start().context().config().memory != MemoryModel::Flat);
        let length = script.length();
        let steps = (length + after).max(1);
        let oracle = Follow::new(script);
        let mut recorder = Recorder::new(&oracle);
        // A path that ends a run does so within its length; one to a cycle is followed by the fair schedule.
        let limits = Limits { steps, fair_steps: Limits::of(steps).fair_steps };
        let mut stacks = Stacks { left: length, tokens: Liveness::new(), over: BTreeSet::new() };
        let told = self.observe(&mut recorder, limits, observers, &mut |who, event| {
            stacks.event(who, event);
            oracle.event(who, event);
        });
        let (played, trace, switches) = told;
        let followed = oracle.followed();
        match played.ending {
            Ending::Stopped(Stop::Limit(LimitKind::Steps(_))) => {}
            Ending::Stopped(Stop::Limit(limit)) => return Err(Stop::Limit(limit)),
            _ => {}
        }
        let recorded = Recorded::new(played, recorder.schedule, trace, switches);
        Ok(Retraced { recorded, before: (stacks.tokens.stacks(), stacks.tokens.taken()), followed })
    }

    /// The control model that the target runs under.
    #[must_use]
    pub fn control(&self) -> ControlModel {
        let context = self.start().context();
        context.config().control.unwrap_or(ControlModel::of_target(context.env().target.sm))
    }
}

/// What a run came to that was to go the way of a search.
struct Retraced {
    recorded: Recorded,
    /// The token stacks at the end of the way, and the atomic operations on the way to it.
    before: (Vec<Stack>, Vec<Taken>),
    /// Whether it went that way.
    followed: bool,
}

/// No ordinary run shows what a search found: nothing may be said then, least of all `holds`.
fn not_shown() -> Stop {
    Stop::internal("no ordinary run shows what the search found", None)
}

/// The token stacks at the end of a way.
struct Stacks {
    /// Steps of the way that are left.
    left: u64,
    tokens: Liveness,
    /// The warps that have gone on behind the end.
    over: BTreeSet<(u32, u64, u32)>,
}

impl Stacks {
    /// A step is told before it is taken: what the last one of a warp did is seen when the warp goes on.
    fn event(&mut self, who: Who, event: &Event<'_>) {
        let step = matches!(event, Event::Step(_));
        let warp = (who.launch, who.block, who.warp);
        let late = self.left == 0 && step && !self.over.insert(warp);
        let behind = self.left == 0 && matches!(event, Event::Access(_)) && self.over.contains(&warp);
        if !late && !behind && !matches!(event, Event::Remembered | Event::Repeated) {
            // Nothing is objected to but repeated states.
            let _ = self.tokens.event(who, *event);
        }
        self.left -= u64::from(step && self.left > 0);
    }
}
