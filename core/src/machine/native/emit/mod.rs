//! A kernel's machine code: one function for warps all of whose lanes run, one for some of them.
//!
//! A block is cut into segments wherever the order of accesses between lanes could matter, and around what goes by way of the
//! machine. Of a segment come first what is computed once for all lanes, and all checks: while one can still fail nothing has
//! been done, so that it is exact to leave at the segment's first instruction. Then come eight strips of four lanes, each
//! straight through. What is alive at its end is in the frame (vectors) or in variables (lines, predicates).

mod access;
mod compute;
mod ends;
mod segment;
mod strips;
mod values;

use super::context::{Context, Exit};
use super::plan::Plan;
use crate::program::env::ProgEnv;
use crate::program::ops::Class;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlags, SigRef, Type, Value, types};
use cranelift_frontend::{FunctionBuilder, Switch, Variable};
use rustc_hash::FxHashMap;
use segment::Segment;
use std::mem::offset_of;

/// What a launch fixes beside the plan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Setting {
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// Segments can be left without need, for tests.
    pub trips: bool,
}

/// The functions of a context, as native code calls them.
#[derive(Clone, Copy)]
pub(super) struct Helpers {
    pub plain: SigRef,
    pub locate: SigRef,
}

/// A function of native code while it is made.
pub(super) struct Emit<'a, 'b> {
    b: FunctionBuilder<'a>,
    plan: &'b Plan,
    env: &'b ProgEnv,
    setting: Setting,
    /// Only some lanes run.
    some: bool,
    helpers: Helpers,
    /// How many sites there are so far.
    sites: usize,
    context: Value,
    mask: Value,
    left: Variable,
    tokens: Variable,
    /// The values of registers: of a line's first lane and its second half's, or a predicate's bits.
    variables: FxHashMap<(usize, usize), Variable>,
    /// By instruction: the block that begins there.
    blocks: Vec<Option<Block>>,
    segment: Segment,
    /// Where checks lead that fail: the block, the segment's first instruction, the block of instructions.
    stops: Vec<(Block, usize, (usize, usize))>,
    /// Of the block at hand: its first instruction and one past its last.
    at: (usize, usize),
}

/// An access of memory that is ours and where it should be.
pub(super) fn trusted() -> MemFlags {
    MemFlags::trusted()
}

/// An access of the program's memory, at any address.
pub(super) fn anywhere() -> MemFlags {
    MemFlags::new().with_notrap()
}

macro_rules! field {
    ($emit:expr, $ty:expr, $name:ident) => {{
        let context = $emit.context;
        $emit.b.ins().load(
            $ty,
            $crate::machine::native::emit::trusted(),
            context,
            $crate::machine::native::emit::offset(std::mem::offset_of!(
                $crate::machine::native::context::Context,
                $name
            )),
        )
    }};
}
pub(super) use field;

/// An offset that is known to be small.
pub(super) fn offset(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

/// Makes a function; gives how many sites it has.
pub(super) fn emit(
    b: FunctionBuilder<'_>,
    (plan, env): (&Plan, &ProgEnv),
    setting: Setting,
    some: bool,
    helpers: Helpers,
) -> usize {
    let mut b = b;
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let context = b.block_params(entry)[0];
    let (left, tokens) = (b.declare_var(types::I64), b.declare_var(types::I32));
    let blocks = vec![None; plan.code.len() + 1];
    let mask = b.ins().load(types::I32, trusted(), context, offset(offset_of!(Context, mask)));
    let emit = Emit {
        b,
        plan,
        env,
        setting,
        some,
        helpers,
        sites: 0,
        context,
        mask,
        left,
        tokens,
        variables: FxHashMap::default(),
        blocks,
        segment: Segment::default(),
        stops: Vec::new(),
        at: (0, 0),
    };
    emit.function()
}

impl Emit<'_, '_> {
    fn function(mut self) -> usize {
        let count = self.plan.code.len();
        for k in (0..count).filter(|k| self.plan.leaders[*k]) {
            self.blocks[k] = Some(self.b.create_block());
        }
        let left = field!(self, types::I64, left);
        self.b.def_var(self.left, left);
        let none = self.b.ins().iconst(types::I32, 0);
        self.b.def_var(self.tokens, none);
        self.entries();
        let mut k = 0;
        while k < count {
            let mut end = k + 1;
            while end < count && !self.plan.leaders[end] {
                end += 1;
            }
            self.at = (k, end);
            if let Some(block) = self.blocks[k] {
                self.b.switch_to_block(block);
                self.block();
            }
            k = end;
        }
        self.stops();
        self.b.seal_all_blocks();
        self.b.finalize();
        self.sites
    }

    /// Goes to the entry that is asked for, with what is alive there in variables.
    fn entries(&mut self) {
        let (wanted, nowhere) = (field!(self, types::I32, entry), self.b.create_block());
        let mut switch = Switch::new();
        let mut stubs = Vec::new();
        for (k, number) in self.plan.entries.iter().enumerate().filter_map(|(k, e)| Some((k, (*e)?))) {
            let stub = self.b.create_block();
            switch.set_entry(number.into(), stub);
            stubs.push((k, stub));
        }
        switch.emit(&mut self.b, wanted, nowhere);
        self.b.switch_to_block(nowhere);
        let code = self.b.ins().iconst(types::I32, i64::from(Exit::Outside as u32));
        self.b.ins().return_(&[code]);
        for (k, stub) in stubs {
            self.b.switch_to_block(stub);
            self.enter(k);
            if let Some(block) = self.blocks[k] {
                self.b.ins().jump(block, &[]);
            }
        }
    }

    fn enter(&mut self, k: usize) {
        let from = field!(self, types::I64, scalars);
        for held in self.plan.held[k].clone() {
            let Some(n) = self.plan.function.slots.number(held.class, held.slot) else { continue };
            for half in 0..1 + usize::from(held.line.halves) {
                let at = offset(8 * (held.at as usize + half));
                let value = self.b.ins().load(width(held.class), trusted(), from, at);
                let variable = self.variable(n, half);
                self.b.def_var(variable, value);
            }
        }
        let from = field!(self, types::I64, p);
        for (n, slot) in self.predicates(k) {
            let value = self.b.ins().load(types::I32, trusted(), from, offset(4 * slot));
            let variable = self.variable(n, 0);
            self.b.def_var(variable, value);
        }
    }

    /// The predicates that are alive before an instruction: their numbers and slots.
    fn predicates(&self, k: usize) -> Vec<(usize, usize)> {
        let name = |n: usize| (n, self.plan.function.slots.name(n));
        let alive = self.plan.alive.get(k).into_iter().flat_map(|alive| alive.ones());
        alive.map(name).filter(|(_, (class, _))| *class == Class::P).map(|(n, (_, slot))| (n, slot.index())).collect()
    }

    fn variable(&mut self, n: usize, half: usize) -> Variable {
        let (class, _) = self.plan.function.slots.name(n);
        let b = &mut self.b;
        *self.variables.entry((n, half)).or_insert_with(|| b.declare_var(width(class)))
    }
}

/// The type of a register's value as a scalar; of a predicate, the bits of all lanes.
pub(super) const fn width(class: Class) -> Type {
    match class {
        Class::W | Class::P => types::I32,
        Class::Q => types::I64,
    }
}
