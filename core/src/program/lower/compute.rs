//! Data operations: everything that computes registers from registers (PTX ISA 9.7.1 to 9.7.8).

use super::error::Lowered;
use super::function::{FnLower, Role};
use super::operand::nth;
use super::symbol::Reg;
use super::types::class_of_type;
use crate::program::instr::Slot;
use crate::program::ops::Class;
use crate::program::ops::IntOp;
use crate::program::select::{Selected, int_cvt};
use crate::program::types::bits_of;
use crate::ptx::tree::Instr;
use crate::ptx::{Modifier as M, Opcode};

/// The type that a constant has as source number `index`.
fn source_type(instr: &Instr, index: usize, class: Class, ty: M) -> M {
    let whole = match class {
        Class::W => M::B32,
        Class::Q => M::B64,
        Class::P => M::PRED,
    };
    let narrow = matches!(ty, M::U16 | M::S16 | M::B16);
    let other = match instr.opcode {
        // Shift amounts, positions and lengths are 32-bit numbers; so is the addend of a widening product.
        Opcode::SHL | Opcode::SHR => index == 1,
        Opcode::MAD => index == 2 && narrow && instr.mods.contains(&M::WIDE),
        Opcode::BFE | Opcode::BFI => true,
        _ => false,
    };
    let fits = class_of_type(ty) == class;
    if other || !fits { whole } else { ty }
}

impl<'t> FnLower<'_, 't> {
    /// A data operation that selection knows. `None` when it does not.
    pub(super) fn data(&mut self, instr: &'t Instr) -> Lowered<bool> {
        let Some(Selected { op, mode }) = self.selected else { return Ok(false) };
        let shape = op.shape();
        let ty = self.types.last().copied().unwrap_or(M::B32);
        let mut sources = [Slot(0); 4];
        let mut count = 0;
        let carry_in = matches!(instr.opcode, Opcode::ADDC | Opcode::SUBC | Opcode::MADC);
        for (i, class) in shape.used().enumerate() {
            sources[i] = if carry_in && class == Class::P {
                self.carry()?
            } else {
                let ty = source_type(instr, i, class, ty);
                self.source(nth(instr, i + 1)?, class, ty)?
            };
            count = i + 1;
        }
        let d = self.destination_of(nth(instr, 0)?, shape.dest)?;
        let mut mode = mode;
        if shape.carry_out {
            let carry = self.carry()?;
            if count == 4 {
                mode = u32::from(carry.0);
            } else {
                sources[3] = carry;
                count = 4;
            }
        }
        self.alu(Role::Main, op, d, &sources[..count], mode);
        Ok(true)
    }

    /// `lop3.b32 d, a, b, c, table` and `lop3.and.b32 d|p, a, b, c, table, q`.
    pub(super) fn lop3(&mut self, instr: &'t Instr) -> Lowered<()> {
        let (dest, predicate) = Self::pair(nth(instr, 0)?);
        let mut sources = [Slot(0); 3];
        for (i, slot) in sources.iter_mut().enumerate() {
            *slot = self.source(nth(instr, i + 1)?, Class::W, M::B32)?;
        }
        let table = self.immediate(nth(instr, 4)?)?;
        let d = self.destination_of(dest, Class::W)?;
        let mode = u32::try_from(table & 0xff).unwrap_or(0);
        let boolop = instr.mods.iter().find(|m| matches!(**m, M::AND | M::OR));
        let (Some(predicate), Some(boolop)) = (predicate, boolop) else {
            self.alu(Role::Main, IntOp::Lop3, d, &sources, mode);
            return Ok(());
        };
        let q = self.source(nth(instr, 5)?, Class::P, M::PRED)?;
        let p = self.destination_of(predicate, Class::P)?;
        self.alu(Role::Main, IntOp::Lop3, d, &sources, mode);
        let op = if *boolop == M::AND { IntOp::NonzeroAnd } else { IntOp::NonzeroOr };
        self.alu(Role::Part, op, p, &[d, q], 0);
        Ok(())
    }

    /// What combines a comparison of `setp` or `set` with a predicate.
    fn combination(mods: &[M]) -> Option<M> {
        mods.iter().copied().find(|m| matches!(*m, M::AND | M::OR | M::XOR))
    }

    /// `setp.cmp{.bool}.type p{|q}, a, b{, {!}c}`.
    pub(super) fn setp(&mut self, instr: &'t Instr) -> Lowered<bool> {
        let (Some(Selected { op, .. }), [ty]) = (self.selected, self.types) else { return Ok(false) };
        let ty = *ty;
        let combine = Self::combination(&instr.mods);
        let (dest, second) = Self::pair(nth(instr, 0)?);
        let class = class_of_type(ty);
        let a = self.source(nth(instr, 1)?, class, ty)?;
        let b = self.source(nth(instr, 2)?, class, ty)?;
        let p = self.destination_of(dest, Class::P)?;
        let packed = matches!(ty, M::F16X2 | M::BF16X2);
        if combine.is_none() && second.is_none() {
            self.alu(Role::Main, op, p, &[a, b], 0);
            return Ok(true);
        }
        let q = second.map(|second| self.destination_of(second, Class::P)).transpose()?;
        let c = match combine {
            Some(_) => Some(self.source(nth(instr, 3)?, Class::P, M::PRED)?),
            None => None,
        };
        // All is computed before anything is written: p may be one of the sources of q.
        let first = self.temp(Class::P)?;
        self.alu(Role::Helper, op, first, &[a, b], 0);
        let other = match q {
            Some(_) if packed => {
                let (x, y, t) = (self.temp(Class::W)?, self.temp(Class::W)?, self.temp(Class::P)?);
                self.alu(Role::Helper, IntOp::Hi16, x, &[a], 0);
                self.alu(Role::Helper, IntOp::Hi16, y, &[b], 0);
                self.alu(Role::Helper, op, t, &[x, y], 0);
                Some(t)
            }
            Some(_) => {
                let t = self.temp(Class::P)?;
                self.alu(Role::Helper, IntOp::NotP, t, &[first], 0);
                Some(t)
            }
            None => None,
        };
        if let (Some(q), Some(other)) = (q, other) {
            let other = self.combined(combine, other, c)?;
            let first = self.combined(combine, first, c)?;
            self.alu(Role::Main, IntOp::MovP, p, &[first], 0);
            self.alu(Role::Part, IntOp::MovP, q, &[other], 0);
        } else if let (Some(combine), Some(c)) = (combine, c) {
            self.alu(Role::Main, bool_op(combine), p, &[first, c], 0);
        }
        Ok(true)
    }

    /// A comparison's result joined with the source predicate, in a temporary.
    fn combined(&mut self, combine: Option<M>, t: Slot, c: Option<Slot>) -> Lowered<Slot> {
        let (Some(combine), Some(c)) = (combine, c) else { return Ok(t) };
        let d = self.temp(Class::P)?;
        self.alu(Role::Helper, bool_op(combine), d, &[t, c], 0);
        Ok(d)
    }

    /// `set.cmp{.bool}.dtype.stype d, a, b{, {!}c}`: all ones or 1.0 where the comparison holds, else zero.
    pub(super) fn set(&mut self, instr: &'t Instr) -> Lowered<bool> {
        let (Some(Selected { op, .. }), [dty, sty]) = (self.selected, self.types) else { return Ok(false) };
        let (dty, sty) = (*dty, *sty);
        let combine = Self::combination(&instr.mods);
        let class = class_of_type(sty);
        let a = self.source(nth(instr, 1)?, class, sty)?;
        let b = self.source(nth(instr, 2)?, class, sty)?;
        let c = match combine {
            Some(_) => Some(self.source(nth(instr, 3)?, Class::P, M::PRED)?),
            None => None,
        };
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
        let t = self.temp(Class::P)?;
        self.alu(Role::Helper, op, t, &[a, b], 0);
        let low = self.combined(combine, t, c)?;
        if !packed {
            self.alu(Role::Main, IntOp::SelW, d, &[yes, no, low], 0);
            return Ok(true);
        }
        let (x, y, t) = (self.temp(Class::W)?, self.temp(Class::W)?, self.temp(Class::P)?);
        self.alu(Role::Helper, IntOp::Hi16, x, &[a], 0);
        self.alu(Role::Helper, IntOp::Hi16, y, &[b], 0);
        self.alu(Role::Helper, op, t, &[x, y], 0);
        let high = self.combined(combine, t, c)?;
        self.alu(Role::Helper, IntOp::SelW, x, &[yes, no, low], 0);
        self.alu(Role::Helper, IntOp::SelW, y, &[yes, no, high], 0);
        self.alu(Role::Main, IntOp::Pack16x2, d, &[x, y], 0);
        Ok(true)
    }

    /// `slct.dtype.ctype d, a, b, c`: a where c is not negative, else b.
    pub(super) fn slct(&mut self, instr: &'t Instr) -> Lowered<bool> {
        let (Some(Selected { op, .. }), [dty, cty]) = (self.selected, self.types) else { return Ok(false) };
        let (dty, cty) = (*dty, *cty);
        let class = class_of_type(dty);
        let a = self.source(nth(instr, 1)?, class, dty)?;
        let b = self.source(nth(instr, 2)?, class, dty)?;
        let c = self.source(nth(instr, 3)?, Class::W, cty)?;
        let d = self.destination_of(nth(instr, 0)?, class)?;
        let zero = self.constant(Class::W, 0)?;
        let t = self.temp(Class::P)?;
        self.alu(Role::Helper, op, t, &[c, zero], 0);
        let select = match class {
            Class::W => IntOp::SelW,
            Class::Q => IntOp::SelQ,
            Class::P => return Ok(false),
        };
        self.alu(Role::Main, select, d, &[a, b, t], 0);
        Ok(true)
    }

    /// `cvt`: registers may be wider than the types (PTX ISA 9.4.1).
    pub(super) fn cvt(&mut self, instr: &'t Instr) -> Lowered<bool> {
        if instr.mods.contains(&M::PACK) {
            return self.data(instr);
        }
        let [to, from] = *self.types else { return Ok(false) };
        let operand = nth(instr, 1)?;
        let d = self.destination(nth(instr, 0)?, class_of_type(to))?;
        let source = self.as_register(operand)?;
        let class = source.map_or(class_of_type(from), |reg| reg.class);
        let sat = instr.mods.contains(&M::SAT);
        if let Some(Selected { op, mode }) = int_cvt::convert(to, from, sat, register_bits(d), class) {
            let a = self.source(operand, class, from)?;
            self.alu(Role::Main, op, d.slot, &[a], mode);
            return Ok(true);
        }
        let Some(Selected { op, mode }) = self.selected else { return Ok(false) };
        let shape = op.shape();
        let mut sources = [Slot(0); 4];
        let mut count = 0;
        for (i, class) in shape.used().enumerate() {
            let ty = if class == class_of_type(from) { from } else { M::B32 };
            sources[i] = self.source(nth(instr, i + 1)?, class, ty)?;
            count = i + 1;
        }
        let integer = int_cvt::convert(to, to, false, register_bits(d), shape.dest)
            .filter(|_| bits_of(to).is_some_and(|bits| bits < register_bits(d)));
        match integer {
            // The result is extended to its register.
            Some(Selected { op: extend, mode: how }) => {
                let t = self.temp(shape.dest)?;
                self.alu(Role::Helper, op, t, &sources[..count], mode);
                self.alu(Role::Main, extend, d.slot, &[t], how);
            }
            None if d.class == shape.dest => self.alu(Role::Main, op, d.slot, &sources[..count], mode),
            None if d.class == Class::Q => {
                let t = self.temp(shape.dest)?;
                self.alu(Role::Helper, op, t, &sources[..count], mode);
                self.alu(Role::Main, IntOp::ZextWQ, d.slot, &[t], 0);
            }
            None => return super::error::operand("a register as wide as the result", nth(instr, 0)?.span),
        }
        Ok(true)
    }

    /// `cvta{.to}.space.size d, a`: between a space's own addresses and generic ones.
    pub(super) fn cvta(&mut self, instr: &'t Instr) -> Lowered<bool> {
        let Some(space) = super::memory::space_word(self.unit.names(), &instr.mods) else { return Ok(false) };
        let ty = self.types.last().copied().unwrap_or(M::U64);
        let class = class_of_type(ty);
        let a = self.source(nth(instr, 1)?, class, ty)?;
        let d = self.destination_of(nth(instr, 0)?, class)?;
        let to = instr.mods.contains(&M::TO);
        let (add, subtract, mov) = match class {
            Class::W => (IntOp::Add32, IntOp::Sub32, IntOp::MovW),
            _ => (IntOp::Add64, IntOp::Sub64, IntOp::MovQ),
        };
        match self.window(space) {
            None => self.alu(Role::Main, mov, d, &[a], 0),
            Some(window) => {
                let window = self.constant(class, window)?;
                self.alu(Role::Main, if to { subtract } else { add }, d, &[a, window], 0);
            }
        }
        Ok(true)
    }

    /// `isspacep.space p, a`: whether a generic address lies in a space's window.
    pub(super) fn isspacep(&mut self, instr: &'t Instr) -> Lowered<bool> {
        use crate::ptx::tree::StateSpace;
        let Some(space) = super::memory::space_word(self.unit.names(), &instr.mods) else { return Ok(false) };
        let operand = nth(instr, 1)?;
        let class = self.as_register(operand)?.map_or(Class::Q, |reg| reg.class);
        let a = self.source(operand, class, if class == Class::W { M::B32 } else { M::B64 })?;
        let p = self.destination_of(nth(instr, 0)?, Class::P)?;
        let (subtract, below, not_below) = match class {
            Class::W => (IntOp::Sub32, IntOp::LtU32, IntOp::GeU32),
            _ => (IntOp::Sub64, IntOp::LtU64, IntOp::GeU64),
        };
        let map = self.program.env.addresses();
        // Global addresses are those of none of the windows. Constant variables lie among them.
        let windows: &[u64] = match space {
            StateSpace::Global => &[map.shared, map.local, map.param],
            _ => &[],
        };
        if let Some(window) = self.window(space) {
            let (start, size) = (self.constant(class, window)?, self.constant(class, map.window)?);
            let t = self.temp(class)?;
            self.alu(Role::Helper, subtract, t, &[a, start], 0);
            self.alu(Role::Main, below, p, &[t, size], 0);
            return Ok(true);
        }
        if windows.is_empty() {
            return Ok(false);
        }
        let size = self.constant(class, map.window)?;
        let (t, outside, one) = (self.temp(class)?, self.temp(Class::P)?, self.temp(Class::P)?);
        for (i, window) in windows.iter().enumerate() {
            let start = self.constant(class, *window)?;
            self.alu(Role::Helper, subtract, t, &[a, start], 0);
            let d = if i == 0 { outside } else { one };
            self.alu(Role::Helper, not_below, d, &[t, size], 0);
            if i > 0 {
                self.alu(Role::Helper, IntOp::AndP, outside, &[outside, one], 0);
            }
        }
        self.alu(Role::Main, IntOp::MovP, p, &[outside], 0);
        Ok(true)
    }
}

/// The width of a register as conversions see it.
pub(super) fn register_bits(reg: Reg) -> u32 {
    match reg.bits {
        0..=16 => 16,
        17..=32 => 32,
        _ => 64,
    }
}

fn bool_op(word: M) -> IntOp {
    match word {
        M::AND => IntOp::AndP,
        M::OR => IntOp::OrP,
        _ => IntOp::XorP,
    }
}
