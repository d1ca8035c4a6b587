//! Video instructions (PTX ISA, "Video Instructions").

use super::function::FnLower;
use super::operand::nth;
use crate::alu::int::{Second, Video};
use crate::program::instr::Slot;
use crate::program::ops::{Class, IntOp};
use crate::program::select::Selected;
use crate::program::video::Lanes;
use crate::ptx::tree::{Instr, Operand, OperandKind};
use crate::ptx::{Modifier as M, Opcode};

/// The selector of an operand.
fn selector(operand: &Operand) -> Option<M> {
    if let OperandKind::Select { selector, .. } = operand.kind { Some(selector) } else { None }
}

/// Whether an operand is negated.
fn negated(operand: &Operand) -> bool {
    matches!(operand.kind, OperandKind::Minus(_) | OperandKind::Select { negated: true, .. })
}

impl<'t> FnLower<'_, 't> {
    /// A video instruction. Where a SIMD one does not take its values as they lie, a permutation puts them so before it.
    pub(super) fn video(&mut self, instr: &'t Instr, lanes: Lanes) -> Option<()> {
        let Selected { op, mode } = self.selected?;
        let mut video = Video::of(mode);
        let [a, b] = [nth(instr, 1)?, nth(instr, 2)?];
        let third = instr.operands.get(3);
        let into = nth(instr, 0)?;
        let names = self.unit.names();
        video.d = selector(into).map_or(Some(lanes.whole()), |word| lanes.destination(word, names))?;
        let parts = [lanes.source(selector(a), false, names)?, lanes.source(selector(b), true, names)?];
        video.minus_product = negated(a) != negated(b);
        video.minus_addend = third.is_some_and(negated);
        let mut sources = [self.word(a)?, self.word(b)?];
        if lanes == Lanes::One {
            [video.a, video.b] = parts;
        } else {
            sources = [self.permuted(sources, parts[0])?, self.permuted(sources, parts[1])?];
        }
        let used = video.second != Second::None || instr.opcode == Opcode::VMAD || video.d != lanes.whole();
        let c = match third.filter(|_| used) {
            Some(third) => self.word(third)?,
            None => self.constant(Class::W, 0)?,
        };
        let d = match into.kind {
            OperandKind::Select { name, .. } => self.register(name).filter(|reg| reg.class == Class::W)?.slot,
            _ => self.destination_of(into, Class::W)?,
        };
        self.operation(Selected { op, mode: video.mode() }, d, &[sources[0], sources[1], c])
    }

    /// An operand without its selector and its sign.
    fn word(&mut self, operand: &Operand) -> Option<Slot> {
        match operand.kind {
            OperandKind::Select { name, .. } | OperandKind::Minus(name) => {
                let reg = self.register(name).filter(|reg| reg.class == Class::W)?;
                self.widened(reg, Class::W)
            }
            _ => self.source(operand, Class::W, M::B32),
        }
    }

    /// A word of four bytes of two words, as `prmt` selects them.
    fn permuted(&mut self, [a, b]: [Slot; 2], bytes: u32) -> Option<Slot> {
        let [first, second] = match bytes & 0x4444 {
            0 => [a, a],
            0x4444 => [b, b],
            _ => [a, b],
        };
        match bytes {
            0x3210 => Some(a),
            0x7654 => Some(b),
            _ => {
                let bytes = self.constant(Class::W, bytes.into())?;
                self.helper(IntOp::Prmt, Class::W, &[first, second, bytes])
            }
        }
    }
}
