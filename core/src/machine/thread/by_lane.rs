//! A data operation, lane by lane: what processors without vector units run, and what the vectorised dispatches of
//! `machine::thread::data` are tested against. It is compiled once, not once for each instruction set.

use crate::alu::apply;
use crate::base::{Frame, LaneMask, lanes_of};
use crate::program::instr::{self, Instr, Op, Slot};
use crate::program::ops::{AluOp, Class};

/// The data operation of an instruction, if it is one.
pub const fn data_op(op: Op) -> Option<AluOp> {
    match op {
        Op::Int(op) => Some(AluOp::Int(op)),
        Op::Float(op) => Some(AluOp::Float(op)),
        _ => None,
    }
}

/// A lane's value of a slot; zero where there is none.
pub fn value(regs: &Frame, class: Class, slot: Slot, lane: usize) -> u64 {
    instr::value(regs, class, slot, lane).unwrap_or(0)
}

/// Gives a slot a value in one lane.
fn put(regs: &mut Frame, class: Class, slot: Slot, lane: usize, value: u64) {
    let s = slot.index();
    match class {
        Class::W => regs.w[s].0[lane] = value as u32,
        Class::Q => regs.q[s].0[lane] = value,
        Class::P => regs.p[s] = regs.p[s] & !(1 << lane) | (value as LaneMask & 1) << lane,
    }
}

/// Where the carry-out of an operation goes, when it has one.
pub fn carry_slot(op: AluOp, i: &Instr) -> Option<Slot> {
    let shape = op.shape();
    let narrow = u16::try_from(i.imm & 0xffff).unwrap_or(u16::MAX);
    shape.carry_out.then_some(if shape.sources.len() == 4 { Slot(narrow) } else { i.e })
}

/// What an operation gives for a lane's sources: the destination's bits and the carry-out.
pub fn apply(op: AluOp, sources: [u64; 4], mode: u32) -> (u64, bool) {
    match op {
        AluOp::Int(op) => apply::int(op, sources, mode),
        AluOp::Float(op) => apply::float(op, sources, mode),
    }
}

/// Executes a data operation for the lanes of `mask` (rule `thread.dop`).
pub(in crate::machine) fn execute(i: &Instr, regs: &mut Frame, mask: LaneMask) {
    let Some(op) = data_op(i.op) else { return };
    let (shape, carry) = (op.shape(), carry_slot(op, i));
    for lane in lanes_of(mask) {
        let mut sources = [0; 4];
        for (source, (class, slot)) in sources.iter_mut().zip(shape.sources.iter().zip([i.a, i.b, i.c, i.e])) {
            *source = value(regs, *class, slot, lane);
        }
        let (result, carried) = apply(op, sources, i.imm);
        put(regs, shape.dest, i.d, lane, result);
        if let Some(slot) = carry {
            put(regs, Class::P, slot, lane, carried.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{LANES, LaneTables, Lanes32, Lanes64, expand};
    use crate::machine::thread::dispatch;
    use crate::program::instr::HotOp;
    use crate::program::ops::{FloatOp, IntOp};
    use chacha20::ChaCha8Rng;
    use pulp::Scalar;
    use rand::{RngExt, SeedableRng};

    fn frame(random: &mut ChaCha8Rng) -> Frame {
        // Small numbers, numbers near the ends and plain floating-point numbers are more telling than random bits.
        let mut bits = || match random.random_range(0..4) {
            0 => random.random_range(0..70),
            1 => u64::MAX - random.random_range(0..70),
            2 => u64::from(random.random_range(-9.0..9.0f32).to_bits()) * 0x1_0000_0001,
            _ => random.random(),
        };
        Frame {
            w: (0..6).map(|_| Lanes32(std::array::from_fn(|_| bits() as u32))).collect(),
            q: (0..6).map(|_| Lanes64(std::array::from_fn(|_| bits()))).collect(),
            p: (0..6).map(|_| bits() as u32).collect(),
        }
    }

    #[test]
    fn lanes_one_by_one_give_what_vectors_of_them_give() {
        let (mut random, tables) = (ChaCha8Rng::seed_from_u64(1), LaneTables::default());
        let int = IntOp::ALL.iter().map(|op| Op::Int(*op));
        let all: Vec<Op> = int.chain(FloatOp::ALL.iter().map(|op| Op::Float(*op))).collect();
        for op in all {
            let Some(shape) = data_op(op).map(AluOp::shape) else { unreachable!("{op:?} is a data operation") };
            for round in 0..8 {
                let mut i = Instr { d: Slot(5), a: Slot(1), b: Slot(2), c: Slot(3), e: Slot(4), ..Instr::new(op) };
                // Modes that no instruction has are answered too, by both alike.
                i.imm = if shape.carry_out { 4 } else { random.random_range(0..=round) };
                let mask: LaneMask = if round % 2 == 0 { !0 } else { random.random() };
                let before = frame(&mut random);
                let (mut one_by_one, mut vectors) = (before.clone(), before.clone());
                execute(&i, &mut one_by_one, mask);
                i.hot = HotOp::Other;
                dispatch::data_op(Scalar::new(), &i, &mut vectors, mask, &expand(mask, &tables), &tables);
                assert_eq!(one_by_one, vectors, "{i:?} for lanes {mask:#x} of {before:?}");
                let kept = (0..LANES).filter(|lane| mask >> lane & 1 == 0);
                for lane in kept {
                    assert_eq!(
                        value(&one_by_one, shape.dest, i.d, lane),
                        value(&before, shape.dest, i.d, lane),
                        "{i:?}"
                    );
                }
            }
        }
    }
}
