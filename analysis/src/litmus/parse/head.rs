//! Instructions by their names: the word before the operands, and which operands it takes. A wrong word is told before a
//! wrong operand.

use super::words::{Operands, Words, Wrong};
use super::{ptx, vulkan};
use crate::base::Span;
use crate::litmus::error::{Expected, LitmusErrorKind};
use crate::litmus::tree::{Arch, Arith, Instruction, Relation, Value};

/// The instruction of a name, which stands at a place, with its operands.
///
/// # Errors
/// The word that is wrong, or what lacks.
pub(super) fn instruction(text: &str, span: Span, operands: Vec<Value>, arch: Arch) -> Result<Instruction, Wrong> {
    let mut words = Words::of(text, span.start, arch);
    let (name, at) = words.next().unwrap_or(("", span));
    let mut operands = Operands::after(span, operands);
    let instruction = match (Arith::named(name), Relation::named(name)) {
        _ if name == "goto" => Instruction::Goto(operands.of("goto label", &words)?.name(Expected::Label)?),
        (Some(op), _) => {
            let of = operands.of("add register, value, value", &words)?;
            Instruction::Compute { op, to: of.register()?, left: of.value()?, right: of.value()? }
        }
        (_, Some(relation)) => {
            let of = operands.of("beq value, value, label", &words)?;
            let (left, right) = (of.value()?, of.value()?);
            Instruction::Branch { relation, left, right, to: of.name(Expected::Label)? }
        }
        _ => {
            let own = match arch {
                Arch::Ptx => ptx::instruction(name, &mut words, &mut operands)?,
                Arch::Vulkan => vulkan::instruction(name, &mut words, &mut operands)?,
                Arch::OpenCl | Arch::Lockstep => None,
            };
            own.ok_or((LitmusErrorKind::UnknownInstruction(arch), at))?
        }
    };
    operands.end()?;
    Ok(instruction)
}
