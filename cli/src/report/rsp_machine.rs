//! Executions of the hardware of remote-scope promotion, as the tables of figures 4 and 5 of its paper: a column for each work-group
//! with its L1 cache and for each L2 cache, from top to bottom as time goes. Entries are `x:DV 1` for dirty and valid, `x:CI 1` for
//! clean and invalid; what stands in brackets is a fifo, whose elements leave it at the right.

use super::diagnostic::Diagnostic;
use super::limit::limit;
use super::words::counted;
use crate::base::{FileId, Span, Wording};
use crate::explore::promotion::{Grain, Space, Step, follow, l2_is_memory};
use crate::litmus::rsp::Test;
use crate::litmus::rsp_machine::axioms::Axiom;
use crate::litmus::rsp_machine::{Compiled, Refused, Row, Scheme, Step as Part};
use crate::memory::rsp::{
    Cache, Function, Hygiene, Instruction, Level, Location, Lock, Mark, Move, Operand, Program, Reach, Register,
    System, Update,
};
use serde::Serialize;
use std::fmt::Write;

/// What a column shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Group(usize),
    L2(usize),
    Memory,
}

/// A program with the names of what is in it.
struct Named<'a> {
    test: &'a Test,
    compiled: &'a Compiled,
    /// The L2 cache is as good as memory: of its entries only the values are of interest.
    memory: bool,
}

const fn reach(reach: Reach) -> &'static str {
    match reach {
        Reach::Group => "WG",
        Reach::Device => "DV",
        Reach::System => "SY",
    }
}

const fn level(level: Level) -> &'static str {
    match level {
        Level::L1 => "L1",
        Level::L2 => "L2",
        Level::Global => "GL",
    }
}

const fn function(function: Function) -> &'static str {
    match function {
        Function::Add => "ADD",
        Function::Sub => "SUB",
        Function::Mul => "MUL",
        Function::Div => "DIV",
        Function::And => "AND",
        Function::Or => "OR",
        Function::Xor => "XOR",
        Function::Right => "EXCH",
        Function::Eq => "EQ",
        Function::Ne => "NE",
        Function::Lt => "LT",
        Function::Le => "LE",
        Function::Gt => "GT",
        Function::Ge => "GE",
    }
}

impl Named<'_> {
    const fn program(&self) -> &Program {
        &self.compiled.program
    }

    fn location(&self, at: Location) -> &str {
        self.test.locations.get(usize::from(at.0)).map_or("?", |l| l.name.name.as_str())
    }

    /// A register: those without a name of the text's are numbered.
    fn register(&self, register: Register) -> String {
        let known = self.compiled.registers.iter().find(|(_, _, r)| *r == register);
        known.map_or_else(|| format!("t{}", register.0), |(_, name, _)| name.clone())
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Number(n) => n.to_string(),
            Operand::Register(register) => self.register(register),
        }
    }

    fn instruction(&self, instruction: Instruction) -> String {
        match instruction {
            Instruction::Load(to, at) => format!("LD {} {}", self.register(to), self.location(at)),
            Instruction::Store(from, at) => format!("ST {} {}", self.operand(from), self.location(at)),
            Instruction::Update(where_, update, to, at) => {
                let (at, to) = (self.location(at), self.register(to));
                match update {
                    Update::Increment => format!("INC_{} {to} {at}", level(where_)),
                    Update::Apply(f, operand) => {
                        format!("{}_{} {to} {at} {}", function(f), level(where_), self.operand(operand))
                    }
                    Update::Exchange(expected, new) => {
                        format!("CAS_{} {to} {at} {} {}", level(where_), self.operand(expected), self.operand(new))
                    }
                }
            }
            Instruction::Flush(l, r) => format!("FLU_{} {}", level(l), reach(r)),
            Instruction::Invalidate(l, r) => format!("INV_{} {}", level(l), reach(r)),
            Instruction::Lock(at) => format!("LK_L2 {}", self.location(at)),
            Instruction::Unlock(at) => format!("UL_L2 {}", self.location(at)),
            Instruction::LockRmw(r) => format!("LK_rmw {}", reach(r)),
            Instruction::UnlockRmw(r) => format!("UL_rmw {}", reach(r)),
            Instruction::Compute(f, to, a, b) => {
                format!("{} {} {} {}", function(f), self.register(to), self.operand(a), self.operand(b))
            }
            Instruction::SkipUnless(operand, to) => format!("SKIP unless {} to {to}", self.operand(operand)),
            Instruction::Skip(to) => format!("SKIP to {to}"),
        }
    }

    /// Threads are numbered as in the test.
    fn thread(&self, thread: usize) -> usize {
        self.compiled.threads.get(thread).map_or(thread, |t| t + 1)
    }

    fn columns(&self) -> Vec<Column> {
        let program = self.program();
        let mut columns = Vec::new();
        for device in 0..program.device_count() {
            let groups = (0..program.group_count()).filter(|g| program.device_of(*g) == device);
            let first = columns.len() + 1;
            columns.extend(groups.map(Column::Group));
            columns.insert(first.min(columns.len()), Column::L2(device));
        }
        columns.extend((!self.memory).then_some(Column::Memory));
        columns
    }

    fn members(&self, group: usize) -> Vec<usize> {
        let threads = 0..self.program().threads().len();
        threads.filter(|t| self.program().group_of(*t) == group).collect()
    }

    fn head(&self, column: Column) -> String {
        match column {
            Column::Group(group) => {
                let members: Vec<String> = self.members(group).iter().map(|t| self.thread(*t).to_string()).collect();
                format!("Thread{} {}", if members.len() == 1 { "" } else { "s" }, members.join(", "))
            }
            Column::L2(_) if self.program().device_count() == 1 => "L2 cache".to_owned(),
            Column::L2(device) => format!("L2 cache of device {}", device + 1),
            Column::Memory => "Memory".to_owned(),
        }
    }

    fn lock(&self, name: &str, lock: Lock) -> String {
        lock.holder().map_or_else(String::new, |t| format!(" {name}: thread {}", self.thread(t)))
    }

    /// The contents of a column.
    fn shown(&self, column: Column, system: &System) -> String {
        let locations = || (0..self.test.locations.len()).map(|k| Location(u8::try_from(k).unwrap_or(0)));
        match column {
            Column::Group(group) => self.cache(&system.l1[group], false) + &self.lock("rmw", system.rmw[group]),
            Column::L2(device) => {
                let lock = |at: Location| self.lock(self.location(at), system.lockfile[device][usize::from(at.0)]);
                self.cache(&system.l2[device], self.memory) + &locations().map(lock).collect::<String>()
            }
            Column::Memory => {
                let cell = |at: Location| format!("{} {}", self.location(at), system.global[usize::from(at.0)].0);
                format!("{{{}}}", locations().map(cell).collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn cache(&self, cache: &Cache, values: bool) -> String {
        let entries = cache.entries.iter().zip(0_u8..).filter(|(entry, _)| entry.present);
        let entry = |(entry, at): (&crate::memory::rsp::Entry, u8)| {
            let hygiene = if entry.hygiene == Hygiene::Dirty { 'D' } else { 'C' };
            let state =
                if values { String::new() } else { format!(":{hygiene}{}", if entry.valid { 'V' } else { 'I' }) };
            format!("{}{state} {}", self.location(Location(at)), entry.value)
        };
        let mut text = format!("{{{}}}", entries.map(entry).collect::<Vec<_>>().join(", "));
        let fifo: Vec<String> = cache.fifo.iter().rev().map(|mark| self.mark(mark)).collect();
        if !fifo.is_empty() && !values {
            let _ = write!(text, " [{}]", fifo.join(" "));
        }
        text
    }

    fn mark(&self, mark: Mark) -> String {
        match mark {
            Mark::Location(at) => self.location(at).to_owned(),
            Mark::Flush(thread) => format!("FLUSH{}", self.thread(thread.into())),
        }
    }

    /// Where a step is told, and what it is.
    fn step(&self, before: &System, step: Step) -> (Column, String) {
        match step {
            Step::Thread(t) => {
                let thread = usize::from(t);
                let group = self.program().group_of(thread);
                let code = &self.program().threads()[thread].code;
                let text =
                    code.get(usize::from(before.next[thread])).map_or_else(String::new, |i| self.instruction(*i));
                let alone = self.members(group).len() == 1;
                (Column::Group(group), if alone { text } else { format!("{}: {text}", self.thread(thread)) })
            }
            Step::Environment(step) => {
                let (name, cache, which, at) = match step {
                    Move::Evict(l, which, at) => ("EVICT", l, which, Some(at)),
                    Move::Flush(l, which, at) => ("FLUSH", l, which, Some(at)),
                    Move::Fetch(l, which, at) => ("FETCH", l, which, Some(at)),
                    Move::DequeueLocation(l, which) => ("DEQLOC", l, which, None),
                    Move::DequeueMarker(l, which) => ("DEQMARKER", l, which, None),
                };
                let at = at.map_or_else(String::new, |at| format!("({})", self.location(at)));
                let which = usize::from(which);
                let column = if cache == Level::L1 { Column::Group(which) } else { Column::L2(which) };
                (column, format!("{name}_{}{at}", level(cache)))
            }
        }
    }
}

/// An execution as a table.
#[must_use]
pub fn table(test: &Test, compiled: &Compiled, grain: Grain, path: &[Step]) -> String {
    let program = &compiled.program;
    let memory = l2_is_memory(program, grain);
    let named = Named { test, compiled, memory };
    let columns = named.columns();
    let (first, steps) = follow(program, grain, path);
    let mut last: Vec<String> = columns.iter().map(|c| named.shown(*c, &first)).collect();
    let mut rows = vec![columns.iter().map(|c| named.head(*c)).collect(), last.clone()];
    let mut before = first;
    for (step, after) in &steps {
        let (place, text) = named.step(&before, *step);
        let own = |c: &Column| if *c == place { text.clone() } else { String::new() };
        rows.push(columns.iter().map(own).collect());
        let now: Vec<String> = columns.iter().map(|c| named.shown(*c, after)).collect();
        let changed: Vec<String> =
            now.iter().zip(&last).map(|(now, last)| if now == last { String::new() } else { now.clone() }).collect();
        if changed.iter().any(|cell| !cell.is_empty()) {
            rows.push(changed);
        }
        (last, before) = (now, *after);
    }
    let mut text = aligned(&rows);
    let held = |(_, name, register): &(usize, String, Register)| format!("{name} = {}", before.register(*register));
    let ends: Vec<String> = compiled
        .registers
        .iter()
        .map(|r| format!("{}:{}", test.threads.get(r.0).map_or(0, |t| t.number), held(r)))
        .collect();
    if !ends.is_empty() {
        let _ = writeln!(text, "{}", ends.join("; "));
    }
    text
}

/// Rows under one another; the first is a head.
fn aligned(rows: &[Vec<String>]) -> String {
    let count = rows.first().map_or(0, Vec::len);
    let width = |k: usize| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let line = |row: &[String]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("{}\n", cells.join(" | ").trim_end())
    };
    let mut text = String::new();
    for (k, row) in rows.iter().enumerate() {
        text += &line(row);
        if k == 0 {
            let rule: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
            let _ = writeln!(text, "{}", rule.join("-+-"));
        }
    }
    text
}

/// A row of table 3 in words: `store DV,R`.
#[must_use]
pub fn row(row: Row) -> String {
    format!("{:?} {}", row.kind, row.width.name())
        .to_lowercase()
        .replace("dv", "DV")
        .replace("all", "ALL")
        .replace(",r", ",R")
}

/// An instruction of table 3 in words.
#[must_use]
pub fn part(part: Part) -> String {
    match part {
        Part::Access => "the access".to_owned(),
        Part::Flush(l, r) => format!("FLU_{} {}", level(l), reach(r)),
        Part::Invalidate(l, r) => format!("INV_{} {}", level(l), reach(r)),
        Part::Lock => "LK_L2 x".to_owned(),
        Part::Unlock => "UL_L2 x".to_owned(),
        Part::LockRmw(r) => format!("LK_rmw {}", reach(r)),
        Part::UnlockRmw(r) => format!("UL_rmw {}", reach(r)),
    }
}

/// A scheme as a column of table 3.
#[must_use]
pub fn scheme(scheme: &Scheme) -> String {
    let line = |(r, parts): (Row, &[Part])| {
        let parts: Vec<String> = parts.iter().map(|p| part(*p)).collect();
        format!("{}: {}\n", row(r), parts.join("; "))
    };
    scheme.rows().map(line).collect()
}

/// What came of the comparison of a program's executions with the axioms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Compared {
    /// It was not done: the program is too long, or there was no time left.
    TooLong,
    /// It was not done: the program has local memory, of which figure 2 says nothing.
    Local,
    /// The program is racy: it may do anything.
    Racy,
    /// All are allowed.
    Allowed,
    /// One is not: the axiom that it violates, and the way to it.
    Beyond(Axiom, Vec<Step>),
}

/// What the axioms say of the executions that the machine shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AxiomsSay {
    /// Nothing: the program is too long, has local memory, or there was no time left.
    NotCompared,
    /// The program is racy: it may do anything.
    Racy,
    /// Every execution is allowed.
    Allowed,
    /// Those that were found are allowed; a limit was reached before all were.
    AllowedSoFar,
    /// Some execution is not allowed, although the program is not racy.
    NotAllowed,
}

/// The executions of the machine beside the axioms.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BesideAxioms {
    /// What these say.
    pub say: AxiomsSay,
    /// The axiom that an execution violates, by its name in figure 2.
    pub violated: Option<&'static str>,
}

impl Compared {
    /// It as data; `limited`: not all executions were gone through.
    #[must_use]
    pub const fn data(&self, limited: bool) -> BesideAxioms {
        let (say, violated) = match self {
            Self::TooLong | Self::Local => (AxiomsSay::NotCompared, None),
            Self::Racy => (AxiomsSay::Racy, None),
            Self::Allowed if limited => (AxiomsSay::AllowedSoFar, None),
            Self::Allowed => (AxiomsSay::Allowed, None),
            Self::Beyond(axiom, _) => (AxiomsSay::NotAllowed, Some(axiom.name())),
        };
        BesideAxioms { say, violated }
    }

    fn text(&self, limited: bool) -> String {
        match self {
            Self::TooLong => {
                "not compared with the axioms: the program has too many accesses to memory, or time is up\n".to_owned()
            }
            Self::Local => {
                "not compared with the axioms: figure 2 says nothing of local memory, and it is run as if it were \
                            global\n"
                    .to_owned()
            }
            Self::Racy => "the program is racy by the axioms: it may do anything\n".to_owned(),
            Self::Allowed if limited => {
                "the program is not racy, and the axioms allow the executions that were found\n".to_owned()
            }
            Self::Allowed => "the program is not racy, and the axioms allow every execution\n".to_owned(),
            Self::Beyond(axiom, _) => format!(
                "the program is not racy, and the axioms do not allow this execution: {} is violated\n",
                axiom.name()
            ),
        }
    }
}

/// What a search looked at, and what it found besides outcomes.
#[must_use]
pub fn searched(space: &Space, grain: Grain, compared: &Compared) -> String {
    let (states, steps) = (counted(space.states, "state"), counted(space.steps, "step"));
    let ends = counted(space.ends.len() as u64, "end");
    let mut text = format!("machine rsp: {states}, {steps}, {ends} of complete executions\n");
    text += &compared.text(space.limit.is_some());
    if let Some(reached) = space.limit {
        let _ = writeln!(text, "{}; nothing is proved", limit(reached));
        return text;
    }
    text += &match (&space.stuck, grain) {
        ((0, _), Grain::Every) => "no execution can be left waiting for ever\n".to_owned(),
        ((0, _), Grain::Needed) => {
            "not asked: whether it can be left waiting for ever (--reduction none does)\n".to_owned()
        }
        ((count, _), _) => format!("{} from which no execution is completed, such as this\n", counted(*count, "state")),
    };
    text
}

/// Why a program is not run.
pub fn refused(refused: &Refused, file: FileId) -> Diagnostic {
    let (span, message, label, hint) = match *refused {
        Refused::TooBig(crate::memory::rsp::TooBig { what, count, most }) => {
            (Span::default(), format!("the program has {count} {what}, {most} are possible"), "", None)
        }
        Refused::NoScope(scope, span) => (
            span,
            format!("the original scheme has nothing for scope {}: it is for one device", scope.name()),
            "this operation",
            Some("leave out --scheme original: the proposed one is extended to it".to_owned()),
        ),
        Refused::Wide(value, span) => {
            (span, format!("{value} does not fit into the 32 bits of a location"), "this value", None)
        }
        Refused::Compares(span) => {
            (span, "this update compares: it is not one of OpenCL's".to_owned(), "this operation", None)
        }
    };
    Diagnostic::from(Wording { code: "unsupported", message, label: label.to_owned(), hint }).at(file, span)
}
