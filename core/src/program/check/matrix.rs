//! Matrix instructions: the combinations of shape and types that there are, and how many registers a fragment has.

use super::Checker;
use super::error::Problem;
use crate::program::forms::Need;
use crate::program::matrix::{Multiply, Part, form};
use crate::program::ops::Class;
use crate::ptx::tree::Names;
use crate::ptx::{Modifier, Opcode};

impl Checker<'_> {
    /// What is wrong with the shape and the types of a matrix instruction. Forms of sm_100 and later are not looked at.
    pub fn matrix_form(&self, opcode: Opcode, mods: &[Modifier], types: &[Modifier]) -> Option<Problem> {
        let sparse = form::sparse_ordered(mods, self.names).is_some();
        if !is_mma(opcode, mods, self.names) {
            return None;
        }
        let head = self.head(opcode, mods);
        match self.product(mods, types) {
            // There are more sparse ones from sm_120 on.
            None => (!sparse || self.checked.sm < 100).then_some(Problem::Matrix { head }),
            Some((_, need)) => (!self.has(need)).then(|| self.lacks(head, need)),
        }
    }

    /// The product that an `mma` names.
    fn product(&self, mods: &[Modifier], types: &[Modifier]) -> Option<(Multiply, Need)> {
        let of = if form::sparse_ordered(mods, self.names).is_some() { form::sparse } else { form::mma };
        of(mods, types, self.names, self.checked.sm.into())
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
            _ if is_mma(opcode, mods, self.names) => {
                let (of, _) = self.product(mods, types)?;
                let part = *[Part::D, Part::A, Part::B, Part::C].get(operand)?;
                Some((of.registers(part), if of.class(part) == Class::Q { 64 } else { 32 }))
            }
            _ => None,
        }
    }
}

/// Whether it is an `mma` without what sm_100 and later have.
fn is_mma(opcode: Opcode, mods: &[Modifier], names: &Names) -> bool {
    let other = |word: &Modifier| {
        let text = word.text(names);
        text.starts_with("kind::") || text.starts_with("block_scale")
    };
    opcode == Opcode::MMA && !mods.iter().any(other)
}
