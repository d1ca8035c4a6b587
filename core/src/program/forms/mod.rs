//! The forms of every instruction, as data.
//!
//! The tables (`*.txt`, one per chapter of the PTX ISA's section 9.7) are read when an opcode is asked for. A line is
//!
//! ```text
//! opcode words : operands @ptx/sm = operations
//! ```
//!
//! `words` are the modifiers without their dots: `a|b` one of them is required, `{a|b}` one of them may be there,
//! `!a|b` one of them must follow the opcode at once (ptxas reads `mul.wide` or `cvta.to` as one opcode; elsewhere it
//! takes modifiers in any order, except that types keep theirs), `$name` a set of `sets.txt` or of the same file,
//! `m*n*k*` digits at each star, `~` anything. Operands are described by [`Role`]; `@7.0/80` is the first PTX version
//! and target that have the form, with letters where only such targets have it ([`Specific`]). A form that computes registers from registers names its operations in the order in
//! which they are tried: `ftz:AddFtzF32` serves where the modifier is there (several are joined by dots, types being the
//! first ones), `#` stands for the bits of the first type and `*` for its name.

mod form;
mod matching;
mod parse;

pub use form::{Choice, Form, Need, OperandForm, OperandType, Role, Slot, Specific, Word};
pub use matching::{Mismatch, Types, is_type};

use crate::ptx::{FORMS, Opcode};
use parse::Tables;
use std::sync::LazyLock;

/// The forms of an opcode, in the order of the tables; none for a word that is not an instruction.
pub fn forms(opcode: Opcode) -> &'static [Form] {
    static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables::new(include_str!("sets.txt"), FORMS));
    TABLES.forms(opcode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::tree::Names;

    #[test]
    fn every_opcode_has_a_form() {
        let mut names = Names::default();
        for text in Opcode::known() {
            let opcode = Opcode::of(text, &mut names);
            assert!(!forms(opcode).is_empty(), "no form of {text}");
        }
        assert!(names.is_empty());
    }

    #[test]
    fn every_line_is_understood() {
        let lines = FORMS
            .iter()
            .flat_map(|t| t.lines())
            .filter(|l| !l.is_empty() && !l.starts_with('#') && !l.starts_with("words "))
            .count();
        let opcodes = Opcode::known().iter().map(|text| Opcode::of(text, &mut Names::default()));
        assert_eq!(opcodes.map(|opcode| forms(opcode).len()).sum::<usize>(), lines);
    }
}
