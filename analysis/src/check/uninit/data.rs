//! Definedness through data operations.
//!
//! A result is defined when all bytes that it is computed from are. Finer, because compilers rely on it: what only moves
//! bits (packs, shifts, fields, extensions, permutations) moves undefined bits as well, so the operation itself is applied
//! to the masks of undefined bits; and a bitwise result is defined where it does not depend on an undefined bit.

use super::cause::Cause;
use super::shadow::{Bytes, DEFINED, Regs, set_lane, size, undefined, whole};
use crate::alu::int::IntCvt;
use crate::base::{Frame, LaneMask, Pc, lanes_of};
use crate::check::plain::{apply, carry_slot, value};
use crate::program::instr::{Instr, Slot};
use crate::program::mode::FMode;
use crate::program::ops::{AluOp, Class, FloatOp, IntOp};

/// How undefined bits go through an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Any undefined byte makes the whole result undefined.
    Whole,
    /// The same within each group of so many bytes.
    Groups(usize),
    /// Bits move: so many sources are data, the rest say how.
    Move(usize),
    /// Each bit of the result depends on the same bit of the sources.
    Bitwise,
    /// A predicate chooses between two sources.
    Select,
}

fn kind(op: AluOp, mode: u32) -> Kind {
    use IntOp as I;
    match op {
        AluOp::Int(op) => match op {
            I::MovW | I::MovQ | I::MovP | I::NotP | I::Lo16 | I::Hi16 | I::TruncQW | I::Hi32 | I::ByteOfW => {
                Kind::Move(1)
            }
            I::HalfOfQ | I::Zx8 | I::Zx16 | I::Sx8H | I::Sx8W | I::Sx8Q | I::Sx16W | I::Sx16Q | I::SextWQ => {
                Kind::Move(1)
            }
            I::Zx8Q | I::Zx16Q | I::ZextWQ | I::Lo8OfQ | I::Lo16OfQ | I::Brev32 | I::Brev64 => Kind::Move(1),
            I::CvtWW | I::CvtWQ | I::CvtQW | I::CvtQQ if !IntCvt::of(mode).sat => Kind::Move(1),
            I::Shl16 | I::Shl32 | I::Shl64 | I::ShrU16 | I::ShrU32 | I::ShrU64 => Kind::Move(1),
            I::ShrS16 | I::ShrS32 | I::ShrS64 | I::BfeU32 | I::BfeU64 | I::BfeS32 | I::BfeS64 => Kind::Move(1),
            I::SzextClampU32 | I::SzextClampS32 | I::SzextWrapU32 | I::SzextWrapS32 => Kind::Move(1),
            I::ShfLClamp | I::ShfLWrap | I::ShfRClamp | I::ShfRWrap | I::Bfi32 | I::Bfi64 => Kind::Move(2),
            I::Pack8x2 | I::Pack16x2 | I::Pack32x2 => Kind::Move(2),
            I::Prmt | I::PrmtF4e | I::PrmtB4e | I::PrmtRc8 | I::PrmtEcl | I::PrmtEcr | I::PrmtRc16 => Kind::Move(2),
            I::Pack8x4 | I::Pack16x4 => Kind::Move(4),
            I::And32 | I::And64 | I::Or32 | I::Or64 | I::Xor32 | I::Xor64 | I::Not16 | I::Not32 | I::Not64 => {
                Kind::Bitwise
            }
            I::Lop3 | I::AndP | I::OrP | I::XorP => Kind::Bitwise,
            I::SelW | I::SelQ | I::SelP => Kind::Select,
            I::Add16x2 | I::MinU16x2 | I::MaxU16x2 | I::MinS16x2 | I::MaxS16x2 => Kind::Groups(2),
            I::MinReluS16x2 | I::MaxReluS16x2 => Kind::Groups(2),
            _ => Kind::Whole,
        },
        AluOp::Float(op) => match op {
            FloatOp::AddF32x2 | FloatOp::SubF32x2 | FloatOp::MulF32x2 | FloatOp::FmaF32x2 => Kind::Groups(4),
            FloatOp::AddHalf
            | FloatOp::SubHalf
            | FloatOp::MulHalf
            | FloatOp::FmaHalf
            | FloatOp::NegHalf
            | FloatOp::AbsHalf
            | FloatOp::MinHalf
            | FloatOp::MaxHalf
            | FloatOp::Ex2Half
            | FloatOp::TanhHalf
                if FMode(mode).has(FMode::PACKED) =>
            {
                Kind::Groups(2)
            }
            _ => Kind::Whole,
        },
    }
}

/// The sources of an operation.
struct Sources {
    classes: &'static [Class],
    slots: [Slot; 4],
    bytes: [Bytes; 4],
}

/// Carries definedness through an operation for `lanes` at `pc`; `regs` are the registers before it.
pub(super) fn run(op: AluOp, i: &Instr, pc: Pc, lanes: LaneMask, regs: &Frame, shadow: &mut Regs) {
    let shape = op.shape();
    let mut from = Sources { classes: shape.sources, slots: [i.a, i.b, i.c, i.e], bytes: [DEFINED; 4] };
    for ((bytes, class), slot) in from.bytes.iter_mut().zip(from.classes).zip(from.slots) {
        *bytes = shadow.get(*class, slot);
    }
    narrow(op, i.imm, &mut from.bytes[0]);
    let all = from.bytes.iter().fold(!0, |m, b| m & whole(b));
    let carry = carry_slot(op, i);
    if all & lanes == lanes {
        shadow.put(shape.dest, i.d, lanes, &DEFINED);
        if let Some(slot) = carry {
            shadow.put(Class::P, slot, lanes, &DEFINED);
        }
        return;
    }
    let holes = lanes & !all;
    let result = partly(op, i.imm, holes, &from, regs);
    let cause = |lane| Some((lane, from.cause(kind(op, i.imm), lane, pc, regs, shadow)?));
    let causes: Vec<(usize, Cause)> = lanes_of(holes).filter_map(cause).collect();
    shadow.put(shape.dest, i.d, lanes, &result);
    let bad = |(lane, _): &&(usize, Cause)| whole(&result) >> lane & 1 == 0;
    shadow.blame(shape.dest, i.d, causes.iter().filter(bad).copied());
    if let Some(slot) = carry {
        shadow.put(Class::P, slot, lanes, &[all; 8]);
        shadow.blame(Class::P, slot, causes);
    }
}

impl Sources {
    /// Why a lane's result is not defined: why the first undefined source that it depends on is not.
    fn cause(&self, kind: Kind, lane: usize, pc: Pc, regs: &Frame, shadow: &Regs) -> Option<Cause> {
        let bad = |k: &usize| whole(&self.bytes[*k]) >> lane & 1 == 0;
        let k = if kind == Kind::Select {
            let first = value(regs, self.classes[2], self.slots[2], lane) != 0;
            [2, if first { 0 } else { 1 }].into_iter().find(bad)
        } else {
            (0..self.classes.len()).find(bad)
        }?;
        Some(shadow.cause(self.classes[k], self.slots[k], lane, pc))
    }
}

/// A clamping conversion looks at its source type's bytes only.
fn narrow(op: AluOp, mode: u32, source: &mut Bytes) {
    if let AluOp::Int(IntOp::CvtWW | IntOp::CvtWQ | IntOp::CvtQW | IntOp::CvtQQ) = op {
        let used = IntCvt::of(mode).from_bits as usize / 8;
        source.iter_mut().skip(used).for_each(|b| *b = !0);
    }
}

/// The result when not all is defined: `lanes` are those with an undefined byte.
fn partly(op: AluOp, mode: u32, lanes: LaneMask, from: &Sources, regs: &Frame) -> Bytes {
    let mut result = DEFINED;
    // `sub r, r` gives zero whatever is in `r`.
    let same = from.slots[0] == from.slots[1];
    if same && matches!(op, AluOp::Int(IntOp::Sub16 | IntOp::Sub32 | IntOp::Sub64)) {
        return result;
    }
    match kind(op, mode) {
        Kind::Whole => result = [!lanes; 8],
        Kind::Groups(n) => {
            let mut both = DEFINED;
            for bytes in &from.bytes {
                both.iter_mut().zip(bytes).for_each(|(d, b)| *d &= b);
            }
            for (to, group) in result.chunks_mut(n).zip(both.chunks(n)) {
                to.fill(group.iter().fold(!0, |m, b| m & b));
            }
        }
        Kind::Move(data) => {
            lanes_of(lanes).for_each(|lane| set_lane(&mut result, lane, moved(op, mode, data, lane, from, regs)));
        }
        Kind::Bitwise => {
            lanes_of(lanes).for_each(|lane| set_lane(&mut result, lane, bitwise(op, mode, lane, from, regs)));
        }
        Kind::Select => {
            let [a, b, c, _] = &from.bytes;
            let chosen = regs.p.get(from.slots[2].index()).copied().unwrap_or(0);
            for ((d, a), b) in result.iter_mut().zip(a).zip(b) {
                let either = if same { *a } else { (chosen & a | !chosen & b) & c[0] };
                *d = either | !lanes;
            }
        }
    }
    result
}

/// The undefined bits of a result whose bits only move.
fn moved(op: AluOp, mode: u32, data: usize, lane: usize, from: &Sources, regs: &Frame) -> u64 {
    let mut masks = [0; 4];
    for (k, mask) in masks.iter_mut().enumerate().take(from.classes.len()) {
        let bits = undefined(&from.bytes[k], lane);
        if k < data {
            *mask = bits;
        } else if bits == 0 {
            *mask = value(regs, from.classes[k], from.slots[k], lane);
        } else {
            return !0;
        }
    }
    match op {
        // On one bit these do not move the mask but turn it over.
        AluOp::Int(IntOp::NotP | IntOp::MovP) => masks[0],
        _ => apply(op, masks, mode).0,
    }
}

/// The bits of a bitwise result that depend on an undefined bit: those that change when undefined bits do.
fn bitwise(op: AluOp, mode: u32, lane: usize, from: &Sources, regs: &Frame) -> u64 {
    let mut clear = [0; 4];
    let mut holes = [0; 4];
    for k in 0..from.classes.len() {
        let bits = size(from.classes[k]) * 8;
        holes[k] = undefined(&from.bytes[k], lane) & (u64::MAX >> (64 - bits));
        clear[k] = value(regs, from.classes[k], from.slots[k], lane) & !holes[k];
    }
    let base = apply(op, clear, mode).0;
    // Each bit by itself sees every combination; one register named twice has one value.
    (1u32..1 << from.classes.len()).fold(0, |changed, chosen| {
        let mut sources = clear;
        for k in 0..from.classes.len() {
            let first = (0..k).find(|j| from.slots[*j] == from.slots[k]).unwrap_or(k);
            if chosen >> first & 1 == 1 {
                sources[k] |= holes[k];
            }
        }
        changed | (apply(op, sources, mode).0 ^ base)
    })
}
