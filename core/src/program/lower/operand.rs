//! Operands (PTX ISA, chapter 6): what an operand is, and the slot that holds it.

use super::function::{FnLower, Role};
use super::symbol::{Base, Place, Reg, Sym};
use super::types::constant_bits;
use crate::program::consts::{self, Value, evaluate, integer};
use crate::program::env::{Area, Init, Special, Within};
use crate::program::instr::{Instr, Moving, Op, STACK_BASE, Slot, Space};
use crate::program::ops::{AluOp, Class, FloatOp, IntOp};
use crate::program::select::Selected;
use crate::program::special::{SpecialReg, is_wide};
use crate::ptx::Modifier as M;
use crate::ptx::tree::{self, Address, Expr, ExprKind, Name, Operand, OperandKind};

/// The base of an address: a slot, its width, and what is added.
#[derive(Clone, Copy, Debug)]
pub(super) struct Located {
    pub(super) slot: Slot,
    /// A 64-bit slot.
    pub(super) wide: bool,
    pub(super) offset: i64,
    /// The variable that the address names, if it names one.
    pub(super) place: Option<Place>,
    /// The same as the owner of the access, where its slot does not say so.
    pub(super) owner: Option<u32>,
}

impl Located {
    /// An address that names no variable.
    pub(super) const fn new(slot: Slot, wide: bool, offset: i64) -> Self {
        Self { slot, wide, offset, place: None, owner: None }
    }
}

impl FnLower<'_, '_> {
    /// Whether an operand is `WARP_SZ` and nothing else.
    fn is_warp_size(&self, op: &Operand) -> bool {
        match &op.kind {
            OperandKind::Name(name) => self.unit.names().text(*name) == "WARP_SZ",
            OperandKind::Const(expr) => matches!(expr.kind, ExprKind::WarpSize),
            _ => false,
        }
    }

    /// An integer constant that the instruction needs while lowering, such as the table of `lop3`.
    pub(super) fn immediate(&self, op: &Operand) -> Option<u64> {
        match constant_value(op) {
            Some(Value::Int { bits, .. }) => Some(bits),
            // What is needed now cannot wait for the machine, as in constant expressions.
            None if self.is_warp_size(op) => Some(32),
            _ => None,
        }
    }

    /// A register as an operand; `None` when the operand is something else.
    pub(super) fn as_register(&mut self, op: &Operand) -> Option<Reg> {
        match op.kind {
            OperandKind::Name(name) => self.register(name),
            OperandKind::Member(name, index) => self.register(name)?.component(index),
            _ => None,
        }
    }

    /// A slot of the given class that holds an operand's value. Constants are values of type `ty`.
    pub(super) fn source(&mut self, op: &Operand, class: Class, ty: M) -> Option<Slot> {
        if let Some(reg) = self.as_register(op) {
            return self.widened(reg, class);
        }
        if self.is_warp_size(op) {
            return self.preload(class, Init::Special(Special::WarpSize));
        }
        if let Some(value) = constant_value(op) {
            if let Value::Address(address) = value {
                return match self.register(address.name) {
                    Some(reg) => self.register_sum(reg, address.offset, class),
                    None => self.address_value(address.name, address.offset, class, address.generic),
                };
            }
            return self.constant(class, constant_bits(value, ty)?);
        }
        match &op.kind {
            OperandKind::Name(name) => match self.lookup(*name)? {
                Sym::Special(special) => self.special(special, class),
                _ => self.address_value(*name, 0, class, false),
            },
            OperandKind::Member(name, index) => match self.lookup(*name)? {
                Sym::Special(special) => self.special(SpecialReg::Fixed(Self::dimension(special, *index)?), class),
                _ => None,
            },
            OperandKind::Not(name) => {
                let from = self.register(*name).filter(|reg| reg.class == Class::P && class == Class::P)?;
                Some(self.helper(IntOp::NotP, Class::P, &[from.slot])?)
            }
            OperandKind::Minus(name) => {
                let reg = self.register(*name)?;
                let from = self.widened(reg, class)?;
                self.negated(from, class, ty)
            }
            OperandKind::Index(name, index) => {
                let offset = self.element(*name, index)?;
                self.address_value(*name, offset, class, false)
            }
            _ => None,
        }
    }

    /// The result of a helper operation, in a temporary.
    pub(super) fn helper(&mut self, op: impl Into<Selected>, class: Class, sources: &[Slot]) -> Option<Slot> {
        let slot = self.temp(class)?;
        self.alu(Role::Helper, op, slot, sources);
        Some(slot)
    }

    /// `%r + 4` as an operand: a sum of the register's width.
    fn register_sum(&mut self, reg: Reg, addend: i64, class: Class) -> Option<Slot> {
        let add = match (reg.class, reg.bits) {
            (Class::W, 0..=16) => IntOp::Add16,
            (Class::W, _) => IntOp::Add32,
            (Class::Q, _) => IntOp::Add64,
            (Class::P, _) => return None,
        };
        let addend = self.constant(reg.class, addend.cast_unsigned())?;
        let from = self.widened(reg, reg.class)?;
        let slot = self.helper(add, reg.class, &[from, addend])?;
        self.widened(Reg { slot, ..reg }, class)
    }

    fn negated(&mut self, from: Slot, class: Class, ty: M) -> Option<Slot> {
        let op: AluOp = match (ty, class) {
            (M::F32, Class::W) => FloatOp::NegF32.into(),
            (M::F64, Class::Q) => FloatOp::NegF64.into(),
            (M::U16 | M::S16 | M::B16, Class::W) => IntOp::Neg16.into(),
            (_, Class::W) => IntOp::Neg32.into(),
            (_, Class::Q) => IntOp::Neg64.into(),
            (_, Class::P) => return None,
        };
        self.helper(op, class, &[from])
    }

    /// A register's value in a slot of a class: a wider register gives its low bits, a narrower one is zero-extended.
    pub(super) fn widened(&mut self, reg: Reg, class: Class) -> Option<Slot> {
        match (reg.class, class) {
            _ if reg.lanes != 1 => None,
            (have, want) if have == want => Some(reg.slot),
            (Class::Q, Class::W) => self.helper(IntOp::TruncQW, class, &[reg.slot]),
            (Class::W, Class::Q) => self.helper(IntOp::ZextWQ, class, &[reg.slot]),
            _ => None,
        }
    }

    /// A special register's value.
    fn special(&mut self, special: SpecialReg, class: Class) -> Option<Slot> {
        match special {
            SpecialReg::Fixed(special) => self.preload(class, Init::Special(special)),
            // A vector where a scalar stands: `%tid` is `%tid.x` in PTX 1.x.
            SpecialReg::Dimensions(of) => self.preload(class, Init::Special(of(0))),
            SpecialReg::Moving(register) => {
                let have = if is_wide(register) { Class::Q } else { Class::W };
                let slot = self.temp(have)?;
                self.read_moving(Role::Helper, register, slot);
                self.widened(Reg { slot, class: have, bits: 32, lanes: 1 }, class)
            }
        }
    }

    /// Reads a special register that changes.
    pub(super) fn read_moving(&mut self, role: Role, register: Moving, d: Slot) {
        self.emit(role, Instr { d, ..Instr::new(Op::ReadSpecial(register)) });
    }

    /// A component of a special register that is a vector.
    pub(super) fn dimension(special: SpecialReg, index: u8) -> Option<Special> {
        match special {
            SpecialReg::Dimensions(of) => Some(of(index)),
            _ => None,
        }
    }

    /// `x[3]`: the byte offset in the variable.
    fn element(&mut self, name: Name, index: &Expr) -> Option<i64> {
        let Sym::Place(place) = self.lookup(name)? else { return None };
        Some(integer(index)?.cast_signed().wrapping_mul(place.element.into()))
    }

    /// The address of a variable, function or label as a value: its own space's, or the generic one.
    pub(super) fn address_value(&mut self, name: Name, offset: i64, class: Class, generic: bool) -> Option<Slot> {
        let symbol = self.lookup(name).filter(|_| class != Class::P)?;
        let place = match symbol {
            Sym::Place(place) => place,
            Sym::Function(id) => {
                self.program.taken.push(id);
                return self.preload(class, Init::Function(id));
            }
            Sym::Label(label) => {
                let slot = self.label_address(label)?;
                return self.widened(Reg { slot, class: Class::Q, bits: 64, lanes: 1 }, class);
            }
            _ => return None,
        };
        let owner = self.owner(place, name);
        let value = match (place.base, self.within(place)) {
            (Base::Variable(index), _) => Init::Variable { index, offset },
            (Base::Shared(variable), _) => self.shared(variable, offset),
            (_, Some(of)) => Init::Within { of, offset },
            (_, None) => Init::DynamicShared(offset),
        };
        let mut slot = self.address_of(class, value, owner)?;
        if matches!(place.base, Base::Frame(_)) && !self.is_entry() {
            let addend = slot;
            slot = self.temp(class)?;
            if class == Class::W {
                self.alu(Role::Helper, IntOp::Add32, slot, &[STACK_BASE, addend]);
            } else {
                self.alu(Role::Helper, IntOp::ZextWQ, slot, &[STACK_BASE]);
                self.alu(Role::Helper, IntOp::Add64, slot, &[slot, addend]);
            }
        }
        if generic { self.made_generic(slot, class, place) } else { Some(slot) }
    }

    /// Adds the start of a variable's window.
    fn made_generic(&mut self, slot: Slot, class: Class, place: Place) -> Option<Slot> {
        let Some(window) = self.window(space_of(place)) else { return Some(slot) };
        let start = self.constant(class, window)?;
        self.helper(if class == Class::W { IntOp::Add32 } else { IntOp::Add64 }, class, &[slot, start])
    }

    /// The first generic address of a space; `None` where the space's addresses are generic ones.
    pub(super) fn window(&self, space: Space) -> Option<u64> {
        Some(self.program.env.addresses().window_of(space)).filter(|window| *window != 0)
    }

    /// An address in a shared variable, which the function uses then. Where it is, is known when all functions are.
    fn shared(&mut self, variable: u32, offset: i64) -> Init {
        if let Some(uses) = self.program.uses.get_mut(self.id.0 as usize)
            && !uses.shared.contains(&variable)
        {
            uses.shared.push(variable);
        }
        Init::Within { of: Within { area: Area::Shared, first: variable, bytes: 0 }, offset }
    }

    /// An address operand.
    pub(super) fn address(&mut self, op: &Operand) -> Option<Located> {
        match &op.kind {
            OperandKind::Address(address) => self.located(address),
            OperandKind::Index(name, index) => {
                let offset = self.element(*name, index)?;
                self.based(*name, offset)
            }
            // PTX 1.x names variables without brackets.
            OperandKind::Name(name) => self.based(*name, 0),
            OperandKind::Bracket(list) => match &list[..] {
                [Operand { kind: OperandKind::Name(name), .. }] => self.based(*name, 0),
                _ => None,
            },
            _ => None,
        }
    }

    fn located(&mut self, address: &Address) -> Option<Located> {
        let base = address.base.map(|base| base.name);
        let (base, offset) = match address.offset.as_ref().map(evaluate).transpose().ok()? {
            None => (base, 0),
            Some(Value::Int { bits, .. }) => (base, bits.cast_signed()),
            Some(Value::Address(a)) if base.is_none() => (Some(a.name), a.offset),
            Some(_) => return None,
        };
        match base {
            Some(name) => self.based(name, offset),
            None => Some(Located::new(self.constant(Class::Q, 0)?, true, offset)),
        }
    }

    fn based(&mut self, name: Name, offset: i64) -> Option<Located> {
        let place = match self.lookup(name)? {
            Sym::Reg(Reg { slot, class, lanes: 1, .. }) if class != Class::P => {
                return Some(Located::new(slot, class == Class::Q, offset));
            }
            Sym::Place(place) => place,
            _ => return None,
        };
        let owner = self.owner(place, name);
        let (slot, base) = match place.base {
            Base::Variable(index) => (self.preload(Class::Q, Init::Variable { index, offset: 0 })?, 0),
            Base::Shared(variable) => {
                let start = self.shared(variable, 0);
                (self.preload(Class::W, start)?, 0)
            }
            Base::DynamicShared => (self.preload(Class::W, Init::DynamicShared(0))?, 0),
            Base::Frame(at) => (STACK_BASE, at),
            Base::Local(at) | Base::Param(at) => (self.constant(Class::W, 0)?, at),
        };
        let (wide, offset) = (matches!(place.base, Base::Variable(_)), offset.wrapping_add(i64::from(base)));
        Some(Located { slot, wide, offset, place: Some(place), owner })
    }

    /// A destination register; `_` gives a temporary of the class.
    pub(super) fn destination(&mut self, op: &Operand, class: Class) -> Option<Reg> {
        if !matches!(op.kind, OperandKind::Sink) {
            return self.as_register(op).filter(|reg| reg.lanes == 1);
        }
        Some(Reg { slot: self.temp(class)?, class, bits: class.bits(), lanes: 1 })
    }

    /// A destination of exactly the class.
    pub(super) fn destination_of(&mut self, op: &Operand, class: Class) -> Option<Slot> {
        self.destination(op, class).filter(|reg| reg.class == class).map(|reg| reg.slot)
    }

    /// Splits `d|p`; a plain operand has no second part.
    pub(super) fn pair(op: &Operand) -> (&Operand, Option<&Operand>) {
        match &op.kind {
            OperandKind::Pair(pair) => (&pair.0, Some(&pair.1)),
            _ => (op, None),
        }
    }
}

/// The value of a constant operand.
pub(super) fn constant_value(op: &Operand) -> Option<Value> {
    consts::operand(&op.kind)?.ok()
}

/// An instruction's operand.
pub(super) fn nth(instr: &tree::Instr, i: usize) -> Option<&Operand> {
    instr.operands.get(i)
}

/// The state space that a variable is declared in.
pub(super) fn space_of(place: Place) -> Space {
    match place.base {
        Base::Variable(_) if place.constant => Space::Const,
        Base::Variable(_) => Space::Global,
        Base::Shared(_) | Base::DynamicShared => Space::Shared,
        Base::Frame(_) | Base::Local(_) => Space::Local,
        Base::Param(_) => Space::Param,
    }
}
