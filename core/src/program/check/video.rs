//! Video instructions: selectors and negations, as ptxas takes them.

use super::Checker;
use super::error::{CheckError, Problem};
use super::operand::Verdict;
use crate::program::video::Lanes;
use crate::ptx::tree::{Instr, OperandKind};
use crate::ptx::{Modifier, Opcode};

impl Checker<'_> {
    /// What the table of forms does not say of a video instruction's operands.
    pub fn video(&self, instr: &Instr, lanes: Lanes) -> Verdict {
        for (number, operand) in instr.operands.iter().enumerate() {
            let OperandKind::Select { selector, .. } = operand.kind else { continue };
            let valid = match number {
                0 => self.selects_destination(instr, lanes) && lanes.destination(selector, self.names).is_some(),
                1 | 2 => lanes.source(Some(selector), number == 2, self.names).is_some(),
                _ => false,
            };
            if !valid {
                let allowed = match number {
                    0 if self.selects_destination(instr, lanes) => lanes.destinations(),
                    1 | 2 => lanes.sources(),
                    _ => "",
                };
                let (opcode, selector) = (self.opcode(instr.opcode), self.word(selector));
                let problem = Problem::Selector { opcode, number: number + 1, selector, allowed };
                return Err(CheckError::boxed(problem, operand.span));
            }
        }
        let negated = |number: usize| {
            instr.operands.get(number).is_some_and(|operand| {
                matches!(operand.kind, OperandKind::Minus(_) | OperandKind::Select { negated: true, .. })
            })
        };
        let (product, addend) = (negated(1) != negated(2), negated(3));
        let one = instr.mods.contains(&Modifier::PO);
        if instr.opcode == Opcode::VMAD && (negated(0) || product && addend || one && (product || addend)) {
            return Err(CheckError::boxed(Problem::Negations { one }, instr.span));
        }
        Ok(())
    }

    /// Whether the destination may have a selector: a part of the third source is replaced, and nothing else done with it.
    fn selects_destination(&self, instr: &Instr, lanes: Lanes) -> bool {
        let second = |word: &Modifier| matches!(*word, Modifier::ADD | Modifier::MIN | Modifier::MAX);
        let merges = instr.opcode != Opcode::VMAD && instr.operands.len() == 4 && !instr.mods.iter().any(second);
        lanes != Lanes::One || merges
    }
}
