//! Operands that are fragments of matrices, against what is known of them.

use super::Checker;
use super::error::Expected;
use super::matrix::Fragment;
use super::operand::{Arg, Context, Verdict};
use crate::program::types::{Class, register_fits, type_info};
use crate::ptx::Modifier;
use crate::ptx::tree::{Operand, OperandKind};

impl Checker<'_> {
    /// Whether an operand is the registers of a fragment. One of untyped bits is enough for ptxas, and a number may stand for a
    /// register that is read.
    pub(super) fn registers(
        &mut self,
        operand: &Operand,
        Fragment { registers, ty }: Fragment,
        cx: &Context,
    ) -> Verdict {
        let list = match &operand.kind {
            OperandKind::Vector(list) => list,
            _ => std::slice::from_ref(operand),
        };
        let bits = type_info(ty).map(|info| info.bits);
        let (mut found, mut fits, mut untyped, mut classes) = (0, true, false, [false; 2]);
        for element in list {
            found += 1;
            match self.classify(element, cx) {
                Arg::Register(reg, lanes) => {
                    let scalar = lanes == 1 && matches!(operand.kind, OperandKind::Vector(_));
                    let vector = lanes > 1 && !matches!(operand.kind, OperandKind::Vector(_));
                    let info = type_info(reg).filter(|info| Some(info.bits) == bits && (scalar || vector));
                    found += usize::from(lanes) - 1;
                    untyped |= info.is_some_and(|info| info.class == Class::Bits);
                    classes[0] |= info.is_some_and(|info| info.class == Class::Int);
                    classes[1] |= info.is_some_and(|info| info.class == Class::Float);
                    fits &= register_fits(ty, reg, false);
                    if info.is_none() {
                        found = usize::MAX / 2;
                    }
                }
                Arg::Int(_) => {
                    classes[0] = true;
                    fits &= register_fits(ty, Modifier::U32, true);
                }
                Arg::F32 | Arg::F64 => {}
                _ if matches!(element.kind, OperandKind::Sink) => {}
                _ => found = usize::MAX / 2,
            }
        }
        if found == registers && (fits || untyped) && (untyped || classes != [true; 2]) {
            return Ok(());
        }
        let word = if ty == Modifier::F32 {
            ty
        } else if bits == Some(64) {
            Modifier::B64
        } else {
            Modifier::B32
        };
        self.wrong(operand, Expected::Vector(registers, self.word(word)), cx)
    }

    /// Whether a list has registers only, or numbers, where it is read.
    pub(super) fn all_registers(&mut self, list: &[Operand], cx: &Context) -> Verdict {
        for operand in list.iter() {
            let read = cx.number > 1;
            let fits = match self.classify(operand, cx) {
                Arg::Register(..) => true,
                Arg::Int(_) | Arg::F32 | Arg::F64 => read,
                _ => matches!(operand.kind, OperandKind::Sink),
            };
            if !fits {
                return self.wrong(operand, Expected::Group, cx);
            }
        }
        Ok(())
    }
}
