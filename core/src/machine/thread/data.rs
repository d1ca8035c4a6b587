//! Data operations over a warp's lanes (rule `thread.dop`, for all active lanes at once).
//!
//! The tables of operations are expanded here into dispatches: a scalar function of `alu` is mapped over the lanes by
//! one generic helper, which the compiler vectorises. The commonest operations have a copy in the innermost loop
//! ([`crate::machine::warp`]); these dispatches are called once per warp instruction, compiled per instruction set.

use crate::alu::float::{FloatOp, float_ops};
use crate::alu::int::{IntOp, int_ops};
use crate::base::{Frame, LANES, LaneMask, LaneTables, Lanes32, blend32, blend64, put_mask};
use crate::program::instr::{Instr, Slot};

/// What an operation is executed on.
pub(in crate::machine) struct Lane<'a> {
    /// The lanes that execute it.
    pub mask: LaneMask,
    /// The same, expanded.
    pub lanes: &'a Lanes32,
    /// Tables.
    pub tables: &'a LaneTables,
}

/// A class of slots: how lanes are loaded from and stored to it.
pub(in crate::machine) trait Class {
    /// A lane's value.
    type T: Copy;
    /// A value to begin with.
    const ZERO: Self::T;
    /// All lanes of a slot.
    fn load(regs: &Frame, slot: Slot, on: &Lane<'_>) -> [Self::T; LANES];
    /// Stores to the executing lanes; `FULL`: all of them.
    fn store<const FULL: bool>(regs: &mut Frame, i: &Instr, sources: usize, on: &Lane<'_>, values: [Self::T; LANES]);
}

/// 32-bit slots.
pub(in crate::machine) struct W;
/// 64-bit slots.
pub(in crate::machine) struct Q;
/// Predicates.
pub(in crate::machine) struct P;
/// A slot of class `C` and a predicate beside it (carry-out).
pub(in crate::machine) struct Carry<C>(std::marker::PhantomData<C>);

// Rule: expr.reg
impl Class for W {
    type T = u32;
    const ZERO: u32 = 0;
    #[inline(always)]
    fn load(regs: &Frame, slot: Slot, _: &Lane<'_>) -> [u32; LANES] {
        regs.w[slot.index()].0
    }
    #[inline(always)]
    fn store<const FULL: bool>(regs: &mut Frame, i: &Instr, _: usize, on: &Lane<'_>, values: [u32; LANES]) {
        let d = &mut regs.w[i.d.index()];
        if FULL {
            d.0 = values;
        } else {
            blend32(d, &values, on.lanes);
        }
    }
}

impl Class for Q {
    type T = u64;
    const ZERO: u64 = 0;
    #[inline(always)]
    fn load(regs: &Frame, slot: Slot, _: &Lane<'_>) -> [u64; LANES] {
        regs.q[slot.index()].0
    }
    #[inline(always)]
    fn store<const FULL: bool>(regs: &mut Frame, i: &Instr, _: usize, on: &Lane<'_>, values: [u64; LANES]) {
        let d = &mut regs.q[i.d.index()];
        if FULL {
            d.0 = values;
        } else {
            blend64(d, &values, on.lanes);
        }
    }
}

/// Collects a predicate per lane into a mask.
#[inline(always)]
fn collect(values: &[bool; LANES], tables: &LaneTables) -> LaneMask {
    let mut mask = 0;
    for (k, v) in values.iter().enumerate() {
        mask |= tables.bit[k] & u32::from(*v).wrapping_neg();
    }
    mask
}

impl Class for P {
    type T = bool;
    const ZERO: bool = false;
    #[inline(always)]
    fn load(regs: &Frame, slot: Slot, on: &Lane<'_>) -> [bool; LANES] {
        let mask = regs.p[slot.index()];
        let mut out = [false; LANES];
        for (k, o) in out.iter_mut().enumerate() {
            *o = mask & on.tables.bit[k] != 0;
        }
        out
    }
    #[inline(always)]
    fn store<const FULL: bool>(regs: &mut Frame, i: &Instr, _: usize, on: &Lane<'_>, values: [bool; LANES]) {
        let new = collect(&values, on.tables);
        let d = &mut regs.p[i.d.index()];
        if FULL {
            *d = new;
        } else {
            put_mask(d, new, on.mask);
        }
    }
}

impl<C: Class> Class for Carry<C> {
    type T = (C::T, bool);
    const ZERO: Self::T = (C::ZERO, false);
    fn load(_: &Frame, _: Slot, _: &Lane<'_>) -> [Self::T; LANES] {
        [Self::ZERO; LANES]
    }
    #[inline(always)]
    fn store<const FULL: bool>(regs: &mut Frame, i: &Instr, sources: usize, on: &Lane<'_>, values: [Self::T; LANES]) {
        let (mut out, mut carry) = ([C::ZERO; LANES], [false; LANES]);
        for (k, v) in values.into_iter().enumerate() {
            (out[k], carry[k]) = v;
        }
        C::store::<FULL>(regs, i, sources, on, out);
        // With four sources slot `e` is taken, and the carry's slot is the immediate.
        let slot = if sources == 4 { i.imm as usize & 0xffff } else { i.e.index() };
        put_mask(&mut regs.p[slot], collect(&carry, on.tables), on.mask);
    }
}

// Loops rather than `array::from_fn`, `map` and `zip`: those are functions of their own that the compiler leaves out of
// line, compiled for the baseline instruction set.

/// Maps an operation over the lanes that execute: theirs alone are written.
///
/// Rule: thread.dop
#[inline(always)]
pub(in crate::machine) fn map1<A: Class, D: Class, const FULL: bool>(
    regs: &mut Frame,
    i: &Instr,
    on: &Lane<'_>,
    f: impl Fn(A::T) -> D::T,
) {
    let a = A::load(regs, i.a, on);
    let mut out = [D::ZERO; LANES];
    for (k, o) in out.iter_mut().enumerate() {
        *o = f(a[k]);
    }
    D::store::<FULL>(regs, i, 1, on, out);
}

#[inline(always)]
pub(in crate::machine) fn map2<A: Class, B: Class, D: Class, const FULL: bool>(
    regs: &mut Frame,
    i: &Instr,
    on: &Lane<'_>,
    f: impl Fn(A::T, B::T) -> D::T,
) {
    let (a, b) = (A::load(regs, i.a, on), B::load(regs, i.b, on));
    let mut out = [D::ZERO; LANES];
    for (k, o) in out.iter_mut().enumerate() {
        *o = f(a[k], b[k]);
    }
    D::store::<FULL>(regs, i, 2, on, out);
}

#[inline(always)]
pub(in crate::machine) fn map3<A: Class, B: Class, C: Class, D: Class, const FULL: bool>(
    regs: &mut Frame,
    i: &Instr,
    on: &Lane<'_>,
    f: impl Fn(A::T, B::T, C::T) -> D::T,
) {
    let (a, b, c) = (A::load(regs, i.a, on), B::load(regs, i.b, on), C::load(regs, i.c, on));
    let mut out = [D::ZERO; LANES];
    for (k, o) in out.iter_mut().enumerate() {
        *o = f(a[k], b[k], c[k]);
    }
    D::store::<FULL>(regs, i, 3, on, out);
}

#[inline(always)]
fn map4<A: Class, B: Class, C: Class, E: Class, D: Class, const FULL: bool>(
    regs: &mut Frame,
    i: &Instr,
    on: &Lane<'_>,
    f: impl Fn(A::T, B::T, C::T, E::T) -> D::T,
) {
    let (a, b) = (A::load(regs, i.a, on), B::load(regs, i.b, on));
    let (c, e) = (C::load(regs, i.c, on), E::load(regs, i.e, on));
    let mut out = [D::ZERO; LANES];
    for (k, o) in out.iter_mut().enumerate() {
        *o = f(a[k], b[k], c[k], e[k]);
    }
    D::store::<FULL>(regs, i, 4, on, out);
}

macro_rules! class {
    (bool) => { P };
    (u64) => { Q };
    (i64) => { Q };
    (f64) => { Q };
    ($word:ident) => { W };
    ($c:ident bool) => { Carry<class!($c)> };
}

macro_rules! row {
    ($r:ident $i:ident $on:ident; ($a:ident) -> [$($d:ident)+] = $f:expr) => {
        map1::<class!($a), class!($($d)+), false>($r, $i, $on, $f)
    };
    ($r:ident $i:ident $on:ident; ($a:ident) -> [$($d:ident)+] | $m:ident = $f:expr) => {{
        let mode = $i.imm;
        map1::<class!($a), class!($($d)+), false>($r, $i, $on, |a| $f(a, mode))
    }};
    ($r:ident $i:ident $on:ident; ($a:ident $b:ident) -> [$($d:ident)+] = $f:expr) => {
        map2::<class!($a), class!($b), class!($($d)+), false>($r, $i, $on, $f)
    };
    ($r:ident $i:ident $on:ident; ($a:ident $b:ident) -> [$($d:ident)+] | $m:ident = $f:expr) => {{
        let mode = $i.imm;
        map2::<class!($a), class!($b), class!($($d)+), false>($r, $i, $on, |a, b| $f(a, b, mode))
    }};
    ($r:ident $i:ident $on:ident; ($a:ident $b:ident $c:ident) -> [$($d:ident)+] = $f:expr) => {
        map3::<class!($a), class!($b), class!($c), class!($($d)+), false>($r, $i, $on, $f)
    };
    ($r:ident $i:ident $on:ident; ($a:ident $b:ident $c:ident) -> [$($d:ident)+] | $m:ident = $f:expr) => {{
        let mode = $i.imm;
        map3::<class!($a), class!($b), class!($c), class!($($d)+), false>($r, $i, $on, |a, b, c| $f(a, b, c, mode))
    }};
    ($r:ident $i:ident $on:ident; ($a:ident $b:ident $c:ident $e:ident) -> [$($d:ident)+] = $f:expr) => {
        map4::<class!($a), class!($b), class!($c), class!($e), class!($($d)+), false>($r, $i, $on, $f)
    };
}

macro_rules! define_dispatch {
    ($name:ident, $module:ident;
     $($op:ident $function:ident($($arg:ident: $source:ident),* $(; $mode:ident)?)
        -> $dest:ident $(+ $carry:ident)? = $formula:expr;)*) => {
        /// Executes an operation of the table for the lanes of `on`.
        #[inline(always)]
        pub(in crate::machine) fn $module(op: $name, i: &Instr, regs: &mut Frame, on: &Lane<'_>) {
            match op {
                $($name::$op => row!(regs i on; ($($source)*) -> [$dest $($carry)?] $(| $mode)? = crate::alu::$module::$function),)*
            }
        }
    };
}

int_ops!(define_dispatch);
float_ops!(define_dispatch);
