//! `mov` (PTX ISA 9.7.9.5 and 9.7.9.6): scalars, addresses, special registers, vectors, packing and unpacking.

use super::function::{FnLower, Role};
use super::operand::nth;
use super::symbol::{Reg, Sym};
use super::types::{bits_type, class_of_type};
use crate::program::env::Init;
use crate::program::instr::{Op, Slot};
use crate::program::ops::{Class, IntOp};
use crate::program::select;
use crate::program::special::{SpecialReg, is_wide};
use crate::program::types::bits_of;
use crate::ptx::Modifier as M;
use crate::ptx::tree::{Instr, Operand, OperandKind};

/// The operation that copies a slot of a class.
pub(super) fn move_of(class: Class) -> IntOp {
    match class {
        Class::W => IntOp::MovW,
        Class::Q => IntOp::MovQ,
        Class::P => IntOp::MovP,
    }
}

impl<'t> FnLower<'_, 't> {
    /// `mov.type d, a`.
    pub(super) fn mov(&mut self, instr: &'t Instr) -> Option<()> {
        let ty = *self.types.last()?;
        let bits = bits_of(ty)?;
        let (dest, source) = (nth(instr, 0)?, nth(instr, 1)?);
        let vector = instr.mods.iter().any(|m| matches!(*m, M::V2 | M::V4 | M::V8));
        let (into, from) = (self.vector_register(dest), self.vector_register(source));
        let fills = |reg: Option<Reg>| reg.is_some_and(|reg| u32::from(reg.lanes) * u32::from(reg.bits) == bits);
        match (&dest.kind, &source.kind) {
            _ if vector => self.move_vector(into, dest, source, ty),
            // A vector register beside a scalar of its size is packed or unpacked as its elements in braces are.
            _ if fills(into) && from.is_none() => {
                self.unpack(&slots_of(into).into_iter().map(Some).collect::<Vec<_>>(), source, bits, ty)
            }
            _ if fills(from) && into.is_none() => self.pack(dest, &slots_of(from), bits),
            _ if into.is_some() => self.move_vector(into, dest, source, ty),
            (OperandKind::Vector(parts), _) => {
                let parts =
                    self.destinations(parts, if bits == 128 && parts.len() == 2 { Class::Q } else { Class::W })?;
                self.unpack(&parts, source, bits, ty)
            }
            (_, OperandKind::Vector(parts)) => {
                let each = bits / u32::try_from(parts.len().max(1)).unwrap_or(1);
                let class = if each == 64 { Class::Q } else { Class::W };
                let slots = self.sources(parts, class, bits_type(each))?;
                self.pack(dest, &slots, bits)
            }
            _ if bits == 128 => {
                let from = self.wide_source(source)?;
                let d = self.wide_source(dest)?;
                self.move_halves(d, [from, Slot(from.0.saturating_add(1))]);
                Some(())
            }
            _ => self.move_scalar(dest, source, bits, ty),
        }
    }

    /// The vector register that an operand names, if it does.
    fn vector_register(&mut self, operand: &Operand) -> Option<Reg> {
        let OperandKind::Name(name) = operand.kind else { return None };
        self.register(name).filter(|reg| reg.lanes > 1)
    }

    /// The elements of `{a, b}` as destinations; `None` for `_`.
    fn destinations(&mut self, parts: &[Operand], class: Class) -> Option<Vec<Option<Slot>>> {
        let slot = |part: &Operand| match part.kind {
            OperandKind::Sink => Some(None),
            _ => self.destination_of(part, class).map(Some),
        };
        parts.iter().map(slot).collect()
    }

    /// The elements of `{a, b}` as sources.
    fn sources(&mut self, parts: &[Operand], class: Class, ty: M) -> Option<Vec<Slot>> {
        parts.iter().map(|part| self.source(part, class, ty)).collect()
    }

    /// Fills a 128-bit register.
    fn move_halves(&mut self, d: Slot, halves: [Slot; 2]) {
        self.alu(Role::Main, IntOp::MovQ, d, &[halves[0]]);
        self.alu(Role::Part, IntOp::MovQ, Slot(d.0.saturating_add(1)), &[halves[1]]);
    }

    fn move_scalar(&mut self, dest: &Operand, source: &Operand, bits: u32, ty: M) -> Option<()> {
        let class = class_of_type(ty);
        let d = self.destination_of(dest, class)?;
        if let OperandKind::Name(name) = source.kind
            && let Sym::Special(SpecialReg::Moving(register)) = self.lookup(name)?
            && (class == Class::Q) == is_wide(register)
            && class != Class::P
            && bits >= 32
        {
            self.read_moving(Role::Main, register, d);
            return Some(());
        }
        let a = self.source(source, class, ty)?;
        // Special registers may be wider than a 16-bit destination (`mov.u16 %rs, %tid.x` of PTX 1.x).
        let op = if bits == 16 && self.as_register(source).is_none() { IntOp::Zx16 } else { move_of(class) };
        self.operation(op, d, &[a])
    }

    /// `mov.b64 d, {a, b}`; a 128-bit register is made of two 64-bit halves or four 32-bit quarters.
    fn pack(&mut self, dest: &Operand, parts: &[Slot], bits: u32) -> Option<()> {
        if bits != 128 {
            let op = select::pack(bits, parts.len())?;
            let d = self.destination_of(dest, if bits == 64 { Class::Q } else { Class::W })?;
            return self.operation(op, d, parts);
        }
        let d = self.wide_source(dest)?;
        let halves = match *parts {
            [low, high] => [low, high],
            [a, b, c, e] => {
                let low = self.helper(IntOp::Pack32x2, Class::Q, &[a, b])?;
                [low, self.helper(IntOp::Pack32x2, Class::Q, &[c, e])?]
            }
            _ => return None,
        };
        self.move_halves(d, halves);
        Some(())
    }

    /// `mov.b64 {a, b}, d`.
    fn unpack(&mut self, dests: &[Option<Slot>], source: &Operand, bits: u32, ty: M) -> Option<()> {
        if bits == 128 {
            return self.unpack_wide(dests, source);
        }
        let class = if bits == 64 { Class::Q } else { Class::W };
        let mut from = self.source(source, class, ty)?;
        // The source must not be overwritten before its last element is taken.
        if class == Class::W && dests.iter().rev().skip(1).any(|d| *d == Some(from)) {
            from = self.helper(IntOp::MovW, class, &[from])?;
        }
        for (i, d) in (0u32..).zip(dests) {
            let unpack = select::unpack(bits, dests.len(), i)?;
            let Some(d) = d else { continue };
            self.alu(Role::Main, unpack, *d, &[from]);
        }
        if self.named { Some(()) } else { self.plain(Op::Nop) }
    }

    fn unpack_wide(&mut self, dests: &[Option<Slot>], source: &Operand) -> Option<()> {
        let low = self.wide_source(source)?;
        let halves = [low, Slot(low.0.saturating_add(1))];
        let per_half = match dests.len() {
            2 => 1,
            4 => 2,
            _ => return None,
        };
        for (i, d) in dests.iter().enumerate() {
            let Some(d) = d else { continue };
            let op = match (per_half, i % 2) {
                (1, _) => IntOp::MovQ,
                (_, 0) => IntOp::TruncQW,
                (_, _) => IntOp::Hi32,
            };
            self.alu(Role::Main, op, *d, &[halves[i / per_half]]);
        }
        Some(())
    }

    /// Moves between vectors, and of vectors of special registers.
    fn move_vector(&mut self, register: Option<Reg>, dest: &'t Operand, source: &'t Operand, ty: M) -> Option<()> {
        let class = class_of_type(ty);
        let dests = match (register, &dest.kind) {
            (Some(_), _) => slots_of(register).into_iter().map(Some).collect(),
            (None, OperandKind::Vector(parts)) => self.destinations(parts, class)?,
            _ => return None,
        };
        let mut sources = match &source.kind {
            OperandKind::Vector(parts) => self.sources(parts, class, ty)?,
            OperandKind::Name(name) => match self.lookup(*name)? {
                Sym::Reg(reg) => slots_of(Some(reg)),
                Sym::Special(special) => {
                    let component = |i| {
                        let of = Self::dimension(special, i)?;
                        self.preload(class, Init::Special(of))
                    };
                    (0u8..).take(dests.len()).map(component).collect::<Option<_>>()?
                }
                _ => return None,
            },
            _ => return None,
        };
        if sources.len() != dests.len() {
            return None;
        }
        // A swap within one vector needs copies.
        let overlaps =
            dests.iter().enumerate().any(|(i, d)| d.is_some_and(|d| sources.iter().skip(i + 1).any(|s| *s == d)));
        if overlaps {
            for slot in &mut sources {
                *slot = self.helper(move_of(class), class, &[*slot])?;
            }
        }
        let op = if bits_of(ty) == Some(16) { IntOp::Zx16 } else { move_of(class) };
        for (d, from) in dests.iter().zip(&sources) {
            if let Some(d) = d {
                self.alu(Role::Main, op, *d, &[*from]);
            }
        }
        Some(())
    }
}

/// The slots of a vector register's elements.
fn slots_of(register: Option<Reg>) -> Vec<Slot> {
    register.into_iter().flat_map(Reg::components).map(|element| element.slot).collect()
}
