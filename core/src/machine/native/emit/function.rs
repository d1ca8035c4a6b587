//! A function: where it is entered, and its blocks.

use super::builder::{Apart, Emit, Helpers, Made, Segment, Setting, Who, field, offset, trusted, width};
use crate::machine::native::context::Common;
use crate::machine::native::plan::Plan;
use crate::program::env::ProgEnv;
use crate::program::ops::Class;
use cranelift_codegen::ir::{InstBuilder, types};
use cranelift_frontend::{FunctionBuilder, Switch, Variable};
use rustc_hash::FxHashMap;
use std::mem::offset_of;

/// Makes a function.
pub(in crate::machine::native) fn emit(
    b: FunctionBuilder<'_>,
    (plan, env): (&Plan, &ProgEnv),
    setting: Setting,
    some: bool,
    helpers: Helpers,
) -> Made {
    let mut b = b;
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let (first, common) = (b.block_params(entry)[0], b.block_params(entry)[1]);
    let top = b.create_block();
    let context = b.append_block_param(top, types::I64);
    let mask = b.ins().load(types::I32, trusted(), common, offset(offset_of!(Common, mask)));
    let [list, shared] = [offset_of!(Common, sites), offset_of!(Common, shared)]
        .map(|at| b.ins().load(types::I64, trusted(), common, offset(at)));
    b.ins().jump(top, &[first.into()]);
    b.switch_to_block(top);
    let (left, tokens) = (b.declare_var(types::I64), b.declare_var(types::I32));
    let groups = (some && !plan.meets.is_empty()).then(|| {
        let running = b.declare_var(types::I32);
        b.def_var(running, mask);
        Apart { mask: running, next: b.create_block() }
    });
    let enters = b.create_block();
    let blocks = vec![None; plan.code.len() + 1];
    let pieces = blocks.clone();
    let emit = Emit {
        b,
        plan,
        env,
        setting,
        who: Who { some, mask, parted: Vec::new() },
        helpers,
        sites: Vec::new(),
        rows: 0,
        context,
        common,
        list,
        shared,
        top,
        left,
        enters,
        groups,
        tokens,
        variables: FxHashMap::default(),
        blocks,
        pieces,
        segment: Segment::default(),
        stops: Vec::new(),
        copied: 0,
        at: (0, 0),
    };
    emit.function()
}

impl Emit<'_, '_> {
    fn function(mut self) -> Made {
        let count = self.plan.code.len();
        let mut first = 0;
        for k in 0..count {
            if self.plan.leaders[k] {
                first = k;
                self.blocks[k] = Some(self.b.create_block());
            } else if self.plan.pieces[k] {
                self.pieces[first].get_or_insert_with(|| self.b.create_block());
                self.blocks[k] = Some(self.b.create_block());
            }
        }
        let left = field!(self, types::I64, left);
        self.b.def_var(self.left, left);
        let none = self.b.ins().iconst(types::I32, 0);
        self.b.def_var(self.tokens, none);
        let enters = self.enters;
        self.b.ins().jump(enters, &[]);
        self.b.switch_to_block(enters);
        self.entries();
        let mut k = 0;
        while k < count {
            k = self.block_at(k);
        }
        // Behind all blocks: what is compiled once more for lanes that part in one is not to be missing there.
        (0..count).for_each(|k| self.pieces_of(k));
        self.next_group();
        self.stops();
        self.b.seal_all_blocks();
        self.b.finalize();
        Made { sites: self.sites, rows: self.rows }
    }

    /// Where the block ends that begins at an instruction.
    fn end_of(&self, k: usize) -> usize {
        let behind = self.plan.leaders.iter().skip(k + 1).position(|leader| *leader);
        behind.map_or(self.plan.code.len(), |more| k + 1 + more).min(self.plan.code.len())
    }

    /// The pieces of the block that begins at an instruction, if it has any.
    fn pieces_of(&mut self, k: usize) {
        let Some(mut piece) = self.pieces[k] else { return };
        let (mut from, end) = (k, self.end_of(k));
        for to in (k + 1..=end).filter(|to| *to == end || self.plan.pieces[*to]) {
            self.b.switch_to_block(piece);
            self.at = (from, to);
            self.piece();
            if let Some(next) = self.blocks[to].filter(|_| to < end) {
                (from, piece) = (to, next);
            }
        }
    }

    /// The block that begins at an instruction; gives the one behind it.
    pub(super) fn block_at(&mut self, k: usize) -> usize {
        let end = self.end_of(k);
        self.at = (k, end);
        if let Some(block) = self.blocks[k] {
            self.b.switch_to_block(block);
            self.block();
        }
        end
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
        self.lost();
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
        self.take_held(k, from, 0);
    }

    /// The predicates that are alive before an instruction: their numbers and slots.
    pub(super) fn predicates(&self, k: usize) -> Vec<(usize, usize)> {
        let name = |n: usize| (n, self.plan.function.slots.name(n));
        let alive = self.plan.alive.get(k).into_iter().flat_map(|alive| alive.ones());
        alive.map(name).filter(|(_, (class, _))| *class == Class::P).map(|(n, (_, slot))| (n, slot.index())).collect()
    }

    pub(super) fn variable(&mut self, n: usize, half: usize) -> Variable {
        let (class, _) = self.plan.function.slots.name(n);
        let b = &mut self.b;
        *self.variables.entry((n, half)).or_insert_with(|| b.declare_var(width(class)))
    }
}
