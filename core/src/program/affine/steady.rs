//! Registers that hold what they would hold whenever they were computed, while some others change.
//!
//! Lanes that have parted and meet again differ in what was written meanwhile, though each time all lanes of a group had the
//! same. They do not differ in what has one writer, which computes it from registers that nobody has written meanwhile, or that
//! are so themselves.

use crate::base::mutant::{Mutant, on};
use crate::program::env::{Function, ProgEnv};
use crate::program::instr::{Instr, MemOp, Op, Space};
use crate::program::uses::{reads, writes};
use fixedbitset::FixedBitSet;

/// Who writes each register of a function, and from what.
pub(super) struct Writers {
    /// By register: the only instruction that writes it, from the function's start.
    only: Vec<Option<u32>>,
    /// Registers with one writer that no guard holds back and whose result its operands decide, with these, in the order of the code.
    pure: Vec<(usize, Vec<usize>)>,
    /// By instruction: what it writes.
    by: Vec<Vec<usize>>,
}

impl Writers {
    pub fn of(env: &ProgEnv, function: &Function, code: &[Instr]) -> Self {
        let count = function.slots.count();
        let (mut only, mut written) = (vec![None; count], FixedBitSet::with_capacity(count));
        let mut by = vec![Vec::new(); code.len()];
        for (at, (instr, by)) in (0..).zip(code.iter().zip(&mut by)) {
            writes(instr, env, |class, slot| {
                if let Some(n) = function.slots.number(class, slot) {
                    only[n] = (!written.put(n)).then_some(at);
                    by.push(n);
                }
            });
        }
        let mut pure = Vec::new();
        for (at, (instr, by)) in (0..).zip(code.iter().zip(&by)) {
            if instr.guard.is_none() && is_pure(env, function, instr) {
                let (mut from, mut all) = (Vec::new(), true);
                reads(instr, env, |class, slot| {
                    let n = function.slots.number(class, slot);
                    all &= n.is_some();
                    from.extend(n);
                });
                if !all {
                    continue;
                }
                pure.extend(by.iter().filter(|n| only[**n] == Some(at)).map(|n| (*n, from.clone())));
            }
        }
        Self { only, pure, by }
    }

    /// How many registers there are.
    pub const fn registers(&self) -> usize {
        self.only.len()
    }

    /// The only instruction that writes a register.
    pub fn only(&self, register: usize) -> Option<u32> {
        self.only[register]
    }

    /// What instructions write.
    pub fn written(&self, code: std::ops::Range<u32>) -> impl Iterator<Item = usize> {
        self.by[code.start as usize..code.end as usize].iter().flatten().copied()
    }

    /// The registers that hold the same in all lanes, or lie on one line, whenever it was that each has computed them, while some
    /// registers are written.
    pub fn steady(&self, written: &FixedBitSet) -> FixedBitSet {
        let mut steady = FixedBitSet::with_capacity(self.registers());
        loop {
            let before = steady.count_ones(..);
            for (register, from) in &self.pure {
                if from.iter().all(|n| !written.contains(*n) || steady.contains(*n)) {
                    steady.insert(*register);
                }
            }
            if steady.count_ones(..) == before {
                return steady;
            }
        }
    }
}

/// Whether the result depends on the operands alone, whenever it is computed.
fn is_pure(env: &ProgEnv, function: &Function, instr: &Instr) -> bool {
    match instr.op {
        Op::Int(_) | Op::Float(_) => true,
        Op::Mem | Op::LdGlobal32 | Op::LdShared32 => env.request(instr).is_some_and(|of| {
            let fixed = of.space == Space::Const || of.space == Space::Param && function.entry;
            (fixed || on(Mutant::AffineLoad)) && of.op == MemOp::Load
        }),
        _ => false,
    }
}
