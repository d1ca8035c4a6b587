//! What a proof is asked for and comes to.

use super::progress::Progress;
use super::record::Recorded;
use super::space::{Cycle, Fairness, Graph, Move, Options, Progress as Counts};
use super::symmetry::Symmetry;
use super::watched::watches;
use crate::base::mutant::{Mutant, on};
use crate::machine::Context;
use crate::machine::walk::{Grain, Growth};
use crate::verdict::{Class, LimitKind, Standing, Stop};

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

impl Prove {
    /// How a search goes that is asked for: agents that are alike are told apart where its states say who they are, blocks where
    /// the scheduler looks at their numbers; and why, where none are exchanged.
    #[must_use]
    pub fn settled(self, options: &Options<'_>, context: &Context) -> (Self, Symmetry) {
        let Grain::Alike { blocks } = self.grain else { return (self, Symmetry::Off) };
        let apart = Self { grain: Grain::Visible, ..self };
        if options.races.is_some() && watches(context) {
            return (apart, Symmetry::Races);
        }
        if options.preemptions.is_some() {
            return (apart, Symmetry::Preemptions);
        }
        let anybody = matches!(self.progress, Progress::Fair | Progress::Unfair) || on(Mutant::AlikeProgress);
        (Self { grain: Grain::Alike { blocks: blocks && anybody }, ..self }, Symmetry::Off)
    }
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

/// A run that never ends.
pub struct Endless {
    /// The states that it goes through.
    pub cycle: Cycle,
    /// How many cycles there are of this kind: the same instructions with the same lanes held in the same way. Only the
    /// first is told.
    pub times: u64,
    /// What it is called. `None`: the search that would tell reached its limit.
    pub class: Option<Class>,
    /// Why it never ends: a [`StuckKind::Endless`](crate::verdict::StuckKind::Endless) about the cycle.
    pub stop: Stop,
    /// A run to the cycle, and on by the fair schedule, which may leave it.
    pub shown: Shown,
}

/// What a search found and no run shows, because a bound was reached first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Unshown {
    /// Contents of memory of runs that came to their ends: whether they are as expected is not known.
    pub outcomes: u64,
    /// Defects that stop a run.
    pub defects: Vec<Stop>,
    /// Kinds of runs that never end.
    pub endless: u64,
}

/// A smaller question that was answered: the same program with fewer threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Smaller {
    /// Blocks of each launch at most.
    pub blocks: u32,
    /// Threads of each block at most.
    pub threads: u32,
    /// Whether every run ends without a defect. What so few threads leave in memory is compared with nothing.
    pub holds: bool,
    /// States that were gone through.
    pub states: u64,
}

impl Proof {
    /// Nothing is found yet.
    pub(super) fn new(counts: Counts, limit: Option<LimitKind>, standing: Vec<Standing>) -> Self {
        Self {
            proved: Proved::Holds,
            outcomes: Vec::new(),
            defects: Vec::new(),
            endless: Vec::new(),
            unshown: Unshown::default(),
            limit,
            standing,
            counts,
            graph: Graph::default(),
            symmetry: Symmetry::Off,
            growth: Growth::default(),
            smaller: None,
        }
    }

    /// Something is left out because of a limit: nothing is proved then.
    pub(super) fn leave_out(&mut self, limit: LimitKind) -> &mut Unshown {
        self.limit.get_or_insert(limit);
        &mut self.unshown
    }

    /// One more defect, if it is not among them.
    pub(super) fn defect(&mut self, shown: Shown) {
        let identity = |shown: &Shown| shown.stop().map(Stop::identity);
        if !self.defects.iter().any(|d| identity(d) == identity(&shown)) {
            self.defects.push(shown);
        }
    }

    /// All that is shown by runs: defects, outcomes, runs that never end; and whether it is a defect.
    pub fn shown(&self) -> impl Iterator<Item = (&Shown, bool)> {
        let ended = self.defects.iter().chain(&self.outcomes);
        let ended = ended.map(|shown| (shown, shown.recorded.played.ending.is_defect()));
        ended.chain(self.endless.iter().map(|endless| (&endless.shown, true)))
    }
}

impl Endless {
    /// Whether the run that shows it never ends either. Where every fair run can leave the cycle, the default schedule may.
    #[must_use]
    pub const fn stays(&self) -> bool {
        matches!(self.shown.stop(), Some(Stop::Stuck(_)))
    }
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

impl Shown {
    /// Whether a check stopped the run, which a search does without.
    pub(super) fn objected(&self) -> bool {
        matches!(self.stop(), Some(Stop::Bug(bug)) if bug.kind.needs_check())
    }

    /// What stopped the run, if something did.
    pub(super) const fn stop(&self) -> Option<&Stop> {
        self.recorded.played.ending.stop()
    }
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
    /// What was found besides, and could not be shown within the bounds.
    pub unshown: Unshown,
    /// Why the search ended early, also when something was found by then.
    pub limit: Option<LimitKind>,
    /// Where the warps were in the last state of a search that ended early.
    pub standing: Vec<Standing>,
    /// Counts.
    pub counts: Counts,
    /// The states and steps.
    pub graph: Graph,
    /// Which agents were not told apart.
    pub symmetry: Symmetry,
    /// Which part of the states grew, where a limit ended the search.
    pub growth: Growth,
    /// A smaller question that was answered, where a limit ended the search before anything was found.
    pub smaller: Option<Smaller>,
}
