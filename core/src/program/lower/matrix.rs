//! Matrix instructions (PTX ISA 9.7.14).
//!
//! `ldmatrix` is two instructions here: lanes read rows, then rows become fragments; `stmatrix` the other way round. So their
//! accesses are accesses like others, for every memory and check.

use super::function::{FnLower, Role};
use super::memory::space_word;
use super::operand::{constant_value, nth};
use crate::program::env::{Init, Special};
use crate::program::instr::{Guard, Instr, MemOp, NO_SLOT, Op, Slot, Space, WarpRequest};
use crate::program::matrix::{Matrix, MatrixKind, Part, Registers, form};
use crate::program::ops::{Class, IntOp};
use crate::ptx::Modifier as M;
use crate::ptx::tree::{self, Operand, OperandKind};

impl<'t> FnLower<'_, 't> {
    /// `mma.sync.aligned… d, a, b, c` and `mma.sp.sync.aligned… d, a, b, c, e, f`.
    pub(super) fn mma(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let (sm, names) = (self.program.env.target.sm, self.unit.names());
        let (of, metadata) = match *instr.operands {
            [_, _, _, _] => (form::mma(&instr.mods, self.types, names, sm)?.0, Registers::default()),
            [_, _, _, _, ref metadata, ref selector] => {
                let (mut of, _) = form::sparse(&instr.mods, self.types, names, sm)?;
                if let Some(sparse) = &mut of.sparse {
                    sparse.selector = u32::try_from(self.immediate(selector)?).ok()?;
                }
                let slots = [self.source(metadata, Class::W, M::U32)?].into();
                (of, Registers { class: Class::W, slots })
            }
            _ => return None,
        };
        let mut fragment = |number, part| {
            let registers = self.fragment(nth(instr, number)?, of.class(part), part == Part::D)?;
            (registers.slots.len() == of.registers(part)).then_some(registers)
        };
        let d = fragment(0, Part::D)?;
        let sources = [fragment(1, Part::A)?, fragment(2, Part::B)?, fragment(3, Part::C)?, metadata];
        self.together(Role::Main, Matrix { kind: MatrixKind::Multiply(of), d, sources })
    }

    /// `movmatrix.sync.aligned.m8n8.trans.b16 d, a`.
    pub(super) fn movmatrix(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let d = self.fragment(nth(instr, 0)?, Class::W, true)?;
        let from = self.fragment(nth(instr, 1)?, Class::W, false)?;
        let sources = alone(from);
        self.together(Role::Main, Matrix { kind: MatrixKind::Transpose, d, sources })
    }

    /// `ldmatrix.sync.aligned.m8n8.num{.trans}{.shared}.b16 r, [p]`.
    pub(super) fn ldmatrix(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let (count, transposed) = self.matrices(instr)?;
        let d = self.fragment(nth(instr, 0)?, Class::W, true).filter(|d| d.slots.len() == count)?;
        let rows = self.row()?;
        self.rows(instr, nth(instr, 1)?, (MemOp::Load, Role::Main), &rows, count)?;
        let sources = alone(rows);
        self.together(Role::Part, Matrix { kind: MatrixKind::Spread { transposed }, d, sources })
    }

    /// `stmatrix.sync.aligned.m8n8.num{.trans}{.shared}.b16 [p], r`.
    pub(super) fn stmatrix(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let (count, transposed) = self.matrices(instr)?;
        let from = self.fragment(nth(instr, 1)?, Class::W, false).filter(|from| from.slots.len() == count)?;
        let rows = self.row()?;
        let sources = alone(from);
        let d = rows.clone();
        self.together(Role::Main, Matrix { kind: MatrixKind::Gather { transposed }, d, sources })?;
        self.rows(instr, nth(instr, 0)?, (MemOp::Store, Role::Part), &rows, count)
    }

    /// How many matrices of 8 by 8 elements of 16 bits are moved, and whether transposed.
    fn matrices(&self, instr: &tree::Instr) -> Option<(usize, bool)> {
        let names = self.unit.names();
        let count = [(M::X1, 1), (M::X2, 2), (M::X4, 4)].iter().find(|(word, _)| instr.mods.contains(word))?.1;
        let plain = self.types == [M::B16] && instr.mods.iter().any(|word| word.text(names) == "m8n8");
        plain.then_some((count, instr.mods.contains(&M::TRANS)))
    }

    /// Temporaries for a row of eight elements of 16 bits.
    fn row(&mut self) -> Option<Registers> {
        let slots = (0..4).map(|_| self.temp(Class::W)).collect::<Option<_>>()?;
        Some(Registers { class: Class::W, slots })
    }

    /// The access of the lanes that have addresses of rows: the first eight for each matrix. Addresses that no space is named for
    /// are generic ones of shared memory (PTX ISA 9.7.14.5.15).
    fn rows(
        &mut self,
        instr: &'t tree::Instr,
        address: &'t Operand,
        (op, role): (MemOp, Role),
        rows: &Registers,
        count: usize,
    ) -> Option<()> {
        let mut at = self.address(address)?;
        let names = self.unit.names();
        if at.place.is_none()
            && space_word(names, &instr.mods).is_none()
            && let Some(window) = self.window(Space::Shared)
        {
            let class = if at.wide { Class::Q } else { Class::W };
            let start = self.constant(class, window)?;
            at.slot = self.helper(if at.wide { IntOp::Sub64 } else { IntOp::Sub32 }, class, &[at.slot, start])?;
        }
        let guard = self.guard;
        if count < 4 {
            self.guard = Some(Guard { pred: self.first_lanes(8 * count)?, negated: false });
        }
        let mut regs = WarpRequest::PLAIN.regs;
        regs.iter_mut().zip(&rows.slots).for_each(|(to, slot)| *to = *slot);
        let request = WarpRequest { elems: 4, regs, ..at.access(&WarpRequest::PLAIN, op, Space::Shared, 4, Class::W) };
        self.request(role, request, &at);
        self.guard = guard;
        Some(())
    }

    /// A predicate: the guard holds, and the lane is one of the first.
    fn first_lanes(&mut self, count: usize) -> Option<Slot> {
        let lane = self.preload(Class::W, Init::Special(Special::LaneId))?;
        let count = self.constant(Class::W, u64::try_from(count).ok()?)?;
        let mut first = self.helper(IntOp::LtU32, Class::P, &[lane, count])?;
        if let Some(Guard { pred, negated }) = self.guard {
            let holds = if negated { self.helper(IntOp::NotP, Class::P, &[pred])? } else { pred };
            first = self.helper(IntOp::AndP, Class::P, &[first, holds])?;
        }
        Some(first)
    }

    /// The registers of a fragment: `{…}`, a vector register, or one register; where it is written, also `_`.
    pub(super) fn fragment(&mut self, op: &'t Operand, class: Class, written: bool) -> Option<Registers> {
        let mut slots: Vec<Slot> = Vec::new();
        let elements = match &op.kind {
            OperandKind::Vector(list) => list,
            OperandKind::Name(name) if self.register(*name).is_some_and(|reg| reg.lanes > 1) => {
                let reg = self.register(*name)?;
                let slots = reg.components().map(|part| part.slot).collect();
                return (reg.class == class).then_some(Registers { class, slots });
            }
            _ => std::slice::from_ref(op),
        };
        for element in elements {
            slots.push(match element.kind {
                OperandKind::Sink if written => NO_SLOT,
                _ if !written && constant_value(element).is_some() => {
                    let ty = if class == Class::Q { M::B64 } else { M::B32 };
                    self.source(element, class, ty)?
                }
                _ => self.as_register(element).filter(|reg| reg.class == class && reg.lanes == 1)?.slot,
            });
        }
        Some(Registers { class, slots: slots.into() })
    }

    /// An instruction that all lanes of a warp execute together.
    pub(super) fn together(&mut self, role: Role, matrix: Matrix) -> Option<()> {
        let imm = u32::try_from(self.program.env.matrices.len()).ok()?;
        self.program.env.matrices.push(matrix);
        self.emit(role, Instr { imm, ..Instr::new(Op::Matrix) });
        Some(())
    }
}

/// The sources of what multiplies nothing.
fn alone(from: Registers) -> [Registers; 4] {
    [from, Registers::default(), Registers::default(), Registers::default()]
}
