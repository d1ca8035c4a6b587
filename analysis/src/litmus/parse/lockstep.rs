//! The grammar of tests for wavefronts: heads without places, and cells of which those of one wavefront are one instruction.

use super::Reader;
use super::token::{Kind, Token};
use super::words::{Words, Wrong};
use crate::base::Span;
use crate::litmus::error::{Expected, Form, LitmusErrorKind};
use crate::litmus::lockstep::{Cell, Column, Op, Program, Size, Spot, Test};
use crate::litmus::tree::{Arch, Arith, Atom, COMPARISONS, Ident, Litmus, Relation, Value};

/// The operations of `atom`.
const ATOMICS: &[Atom] = &[Atom::Add, Atom::And, Atom::Or, Atom::Xor, Atom::Exch, Atom::Cas];
/// The sizes of `atom`.
const ATOMIC_SIZES: &[Size] = &[Size::B32, Size::B64];

/// An operand: a register, a number, or bytes of a location.
struct Operand {
    value: Value,
    /// `+4`
    offset: Option<(u32, Span)>,
}

/// The operands of an instruction.
struct Operands {
    all: std::vec::IntoIter<Operand>,
    found: usize,
    span: Span,
    form: Form,
}

impl Operands {
    fn value(&mut self) -> Result<Value, Wrong> {
        let operand = self.next()?;
        match operand.offset {
            Some((_, span)) => Err((LitmusErrorKind::Operand { form: self.form, wanted: Expected::Value }, span)),
            None => Ok(operand.value),
        }
    }

    fn next(&mut self) -> Result<Operand, Wrong> {
        self.all.next().ok_or_else(|| self.number())
    }

    const fn number(&self) -> Wrong {
        (LitmusErrorKind::Operands { form: self.form, found: self.found }, self.span)
    }

    fn register(&mut self) -> Result<Ident, Wrong> {
        match self.value()? {
            Value::Register(ident) => Ok(ident),
            Value::Number(_, at) => Err((LitmusErrorKind::Operand { form: self.form, wanted: Expected::Register }, at)),
        }
    }

    fn spot(&mut self, size: Size) -> Result<Spot, Wrong> {
        let operand = self.next()?;
        match operand.value {
            Value::Register(location) => {
                Ok(Spot { location, offset: operand.offset.map_or(0, |(offset, _)| offset), size })
            }
            Value::Number(_, at) => Err((LitmusErrorKind::Operand { form: self.form, wanted: Expected::Location }, at)),
        }
    }

    fn end(&self) -> Result<(), Wrong> {
        if self.all.len() == 0 { Ok(()) } else { Err(self.number()) }
    }
}

impl Reader<'_> {
    /// `W0.1` or `C0`, as the number of a thread.
    pub(super) fn column(&mut self) -> Option<(u32, Span)> {
        let named =
            |r: &Self, t: Token| Column::named(r.str(t)).filter(|_| matches!(t.kind, Kind::Word | Kind::Dotted));
        let token = self.take(Expected::Column, |r, t| named(r, t).is_some())?;
        Some((named(self, token)?.number(), token.span))
    }

    fn heads(&mut self) -> Option<Vec<(Column, Span)>> {
        let all = self.list(Kind::Bar, |r| {
            let (number, span) = r.column()?;
            Some((Column::of(number)?, span))
        })?;
        self.is(Kind::Semi)?;
        Some(all)
    }

    /// `x+4`, `r0`, `-1`.
    fn lockstep_operand(&mut self) -> Option<Operand> {
        let value = self.operand()?;
        let mut offset = None;
        if matches!(value, Value::Register(_)) && self.is(Kind::Plus).is_some() {
            let (bytes, span) = self.number()?;
            // What is too large is told as too large.
            offset = Some((u32::try_from(bytes).unwrap_or(u32::MAX / 2).min(u32::MAX / 2), span));
        }
        Some(Operand { value, offset })
    }

    /// `r0 == 1`
    fn test(&mut self) -> Option<Test> {
        let known = |text: &str| COMPARISONS.iter().find(|(symbol, _)| *symbol == text).map(|(_, relation)| *relation);
        let left = self.operand()?;
        let token = self.take(Expected::Comparison, |r, t| known(r.str(t)).is_some())?;
        let relation: Relation = known(self.str(token))?;
        Some(Test { relation, left, right: self.operand()? })
    }

    /// A cell that is not empty; nothing where the instruction itself is wrong.
    fn lockstep_cell(&mut self) -> Option<Option<Cell>> {
        const ENDS: &[Kind] = &[Kind::Bar, Kind::Semi];
        let from = self.at;
        let fits = |t: Token| matches!(t.kind, Kind::Word | Kind::Dotted);
        let name = self.take(Expected::Instruction, |r, t| fits(t) && !r.ends_rows(t))?;
        let block = match self.str(name) {
            "if" => Some(Op::If(self.test()?)),
            "while" => Some(Op::While(self.test()?)),
            "end" => Some(Op::End),
            _ => None,
        };
        if let Some(kind) = block {
            let span = self.since(from);
            self.before(ENDS)?;
            return Some(Some(Cell { kind, span }));
        }
        let errors = self.errors.len();
        let operands = match self.before(ENDS) {
            Some(()) => Vec::new(),
            None => self.list(Kind::Comma, Self::lockstep_operand)?,
        };
        let span = self.since(from);
        self.before(ENDS)?;
        if self.errors.len() > errors {
            return Some(None);
        }
        let operands = Operands { found: operands.len(), all: operands.into_iter(), span, form: "" };
        let words = Words::of(self.str(name), name.span.start, Arch::Lockstep);
        let op = operation(words, name.span, operands).map_err(|wrong| self.errors.push(wrong));
        Some(op.ok().map(|kind| Cell { kind, span }))
    }

    fn lockstep_rows(&mut self, program: &mut Program) -> Option<()> {
        while self.token().is_some_and(|t| !self.ends_rows(t)) {
            let (from, errors) = (self.at, self.errors.len());
            let cells = self.row_of(Self::lockstep_cell);
            let Some(mut cells) = cells else {
                self.errors.truncate(errors);
                return None;
            };
            let columns = program.columns.len();
            if cells.len() != columns {
                let kind = LitmusErrorKind::Columns { cells: cells.len(), threads: columns };
                self.errors.push((kind, self.since(from)));
                cells.resize(columns, None);
            }
            program.rows.push(cells);
        }
        self.miss::<()>(Expected::Instruction);
        Some(())
    }

    /// A whole file from its `{` on.
    pub(super) fn lockstep(&mut self, litmus: &mut Litmus) -> Option<()> {
        let mut program = Program::default();
        litmus.init = self.block(Self::decl)?;
        program.columns = self.heads()?;
        self.lockstep_rows(&mut program)?;
        litmus.threads = program.threads();
        litmus.lockstep = Some(Box::new(program));
        litmus.locations = self.locations()?;
        if self.word("filter").is_some() {
            litmus.filter = Some(self.asked()?);
        }
        litmus.condition = Some(self.question()?);
        self.end(Some(Expected::End))
    }
}

/// The operation of a name with its operands.
fn operation(mut words: Words<'_>, span: Span, mut of: Operands) -> Result<Op, Wrong> {
    let (name, at) = words.next().unwrap_or(("", span));
    let arith = Arith::named(name);
    let op = match name {
        "ld" => {
            let size = words.perhaps(Size::ALL, Size::name).unwrap_or(Size::B64);
            words.end()?;
            of.form = "ld.SIZE register, location+offset";
            Op::Load { to: of.register()?, from: of.spot(size)? }
        }
        "st" => {
            let size = words.perhaps(Size::ALL, Size::name).unwrap_or(Size::B64);
            words.end()?;
            of.form = "st.SIZE location+offset, value";
            Op::Store { to: of.spot(size)?, value: of.value()? }
        }
        "atom" => {
            let op = words.one_of(ATOMICS, Atom::name)?;
            let size = words.perhaps(ATOMIC_SIZES, Size::name).unwrap_or(Size::B64);
            words.end()?;
            of.form = match op {
                Atom::Cas => "atom.cas.SIZE register, location+offset, expected, new",
                _ => "atom.OPERATION.SIZE register, location+offset, value",
            };
            let (to, at, value) = (of.register()?, of.spot(size)?, of.value()?);
            Op::Atomic { op, to, at, value, new: if op.compares() { Some(of.value()?) } else { None } }
        }
        "mov" => {
            words.end()?;
            of.form = "mov register, value";
            Op::Move { to: of.register()?, value: of.value()? }
        }
        _ => {
            let op = arith.ok_or((LitmusErrorKind::UnknownInstruction(Arch::Lockstep), at))?;
            words.end()?;
            of.form = "add register, value, value";
            Op::Compute { op, to: of.register()?, left: of.value()?, right: of.value()? }
        }
    };
    of.end()?;
    Ok(op)
}
