//! Litmus programs as text, with one column for each thread.

use super::names::{ACCESSES, Kind};
use super::tree::{
    Access, COMPARISONS, Cond, DeclKind, Initial, Instruction, Litmus, Relation, StmtKind, Term, TermKind, Value,
};
use std::fmt::{Display, Formatter, Result, Write};

/// A program's text: what [`parse`](super::parse()) reads as the same program.
#[must_use]
pub fn print(litmus: &Litmus) -> String {
    let mut out = format!("PTX {}\n", litmus.name);
    if !litmus.about.is_empty() {
        out.push_str(&litmus.about);
        out.push('\n');
    }
    out.push_str("{\n");
    for decl in &litmus.init {
        out.push_str(&declaration(&decl.kind));
        out.push_str(";\n");
    }
    out.push_str("}\n");
    rows(litmus, &mut out);
    if !litmus.locations.is_empty() {
        let list: Vec<String> = litmus.locations.iter().map(Term::to_string).collect();
        let _ = writeln!(out, "locations [{}]", list.join("; "));
    }
    if let Some(filter) = &litmus.filter {
        let _ = writeln!(out, "filter {filter}");
    }
    if let Some(asked) = &litmus.condition {
        let _ = writeln!(out, "{} {}", asked.quantifier.name(), asked.cond);
        if !asked.expected.is_empty() {
            out.push_str("with\n");
        }
        for e in &asked.expected {
            let _ = writeln!(out, "{}: {};", e.model.name, if e.exists { "exists" } else { "~exists" });
        }
    }
    out
}

fn declaration(decl: &DeclKind) -> String {
    let initial = |value: &Initial, address: &str| match value {
        Initial::Number(n) => n.to_string(),
        Initial::Of(ident) => format!("{address}{}", ident.name),
    };
    match decl {
        DeclKind::Location { name, value } => format!("{}={}", name.name, initial(value, "")),
        DeclKind::Register { thread, name, value, .. } => {
            format!("P{thread}:{}={}", name.name, initial(value, "&"))
        }
        DeclKind::Alias { name, proxy, of } => format!("{} @ {} aliases {}", name.name, proxy.name(), of.name),
    }
}

/// The threads' heads and their code, in columns.
fn rows(litmus: &Litmus, out: &mut String) {
    let heads = litmus.threads.iter().map(|t| format!("P{}@cta {},gpu {}", t.number, t.cta, t.gpu));
    let columns: Vec<Vec<String>> = heads
        .zip(&litmus.threads)
        .map(|(head, t)| [head].into_iter().chain(t.code.iter().map(cell)).collect())
        .collect();
    let widths: Vec<usize> = columns.iter().map(|c| c.iter().map(String::len).max().unwrap_or(0)).collect();
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        let cells = columns.iter().zip(&widths);
        let cells = cells.map(|(c, w)| format!(" {:w$} ", c.get(row).map_or("", String::as_str), w = *w));
        out.push_str(&cells.collect::<Vec<_>>().join("|"));
        out.push_str(";\n");
    }
}

fn cell(stmt: &super::tree::Stmt) -> String {
    match &stmt.kind {
        StmtKind::Label(name) => format!("{name}:"),
        StmtKind::Instruction(i) => i.to_string(),
    }
}

impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Load { access, to, from } => {
                write!(f, "{}{access} {}, {}", name(access, Kind::Load), to.name, from.name)
            }
            Self::Store { access, to, value } => {
                write!(f, "{}{access} {}, {value}", name(access, Kind::Store), to.name)
            }
            Self::Move { to, value } => write!(f, "ld {}, {value}", to.name),
            Self::Compute { op, to, left, right } => {
                write!(f, "{} {}, {left}, {right}", op.name(), to.name)
            }
            Self::Atomic { access, op, to, at, value, new } => {
                let kind = if to.is_some() { Kind::Atomic } else { Kind::Reduce };
                write!(f, "{}{access}.{} ", name(access, kind), op.name())?;
                if let Some(to) = to {
                    write!(f, "{}, ", to.name)?;
                }
                write!(f, "{}, {value}", at.name)?;
                new.as_ref().map_or(Ok(()), |new| write!(f, ", {new}"))
            }
            Self::Fence { order, scope } => write!(f, "fence.{}.{}", order.name(), scope.name()),
            Self::ProxyFence(None) => f.write_str("fence.proxy.alias"),
            Self::ProxyFence(Some(proxy)) => write!(f, "fence.proxy.{}", proxy.name()),
            Self::Barrier { waits, instance, barrier, quorum } => {
                write!(f, "bar.cta.{} {instance}", if *waits { "sync" } else { "arrive" })?;
                [barrier, quorum].into_iter().flatten().try_for_each(|v| write!(f, ", {v}"))
            }
            Self::Goto(to) => write!(f, "goto {}", to.name),
            Self::Branch { relation, left, right, to } => {
                write!(f, "{} {left}, {right}, {}", relation.name(), to.name)
            }
        }
    }
}

/// The name of an access.
fn name(access: &Access, kind: Kind) -> &'static str {
    ACCESSES.iter().find(|(_, proxy, of)| (*proxy, *of) == (access.proxy, kind)).map_or("", |(name, ..)| name)
}

impl Display for Access {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, ".{}", self.order.name())?;
        self.scope.map_or(Ok(()), |scope| write!(f, ".{}", scope.name()))
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Number(n, _) => write!(f, "{n}"),
            Self::Register(ident) => f.write_str(&ident.name),
        }
    }
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            TermKind::Register { thread, name } => write!(f, "{thread}:{name}"),
            TermKind::Location { name, element: 0 } => f.write_str(name),
            TermKind::Location { name, element } => write!(f, "{name}[{element}]"),
            TermKind::Number(n) => write!(f, "{n}"),
        }
    }
}

impl Display for Relation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(COMPARISONS.iter().find(|(_, relation)| relation == self).map_or("", |(text, _)| text))
    }
}

impl Display for Cond {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let join = |list: &[Self], f: &mut Formatter<'_>, with: &str| {
            f.write_char('(')?;
            for (k, cond) in list.iter().enumerate() {
                write!(f, "{}{cond}", if k > 0 { with } else { "" })?;
            }
            f.write_char(')')
        };
        match self {
            Self::Compare(left, relation, right) => write!(f, "{left} {relation} {right}"),
            Self::Not(inner) => match **inner {
                Self::Compare(..) => write!(f, "~({inner})"),
                _ => write!(f, "~{inner}"),
            },
            Self::And(list) => join(list, f, " /\\ "),
            Self::Or(list) => join(list, f, " \\/ "),
        }
    }
}
