//! Which registers each instruction, or what comes after it, may still read: the others are dead, and their values make no
//! difference to anything that a thread does from there on (A. Appel, "Modern Compiler Implementation", 10.1).
//!
//! Asked of a linked program, tokens included. Each lane goes the way that its thread would go alone, whatever others of its
//! warp do meanwhile (report, 6.5; `--check safety` watches that), so that `sync` leads on and `break` to its target.

use super::env::{FuncId, Function, ProgEnv};
use super::instr::{Instr, Op, STACK_BASE, Slot};
use super::ops::Class;
use super::uses::{reads, writes};
use fixedbitset::FixedBitSet;
use indexmap::IndexSet;

/// Instructions times registers of a function at most; in a larger one all registers count as alive.
const LIMIT: usize = 1 << 26;

/// The registers of some functions that are alive before each of their instructions.
#[derive(Clone, Debug, Default)]
pub struct Alive {
    /// For each address, which of the sets; none in functions that were not asked about, or are too large.
    at: Vec<Option<u32>>,
    sets: IndexSet<Box<[(Class, Slot)]>>,
}

impl Alive {
    /// Those of an entry and of what it calls. `kept`: registers of threads that have ended will be looked at.
    #[must_use]
    pub fn of(env: &ProgEnv, entry: FuncId, kept: bool) -> Self {
        let mut alive = Self { at: vec![None; env.code.len()], sets: IndexSet::new() };
        let calls = |f: &Function| {
            let code = env.code.get(f.start.0 as usize..f.end.0 as usize).unwrap_or_default();
            code.iter().any(|i| matches!(i.op, Op::Call | Op::CallIndirect))
        };
        let Some(first) = env.function(entry) else { return alive };
        alive.add(env, first, kept);
        if calls(first) {
            env.functions.values().filter(|f| f.defined && !f.entry).for_each(|f| alive.add(env, f, false));
        }
        alive
    }

    /// The registers that are alive where an instruction is about to be executed, in order. `None`: all may be.
    #[must_use]
    pub fn before(&self, pc: u32) -> Option<&[(Class, Slot)]> {
        let set = (*self.at.get(pc as usize)?)?;
        self.sets.get_index(set as usize).map(|set| &**set)
    }

    fn add(&mut self, env: &ProgEnv, function: &Function, kept: bool) {
        let Some(before) = flow(env, function, kept) else { return };
        let slots = function.slots;
        for (at, alive) in (function.start.0 as usize..).zip(before) {
            let set: Box<[_]> = alive.ones().map(|n| slots.name(n)).collect();
            let (number, _) = self.sets.insert_full(set);
            if let Some(at) = self.at.get_mut(at) {
                *at = u32::try_from(number).ok();
            }
        }
    }
}

/// What is alive before each instruction of a function, by the usual equations backwards, until nothing changes.
fn flow(env: &ProgEnv, function: &Function, kept: bool) -> Option<Vec<FixedBitSet>> {
    let (start, end) = (function.start.0, function.end.0);
    let code = env.code.get(start as usize..end as usize)?;
    let slots = function.slots;
    let count = slots.count();
    if code.len().saturating_mul(count) > LIMIT {
        return None;
    }
    let next = successors(env, code, start)?;
    let mut before = vec![FixedBitSet::with_capacity(count); code.len()];
    let mut after = FixedBitSet::with_capacity(count);
    loop {
        let mut changed = false;
        for (k, i) in code.iter().enumerate().rev() {
            after.clear();
            next.get(k)?.iter().filter_map(|to| before.get(*to)).for_each(|alive| after.union_with(alive));
            // Lanes whose guard does not hold keep what they have.
            if i.guard.is_none() {
                writes(i, env, |class, slot| slots.number(class, slot).into_iter().for_each(|n| after.remove(n)));
            }
            reads(i, env, |class, slot| after.extend(slots.number(class, slot)));
            // Where a variable of the frame ends is found from there (`memory::flat`).
            after.extend(slots.number(Class::W, STACK_BASE));
            if kept && i.op == Op::Exit {
                after.insert_range(..);
            }
            let here = before.get_mut(k)?;
            if *here != after {
                here.union_with(&after);
                changed = true;
            }
        }
        if !changed {
            return Some(before);
        }
    }
}

/// Where a lane may go on from each instruction, within the function. `None`: it leaves it by other ways than calls and ends.
fn successors(env: &ProgEnv, code: &[Instr], start: u32) -> Option<Vec<Vec<usize>>> {
    let inside = |pc: u32| pc.checked_sub(start).map(|k| k as usize).filter(|k| *k < code.len());
    let mut all = Vec::with_capacity(code.len());
    for (k, i) in code.iter().enumerate() {
        let mut to = Vec::new();
        let ends = match i.op {
            Op::Bra | Op::Break => {
                to.push(inside(i.imm)?);
                true
            }
            Op::Brx => {
                for target in env.tables.get(i.imm as usize)? {
                    to.push(inside(*target)?);
                }
                true
            }
            Op::Exit | Op::Ret | Op::Trap => true,
            _ => false,
        };
        if (!ends || i.guard.is_some()) && k + 1 < code.len() {
            to.push(k + 1);
        }
        all.push(to);
    }
    Some(all)
}
