//! Accesses lane by lane: where the lanes find their words, which is checked before anything is done.

use super::super::context::Site;
use super::super::each::{Each, What};
use super::super::forms::{Way, results};
use super::builder::{Emit, Numbers, Places, anywhere, common, offset, trusted};
use crate::base::Pc;
use crate::base::mutant::{Mutant, on};
use crate::program::ops::Class;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use std::mem::offset_of;

impl Emit<'_, '_> {
    /// The access of an instruction that is made lane by lane.
    pub(super) fn each(&self, k: usize) -> Option<Each> {
        Each::of(&self.plan.code[k], self.env)
    }

    /// Whether an instruction has to be in another segment than those from `from` on, because one of both accesses memory lane by lane.
    ///
    /// Its addresses are checked before all strips, so that strips of its segment have not made them; and a strip of it comes before
    /// the next strip of what stands before it.
    pub(super) fn parted(&self, from: usize, k: usize) -> bool {
        let Some((each, irregular)) = self.touches(k) else { return false };
        let address = self.plan.function.slots.number(each.class, each.slot);
        let vector = address.filter(|n| irregular && self.plan.line(k, *n).is_none());
        (from..k).any(|j| {
            let made = vector.is_some_and(|n| results(&self.plan.code[j], self.env, &self.plan.function).contains(&n));
            let ordered = self.touches(j).is_some_and(|(before, is_each)| {
                (irregular || is_each) && before.shared == each.shared && !(before.loads() && each.loads())
            });
            made || ordered && !on(Mutant::NativeApart)
        })
    }

    /// How an instruction is compiled here. Of few lanes the machine's way finds the words sooner, as it passes the others by.
    pub(super) fn way(&self, k: usize) -> Way {
        let way = self.plan.ways[k];
        let anywhere = |each: &Each| {
            let address = self.plan.function.slots.number(each.class, each.slot);
            !matches!(each.what, What::Atomic(..)) && address.is_some_and(|n| self.plan.line(k, n).is_none())
        };
        let passes = self.who.some && way == Way::Each && self.each(k).is_some_and(|each| anywhere(&each));
        if passes { Way::Helper } else { way }
    }

    /// What an instruction accesses natively, and whether it does so lane by lane.
    fn touches(&self, k: usize) -> Option<(Each, bool)> {
        let way = self.way(k);
        let access = matches!(way, Way::Each | Way::LoadOne | Way::LoadRow | Way::StoreRow);
        self.each(k).filter(|_| access).map(|each| (each, way == Way::Each))
    }

    /// Finds where the lanes of an access find their words.
    pub(super) fn place_each(&mut self, k: usize) {
        let Some(each) = self.each(k) else { return };
        let Some(n) = self.plan.function.slots.number(each.class, each.slot) else { return };
        let before = self.sites.len();
        let places = if self.plan.line(k, n).is_some() {
            let numbers = self.numbers(k, n);
            self.places_on_line(k, each, numbers)
        } else if each.shared {
            self.places_in_shared(k, each, n)
        } else {
            self.places_in_block(each, n)
        };
        (before..self.sites.len()).for_each(|number| self.own(number, k));
        self.segment.each.insert(k, places);
    }

    /// Bytes of shared memory that an instruction may access: where they begin, and how many there are.
    fn room(&self, k: usize) -> (u32, u32) {
        let room = self.env.root(Pc(self.plan.function.start.0 + k as u32)).room();
        (room.begin, room.bytes)
    }

    fn places_on_line(&mut self, k: usize, each: Each, x: Numbers) -> Places {
        let (lanes, stride) = (if x.line.halves { 16 } else { 32 }, self.step(x, 1));
        let low = (stride * (lanes - 1)).min(0);
        let span = (stride * (lanes - 1)).unsigned_abs() + u64::from(each.unit());
        let mut lowest = x.values;
        for value in lowest.iter_mut().take(1 + usize::from(x.line.halves)) {
            let wide = if each.class == Class::Q { *value } else { self.b.ins().uextend(types::I64, *value) };
            let begin = self.b.ins().iadd_imm(wide, each.offset + low);
            *value = if each.shared {
                self.place_shared(begin, span, self.room(k), each.unit())
            } else {
                self.place_global(begin, span, each.unit())
            };
        }
        if !x.line.halves {
            lowest[1] = self.b.ins().iadd_imm(lowest[0], stride * 16);
        }
        Places::Line { lowest, first: -low, stride }
    }

    fn places_in_shared(&mut self, k: usize, each: Each, n: usize) -> Places {
        let (begin, bytes) = self.room(k);
        // As accesses are aligned, none begins before the next multiple.
        let up = begin.next_multiple_of(each.unit());
        let room = self.setting.shared_bytes.saturating_sub(up).min(bytes.saturating_sub(up - begin));
        let less = i64::from(up) - each.offset;
        let place = self.b.ins().iadd_imm(self.shared, i64::from(up));
        let Some(last) = room.checked_sub(each.unit()) else {
            let never = self.b.ins().iconst(types::I8, 0);
            self.check(never);
            return Places::Anywhere { less: place, place, rows: None };
        };
        if each.class == Class::Q {
            let less = self.b.ins().iconst(types::I64, less);
            let last = self.b.ins().iconst(types::I64, i64::from(last));
            let rows = self.rows(each, n);
            let holds = self.inside(rows, n, (less, last), each.unit());
            self.check(holds);
            return Places::Anywhere { less, place, rows };
        }
        let less = self.b.ins().iconst(types::I32, i64::from(less as i32));
        let holds = self.all_inside_32(n, less, last, each.unit());
        self.check(holds);
        Places::Anywhere { less, place, rows: None }
    }

    /// In the block of memory that the site has, or else in that of the first lane's address.
    fn places_in_block(&mut self, each: Each, n: usize) -> Places {
        let number = self.sites.len();
        self.sites.push(Vec::new());
        let unit = each.unit();
        let rows = self.rows(each, n);
        let (again, look, go) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(look);
        let looked = self.b.append_block_param(again, types::I8);
        let not_yet = self.b.ins().iconst(types::I8, 1);
        self.b.ins().jump(again, &[BlockArg::Value(not_yet)]);
        self.b.switch_to_block(again);
        let [address, count] = [offset_of!(Site, address), offset_of!(Site, count)].map(|at| self.site(number, at));
        // Where no block is known this is negative.
        let end = self.b.ins().ishl_imm(count, i64::from(unit.trailing_zeros()));
        let last = self.b.ins().iadd_imm(end, -i64::from(unit));
        let less = self.b.ins().iadd_imm(address, -each.offset);
        let holds = self.inside(rows, n, (less, last), unit);
        self.b.ins().brif(holds, go, &[], look, &[]);
        self.b.switch_to_block(look);
        self.check(looked);
        let (from, slot) = self.slot_of(n);
        let lane = if self.who.some { self.b.ins().ctz(self.who.mask) } else { self.b.ins().iconst(types::I32, 0) };
        let lane = self.b.ins().uextend(types::I64, lane);
        let lane = self.b.ins().imul_imm(lane, 8);
        let from = self.b.ins().iadd(from, lane);
        let first = self.b.ins().load(types::I64, trusted(), from, offset(slot));
        let first = self.b.ins().iadd_imm(first, each.offset);
        let found = self.locate(number, first, unit.into(), unit);
        self.check(found);
        let never = self.b.ins().iconst(types::I8, 0);
        self.b.ins().jump(again, &[BlockArg::Value(never)]);
        self.b.switch_to_block(go);
        let shift = self.site(number, offset_of!(Site, shift));
        let place = self.b.ins().iadd(address, shift);
        Places::Anywhere { less, place, rows }
    }

    /// Where a half's words are when its addresses are those of a row, and whether they are not.
    pub(super) fn maybe_row(&mut self, k: usize, half: usize) -> Option<(Value, Value)> {
        let Some(Places::Anywhere { less, place, rows: Some(rows) }) = self.segment.each.get(&k).copied() else {
            return None;
        };
        let inside = self.b.ins().isub(rows.first[half], less);
        Some((self.b.ins().iadd(place, inside), rows.differ[half]))
    }

    /// Where a lane finds its words: a place, and how far behind.
    fn lane_place(&mut self, k: usize, each: Each, lane: usize) -> Option<(Value, i32)> {
        match self.segment.each.get(&k).copied()? {
            Places::Line { lowest, first, stride } => {
                let at = first + stride * (lane as i64 % 16);
                Some((lowest[lane / 16], i32::try_from(at).ok()?))
            }
            Places::Anywhere { less, place, .. } => {
                let n = self.plan.function.slots.number(each.class, each.slot)?;
                let (from, slot) = self.slot_of(n);
                let (ty, bytes) = if each.class == Class::Q { (types::I64, 8) } else { (types::I32, 4) };
                let address = self.b.ins().load(ty, trusted(), from, offset(slot + bytes * lane));
                let mut inside = self.b.ins().isub(address, less);
                if self.who.some {
                    // Those that sit out go where the first word is.
                    let mut runs = self.runs(lane);
                    if each.class == Class::Q {
                        runs = self.b.ins().sextend(types::I64, runs);
                    }
                    inside = self.b.ins().band(inside, runs);
                }
                if each.class == Class::W {
                    inside = self.b.ins().uextend(types::I64, inside);
                }
                Some((self.b.ins().iadd(place, inside), 0))
            }
        }
    }

    /// All ones if a lane runs.
    fn runs(&mut self, lane: usize) -> Value {
        if !self.who.parted.is_empty() {
            let first = self.b.ins().ishl_imm(self.who.mask, 31 - lane as i64);
            return self.b.ins().sshr_imm(first, 31);
        }
        let (from, flags) = (common!(self, types::I64, lanes), self.flags_of_lanes());
        self.b.ins().load(types::I32, flags, from, offset(4 * lane))
    }

    /// What a lane's words are to be: those that sit out leave them as they are.
    pub(super) fn kept(&mut self, lane: usize, new: Value, (place, at): (Value, i32)) -> Value {
        if !self.who.some || on(Mutant::NativeIdle) {
            return new;
        }
        let ty = self.b.func.dfg.value_type(new);
        let old = self.b.ins().load(ty, anywhere(), place, at);
        let runs = self.runs(lane);
        if ty.is_vector() {
            let runs = self.b.ins().splat(types::I32X4, runs);
            let runs = self.reinterpret(ty, runs);
            return self.b.ins().bitselect(runs, new, old);
        }
        self.b.ins().select(runs, new, old)
    }

    /// The lanes of a strip, in their order, and where they find their words.
    pub(super) fn lane_places(&mut self, k: usize, each: Each, s: usize) -> Vec<(usize, (Value, i32))> {
        let mut lanes: Vec<usize> = (4 * s..4 * s + 4).collect();
        if on(Mutant::NativeLanes) && each.what != What::Load {
            lanes.reverse();
        }
        lanes.into_iter().filter_map(|lane| Some((lane, self.lane_place(k, each, lane)?))).collect()
    }
}
