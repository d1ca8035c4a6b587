//! Operands (PTX ISA, chapter 6): what an operand is, and the slot that holds it.

use super::Value as Preloaded;
use super::error::{Fault, LowerErrorKind, Lowered, operand};
use super::function::{FnLower, Role};
use super::symbol::{Base, Place, Reg, Sym};
use super::types::constant_bits;
use crate::base::Span;
use crate::program::consts::{Value, evaluate};
use crate::program::env::{Area, Init, Special, Within};
use crate::program::instr::{Instr, Moving, Op, STACK_BASE, Slot};
use crate::program::link::constant;
use crate::program::ops::Class;
use crate::program::ops::IntOp;
use crate::program::special::{SpecialReg, component, is_wide};
use crate::ptx::Modifier as M;
use crate::ptx::tree::{Address, ExprKind, Ident, Name, Operand, OperandKind, StateSpace};

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

/// The class as a phrase.
fn register_of(class: Class) -> &'static str {
    match class {
        Class::W => "a register of at most 32 bits or a constant",
        Class::Q => "a 64-bit register or a constant",
        Class::P => "a predicate",
    }
}

impl FnLower<'_, '_> {
    /// The value of a constant operand.
    pub(super) fn constant_value(&self, op: &Operand) -> Lowered<Option<Value>> {
        let value = match &op.kind {
            OperandKind::Int(value) => Value::Int { bits: value.cast_unsigned(), unsigned: false },
            OperandKind::F32(bits) => Value::F32(*bits),
            OperandKind::F64(bits) => Value::F64(f64::from_bits(*bits)),
            OperandKind::Const(expr) => evaluate(expr).map_err(constant)?,
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    /// Whether an operand is `WARP_SZ` and nothing else.
    fn is_warp_size(&self, op: &Operand) -> bool {
        match &op.kind {
            OperandKind::Name(name) => self.unit.names().text(*name) == "WARP_SZ",
            OperandKind::Const(expr) => matches!(expr.kind, ExprKind::WarpSize),
            _ => false,
        }
    }

    /// An integer constant that the instruction needs while lowering, such as the table of `lop3`.
    pub(super) fn immediate(&self, op: &Operand) -> Lowered<u64> {
        match self.constant_value(op)? {
            Some(Value::Int { bits, .. }) => Ok(bits),
            // What is needed now cannot wait for the machine, as in constant expressions.
            None if self.is_warp_size(op) => Ok(32),
            _ => operand("an integer constant", op.span),
        }
    }

    /// A register as an operand; `None` when the operand is something else.
    pub(super) fn as_register(&mut self, op: &Operand) -> Lowered<Option<Reg>> {
        Ok(match op.kind {
            OperandKind::Name(name) => match self.lookup(name)? {
                Sym::Reg(reg) => Some(reg),
                _ => None,
            },
            OperandKind::Member(name, index) => match self.lookup(name)? {
                Sym::Reg(reg) => match reg.component(index) {
                    Some(reg) => Some(reg),
                    None => return operand("a component that the vector has", op.span),
                },
                _ => None,
            },
            _ => None,
        })
    }

    /// A slot of the given class that holds an operand's value. Constants are values of type `ty`.
    pub(super) fn source(&mut self, op: &Operand, class: Class, ty: M) -> Lowered<Slot> {
        if let Some(reg) = self.as_register(op)? {
            return self.widened(reg, class, op.span);
        }
        if self.is_warp_size(op) {
            return self.preload(class, Preloaded::Init(Init::Special(Special::WarpSize)));
        }
        if let Some(value) = self.constant_value(op)? {
            if let Value::Address(address) = value {
                let ident = Ident { name: address.name, span: address.span };
                if let Sym::Reg(reg) = self.lookup(address.name)? {
                    return self.register_sum(reg, address.offset, class, op.span);
                }
                return self.address_value(ident, address.offset, class, address.generic);
            }
            let bits = constant_bits(value, ty).ok_or((LowerErrorKind::ConstantType, op.span))?;
            return self.constant(class, bits);
        }
        match &op.kind {
            OperandKind::Name(name) => match self.lookup(*name)? {
                Sym::Special(special) => self.special(special, class, op.span),
                _ => self.address_value(Ident { name: *name, span: op.span }, 0, class, false),
            },
            OperandKind::Member(name, index) => match self.lookup(*name)? {
                Sym::Special(SpecialReg::Dimensions(of)) => {
                    self.special(SpecialReg::Fixed(component(of, *index)), class, op.span)
                }
                Sym::None => Err(self.undeclared(*name, op.span)),
                _ => operand("a vector", op.span),
            },
            OperandKind::Not(name) => {
                let reg = self.register(Ident { name: *name, span: op.span })?;
                if reg.class != Class::P || class != Class::P {
                    return operand("a predicate after '!'", op.span);
                }
                let slot = self.temp(Class::P)?;
                self.alu(Role::Helper, IntOp::NotP, slot, &[reg.slot], 0);
                Ok(slot)
            }
            OperandKind::Minus(name) => {
                let reg = self.register(Ident { name: *name, span: op.span })?;
                let from = self.widened(reg, class, op.span)?;
                self.negated(from, class, ty, op.span)
            }
            OperandKind::Index(name, index) => {
                let (ident, offset) = self.element(*name, index, op.span)?;
                self.address_value(ident, offset, class, false)
            }
            _ => operand(register_of(class), op.span),
        }
    }

    /// `%r + 4` as an operand: a sum of the register's width.
    fn register_sum(&mut self, reg: Reg, addend: i64, class: Class, span: Span) -> Lowered<Slot> {
        let add = match (reg.class, reg.bits) {
            (Class::W, 0..=16) => IntOp::Add16,
            (Class::W, _) => IntOp::Add32,
            (Class::Q, _) => IntOp::Add64,
            (Class::P, _) => return operand(register_of(class), span),
        };
        let addend = self.constant(reg.class, addend.cast_unsigned())?;
        let from = self.widened(reg, reg.class, span)?;
        let slot = self.temp(reg.class)?;
        self.alu(Role::Helper, add, slot, &[from, addend], 0);
        self.widened(Reg { slot, ..reg }, class, span)
    }

    fn negated(&mut self, from: Slot, class: Class, ty: M, span: Span) -> Lowered<Slot> {
        use crate::program::ops::AluOp;
        use crate::program::ops::FloatOp;
        let op: AluOp = match (ty, class) {
            (M::F32, Class::W) => FloatOp::NegF32.into(),
            (M::F64, Class::Q) => FloatOp::NegF64.into(),
            (M::U16 | M::S16 | M::B16, Class::W) => IntOp::Neg16.into(),
            (_, Class::W) => IntOp::Neg32.into(),
            (_, Class::Q) => IntOp::Neg64.into(),
            (_, Class::P) => return operand("a number after '-'", span),
        };
        let slot = self.temp(class)?;
        self.alu(Role::Helper, op, slot, &[from], 0);
        Ok(slot)
    }

    /// A register's value in a slot of a class: a wider register gives its low bits, a narrower one is zero-extended.
    pub(super) fn widened(&mut self, reg: Reg, class: Class, span: Span) -> Lowered<Slot> {
        if reg.lanes != 1 {
            return operand("a scalar", span);
        }
        let op = match (reg.class, class) {
            (have, want) if have == want => return Ok(reg.slot),
            (Class::Q, Class::W) => IntOp::TruncQW,
            (Class::W, Class::Q) => IntOp::ZextWQ,
            _ => return operand(register_of(class), span),
        };
        let slot = self.temp(class)?;
        self.alu(Role::Helper, op, slot, &[reg.slot], 0);
        Ok(slot)
    }

    /// A special register's value.
    fn special(&mut self, special: SpecialReg, class: Class, span: Span) -> Lowered<Slot> {
        match special {
            SpecialReg::Fixed(special) => self.preload(class, Preloaded::Init(Init::Special(special))),
            // A vector where a scalar stands: `%tid` is `%tid.x` in PTX 1.x.
            SpecialReg::Dimensions(of) => self.preload(class, Preloaded::Init(Init::Special(of))),
            SpecialReg::Moving(register) => {
                let have = if is_wide(register) { Class::Q } else { Class::W };
                let slot = self.temp(have)?;
                self.read_moving(Role::Helper, register, slot);
                self.widened(Reg { slot, class: have, bits: 32, lanes: 1 }, class, span)
            }
        }
    }

    /// Reads a special register that changes.
    pub(super) fn read_moving(&mut self, role: Role, register: Moving, d: Slot) {
        self.emit(role, Instr { d, ..Instr::new(Op::ReadSpecial(register)) });
    }

    /// A component of a special register, or the register itself.
    pub(super) fn dimension(special: SpecialReg, index: u8) -> Option<Special> {
        match special {
            SpecialReg::Dimensions(of) => Some(component(of, index)),
            _ => None,
        }
    }

    /// `x[3]`: the variable and the byte offset.
    fn element(&mut self, name: Name, index: &crate::ptx::tree::Expr, span: Span) -> Lowered<(Ident, i64)> {
        let element = match self.lookup(name)? {
            Sym::Place(place) => i64::from(place.element),
            Sym::None => return Err(self.undeclared(name, span)),
            _ => return operand("a variable", span),
        };
        let Value::Int { bits, .. } = evaluate(index).map_err(constant)? else {
            return operand("an integer constant as the index", index.span);
        };
        Ok((Ident { name, span }, bits.cast_signed().wrapping_mul(element)))
    }

    /// The address of a variable, function or label as a value: its own space's, or the generic one.
    pub(super) fn address_value(&mut self, ident: Ident, offset: i64, class: Class, generic: bool) -> Lowered<Slot> {
        if class == Class::P {
            return operand("a predicate", ident.span);
        }
        let init = |init| Preloaded::Init(init);
        let within = |area: Area, first: u32, place: Place| Init::Within {
            of: Within { area, first, bytes: place.bytes },
            offset,
        };
        let symbol = self.lookup(ident.name)?;
        let owner = if let Sym::Place(place) = symbol { self.owner(place, ident.name) } else { None };
        let value = match symbol {
            Sym::Function(id) => {
                self.program.taken.push(id);
                init(Init::Function(id))
            }
            Sym::Place(place) => match place.base {
                Base::Variable(index) => init(Init::Variable { index, offset }),
                Base::Shared(variable) => {
                    self.uses_shared(variable);
                    Preloaded::Shared(variable, offset)
                }
                Base::DynamicShared => init(Init::DynamicShared(offset)),
                Base::Local(base) => init(within(Area::Local, base, place)),
                Base::Param(base) => init(within(Area::Param, base, place)),
                // An entry's frame begins where local memory does.
                Base::Frame(base) if self.is_entry() => init(within(Area::Local, base, place)),
                Base::Frame(base) => {
                    let addend = self.address_of(class, init(within(Area::Frame, base, place)), owner)?;
                    let sum = self.temp(class)?;
                    if class == Class::W {
                        self.alu(Role::Helper, IntOp::Add32, sum, &[STACK_BASE, addend], 0);
                    } else {
                        self.alu(Role::Helper, IntOp::ZextWQ, sum, &[STACK_BASE], 0);
                        self.alu(Role::Helper, IntOp::Add64, sum, &[sum, addend], 0);
                    }
                    return self.made_generic(sum, class, generic.then_some(place));
                }
            },
            Sym::None => return Err(self.undeclared(ident.name, ident.span)),
            Sym::Label(label) => {
                let slot = self.label_address(label)?;
                return self.widened(Reg { slot, class: Class::Q, bits: 64, lanes: 1 }, class, ident.span);
            }
            _ => return operand("a value", ident.span),
        };
        let slot = self.address_of(class, value, owner)?;
        match self.lookup(ident.name)? {
            Sym::Place(place) if generic => self.made_generic(slot, class, Some(place)),
            _ => Ok(slot),
        }
    }

    /// Adds the start of a variable's window.
    fn made_generic(&mut self, slot: Slot, class: Class, place: Option<Place>) -> Lowered<Slot> {
        let Some(window) = place.and_then(|place| self.window(space_of(place))) else { return Ok(slot) };
        let start = self.constant(class, window)?;
        let sum = self.temp(class)?;
        let op = if class == Class::W { IntOp::Add32 } else { IntOp::Add64 };
        self.alu(Role::Helper, op, sum, &[slot, start], 0);
        Ok(sum)
    }

    /// The first generic address of a space; `None` where the space's addresses are generic ones.
    pub(super) fn window(&self, space: StateSpace) -> Option<u64> {
        let map = self.program.env.addresses();
        match space {
            StateSpace::Shared => Some(map.shared),
            StateSpace::Local => Some(map.local),
            StateSpace::Param => Some(map.param),
            _ => None,
        }
    }

    /// Notes that the function uses a shared variable.
    pub(super) fn uses_shared(&mut self, variable: u32) {
        if let Some(uses) = self.program.uses.get_mut(self.id.0 as usize)
            && !uses.shared.contains(&variable)
        {
            uses.shared.push(variable);
        }
    }

    /// An address operand.
    pub(super) fn address(&mut self, op: &Operand) -> Lowered<Located> {
        match &op.kind {
            OperandKind::Address(address) => self.located(address, op.span),
            OperandKind::Index(name, index) => {
                let (ident, offset) = self.element(*name, index, op.span)?;
                self.based(ident, offset)
            }
            OperandKind::Bracket(list) if list.len() == 1 => match list.first().map(|op| &op.kind) {
                Some(OperandKind::Name(name)) => self.based(Ident { name: *name, span: op.span }, 0),
                _ => operand("an address in brackets", op.span),
            },
            // PTX 1.x names variables without brackets.
            OperandKind::Name(name) => self.based(Ident { name: *name, span: op.span }, 0),
            _ => operand("an address in brackets", op.span),
        }
    }

    fn located(&mut self, address: &Address, span: Span) -> Lowered<Located> {
        let mut offset = 0;
        let mut base = address.base;
        if let Some(expr) = &address.offset {
            match evaluate(expr).map_err(constant)? {
                Value::Int { bits, .. } => offset = bits.cast_signed(),
                Value::Address(a) if base.is_none() => {
                    base = Some(Ident { name: a.name, span: a.span });
                    offset = a.offset;
                }
                _ => return operand("an integer constant as the offset", expr.span),
            }
        }
        match base {
            Some(ident) => self.based(ident, offset),
            None => {
                let slot = self.constant(Class::Q, 0)?;
                let _ = span;
                Ok(Located { slot, wide: true, offset, place: None, owner: None })
            }
        }
    }

    fn based(&mut self, ident: Ident, offset: i64) -> Lowered<Located> {
        let symbol = self.lookup(ident.name)?;
        let owner = if let Sym::Place(place) = symbol { self.owner(place, ident.name) } else { None };
        let (slot, wide, base, place) = match symbol {
            Sym::Reg(Reg { slot, class: Class::W, lanes: 1, .. }) => (slot, false, 0, None),
            Sym::Reg(Reg { slot, class: Class::Q, lanes: 1, .. }) => (slot, true, 0, None),
            Sym::Place(place) => match place.base {
                Base::Variable(index) => {
                    let init = Init::Variable { index, offset: 0 };
                    (self.preload(Class::Q, Preloaded::Init(init))?, true, 0, Some(place))
                }
                Base::Shared(variable) => {
                    self.uses_shared(variable);
                    (self.preload(Class::W, Preloaded::Shared(variable, 0))?, false, 0, Some(place))
                }
                Base::DynamicShared => {
                    (self.preload(Class::W, Preloaded::Init(Init::DynamicShared(0)))?, false, 0, Some(place))
                }
                Base::Frame(at) => (STACK_BASE, false, at, Some(place)),
                Base::Local(at) | Base::Param(at) => (self.constant(Class::W, 0)?, false, at, Some(place)),
            },
            Sym::None => return Err(self.undeclared(ident.name, ident.span)),
            _ => return operand("a register or variable as the address's base", ident.span),
        };
        Ok(Located { slot, wide, offset: offset.wrapping_add(i64::from(base)), place, owner })
    }

    /// A destination register; `_` gives a temporary of the class.
    pub(super) fn destination(&mut self, op: &Operand, class: Class) -> Lowered<Reg> {
        if matches!(op.kind, OperandKind::Sink) {
            let bits = match class {
                Class::W => 32,
                Class::Q => 64,
                Class::P => 1,
            };
            return Ok(Reg { slot: self.temp(class)?, class, bits, lanes: 1 });
        }
        match self.as_register(op)? {
            Some(reg) if reg.lanes == 1 => Ok(reg),
            Some(_) => operand("a scalar register", op.span),
            None => match op.kind {
                OperandKind::Name(name) if self.lookup(name)? == Sym::None => Err(self.undeclared(name, op.span)),
                _ => operand("a register to write", op.span),
            },
        }
    }

    /// A destination of exactly the class.
    pub(super) fn destination_of(&mut self, op: &Operand, class: Class) -> Lowered<Slot> {
        let reg = self.destination(op, class)?;
        if reg.class != class {
            return operand(register_of(class), op.span);
        }
        Ok(reg.slot)
    }

    /// Splits `d|p`; a plain operand has no second part.
    pub(super) fn pair(op: &Operand) -> (&Operand, Option<&Operand>) {
        match &op.kind {
            OperandKind::Pair(pair) => (&pair.0, Some(&pair.1)),
            _ => (op, None),
        }
    }
}

/// An instruction's operand.
pub(super) fn nth(instr: &crate::ptx::tree::Instr, i: usize) -> Result<&Operand, Fault> {
    instr.operands.get(i).ok_or((LowerErrorKind::MissingOperand, instr.head))
}

/// The state space that a variable is declared in.
pub(super) fn space_of(place: Place) -> StateSpace {
    match place.base {
        Base::Variable(_) if place.constant => StateSpace::Const,
        Base::Variable(_) => StateSpace::Global,
        Base::Shared(_) | Base::DynamicShared => StateSpace::Shared,
        Base::Frame(_) | Base::Local(_) => StateSpace::Local,
        Base::Param(_) => StateSpace::Param,
    }
}
