//! The static check of a memory program: what goes wrong on some path through it.
//!
//! The language has no loops, so every path is followed, with what is known on it ([`Facts`]). Knowledge about caches lasts
//! as long as a micro step, except for lines that the program pins. An operation that may have to wait (4.4.3) ends a
//! micro step as `yield` does; both ways are followed.

use super::code::{Code, Program};
use super::error::MempErrorKind;
use super::tree::{BExp, CacheFn, Level, OpExp};
use super::{OpKey, OpKind, Undefined};
use crate::base::{Span, sort};
use crate::program::instr::Space;
use indexmap::IndexSet;

/// The most different facts that are followed per statement; a program that has more is not checked completely.
const MOST: usize = 4096;

/// What is wrong with a program, each with its place, in the order of the text.
#[must_use]
pub(super) fn check(program: &Program) -> Vec<Complaint> {
    let mut found: IndexSet<Complaint> = IndexSet::new();
    let mut reached = vec![false; program.code.len()];
    let mut done = Vec::new();
    for key in program.serves() {
        let sort = (key.kind(), key.space());
        if !done.contains(&sort) {
            Walk { program, key, found: &mut found, reached: &mut reached, next: Vec::new() }.run();
            done.push(sort);
        }
    }
    let mut errors: Vec<Complaint> = found.into_iter().collect();
    errors.extend(unreachable(program, &reached));
    sort::sort_by_key(&mut errors, |(_, span)| *span);
    errors.dedup();
    errors
}

/// The first statement of each stretch that no path reaches.
fn unreachable(program: &Program, reached: &[bool]) -> Vec<Complaint> {
    let mut found = Vec::new();
    let mut before = true;
    for (instr, reached) in program.code.iter().zip(reached) {
        if matches!(instr.code, Code::Goto(_)) || instr.implied {
            continue;
        }
        if !reached && before {
            found.push((MempErrorKind::Unreachable, instr.span));
        }
        before = *reached;
    }
    found
}

impl OpKey {
    fn is_fence(&self) -> bool {
        self.kind() == OpKind::Fence
    }

    /// Whether it has destination registers.
    fn returns(&self) -> bool {
        matches!(self.kind(), OpKind::Load | OpKind::Atom | OpKind::Reg)
    }

    /// Whether it changes memory.
    fn writes(&self) -> bool {
        matches!(self.kind(), OpKind::Store | OpKind::Atom | OpKind::Red)
    }

    /// Why a statement is undefined for it, if it is.
    fn undefined(&self, op: OpExp) -> Option<Undefined> {
        let shared = self.space() == Space::Shared;
        match op {
            OpExp::Cache(CacheFn::WriteBack, _) if self.is_fence() => None,
            OpExp::Cache(..) | OpExp::InvalidateOthersL1 => (!self.cached()).then_some(Undefined::NoCaches),
            OpExp::FlushL1 => (!self.is_fence()).then_some(Undefined::NotFence),
            OpExp::AtomOp => (!self.atomic()).then_some(Undefined::NotAtomic),
            OpExp::Lock | OpExp::Unlock => (!self.atomic() || !shared).then_some(Undefined::NotSharedAtomic),
            OpExp::ReadMem | OpExp::WriteMem if self.is_fence() || self.kind() == OpKind::Reg => {
                Some(Undefined::NoMemory)
            }
            OpExp::ReadMem => None,
            OpExp::WriteMem => matches!(self.space(), Space::Const | Space::Param).then_some(Undefined::NotWritable),
            OpExp::WriteToRegs => (!self.returns()).then_some(Undefined::NoRegisters),
            OpExp::ReleaseRegs => None,
        }
    }
}

/// What is known of the operation's line in a cache.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Line {
    #[default]
    Unknown,
    /// Not cached, in this micro step.
    Absent,
    /// Cached, in this micro step.
    Cached,
    /// Reserved by the program, which has yet to fill it.
    Filling,
    /// Reserved and filled by the program, which pins it still.
    Filled,
}

impl Line {
    const fn pinned(self) -> bool {
        matches!(self, Self::Filling | Self::Filled)
    }
}

/// Whether a value has been read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Value {
    #[default]
    Unread,
    /// In this micro step, at this place.
    Fresh(Span),
    /// In an earlier micro step, by a program that locked its banks before and holds them.
    Locked(Span),
    /// In an earlier micro step.
    Old(Span),
}

/// What is known on a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Facts {
    l1: Line,
    l2: Line,
    value: Value,
    locked: bool,
    released: bool,
    written: bool,
    effect: bool,
    /// L2, or memory, has been written in this micro step.
    through_l2: bool,
    through_memory: bool,
}

impl Facts {
    fn line(&mut self, level: Level) -> &mut Line {
        match level {
            Level::L1 => &mut self.l1,
            Level::L2 => &mut self.l2,
        }
    }

    /// A micro step ends.
    fn boundary(mut self) -> Self {
        for line in [&mut self.l1, &mut self.l2] {
            if !line.pinned() {
                *line = Line::Unknown;
            }
        }
        if let Value::Fresh(at) = self.value {
            self.value = Value::Old(at);
        }
        Self { through_l2: false, through_memory: false, ..self }
    }
}

/// What is wrong, and where.
type Complaint = (MempErrorKind, Span);

/// Following the paths for one sort of operation.
struct Walk<'a> {
    program: &'a Program,
    key: OpKey,
    found: &'a mut IndexSet<Complaint>,
    reached: &'a mut [bool],
    /// The facts with which each position is reached; the last entry is the program's end.
    next: Vec<IndexSet<Facts>>,
}

impl Walk<'_> {
    fn run(&mut self) {
        let len = self.program.code.len();
        self.next = vec![IndexSet::new(); len + 1];
        self.go(0, Facts::default());
        // Jumps lead forward only, so one pass in order meets every path.
        for pc in 0..len {
            let here = self.next.get_mut(pc).map(std::mem::take).unwrap_or_default();
            if let Some(reached) = self.reached.get_mut(pc) {
                *reached |= !here.is_empty();
            }
            for facts in here {
                self.step(pc, facts);
            }
        }
        if self.next.last().is_some_and(|end| !end.is_empty()) {
            let span = self.program.code.last().map_or(Span::default(), |i| i.span);
            self.complain(MempErrorKind::NoEnd, Span::new(span.end, span.end));
        }
    }

    fn go(&mut self, pc: usize, facts: Facts) {
        if let Some(at) = self.next.get_mut(pc)
            && at.len() < MOST
        {
            at.insert(facts);
        }
    }

    fn complain(&mut self, kind: MempErrorKind, span: Span) {
        self.found.insert((kind, span));
    }

    /// Complains where something does not hold.
    fn demand(&mut self, holds: bool, kind: MempErrorKind, span: Span) {
        if !holds {
            self.complain(kind, span);
        }
    }

    fn step(&mut self, pc: usize, facts: Facts) {
        let Some(instr) = self.program.code.get(pc).copied() else { return };
        match instr.code {
            Code::Nop => self.go(pc + 1, facts),
            Code::Goto(target) => self.go(usize::from(target), facts),
            Code::Yield => self.go(pc + 1, facts.boundary()),
            Code::End => self.end(facts, instr.span),
            Code::If(cond, otherwise) => {
                let Some(cond) = self.program.conds.get(usize::from(cond)) else { return };
                let asks = mentions(cond, Level::L1) || mentions(cond, Level::L2);
                self.demand(self.key.cached() || !asks, MempErrorKind::NoCaches { key: self.key }, instr.span);
                for facts in refine(cond, facts) {
                    let holds = holds(cond, &facts);
                    self.go(if holds { pc + 1 } else { usize::from(otherwise) }, facts);
                }
            }
            Code::Op(op) => {
                if let Some(cause) = self.key.undefined(op) {
                    self.complain(MempErrorKind::Undefined { op, key: self.key, cause }, instr.span);
                }
                let after = self.operate(op, facts, false, instr.span);
                self.go(pc + 1, after);
                if self.may_wait(op, facts) {
                    let after = self.operate(op, facts.boundary(), true, instr.span);
                    self.go(pc + 1, after);
                }
            }
        }
    }

    /// Whether an operation may have to wait.
    fn may_wait(&self, op: OpExp, mut facts: Facts) -> bool {
        match op {
            OpExp::Lock => !facts.locked,
            OpExp::InvalidateOthersL1 | OpExp::FlushL1 => true,
            OpExp::Cache(function, level) => {
                let line = *facts.line(level);
                match function {
                    CacheFn::Reserve => !line.pinned(),
                    CacheFn::Read => line == Line::Cached,
                    CacheFn::Write => matches!(line, Line::Unknown | Line::Absent),
                    CacheFn::Evict | CacheFn::Discard => matches!(line, Line::Unknown | Line::Cached),
                    // For room in L2.
                    CacheFn::WriteBack => {
                        level == Level::L1 && (self.key.is_fence() || matches!(facts.l2, Line::Unknown | Line::Absent))
                    }
                    CacheFn::Update | CacheFn::ClassifyFirst | CacheFn::ClassifyNormal | CacheFn::Clean => false,
                }
            }
            _ => false,
        }
    }

    /// What is known after an operation; `again`: it waited before.
    fn operate(&mut self, op: OpExp, mut facts: Facts, again: bool, span: Span) -> Facts {
        let fresh = if facts.locked { Value::Locked(span) } else { Value::Fresh(span) };
        match op {
            OpExp::ReadMem => facts.value = fresh,
            OpExp::WriteMem => {
                self.write(op, &mut facts, span);
                facts.through_memory = true;
            }
            OpExp::InvalidateOthersL1 => {
                let pins = facts.l1.pinned() || facts.l2.pinned();
                self.demand(!pins, MempErrorKind::WaitsForEachOther, span);
            }
            OpExp::FlushL1 => facts.l1 = Line::Unknown,
            OpExp::AtomOp => self.needs_value(op, &facts, span),
            OpExp::ReleaseRegs => facts.released = true,
            OpExp::WriteToRegs => {
                if self.key.kind() != OpKind::Reg {
                    self.needs_value(op, &facts, span);
                }
                self.demand(!facts.released, MempErrorKind::WrittenAfterRelease, span);
                facts.written = true;
            }
            OpExp::Lock => {
                self.demand(!facts.locked, MempErrorKind::LockTwice, span);
                facts.locked = true;
            }
            OpExp::Unlock => {
                self.demand(facts.locked, MempErrorKind::NotLocked, span);
                facts.locked = false;
                if let Value::Locked(at) = facts.value {
                    facts.value = Value::Old(at);
                }
            }
            OpExp::Cache(function, level) => self.cache(op, function, level, &mut facts, again, span),
        }
        facts
    }

    fn cache(&mut self, op: OpExp, function: CacheFn, level: Level, facts: &mut Facts, again: bool, span: Span) {
        let fresh = if facts.locked { Value::Locked(span) } else { Value::Fresh(span) };
        let line = *facts.line(level);
        let present = matches!(line, Line::Cached | Line::Filling | Line::Filled);
        let lacking = MempErrorKind::NotReserved { op, level };
        match function {
            CacheFn::Reserve => {
                self.demand(line == Line::Absent || again, MempErrorKind::MayBeCached(level), span);
                *facts.line(level) = Line::Filling;
            }
            CacheFn::Update => {
                self.demand(present, lacking, span);
                self.needs_value(op, facts, span);
                if line == Line::Filling {
                    *facts.line(level) = Line::Filled;
                }
            }
            CacheFn::Read => {
                self.demand(line != Line::Filling, MempErrorKind::WaitsForItself(op), span);
                self.demand(present || again, lacking, span);
                facts.value = fresh;
                *facts.line(level) = Line::Cached;
            }
            CacheFn::Write => {
                self.write(op, facts, span);
                if !line.pinned() {
                    *facts.line(level) = Line::Cached;
                }
                facts.through_l2 |= level == Level::L2;
            }
            CacheFn::Clean => {
                self.demand(present, lacking, span);
                let through = if level == Level::L1 { facts.through_l2 } else { facts.through_memory };
                self.demand(through, MempErrorKind::NotWrittenThrough(level), span);
            }
            CacheFn::WriteBack => {
                // The line may be in L2 now: whether it was dirty is not known.
                if level == Level::L1 && facts.l2 == Line::Absent {
                    facts.l2 = Line::Unknown;
                }
            }
            CacheFn::Evict | CacheFn::Discard => {
                self.demand(!line.pinned(), MempErrorKind::WaitsForItself(op), span);
                *facts.line(level) = Line::Absent;
            }
            CacheFn::ClassifyFirst | CacheFn::ClassifyNormal => self.demand(present, lacking, span),
        }
    }

    /// A write of memory or of a cache.
    fn write(&mut self, op: OpExp, facts: &mut Facts, span: Span) {
        if self.key.atomic() {
            self.needs_value(op, facts, span);
            if let Value::Old(read) = facts.value {
                self.complain(MempErrorKind::Torn { read }, span);
            }
        } else if self.key.kind() == OpKind::Load {
            self.needs_value(op, facts, span);
        }
        facts.effect = true;
    }

    fn needs_value(&mut self, op: OpExp, facts: &Facts, span: Span) {
        let given = self.key.kind() == OpKind::Store;
        self.demand(given || facts.value != Value::Unread, MempErrorKind::NothingRead(op), span);
    }

    fn end(&mut self, facts: Facts, span: Span) {
        self.demand(facts.released || self.key.is_fence(), MempErrorKind::NotReleased, span);
        self.demand(facts.written || !self.key.returns(), MempErrorKind::NotWritten, span);
        self.demand(facts.effect || !self.key.writes(), MempErrorKind::NoEffect, span);
        self.demand(!facts.l1.pinned(), MempErrorKind::StillPinned(Level::L1), span);
        self.demand(!facts.l2.pinned(), MempErrorKind::StillPinned(Level::L2), span);
        self.demand(!facts.locked, MempErrorKind::StillLocked, span);
    }
}

fn mentions(cond: &BExp, level: Level) -> bool {
    match cond {
        BExp::Const(_) => false,
        BExp::IsCached(l) => *l == level,
        BExp::Not(inner) => mentions(inner, level),
        BExp::And(l, r) | BExp::Or(l, r) => mentions(l, level) || mentions(r, level),
    }
}

/// The facts with the answers to a condition's questions: one for each answer that is possible.
fn refine(cond: &BExp, facts: Facts) -> Vec<Facts> {
    let mut all = vec![facts];
    for level in [Level::L1, Level::L2].into_iter().filter(|level| mentions(cond, *level)) {
        all = all
            .into_iter()
            .flat_map(|mut facts| match *facts.line(level) {
                Line::Unknown => {
                    let mut absent = facts;
                    *facts.line(level) = Line::Cached;
                    *absent.line(level) = Line::Absent;
                    vec![facts, absent]
                }
                _ => vec![facts],
            })
            .collect();
    }
    all
}

/// The value of a condition whose questions the facts answer.
fn holds(cond: &BExp, facts: &Facts) -> bool {
    match cond {
        BExp::Const(value) => *value,
        BExp::IsCached(level) => {
            let line = if *level == Level::L1 { facts.l1 } else { facts.l2 };
            !matches!(line, Line::Absent | Line::Unknown)
        }
        BExp::Not(inner) => !holds(inner, facts),
        BExp::And(l, r) => holds(l, facts) && holds(r, facts),
        BExp::Or(l, r) => holds(l, facts) || holds(r, facts),
    }
}
