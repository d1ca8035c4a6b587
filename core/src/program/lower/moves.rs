//! `mov` (PTX ISA 9.7.9.5 and 9.7.9.6): scalars, addresses, special registers, vectors, packing and unpacking.

use super::Value as Preloaded;
use super::error::{Lowered, operand};
use super::function::{FnLower, Role};
use super::operand::nth;
use super::symbol::{Reg, Sym};
use super::types::class_of_type;
use crate::program::env::Init;
use crate::program::instr::Slot;
use crate::program::ops::Class;
use crate::program::ops::IntOp;
use crate::program::select::{self, Selected};
use crate::program::special::{SpecialReg, is_wide};
use crate::program::types::bits_of;
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
        let [.., ty] = *self.types else { return Ok(false) };
        let Some(bits) = bits_of(ty) else { return Ok(false) };
        let (dest, source) = (nth(instr, 0)?, nth(instr, 1)?);
        let vector = instr.mods.iter().any(|m| matches!(*m, M::V2 | M::V4 | M::V8));
        let (into, from) = (self.vector_register(dest)?, self.vector_register(source)?);
        let fills = |reg: Option<Reg>| reg.is_some_and(|reg| u32::from(reg.lanes) * u32::from(reg.bits) == bits);
        match (&dest.kind, &source.kind) {
            _ if vector => self.move_vector(into, dest, source, ty),
            // A vector register beside a scalar of its size is packed or unpacked as its elements in braces are.
            _ if fills(into) && from.is_none() => self.unpack(&elements(into), source, bits, ty),
            _ if fills(from) && into.is_none() => self.pack(dest, &elements(from), bits),
            _ if into.is_some() => self.move_vector(into, dest, source, ty),
            (OperandKind::Vector(parts), _) => {
                let parts =
                    self.destinations(parts, if bits == 128 && parts.len() == 2 { Class::Q } else { Class::W })?;
                self.unpack(&parts, source, bits, ty)
            }
            (_, OperandKind::Vector(parts)) => {
                let each = bits / u32::try_from(parts.len().max(1)).unwrap_or(1);
                let class = if each == 64 { Class::Q } else { Class::W };
                let mut slots = Vec::with_capacity(parts.len());
                for part in parts.iter() {
                    slots.push(Some(self.source(part, class, bits_type(each))?));
                }
                self.pack(dest, &slots, bits)
            }
            _ if bits == 128 => {
                let from = self.wide_source(source)?;
                let d = self.wide_source(dest)?;
                self.move_pair(d, from);
                Ok(true)
            }
            _ => self.move_scalar(dest, source, bits, ty),
        }
    }

    /// The vector register that an operand names, if it does.
    fn vector_register(&mut self, operand: &Operand) -> Lowered<Option<Reg>> {
        let OperandKind::Name(name) = operand.kind else { return Ok(None) };
        Ok(match self.lookup(name)? {
            Sym::Reg(reg) if reg.lanes > 1 => Some(reg),
            _ => None,
        })
    }

    /// The elements of `{a, b}` as destinations; `None` for `_`.
    fn destinations(&mut self, parts: &[Operand], class: Class) -> Lowered<Vec<Option<Slot>>> {
        let mut found = Vec::with_capacity(parts.len());
        for part in parts {
            found.push(match part.kind {
                OperandKind::Sink => None,
                _ => Some(self.destination_of(part, class)?),
            });
        }
        Ok(found)
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
    fn pack(&mut self, dest: &Operand, parts: &[Option<Slot>], bits: u32) -> Lowered<bool> {
        let parts: Vec<Slot> = parts.iter().copied().flatten().collect();
        if bits == 128 {
            return self.pack_wide(dest, &parts);
        }
        let Some(op) = select::pack(bits, parts.len()) else {
            return operand("as many elements as the type can be made of", dest.span);
        };
        let d = self.destination_of(dest, if bits == 64 { Class::Q } else { Class::W })?;
        self.alu(Role::Main, op, d, &parts, 0);
        Ok(true)
    }

    /// `mov.b128 d, {a, b}` of two 64-bit halves or four 32-bit quarters.
    fn pack_wide(&mut self, dest: &Operand, parts: &[Slot]) -> Lowered<bool> {
        let d = self.wide_source(dest)?;
        let halves = match *parts {
            [low, high] => [low, high],
            [a, b, c, e] => {
                let mut halves = [Slot(0); 2];
                for (half, pair) in halves.iter_mut().zip([[a, b], [c, e]]) {
                    *half = self.temp(Class::Q)?;
                    self.alu(Role::Helper, IntOp::Pack32x2, *half, &pair, 0);
                }
                halves
            }
            _ => return operand("two 64-bit or four 32-bit elements", dest.span),
        };
        self.alu(Role::Main, IntOp::MovQ, d, &[halves[0]], 0);
        self.alu(Role::Part, IntOp::MovQ, Slot(d.0.saturating_add(1)), &[halves[1]], 0);
        Ok(true)
    }

    /// `mov.b64 {a, b}, d`.
    fn unpack(&mut self, dests: &[Option<Slot>], source: &Operand, bits: u32, ty: M) -> Lowered<bool> {
        if bits == 128 {
            return self.unpack_wide(dests, source);
        }
        let class = if bits == 64 { Class::Q } else { Class::W };
        let mut from = self.source(source, class, ty)?;
        // The source must not be overwritten before its last element is taken.
        if class == Class::W && dests.iter().rev().skip(1).any(|d| *d == Some(from)) {
            let copy = self.temp(class)?;
            self.alu(Role::Helper, IntOp::MovW, copy, &[from], 0);
            from = copy;
        }
        let mut role = Role::Main;
        for (i, d) in (0u32..).zip(dests) {
            let Some(Selected { op, mode }) = select::unpack(bits, dests.len(), i) else {
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

    fn unpack_wide(&mut self, dests: &[Option<Slot>], source: &Operand) -> Lowered<bool> {
        let low = self.wide_source(source)?;
        let halves = [low, Slot(low.0.saturating_add(1))];
        let quarters = match dests.len() {
            2 => false,
            4 => true,
            _ => return operand("two 64-bit or four 32-bit elements", source.span),
        };
        let mut role = Role::Main;
        for (i, d) in dests.iter().enumerate() {
            let Some(d) = d else { continue };
            let (op, half) = match (quarters, i % 2) {
                (false, _) => (IntOp::MovQ, halves[i]),
                (true, 0) => (IntOp::TruncQW, halves[i / 2]),
                (true, _) => (IntOp::Hi32, halves[i / 2]),
            };
            self.alu(role, op, *d, &[half], 0);
            role = Role::Part;
        }
        Ok(true)
    }

    /// Moves between vectors, and of vectors of special registers.
    fn move_vector(&mut self, register: Option<Reg>, dest: &'t Operand, source: &'t Operand, ty: M) -> Lowered<bool> {
        let class = class_of_type(ty);
        let mut dests = Vec::new();
        match (register, &dest.kind) {
            (Some(_), _) => dests.extend(elements(register)),
            (None, OperandKind::Vector(parts)) => {
                dests = self.destinations(parts, class)?;
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

/// The elements of a vector register.
fn elements(register: Option<Reg>) -> Vec<Option<Slot>> {
    let elements = register.into_iter().flat_map(|reg| (0..reg.lanes).filter_map(move |i| reg.component(i)));
    elements.map(|element| Some(element.slot)).collect()
}

fn bits_type(bits: u32) -> M {
    match bits {
        0..=8 => M::B8,
        9..=16 => M::B16,
        17..=32 => M::B32,
        _ => M::B64,
    }
}
