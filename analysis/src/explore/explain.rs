//! What a run that never ends is called, and why it does not end (`semantics.md`, section 5).
//!
//! Both questions are asked of a state of the cycle with the lanes set free that the control model holds back: whether
//! every fair run from there ends decides the class; who changes what the others read, in one such run, is who they
//! wait for.

use super::circle::{Circle, LaneId, Location, Reads, Write, by_warp, places};
use super::locks::locks;
use super::odometer::Odometer;
use super::parts::fair_runs_leave;
use crate::base::{LaneMask, Pc};
use crate::machine::control::{Lane, Wait};
use crate::machine::walk::{Agent, Free, State, Walk};
use crate::machine::{Bounds, ControlModel};
use crate::verdict::{
    Blocked, Class, Event, Hang, Holds, LimitKind, NeverPopped, SpinRead, Spinner, Stack, Stop, StuckKind, Taken, Who,
};
use indexmap::IndexMap;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Time and bytes of an explanation at most.
const EXPLAINING: (Duration, u64) = (Duration::from_secs(10), 1 << 30);
/// Steps of the run that shows who would change what is read.
const WATCHED: u32 = 1 << 12;

/// Explains a cycle; `walk` stands in one of its states. `stacks`: the token stacks there; `taken`: atomic operations on the
/// way to it.
///
/// Within `bounds`, and a part of them at most: nobody waits for an explanation as long as for what is explained.
pub(super) fn explain(
    walk: &mut dyn Walk,
    circle: &mut Circle,
    (stacks, taken): (&[Stack], &[Taken]),
    (control, bounds): (ControlModel, &Bounds),
) -> Hang {
    let part = bounds.part(EXPLAINING.0, EXPLAINING.1);
    let over = || bounds.up().or_else(|| part.up());
    let env = walk.program();
    let state = walk.state();
    circle.look(state);
    let blocked = blocked(state, circle, stacks);
    let unissued = state.unissued();
    let class = class(state, circle, &blocked, (control, &over));
    let free = Free {
        blocks: class != Some(Class::SimtDeadlock) && unissued.is_some(),
        waits: matches!(class, Some(Class::Mixed) | None),
    };
    let writes = if circle.reads.is_empty() { Vec::new() } else { writes(state, free, circle, &over) };
    let (spinners, reads) = (spinners(state, circle), reads(state, circle, &writes));
    let locks = locks(state, circle, taken, &env);
    Hang { class, spinners, reads, blocked, stacks: stacks.to_vec(), unissued, locks, taken: Vec::new() }
}

/// The stop of a run that stays in the cycle that `hang` explains.
pub(super) fn stop(hang: Hang) -> Stop {
    let (who, place) = hang.spinners.first().map_or_else(Default::default, |s| (s.who, s.place.clone()));
    let mut tokens = Vec::new();
    for Blocked { who, place: waits, by } in &hang.blocked {
        let Holds::Token { token, pushed: Some(pushed) } = *by else { continue };
        let runs = hang.spinners.iter().find(|s| s.who == *who).map_or(waits, |s| &s.place);
        tokens.push(NeverPopped { who: *who, place: runs.clone(), token, waiting: waits.lanes, pushed });
    }
    Stop::Stuck(Box::new(StuckKind::Endless { tokens, who, place, hang: Box::new(hang) }))
}

/// What a run is called that stays in a cycle; the walk stands in a state of it.
fn class(
    walk: &dyn State,
    circle: &Circle,
    blocked: &[Blocked],
    (control, over): (ControlModel, &dyn Fn() -> Option<LimitKind>),
) -> Option<Class> {
    let mut unknown = false;
    let mut ends = |free: Free| {
        if circle.is_apart() {
            return false;
        }
        // What cannot be set free is not known to end.
        let mut issued = Vec::new();
        let mut tell = |who: Who, event: Event<'_>| {
            if let Event::Access(access) = event {
                issued.extend(circle.accesses(who, access).into_iter().map(|a| (a, access.kind.writes())));
            }
            Ok(())
        };
        let freed = walk.freed(free, Some(&mut tell)).ok();
        let ends = freed.and_then(|mut freed| fair_runs_leave(&mut *freed, circle, &issued, over));
        unknown |= ends.is_none();
        ends == Some(true)
    };
    // With a program counter for each lane there are no inactive lanes to be set free.
    if control == ControlModel::Crs && ends(Free::default()) {
        return Some(Class::SimtDeadlock);
    }
    if walk.unissued().is_some() && ends(Free { blocks: true, waits: false }) {
        return Some(Class::Starvation);
    }
    let waits = blocked.iter().any(|b| matches!(b.by, Holds::Barrier { .. } | Holds::Members { .. }));
    match (unknown, waits) {
        (true, _) => None,
        (false, true) => Some(Class::Mixed),
        (false, false) => Some(Class::Livelock),
    }
}

/// The live lanes that execute nothing in the cycle.
fn blocked(walk: &dyn State, circle: &Circle, stacks: &[Stack]) -> Vec<Blocked> {
    let launch = walk.launch();
    let mut groups: IndexMap<(Who, Pc, Holds), LaneMask> = IndexMap::new();
    for (block, warp, lane) in walk.lanes() {
        if circle.runs.contains_key(&(block, warp, lane.lane)) {
            continue;
        }
        let who = Who { launch, block, warp };
        let (pc, by) = held(walk, who, &lane, stacks);
        *groups.entry((who, pc, by)).or_default() |= 1 << lane.lane;
    }
    groups.into_iter().map(|((who, pc, by), lanes)| Blocked { who, place: walk.place_of(who, lanes, pc), by }).collect()
}

/// Where a lane waits, and what holds it.
fn held(walk: &dyn State, who: Who, lane: &Lane, stacks: &[Stack]) -> (Pc, Holds) {
    let tokens = stacks.iter().find(|s| s.who == who).map_or(&[][..], |s| &s.tokens);
    let nothing = (Pc(lane.pc), Holds::Nothing);
    match (lane.wait, lane.token) {
        // The instruction at which it waits stands before the one where it will go on.
        (Some(Wait::Barrier(id)), _) => {
            (Pc(lane.pc.saturating_sub(1)), walk.barrier(who.block, id).unwrap_or(nothing.1))
        }
        (Some(Wait::WarpSync(mask)), _) => (Pc(lane.pc.saturating_sub(1)), Holds::Members { mask }),
        (Some(Wait::Members(mask)), _) => (nothing.0, Holds::Members { mask }),
        (Some(Wait::Warp), _) => (nothing.0, Holds::Members { mask: !0 }),
        (None, Some(at)) => match tokens.get(at) {
            Some((token, pushed)) => (Pc(lane.pc), Holds::Token { token: *token, pushed: Some(*pushed) }),
            None => nothing,
        },
        (None, None) => nothing,
    }
}

/// Who runs on.
fn spinners(walk: &dyn State, circle: &Circle) -> Vec<Spinner> {
    let launch = walk.launch();
    let alike = by_warp(circle.runs.iter().map(|(lane, code)| (*lane, code.clone())));
    let one = |((block, warp, code), lanes): ((u64, u32, BTreeSet<Pc>), LaneMask)| {
        let who = Who { launch, block, warp };
        let first = code.first().copied().unwrap_or_default();
        Spinner { who, place: walk.place_of(who, lanes, first), code: code.into_iter().collect() }
    };
    alike.into_iter().map(one).collect()
}

/// A write of what is read in a cycle, with what was there before it and whether it changes that.
#[derive(Clone, Copy)]
struct Seen {
    write: Write,
    before: Option<u64>,
    changes: bool,
}

impl Seen {
    /// Whether it changes what the lanes of the cycle find at a location, and not what is there between two of their reads.
    fn replaces(&self, at: Location, reads: &Reads) -> bool {
        let apart = (at, reads.bytes) != (self.write.at, self.write.bytes);
        self.changes && (apart || self.before.is_none_or(|value| reads.values.contains(&value)))
    }
}

/// What they read: the locations that lanes outside of the cycle would write, or else those that any others would change, or
/// else all.
fn reads(walk: &dyn State, circle: &Circle, writes: &[Seen]) -> Vec<SpinRead> {
    let outside = |s: &Seen| !circle.runs.contains_key(&s.write.lane) && (s.changes || !s.write.atomic);
    let others = |reads: &Reads, w: &Write| reads.by.iter().any(|(lane, _)| *lane != w.lane);
    let with = |keep: &dyn Fn(&Seen, Location, &Reads) -> bool| -> Vec<SpinRead> {
        let of = |(at, reads): (&Location, &Reads)| {
            let of_it = |s: &&Seen| reads.touched(*at, s.write.at, s.write.bytes) && others(reads, &s.write);
            let by: Vec<Write> = writes.iter().filter(of_it).filter(|s| keep(s, *at, reads)).map(|s| s.write).collect();
            (!by.is_empty()).then(|| read(walk, *at, reads, &by))
        };
        circle.reads.iter().filter_map(of).collect()
    };
    let mut found = with(&|s, _, _| outside(s));
    if found.is_empty() {
        found = with(&Seen::replaces);
    }
    if found.is_empty() {
        found = circle.reads.iter().map(|(at, reads)| read(walk, *at, reads, &[])).collect();
    }
    found
}

fn read(walk: &dyn State, (block, address): Location, reads: &Reads, writes: &[Write]) -> SpinRead {
    // The first write of each lane: what it does later it does because others went on.
    let mut first: BTreeMap<LaneId, Pc> = BTreeMap::new();
    for write in writes {
        first.entry(write.lane).or_insert(write.pc);
    }
    SpinRead {
        address,
        bytes: reads.bytes,
        block,
        inside: walk.inside(block, address),
        values: reads.values.iter().copied().collect(),
        readers: places(walk, reads.by.clone()),
        writers: places(walk, first),
    }
}

/// The writes of what is read in the cycle, in a run on from a state with lanes set free in which
/// everybody who can step does in turn. Where nobody can be set free, nobody is seen to write.
fn writes(from: &dyn State, free: Free, circle: &Circle, over: &dyn Fn() -> Option<LimitKind>) -> Vec<Seen> {
    let seen = RefCell::new(Vec::new());
    let mut tell = |who: Who, event: Event<'_>| {
        if let Event::Access(access) = event
            && access.kind.writes()
        {
            let read = |w: &Write| circle.reads.iter().any(|(at, reads)| reads.touched(*at, w.at, w.bytes));
            let here = circle.accesses(who, access).into_iter().filter(read);
            seen.borrow_mut().extend(here.map(|w| (w, access.memory.number(w.at.1, w.bytes))));
        }
        Ok(())
    };
    // A block that is complete has no memory any more: its last write changed it.
    let judge = |state: &dyn State| -> Vec<Seen> {
        let changes = |w: &Write, before| state.number(w.at.0, w.at.1, w.bytes) != before;
        let seen = seen.take().into_iter();
        seen.map(|(write, before)| Seen { write, before, changes: changes(&write, before) }).collect()
    };
    let Ok(mut walk) = from.freed(free, Some(&mut tell)) else { return Vec::new() };
    let mut found = judge(walk.state());
    let mut last: BTreeMap<LaneId, u32> = BTreeMap::new();
    for now in 1..=WATCHED {
        let mut agents = Vec::new();
        walk.agents(&mut agents);
        let state = walk.state();
        let key = |a: &Agent| match a {
            Agent::Flow { block, warp, flow, .. } => (*block, *warp, flow.mask.trailing_zeros()),
            Agent::Micro(operation) => (u64::MAX, 0, state.operation(operation.name).unwrap_or(u32::MAX)),
            Agent::Silent(n) => (u64::MAX, 1, *n),
            Agent::Begin => (u64::MAX, 2, 0),
        };
        let longest = agents.iter().copied().min_by_key(|a| last.get(&key(a)).copied().unwrap_or(0));
        let Some(agent) = longest.filter(|_| over().is_none()) else { break };
        last.insert(key(&agent), now);
        if walk.advance(agent, &mut Odometer::new(), Some(&mut tell)).is_err() {
            break;
        }
        found.extend(judge(walk.state()));
    }
    found
}
