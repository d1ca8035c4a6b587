//! What a function is made of while it is made: the state of [`Emit`], values, and accesses of what is ours.

use crate::machine::native::plan::Plan;
use crate::program::affine::Line;
use crate::program::env::ProgEnv;
use crate::program::ops::Class;
use cranelift_codegen::ir::{Block, FuncRef, MemFlags, SigRef, Type, Value, types};
use cranelift_frontend::{FunctionBuilder, Variable};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Strips of a warp.
pub(super) const STRIPS: usize = 8;
/// The lanes of the first strip, as bits.
pub(super) const LANES_OF_STRIP: i64 = 0xf;
/// Lanes of a half.
pub(super) const HALF: i64 = 16;
/// The canonical NaN.
pub(super) const NAN: i64 = 0x7fff_ffff;

/// What a launch fixes beside the plan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::machine::native) struct Setting {
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// Segments can be left without need, for tests.
    pub trips: bool,
}

/// What native code calls: a function of [`Common`](super::super::context::Common) by its signature, and one of its own.
#[derive(Clone, Copy)]
pub(in crate::machine::native) struct Helpers {
    pub plain: SigRef,
    pub transfer: SigRef,
    pub locate: FuncRef,
    pub fetch: FuncRef,
    /// The code of a kernel itself.
    pub own: SigRef,
}

/// What has been made beside code: the sites ([`Emit::sites`]), and accesses that a segment tells at most.
pub(in crate::machine::native) struct Made {
    pub sites: Vec<Vec<u32>>,
    pub rows: usize,
}

/// The lanes that run, as they are known while native code is made.
#[derive(Clone, Debug)]
pub(in crate::machine::native) struct Who {
    /// They may be only some of the warp's.
    pub(super) some: bool,
    pub(super) mask: Value,
    /// Where they have parted from others natively, the first time first.
    pub(super) parted: Vec<Parted>,
}

/// Lanes that run apart from others behind a branch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parted {
    pub branch: usize,
    /// They are those that do not take it.
    pub second: bool,
    /// Where they have come to where all meet.
    pub end: Block,
}

/// What is known of groups while a function is made.
#[derive(Clone, Copy)]
pub(in crate::machine::native) struct Apart {
    /// The lanes that run.
    pub(super) mask: Variable,
    /// Where those go on who are behind all others, of lanes that wait.
    pub(super) next: Block,
}

/// A function of native code while it is made.
pub(in crate::machine::native) struct Emit<'a, 'b> {
    pub(super) b: FunctionBuilder<'a>,
    pub(super) plan: &'b Plan,
    pub(super) env: &'b ProgEnv,
    pub(super) setting: Setting,
    /// The lanes that run.
    pub(super) who: Who,
    pub(super) helpers: Helpers,
    /// The sites so far: of each, the instructions whose accesses it is for, but for those that are told.
    pub(super) sites: Vec<Vec<u32>>,
    /// Accesses that a segment tells at most, so far.
    pub(super) rows: usize,
    /// The context of the warp that runs, and what it has in common with others.
    pub(super) context: Value,
    pub(super) common: Value,
    /// The list of sites, and the block's shared memory.
    pub(super) list: Value,
    pub(super) shared: Value,
    /// Where the warp of a context begins, which is this block's parameter.
    pub(super) top: Block,
    pub(super) left: Variable,
    /// Where it is entered again, at the entry that the context names.
    pub(super) enters: Block,
    /// Of some lanes of a warp whose lanes may meet anywhere: how others run.
    pub(super) groups: Option<Apart>,
    pub(super) tokens: Variable,
    /// The values of registers: of a line's first lane and its second half's, or a predicate's bits.
    pub(super) variables: FxHashMap<(usize, usize), Variable>,
    /// By instruction: the block that begins there.
    pub(super) blocks: Vec<Option<Block>>,
    /// By first instruction of a block: its first piece, where it has any.
    pub(super) pieces: Vec<Option<Block>>,
    pub(super) segment: Segment,
    /// Where checks lead that fail: the block, the segment's first instruction, the block of instructions, who runs.
    pub(super) stops: Vec<(Block, usize, (usize, usize), Who)>,
    /// Instructions that were compiled once more for lanes that have parted.
    pub(super) copied: usize,
    /// Of the block at hand: its first instruction and one past its last.
    pub(super) at: (usize, usize),
}

/// An access of memory that is ours and where it should be.
pub(super) fn trusted() -> MemFlags {
    MemFlags::trusted()
}

/// An access of the program's memory, at any address.
pub(super) fn anywhere() -> MemFlags {
    MemFlags::new().with_notrap()
}

/// Reads a field of the warp's context.
macro_rules! field {
    ($emit:expr, $ty:expr, $name:ident) => {{
        let at = std::mem::offset_of!($crate::machine::native::context::Context, $name);
        let context = $emit.context;
        $emit.b.ins().load($ty, super::builder::trusted(), context, super::builder::offset(at))
    }};
}
pub(super) use field;

/// Reads a field of what the warps have in common.
macro_rules! common {
    ($emit:expr, $ty:expr, $name:ident) => {{
        let at = std::mem::offset_of!($crate::machine::native::context::Common, $name);
        let common = $emit.common;
        $emit.b.ins().load($ty, super::builder::trusted(), common, super::builder::offset(at))
    }};
}
pub(super) use common;

/// Writes a field of the warp's context.
macro_rules! put {
    ($emit:expr, $name:ident, $value:expr) => {{
        let (value, context) = ($value, $emit.context);
        let at = std::mem::offset_of!($crate::machine::native::context::Context, $name);
        $emit.b.ins().store(super::builder::trusted(), value, context, super::builder::offset(at));
    }};
}
pub(super) use put;

/// An offset that is known to be small.
pub(super) fn offset(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

/// The numbers of a line: the value of the first lane, and of the first lane of the second half where each half has its own.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Numbers {
    pub values: [Value; 2],
    pub line: Line,
    pub class: Class,
}

/// Four lanes of a 32-bit register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Word {
    pub value: Value,
    /// It is of floating-point type.
    pub float: bool,
    /// A NaN in it may be any: it stands for the canonical one.
    pub loose: bool,
}

/// Four lanes of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Strip {
    W(Word),
    /// Two lanes each.
    Q([Value; 2]),
    /// All ones or zero.
    P(Value),
}

/// What is known while a segment is made.
#[derive(Default)]
pub(super) struct Segment {
    /// Its first instruction, and one past its last.
    pub from: usize,
    pub to: usize,
    /// Where its checks lead that fail.
    pub stop: Option<Block>,
    /// What scalars and predicates are by now.
    pub(super) numbers: FxHashMap<usize, Numbers>,
    pub(super) masks: FxHashMap<usize, Value>,
    /// By instruction and register: what a strip reads.
    pub(super) read: FxHashMap<(usize, usize), Numbers>,
    pub(super) read_masks: FxHashMap<(usize, usize), Value>,
    /// By instruction: where its row begins, of each half where these have their own.
    pub rows: FxHashMap<usize, [Value; 2]>,
    /// By instruction: where its lanes find their words.
    pub(super) each: FxHashMap<usize, Places>,
    /// By number: it in all lanes.
    pub splats: FxHashMap<Value, Value>,
    /// Accesses that are checked together, and where they go.
    pub places: FxHashMap<Group, Place>,
    /// Accesses that are to be told.
    pub(super) told: Vec<Told>,
    /// Predicates that strips make: by register.
    pub(super) made: BTreeSet<usize>,
    pub(super) nans: Nans,
    /// Where the slots of the frame begin, of each class, and the stack frame: in a function that is called.
    pub(super) bases: Option<[Value; 3]>,
    /// The lanes of the strip at hand that run, where that is known on all ways.
    pub(super) lanes: Option<Value>,
}

/// What is known of NaNs while strips are made.
#[derive(Clone, Copy, Default)]
pub(super) struct Nans {
    /// Operations are made as the processor has them.
    pub raw: bool,
    /// A later one tells whether the one at hand is a number.
    pub told_later: bool,
    /// All ones where a result is none, of lanes in any order.
    pub none: Option<Value>,
}

/// Where the lanes of an access find their words.
#[derive(Clone, Copy, Debug)]
pub(super) enum Places {
    /// On a line: of each half the lowest place in this computer's memory, how far the first lane is above it, and how far it is from
    /// one lane to the next.
    Line { lowest: [Value; 2], first: i64, stride: i64 },
    /// Anywhere: what is taken off an address, as wide as that, and where in this computer's memory the rest leads from.
    Anywhere { less: Value, place: Value, rows: Option<Rows> },
}

/// What addresses that lie anywhere may turn out to be: rows of words, one for each half of the warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    /// Zero where a half's addresses are those of a row.
    pub differ: [Value; 2],
    /// The address of each half's first lane.
    pub first: [Value; 2],
}

/// An access that is to be told: its instruction, where the words of the first lane of each half are, and bytes from lane to lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub k: usize,
    pub first: [Value; 2],
    pub step: u32,
}

/// Where accesses go that are checked together: where offset 0 is, from which offset to which they go, and the site that they have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub zero: Value,
    pub low: i64,
    pub high: i64,
    pub site: Option<usize>,
}

/// Accesses that are checked together: those from one address, to one memory, in one room.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Group {
    pub(super) address: Value,
    pub(super) shared: bool,
    pub(super) room: (u32, u32),
    /// Bytes of each.
    pub(super) bytes: u32,
}

/// The type of a register's value as a scalar; of a predicate, the bits of all lanes.
pub(super) const fn width(class: Class) -> Type {
    match class {
        Class::W | Class::P => types::I32,
        Class::Q => types::I64,
    }
}
