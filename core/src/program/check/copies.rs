//! Asynchronous copies and barriers in memory: rules about modifiers and constants that no form can say.

use super::Checker;
use super::error::{CheckError, Problem};
use super::operand::Verdict;
use crate::program::consts::{self, Value};
use crate::program::forms::Need;
use crate::ptx::tree::{Instr, OperandKind};
use crate::ptx::{Modifier, Opcode};

impl Checker<'_> {
    /// What is wrong with the order of memory of an `mbarrier`: it and its scope come together, and are younger than the rest.
    pub fn order_of_mbarrier(&self, opcode: Opcode, mods: &[Modifier]) -> Option<Problem> {
        if opcode != Opcode::MBARRIER {
            return None;
        }
        let any = |words: &[Modifier]| mods.iter().find(|word| words.contains(word)).copied();
        let order = any(&[Modifier::ACQUIRE, Modifier::RELEASE, Modifier::RELAXED]);
        let counts = mods.iter().any(|word| word.text(self.names).ends_with("_tx"));
        let waits = mods.iter().any(|word| word.text(self.names).contains("wait"));
        let missing: &[&str] = match (order, any(&[Modifier::CTA, Modifier::CLUSTER])) {
            (Some(order), Some(_)) => {
                let need = match order {
                    Modifier::RELAXED if counts => Need::new((8, 0), 90),
                    Modifier::RELAXED => Need::new((8, 6), 90),
                    _ => Need::new((8, 0), 80),
                };
                let feature = || format!("{} of {}", self.word(order), opcode.text(self.names));
                return (!self.has(need)).then(|| self.lacks(feature(), need));
            }
            (Some(_), None) => &[".cta", ".cluster"],
            (None, Some(_)) if waits => &[".acquire", ".relaxed"],
            (None, Some(_)) if counts => &[".relaxed"],
            (None, Some(_)) => &[".release", ".relaxed"],
            (None, None) => return None,
        };
        let one_of = missing.iter().map(|&word| word.to_owned()).collect();
        Some(Problem::ModifierMissing { opcode: self.opcode(opcode), one_of })
    }

    /// What the state of an `mbarrier` is written to: nothing, where the barrier may be another block's.
    pub fn state_of_mbarrier(&self, instr: &Instr) -> Verdict {
        let Some(first) = instr.operands.first().filter(|_| instr.opcode == Opcode::MBARRIER) else { return Ok(()) };
        let sink = matches!(first.kind, OperandKind::Sink);
        let remote = instr.mods.contains(&Modifier::SHARED_CLUSTER);
        let arrives = instr.mods.first().is_some_and(|word| word.text(self.names).starts_with("arrive"));
        if remote && arrives && !sink {
            return Err(CheckError::boxed(Problem::RemoteState { opcode: self.opcode(instr.opcode) }, first.span));
        }
        let need = Need::new((7, 8), 80);
        if sink && !self.has(need) {
            return Err(CheckError::boxed(self.lacks("`_` as a destination".to_owned(), need), first.span));
        }
        Ok(())
    }

    /// The sizes of copies: 4, 8 or 16 bytes, beside the L1 cache 16 only, of which at most all are read; of bulk ones
    /// multiples of 16.
    pub fn sizes_of_copy(&self, instr: &Instr) -> Verdict {
        if instr.opcode != Opcode::CP {
            return Ok(());
        }
        let direct = instr.mods.contains(&Modifier::CG);
        let bulk = instr.mods.iter().any(|word| word.text(self.names) == "bulk");
        let tensor = instr.mods.iter().any(|word| word.text(self.names) == "tensor");
        let constant = |number: usize| {
            let operand = instr.operands.get(number)?;
            match consts::operand(&operand.kind) {
                Some(Ok(Value::Int { bits, .. })) => Some((bits.cast_signed(), operand.span)),
                _ => None,
            }
        };
        let prefetch = instr.operands.len() < 3 || instr.mods.iter().any(|word| word.text(self.names) == "prefetch");
        let number = if bulk && prefetch { 1 } else { 2 };
        let Some((size, span)) = constant(number).filter(|_| !tensor) else { return Ok(()) };
        if bulk {
            let (number, of) = (number + 1, 16);
            let odd = size % of != 0;
            let problem = || CheckError::boxed(Problem::Multiple { number, of, value: size }, span);
            return if odd { Err(problem()) } else { Ok(()) };
        }
        let sizes: &[i64] = if direct { &[16] } else { &[4, 8, 16] };
        if !sizes.contains(&size) {
            return Err(CheckError::boxed(Problem::Among { number: 3, among: sizes, value: size }, span));
        }
        match constant(3) {
            Some((value, span)) if !(0..=size).contains(&value) => {
                Err(CheckError::boxed(Problem::Range { number: 4, low: 0, high: size, value }, span))
            }
            _ => Ok(()),
        }
    }
}
