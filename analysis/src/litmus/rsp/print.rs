//! Programs as text, in the form that they have.

use super::{Access, Expected, Form, Location, MemoryOrder, MemoryScope, Operation, Statement, Stmt, Test};
use crate::litmus::tree::{Arith, Atom, Condition, Ident, Value};
use std::fmt::Write;

/// A program's text: what [`parse`](crate::litmus::parse()) reads as the same program.
#[must_use]
pub fn print(test: &Test) -> String {
    let mut out = format!("{} {}\n", test.form.name(), test.name);
    if !test.about.is_empty() {
        let _ = writeln!(out, "{}", test.about);
    }
    out.push_str("{\n");
    for location in &test.locations {
        let _ = writeln!(out, "  [{}]={};", location.name.name, location.initial);
    }
    out.push_str("}\n");
    match test.form {
        Form::OpenCl => functions(test, &mut out),
        Form::Lists => lists(test, &mut out),
    }
    if !test.shown.is_empty() {
        let list: Vec<String> = test.shown.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "locations [{}]", list.join("; "));
    }
    if let Some(filter) = &test.filter {
        let _ = writeln!(out, "filter {filter}");
    }
    if let Some(asked) = &test.condition {
        asks(asked, &mut out);
    }
    out
}

fn asks(asked: &Condition, out: &mut String) {
    let _ = writeln!(out, "{} {}", asked.quantifier.name(), asked.cond);
    if !asked.expected.is_empty() {
        out.push_str("with\n");
    }
    for e in &asked.expected {
        let _ = writeln!(out, "{}: {};", e.model.name, if e.exists { "exists" } else { "~exists" });
    }
}

fn functions(test: &Test, out: &mut String) {
    let parameter = |location: &Location| {
        let ty = if location.atomic { "atomic_int" } else { "int" };
        format!("{} {ty}* {}", location.region.name(), location.name.name)
    };
    let parameters: Vec<String> = test.locations.iter().map(parameter).collect();
    for thread in &test.threads {
        let _ = writeln!(out, "P{} ({}) {{", thread.number, parameters.join(", "));
        block(&thread.code, Form::OpenCl, 1, out);
        out.push_str("}\n");
    }
    out.push_str("scopeTree");
    for device in test.lists() {
        out.push_str(" (device");
        for group in device {
            let threads: Vec<String> = group.iter().map(|k| format!("P{}", test.threads[*k].number)).collect();
            let _ = write!(out, " (work_group {})", threads.join(" "));
        }
        out.push(')');
    }
    out.push('\n');
}

/// In lists threads have no numbers but their places.
fn lists(test: &Test, out: &mut String) {
    for (d, device) in test.lists().iter().enumerate() {
        for (g, group) in device.iter().enumerate() {
            for (t, thread) in group.iter().enumerate() {
                out.push_str(match (d, g, t) {
                    (0, 0, 0) => "",
                    (_, 0, 0) => "||||\n",
                    (_, _, 0) => "|||\n",
                    _ => "||\n",
                });
                block(&test.threads[*thread].code, Form::Lists, 1, out);
            }
        }
    }
}

fn block(code: &[Stmt], form: Form, depth: usize, out: &mut String) {
    for stmt in code {
        statement(&stmt.kind, form, depth, out);
    }
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
}

fn statement(statement: &Statement, form: Form, depth: usize, out: &mut String) {
    indent(depth, out);
    if let Statement::If { relation, left, right, then, otherwise } = statement {
        let relation = if relation.to_string() == "=" { "==".to_owned() } else { relation.to_string() };
        let _ = writeln!(out, "if ({left} {relation} {right}) {{");
        block(then, form, depth + 1, out);
        indent(depth, out);
        out.push('}');
        if !otherwise.is_empty() {
            out.push_str(" else {\n");
            block(otherwise, form, depth + 1, out);
            indent(depth, out);
            out.push('}');
        }
        out.push('\n');
        return;
    }
    let line = match statement {
        Statement::Load { access: Access::Plain, to, from } => match form {
            Form::OpenCl => format!("{} = *{}", to.name, from.name),
            Form::Lists => format!("{} = load_na({})", to.name, from.name),
        },
        Statement::Store { access: Access::Plain, at, value } => match form {
            Form::OpenCl => format!("*{} = {value}", at.name),
            Form::Lists => format!("store_na({}, {value})", at.name),
        },
        Statement::Assign { to, value } => format!("{} = {value}", to.name),
        Statement::Compute { op, to, left, right } => format!("{} = {left} {} {right}", to.name, symbol(*op)),
        atomic => call(atomic, form),
    };
    let _ = writeln!(out, "{line};");
}

/// How an operation is written.
fn symbol(op: Operation) -> String {
    match op {
        Operation::Arith(Arith::Sub) => "-".to_owned(),
        Operation::Arith(_) => "+".to_owned(),
        Operation::Is(relation) if relation.to_string() == "=" => "==".to_owned(),
        Operation::Is(relation) => relation.to_string(),
    }
}

/// An atomic statement: a call.
fn call(statement: &Statement, form: Form) -> String {
    let (name, access, to, arguments, failure): (&str, Access, Option<&Ident>, Vec<String>, Option<MemoryOrder>) =
        match statement {
            Statement::Load { access, to, from } => ("load", *access, Some(to), vec![from.name.clone()], None),
            Statement::Store { access, at, value } => {
                ("store", *access, None, vec![at.name.clone(), value.to_string()], None)
            }
            Statement::Update { access, op, to, at, value } => {
                ("update", *access, to.as_ref(), update(*op, at, value, form), None)
            }
            Statement::CompareExchange { access, failure, to, at, expected, new } => {
                let expected = match expected {
                    Expected::At(from) => from.name.clone(),
                    Expected::Value(value) => value.to_string(),
                };
                let arguments = vec![at.name.clone(), expected, new.to_string()];
                ("compare_exchange", *access, to.as_ref(), arguments, Some(*failure))
            }
            Statement::Assign { .. } | Statement::Compute { .. } | Statement::If { .. } => return String::new(),
        };
    let Access::Atomic { order, scope, remote } = access else { return String::new() };
    let target = to.map_or_else(String::new, |to| format!("{} = ", to.name));
    let name = match statement {
        Statement::Update { op, .. } => match form {
            Form::OpenCl => function(*op),
            Form::Lists => "fetch_inc",
        },
        Statement::CompareExchange { .. } if form == Form::OpenCl => "compare_exchange_strong",
        _ => name,
    };
    match form {
        Form::OpenCl => {
            let mut all = arguments;
            all.push(order.name().to_owned());
            all.extend(failure.map(|failure| failure.name().to_owned()));
            all.push(MemoryScope::constant(scope).to_owned());
            let remote = if remote { "_remote" } else { "" };
            format!("{target}atomic_{name}_explicit{remote}({})", all.join(", "))
        }
        Form::Lists => {
            let mark = if remote { "_R" } else { "_N" };
            format!("{target}{name}_{}{mark}({})", scope.name(), arguments.join(", "))
        }
    }
}

fn update(op: Atom, at: &Ident, value: &Value, form: Form) -> Vec<String> {
    let _ = op;
    match form {
        Form::OpenCl => vec![at.name.clone(), value.to_string()],
        Form::Lists => vec![at.name.clone()],
    }
}

/// The middle of the name of OpenCL's function for an update.
const fn function(op: Atom) -> &'static str {
    match op {
        Atom::Sub => "fetch_sub",
        Atom::And => "fetch_and",
        Atom::Or => "fetch_or",
        Atom::Xor => "fetch_xor",
        Atom::Exch => "exchange",
        _ => "fetch_add",
    }
}
