//! The functions of both forms.

use super::flatten::Block;
use super::statement::{Call, Term, TermKind};
use crate::base::Span;
use crate::litmus::error::{Expected as Wanted, LitmusErrorKind as K};
use crate::litmus::rsp::{
    Access, Does, Expected, Form, LISTS, MemoryOrder as Order, MemoryScope as Scope, OPENCL, Statement,
};
use crate::litmus::tree::{Ident, Value};

impl Does {
    /// How many arguments it has.
    const fn arguments(self, form: Form) -> usize {
        match (form, self) {
            (Form::OpenCl, Self::Load) | (Form::Lists, Self::CompareExchange) => 3,
            (Form::OpenCl, Self::Store | Self::Update(_)) => 4,
            (Form::OpenCl, Self::CompareExchange) => 6,
            (Form::Lists, Self::Load | Self::Update(_)) => 1,
            (Form::Lists, Self::Store) => 2,
        }
    }

    /// The orders that it can have (OpenCL C 6.15.12.4).
    const fn orders(self) -> &'static [Order] {
        match self {
            Self::Load => &[Order::Relaxed, Order::Acquire, Order::SeqCst],
            Self::Store => &[Order::Relaxed, Order::Release, Order::SeqCst],
            Self::Update(_) | Self::CompareExchange => Order::ALL,
        }
    }

    /// The order that the paper's functions have: figure 2.
    const fn usual(self) -> Order {
        match self {
            Self::Load => Order::Acquire,
            Self::Store => Order::Release,
            Self::Update(_) | Self::CompareExchange => Order::AcqRel,
        }
    }
}

/// Orders that a failing compare-exchange can have: those of a load that are not stronger than where it succeeds.
const fn failures(success: Order) -> &'static [Order] {
    match success {
        Order::Relaxed | Order::Release => &[Order::Relaxed],
        Order::Acquire | Order::AcqRel => &[Order::Relaxed, Order::Acquire],
        Order::SeqCst => &[Order::Relaxed, Order::Acquire, Order::SeqCst],
    }
}

/// The function of a name: what it does; of the paper's, for whom, and whether remote. No scope: not atomic.
fn function(name: &str, form: Form) -> Option<(Does, Option<Scope>, bool)> {
    match form {
        Form::OpenCl => {
            let (name, remote) = name.strip_suffix("_remote").map_or((name, false), |name| (name, true));
            OPENCL.iter().find(|(known, _)| *known == name).map(|(_, does)| (*does, None, remote))
        }
        Form::Lists => LISTS.iter().find_map(|(known, does)| {
            let mut words = name.strip_prefix(known)?.strip_prefix('_')?.split('_');
            let first = words.next()?;
            if first == "na" {
                let plain = matches!(does, Does::Load | Does::Store) && words.next().is_none();
                return plain.then_some((*does, None, false));
            }
            let remote = match (words.next(), words.next()) {
                (None | Some("N"), None) => false,
                (Some("R"), None) => true,
                _ => return None,
            };
            Some((*does, Some(Scope::named(first)?), remote))
        }),
    }
}

/// Arguments, one after another.
struct Arguments<'a>(std::slice::Iter<'a, Term>);

impl<'a> Arguments<'a> {
    /// The next one; there are as many as were counted.
    fn next(&mut self) -> Option<&'a Term> {
        self.0.next()
    }

    fn location(&mut self, block: &mut Block<'_>) -> Option<Ident> {
        let term = self.next()?;
        match &term.kind {
            TermKind::Name(name) => Some(Ident { name: name.clone(), span: term.span }),
            _ => {
                block.errors.push((K::Argument { wanted: Wanted::Location }, term.span));
                None
            }
        }
    }

    fn value(&mut self, block: &mut Block<'_>) -> Option<Value> {
        self.next().map(|term| block.value(term))
    }

    /// One of some constants.
    fn constant<T: Copy>(&mut self, block: &mut Block<'_>, of: &[T], name: fn(T) -> &'static str) -> Option<T> {
        let term = self.next()?;
        let found = match &term.kind {
            TermKind::Name(word) => of.iter().copied().find(|one| name(*one) == *word),
            _ => None,
        };
        if found.is_none() {
            let allowed = of.iter().map(|one| name(*one)).collect();
            block.errors.push((K::Constant { allowed }, term.span));
        }
        found
    }
}

impl Block<'_> {
    /// A call becomes a statement, whose result goes to a register.
    pub(super) fn call(&mut self, of: &Call, to: Option<Ident>, span: Span) {
        call(self, of, to, span);
    }
}

/// Adds what a call does; its result goes to a register, where it is wanted.
fn call(block: &mut Block<'_>, call: &Call, to: Option<Ident>, span: Span) {
    let form = block.flat.form;
    let Some((does, scope, remote)) = function(&call.name.name, form) else {
        block.errors.push((K::Function(form), call.name.span));
        return;
    };
    if call.arguments.len() != does.arguments(form) {
        let found = call.arguments.len();
        block.errors.push((K::Arguments { form: does.written(form), found }, call.name.span));
        return;
    }
    if does == Does::Store && to.is_some() {
        block.errors.push((K::NoResult, call.name.span));
        return;
    }
    let arguments = Arguments(call.arguments.iter());
    let made = match form {
        Form::OpenCl => opencl(block, does, remote, arguments, to),
        Form::Lists => lists(block, does, scope.map(|scope| (scope, remote)), arguments, to, call.name.span),
    };
    if let Some(statement) = made {
        if let Some((at, access)) = statement.address() {
            let at = at.clone();
            block.location(&at, access);
        }
        if let Statement::CompareExchange { expected: Expected::At(at), .. } = &statement {
            block.location(at, Access::Plain);
        }
        block.push(statement, span);
    }
}

/// A register for a result: one that nobody reads, where there is none.
fn result(block: &Block<'_>, to: Option<Ident>, span: Span) -> Ident {
    to.unwrap_or_else(|| block.flat.register(span))
}

fn opencl(
    block: &mut Block<'_>,
    does: Does,
    remote: bool,
    mut arguments: Arguments<'_>,
    to: Option<Ident>,
) -> Option<Statement> {
    let at = arguments.location(block)?;
    let expected = if does == Does::CompareExchange { Some(arguments.location(block)?) } else { None };
    let value = if does == Does::Load { None } else { Some(arguments.value(block)?) };
    let order = arguments.constant(block, does.orders(), Order::name)?;
    let failure = match expected {
        Some(_) => arguments.constant(block, failures(order), Order::name)?,
        None => order,
    };
    let scope = arguments.constant(block, Scope::ALL, Scope::constant)?;
    let access = Access::Atomic { order, scope, remote };
    Some(match (does, value) {
        (Does::Store, Some(value)) => Statement::Store { access, at, value },
        (Does::Update(op), Some(value)) => Statement::Update { access, op, to, at, value },
        (Does::CompareExchange, Some(new)) => {
            Statement::CompareExchange { access, failure, to, at, expected: Expected::At(expected?), new }
        }
        _ => Statement::Load { access, to: result(block, to, at.span), from: at },
    })
}

fn lists(
    block: &mut Block<'_>,
    does: Does,
    scope: Option<(Scope, bool)>,
    mut arguments: Arguments<'_>,
    to: Option<Ident>,
    span: Span,
) -> Option<Statement> {
    let at = arguments.location(block)?;
    let access = match scope {
        Some((scope, remote)) => Access::Atomic { order: does.usual(), scope, remote },
        None => Access::Plain,
    };
    Some(match does {
        Does::Load => Statement::Load { access, to: result(block, to, at.span), from: at },
        Does::Store => Statement::Store { access, at, value: arguments.value(block)? },
        Does::Update(op) => Statement::Update { access, op, to, at, value: Value::Number(1, span) },
        Does::CompareExchange => {
            let expected = Expected::Value(arguments.value(block)?);
            let new = arguments.value(block)?;
            Statement::CompareExchange { access, failure: Order::Acquire, to, at, expected, new }
        }
    })
}
