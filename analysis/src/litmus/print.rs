//! Litmus programs as text, with one column for each thread.

use super::lockstep::Column;
use super::names::{ACCESSES, CLASSES, Kind, MAKES, ORDERS, SEMANTICS};
use super::rsp::Home;
use super::tree::{
    Access, Arch, Atom, COMPARISONS, Cond, DeclKind, Initial, Instruction, Litmus, Placing, PtxAccess, Reach, Relation,
    Semantics, StmtKind, Term, TermKind, Value, VulkanAccess, thread_name,
};
use std::fmt::{Display, Formatter, Result, Write};

/// A program's text: what [`parse`](super::parse()) reads as the same program.
#[must_use]
pub fn print(litmus: &Litmus) -> String {
    if let Some(test) = &litmus.rsp {
        return super::rsp::print(test);
    }
    let mut out = format!("{} {}\n", litmus.arch.name(), litmus.name);
    if !litmus.about.is_empty() {
        out.push_str(&litmus.about);
        out.push('\n');
    }
    out.push_str("{\n");
    for decl in &litmus.init {
        out.push_str(&declaration(&decl.kind, litmus.arch));
        out.push_str(";\n");
    }
    out.push_str("}\n");
    if !litmus.ssw.is_empty() {
        let list = litmus.ssw.iter().map(|pair| format!("ssw {} {};\n", pair.kind.0, pair.kind.1));
        let _ = writeln!(out, "{{\n{}}}", list.collect::<String>());
    }
    match &litmus.lockstep {
        Some(program) => out.push_str(&super::lockstep::print(program)),
        None => rows(litmus, &mut out),
    }
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

fn declaration(decl: &DeclKind, arch: Arch) -> String {
    let initial = |value: &Initial, address: &str| match value {
        Initial::Number(n) => n.to_string(),
        Initial::Of(ident) => format!("{address}{}", ident.name),
    };
    match decl {
        DeclKind::Location { name, value } => format!("{}={}", name.name, initial(value, "")),
        DeclKind::Register { thread, name, value, .. } => {
            format!("{}:{}={}", thread_name(*thread), name.name, initial(value, "&"))
        }
        DeclKind::Alias { name, of, .. } if arch == Arch::Vulkan => format!("{} aliases {}", name.name, of.name),
        DeclKind::Alias { name, proxy, of } => format!("{} @ {} aliases {}", name.name, proxy.name(), of.name),
    }
}

/// The threads' heads and their code, in columns.
fn rows(litmus: &Litmus, out: &mut String) {
    let heads = litmus.threads.iter().map(|t| format!("P{}@{}", t.number, t.place));
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

impl Display for Placing {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Ptx { cta, gpu } => write!(f, "cta {cta},gpu {gpu}"),
            Self::Vulkan { subgroup, workgroup, queue_family } => {
                write!(f, "sg {subgroup},wg {workgroup},qf {queue_family}")
            }
            Self::OpenCl(Home { device, group }) => write!(f, "device {device},work_group {group}"),
            Self::Lockstep(column) => column.fmt(f),
        }
    }
}

impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Load { access, to, from } => write!(f, "{} {}, {}", name(access, Kind::Load), to.name, from.name),
            Self::Store { access, to, value } => write!(f, "{} {}, {value}", name(access, Kind::Store), to.name),
            Self::Move { to, value } => write!(f, "ld {}, {value}", to.name),
            Self::Compute { op, to, left, right } => {
                write!(f, "{} {}, {left}, {right}", op.name(), to.name)
            }
            // What OpenCL's programs come to is never a file: this is for messages of ours.
            Self::Compare { relation, to, left, right } => write!(f, "{} = {left} {relation} {right}", to.name),
            Self::Atomic { access, op, to, at, value, new } => {
                let kind = if to.is_some() { Kind::Atomic } else { Kind::Reduce };
                write!(f, "{}{} ", name(access, kind), operation(access, *op))?;
                if let Some(to) = to {
                    write!(f, "{}, ", to.name)?;
                }
                write!(f, "{}, {value}", at.name)?;
                new.as_ref().map_or(Ok(()), |new| write!(f, ", {new}"))
            }
            Self::Fence { order, scope } => write!(f, "fence.{}.{}", order.name(), scope.name()),
            Self::ProxyFence(None) => f.write_str("fence.proxy.alias"),
            Self::ProxyFence(Some(proxy)) => write!(f, "fence.proxy.{}", proxy.name()),
            Self::Membar { scope, semantics } => {
                write!(f, "membar{}.{}{semantics}", order(*semantics), scope.name())
            }
            Self::AvDevice => f.write_str("avdevice"),
            Self::VisDevice => f.write_str("visdevice"),
            Self::Barrier { waits, instance, barrier, quorum, fence } => {
                match fence {
                    Some((scope, semantics)) => write!(f, "cbar{}.{}{semantics}", order(*semantics), scope.name())?,
                    None => write!(f, "bar.cta.{}", if *waits { "sync" } else { "arrive" })?,
                }
                write!(f, " {instance}")?;
                [barrier, quorum].into_iter().flatten().try_for_each(|v| write!(f, ", {v}"))
            }
            Self::Goto(to) => write!(f, "goto {}", to.name),
            Self::Branch { relation, left, right, to } => {
                write!(f, "{} {left}, {right}, {}", relation.name(), to.name)
            }
        }
    }
}

/// The name of an access with its qualifiers, up to the operation of an atomic one.
fn name(access: &Access, kind: Kind) -> String {
    match access {
        Access::Ptx(access) => {
            let found = ACCESSES.iter().find(|(_, proxy, of)| (*proxy, *of) == (access.proxy, kind));
            format!("{}{access}", found.map_or("", |(name, ..)| name))
        }
        Access::Vulkan(access) => {
            let (name, coherent) = match kind {
                Kind::Load => ("ld", "vis"),
                Kind::Store => ("st", "av"),
                Kind::Atomic | Kind::Reduce => ("rmw", ""),
            };
            format!("{name}{}", qualifiers(*access, coherent))
        }
        Access::OpenCl(access) => format!("{:?}", access.access),
    }
}

/// The qualifiers of an access of Vulkan, which makes its location `coherent` in one way.
fn qualifiers(access: VulkanAccess, coherent: &str) -> String {
    let VulkanAccess { reach, class, semantics } = access;
    let reach = match reach {
        Reach::Private => String::new(),
        Reach::NonPrivate => ".nonpriv".to_owned(),
        Reach::Coherent(scope) => format!(".{coherent}.{}", scope.name()),
        Reach::Atomic(scope) => format!(".atom{}.{}", order(semantics), scope.name()),
    };
    format!("{reach}.{}{semantics}", CLASSES.get(usize::from(class)).unwrap_or(&""))
}

/// The operation of an atomic access. Vulkan's exchange has none.
fn operation(access: &Access, op: Atom) -> String {
    match (access, op) {
        (Access::Vulkan(_), Atom::Exch) => String::new(),
        (Access::Vulkan(_), Atom::CasSuccess) => format!(".{}", Atom::Cas.name()),
        _ => format!(".{}", op.name()),
    }
}

/// An order of Vulkan, nothing where none is given.
fn order(semantics: Semantics) -> String {
    let found = ORDERS.iter().find(|(_, order)| *order == semantics.order);
    found.map_or_else(String::new, |(name, _)| format!(".{name}"))
}

/// What the order is about.
impl Display for Semantics {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let classes = (0u8..).zip(SEMANTICS).map(|(class, word)| (self.is_about(class), word));
        let makes = [self.available, self.visible].into_iter().zip(MAKES);
        classes.chain(makes).filter(|(there, _)| *there).try_for_each(|(_, word)| write!(f, ".{word}"))
    }
}

impl Display for PtxAccess {
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

impl Display for TermKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Register { thread, name } => match Column::of(*thread) {
                Some(column) => write!(f, "{column}:{name}"),
                None => write!(f, "{thread}:{name}"),
            },
            Self::Location { name, element: 0 } => f.write_str(name),
            Self::Location { name, element } => write!(f, "{name}[{element}]"),
            Self::Number(n) => write!(f, "{n}"),
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
