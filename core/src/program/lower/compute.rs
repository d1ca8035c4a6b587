//! Data operations: everything that computes registers from registers (PTX ISA 9.7.1 to 9.7.8).

use super::function::{FnLower, Role};
use super::memory::space_word;
use super::moves::move_of;
use super::operand::nth;
use super::types::{bits_type, class_of_type};
use crate::program::env::Init;
use crate::program::instr::{Slot, Space};
use crate::program::ops::{Class, IntOp};
use crate::program::select::{Selected, int_cvt};
use crate::program::types::bits_of;
use crate::ptx::tree::{Instr, Operand, OperandKind};
use crate::ptx::{Modifier as M, Opcode};
use smallvec::SmallVec;

/// The sources of an operation, in order.
type Sources = SmallVec<[Slot; 4]>;

/// The type that a constant has as source number `index`.
fn source_type(instr: &Instr, index: usize, class: Class, ty: M) -> M {
    let narrow = matches!(ty, M::U16 | M::S16 | M::B16);
    let other = match instr.opcode {
        // Shift amounts, positions and lengths are 32-bit numbers; so is the addend of a widening product.
        Opcode::SHL | Opcode::SHR => index == 1,
        Opcode::MAD => index == 2 && narrow && instr.mods.contains(&M::WIDE),
        Opcode::BFE | Opcode::BFI => true,
        _ => false,
    };
    let fits = class_of_type(ty) == class;
    if other || !fits { bits_type(class.bits().into()) } else { ty }
}

impl<'t> FnLower<'_, 't> {
    /// A data operation that selection knows. `None` when it does not.
    pub(super) fn data(&mut self, instr: &'t Instr) -> Option<()> {
        let mut selected = self.selected?;
        let shape = selected.op.shape();
        let ty = self.types.last().copied().unwrap_or(M::B32);
        let mut sources = Sources::new();
        let carry_in = matches!(instr.opcode, Opcode::ADDC | Opcode::SUBC | Opcode::MADC);
        for (i, &class) in shape.sources.iter().enumerate() {
            sources.push(if carry_in && class == Class::P {
                self.carry()?
            } else {
                self.source(nth(instr, i + 1)?, class, source_type(instr, i, class, ty))?
            });
        }
        let d = self.destination_of(nth(instr, 0)?, shape.dest)?;
        if shape.carry_out {
            let carry = self.carry()?;
            if sources.len() == 4 {
                selected.mode = u32::from(carry.0);
            } else {
                sources.resize(3, Slot(0));
                sources.push(carry);
            }
        }
        self.operation(selected, d, &sources)
    }

    /// `lop3.b32 d, a, b, c, table` and `lop3.and.b32 d|p, a, b, c, table, q`.
    pub(super) fn lop3(&mut self, instr: &'t Instr) -> Option<()> {
        let (dest, predicate) = Self::pair(nth(instr, 0)?);
        let mut sources = [Slot(0); 3];
        for (i, slot) in sources.iter_mut().enumerate() {
            *slot = self.source(nth(instr, i + 1)?, Class::W, M::B32)?;
        }
        let table = self.immediate(nth(instr, 4)?)?;
        let d = self.destination_of(dest, Class::W)?;
        let mode = u32::try_from(table & 0xff).unwrap_or(0);
        let second = match (predicate, combination(&instr.mods)) {
            (Some(predicate), Some(combine)) => {
                let q = self.source(nth(instr, 5)?, Class::P, M::PRED)?;
                Some((self.destination_of(predicate, Class::P)?, q, combine))
            }
            _ => None,
        };
        self.alu(Role::Main, Selected { op: IntOp::Lop3.into(), mode }, d, &sources);
        if let Some((p, q, combine)) = second {
            let op = if combine == IntOp::AndP { IntOp::NonzeroAnd } else { IntOp::NonzeroOr };
            self.alu(Role::Part, op, p, &[d, q]);
        }
        Some(())
    }

    /// `setp.cmp{.bool}.type p{|q}, a, b{, {!}c}`.
    pub(super) fn setp(&mut self, instr: &'t Instr) -> Option<()> {
        let compare = self.selected?;
        let ty = *self.types.first()?;
        let (dest, second) = Self::pair(nth(instr, 0)?);
        let class = class_of_type(ty);
        let a = self.source(nth(instr, 1)?, class, ty)?;
        let b = self.source(nth(instr, 2)?, class, ty)?;
        let p = self.destination_of(dest, Class::P)?;
        let q = match second {
            Some(second) => Some(self.destination_of(second, Class::P)?),
            None => None,
        };
        let combine = self.combine(instr)?;
        if combine.is_none() && q.is_none() {
            return self.operation(compare, p, &[a, b]);
        }
        // All is computed before anything is written: p may be one of the sources of q.
        let first = self.helper(compare, Class::P, &[a, b])?;
        if let Some(q) = q {
            let packed = matches!(ty, M::F16X2 | M::BF16X2);
            let other = if packed {
                self.compare_high(compare, a, b)?.0
            } else {
                self.helper(IntOp::NotP, Class::P, &[first])?
            };
            let other = self.combined(combine, other)?;
            let first = self.combined(combine, first)?;
            self.alu(Role::Main, IntOp::MovP, p, &[first]);
            self.alu(Role::Part, IntOp::MovP, q, &[other]);
        } else if let Some((combine, c)) = combine {
            self.alu(Role::Main, combine, p, &[first, c]);
        }
        Some(())
    }

    /// What combines a comparison of `setp` or `set` with a predicate, its last operand.
    fn combine(&mut self, instr: &'t Instr) -> Option<Option<(IntOp, Slot)>> {
        let Some(combine) = combination(&instr.mods) else { return Some(None) };
        Some(Some((combine, self.source(nth(instr, 3)?, Class::P, M::PRED)?)))
    }

    /// A comparison of the high halves of packed values, and temporaries that are free after it.
    fn compare_high(&mut self, compare: Selected, a: Slot, b: Slot) -> Option<(Slot, [Slot; 2])> {
        let x = self.helper(IntOp::Hi16, Class::W, &[a])?;
        let y = self.helper(IntOp::Hi16, Class::W, &[b])?;
        Some((self.helper(compare, Class::P, &[x, y])?, [x, y]))
    }

    /// A comparison's result joined with the source predicate, in a temporary.
    fn combined(&mut self, combine: Option<(IntOp, Slot)>, t: Slot) -> Option<Slot> {
        let Some((combine, c)) = combine else { return Some(t) };
        self.helper(combine, Class::P, &[t, c])
    }

    /// `set.cmp{.bool}.dtype.stype d, a, b{, {!}c}`: all ones or 1.0 where the comparison holds, else zero.
    pub(super) fn set(&mut self, instr: &'t Instr) -> Option<()> {
        let compare = self.selected?;
        let [dty, sty] = *self.types else { return None };
        let class = class_of_type(sty);
        let a = self.source(nth(instr, 1)?, class, sty)?;
        let b = self.source(nth(instr, 2)?, class, sty)?;
        let combine = self.combine(instr)?;
        let d = self.destination_of(nth(instr, 0)?, Class::W)?;
        let yes: u64 = match dty {
            M::F32 => 0x3f80_0000,
            M::F16 | M::F16X2 => 0x3c00,
            M::BF16 | M::BF16X2 => 0x3f80,
            M::U16 | M::S16 => 0xffff,
            _ => 0xffff_ffff,
        };
        let packed = matches!(sty, M::F16X2 | M::BF16X2);
        let yes = self.constant(Class::W, if packed { yes & 0xffff } else { yes })?;
        let no = self.constant(Class::W, 0)?;
        let low = self.helper(compare, Class::P, &[a, b])?;
        let low = self.combined(combine, low)?;
        if !packed {
            return self.operation(IntOp::SelW, d, &[yes, no, low]);
        }
        let (high, [x, y]) = self.compare_high(compare, a, b)?;
        let high = self.combined(combine, high)?;
        self.alu(Role::Helper, IntOp::SelW, x, &[yes, no, low]);
        self.alu(Role::Helper, IntOp::SelW, y, &[yes, no, high]);
        self.operation(IntOp::Pack16x2, d, &[x, y])
    }

    /// `slct.dtype.ctype d, a, b, c`: a where c is not negative, else b.
    pub(super) fn slct(&mut self, instr: &'t Instr) -> Option<()> {
        let compare = self.selected?;
        let [dty, cty] = *self.types else { return None };
        let class = class_of_type(dty);
        let a = self.source(nth(instr, 1)?, class, dty)?;
        let b = self.source(nth(instr, 2)?, class, dty)?;
        let c = self.source(nth(instr, 3)?, Class::W, cty)?;
        let d = self.destination_of(nth(instr, 0)?, class)?;
        let zero = self.constant(Class::W, 0)?;
        let t = self.helper(compare, Class::P, &[c, zero])?;
        self.operation(if class == Class::Q { IntOp::SelQ } else { IntOp::SelW }, d, &[a, b, t])
    }

    /// `cvt`: registers may be wider than the types (PTX ISA 9.4.1).
    pub(super) fn cvt(&mut self, instr: &'t Instr) -> Option<()> {
        if instr.mods.contains(&M::PACK) {
            return self.data(instr);
        }
        let [to, from] = *self.types else { return None };
        let operand = nth(instr, 1)?;
        if let OperandKind::Vector(list) = &operand.kind {
            return self.cvt_four(instr, list);
        }
        let d = self.destination(nth(instr, 0)?, class_of_type(to))?;
        let class = self.as_register(operand).map_or(class_of_type(from), |reg| reg.class);
        let sat = instr.mods.contains(&M::SAT);
        if let Some(convert) = int_cvt::convert(to, from, sat, d.width(), class) {
            let a = self.source(operand, class, from)?;
            return self.operation(convert, d.slot, &[a]);
        }
        let selected = self.selected?;
        let shape = selected.op.shape();
        let mut sources = Sources::new();
        for (i, &class) in shape.sources.iter().enumerate() {
            let ty = if class == class_of_type(from) { from } else { M::B32 };
            sources.push(self.source(nth(instr, i + 1)?, class, ty)?);
        }
        let narrow = bits_of(to).is_some_and(|bits| bits < d.width());
        let extend = match int_cvt::convert(to, to, false, d.width(), shape.dest).filter(|_| narrow) {
            None if d.class == shape.dest => {
                return self.operation(selected, d.slot, &sources);
            }
            None if d.class == Class::Q => IntOp::ZextWQ.into(),
            extend => extend?,
        };
        // The result is extended to its register.
        let t = self.helper(selected, shape.dest, &sources)?;
        self.operation(extend, d.slot, &[t])
    }

    /// `cvt.rs….x4 d, {a, b, e, f}, random`: two conversions of pairs. What is random for the second one lies further down.
    fn cvt_four(&mut self, instr: &'t Instr, list: &'t [Operand]) -> Option<()> {
        let selected = self.selected?;
        let mut sources = [Slot(0); 4];
        for (slot, operand) in sources.iter_mut().zip(list) {
            *slot = self.source(operand, Class::W, M::F32)?;
        }
        let [a, b, e, f] = sources;
        let random = self.source(nth(instr, 2)?, Class::W, M::B32)?;
        let (bits, pack) = match self.types.first() {
            Some(&M::E2M1X4) => (8, IntOp::Pack8x2),
            _ => (16, IntOp::Pack16x2),
        };
        let bits = self.constant(Class::W, bits)?;
        let below = self.helper(IntOp::Shl32, Class::W, &[random, bits])?;
        let upper = self.helper(selected, Class::W, &[a, b, random])?;
        let lower = self.helper(selected, Class::W, &[e, f, below])?;
        let d = self.destination_of(nth(instr, 0)?, Class::W)?;
        self.operation(pack, d, &[lower, upper])
    }

    /// `cvta{.to}.space.size d, a`: between a space's own addresses and generic ones.
    pub(super) fn cvta(&mut self, instr: &'t Instr) -> Option<()> {
        let space = space_word(self.unit.names(), &instr.mods)?;
        let ty = self.types.last().copied().unwrap_or(M::U64);
        let class = class_of_type(ty);
        let a = self.source(nth(instr, 1)?, class, ty)?;
        let d = self.destination_of(nth(instr, 0)?, class)?;
        let Some(window) = self.window(space) else {
            return self.operation(move_of(class), d, &[a]);
        };
        let window = self.constant(class, window)?;
        let op = match (class, instr.mods.contains(&M::TO)) {
            (Class::W, true) => IntOp::Sub32,
            (Class::W, false) => IntOp::Add32,
            (_, true) => IntOp::Sub64,
            (_, false) => IntOp::Add64,
        };
        self.operation(op, d, &[a, window])
    }

    /// `isspacep.space p, a`: whether a generic address lies in a space's window.
    pub(super) fn isspacep(&mut self, instr: &'t Instr) -> Option<()> {
        let space = space_word(self.unit.names(), &instr.mods)?;
        let operand = nth(instr, 1)?;
        let class = self.as_register(operand).map_or(Class::Q, |reg| reg.class);
        let a = self.source(operand, class, if class == Class::W { M::B32 } else { M::B64 })?;
        let p = self.destination_of(nth(instr, 0)?, Class::P)?;
        let (subtract, below, not_below) = match class {
            Class::W => (IntOp::Sub32, IntOp::LtU32, IntOp::GeU32),
            _ => (IntOp::Sub64, IntOp::LtU64, IntOp::GeU64),
        };
        let map = self.program.env.addresses();
        if let Some(window) = self.window(space) {
            let (start, size) = (self.constant(class, window)?, self.constant(class, map.window)?);
            let t = self.helper(subtract, class, &[a, start])?;
            return self.operation(below, p, &[t, size]);
        }
        // Global addresses are those of no other space; parameters of kernels are among them, as the ISA has it. Constant
        // variables have no window: they lie among global ones.
        let size = self.constant(class, map.window)?;
        let mut elsewhere = Vec::new();
        if space == Space::Global {
            for window in [map.shared, map.local] {
                elsewhere.push((self.constant(class, window)?, size));
            }
        }
        let constants = self.program.env.variables.values().zip(0..).filter(|(variable, _)| variable.constant);
        for (bytes, index) in constants.map(|(variable, index)| (variable.bytes, index)).collect::<Vec<_>>() {
            elsewhere.push((self.preload(class, Init::Variable { index, offset: 0 })?, self.constant(class, bytes)?));
        }
        let (t, outside, one) = (self.temp(class)?, self.temp(Class::P)?, self.temp(Class::P)?);
        let never = self.constant(Class::P, 1)?;
        self.alu(Role::Helper, IntOp::MovP, outside, &[never]);
        for (start, size) in elsewhere {
            self.alu(Role::Helper, subtract, t, &[a, start]);
            self.alu(Role::Helper, not_below, one, &[t, size]);
            self.alu(Role::Helper, IntOp::AndP, outside, &[outside, one]);
        }
        self.operation(if space == Space::Global { IntOp::MovP } else { IntOp::NotP }, p, &[outside])
    }
}

/// The operation that combines a comparison with a predicate.
fn combination(mods: &[M]) -> Option<IntOp> {
    mods.iter().find_map(|word| match *word {
        M::AND => Some(IntOp::AndP),
        M::OR => Some(IntOp::OrP),
        M::XOR => Some(IntOp::XorP),
        _ => None,
    })
}
