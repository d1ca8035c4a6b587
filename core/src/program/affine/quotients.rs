//! Numbers of which the sign is taken only to divide them by a power of two: `x >> 31`, whose lowest bits are added to `x` before it
//! is shifted, which rounds towards zero.
//!
//! Where `x` lies on a line over the warp, its quotient is the same in all lanes of a row if no lane's is negative, which is so of
//! nearly all indices that are divided. It is assumed, as that widened numbers do not wrap around.

use crate::alu::int::IntOp;
use crate::program::env::{Function, ProgEnv};
use crate::program::instr::{Instr, Op};
use crate::program::ops::Class;
use crate::program::uses::reads;
use fixedbitset::FixedBitSet;

/// The instructions that take such a sign, from the function's start; `only`: the one writer of a register, if it has one.
pub(super) fn signs(
    env: &ProgEnv,
    function: &Function,
    code: &[Instr],
    only: impl Fn(usize) -> Option<u32>,
) -> FixedBitSet {
    let mut signs = FixedBitSet::with_capacity(code.len());
    for (at, instr) in code.iter().enumerate() {
        let number = function.slots.number(Class::W, instr.d);
        if instr.op == Op::Int(IntOp::ShrS32)
            && instr.guard.is_none()
            && let Some(n) = number.filter(|n| only(*n).is_some_and(|writer| writer as usize == at))
            && code.iter().all(|user| !is_read(env, function, user, n) || takes_low_bits(user, instr))
        {
            signs.insert(at);
        }
    }
    signs
}

fn is_read(env: &ProgEnv, function: &Function, instr: &Instr, register: usize) -> bool {
    let mut read = false;
    reads(instr, env, |class, slot| read |= function.slots.number(class, slot) == Some(register));
    read
}

/// Whether an instruction takes the lowest bits of a sign, as many as it is shifted.
fn takes_low_bits(instr: &Instr, sign: &Instr) -> bool {
    instr.op == Op::Int(IntOp::ShrU32) && instr.a == sign.d && instr.b != sign.d && instr.guard.is_none()
}
