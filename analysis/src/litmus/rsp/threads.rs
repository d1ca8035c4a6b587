//! What a program comes to, as the threads that litmus tests have: conditions are branches, and a compare-exchange is up to three
//! instructions: the plain load of what is expected, itself, and the comparison that tells whether it succeeded.

use super::{Access, Expected, MemoryOrder, Operation, Region, Statement, Stmt, Test};
use crate::base::Span;
use crate::litmus::tree::{
    Access as Qualifiers, Arch, Atom, Decl, DeclKind, Ident, Initial, Instruction, Litmus, OpenClAccess, Placing,
    Relation, StmtKind, Thread, Value,
};

/// The test with its threads.
#[must_use]
pub fn threads(test: Test) -> Litmus {
    let initial = |location: &super::Location| Decl {
        kind: DeclKind::Location { name: location.name.clone(), value: Initial::Number(location.initial) },
        span: location.name.span,
    };
    let threads = test.threads.iter().map(|thread| {
        let mut code = Code { test: &test, code: Vec::new(), names: 0 };
        code.block(&thread.code);
        Thread { number: thread.number, place: Placing::OpenCl(thread.home), span: thread.span, code: code.code }
    });
    Litmus {
        arch: Arch::OpenCl,
        name: test.name.clone(),
        about: test.about.clone(),
        init: test.locations.iter().map(initial).collect(),
        threads: threads.collect(),
        locations: test.shown.clone(),
        filter: test.filter.clone(),
        condition: test.condition.clone(),
        rsp: Some(Box::new(test)),
        ..Litmus::default()
    }
}

/// The code of a thread in the making.
struct Code<'a> {
    test: &'a Test,
    code: Vec<crate::litmus::tree::Stmt>,
    /// How many names were made. They have a blank in them, so none is in a text.
    names: u32,
}

impl Code<'_> {
    fn name(&mut self, span: Span) -> Ident {
        self.names += 1;
        Ident { name: format!("own {}", self.names), span }
    }

    fn push(&mut self, instruction: Instruction, span: Span) {
        self.code.push(crate::litmus::tree::Stmt { kind: StmtKind::Instruction(instruction), span });
    }

    fn label(&mut self, label: Ident) {
        self.code.push(crate::litmus::tree::Stmt { kind: StmtKind::Label(label.name), span: label.span });
    }

    fn access(&self, access: Access, failure: Option<MemoryOrder>, at: &Ident) -> Qualifiers {
        let location = self.test.location(&at.name);
        let (atomic, region) = location.map_or((false, Region::Global), |l| (l.atomic, l.region));
        Qualifiers::OpenCl(OpenClAccess { access, failure, atomic, region })
    }

    fn block(&mut self, code: &[Stmt]) {
        code.iter().for_each(|stmt| self.statement(&stmt.kind, stmt.span));
    }

    fn statement(&mut self, statement: &Statement, span: Span) {
        match statement {
            Statement::Load { access, to, from } => {
                let access = self.access(*access, None, from);
                self.push(Instruction::Load { access, to: to.clone(), from: from.clone() }, span);
            }
            Statement::Store { access, at, value } => {
                let access = self.access(*access, None, at);
                self.push(Instruction::Store { access, to: at.clone(), value: value.clone() }, span);
            }
            Statement::Update { access, op, to, at, value } => {
                let access = self.access(*access, None, at);
                let (to, at, value) = (to.clone(), at.clone(), value.clone());
                self.push(Instruction::Atomic { access, op: *op, to, at, value, new: None }, span);
            }
            Statement::CompareExchange { .. } => self.compare_exchange(statement, span),
            Statement::Assign { to, value } => {
                self.push(Instruction::Move { to: to.clone(), value: value.clone() }, span);
            }
            Statement::Compute { op, to, left, right } => {
                let (to, left, right) = (to.clone(), left.clone(), right.clone());
                let instruction = match *op {
                    Operation::Arith(op) => Instruction::Compute { op, to, left, right },
                    Operation::Is(relation) => Instruction::Compare { relation, to, left, right },
                };
                self.push(instruction, span);
            }
            Statement::If { relation, left, right, then, otherwise } => {
                let (other, end) = (self.name(span), self.name(span));
                let (relation, left, right) = (opposite(*relation), left.clone(), right.clone());
                self.push(Instruction::Branch { relation, left, right, to: other.clone() }, span);
                self.block(then);
                if !otherwise.is_empty() {
                    self.push(Instruction::Goto(end.clone()), span);
                }
                self.label(other);
                self.block(otherwise);
                self.label(end);
            }
        }
    }

    /// Rule of D-rsp-expected: where it fails, it is a load.
    fn compare_exchange(&mut self, statement: &Statement, span: Span) {
        let Statement::CompareExchange { access, failure, to, at, expected, new } = statement else { return };
        let expected = match expected {
            Expected::Value(value) => value.clone(),
            Expected::At(from) => {
                let register = self.name(from.span);
                let access = self.access(Access::Plain, None, from);
                self.push(Instruction::Load { access, to: register.clone(), from: from.clone() }, from.span);
                Value::Register(register)
            }
        };
        let found = self.name(span);
        let access = self.access(*access, Some(*failure), at);
        let (value, new) = (expected.clone(), Some(new.clone()));
        let swap =
            Instruction::Atomic { access, op: Atom::CasSuccess, to: Some(found.clone()), at: at.clone(), value, new };
        self.push(swap, span);
        if let Some(to) = to {
            let (left, right) = (Value::Register(found), expected);
            self.push(Instruction::Compare { relation: Relation::Eq, to: to.clone(), left, right }, span);
        }
    }
}

/// What holds where the other does not.
const fn opposite(relation: Relation) -> Relation {
    match relation {
        Relation::Eq => Relation::Ne,
        Relation::Ne => Relation::Eq,
        Relation::Lt => Relation::Ge,
        Relation::Ge => Relation::Lt,
        Relation::Gt => Relation::Le,
        Relation::Le => Relation::Gt,
    }
}
