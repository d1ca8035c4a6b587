//! Registers that a lane has one value in for as long as its call lasts, once it has one.
//!
//! Where lanes meet that have come there on several ways, or at several times, they differ in what they have computed since
//! they parted, though each time all lanes of a group had the same. They do not differ in what follows from such registers alone.

use crate::base::mutant::{Mutant, on};
use crate::program::env::{Function, ProgEnv};
use crate::program::instr::{Instr, MemOp, Op, Slot, Space};
use crate::program::uses::{reads, writes};
use fixedbitset::FixedBitSet;

/// The registers of a function that are written where.
pub(super) struct Steady {
    /// By register: the only instruction that writes it, from the function's start.
    pub by: Vec<Option<u32>>,
    /// Which of them are steady.
    pub all: FixedBitSet,
}

impl Steady {
    pub fn of(env: &ProgEnv, function: &Function, code: &[Instr]) -> Self {
        let count = function.slots.count();
        let (mut by, mut written) = (vec![None; count], FixedBitSet::with_capacity(count));
        for (at, instr) in (0..).zip(code) {
            writes(instr, env, |class, slot| {
                if let Some(n) = function.slots.number(class, slot) {
                    by[n] = (!written.put(n)).then_some(at);
                }
            });
        }
        let mut steady = Self { by, all: written.clone() };
        // What nobody writes was there from the start.
        steady.all.toggle_range(..);
        while steady.more(env, function, code) {}
        steady
    }

    /// Adds what follows from those that are known. Tells whether there were any.
    fn more(&mut self, env: &ProgEnv, function: &Function, code: &[Instr]) -> bool {
        let before = self.all.count_ones(..);
        for (at, instr) in (0..).zip(code) {
            let mut follows = instr.guard.is_none() && is_pure(env, function, instr);
            reads(instr, env, |class, slot| {
                follows &= function.slots.number(class, slot).is_some_and(|n| self.all.contains(n));
            });
            if follows {
                writes(instr, env, |class, slot: Slot| {
                    let n = function.slots.number(class, slot);
                    self.all.extend(n.filter(|n| self.by[*n] == Some(at)));
                });
            }
        }
        self.all.count_ones(..) > before
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
