//! Matrix instructions: the combinations of shape and types that there are, and the registers of their fragments.

use super::Checker;
use super::error::Problem;
use crate::alu::matrix::{Element, Floats};
use crate::program::forms::Need;
use crate::program::matrix::{Multiply, Part, Types, form, wmma};
use crate::program::ops::Class;
use crate::ptx::tree::Names;
use crate::ptx::{Modifier, Opcode};

/// An operand that is a fragment.
#[derive(Clone, Copy)]
pub struct Fragment {
    /// How many registers it has.
    pub registers: usize,
    /// The type that they have, or of whose size they are bits.
    pub ty: Modifier,
}

impl Checker<'_> {
    /// What is wrong with the shape and the types of a matrix instruction. Forms of sm_100 and later are not looked at.
    pub fn matrix_form(&self, opcode: Opcode, mods: &[Modifier], types: &[Modifier]) -> Option<Problem> {
        let head = || self.head(opcode, mods);
        match opcode {
            Opcode::WMMA => self.wmma_form(mods, types, head()),
            _ if is_mma(opcode, mods, self.names) => match self.product(mods, types) {
                Some((_, need)) => (!self.has(need)).then(|| self.lacks(head(), need)),
                // There are more sparse ones from sm_120 on.
                None => {
                    let sparse = form::sparse_ordered(mods, self.names).is_some();
                    (!sparse || self.checked.sm < 100).then(|| Problem::Matrix { head: head() })
                }
            },
            _ => None,
        }
    }

    /// The same of a `wmma`.
    fn wmma_form(&self, mods: &[Modifier], types: &[Modifier], head: String) -> Option<Problem> {
        let Some((of, part)) = self.whole(mods, types) else { return Some(Problem::Matrix { head }) };
        let rows: Vec<bool> = mods
            .iter()
            .filter(|word| matches!(**word, Modifier::ROW | Modifier::COL))
            .map(|word| *word == Modifier::ROW)
            .collect();
        let lies = match (part, &rows[..]) {
            (Some(part), [rows]) => wmma::may_lie(&of, part, *rows),
            (None, [a, b]) => wmma::may_lie(&of, Part::A, *a) && wmma::may_lie(&of, Part::B, *b),
            _ => false,
        };
        let rounds = |word: &Modifier| matches!(*word, Modifier::RN | Modifier::RZ | Modifier::RM | Modifier::RP);
        let rounded = of.types != Types::Doubles && mods.iter().any(rounds);
        let at = |wanted: &[Modifier]| mods.iter().position(|word| wanted.contains(word));
        let combines = at(&[Modifier::XOR, Modifier::AND]);
        let logical = part.is_some()
            || matches!(of.types, Types::Bits { .. }) == combines.is_some() && combines <= at(&[Modifier::POPC]);
        // Sums of numbers with a fraction could saturate in the first versions.
        let old = matches!(of.types, Types::Floats(_)) && types.len() == 2 && self.checked.version < (6, 5);
        let saturates = mods.contains(&Modifier::SATFINITE) && !old && !matches!(of.types, Types::Integers { .. });
        if !lies || rounded || !logical || saturates {
            return Some(Problem::Matrix { head });
        }
        let need = wmma::need(&of);
        (!self.has(need)).then(|| self.lacks(head, need))
    }

    /// The product that a `wmma` is about, and the matrix that it moves.
    fn whole(&self, mods: &[Modifier], types: &[Modifier]) -> Option<(Multiply, Option<Part>)> {
        let (names, sm) = (self.names, self.checked.sm.into());
        let part = match mods {
            [Modifier::LOAD, Modifier::A, ..] => Part::A,
            [Modifier::LOAD, Modifier::B, ..] => Part::B,
            [Modifier::LOAD, ..] => Part::C,
            [Modifier::STORE, ..] => Part::D,
            _ => {
                let half = Modifier::F16;
                let types = match *types {
                    [d, c] => [d, half, half, c],
                    // With those of `A` and `B` it is written for other types.
                    [d, a, b, c] if (a, b) != (half, half) => [d, a, b, c],
                    _ => return None,
                };
                return Some((wmma::product(mods, types, names, sm)?, None));
            }
        };
        Some((wmma::moved(mods, *types.last()?, part, names, sm)?, Some(part)))
    }

    /// The product that an `mma` names.
    fn product(&self, mods: &[Modifier], types: &[Modifier]) -> Option<(Multiply, Need)> {
        let of = if form::sparse_ordered(mods, self.names).is_some() { form::sparse } else { form::mma };
        of(mods, types, self.names, self.checked.sm.into())
    }

    /// What is known of an operand that is a fragment.
    pub fn fragment(&self, opcode: Opcode, mods: &[Modifier], types: &[Modifier], operand: usize) -> Option<Fragment> {
        let parts = [Part::D, Part::A, Part::B, Part::C];
        match opcode {
            Opcode::LDMATRIX | Opcode::STMATRIX if types == [Modifier::B16] => {
                let counts = [(Modifier::X1, 1), (Modifier::X2, 2), (Modifier::X4, 4)];
                let (_, registers) = *counts.iter().find(|(word, _)| mods.contains(word))?;
                Some(Fragment { registers, ty: Modifier::B32 })
            }
            Opcode::WMMA => {
                let (of, part) = self.whole(mods, types)?;
                let part = part.or_else(|| parts.get(operand).copied())?;
                Some(Fragment { registers: wmma::registers(&of, part), ty: held(&of, part) })
            }
            _ if is_mma(opcode, mods, self.names) => {
                let (of, _) = self.product(mods, types)?;
                let part = *parts.get(operand)?;
                Some(Fragment { registers: of.registers(part), ty: held(&of, part) })
            }
            _ => None,
        }
    }
}

/// The type of the registers that hold elements of a matrix, as ptxas wants them: what is shorter than a register and no integer
/// is bits.
fn held(of: &Multiply, part: Part) -> Modifier {
    let sum = matches!(part, Part::C | Part::D);
    match of.types {
        _ if of.class(part) == Class::Q => Modifier::B64,
        Types::Floats(_) if sum && of.element_bits(part) == 32 => Modifier::F32,
        Types::Floats(Floats { a: Element::E4m3 | Element::E5m2, .. }) if !sum => Modifier::B32,
        Types::Floats(Floats { a: Element::Tf32, .. }) if of.sparse.is_some() => Modifier::B32,
        Types::Floats(_) => Modifier::F16X2,
        _ => Modifier::S32,
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
