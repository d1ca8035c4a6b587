//! Statements of the tree: what stands within others comes before them, its results in registers that the text does not name.

use super::statement::{Raw, RawKind, Term, TermKind};
use crate::base::Span;
use crate::litmus::error::LitmusErrorKind as K;
use crate::litmus::rsp::{Access, Form, Location, Operation, Region, Statement, Stmt, Test};
use crate::litmus::tree::{Ident, Relation, Value};
use std::cell::Cell;

/// Words with which statements, loops and questions begin: a register of such a name could not be written at the start of a statement.
const RESERVED: [&str; 12] =
    ["int", "if", "else", "while", "for", "do", "locations", "filter", "exists", "forall", "final", "not"];

/// What is known of a whole text.
pub(super) struct Flat<'s> {
    text: &'s str,
    pub(super) form: Form,
    /// The number of the next register.
    next: Cell<u32>,
}

/// A block of a thread in the making.
pub(super) struct Block<'a> {
    pub(super) flat: &'a Flat<'a>,
    /// The locations that the thread may name.
    known: &'a [&'a str],
    test: &'a mut Test,
    pub(super) errors: &'a mut Vec<(K, Span)>,
    code: Vec<Stmt>,
}

impl<'s> Flat<'s> {
    pub(super) const fn new(text: &'s str, form: Form) -> Self {
        Self { text, form, next: Cell::new(0) }
    }

    /// A register that the text does not name.
    pub(super) fn register(&self, span: Span) -> Ident {
        loop {
            let name = format!("t{}", self.next.get());
            self.next.set(self.next.get() + 1);
            if !self.text.contains(&name) {
                return Ident { name, span };
            }
        }
    }

    /// The statements of a thread.
    pub(super) fn thread(
        &self,
        code: &[Raw],
        known: &[&str],
        test: &mut Test,
        errors: &mut Vec<(K, Span)>,
    ) -> Vec<Stmt> {
        let mut block = Block { flat: self, known, test, errors, code: Vec::new() };
        code.iter().for_each(|raw| block.statement(raw));
        block.code
    }
}

impl Block<'_> {
    pub(super) fn push(&mut self, statement: Statement, span: Span) {
        self.code.push(Stmt { kind: statement, span });
    }

    fn within(&mut self, code: &[Raw]) -> Vec<Stmt> {
        let before = std::mem::take(&mut self.code);
        code.iter().for_each(|raw| self.statement(raw));
        std::mem::replace(&mut self.code, before)
    }

    fn statement(&mut self, raw: &Raw) {
        match &raw.kind {
            RawKind::Assign(to, of) => self.assign(to.clone(), of, raw.span),
            RawKind::Store(at, of) => {
                let value = self.value(of);
                self.location(at, Access::Plain);
                self.push(Statement::Store { access: Access::Plain, at: at.clone(), value }, raw.span);
            }
            RawKind::Call(of) => self.call(of, None, raw.span),
            RawKind::If(test, then, otherwise, head) => {
                let (relation, left, right) = self.condition(test);
                let (then, otherwise) = (self.within(then), self.within(otherwise));
                self.push(Statement::If { relation, left, right, then, otherwise }, *head);
            }
        }
    }

    /// Notes that a location is accessed.
    pub(super) fn location(&mut self, at: &Ident, access: Access) {
        let atomic = access != Access::Plain;
        if self.flat.form == Form::OpenCl {
            if !self.known.contains(&&*at.name) {
                let known = self.known.iter().map(|name| (*name).to_owned()).collect();
                self.errors.push((K::NoParameter { known }, at.span));
            } else if atomic && self.test.location(&at.name).is_some_and(|location| !location.atomic) {
                self.errors.push((K::NotAtomic, at.span));
            }
            return;
        }
        // In lists a location is an atomic one if anybody accesses it so.
        match self.test.locations.iter_mut().find(|location| location.name.name == at.name) {
            Some(location) => location.atomic |= atomic,
            None => {
                let region = Region::Global;
                self.test.locations.push(Location { name: at.clone(), initial: 0, atomic, region });
            }
        }
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, of: &Term) -> Value {
        match &of.kind {
            TermKind::Number(n) => Value::Number(*n, of.span),
            TermKind::Name(name) => Value::Register(Ident { name: name.clone(), span: of.span }),
            _ => {
                let register = self.flat.register(of.span);
                self.assign(register.clone(), of, of.span);
                Value::Register(register)
            }
        }
    }

    fn assign(&mut self, to: Ident, of: &Term, span: Span) {
        if RESERVED.contains(&&*to.name) {
            self.errors.push((K::Reserved, to.span));
        }
        let statement = match &of.kind {
            TermKind::Number(_) | TermKind::Name(_) => Statement::Assign { to, value: self.value(of) },
            TermKind::At(from) => {
                self.location(from, Access::Plain);
                Statement::Load { access: Access::Plain, to, from: from.clone() }
            }
            TermKind::Call(of) => return self.call(of, Some(to), span),
            TermKind::Assign(name, inner) => {
                self.assign(name.clone(), inner, of.span);
                Statement::Assign { to, value: Value::Register(name.clone()) }
            }
            TermKind::Compute(op, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                Statement::Compute { op: Operation::Arith(*op), to, left, right }
            }
            TermKind::Is(..) | TermKind::Not(_) => {
                let (relation, left, right) = self.condition(of);
                Statement::Compute { op: Operation::Is(relation), to, left, right }
            }
        };
        self.push(statement, span);
    }

    /// What is compared: an expression that compares nothing is so where it is not zero.
    fn condition(&mut self, test: &Term) -> (Relation, Value, Value) {
        let zero = Value::Number(0, test.span);
        match &test.kind {
            TermKind::Is(relation, left, right) => (*relation, self.value(left), self.value(right)),
            TermKind::Not(inner) => (Relation::Eq, self.value(inner), zero),
            TermKind::Assign(to, of) => {
                self.assign(to.clone(), of, test.span);
                (Relation::Ne, Value::Register(to.clone()), zero)
            }
            _ => (Relation::Ne, self.value(test), zero),
        }
    }
}
