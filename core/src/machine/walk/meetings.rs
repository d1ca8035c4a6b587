//! Whom lanes of a warp may still meet (D-search-apart).
//!
//! Where each lane has its own program counter (control model `its`), lanes that stand at one address execute its instruction
//! together, and what they do there can depend on who is among them: a ballot does, and so does the order of two stores. So a
//! group that goes on at once, through what nobody notices, loses the ways in which others execute an instruction without it
//! that it would come to later. Where no other lane can come to where it goes, there are no such ways: nobody is there while
//! the group is elsewhere, and nobody finds it there.
//!
//! Where others can come is told from the code alone, every branch either way; where the group goes also from its guards.

use crate::base::LaneMask;
use crate::base::mutant::{Mutant, on};
use crate::machine::context::visible::Visible;
use crate::machine::control::{Explored, Flow};
use crate::machine::warp::state::Warp;
use crate::program::env::{FuncId, ProgEnv};
use crate::program::instr::{Instr, Op};
use fixedbitset::FixedBitSet;
use smallvec::SmallVec;

/// Instructions of an entry at most, of which there are two sets for each.
const LARGEST: usize = 1 << 12;

/// Instructions at which lanes stand.
type Others = SmallVec<[usize; 8]>;

/// What is ahead of each instruction of an entry. Instructions are counted from its first.
#[derive(Clone, Debug)]
pub(super) struct Meetings {
    start: u32,
    /// Those that a lane which stands there may come to, itself among them.
    comes: Vec<FixedBitSet>,
    /// Those that can be noticed before which it may stop next; and the aligned barriers that it may leave behind on the way.
    stops: Vec<FixedBitSet>,
    /// An aligned barrier that some lanes execute asks of the others of their warp whether they can still come to it, and
    /// whether they are about to end (D-barrier-lanes). While they can come, both answers stay the same.
    aligned: FixedBitSet,
}

impl Meetings {
    /// The table of an entry. `None`: it calls functions, or is large.
    pub fn of(env: &ProgEnv, entry: FuncId, visible: &Visible) -> Option<Self> {
        let function = env.function(entry)?;
        let (start, end) = (function.start.0, function.end.0);
        let code = env.code.get(start as usize..end as usize)?;
        if code.len() > LARGEST || code.iter().any(|i| matches!(i.op, Op::Call | Op::CallIndirect)) {
            return None;
        }
        let next = successors(env, start, code)?;
        let aligned = |i: &Instr| env.is_aligned_barrier(i);
        let aligned: FixedBitSet = (0..).zip(code).filter(|(_, i)| aligned(i)).map(|(k, _)| k).collect();
        let itself = |k| std::iter::once(k).collect();
        let comes = spread(&next, (0..code.len()).map(itself).collect(), |_| true);
        let noticed: Vec<bool> = (start..end).map(|pc| visible.hidden(pc) == 0).collect();
        let left = comes.iter().zip(&noticed).enumerate().map(|(k, (comes, noticed))| {
            let stop: FixedBitSet = noticed.then_some(k).into_iter().collect();
            aligned.difference(comes).chain(stop.ones()).collect()
        });
        let stops = spread(&next, left.collect(), |k| noticed.get(k) == Some(&false));
        Some(Self { start, comes, stops, aligned })
    }

    /// How many of the next instructions, which nobody notices, a group may execute at once: all of them, none, or so many
    /// that it stands before a branch, of which it is known then where it leads.
    pub fn far<C: Explored>(&self, env: &ProgEnv, group: Flow, hidden: u32, warp: &Warp<C>) -> u32 {
        if on(Mutant::LanesNeverMeet) {
            return hidden;
        }
        let Some((own, others)) = self.place(group.pc).zip(self.others(group, &warp.control)) else { return 0 };
        let alone = |pc| self.place(pc).is_some_and(|k| self.comes_alone(k, &others));
        let last = group.pc + hidden.saturating_sub(1);
        let stops = self.stops.get(own);
        if stops.is_some_and(|stops| others.iter().all(|o| stops.is_disjoint(&self.comes[*o]))) {
            hidden
        } else if hidden > 1 {
            if alone(last) { hidden - 1 } else { 0 }
        } else {
            u32::from(targets(env, group, warp).is_some_and(|to| to.into_iter().all(alone)))
        }
    }

    /// The instructions at which other live lanes of a warp than a group stand. `None`: some of them stand elsewhere.
    fn others(&self, group: Flow, control: &impl Explored) -> Option<Others> {
        let mut all = Some(Others::new());
        // Without calls every lane is in its first frame.
        control.stands(0, &mut |pc, lanes| {
            if lanes & !group.mask != 0 {
                all = all.take().zip(pc.and_then(|pc| self.place(pc))).map(|(mut all, place)| {
                    if !all.contains(&place) {
                        all.push(place);
                    }
                    all
                });
            }
        });
        all
    }

    /// Whether lanes that come to an instruction meet nobody of `others` there, and no barrier of theirs asks about it.
    fn comes_alone(&self, k: usize, others: &Others) -> bool {
        let stays = |barrier: usize| self.comes.get(k).is_some_and(|comes| comes.contains(barrier));
        let comes = |o: &usize| &self.comes[*o];
        others.iter().map(comes).all(|comes| !comes.contains(k) && self.aligned.intersection(comes).all(stays))
    }

    fn place(&self, pc: u32) -> Option<usize> {
        let place = pc.checked_sub(self.start)? as usize;
        (place < self.comes.len()).then_some(place)
    }
}

/// Where a branch leads the lanes of a group that stands before it. `None`: it is no such branch.
fn targets<C: Explored>(env: &ProgEnv, group: Flow, warp: &Warp<C>) -> Option<SmallVec<[u32; 2]>> {
    let branch = env.code.get(group.pc as usize).filter(|i| i.op == Op::Bra)?;
    let taken: LaneMask = match branch.guard {
        None => group.mask,
        Some(guard) => {
            let holds = *warp.frames.first()?.p.get(guard.pred.index())?;
            group.mask & if guard.negated { !holds } else { holds }
        }
    };
    let ways = [(taken, branch.imm), (group.mask & !taken, group.pc + 1)];
    Some(ways.into_iter().filter(|(lanes, _)| *lanes != 0).map(|(_, to)| to).collect())
}

/// Where a lane may be behind each instruction. `None`: it may leave the entry.
fn successors(env: &ProgEnv, start: u32, code: &[Instr]) -> Option<Vec<SmallVec<[usize; 2]>>> {
    let inside = |pc: u32| pc.checked_sub(start).map(|k| k as usize).filter(|k| *k < code.len());
    (start..).zip(code).map(|(pc, i)| env.successors(pc, i).into_iter().map(inside).collect()).collect()
}

/// Adds to the set of each instruction that lanes go `through` the sets of those that may come next, until nothing changes.
fn spread(
    next: &[SmallVec<[usize; 2]>],
    mut sets: Vec<FixedBitSet>,
    through: impl Fn(usize) -> bool,
) -> Vec<FixedBitSet> {
    loop {
        let mut changed = false;
        for k in (0..sets.len()).rev().filter(|k| through(*k)) {
            let Some(mut all) = sets.get_mut(k).map(std::mem::take) else { continue };
            let before = all.count_ones(..);
            next.get(k).into_iter().flatten().filter_map(|to| sets.get(*to)).for_each(|set| all.union_with(set));
            changed |= all.count_ones(..) > before;
            sets[k] = all;
        }
        if !changed {
            return sets;
        }
    }
}
