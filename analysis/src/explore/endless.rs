//! Runs that never end, from where they are found to what is told of them: cycles of a search's graph, and runs whose
//! state repeats.

use super::circle::Circle;
use super::explain::{explain, stop};
use super::proof::{Endless, Prove, Shown};
use super::retrace::{and_back, follow, take};
use super::space::{Cycle, Graph, Move, Options, Space, explore};
use super::{Ending, Played, Recorded, Target};
use crate::base::Pc;
use crate::launch::Device;
use crate::machine::walk::Walk;
use crate::machine::{Bounds, ControlModel};
use crate::verdict::{Event, Kind, LimitKind, Sink, Stack, Stop, StuckKind, Taken, Who};
use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Steps of a cycle that are looked at: more say nothing new.
const STEPS: usize = 1 << 14;
/// Cycles of a search that are looked at.
const CYCLES: usize = 1 << 8;

/// Cycles of one kind.
pub(super) struct Round {
    /// The first of them.
    pub cycle: Cycle,
    /// How many there are.
    pub times: u64,
    /// The way to the cycle.
    pub path: Vec<Move>,
    /// What happens in it.
    circle: Circle,
}

/// What cycles of one kind have in common: the instructions of those who run, whether it is one lane, where who else stands,
/// whoever it is, and whether a block is missing.
type Likeness = (BTreeSet<BTreeSet<Pc>>, bool, BTreeSet<(u32, bool, bool)>, bool);

/// The cycles of a search by their kinds. The walk stands at the start of the search, and does so afterwards.
/// Those that are not looked at because of `bounds` are left out, and the limit is given.
pub(super) fn rounds(
    walk: &mut dyn Walk,
    graph: &Graph,
    cycles: Vec<Cycle>,
    bounds: &Bounds,
) -> (Vec<Round>, Option<LimitKind>) {
    let start = walk.mark();
    let mut rounds: IndexMap<Likeness, Round> = IndexMap::new();
    let mut limit = None;
    for cycle in cycles.into_iter().take(CYCLES) {
        let path = cycle.states.first().map_or_else(Vec::new, |s| graph.path(*s));
        if let Err(reached) = follow(walk, &path, bounds) {
            limit = Some(reached);
            walk.back(start);
            break;
        }
        let circle = round(walk, graph, &cycle, bounds);
        let code = circle.runs.values().cloned().collect();
        let state = walk.state();
        let others = state.lanes().into_iter().filter(|(b, w, l)| !circle.runs.contains_key(&(*b, *w, l.lane)));
        let others = others.map(|(.., l)| (l.pc, l.token.is_some(), l.wait.is_some())).collect();
        let likeness = (code, circle.runs.len() == 1, others, state.unissued().is_some());
        walk.back(start);
        rounds.entry(likeness).or_insert(Round { cycle, times: 0, path, circle }).times += 1;
    }
    (rounds.into_values().collect(), limit)
}

/// Takes every step within a cycle, from its first state, in which the walk stands.
fn round(walk: &mut dyn Walk, graph: &Graph, cycle: &Cycle, bounds: &Bounds) -> Circle {
    let mut circle = Circle::new(&walk.program());
    let here = walk.mark();
    let inside = |state: u32| cycle.states.binary_search(&state).is_ok();
    // Where agents that are alike are not told apart, the way round comes back with others in their places.
    let first = cycle.states.first().copied();
    let mut seen: FxHashSet<(Option<u32>, u128)> = FxHashSet::from_iter([(first, walk.exact())]);
    let steps = |state: u32| -> Vec<(Move, u32)> { graph.from(state).map(|e| (Move::of(e), e.to)).collect() };
    let mut taken = 0;
    let mut stack = Vec::new();
    if let Some(first) = first {
        stack.push((here, steps(first)));
    }
    while let Some((mark, rest)) = stack.last_mut() {
        let mark = *mark;
        let Some((step, to)) = rest.pop() else {
            stack.pop();
            continue;
        };
        if !inside(to) {
            continue;
        }
        if taken == STEPS || bounds.up().is_some() {
            break;
        }
        taken += 1;
        walk.back(mark);
        let mut tell = |who: Who, event: Event<'_>| circle.event(who, event);
        if let Some(Ok(())) = take(walk, step, Some(&mut tell))
            && seen.insert((Some(to), walk.exact()))
        {
            stack.push((walk.mark(), steps(to)));
        }
    }
    walk.back(here);
    circle
}

/// Whether the fair runs of a target end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ends {
    /// All do.
    Always,
    /// Some do not.
    NotAlways,
    /// Some are stopped by a defect, and none goes on for ever.
    Stops(Kind),
    /// A search reached its limit, or cannot go through the target.
    Unknown,
}

impl Target {
    /// Whether all runs end that a scheduler allows which keeps its promise, as far as a search through `options` tells.
    #[must_use]
    pub fn ends(&self, how: Prove, options: &mut Options<'_>) -> Ends {
        let env = self.program();
        if env.reads_clocks() {
            return Ends::Unknown;
        }
        let (how, _) = how.settled(options, self.start().context());
        let mut walk = match self.start().context().walk(self.launches(), how.grain) {
            Ok(walk) => walk,
            // Every run comes to a defect before anybody has a choice.
            Err(stop) if stop.kind().is_defect() => return Ends::Stops(stop.kind()),
            Err(_) => return Ends::Unknown,
        };
        options.warps = self.control() == ControlModel::Crs;
        options.stepped = how.progress.needs_stepped();
        let space: Space<()> = explore(&mut *walk, options, &mut |_| ());
        match (space.limit, space.found.first()) {
            _ if !how.progress.endless(&space.graph, how.fairness).is_empty() => Ends::NotAlways,
            (_, Some(found)) if found.stop.kind().is_defect() => Ends::Stops(found.stop.kind()),
            (None, None) => Ends::Always,
            (Some(_), None) | (_, Some(_)) => Ends::Unknown,
        }
    }

    /// What is told of cycles, of which the first is shown by a run. The walk stands at the start of the search.
    pub(super) fn endless(
        &self,
        walk: &mut dyn Walk,
        round: Round,
        (mut recorded, before): (Recorded, (Vec<Stack>, Vec<Taken>)),
    ) -> Endless {
        let Round { cycle, times, path, mut circle } = round;
        let hang = and_back(walk, |walk| {
            // It was gone a moment ago.
            let _ = follow(walk, &path, &Bounds::default());
            explain(walk, &mut circle, (&before.0, &before.1), (self.control(), self.bounds()))
        });
        let class = hang.class;
        let stop = stop(hang);
        // The run goes on by the default schedule, which may leave the cycle for another one or come to an end.
        let same = circle.code().into_iter().eq(recorded.played.circle.iter().copied());
        match &mut recorded.played.ending {
            Ending::Stopped(found @ Stop::Stuck(_)) if same => *found = stop.clone(),
            _ => self.explain(&mut recorded.played),
        }
        let count = cycle.states.len() as u64;
        Endless { cycle, times, class, stop, shown: Shown { count, path, recorded } }
    }

    /// Says what a run is called that never ends, and why.
    pub fn explain(&self, played: &mut Played) {
        if let Ending::Stopped(stop) = &mut played.ending {
            explained(stop, &played.device);
        }
    }
}

/// Says of a run that never ends what it is called and why; `device` is what it left. Other stops stay as they are, and so
/// does one of a device with memory that no search can go on from.
pub fn explained(stop: &mut Stop, device: &Device) {
    let Stop::Stuck(stuck) = stop else { return };
    let StuckKind::Endless { hang, .. } = &mut **stuck else { return };
    let context = device.context();
    let Some(mut walk) = context.repeating() else { return };
    let control = context.config().control.unwrap_or(ControlModel::of_target(context.env().target.sm));
    let mut circle = Circle::new(&context.program());
    context.once_more(&mut circle);
    **hang = explain(&mut *walk, &mut circle, (&hang.stacks, &hang.taken), (control, &context.config().bounds));
}
