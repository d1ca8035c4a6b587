//! Branches that part lanes and what these execute apart, up to where they meet: what native code goes through without asking the
//! control model, first with the lanes that take the branch and then with the others, as the token stack has it.

use super::forms::{Token, Way, results, successors};
use super::plan::{Held, Plan, Region};
use crate::machine::control::TokenKind;
use crate::program::env::ProgEnv;
use crate::program::ops::Class;
use std::collections::BTreeSet;

/// Instructions of a region at most: they are compiled once more for lanes that have parted, and once again for each region around.
const SIZE: usize = 1 << 7;

/// Those of all instructions.
pub(super) fn regions(plan: &Plan, env: &ProgEnv) -> Vec<Option<Region>> {
    (0..plan.code.len()).map(|k| Region::of(plan, env, k)).collect()
}

impl Region {
    /// That of a branch. `None`: a side leads to a barrier, an end, a `break` or the branch itself, or what is held as a line where
    /// the lanes meet is not what was held before they parted.
    fn of(plan: &Plan, env: &ProgEnv, k: usize) -> Option<Self> {
        let i = plan.code.get(k).filter(|i| i.guard.is_some() && plan.ways[k] == Way::Branch)?;
        let stack = plan.tokens[k].as_deref()?;
        let start = plan.function.start.0;
        let join = place(stack.last().copied()?, start)?;
        let mut written = BTreeSet::new();
        let mut side = |entry| side_of(plan, env, (k, entry), stack, &mut written);
        let ((taken, size), (others, more)) = (side(i.imm.checked_sub(start)? as usize)?, side(k + 1)?);
        let function = &plan.function;
        let stays = |held: &Held| {
            let n = function.slots.number(held.class, held.slot)?;
            let here = plan.line(k, n).filter(|_| !written.contains(&n))?;
            Some((here.stride, here.halves) == (held.line.stride, held.line.halves))
        };
        let all = plan.held.get(join)?.iter().all(|held| stays(held) == Some(true));
        (all && !plan.patterns.before.get(join)?.is_empty()).then(|| {
            let predicates = written.iter().copied().filter(|n| function.slots.name(*n).0 == Class::P).collect();
            Self { join, sides: [taken, others], size: size + more, predicates }
        })
    }
}

/// Where lanes go on that `sync` by way of a token.
fn place((kind, to): Token, start: u32) -> Option<usize> {
    to.checked_sub(start).filter(|_| kind == TokenKind::Sync).map(|to| to as usize)
}

/// Where the blocks of a side begin, and how many instructions it has; adds to the registers that are `written`.
fn side_of(
    plan: &Plan,
    env: &ProgEnv,
    (branch, entry): (usize, usize),
    stack: &[Token],
    written: &mut BTreeSet<usize>,
) -> Option<(BTreeSet<usize>, usize)> {
    let start = plan.function.start.0;
    let (mut blocks, mut work, mut size) = (BTreeSet::new(), vec![entry], 0);
    while let Some(begin) = work.pop() {
        if !*plan.leaders.get(begin)? || !blocks.insert(begin) {
            continue;
        }
        let mut k = begin;
        loop {
            let i = plan.code.get(k)?;
            let inside = plan.tokens[k].as_deref()?;
            if k == branch || plan.patterns.before[k].is_empty() || inside.get(..stack.len()) != Some(stack) {
                return None;
            }
            size += 1;
            match plan.ways[k] {
                Way::Break | Way::Barrier | Way::End | Way::Outside => return None,
                Way::Sync if inside.len() > stack.len() => work.push(place(*inside.last()?, start)?),
                Way::Sync => {}
                Way::Branch => work.extend(successors(i, k, start, env)),
                _ => written.extend(results(i, env, &plan.function)),
            }
            if plan.ways[k].ends() {
                break;
            }
            k += 1;
            if *plan.leaders.get(k)? {
                work.push(k);
                break;
            }
        }
        if size > SIZE {
            return None;
        }
    }
    Some((blocks, size))
}
