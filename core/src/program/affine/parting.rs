//! Where lanes that come to an instruction together may go on apart.

use super::pattern::Pattern;
use crate::base::mutant::{Mutant, on};
use crate::program::env::{Function, ProgEnv};
use crate::program::instr::{Instr, Op};
use crate::program::ops::Class;
use crate::program::uses::reads;

/// Whether lanes that come to an instruction together may go on from it apart.
pub(super) fn parts(env: &ProgEnv, function: &Function, instr: &Instr, state: &[Pattern]) -> bool {
    let mut uniform = true;
    reads(instr, env, |class, slot| {
        let pattern = function.slots.number(class, slot).map(|n| state[n]);
        uniform &= matches!(pattern, Some(Pattern::Affine(line)) if line.is_uniform());
    });
    let jumps = matches!(instr.op, Op::Bra | Op::Break | Op::Brx);
    if jumps {
        return !uniform;
    }
    // Those that end are nowhere afterwards.
    if env.injected || matches!(instr.op, Op::Exit | Op::Ret | Op::Trap) {
        return false;
    }
    let guard = instr.guard.is_some_and(|guard| {
        let pattern = function.slots.number(Class::P, guard.pred).map(|n| state[n]);
        !matches!(pattern, Some(Pattern::Affine(line)) if line.is_uniform())
    });
    match instr.op {
        // In what is called lanes may part, and some come back before others.
        Op::Call | Op::CallIndirect if on(Mutant::AffineCall) => false,
        Op::Call | Op::CallIndirect | Op::CopyWait | Op::BulkWait { .. } | Op::ClusterWait { .. } => true,
        // Whom each lane waits for is said by an operand.
        Op::Bar | Op::WarpSync | Op::Exchange => guard || !waits_alike(env, function, instr, state),
        op => guard && !op.is_plain(),
    }
}

/// Whether all lanes wait for the same others.
fn waits_alike(env: &ProgEnv, function: &Function, instr: &Instr, state: &[Pattern]) -> bool {
    let of = |slot| {
        let pattern = function.slots.number(Class::W, slot).map(|n| state[n]);
        matches!(pattern, Some(Pattern::Affine(line)) if line.is_uniform())
    };
    match instr.op {
        Op::Exchange => env.exchange(instr).is_none_or(|exchange| !exchange.sync || of(instr.e)),
        Op::Bar => {
            let Some(barrier) = env.barriers.get(instr.imm as usize) else { return false };
            (barrier.id.is_some() || of(instr.a)) && (!barrier.counted || of(instr.b))
        }
        _ => of(instr.a),
    }
}
