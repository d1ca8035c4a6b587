//! Tests for wavefronts as PTX: each wavefront is a block of one warp, each thread of a CPU a block in which one lane does something.
//!
//! A row is one instruction, guarded by the lanes that have a cell in it; operands that differ from lane to lane are put into registers
//! before. A block of rows is a branch around it, so that lanes wait at its end as under `crs`. What a lane does to its own registers
//! nobody sees.

use super::code::{Writer, register, text};
use super::layout::{Layout, lane};
use crate::base::Span;
use crate::litmus::lockstep::{Cell, Op, Program, Size, Spot};
use crate::litmus::tree::{Arith, Atom, DeclKind, Initial, Litmus, Relation};
use indexmap::IndexSet;

macro_rules! line {
    ($to:expr, $($text:tt)*) => { $to.line(format_args!($($text)*)) };
}

/// The kernel of a test.
pub(super) fn write(litmus: &Litmus, program: &Program, layout: &Layout<'_>) -> Writer {
    let mut out = Writer::default();
    line!(out, ".version 8.0\n.target sm_70\n.address_size 64");
    for variable in layout.variables.values() {
        line!(out, ".global .align 128 .u64 {} = {};", variable.name, variable.initial);
    }
    line!(out, ".entry {}()\n{{", layout.entry);
    let registers: IndexSet<&str> = layout.names.registers.iter().flatten().copied().collect();
    for name in &registers {
        line!(out, "    .reg .b64 {};", register(name));
    }
    line!(out, "    .reg .b64 %a, %x, %y;\n    .reg .b32 %i, %l, %u<3>;\n    .reg .pred %p, %m, %c;");
    line!(out, "    mov.u32 %i, %ctaid.x;\n    mov.u32 %l, %tid.x;");
    let waves = program.waves();
    for k in 1..waves.len() {
        line!(out, "    setp.eq.u32 %p, %i, {k};\n    @%p bra T{k};");
    }
    for (k, wave) in waves.iter().enumerate() {
        line!(out, "T{k}:");
        begin(litmus, program, wave, &registers, &mut out);
        let lanes: Vec<u32> = wave.iter().map(|column| lane(program.columns[*column].0)).collect();
        let mut writer = Rows { layout, lanes, wave: k, blocks: Vec::new(), next: 0, out: &mut out };
        program.rows_of(wave).for_each(|(_, cells)| writer.row(&cells));
        out.mark(None);
        line!(out, "    exit;");
    }
    line!(out, "}}");
    out
}

/// The registers at the start.
fn begin(litmus: &Litmus, program: &Program, wave: &[usize], registers: &IndexSet<&str>, out: &mut Writer) {
    out.mark(wave.first().map(|column| program.columns[*column].1));
    for name in registers {
        line!(out, "    mov.b64 {}, 0;", register(name));
    }
    for decl in &litmus.init {
        let DeclKind::Register { thread, name, value: Initial::Number(n), .. } = &decl.kind else { continue };
        let column = wave.iter().map(|column| program.columns[*column].0).find(|c| c.number() == *thread);
        if let Some(column) = column {
            line!(out, "    setp.eq.u32 %p, %l, {};\n    @%p mov.b64 {}, {n};", lane(column), register(&name.name));
        }
    }
}

/// The rows of one wavefront.
struct Rows<'a> {
    layout: &'a Layout<'a>,
    /// The lanes of its columns.
    lanes: Vec<u32>,
    wave: usize,
    /// The blocks that are open: their numbers, and whether they repeat.
    blocks: Vec<(u32, bool)>,
    /// The number of the next block.
    next: u32,
    out: &'a mut Writer,
}

impl Rows<'_> {
    fn row(&mut self, cells: &[(usize, &Cell)]) {
        let span: Option<Span> = cells.first().map(|(_, cell)| cell.span);
        self.out.mark(span);
        let Some((_, first)) = cells.first() else { return };
        let repeats = matches!(first.kind, Op::While(_));
        if repeats {
            line!(self.out, "B{}_{}:", self.wave, self.next);
        }
        if first.kind == Op::End {
            let Some((block, repeats)) = self.blocks.pop() else { return };
            if repeats {
                line!(self.out, "    bra B{}_{block};", self.wave);
            }
            line!(self.out, "E{}_{block}:", self.wave);
            return;
        }
        line!(self.out, "    setp.ne.u32 %m, %l, %l;");
        for (lane, cell) in cells {
            let lane = self.lanes[*lane];
            line!(self.out, "    setp.eq.u32 %p, %l, {lane};\n    or.pred %m, %m, %p;");
            self.operands(&cell.kind);
        }
        match &first.kind {
            Op::Load { from, .. } => {
                let ty = unsigned(from.size);
                line!(self.out, "    @%m ld.global.{ty} %x, [%a];");
                self.results(cells, "%x");
            }
            Op::Store { to, .. } => line!(self.out, "    @%m st.global.{} [%a], %x;", unsigned(to.size)),
            Op::Atomic { op, at, .. } => self.atomic(*op, at.size, cells),
            Op::Move { .. } => self.results(cells, "%x"),
            Op::Compute { op, .. } => {
                let name = if *op == Arith::Mul { "mul.lo" } else { op.name() };
                line!(self.out, "    @%m {name}.s64 %x, %x, %y;");
                self.results(cells, "%x");
            }
            Op::If(test) | Op::While(test) => {
                let relation = Relation::name(test.relation).trim_start_matches('b');
                // A lane that has no cell has no operands, either.
                line!(self.out, "    @!%m mov.b64 %x, 0;\n    @!%m mov.b64 %y, 0;");
                line!(self.out, "    setp.{relation}.s64 %c, %x, %y;\n    and.pred %c, %c, %m;");
                line!(self.out, "    @!%c bra E{}_{};", self.wave, self.next);
                self.blocks.push((self.next, repeats));
                self.next += 1;
            }
            Op::End => {}
        }
    }

    /// A lane's operands, in registers: `%p` says which lane.
    fn operands(&mut self, op: &Op) {
        if let Some(Spot { location, offset, .. }) = op.spot() {
            let name = self.layout.variables.get(location.name.as_str()).map_or("", |variable| &variable.name);
            line!(self.out, "    @%p mov.u64 %a, {name};");
            if *offset > 0 {
                line!(self.out, "    @%p add.s64 %a, %a, {offset};");
            }
        }
        for (value, to) in op.values().zip(["%x", "%y"]) {
            line!(self.out, "    @%p mov.b64 {to}, {};", text(value));
        }
    }

    /// Each lane's result goes to its register.
    fn results(&mut self, cells: &[(usize, &Cell)], from: &str) {
        for (lane, cell) in cells {
            if let Some(to) = cell.kind.target() {
                line!(self.out, "    setp.eq.u32 %p, %l, {};", self.lanes[*lane]);
                line!(self.out, "    @%p mov.b64 {}, {from};", register(&to.name));
            }
        }
    }

    fn atomic(&mut self, op: Atom, size: Size, cells: &[(usize, &Cell)]) {
        let ty = if op == Atom::Add { unsigned(size).to_owned() } else { size.name().to_owned() };
        let new = |text: &str| if op.compares() { format!(", {text}") } else { String::new() };
        if size == Size::B32 {
            line!(self.out, "    @%m cvt.u32.u64 %u1, %x;");
            if op.compares() {
                line!(self.out, "    @%m cvt.u32.u64 %u2, %y;");
            }
            line!(self.out, "    @%m atom.global.{}.{ty} %u0, [%a], %u1{};", op.name(), new("%u2"));
            line!(self.out, "    @%m cvt.u64.u32 %x, %u0;");
        } else {
            line!(self.out, "    @%m atom.global.{}.{ty} %x, [%a], %x{};", op.name(), new("%y"));
        }
        self.results(cells, "%x");
    }
}

/// The type of so many bytes.
const fn unsigned(size: Size) -> &'static str {
    match size {
        Size::B8 => "u8",
        Size::B16 => "u16",
        Size::B32 => "u32",
        Size::B64 => "u64",
    }
}
