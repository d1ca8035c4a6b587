//! A search by several threads, as one by one thread would tell it (D-threads).

use super::frozen::{Before, Keep};
use super::graph::NONE;
use super::job::Job;
use super::ledger::{Ledger, Notes};
use super::left::Left;
use super::merge::{Joined, merge};
use super::search::Run;
use super::team::{Team, Watch};
use super::way::{Place, numbered};
use super::{Found, Options, Progress, Reaches, Space};
use crate::base::{drop_beside, sort};
use crate::explore::retrace::stop_on;
use crate::machine::Bounds;
use crate::machine::walk::{Mark, State, Walk};
use crate::verdict::{Identity, LimitKind, Stop};
use indexmap::IndexMap;
use indexmap::map::Entry;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::hash::Hash;
use std::thread::scope;

/// Where runs of a thread came to their ends, each with the place of its outcome, and the outcomes.
type Ends<O> = (Vec<(u32, usize)>, IndexMap<O, Reaches>);

/// What a thread comes to.
struct Part<O> {
    notes: Notes,
    ends: Vec<(u32, usize)>,
    stops: Vec<(Place, Identity)>,
    left: Left,
    progress: Progress,
    /// What it found, with its own ways.
    outcomes: IndexMap<O, Reaches>,
    found: Vec<Found>,
    /// The limit that it reached itself.
    limit: Option<LimitKind>,
    pruned: bool,
}

/// What decides how a thread searches: [`Options`] without who is asked whether to go on.
#[derive(Clone, Copy)]
struct How {
    warps: bool,
    stepped: bool,
    first: bool,
    preemptions: Option<u32>,
    max_states: Option<u64>,
    max_steps: Option<u64>,
    max_bytes: Option<u64>,
}

/// As [`explore`](super::explore), by as many threads as there are walks, all of which stand at the same start, and do so
/// afterwards. A search that comes to its end finds what one thread finds; whole states are not kept
/// ([`Options::audit`]). The one graph of all is made within what `bounds` leave for showing what was found; where they cut it, the
/// limit is told, and what was found is, too.
pub fn explore_together<O: Eq + Hash + Send>(
    walks: &mut [Box<dyn Walk>],
    options: &mut Options<'_>,
    outcome: &(dyn Fn(&dyn State) -> O + Sync),
    bounds: &Bounds,
) -> Space<O> {
    let how = How {
        warps: options.warps,
        stepped: options.stepped,
        first: options.first,
        preemptions: options.preemptions,
        max_states: options.max_states,
        max_steps: options.max_steps,
        max_bytes: options.max_bytes,
    };
    let starts: Vec<Mark> = walks.iter_mut().map(|walk| walk.mark()).collect();
    let [walk, others @ ..] = &mut *walks else { return Space::default() };
    let number = numbered(walk.key(), (how.preemptions.is_some(), how.stepped), Before::default());
    let team = &Team::new(others.len() + 1, number, how.max_states.is_some());
    let mut space = Space::default();
    let parts = scope(|scope| {
        let mut running = Vec::new();
        for (walk, worker) in others.iter_mut().zip(1..) {
            running.push(scope.spawn(move || work(&mut **walk, how, outcome, (team, worker), &mut |_| None)));
        }
        // The caller asks whether to go on; it is asked in its own thread.
        let own = work(&mut **walk, how, outcome, (team, 0), options.poll);
        let others = running.into_iter().map(|part| part.join());
        std::iter::once(Ok(own)).chain(others).collect::<Result<Vec<_>, _>>()
    });
    let parts = parts.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    space.limit = parts.iter().find_map(|part| part.limit);
    bounds.show();
    if space.limit.is_some() {
        // One may have come to an end just then.
        let stand = walks.iter_mut().map(|walk| walk.state().standing()).find(|warps| !warps.is_empty());
        space.standing = stand.unwrap_or_default();
        space.growth = walks.first().map_or_else(Default::default, |walk| walk.growth());
    }
    walks.iter_mut().zip(starts).for_each(|(walk, start)| walk.back(start));
    let waits = |Job { state, waiting: (agents, units), .. }: Job| {
        let all = 0..agents.len();
        Left::new(agents, units, vec![(state, all)], how.warps)
    };
    let rest = team.left().into_iter().map(waits).collect();
    let held = walks.iter().map(|walk| walk.held()).sum::<usize>();
    if let Some(walk) = walks.first_mut() {
        told(&mut space, (how, parts, rest), &mut **walk, (team, bounds));
    }
    space.progress.bytes = (space.graph.bytes() + held) as u64;
    space
}

impl How {
    fn options<'a>(self, poll: &'a mut dyn FnMut(&Progress) -> Option<LimitKind>) -> Options<'a> {
        let Self { stepped, first, preemptions, max_states, max_steps, max_bytes, .. } = self;
        let all = Options::states(self.warps, poll);
        Options { stepped, first, preemptions, max_states, max_steps, max_bytes, ..all }
    }
}

/// What one thread does until nothing is left, or the search is over.
fn work<O: Eq + Hash>(
    walk: &mut dyn Walk,
    how: How,
    outcome: &(dyn Fn(&dyn State) -> O + Sync),
    (team, worker): (&Team, u32),
    poll: &mut dyn FnMut(&Progress) -> Option<LimitKind>,
) -> Part<O> {
    let _watch = Watch(team);
    let start = walk.mark();
    let (told_to, reached) = (Cell::new(false), Cell::new(None));
    let asked = std::cell::RefCell::new(poll);
    let mut goes_on = |all: &Progress| {
        if team.is_over() {
            told_to.set(true);
            return Some(LimitKind::Interrupted);
        }
        (asked.borrow_mut())(all)
    };
    let mut options = how.options(&mut goes_on);
    let mut outcome = |state: &dyn State| outcome(state);
    let keep = Keep { due: &mut || false, save: &mut |_, _| () };
    let mut run = Run::new(walk, &mut options, &mut outcome, Ledger::new(team, worker), keep);
    run.bound(how.max_states);
    loop {
        run.pause();
        run.book.release();
        let mut all = run.space.progress;
        let ends = &mut || {
            let done = team.done();
            (all.states, all.transitions) = (done.states, done.transitions);
            reached.set((asked.borrow_mut())(&all));
            reached.get().is_some()
        };
        let Some(job) = team.take(ends) else { break };
        run.walk.back(start);
        if run.take_over(job) {
            run.search();
        }
        if run.space.limit.is_some() || how.first && !run.space.found.is_empty() {
            team.end();
            break;
        }
    }
    let left = run.left();
    let pruned = run.is_pruned();
    let Run { book, ends, stops, space, .. } = run;
    let limit = if told_to.get() { None } else { space.limit }.or(reached.get());
    let Space { progress, outcomes, found, .. } = space;
    Part { notes: book.notes, ends, stops, left, progress, outcomes, found, limit, pruned }
}

/// What all threads come to, told as one search tells it.
fn told<O: Eq + Hash>(
    space: &mut Space<O>,
    (how, parts, mut lefts): (How, Vec<Part<O>>, Vec<Left>),
    walk: &mut dyn Walk,
    (team, bounds): (&Team, &Bounds),
) {
    let (mut notes, mut ends, mut stops, mut found) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let Progress { transitions, schedules, .. } = part.progress;
        space.progress.transitions += transitions;
        space.progress.schedules += schedules;
        if part.pruned {
            space.limit.get_or_insert(LimitKind::Switches(how.preemptions.unwrap_or(0)));
        }
        notes.push(part.notes);
        lefts.push(part.left);
        ends.push((part.ends, part.outcomes));
        stops.extend(part.stops);
        found.extend(part.found);
    }
    let states: usize = notes.iter().map(|notes: &Notes| notes.seen.len()).sum();
    let joined = merge(notes, team.bits, &|| bounds.up());
    space.limit = space.limit.or(joined.cut);
    ended(space, ends, &joined);
    stopped(space, stops, &joined, walk);
    // What the graph does not come to, where it was cut, is told by the ways of who found it.
    for one in found {
        if space.found.iter().all(|known| known.stop.identity() != one.stop.identity()) {
            space.found.push(one);
        }
    }
    space.progress.deepest = joined.deepest;
    if joined.cut.is_some() {
        drop_beside(joined);
        // Steps are missing in states that it has come to: no cycle in it could be told to be fair.
        space.progress.states = states as u64;
        return;
    }
    space.progress.states = joined.graph.states() as u64;
    let left = Left::merge(lefts, how.warps, |old| joined.state(old));
    space.graph = joined.graph;
    space.graph.leave(left);
}

/// The outcomes, in the order of the first states that have them; those of a thread come with their states.
fn ended<O: Eq + Hash>(space: &mut Space<O>, ends: Vec<Ends<O>>, joined: &Joined) {
    let mut firsts: IndexMap<O, (Option<u32>, Reaches)> = IndexMap::new();
    for (states, outcomes) in ends {
        let mut first = vec![None; outcomes.len()];
        for (state, at) in states.into_iter().filter_map(|(old, at)| Some((joined.state(old)?, at))) {
            first[at] = Some(first[at].map_or(state, |known: u32| known.min(state)));
        }
        for ((outcome, reaches), here) in outcomes.into_iter().zip(first) {
            match firsts.entry(outcome) {
                Entry::Vacant(new) => _ = new.insert((here, reaches)),
                Entry::Occupied(mut known) => {
                    let (first, all) = known.get_mut();
                    all.count += reaches.count;
                    *first = [*first, here].into_iter().flatten().min();
                }
            }
        }
    }
    firsts.sort_by_key(|_, (first, _)| first.unwrap_or(NONE));
    for (outcome, (first, Reaches { count, path })) in firsts {
        // Where the graph was cut before it came to the state, the way is that of who found it.
        let path = first.map_or(path, |state| joined.graph.path(state));
        space.outcomes.insert(outcome, Reaches { count, path });
    }
}

/// The first stop of each kind, in the order of the steps to them.
fn stopped<O>(space: &mut Space<O>, stops: Vec<(Place, Identity)>, joined: &Joined, walk: &mut dyn Walk) {
    let graph = &joined.graph;
    let find = |(place, identity)| {
        let (by, path): (Option<u32>, (u32, Option<u32>)) = match place {
            Place::State(old) => {
                let state = joined.state(old)?;
                (graph.reached_by(state), (state, None))
            }
            Place::Step(old, edge) => {
                let edge = joined.nowhere(edge)?;
                (Some(edge), (joined.state(old)?, Some(edge)))
            }
        };
        Some((by, path, identity))
    };
    let mut all: Vec<(_, _, Identity)> = stops.into_iter().filter_map(find).collect();
    sort::sort_by_key(&mut all, |(by, ..)| *by);
    let mut seen = BTreeSet::new();
    for (_, (state, edge), identity) in all {
        if seen.insert(identity) {
            let path = edge.map_or_else(|| graph.path(state), |edge| graph.path_by(edge, state));
            let lost = || Stop::internal("no run stops where threads of a search have seen one stop", None);
            let stop = stop_on(walk, &path).unwrap_or_else(lost);
            space.found.push(Found { stop, path });
        }
    }
}
