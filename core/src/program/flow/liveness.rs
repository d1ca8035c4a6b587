//! Which registers may be read before they are written.
//!
//! Register by register, backwards from the blocks that read before they write (A. Appel, "Modern Compiler Implementation",
//! 17.4, one variable at a time): the cost is the size of the live ranges, so that thousands of registers that live briefly
//! cost little, and no set of registers per block is kept.

use super::graph::{Buckets, Graph, index};
use crate::program::env::{self, ProgEnv};
use crate::program::fncode::FnCode;
use crate::program::instr::Slot;
use crate::program::ops::Class;
use crate::program::uses::{reads, writes};

/// Blocks looked at in all, over all registers, before giving up.
const LIMIT: u64 = 1 << 26;

/// Slots that some path from the function's start reads before it writes them, preloaded ones left out: they hold zeros
/// then (D-undefined). Sorted by class and slot. `env` holds the tables that the code refers to.
///
/// A guarded write does not count as a write, since lanes may sit it out. In a function so large that the answer would take
/// minutes, every slot that is not preloaded is given: that is safe, as more slots are set to zero than needed.
#[must_use]
pub fn undefined_at_entry(function: &FnCode, env: &ProgEnv) -> Vec<(Class, Slot)> {
    Slots::of(function).undefined(function, env, LIMIT)
}

/// The slots of a frame, and which of them are filled before it begins.
struct Slots {
    all: env::Slots,
    preloaded: Vec<bool>,
}

impl Slots {
    fn of(function: &FnCode) -> Self {
        let mut slots = Self { all: function.slots, preloaded: vec![false; function.slots.count()] };
        // The bounds of the stack frame are always there.
        let bounds = [Slot(0), Slot(1)].map(|slot| (Class::W, slot));
        let given = function.preloads.iter().map(|p| (p.class, p.slot));
        for (class, slot) in given.chain(bounds) {
            if let Some(n) = slots.all.number(class, slot) {
                slots.preloaded[n] = true;
            }
        }
        slots
    }

    fn undefined(&self, function: &FnCode, env: &ProgEnv, limit: u64) -> Vec<(Class, Slot)> {
        let graph = Graph::of(&function.code, &function.tables);
        let count = self.preloaded.len();
        // (slot, block): reads that no write of the block precedes; blocks that surely write.
        let (mut early, mut kills) = (Vec::new(), Vec::new());
        let (mut read_in, mut written_in) = (vec![u32::MAX; count], vec![u32::MAX; count]);
        for (b, block) in graph.blocks().iter().enumerate() {
            let b = index(b);
            for instr in &function.code[block.start as usize..block.end as usize] {
                reads(instr, env, |class, slot| {
                    let Some(n) = self.all.number(class, slot).filter(|n| !self.preloaded[*n]) else { return };
                    if written_in[n] != b && read_in[n] != b {
                        read_in[n] = b;
                        early.push((index(n), b));
                    }
                });
                if instr.guard.is_some() {
                    continue;
                }
                writes(instr, env, |class, slot| {
                    if let Some(n) = self.all.number(class, slot)
                        && written_in[n] != b
                    {
                        written_in[n] = b;
                        kills.push((index(n), b));
                    }
                });
            }
        }
        let early_of = Buckets::new(count, early.iter().map(|e| e.0));
        let kills_of = Buckets::new(count, kills.iter().map(|e| e.0));
        // For which slot a block was last seen, or is known to write.
        let mut seen = vec![u32::MAX; graph.blocks().len()];
        let mut found = Vec::new();
        let mut work = Vec::new();
        let mut cost = 0u64;
        for n in 0..count {
            let slot = index(n);
            if early_of.of(n).is_empty() {
                continue;
            }
            work.clear();
            for kill in kills_of.of(n) {
                seen[kills[*kill as usize].1 as usize] = slot;
            }
            for read in early_of.of(n) {
                let block = early[*read as usize].1;
                seen[block as usize] = slot;
                work.push(block);
            }
            while let Some(block) = work.pop() {
                if block == 0 {
                    found.push(n);
                    break;
                }
                for before in graph.predecessors(block as usize) {
                    if std::mem::replace(&mut seen[before as usize], slot) != slot {
                        work.push(before);
                    }
                }
                cost += 1 + graph.entering(block as usize).len() as u64;
            }
            if cost > limit {
                return (0..count).filter(|n| !self.preloaded[*n]).map(|n| self.all.name(n)).collect();
            }
        }
        found.into_iter().map(|n| self.all.name(n)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::instr::{Guard, Instr, Op};
    use crate::program::ops::IntOp;
    use chacha20::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    const SLOTS: u16 = 8;

    fn random_function(rng: &mut ChaCha8Rng, len: u32) -> FnCode {
        let mut code = Vec::new();
        for _ in 0..len {
            let mut slot = || Slot(rng.random_range(2..SLOTS));
            let (d, a) = (slot(), slot());
            let guard = rng.random_bool(0.3).then_some(Guard { pred: Slot(0), negated: false });
            let op = match rng.random_range(0..10) {
                0..=5 => Op::Int(IntOp::MovW),
                6..=8 => Op::Bra,
                _ => Op::Exit,
            };
            code.push(Instr { d, a, guard, imm: rng.random_range(0..=len), ..Instr::new(op) });
        }
        code.push(Instr::new(Op::Exit));
        let slots = env::Slots { w: SLOTS, q: 0, p: 1 };
        FnCode { code, slots, ..FnCode::default() }
    }

    /// By definition: walks all (instruction, slot) pairs from the start over instructions that do not write the slot.
    fn by_definition(function: &FnCode) -> Vec<(Class, Slot)> {
        let env = ProgEnv::default();
        let slots = (2..SLOTS).map(|s| (Class::W, Slot(s))).chain([(Class::P, Slot(0))]);
        let undefined = |(class, slot): &(Class, Slot)| {
            let mut seen = vec![false; function.code.len() + 1];
            let mut work = vec![0];
            while let Some(at) = work.pop() {
                let Some(instr) = function.code.get(at) else { continue };
                if std::mem::replace(&mut seen[at], true) {
                    continue;
                }
                let (mut reads_it, mut writes_it) = (false, false);
                reads(instr, &env, |c, s| reads_it |= (c, s) == (*class, *slot));
                writes(instr, &env, |c, s| writes_it |= (c, s) == (*class, *slot));
                if reads_it {
                    return true;
                }
                let guarded = instr.guard.is_some();
                if writes_it && !guarded {
                    continue;
                }
                if instr.op == Op::Bra {
                    work.push(instr.imm as usize);
                }
                if guarded || !matches!(instr.op, Op::Bra | Op::Exit) {
                    work.push(at + 1);
                }
            }
            false
        };
        slots.filter(undefined).collect()
    }

    #[test]
    fn agrees_with_the_definition() {
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        let mut some = 0;
        for _ in 0..3000 {
            let len = rng.random_range(1..16);
            let function = random_function(&mut rng, len);
            let found = undefined_at_entry(&function, &ProgEnv::default());
            assert_eq!(found, by_definition(&function), "{:?}", function.code);
            some += found.len();
        }
        assert!(some > 3000);
    }

    #[test]
    fn preloaded_slots_are_defined_and_too_much_work_gives_all() {
        let mut function = random_function(&mut ChaCha8Rng::seed_from_u64(7), 10);
        let init = env::Init::Const(0);
        function.preloads = vec![env::Preload { class: Class::W, slot: Slot(2), init }];
        let all: Vec<_> = (3..SLOTS).map(|s| (Class::W, Slot(s))).chain([(Class::P, Slot(0))]).collect();
        function.code[0] = Instr { a: Slot(3), d: Slot(4), ..Instr::new(Op::Int(IntOp::MovW)) };
        function.code[1] = Instr { a: Slot(5), d: Slot(2), ..Instr::new(Op::Int(IntOp::MovW)) };
        function.code.insert(1, Instr { imm: 2, ..Instr::new(Op::Bra) });
        let env = ProgEnv::default();
        assert_eq!(Slots::of(&function).undefined(&function, &env, 0), all);
        assert!(!undefined_at_entry(&function, &env).contains(&(Class::W, Slot(2))));
    }
}
