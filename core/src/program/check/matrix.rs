//! Matrix instructions: the combinations of shape and types that there are, and how many registers a fragment has.

use super::Checker;
use super::error::Problem;
use crate::program::matrix::{Multiply, Part, form};
use crate::program::ops::Class;
use crate::ptx::{Modifier, Opcode};

impl Checker<'_> {
    /// What is wrong with the shape and the types of a matrix instruction. Sparse forms and those of sm_100 are not looked at.
    pub fn matrix_form(&self, opcode: Opcode, mods: &[Modifier], types: &[Modifier]) -> Option<Problem> {
        if !self.is_dense(opcode, mods) {
            return None;
        }
        let head = self.head(opcode, mods);
        match form::mma(mods, types, self.names, self.checked.sm.into()) {
            None => Some(Problem::Matrix { head }),
            Some((_, need)) => (!self.has(need)).then(|| self.lacks(head, need)),
        }
    }

    /// How many registers an operand of a matrix instruction has, and of how many bits each; `None`: not known here.
    pub fn fragment(
        &self,
        opcode: Opcode,
        mods: &[Modifier],
        types: &[Modifier],
        operand: usize,
    ) -> Option<(usize, u16)> {
        let moved = |count| Some((count, 32));
        match opcode {
            Opcode::LDMATRIX | Opcode::STMATRIX if types == [Modifier::B16] => {
                let counts = [(Modifier::X1, 1), (Modifier::X2, 2), (Modifier::X4, 4)];
                counts.iter().find(|(word, _)| mods.contains(word)).and_then(|(_, count)| moved(*count))
            }
            _ if self.is_dense(opcode, mods) => {
                let (of, _): (Multiply, _) = form::mma(mods, types, self.names, self.checked.sm.into())?;
                let part = *[Part::D, Part::A, Part::B, Part::C].get(operand)?;
                Some((of.registers(part), if of.class(part) == Class::Q { 64 } else { 32 }))
            }
            _ => None,
        }
    }

    /// Whether it is an `mma` of dense matrices.
    fn is_dense(&self, opcode: Opcode, mods: &[Modifier]) -> bool {
        let other = |word: &Modifier| {
            let text = word.text(self.names);
            text.starts_with("sp") || text.starts_with("kind::") || text.starts_with("block_scale")
        };
        opcode == Opcode::MMA && !mods.iter().any(other)
    }
}
