//! `mov` (PTX ISA 9.7.9.5 and 9.7.9.6): scalars, addresses, special registers, vectors, packing and unpacking.

use super::Value as Preloaded;
use super::compute::last_type;
use super::error::{Lowered, operand};
use super::function::{FnLower, Role};
use super::operand::{class_of_type, nth};
use super::special::{SpecialReg, is_wide};
use super::types::bits_of;
use crate::program::env::Init;
use crate::program::instr::Slot;
use crate::program::int_ops::IntOp;
use crate::program::ops::Class;
use crate::program::scope::{Reg, Sym};
use crate::program::select::{Selected, int};
use crate::ptx::Modifier as M;
use crate::ptx::tree::{Instr, Operand, OperandKind};

fn move_of(class: Class) -> IntOp {
    match class {
        Class::W => IntOp::MovW,
        Class::Q => IntOp::MovQ,
        Class::P => IntOp::MovP,
    }
}

impl<'t> FnLower<'_, 't> {
    /// `mov.type d, a`.
    pub(super) fn mov(&mut self, instr: &'t Instr) -> Lowered<bool> {
        let Some(ty) = last_type(&instr.mods) else { return Ok(false) };
        let Some(bits) = bits_of(ty) else { return Ok(false) };
        let (dest, source) = (nth(instr, 0)?, nth(instr, 1)?);
        let vector = instr.mods.iter().any(|m| matches!(*m, M::V2 | M::V4 | M::V8));
        let register = match dest.kind {
            OperandKind::Name(name) => match self.lookup(name)? {
                Sym::Reg(reg) if reg.lanes > 1 => Some(reg),
                _ => None,
            },
            _ => None,
        };
        if vector || register.is_some() {
            return self.move_vector(register, dest, source, ty);
        }
        match (&dest.kind, &source.kind) {
            (OperandKind::Vector(parts), _) => self.unpack(parts, source, bits, ty),
            (_, OperandKind::Vector(parts)) => self.pack(dest, parts, bits),
            _ if bits == 128 => {
                let from = self.wide_source(source)?;
                let d = self.wide_source(dest)?;
                self.move_pair(d, from);
                Ok(true)
            }
            _ => self.move_scalar(dest, source, bits, ty),
        }
    }

    fn move_pair(&mut self, d: Slot, from: Slot) {
        self.alu(Role::Main, IntOp::MovQ, d, &[from], 0);
        self.alu(Role::Part, IntOp::MovQ, Slot(d.0.saturating_add(1)), &[Slot(from.0.saturating_add(1))], 0);
    }

    fn move_scalar(&mut self, dest: &Operand, source: &Operand, bits: u32, ty: M) -> Lowered<bool> {
        let class = class_of_type(ty);
        let d = self.destination_of(dest, class)?;
        if let OperandKind::Name(name) = source.kind
            && let Sym::Special(SpecialReg::Moving(register)) = self.lookup(name)?
            && (class == Class::Q) == is_wide(register)
            && class != Class::P
            && bits >= 32
        {
            self.read_moving(Role::Main, register, d);
            return Ok(true);
        }
        let a = self.source(source, class, ty)?;
        // Special registers may be wider than a 16-bit destination (`mov.u16 %rs, %tid.x` of PTX 1.x).
        let op = if bits == 16 && self.as_register(source)?.is_none() { IntOp::Zx16 } else { move_of(class) };
        self.alu(Role::Main, op, d, &[a], 0);
        Ok(true)
    }

    /// `mov.b64 d, {a, b}`.
    fn pack(&mut self, dest: &Operand, parts: &'t [Operand], bits: u32) -> Lowered<bool> {
        let count = parts.len();
        let each = bits / u32::try_from(count.max(1)).unwrap_or(1);
        if bits == 128 {
            return self.pack_wide(dest, parts);
        }
        let Some(op) = int::pack(bits, count) else {
            return operand("as many elements as the type can be made of", dest.span);
        };
        let ty = bits_type(each);
        let mut sources = [Slot(0); 4];
        for (slot, part) in sources.iter_mut().zip(parts) {
            *slot = self.source(part, Class::W, ty)?;
        }
        let d = self.destination_of(dest, if bits == 64 { Class::Q } else { Class::W })?;
        self.alu(Role::Main, op, d, sources.get(..count).unwrap_or(&sources), 0);
        Ok(true)
    }

    /// `mov.b128 d, {a, b}` of two 64-bit halves or four 32-bit quarters.
    fn pack_wide(&mut self, dest: &Operand, parts: &'t [Operand]) -> Lowered<bool> {
        let d = self.wide_source(dest)?;
        let mut halves = [Slot(0); 2];
        match parts {
            [low, high] => {
                for (half, part) in halves.iter_mut().zip([low, high]) {
                    *half = self.source(part, Class::Q, M::B64)?;
                }
            }
            [a, b, c, e] => {
                for (half, pair) in halves.iter_mut().zip([[a, b], [c, e]]) {
                    let low = self.source(pair[0], Class::W, M::B32)?;
                    let high = self.source(pair[1], Class::W, M::B32)?;
                    *half = self.temp(Class::Q)?;
                    self.alu(Role::Helper, IntOp::Pack32x2, *half, &[low, high], 0);
                }
            }
            _ => return operand("two 64-bit or four 32-bit elements", dest.span),
        }
        self.alu(Role::Main, IntOp::MovQ, d, &[halves[0]], 0);
        self.alu(Role::Part, IntOp::MovQ, Slot(d.0.saturating_add(1)), &[halves[1]], 0);
        Ok(true)
    }

    /// `mov.b64 {a, b}, d`.
    fn unpack(&mut self, parts: &'t [Operand], source: &Operand, bits: u32, ty: M) -> Lowered<bool> {
        if bits == 128 {
            return self.unpack_wide(parts, source);
        }
        let class = if bits == 64 { Class::Q } else { Class::W };
        let mut from = self.source(source, class, ty)?;
        let mut dests = Vec::with_capacity(parts.len());
        for part in parts {
            dests.push(match part.kind {
                OperandKind::Sink => None,
                _ => Some(self.destination_of(part, Class::W)?),
            });
        }
        // The source must not be overwritten before its last element is taken.
        if class == Class::W && dests.iter().rev().skip(1).any(|d| *d == Some(from)) {
            let copy = self.temp(class)?;
            self.alu(Role::Helper, IntOp::MovW, copy, &[from], 0);
            from = copy;
        }
        let mut role = Role::Main;
        for (i, d) in (0u32..).zip(&dests) {
            let Some(Selected { op, mode }) = int::unpack(bits, parts.len(), i) else {
                return operand("as many elements as the type can be made of", source.span);
            };
            let Some(d) = d else { continue };
            self.alu(role, op, *d, &[from], mode);
            role = Role::Part;
        }
        if role == Role::Main {
            self.emit(Role::Main, crate::program::instr::Instr::new(crate::program::instr::Op::Nop));
        }
        Ok(true)
    }

    fn unpack_wide(&mut self, parts: &'t [Operand], source: &Operand) -> Lowered<bool> {
        let low = self.wide_source(source)?;
        let halves = [low, Slot(low.0.saturating_add(1))];
        let mut role = Role::Main;
        // Copies first: a destination may be a half of... nothing else, since halves are no registers of their own.
        match parts {
            [_, _] => {
                for (part, half) in parts.iter().zip(halves) {
                    if matches!(part.kind, OperandKind::Sink) {
                        continue;
                    }
                    let d = self.destination_of(part, Class::Q)?;
                    self.alu(role, IntOp::MovQ, d, &[half], 0);
                    role = Role::Part;
                }
            }
            [_, _, _, _] => {
                for (i, part) in parts.iter().enumerate() {
                    if matches!(part.kind, OperandKind::Sink) {
                        continue;
                    }
                    let d = self.destination_of(part, Class::W)?;
                    let op = if i % 2 == 0 { IntOp::TruncQW } else { IntOp::Hi32 };
                    self.alu(role, op, d, &[halves[i / 2]], 0);
                    role = Role::Part;
                }
            }
            _ => return operand("two 64-bit or four 32-bit elements", source.span),
        }
        Ok(true)
    }

    /// Moves between vectors, and of vectors of special registers.
    fn move_vector(&mut self, register: Option<Reg>, dest: &'t Operand, source: &'t Operand, ty: M) -> Lowered<bool> {
        let class = class_of_type(ty);
        let mut dests = Vec::new();
        match (register, &dest.kind) {
            (Some(reg), _) => dests.extend((0..reg.lanes).filter_map(|i| reg.component(i)).map(|reg| Some(reg.slot))),
            (None, OperandKind::Vector(parts)) => {
                for part in parts.iter() {
                    dests.push(match part.kind {
                        OperandKind::Sink => None,
                        _ => Some(self.destination_of(part, class)?),
                    });
                }
            }
            _ => return operand("a vector register", dest.span),
        }
        let mut sources = Vec::new();
        match &source.kind {
            OperandKind::Vector(parts) => {
                for part in parts.iter() {
                    sources.push(self.source(part, class, ty)?);
                }
            }
            OperandKind::Name(name) => match self.lookup(*name)? {
                Sym::Reg(reg) => {
                    sources.extend((0..reg.lanes).filter_map(|i| reg.component(i)).map(|reg| reg.slot));
                }
                Sym::Special(special) => {
                    for i in (0u8..).take(dests.len()) {
                        let Some(of) = Self::dimension(special, i) else {
                            return operand("a vector", source.span);
                        };
                        sources.push(self.preload(class, Preloaded::Init(Init::Special(of)))?);
                    }
                }
                _ => return operand("a vector", source.span),
            },
            _ => return operand("a vector", source.span),
        }
        if sources.len() != dests.len() {
            return operand("a vector of as many elements", source.span);
        }
        // A swap within one vector needs copies.
        let overlaps =
            dests.iter().enumerate().any(|(i, d)| d.is_some_and(|d| sources.iter().skip(i + 1).any(|s| *s == d)));
        if overlaps {
            for slot in &mut sources {
                let copy = self.temp(class)?;
                self.alu(Role::Helper, move_of(class), copy, &[*slot], 0);
                *slot = copy;
            }
        }
        let op = if bits_of(ty) == Some(16) { IntOp::Zx16 } else { move_of(class) };
        let mut role = Role::Main;
        for (d, from) in dests.iter().zip(&sources) {
            if let Some(d) = d {
                self.alu(role, op, *d, &[*from], 0);
                role = Role::Part;
            }
        }
        Ok(true)
    }
}

fn bits_type(bits: u32) -> M {
    match bits {
        0..=8 => M::B8,
        9..=16 => M::B16,
        17..=32 => M::B32,
        _ => M::B64,
    }
}
