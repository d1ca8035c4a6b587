//! The text of the kernel: variables, the way to each thread's code, and that code.

use super::barrier::{Barriers, Met};
use super::layout::Layout;
use crate::base::Span;
use crate::litmus::error::Gap;
use crate::litmus::tree::{
    Access, Arith, Atom, DeclKind, Ident, Initial, Instruction, Litmus, Proxy, PtxAccess, StmtKind, Thread, Value,
};
use crate::program::instr::Order;
use indexmap::IndexSet;
use std::fmt::Write;

/// PTX as it is written.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) text: String,
    /// From which byte on the text stands for which place of the litmus file, if any.
    pub(super) marks: Vec<(u32, Option<Span>)>,
}

impl Writer {
    /// What is written from here on stands for a place.
    pub(super) fn mark(&mut self, span: Option<Span>) {
        self.marks.push((u32::try_from(self.text.len()).unwrap_or(u32::MAX), span));
    }

    /// Writes a line.
    pub(super) fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = self.text.write_fmt(line);
        self.text.push('\n');
    }
}

macro_rules! line {
    ($to:expr, $($text:tt)*) => { $to.line(format_args!($($text)*)) };
}

/// The name of a register in PTX. Special registers do not begin with `r`, but for those named `reserved…`.
pub(super) fn register(name: &str) -> String {
    let plain = name.starts_with('r') && !name.starts_with("r_") && !name.starts_with("reserved");
    if plain { format!("%{name}") } else { format!("%r_{name}") }
}

/// How many threads have come to each barrier with a quorum; no location has a name with `$`.
const COMERS: &str = "$comers";

/// The kernel of a test.
pub(super) fn write(litmus: &Litmus, layout: &Layout<'_>, gaps: &mut Vec<(Gap, Span)>) -> Writer {
    let mut out = Writer::default();
    line!(out, ".version 8.0\n.target sm_70\n.address_size 64");
    for variable in layout.variables.values().filter(|v| v.own) {
        // A cache line each, so that nothing is shared but what the test shares.
        line!(out, ".global .align 128 .u64 {} = {};", variable.name, variable.initial);
    }
    line!(out, ".entry {}()\n{{", layout.entry);
    let registers: IndexSet<&str> = layout.names.registers.iter().flatten().copied().collect();
    for name in registers {
        line!(out, "    .reg .b64 {};", register(name));
    }
    let quorum = |i: &Instruction| matches!(i, Instruction::Barrier { quorum: Some(_), .. });
    if litmus.threads.iter().any(|t| t.instructions().any(|(i, _)| quorum(i))) {
        line!(out, "    .shared .align 4 .b32 {COMERS}[16];");
    }
    line!(out, "    .reg .b64 %t;\n    .reg .b32 %i<3>;\n    .reg .pred %p;");
    dispatch(layout, &mut out);
    let mut code =
        Code { layout, litmus, barriers: Barriers::of(litmus), out: &mut out, gaps, thread: 0, span: Span::default() };
    for k in 0..litmus.threads.len() {
        code.thread(k);
    }
    out.mark(None);
    line!(out, "}}");
    out
}

/// The branch to each thread's code: by the block, by the thread in the block, or by both.
fn dispatch(layout: &Layout<'_>, out: &mut Writer) {
    let (blocks, threads) = (layout.blocks, layout.block);
    if layout.threads.len() < 2 {
        return;
    }
    let mut targets = vec!["NONE".to_owned(); (blocks * threads) as usize];
    for (k, spot) in layout.threads.iter().enumerate() {
        let index = usize::try_from(spot.block).unwrap_or(0) * threads as usize + spot.thread as usize;
        if let Some(target) = targets.get_mut(index) {
            *target = format!("T{k}");
        }
    }
    match (blocks, threads) {
        (_, 1) => line!(out, "    mov.u32 %i0, %ctaid.x;"),
        (1, _) => line!(out, "    mov.u32 %i0, %tid.x;"),
        _ => {
            line!(out, "    mov.u32 %i1, %ctaid.x;\n    mov.u32 %i2, %tid.x;");
            line!(out, "    mad.lo.u32 %i0, %i1, {threads}, %i2;");
        }
    }
    line!(out, "    threads: .branchtargets {};", targets.join(", "));
    line!(out, "    brx.idx %i0, threads;");
    if targets.iter().any(|t| t == "NONE") {
        line!(out, "NONE:\n    exit;");
    }
}

/// Writes the code of one thread after another.
struct Code<'a> {
    layout: &'a Layout<'a>,
    litmus: &'a Litmus,
    barriers: Barriers<'a>,
    out: &'a mut Writer,
    gaps: &'a mut Vec<(Gap, Span)>,
    /// The position of the thread.
    thread: usize,
    /// The place of the instruction.
    span: Span,
}

impl Code<'_> {
    fn thread(&mut self, k: usize) {
        let Some(thread) = self.litmus.threads.get(k) else { return };
        self.thread = k;
        self.out.mark(Some(thread.span));
        line!(self.out, "T{k}:");
        self.initial(thread);
        for stmt in &thread.code {
            self.span = stmt.span;
            self.out.mark(Some(stmt.span));
            match &stmt.kind {
                StmtKind::Label(name) => line!(self.out, "T{k}_{name}:"),
                StmtKind::Instruction(instruction) => self.instruction(instruction),
            }
        }
        self.out.mark(Some(thread.span));
        line!(self.out, "    exit;");
    }

    /// The registers that do not begin at zero, and those that may be read before they are written: what a run finds in
    /// those is no value of the program.
    fn initial(&mut self, thread: &Thread) {
        let mut values: Vec<(&str, String)> = Vec::new();
        for decl in &self.litmus.init {
            if let DeclKind::Register { thread: t, at, name, value } = &decl.kind
                && *t == thread.number
            {
                self.span = *at;
                match value {
                    Initial::Number(0) => {}
                    Initial::Number(n) => values.push((&name.name, n.to_string())),
                    Initial::Of(of) => values.push((&name.name, self.variable(&of.name))),
                }
            }
        }
        for name in undefined(thread, &self.layout.names.registers[self.thread]) {
            if !values.iter().any(|(other, _)| *other == name) {
                values.push((name, "0".to_owned()));
            }
        }
        for (name, value) in values {
            line!(self.out, "    mov.b64 {}, {value};", register(name));
        }
    }

    fn gap(&mut self, gap: Gap) {
        self.gaps.push((gap, self.span));
    }

    fn variable(&self, location: &str) -> String {
        self.layout.variables.get(location).map_or_else(String::new, |v| v.name.clone())
    }

    /// What stands between the brackets of an access.
    fn address(&mut self, at: &Ident, access: PtxAccess) -> String {
        if access.proxy != Proxy::Generic {
            self.gap(Gap::Proxy(access.proxy));
        } else if let Some(proxy) = self.aliased(&at.name) {
            self.gap(Gap::Proxy(proxy));
        }
        if self.layout.names.is_pointer(self.thread, &at.name) { register(&at.name) } else { self.variable(&at.name) }
    }

    /// The proxy that an address is an alias for, unless it is the generic one.
    fn aliased(&self, name: &str) -> Option<Proxy> {
        self.litmus.init.iter().find_map(|d| match &d.kind {
            DeclKind::Alias { name: n, proxy, .. } if n.name == name && *proxy != Proxy::Generic => Some(*proxy),
            _ => None,
        })
    }

    fn instruction(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Load { access: Access::Ptx(access), to, from } => {
                let address = self.address(from, *access);
                line!(self.out, "    ld{access}.global.u64 {}, [{address}];", register(&to.name));
            }
            Instruction::Store { access: Access::Ptx(access), to, value } => {
                let address = self.address(to, *access);
                line!(self.out, "    st{access}.global.u64 [{address}], {};", text(value));
            }
            Instruction::Move { to, value } => {
                line!(self.out, "    mov.b64 {}, {};", register(&to.name), text(value));
            }
            Instruction::Compute { op, to, left, right } => {
                let name = if *op == Arith::Mul { "mul.lo" } else { op.name() };
                line!(self.out, "    {name}.s64 {}, {}, {};", register(&to.name), text(left), text(right));
            }
            Instruction::Atomic { access: Access::Ptx(access), op, to, at, value, new } => {
                let address = self.address(at, *access);
                self.atomic(*access, *op, (to.as_ref(), &address), (value, new.as_ref()));
            }
            // These are written as in PTX.
            Instruction::Fence { .. } | Instruction::ProxyFence(None) => line!(self.out, "    {instruction};"),
            // Generic accesses are in order among themselves.
            Instruction::ProxyFence(Some(Proxy::Generic)) => {}
            Instruction::ProxyFence(Some(proxy)) => self.gap(Gap::Proxy(*proxy)),
            Instruction::Barrier { waits, instance, barrier, quorum, fence: None } => {
                let (barrier, quorum) = (barrier.as_ref(), quorum.as_ref());
                match self.barriers.meet(self.thread, self.layout, *instance, barrier, quorum) {
                    Ok(Met { id, count, late }) => {
                        let kind = if *waits { "sync" } else { "arrive" };
                        let passed = format!("$late{}_{id}", self.thread);
                        if late && let Some(count) = count {
                            line!(self.out, "    atom.shared.add.u32 %i0, [{COMERS}+{}], 1;", 4 * id);
                            line!(self.out, "    setp.ge.u32 %p, %i0, {count};\n    @%p bra {passed};");
                        }
                        match count {
                            // In a register: as a number it would have to be a multiple of 32, whatever the warp size.
                            Some(count) => {
                                line!(self.out, "    mov.u32 %i0, {count};\n    barrier.cta.{kind} {id}, %i0;");
                            }
                            None => line!(self.out, "    barrier.cta.{kind} {id};"),
                        }
                        if late {
                            line!(self.out, "{passed}:");
                        }
                    }
                    Err(gap) => self.gap(gap),
                }
            }
            Instruction::Goto(to) => line!(self.out, "    bra T{}_{};", self.thread, to.name),
            Instruction::Branch { relation, left, right, to } => {
                let name = relation.name().trim_start_matches('b');
                line!(self.out, "    setp.{name}.s64 %p, {}, {};", text(left), text(right));
                line!(self.out, "    @%p bra T{}_{};", self.thread, to.name);
            }
            _ => self.gap(Gap::Vulkan),
        }
    }

    fn atomic(
        &mut self,
        access: PtxAccess,
        op: Atom,
        (to, address): (Option<&Ident>, &str),
        (value, new): (&Value, Option<&Value>),
    ) {
        // PTX subtracts by adding the opposite.
        let operand = match (op, value) {
            (Atom::Sub, Value::Number(n, _)) => n.wrapping_neg().to_string(),
            (Atom::Sub, Value::Register(ident)) => {
                line!(self.out, "    neg.s64 %t, {};", register(&ident.name));
                "%t".to_owned()
            }
            _ => text(value),
        };
        let name = match op {
            Atom::Add | Atom::Sub => "add.u64".to_owned(),
            // That it stores what is there already can be seen by nobody.
            Atom::Cas | Atom::CasSuccess => "cas.b64".to_owned(),
            Atom::And | Atom::Or | Atom::Xor | Atom::Exch => format!("{}.b64", op.name()),
            Atom::Mul | Atom::Div => return self.gap(Gap::Atomic(op)),
        };
        let new = new.map_or_else(String::new, |new| format!(", {}", text(new)));
        match to {
            // A reduction that acquires is an atomic operation whose result nobody takes.
            None if matches!(access.order, Order::Relaxed | Order::Release) => {
                line!(self.out, "    red{access}.global.{name} [{address}], {operand};");
            }
            _ => {
                let to = to.map_or_else(|| "_".to_owned(), |to| register(&to.name));
                line!(self.out, "    atom{access}.global.{name} {to}, [{address}], {operand}{new};");
            }
        }
    }
}

/// The registers of a thread that may be read before they are written: all that are read and not written before the first
/// branch and before they are read.
fn undefined<'a>(thread: &'a Thread, registers: &IndexSet<&'a str>) -> Vec<&'a str> {
    let (mut written, mut found) = (IndexSet::new(), IndexSet::new());
    let mut straight = true;
    for (instruction, _) in thread.instructions() {
        let values = instruction.reads().map(|ident| ident.name.as_str());
        let address = instruction.address().map(|(at, _)| at.name.as_str()).filter(|at| registers.contains(at));
        found.extend(values.chain(address).filter(|name| !written.contains(name)));
        if straight {
            written.extend(instruction.target().map(|to| to.name.as_str()));
        }
        straight &= instruction.label().is_none();
    }
    found.into_iter().collect()
}

pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Number(n, _) => n.to_string(),
        Value::Register(ident) => register(&ident.name),
    }
}
