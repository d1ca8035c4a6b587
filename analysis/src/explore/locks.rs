//! Who holds a lock that a run without end waits for (D-hang-locks).
//!
//! A lock is a location on which a lane that runs on makes `atom.cas` or `atom.exch`. Who holds it made one that succeeded,
//! and since then nobody has stored to it. That it succeeded is seen by what the next one finds there; where memory acts
//! later, or several lanes of an instruction made one, by its lane's having gone on.

use super::circle::{Circle, LaneId, Location, Reads, places};
use crate::base::{Pc, lanes_of, sort};
use crate::machine::walk::State;
use crate::program::env::ProgEnv;
use crate::program::instr::{MemOp, Op};
use crate::program::ops::AtomOp;
use crate::verdict::{Lock, Taken, Who};
use std::collections::BTreeSet;

/// The locks that lanes of the cycle wait for, as far as somebody is known to hold them.
pub(super) fn locks(walk: &dyn State, circle: &Circle, taken: &[Taken], env: &ProgEnv) -> Vec<Lock> {
    let live: BTreeSet<LaneId> = sort::set_of(walk.lanes().into_iter().map(|(block, warp, l)| (block, warp, l.lane)));
    let mut all = Vec::new();
    for (at, reads) in &circle.reads {
        let waits: Vec<_> = reads.by.iter().copied().filter(|(_, pc)| takes(env, *pc)).collect();
        let Some(taken) = taken.iter().find(|t| (t.block, t.address) == *at).filter(|_| !waits.is_empty()) else {
            continue;
        };
        let Some((who, lane, pc)) = holder(walk, (*at, reads), taken, env) else { continue };
        all.push(Lock {
            address: at.1,
            block: at.0,
            inside: walk.inside(at.0, at.1),
            holder: walk.place_of(who, 1 << lane, pc),
            exited: !live.contains(&(who.block, who.warp, lane)),
            waiters: places(walk, waits),
        });
    }
    all
}

/// Whether an instruction takes a lock, or tries to.
fn takes(env: &ProgEnv, pc: Pc) -> bool {
    let Some(instr) = env.code.get(pc.0 as usize).filter(|i| i.op == Op::Mem) else { return false };
    let request = usize::try_from(instr.imm).ok().and_then(|k| env.requests.get(k));
    request.is_some_and(|r| matches!(r.op, MemOp::Atom(AtomOp::Cas | AtomOp::Exch, _)))
}

/// The only lane that can hold a lock: warp, lane, and the instruction that took it.
fn holder(walk: &dyn State, (at, reads): (Location, &Reads), taken: &Taken, env: &ProgEnv) -> Option<(Who, u32, Pc)> {
    let now = walk.number(at.0, at.1, reads.bytes);
    let mut found = Vec::new();
    for (k, (who, lanes, pc, before)) in taken.by.iter().enumerate() {
        let after = taken.by.get(k + 1).map_or(now, |next| next.3);
        // What is not known may have been a success.
        let fails = before.is_some() && after.is_some() && *before == after;
        if fails || !takes(env, *pc) {
            continue;
        }
        let waits = |lane: u32| reads.by.iter().any(|(other, _)| *other == (who.block, who.warp, lane));
        let lanes = lanes_of(*lanes).filter_map(|l| u32::try_from(l).ok());
        found.extend(lanes.filter(|l| !waits(*l)).map(|l| (*who, l, *pc)));
    }
    match found[..] {
        [one] => Some(one),
        _ => None,
    }
}
