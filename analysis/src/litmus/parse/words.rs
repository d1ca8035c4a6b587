//! What instructions are read from: the words of a name, and the operands after it.

use crate::base::Span;
use crate::litmus::error::{Expected, Form, LitmusErrorKind};
use crate::litmus::names::is_foreign;
use crate::litmus::tree::{Arch, Ident, Value};

/// What is wrong with an instruction, and where.
pub(super) type Wrong = (LitmusErrorKind, Span);

/// The words of a name, one after another, with their places.
pub(super) struct Words<'s> {
    rest: Option<&'s str>,
    /// Where `rest` begins.
    at: u32,
    /// Whose instructions they are.
    arch: Arch,
    /// What could have stood in the place of the next word, and does not.
    passed: Vec<&'static str>,
}

impl<'s> Words<'s> {
    /// The words of a text at a place.
    pub(super) const fn of(text: &'s str, at: u32, arch: Arch) -> Self {
        Self { rest: Some(text), at, arch, passed: Vec::new() }
    }

    /// The next word.
    pub(super) fn next(&mut self) -> Option<(&'s str, Span)> {
        let found = self.peek()?;
        self.rest = self.rest.and_then(|rest| rest.split_once('.')).map(|(_, after)| after);
        self.at = found.1.end + 1;
        self.passed.clear();
        Some(found)
    }

    /// The next word, which is not taken.
    pub(super) fn peek(&self) -> Option<(&'s str, Span)> {
        let word = self.rest?.split('.').next().unwrap_or("");
        Some((word, Span::new(self.at, self.at + u32::try_from(word.len()).unwrap_or(0))))
    }

    /// Whether no word is left.
    pub(super) const fn is_over(&self) -> bool {
        self.rest.is_none()
    }

    /// The complaint about a word in whose place these could stand, and those that were passed.
    fn misplaced(&self, word: &str, these: &[&'static str], span: Span) -> Wrong {
        let allowed = [&self.passed, these].concat();
        (LitmusErrorKind::Modifier { allowed, foreign: is_foreign(self.arch, word).then(|| self.arch.other()) }, span)
    }

    /// The next word, which must be that of one of these.
    pub(super) fn one_of<T: Copy>(&mut self, these: &[T], name: impl Fn(T) -> &'static str) -> Result<T, Wrong> {
        let names: Vec<&str> = these.iter().map(|one| name(*one)).collect();
        match self.peek().filter(|(word, _)| !word.is_empty()) {
            Some((word, span)) => match names.iter().position(|name| *name == word) {
                Some(k) => {
                    self.next();
                    Ok(these[k])
                }
                None => Err(self.misplaced(word, &names, span)),
            },
            None => {
                // Past the end `at` is one beyond the last character.
                let end = Span::new(self.at - 1, self.at - 1);
                Err((LitmusErrorKind::NoModifier { allowed: [&self.passed[..], &names].concat() }, end))
            }
        }
    }

    /// The next word where it is that of one of these.
    pub(super) fn perhaps<T: Copy>(&mut self, these: &[T], name: impl Fn(T) -> &'static str) -> Option<T> {
        let word = self.peek().map_or("", |(word, _)| word);
        let found = these.iter().copied().find(|one| name(*one) == word);
        match found {
            Some(_) => _ = self.next(),
            None => self.passed.extend(these.iter().map(|one| name(*one))),
        }
        found
    }

    /// That nothing follows.
    pub(super) fn end(&self) -> Result<(), Wrong> {
        match self.peek() {
            None => Ok(()),
            Some(("", span)) => Err(self.misplaced("", &[], Span::new(span.start - 1, span.start))),
            Some((word, span)) => Err(self.misplaced(word, &[], span)),
        }
    }
}

/// The operands of an instruction, one after another.
pub(super) struct Operands {
    rest: std::vec::IntoIter<Value>,
    /// How many there are.
    found: usize,
    /// The place of the instruction.
    span: Span,
    /// How the instruction is written.
    form: Form,
}

impl Operands {
    /// The operands of an instruction whose name stands at a place.
    pub(super) fn after(name: Span, operands: Vec<Value>) -> Self {
        let span = operands.iter().fold(name, |all, value| all.to(value.span()));
        Self { found: operands.len(), rest: operands.into_iter(), span, form: "" }
    }

    /// The operands of an instruction that is written so and whose name ends here.
    pub(super) fn of(&mut self, form: Form, words: &Words<'_>) -> Result<&mut Self, Wrong> {
        words.end()?;
        self.form = form;
        Ok(self)
    }

    /// That there are no more.
    pub(super) fn end(&self) -> Result<(), Wrong> {
        if self.rest.len() == 0 { Ok(()) } else { Err(self.number()) }
    }

    /// The complaint about their number.
    const fn number(&self) -> Wrong {
        (LitmusErrorKind::Operands { form: self.form, found: self.found }, self.span)
    }

    pub(super) fn value(&mut self) -> Result<Value, Wrong> {
        self.rest.next().ok_or_else(|| self.number())
    }

    pub(super) fn name(&mut self, wanted: Expected) -> Result<Ident, Wrong> {
        match self.value()? {
            Value::Register(ident) => Ok(ident),
            Value::Number(_, at) => Err((LitmusErrorKind::Operand { form: self.form, wanted }, at)),
        }
    }

    pub(super) fn register(&mut self) -> Result<Ident, Wrong> {
        self.name(Expected::Register)
    }

    pub(super) fn location(&mut self) -> Result<Ident, Wrong> {
        self.name(Expected::Location)
    }

    /// `instance[, barrier[, quorum]]`
    pub(super) fn meeting(&mut self) -> Result<(i64, Option<Value>, Option<Value>), Wrong> {
        match self.value()? {
            Value::Number(instance, _) => Ok((instance, self.rest.next(), self.rest.next())),
            Value::Register(ident) => {
                let wanted = Expected::Number;
                Err((LitmusErrorKind::Operand { form: self.form, wanted }, ident.span))
            }
        }
    }
}
