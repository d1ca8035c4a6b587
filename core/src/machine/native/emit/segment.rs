//! A segment: scalars and checks, then strips, then predicates.

use super::super::context::Common;
use super::super::forms::{Way, results, sources};
use super::super::ops::{Ops, by_lane};
use super::builder::{Emit, Numbers, STRIPS, Segment, Strip, field, offset, trusted};
use crate::base::mutant::{Mutant, on};
use crate::program::affine::{Line, Pattern};
use crate::program::instr::Instr;
use crate::program::ops::Class;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::mem::offset_of;

impl Emit<'_, '_> {
    /// The segment of some instructions.
    pub(super) fn segment(&mut self, from: usize, to: usize) {
        self.segment = Segment { from, to, ..Segment::default() };
        self.trip();
        self.bases();
        let (mut strips, mut late) = (Vec::new(), Vec::new());
        for k in from..to {
            self.first(k, (from, to), &mut strips, &mut late);
        }
        self.check_order(from, to);
        self.tell_rows();
        self.settle();
        self.fetch_ahead(from, to);
        let mut bits: BTreeMap<usize, Value> = BTreeMap::new();
        let vectors = self.vectors_behind(&strips, to);
        let spans = self.spans(&strips, &vectors);
        let kept = std::mem::take(&mut self.segment.splats);
        for s in 0..STRIPS {
            self.segment.splats.clone_from(&kept);
            let passed = if strips.is_empty() { None } else { self.pass(s, &bits) };
            self.lanes_of_strip(s);
            let mut now: FxHashMap<usize, Strip> = FxHashMap::default();
            for span in &spans {
                self.span(span, s, &mut now, &mut bits);
            }
            for n in &vectors {
                if let Some(strip) = now.get(n) {
                    self.put_strip(*n, s, *strip);
                }
            }
            self.segment.splats.clear();
            self.segment.lanes = None;
            if let Some(passed) = passed {
                self.passed(passed, &mut bits);
            }
        }
        self.segment.splats = kept;
        self.predicates_behind(&strips, &late, bits);
        self.segment.bases = None;
    }

    /// Where that is compiled in, leaves after so many segments.
    fn trip(&mut self) {
        if !self.setting.trips {
            return;
        }
        let (common, at) = (self.common, offset(offset_of!(Common, trip)));
        let left = self.b.ins().load(types::I32, trusted(), common, at);
        let fewer = self.b.ins().iadd_imm(left, -1);
        self.b.ins().store(trusted(), fewer, common, at);
        let goes = self.b.ins().icmp_imm(IntCC::NotEqual, fewer, 0);
        self.check(goes);
    }

    /// What of an instruction comes before all strips.
    fn first(&mut self, k: usize, (from, to): (usize, usize), strips: &mut Vec<usize>, late: &mut Vec<usize>) {
        let i = self.plan.code[k];
        match self.plan.ways[k] {
            Way::Scalar => {
                let n = results(&i, self.env, &self.plan.function).first().copied();
                let Some(n) = n else { return };
                let (class, _) = self.plan.function.slots.name(n);
                if class != Class::P {
                    self.scalar(k, n);
                } else if self.reads_made(&i) {
                    // Predicates of strips are known behind them; a strip that needs this one makes it again.
                    self.capture(k, &i);
                    self.segment.made.insert(n);
                    strips.push(k);
                    late.push(k);
                } else {
                    let value = self.mask_value(k);
                    self.segment.masks.insert(n, value);
                    self.segment.made.remove(&n);
                }
            }
            Way::LoadOne => {
                self.keep_row(k);
                let numbers = self.load_one(k);
                let n = results(&i, self.env, &self.plan.function).first().copied();
                let (Some(n), Some(numbers)) = (n, numbers) else { return };
                self.segment.numbers.insert(n, numbers);
                if self.after(k, n).is_none() {
                    self.segment.read.insert((k, n), numbers);
                    strips.push(k);
                }
            }
            Way::LoadRow | Way::StoreRow => {
                self.keep_row(k);
                self.place_row(k);
                self.capture(k, &i);
                strips.push(k);
            }
            Way::OfFrame => {
                self.capture(k, &i);
                strips.push(k);
            }
            Way::Each => {
                self.place_each(k);
                self.capture(k, &i);
                strips.push(k);
            }
            Way::Strip => {
                let n = results(&i, self.env, &self.plan.function).first().copied();
                if let Some(n) = n.filter(|n| self.plan.function.slots.name(*n).0 == Class::P) {
                    if self.compared_by_ends(k, n, (from, to)) {
                        self.segment.made.remove(&n);
                        return;
                    }
                    self.segment.made.insert(n);
                }
                self.capture(k, &i);
                strips.push(k);
            }
            _ => {}
        }
    }

    /// Whether it reads a predicate that a strip of the segment makes.
    fn reads_made(&self, i: &Instr) -> bool {
        sources(i, self.env, &self.plan.function).iter().any(|n| self.segment.made.contains(n))
    }

    /// Keeps what a strip is to read of scalars: they may be written before it comes to that.
    fn capture(&mut self, k: usize, i: &Instr) {
        let mut wanted = sources(i, self.env, &self.plan.function);
        if i.guard.is_some() {
            // Lanes that sit out keep what is there.
            wanted.extend(results(i, self.env, &self.plan.function));
        }
        for n in wanted {
            if self.plan.function.slots.name(n).0 == Class::P {
                if !self.segment.made.contains(&n) {
                    let value = self.mask(n);
                    self.segment.read_masks.insert((k, n), value);
                }
            } else if self.plan.line(k, n).is_some() {
                let numbers = self.numbers(k, n);
                self.segment.read.insert((k, n), numbers);
            }
        }
    }

    /// The line of a register before an instruction.
    pub(super) fn numbers(&mut self, k: usize, n: usize) -> Numbers {
        let line = self.plan.line(k, n).unwrap_or(Line::constant(0, Class::W));
        if let Some(numbers) = self.segment.numbers.get(&n).copied() {
            return numbers;
        }
        let numbers = if self.plan.fixed.contains(n) { self.fixed_line(n, line) } else { self.variable_line(n, line) };
        self.segment.numbers.insert(n, numbers);
        numbers
    }

    /// The bits of a predicate by now.
    pub(super) fn mask(&mut self, n: usize) -> Value {
        if let Some(value) = self.segment.masks.get(&n) {
            return *value;
        }
        let value = if self.plan.fixed.contains(n) {
            let (_, slot) = self.plan.function.slots.name(n);
            self.fixed_predicate(slot.index())
        } else {
            let variable = self.variable(n, 0);
            self.b.use_var(variable)
        };
        self.segment.masks.insert(n, value);
        value
    }

    /// Writes a predicate to the frame: its bits of the lanes that run. A variable's bits of other lanes may be any.
    pub(super) fn put_predicate(&mut self, to: Value, slot: usize, bits: Value) {
        let at = offset(4 * slot);
        let mut bits = bits;
        if self.who.some && !on(Mutant::NativePredicates) {
            let old = self.b.ins().load(types::I32, trusted(), to, at);
            let (run, kept) = (self.b.ins().band(bits, self.who.mask), self.b.ins().band_not(old, self.who.mask));
            bits = self.b.ins().bor(run, kept);
        }
        self.b.ins().store(trusted(), bits, to, at);
    }

    /// The line that an instruction leaves in a register, where it is held as one.
    pub(super) fn after(&self, k: usize, n: usize) -> Option<Line> {
        let pattern = self.plan.patterns.after[k].iter().find(|(m, _)| *m == n).map(|(_, pattern)| *pattern);
        match pattern {
            Some(Pattern::Affine(line)) => Some(line),
            _ => None,
        }
    }

    /// A number that all lanes have, kept as the line of a register.
    pub(super) fn set_numbers(&mut self, n: usize, numbers: Numbers) {
        self.segment.numbers.insert(n, numbers);
    }

    pub(super) fn set_mask(&mut self, n: usize, bits: Value) {
        self.segment.masks.insert(n, bits);
    }

    /// What strips read, as they read it.
    pub(super) fn read(&mut self, k: usize, n: usize, s: usize, now: &mut FxHashMap<usize, Strip>) -> Strip {
        let (class, _) = self.plan.function.slots.name(n);
        if class == Class::P {
            if let Some(bits) = self.segment.read_masks.get(&(k, n)).copied() {
                return Strip::P(self.expand(bits, s));
            }
            return now.get(&n).copied().unwrap_or(Strip::P(self.context));
        }
        if let Some(numbers) = self.segment.read.get(&(k, n)).copied() {
            let last = self.segment.numbers.get(&n).copied().filter(|_| on(Mutant::NativeRead));
            return self.strip_of(last.unwrap_or(numbers), s);
        }
        if let Some(strip) = now.get(&n) {
            return *strip;
        }
        let strip = self.frame_strip(n, s);
        now.insert(n, strip);
        strip
    }

    /// Scalars go to their variables once no check can fail any more.
    fn settle(&mut self) {
        let numbers: BTreeMap<usize, Numbers> = self.segment.numbers.iter().map(|(n, v)| (*n, *v)).collect();
        for (n, numbers) in numbers.into_iter().filter(|(n, _)| !self.plan.fixed.contains(*n)) {
            for half in 0..1 + usize::from(numbers.line.halves) {
                let variable = self.variable(n, half);
                self.b.def_var(variable, numbers.values[half]);
            }
        }
        let masks: BTreeMap<usize, Value> = self.segment.masks.iter().map(|(n, v)| (*n, *v)).collect();
        for (n, value) in masks.into_iter().filter(|(n, _)| !self.plan.fixed.contains(*n)) {
            let variable = self.variable(n, 0);
            self.b.def_var(variable, value);
        }
    }

    /// The registers that strips write and that are alive behind the segment as vectors.
    fn vectors_behind(&self, strips: &[usize], to: usize) -> Vec<usize> {
        let mut all = Vec::new();
        for k in strips {
            for n in results(&self.plan.code[*k], self.env, &self.plan.function) {
                let (class, _) = self.plan.function.slots.name(n);
                let last = strips
                    .iter()
                    .rev()
                    .find(|k| results(&self.plan.code[**k], self.env, &self.plan.function).contains(&n));
                // One that a scalar writes later is none any more.
                let scalar_later = (k + 1..to).any(|j| {
                    !strips.contains(&j) && results(&self.plan.code[j], self.env, &self.plan.function).contains(&n)
                });
                let alive = self.alive_behind(to, n);
                if class != Class::P && last == Some(k) && !scalar_later && alive {
                    all.push(n);
                }
            }
        }
        all
    }

    /// Whether a register is alive where the segment ends, on any of the ways on.
    fn alive_behind(&self, to: usize, n: usize) -> bool {
        if to < self.at.1 {
            return self.plan.alive[to].contains(n);
        }
        let last = to - 1;
        let i = &self.plan.code[last];
        let start = self.plan.function.start.0;
        let on = super::super::forms::successors(i, last, start, self.env);
        on.into_iter().any(|to| self.plan.alive.get(to).is_none_or(|alive| alive.contains(n)))
    }

    /// What predicates are behind the strips.
    fn predicates_behind(&mut self, strips: &[usize], late: &[usize], bits: BTreeMap<usize, Value>) {
        let mut known: BTreeMap<usize, Value> = BTreeMap::new();
        for k in strips {
            let i = self.plan.code[*k];
            let n = results(&i, self.env, &self.plan.function).first().copied();
            let Some(n) = n.filter(|n| self.plan.function.slots.name(*n).0 == Class::P) else { continue };
            let value = if late.contains(k) {
                // Those that it reads: as they were captured, or as strips made them.
                for m in sources(&i, self.env, &self.plan.function) {
                    let captured = self.segment.read_masks.get(&(*k, m)).copied();
                    if let Some(value) = captured.or_else(|| known.get(&m).copied()) {
                        self.segment.masks.insert(m, value);
                    }
                }
                self.mask_value(*k)
            } else {
                let Some(value) = bits.get(k) else { continue };
                *value
            };
            known.insert(n, value);
        }
        for (n, value) in known {
            if !self.segment.made.contains(&n) {
                continue;
            }
            self.segment.masks.insert(n, value);
            let variable = self.variable(n, 0);
            self.b.def_var(variable, value);
        }
    }

    /// One instruction in one strip.
    pub(super) fn strip(
        &mut self,
        k: usize,
        s: usize,
        now: &mut FxHashMap<usize, Strip>,
        bits: &mut BTreeMap<usize, Value>,
    ) {
        let i = self.plan.code[k];
        let result = results(&i, self.env, &self.plan.function).first().copied();
        match self.plan.ways[k] {
            Way::LoadOne => {
                let (Some(n), numbers) = (result, result.and_then(|n| self.segment.read.get(&(k, n)).copied())) else {
                    return;
                };
                if let Some(numbers) = numbers {
                    let strip = self.strip_of(numbers, s);
                    now.insert(n, strip);
                }
            }
            Way::LoadRow => {
                if let (Some(n), Some(strip)) = (result, self.load_row(k, s)) {
                    now.insert(n, strip);
                }
            }
            Way::StoreRow => {
                let Some(access) = self.access(k) else { return };
                let class = if access.bytes == 8 { Class::Q } else { Class::W };
                let Some(n) = self.plan.function.slots.number(class, access.data) else { return };
                let strip = self.read(k, n, s, now);
                self.store_row(k, s, strip);
            }
            Way::Each => self.each_strip(k, s, now),
            Way::OfFrame => self.of_frame(k, s, now),
            _ => {
                let (Some(op), Some(n)) = (Ops::of(&i), result) else { return };
                let (mut values, mut numbers) = (Vec::new(), Vec::new());
                for (class, slot) in op.shape().sources.iter().zip([i.a, i.b, i.c, i.e]) {
                    let Some(source) = self.plan.function.slots.number(*class, slot) else { return };
                    values.push(self.read(k, source, s, now));
                    numbers.push(source);
                }
                let shifted = self.shift_amount(k, op);
                let strip = if by_lane(op, shifted.is_some()) {
                    let operands: Vec<(usize, Strip)> = numbers.into_iter().zip(values).collect();
                    self.lane_by_lane(k, op, &operands, s)
                } else {
                    self.compute(op, &values, shifted, i.imm)
                };
                let strip = self.guarded(k, &i, n, s, strip, now);
                if let Strip::P(mask) = strip
                    && !op.is_logic()
                {
                    let high = self.b.ins().vhigh_bits(types::I32, mask);
                    let high = self.b.ins().ishl_imm(high, 4 * s as i64);
                    let all = match bits.get(&k).copied() {
                        None => high,
                        Some(lower) => self.b.ins().bor(lower, high),
                    };
                    bits.insert(k, all);
                }
                now.insert(n, strip);
            }
        }
    }

    /// What lanes have that may sit the instruction out.
    fn guarded(
        &mut self,
        k: usize,
        i: &Instr,
        n: usize,
        s: usize,
        new: Strip,
        now: &mut FxHashMap<usize, Strip>,
    ) -> Strip {
        let Some(guard) = i.guard else { return new };
        let Some(p) = self.plan.function.slots.number(Class::P, guard.pred) else { return new };
        let Strip::P(mask) = self.read(k, p, s, now) else { return new };
        let old = self.read(k, n, s, now);
        let (new, old) = if guard.negated { (old, new) } else { (new, old) };
        self.choose(mask, new, old)
    }

    /// The first four lanes' number of bits that a shift is by, which is the same in all.
    fn shift_amount(&mut self, k: usize, op: Ops) -> Option<Value> {
        if !super::super::ops::shifts(op) {
            return None;
        }
        let n = self.plan.function.slots.number(Class::W, self.plan.code[k].b)?;
        self.segment.read.get(&(k, n)).filter(|x| x.line.is_uniform()).map(|x| x.values[0])
    }

    /// An instruction by way of the machine: what it reads is written to the frame first.
    pub(super) fn helper(&mut self, k: usize) {
        self.segment = Segment { from: k, to: k + 1, ..Segment::default() };
        self.trip();
        let i = self.plan.code[k];
        let mut wanted = sources(&i, self.env, &self.plan.function);
        if i.guard.is_some() || self.who.some {
            wanted.extend(results(&i, self.env, &self.plan.function));
        }
        let to = field!(self, types::I64, p);
        for n in wanted.into_iter().filter(|n| !self.plan.fixed.contains(*n)).collect::<Vec<_>>() {
            let (class, slot) = self.plan.function.slots.name(n);
            if class == Class::P {
                let bits = self.mask(n);
                self.put_predicate(to, slot.index(), bits);
            } else if self.plan.line(k, n).is_some() {
                let numbers = self.numbers(k, n);
                self.put_line(n, numbers);
            }
        }
        let mut lanes = self.who.mask;
        if let Some(guard) = i.guard
            && let Some(p) = self.plan.function.slots.number(Class::P, guard.pred)
        {
            let bits = self.mask(p);
            lanes = if guard.negated { self.b.ins().band_not(lanes, bits) } else { self.b.ins().band(lanes, bits) };
        }
        self.call_plain(k, lanes);
        let from = field!(self, types::I64, p);
        for n in results(&i, self.env, &self.plan.function) {
            let (class, slot) = self.plan.function.slots.name(n);
            if class == Class::P {
                let bits = self.b.ins().load(types::I32, trusted(), from, offset(4 * slot.index()));
                let variable = self.variable(n, 0);
                self.b.def_var(variable, bits);
            }
        }
    }
}
