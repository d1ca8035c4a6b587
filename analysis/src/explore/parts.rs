//! Whether every fair run on from a state of a cycle leaves it.
//!
//! All lanes together have more states than anybody can go through: where sixteen lanes are set free of which each stores
//! twice before the store that is waited for, 3^16. But lanes that touch nothing that others change cannot tell whether those
//! step. So each lane is searched alone at first, and together with those only whose way it gets into (D-hang-parts): all
//! their runs together are then the products of their own. Every fair one leaves the cycle exactly if every fair one of some
//! part does, or none of any part is without end.

use super::circle::{Circle, Deeds, LaneId, Write};
use super::leaving::{Leaving, lanes_of_agent};
use super::progress::Progress;
use super::space::{Fairness, Options, Progress as Counts, Space, explore};
use crate::base::sort;
use crate::machine::walk::Walk;
use crate::verdict::LimitKind;
use std::collections::BTreeSet;

/// States of the search through a part.
const FREED: u64 = 20_000;
/// The same where memory has caches: a state of theirs takes a hundred times as long.
const FREED_CACHES: u64 = 1_000;

/// Lanes at most that are told apart: each is compared with each.
const LANES_APART: usize = 1 << 11;

/// Lanes that no others get into the way of, as far as is known.
struct Part {
    lanes: BTreeSet<LaneId>,
    /// What they do; `None`: nobody has looked.
    found: Option<Found>,
}

/// What a part comes to on its own.
struct Found {
    deeds: Deeds,
    /// Whether some fair run is without end.
    endless: bool,
}

/// An access that a lane has made on its way to the state from which is searched, and whether it writes.
pub(super) type Issued = (Write, bool);

/// Whether every fair run from a state of a cycle leaves it, or ends. `issued`: what is in flight there. `None`: there are too many states to tell, or `over`
/// says that it takes too long.
pub(super) fn fair_runs_leave(
    walk: &mut dyn Walk,
    circle: &Circle,
    issued: &[Issued],
    over: &dyn Fn() -> Option<LimitKind>,
) -> Option<bool> {
    let mut parts = apart(walk, circle);
    let all: BTreeSet<LaneId> = sort::set_of(parts.iter().flat_map(|p| &p.lanes).copied());
    while parts.len() > 1 {
        for part in parts.iter_mut().filter(|p| p.found.is_none()) {
            let mut walk = Leaving::of(walk, circle, &part.lanes, &all);
            issued.iter().filter(|i| part.lanes.contains(&i.0.lane)).for_each(|i| walk.issued(&i.0, i.1));
            let (endless, limit) = search(&mut walk, over);
            if limit.is_some() {
                return None;
            }
            part.found = Some(Found { deeds: walk.deeds(), endless });
        }
        if merge(&mut parts) {
            continue;
        }
        let found = || parts.iter().filter_map(|p| p.found.as_ref());
        if found().any(|f| !f.endless && !f.deeds.ends) || found().all(|f| !f.endless) {
            return Some(true);
        }
        // A part may wait for a bank that an operation holds which another has in flight.
        if walk.state().has_caches() {
            break;
        }
        return Some(false);
    }
    // What the search saw until a limit ended it is a run without end all the same.
    let (endless, limit) = search(&mut Leaving::new(walk, circle), over);
    if endless { Some(false) } else { limit.is_none().then_some(true) }
}

/// Whether a fair run is without end, and the limit that was reached.
fn search(walk: &mut dyn Walk, over: &dyn Fn() -> Option<LimitKind>) -> (bool, Option<LimitKind>) {
    let mut poll = |_: &Counts| over();
    let most = if walk.state().has_caches() { FREED_CACHES } else { FREED };
    let mut options = Options { max_states: Some(most), ..Options::states(false, &mut poll) };
    let space: Space<()> = explore(walk, &mut options, &mut |_| ());
    (!Progress::Fair.endless(&space.graph, Fairness::Weak).is_empty(), space.limit)
}

/// Each lane on its own, but for those of a block in which some wait for others, and for those that go round: where nothing
/// changes in the cycle they go on to do that, whoever steps.
fn apart(walk: &mut dyn Walk, circle: &Circle) -> Vec<Part> {
    let lanes = walk.state().lanes();
    let waiting = sort::set_of(lanes.iter().filter(|(.., l)| l.wait.is_some()).map(|(block, ..)| *block));
    let mut round = Part { lanes: BTreeSet::new(), found: None };
    let mut parts = Vec::new();
    if lanes.len() > LANES_APART {
        return parts;
    }
    for (block, warp, lane) in &lanes {
        let lane = (*block, *warp, lane.lane);
        if circle.is_constant() && circle.runs.contains_key(&lane) {
            round.lanes.insert(lane);
        } else {
            parts.push(Part { lanes: [lane].into(), found: None });
        }
    }
    if !round.lanes.is_empty() {
        round.found = Some(Found { deeds: circle.deeds(), endless: true });
        parts.push(round);
    }
    // Those that are gone and have left operations behind.
    let mut agents = Vec::new();
    walk.agents(&mut agents);
    let mut known: BTreeSet<LaneId> = sort::set_of(parts.iter().flat_map(|p| &p.lanes).copied());
    for left in agents.iter().map(lanes_of_agent) {
        let left: BTreeSet<LaneId> = sort::set_of(left.into_iter().filter(|l| known.insert(*l)));
        if !left.is_empty() {
            parts.push(Part { lanes: left, found: None });
        }
    }
    let meets = |part: &Part| part.lanes.iter().any(|(block, ..)| waiting.contains(block));
    join(&mut parts, &|a, b| meets(a) && meets(b) && same_block(a, b));
    parts
}

fn same_block(a: &Part, b: &Part) -> bool {
    a.lanes.iter().any(|(block, ..)| b.lanes.iter().any(|(other, ..)| block == other))
}

/// Puts together the parts that get into each other's way. Tells whether there were any.
fn merge(parts: &mut Vec<Part>) -> bool {
    let in_the_way = |a: &Part, b: &Part| {
        let (Some(a), Some(b), block) = (&a.found, &b.found, same_block(a, b)) else { return true };
        let (few, many) = if a.deeds.bytes.len() < b.deeds.bytes.len() { (a, b) } else { (b, a) };
        let mut both =
            few.deeds.bytes.iter().filter_map(|(at, changed)| many.deeds.bytes.get(at).map(|other| *changed || *other));
        let meets = block && !(a.deeds.meets.is_empty() && b.deeds.meets.is_empty());
        a.deeds.more || b.deeds.more || meets || both.any(|changed| changed)
    };
    join(parts, &in_the_way)
}

/// Puts together what belongs together. Tells whether anything did.
fn join(parts: &mut Vec<Part>, together: &dyn Fn(&Part, &Part) -> bool) -> bool {
    let mut number: Vec<usize> = (0..parts.len()).collect();
    for (k, a) in parts.iter().enumerate() {
        for (m, b) in parts.iter().enumerate().take(k) {
            let (from, to) = (number[k], number[m]);
            if from != to && together(a, b) {
                number.iter_mut().filter(|n| **n == from).for_each(|n| *n = to);
            }
        }
    }
    let mut joined: Vec<Option<Part>> = (0..parts.len()).map(|_| None).collect();
    let before = parts.len();
    for (part, n) in std::mem::take(parts).into_iter().zip(number) {
        match &mut joined[n] {
            Some(known) => {
                known.lanes.extend(part.lanes);
                known.found = None;
            }
            free => *free = Some(part),
        }
    }
    *parts = joined.into_iter().flatten().collect();
    parts.len() < before
}
