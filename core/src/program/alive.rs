//! Which registers each instruction, or what comes after it, may still read: the others are dead, and their values make no
//! difference to anything that a thread does from there on (A. Appel, "Modern Compiler Implementation", 10.1).
//!
//! Asked of a linked program, tokens included. Each lane goes the way that its thread would go alone, whatever others of its
//! warp do meanwhile (report, 6.5; `--check safety` watches that), so that `sync` leads on and `break` to its target.

use super::env::{FuncId, Function, ProgEnv};
use super::instr::{Instr, Op, STACK_BASE, Slot};
use super::ops::Class;
use super::uses::{reads, writes};
use crate::base::mutant::{Mutant, on};
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
            if i.guard.is_none() || on(Mutant::DeadGuarded) {
                writes(i, env, |class, slot| slots.number(class, slot).into_iter().for_each(|n| after.remove(n)));
            }
            reads(i, env, |class, slot| after.extend(slots.number(class, slot)));
            // Where a variable of the frame ends is found from there (`memory::flat`).
            if !on(Mutant::DeadBase) {
                after.extend(slots.number(Class::W, STACK_BASE));
            }
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
                let targets = env.tables.get(i.imm as usize)?;
                for target in targets.iter().take(if on(Mutant::DeadTargets) { 1 } else { targets.len() }) {
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

#[cfg(test)]
mod tests {
    use super::super::env::Slots;
    use super::super::instr::Guard;
    use super::super::ops::IntOp;
    use super::*;
    use crate::base::Pc;
    use chacha20::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    const SLOTS: u16 = 8;

    /// A function of moves, branches, calls and ends at random.
    fn random(rng: &mut ChaCha8Rng, len: u32) -> ProgEnv {
        let mut env = ProgEnv { tables: vec![vec![0, len / 2, len]], ..ProgEnv::default() };
        for _ in 0..len {
            let mut slot = || Slot(rng.random_range(2..SLOTS));
            let (d, a) = (slot(), slot());
            let guard = rng.random_bool(0.3).then_some(Guard { pred: Slot(0), negated: false });
            let (op, imm) = match rng.random_range(0..12) {
                0..=5 => (Op::Int(IntOp::MovW), 0),
                6..=7 => (Op::Bra, rng.random_range(0..=len)),
                8 => (Op::Break, rng.random_range(0..=len)),
                9 => (Op::Brx, 0),
                10 => (Op::Call, 0),
                _ => (Op::Exit, 0),
            };
            env.code.push(Instr { d, a, guard, imm, ..Instr::new(op) });
        }
        env.code.push(Instr::new(Op::Exit));
        let slots = Slots { w: SLOTS, q: 0, p: 1 };
        let function =
            Function { start: Pc(0), end: Pc(len + 1), entry: true, defined: true, slots, ..Function::default() };
        env.functions.insert("k".to_owned(), function);
        env
    }

    /// By definition: some way from the instruction reads the slot before it is surely written.
    fn by_definition(env: &ProgEnv, from: usize, wanted: (Class, Slot)) -> bool {
        let mut seen = vec![false; env.code.len()];
        let mut work = vec![from];
        while let Some(at) = work.pop() {
            let Some(i) = env.code.get(at) else { continue };
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            let (mut read, mut written) = (false, false);
            reads(i, env, |class, slot| read |= (class, slot) == wanted);
            writes(i, env, |class, slot| written |= (class, slot) == wanted);
            if read {
                return true;
            }
            if written && i.guard.is_none() {
                continue;
            }
            match i.op {
                Op::Bra | Op::Break => work.push(i.imm as usize),
                Op::Brx => work.extend(env.tables[0].iter().map(|pc| *pc as usize)),
                _ => {}
            }
            if i.guard.is_some() || !matches!(i.op, Op::Bra | Op::Break | Op::Brx | Op::Exit) {
                work.push(at + 1);
            }
        }
        false
    }

    #[test]
    fn agrees_with_the_definition() {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let (mut alive, mut dead) = (0, 0);
        for _ in 0..1000 {
            let len = rng.random_range(1..20);
            let env = random(&mut rng, len);
            let found = Alive::of(&env, FuncId(0), false);
            let all = (2..SLOTS).map(|s| (Class::W, Slot(s))).chain([(Class::P, Slot(0))]);
            for (at, wanted) in (0..=len).flat_map(|at| all.clone().map(move |slot| (at, slot))) {
                let here = found.before(at).unwrap();
                assert_eq!(
                    here.contains(&wanted),
                    by_definition(&env, at as usize, wanted),
                    "{wanted:?} at {at}: {:?}",
                    env.code
                );
                assert!(here.contains(&(Class::W, STACK_BASE)));
                *if here.contains(&wanted) { &mut alive } else { &mut dead } += 1;
            }
        }
        assert!(alive > 10_000 && dead > 10_000, "{alive} {dead}");
    }

    #[test]
    fn what_is_asked_for_at_the_end_is_alive_before_it() {
        let env = random(&mut ChaCha8Rng::seed_from_u64(1), 0);
        assert_eq!(Alive::of(&env, FuncId(0), false).before(0), Some(&[(Class::W, STACK_BASE)][..]));
        assert_eq!(Alive::of(&env, FuncId(0), true).before(0).map(<[_]>::len), Some(usize::from(SLOTS) + 1));
    }

    #[test]
    fn a_branch_out_of_a_function_leaves_all_alive() {
        let mut env = random(&mut ChaCha8Rng::seed_from_u64(1), 0);
        env.code[0] = Instr { imm: 7, ..Instr::new(Op::Bra) };
        assert_eq!(Alive::of(&env, FuncId(0), false).before(0), None);
        assert_eq!(Alive::of(&env, FuncId(0), false).before(9), None);
    }
}
