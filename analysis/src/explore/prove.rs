//! Proving and refuting: what all schedules of a target come to.

use super::checkpoint::{CheckpointError, Kept, search_on};
use super::endless::rounds;
use super::proof::{Proof, Prove, Proved, Shown, Unshown};
use super::record::{Limits, Recorded};
use super::retrace::{Follow, Script};
use super::space::{Found, Graph, Move, Options, Progress as Counts, Reaches, Space, explore, explore_together};
use super::symmetry::Symmetry;
use super::target::{Ending, Target};
use super::watched::{grain, walk};
use crate::base::{drop_beside, sort};
use crate::check::{Liveness, Observers, RacesOptions};
use crate::choice::{Fair, Recorder};
use crate::machine::walk::Walk;
use crate::machine::{Context, ControlModel, MemoryModel, Stopwatch};
use crate::verdict::{Event, LimitKind, Sink, Stack, Stop, Taken, Who};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// Whether several threads share a search (D-threads): not with remote-scope promotion or in lockstep, where how many steps a state
/// has was seen to depend on where a search came from.
#[must_use]
pub fn threads_share(context: &Context) -> bool {
    matches!(context.config().memory, MemoryModel::Flat | MemoryModel::Split | MemoryModel::Fermi(..))
}

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
        let (how, symmetry) = how.settled(options, self.start().context());
        let mut walk = match walk(self.start().context(), self.launches(), how.grain, options.races) {
            Err(Stop::Bug(_) | Stop::Stuck(_)) => return Ok(self.at_once(observers())),
            walk => walk?,
        };
        options.stepped = how.progress.needs_stepped();
        let space = if options.threads > 1 && !options.audit && threads_share(self.start().context()) {
            let more = (1..options.threads)
                .map(|_| self::walk(self.start().context(), self.launches(), how.grain, options.races));
            let mut walks = std::iter::once(Ok(walk)).chain(more).collect::<Result<Vec<_>, Stop>>()?;
            let space = explore_together(&mut walks, options, &|walk| walk.memory_hash(), self.bounds());
            walk = walks.swap_remove(0);
            drop_beside(walks);
            space
        } else {
            explore(&mut *walk, options, &mut |walk| walk.memory_hash())
        };
        let proof = self.judge((how, options.races, symmetry), &mut *walk, observers, space);
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
        let (how, symmetry) = how.settled(options, self.start().context());
        let mut walk = match walk(self.start().context(), self.launches(), how.grain, options.races) {
            Ok(walk) => walk,
            Err(Stop::Bug(_) | Stop::Stuck(_)) => return Ok(Ok(self.at_once(observers()))),
            Err(stop) => return Ok(Err(stop)),
        };
        options.stepped = how.progress.needs_stepped();
        let space = search_on(&mut *walk, how.grain, options, &mut |walk| walk.memory_hash(), kept)?;
        let proof = self.judge((how, options.races, symmetry), &mut *walk, observers, space);
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
        (how, races, symmetry): (Prove, Option<RacesOptions>, Symmetry),
        walk: &mut dyn Walk,
        observers: &dyn Fn() -> Observers,
        space: Space<u64>,
    ) -> Result<Proof, Stop> {
        let symmetry = symmetry.of(walk);
        let growth = space.growth;
        let proof = Proof { symmetry, growth, ..Proof::new(space.progress, space.limit, space.standing) };
        let judge = Judge { target: self, how, races, walk, observers, proof };
        judge.all(space.found, space.outcomes, space.graph)
    }

    /// What a search comes to that ends before anybody has a choice: at a defect that every run shows.
    fn at_once(&self, observers: Observers) -> Proof {
        let recorded = self.record(Fair, Limits::of(0), observers);
        let counts = Counts { states: 1, ..Counts::default() };
        let defects = vec![Shown { count: 1, path: Vec::new(), recorded }];
        Proof { proved: Proved::Refuted, defects, ..Proof::new(counts, None, Vec::new()) }
    }

    /// The control model that the target runs under.
    #[must_use]
    pub fn control(&self) -> ControlModel {
        let context = self.start().context();
        context.config().control.unwrap_or(ControlModel::of_target(context.env().target.sm))
    }
}

/// What a search found, while runs are made that show it.
struct Judge<'a> {
    target: &'a Target,
    how: Prove,
    races: Option<RacesOptions>,
    walk: &'a mut dyn Walk,
    observers: &'a dyn Fn() -> Observers,
    proof: Proof,
}

impl Judge<'_> {
    /// Shows all that was found, and says what it comes to.
    fn all(mut self, found: Vec<Found>, outcomes: IndexMap<u64, Reaches>, graph: Graph) -> Result<Proof, Stop> {
        self.target.bounds().show();
        for Found { stop, path } in found {
            if stop.is_ours() || matches!(stop, Stop::Unsupported(..)) {
                return Err(stop);
            }
            let identity = stop.identity();
            let left_out = |unshown: &mut Unshown| unshown.defects.push(stop);
            let Some(Retraced { recorded, .. }) = self.show(&path, left_out)? else { continue };
            let shown = Shown { count: 1, path, recorded };
            let same = shown.stop().map(Stop::identity) == Some(identity);
            self.defect(shown, same)?;
        }
        let clocks = self.cycles(&graph)?;
        for (memory, Reaches { count, path }) in outcomes {
            let left_out = |unshown: &mut Unshown| unshown.outcomes += 1;
            let Some(Retraced { recorded, .. }) = self.show(&path, left_out)? else { continue };
            let shown = Shown { count, path, recorded };
            if !shown.objected() && shown.recorded.played.device.memory_hash() == memory {
                self.proof.outcomes.push(shown);
            } else {
                self.defect(shown, false)?;
            }
        }
        let mut proof = self.proof;
        if let Some(stop) = proof.shown().filter_map(|(shown, _)| shown.stop()).find(|stop| stop.is_ours()) {
            return Err(stop.clone());
        }
        sort::sort_by_key(&mut proof.outcomes, |shown| !shown.recorded.played.ending.is_defect());
        let unexpected = |s: &Shown| matches!(s.recorded.played.ending, Ending::Unexpected(..));
        let defects = !proof.defects.is_empty() || !proof.unshown.defects.is_empty();
        let endless = !proof.endless.is_empty() || proof.unshown.endless > 0;
        let refuted = defects || endless || proof.outcomes.iter().any(unexpected);
        proof.proved = match proof.limit.or_else(|| clocks.then_some(LimitKind::Clock)) {
            _ if refuted => Proved::Refuted,
            Some(limit) => Proved::Limit(limit),
            None => Proved::Holds,
        };
        proof.graph = graph;
        Ok(proof)
    }

    /// Shows runs that never end. Tells whether none are looked for: a state is a clock's, too, and where one is read, no
    /// cycle proves anything (D-clock).
    fn cycles(&mut self, graph: &Graph) -> Result<bool, Stop> {
        if self.target.program().reads_clocks() {
            return Ok(true);
        }
        let bounds = self.target.bounds();
        // Of a search that has ended before its end, half of the time that is left is for showing what is found.
        let left = self.proof.limit.and(bounds.until_the_end());
        let half = Stopwatch::start(left.map(|left| left / 2));
        let up = || half.up().or_else(|| bounds.up());
        let (cycles, cut) = self.how.progress.endless_until(graph, self.how.fairness, &up);
        let none = cycles.is_empty();
        let (rounds, limit) = rounds(self.walk, graph, cycles, bounds);
        if let Some(limit) = limit.or(cut) {
            // One that is not even looked at is one all the same.
            self.proof.leave_out(limit).endless += u64::from(!none && rounds.is_empty());
        }
        for found in rounds {
            let left_out = |unshown: &mut Unshown| unshown.endless += 1;
            let Some(Retraced { recorded, before, followed }) = self.show(&found.path, left_out)? else { continue };
            if followed {
                self.proof.endless.push(self.target.endless(self.walk, found, (recorded, before)));
            } else {
                self.defect(Shown { count: 1, path: found.path, recorded }, false)?;
            }
        }
        Ok(false)
    }

    /// A run that a defect stopped: the `same` as the search found, or a check's on the way there, so that it is no wonder that
    /// the run gets no further. Any other run does not show what the search found.
    fn defect(&mut self, shown: Shown, same: bool) -> Result<(), Stop> {
        if !same && !shown.objected() {
            return Err(not_shown());
        }
        self.proof.defect(shown);
        Ok(())
    }

    /// An ordinary run that goes the way of a search. `None`: a bound was reached before its end, and `left_out` has taken
    /// note of what is not shown.
    fn show(&mut self, path: &[Move], left_out: impl FnOnce(&mut Unshown)) -> Result<Option<Retraced>, Stop> {
        match self.retrace(path) {
            Err(Stop::Limit(limit)) => {
                left_out(self.proof.leave_out(limit));
                Ok(None)
            }
            retraced => retraced.map(Some),
        }
    }

    /// An ordinary run that goes the way of a search, and on by the fair schedule.
    ///
    /// # Errors
    /// A bound was reached before it had come to its end.
    fn retrace(&mut self, path: &[Move]) -> Result<Retraced, Stop> {
        let (target, bounds) = (self.target, self.target.bounds());
        if let Some(limit) = bounds.up() {
            return Err(Stop::Limit(limit));
        }
        let grain = grain(target.start().context(), self.how.grain, self.races);
        let mut fresh = target.start().context().walk(target.launches(), grain)?;
        let split = target.control() == ControlModel::ItsSplit;
        let script = Script::of(self.walk, &mut *fresh, path, split, bounds).map_err(Stop::Limit)?;
        // Where memory acts on its own, it does after the last instruction, too: the path is left at the next one.
        let after = u64::from(target.start().context().config().memory != MemoryModel::Flat);
        let length = script.length();
        let steps = (length + after).max(1);
        let oracle = Follow::new(script);
        let mut recorder = Recorder::new(&oracle);
        // A path that ends a run does so within its length; one to a cycle is followed by the fair schedule.
        let limits = Limits { steps, fair_steps: Limits::of(steps).fair_steps };
        let mut stacks = Stacks { left: length, tokens: Liveness::new(), over: BTreeSet::new() };
        let told = target.observe(&mut recorder, limits, (self.observers)(), &mut |who, event| {
            stacks.event(who, event);
            oracle.event(who, event);
        });
        let (played, trace, switches) = told;
        let followed = oracle.followed();
        if let Ending::Stopped(Stop::Limit(limit)) = played.ending
            && !matches!(limit, LimitKind::Steps(_))
        {
            return Err(Stop::Limit(limit));
        }
        let recorded = Recorded::new(played, recorder.schedule, trace, switches);
        Ok(Retraced { recorded, before: (stacks.tokens.stacks(), stacks.tokens.taken()), followed })
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
