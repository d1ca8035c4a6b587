//! Values of registers: lines as numbers, vectors in strips of four lanes.

use super::builder::{Emit, HALF, NAN, Numbers, STRIPS, Strip, Word, common, field, offset, trusted, width};
use crate::base::mutant::{Mutant, on};
use crate::program::affine::Line;
use crate::program::ops::Class;
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlags, Type, Value, types};

fn little() -> MemFlags {
    MemFlags::new().with_endianness(Endianness::Little)
}

impl Emit<'_, '_> {
    /// A line of which a number is known.
    pub(super) fn one(&mut self, class: Class, line: Line, value: Value) -> Numbers {
        Numbers { values: [value; 2], line, class }
    }

    /// A known number.
    pub(super) fn constant(&mut self, class: Class, value: u64) -> Value {
        let narrow = if class == Class::Q { value.cast_signed() } else { i64::from((value as u32).cast_signed()) };
        self.b.ins().iconst(width(class), narrow)
    }

    /// A line that variables hold.
    pub(super) fn variable_line(&mut self, n: usize, line: Line) -> Numbers {
        let (class, _) = self.plan.function.slots.name(n);
        if let Some(value) = line.value(class) {
            let value = self.constant(class, value);
            return self.one(class, line, value);
        }
        let mut values = [self.context; 2];
        for (half, value) in values.iter_mut().enumerate() {
            let variable = self.variable(n, if line.halves { half } else { 0 });
            *value = self.b.use_var(variable);
        }
        Numbers { values, line, class }
    }

    /// The line of a register that no instruction writes, from the frame.
    pub(super) fn fixed_line(&mut self, n: usize, line: Line) -> Numbers {
        let (class, slot) = self.plan.function.slots.name(n);
        if let Some(value) = line.value(class) {
            let value = self.constant(class, value);
            return self.one(class, line, value);
        }
        let (from, bytes) = self.slot(class, slot.index());
        let lane = if class == Class::Q { 8 } else { 4 };
        let flags = trusted().with_readonly().with_can_move();
        let first = self.b.ins().load(width(class), flags, from, offset(bytes));
        let second =
            if line.halves { self.b.ins().load(width(class), flags, from, offset(bytes + 16 * lane)) } else { first };
        Numbers { values: [first, second], line, class }
    }

    /// The bits of a predicate that no instruction writes.
    pub(super) fn fixed_predicate(&mut self, slot: usize) -> Value {
        let from = field!(self, types::I64, p);
        self.b.ins().load(types::I32, trusted(), from, offset(4 * slot))
    }

    /// Where the slots of a class begin, and how far behind that one is.
    fn slot(&mut self, class: Class, slot: usize) -> (Value, usize) {
        if let Some([w, q, _]) = self.segment.bases {
            return if class == Class::Q { (q, 256 * slot) } else { (w, 128 * slot) };
        }
        match class {
            Class::Q => (field!(self, types::I64, q), 256 * slot),
            _ => (field!(self, types::I64, w), 128 * slot),
        }
    }

    /// The same of a register by its number.
    pub(super) fn slot_of(&mut self, n: usize) -> (Value, usize) {
        let (class, slot) = self.plan.function.slots.name(n);
        self.slot(class, slot.index())
    }

    /// A line with a number for each half.
    pub(super) fn lift(&mut self, x: Numbers) -> Numbers {
        if x.line.halves {
            return x;
        }
        let step = self.step(x, HALF);
        let second = if x.line.stride == 0 || on(Mutant::NativeLift) {
            x.values[0]
        } else {
            self.b.ins().iadd_imm(x.values[0], step)
        };
        Numbers { values: [x.values[0], second], line: Line { halves: true, ..x.line }, ..x }
    }

    /// What so many lanes further is more, as wide as the register.
    pub(super) fn step(&self, x: Numbers, lanes: i64) -> i64 {
        let stride = match x.class {
            Class::Q => x.line.stride.cast_signed(),
            _ => i64::from((x.line.stride as u32).cast_signed()),
        };
        let all = stride.wrapping_mul(lanes);
        if x.class == Class::Q { all } else { i64::from(all as i32) }
    }

    /// Four lanes of a line.
    pub(super) fn strip_of(&mut self, x: Numbers, s: usize) -> Strip {
        let (half, first) = if x.line.halves { (s / 4, s % 4 * 4) } else { (0, s * 4) };
        let base = x.values[half];
        if x.class == Class::Q {
            let all = self.splat(types::I64X2, base);
            return Strip::Q([0, 2].map(|two| {
                if x.line.stride == 0 {
                    return all;
                }
                let at = |lane: usize| self.step(x, (first + two + lane) as i64).to_le_bytes();
                let steps = self.vector(types::I64X2, [at(0), at(1)].concat());
                self.b.ins().iadd(all, steps)
            }));
        }
        let all = self.splat(types::I32X4, base);
        let value = if x.line.stride == 0 {
            all
        } else {
            let at = |lane: usize| (self.step(x, (first + lane) as i64) as i32).to_le_bytes();
            let steps = self.vector(types::I32X4, [at(0), at(1), at(2), at(3)].concat());
            self.b.ins().iadd(all, steps)
        };
        Strip::W(Word { value, float: false, loose: false })
    }

    fn splat(&mut self, ty: Type, value: Value) -> Value {
        if let Some(known) = self.segment.splats.get(&value) {
            return *known;
        }
        let all = self.b.ins().splat(ty, value);
        self.segment.splats.insert(value, all);
        all
    }

    /// A known vector.
    pub(super) fn vector(&mut self, ty: Type, bytes: Vec<u8>) -> Value {
        let constant = self.b.func.dfg.constants.insert(bytes.into());
        self.b.ins().vconst(ty, constant)
    }

    /// Four lanes of a register of the frame.
    pub(super) fn frame_strip(&mut self, n: usize, s: usize) -> Strip {
        let (class, slot) = self.plan.function.slots.name(n);
        let (from, at) = self.slot(class, slot.index());
        match class {
            Class::Q => {
                Strip::Q([0, 16].map(|two| self.b.ins().load(types::I64X2, trusted(), from, offset(at + s * 32 + two))))
            }
            _ => {
                let value = self.b.ins().load(types::I32X4, trusted(), from, offset(at + s * 16));
                Strip::W(Word { value, float: false, loose: false })
            }
        }
    }

    /// Writes four lanes of a register to the frame: those that run.
    pub(super) fn put_strip(&mut self, n: usize, s: usize, strip: Strip) {
        let (class, slot) = self.plan.function.slots.name(n);
        let (to, at) = self.slot(class, slot.index());
        match strip {
            Strip::W(word) => {
                let mut value = self.integers(word);
                if self.who.some {
                    let old = self.b.ins().load(types::I32X4, trusted(), to, offset(at + s * 16));
                    let lanes = self.lanes(s);
                    value = self.b.ins().bitselect(lanes, value, old);
                }
                self.b.ins().store(trusted(), value, to, offset(at + s * 16));
            }
            Strip::Q(pairs) => {
                for (k, pair) in pairs.into_iter().enumerate() {
                    let place = offset(at + s * 32 + k * 16);
                    let mut value = pair;
                    if self.who.some {
                        let old = self.b.ins().load(types::I64X2, trusted(), to, place);
                        let lanes = self.lanes(s);
                        let lanes = self.wide_mask(lanes)[k];
                        value = self.b.ins().bitselect(lanes, value, old);
                    }
                    self.b.ins().store(trusted(), value, to, place);
                }
            }
            Strip::P(_) => {}
        }
    }

    /// Writes a line to the frame.
    pub(super) fn put_line(&mut self, n: usize, x: Numbers) {
        for s in 0..STRIPS {
            let strip = self.strip_of(x, s);
            self.put_strip(n, s, strip);
        }
    }

    /// An access of the lanes that run, which stay the same but where groups of them do.
    pub(super) fn flags_of_lanes(&self) -> MemFlags {
        if self.groups.is_some() { trusted() } else { trusted().with_readonly().with_can_move() }
    }

    /// The lanes of a strip that run.
    pub(super) fn lanes(&mut self, s: usize) -> Value {
        if let Some(lanes) = self.segment.lanes {
            return lanes;
        }
        if !self.who.parted.is_empty() {
            // Not kept for what follows: this may be on a way that only some come.
            let all = self.b.ins().splat(types::I32X4, self.who.mask);
            return self.own_bits(all, s);
        }
        let (from, flags) = (common!(self, types::I64, lanes), self.flags_of_lanes());
        self.b.ins().load(types::I32X4, flags, from, offset(s * 16))
    }

    /// Finds the lanes of a strip that run, before it.
    pub(super) fn lanes_of_strip(&mut self, s: usize) {
        if self.grouped().is_none() || !self.who.parted.is_empty() {
            return;
        }
        // Of a comparison it is known that lanes have all of their bits or none, so that one instruction chooses by it.
        let lanes = if self.plan.function.entry {
            self.lanes(s)
        } else {
            let all = self.splat(types::I32X4, self.who.mask);
            self.own_bits(all, s)
        };
        self.segment.lanes = Some(lanes);
    }

    /// A mask of four lanes as one of lanes twice as wide.
    pub(super) fn wide_mask(&mut self, mask: Value) -> [Value; 2] {
        [self.b.ins().swiden_low(mask), self.b.ins().swiden_high(mask)]
    }

    /// A strip as integers.
    pub(super) fn integers(&mut self, word: Word) -> Value {
        if !word.float {
            return word.value;
        }
        let mut value = word.value;
        if word.loose && !on(Mutant::NativeNan) {
            let ty = types::F32X4;
            let unordered = self.b.ins().fcmp(cranelift_codegen::ir::condcodes::FloatCC::Unordered, value, value);
            let nan = self.b.ins().iconst(types::I32, NAN);
            let nan = self.b.ins().splat(types::I32X4, nan);
            let nan = self.b.ins().bitcast(ty, little(), nan);
            let unordered = self.b.ins().bitcast(ty, little(), unordered);
            value = self.b.ins().bitselect(unordered, nan, value);
        }
        self.b.ins().bitcast(types::I32X4, little(), value)
    }

    /// A strip as floating-point numbers.
    pub(super) fn floats(&mut self, word: Word) -> Value {
        if word.float { word.value } else { self.b.ins().bitcast(types::F32X4, little(), word.value) }
    }

    /// A predicate's bits as a mask of four lanes.
    pub(super) fn expand(&mut self, bits: Value, s: usize) -> Value {
        let all = self.splat(types::I32X4, bits);
        self.own_bits(all, s)
    }

    /// A mask of four lanes from bits that each of them has all of.
    pub(super) fn own_bits(&mut self, all: Value, s: usize) -> Value {
        let bit = |lane: usize| (1_u32 << (4 * s + lane)).to_le_bytes();
        let own = self.vector(types::I32X4, [bit(0), bit(1), bit(2), bit(3)].concat());
        let set = self.b.ins().band(all, own);
        self.b.ins().icmp(cranelift_codegen::ir::condcodes::IntCC::Equal, set, own)
    }

    /// A number of 32 bits as a floating-point one, and back.
    pub(super) fn real(&mut self, value: Value) -> Value {
        self.b.ins().bitcast(types::F32, little(), value)
    }

    pub(super) fn bits(&mut self, value: Value) -> Value {
        self.b.ins().bitcast(types::I32, little(), value)
    }

    pub(super) fn reinterpret(&mut self, ty: Type, value: Value) -> Value {
        if self.b.func.dfg.value_type(value) == ty {
            return value;
        }
        self.b.ins().bitcast(ty, little(), value)
    }
}
