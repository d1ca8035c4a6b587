//! The names of a litmus program: every thread, register, location and label that is named is there, once.
//!
//! Memory that is accessed without having been declared begins at zero, as in herd. A name in the place of an address is
//! a location, unless it is no declared one and the thread has a register of that name, which then holds an address.

use super::error::LitmusErrorKind as K;
use super::lockstep::{Op, Program};
use super::tree::{Arch, DeclKind, Ident, Initial, Litmus, StmtKind, Term, TermKind, Thread, Value};
use crate::base::Span;
use indexmap::{IndexMap, IndexSet};

type Errors = Vec<(K, Span)>;

/// What is named in a program.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    /// Declared locations and aliases, with the places of their names.
    pub(super) declared: IndexMap<&'a str, Span>,
    /// Every location: the declared ones, then those that are only accessed.
    pub(super) locations: IndexSet<&'a str>,
    /// The registers of each thread, by its position.
    pub(super) registers: Vec<IndexSet<&'a str>>,
}

impl<'a> Names<'a> {
    /// The names of a program.
    pub(super) fn of(litmus: &'a Litmus) -> Self {
        let mut names = Self { registers: vec![IndexSet::new(); litmus.threads.len()], ..Self::default() };
        for decl in &litmus.init {
            match &decl.kind {
                DeclKind::Location { name, .. } | DeclKind::Alias { name, .. } => {
                    names.declared.entry(&name.name).or_insert(name.span);
                    names.locations.insert(&name.name);
                }
                DeclKind::Register { thread, name, .. } => {
                    if let Some(registers) = litmus.thread(*thread).and_then(|k| names.registers.get_mut(k)) {
                        registers.insert(&name.name);
                    }
                }
            }
        }
        for (thread, registers) in litmus.threads.iter().zip(&mut names.registers) {
            for (instruction, _) in thread.instructions() {
                let named = instruction.target().into_iter().chain(instruction.reads());
                registers.extend(named.map(|ident| ident.name.as_str()));
            }
            for (address, _) in thread.instructions().filter_map(|(i, _)| i.address()) {
                if names.declared.contains_key(address.name.as_str()) || !registers.contains(address.name.as_str()) {
                    names.locations.insert(&address.name);
                }
            }
        }
        let Some(program) = &litmus.lockstep else { return names };
        for (k, registers) in names.registers.iter_mut().enumerate() {
            for op in program.cells(k).map(|cell| &cell.kind) {
                registers.extend(op.target().map(|ident| ident.name.as_str()));
                registers.extend(named(op).map(|ident| ident.name.as_str()));
            }
        }
        let spots = program.rows.iter().flatten().flatten().filter_map(|cell| cell.kind.spot());
        names.locations.extend(spots.map(|spot| spot.location.name.as_str()));
        names
    }

    /// Whether a name in the place of an address is a register of the thread at a position, which holds one.
    pub(super) fn is_pointer(&self, thread: usize, name: &str) -> bool {
        !self.declared.contains_key(name) && self.registers.get(thread).is_some_and(|r| r.contains(name))
    }
}

/// Complains about names.
pub(super) fn check(litmus: &Litmus, errors: &mut Errors) {
    let names = Names::of(litmus);
    for (k, thread) in litmus.threads.iter().enumerate() {
        let twice = || litmus.threads.iter().take(k).find(|t| t.number == thread.number);
        if let Some(first) = twice().filter(|_| litmus.lockstep.is_none()) {
            errors.push((K::ThreadTwice(first.span), thread.span));
        }
    }
    if let Some(program) = &litmus.lockstep {
        lockstep(program, &names, errors);
    }
    initial(litmus, &names, errors);
    for pair in &litmus.ssw {
        let missing = [pair.kind.0, pair.kind.1].into_iter().find(|number| litmus.thread(*number).is_none());
        errors.extend(missing.map(|number| (no_thread(litmus, number), pair.span)));
    }
    for thread in &litmus.threads {
        registers(thread, litmus.arch, &names, errors);
        labels(thread, errors);
    }
    for each in litmus.terms() {
        term(each, litmus, &names, errors);
    }
}

/// The registers that an instruction of a wavefront reads.
fn named(op: &Op) -> impl Iterator<Item = &Ident> {
    op.values().filter_map(|value| match value {
        Value::Register(ident) => Some(ident),
        Value::Number(..) => None,
    })
}

/// Of wavefronts: registers have no names of locations, and what else has to fit together.
fn lockstep(program: &Program, names: &Names<'_>, errors: &mut Errors) {
    for op in program.rows.iter().flatten().flatten().map(|cell| &cell.kind) {
        let location = |ident: &&Ident| names.locations.contains(ident.name.as_str());
        errors.extend(op.target().filter(location).map(|to| (K::RegisterIsLocation, to.span)));
        errors.extend(named(op).filter(location).map(|ident| (K::LocationAsValue(Arch::Lockstep), ident.span)));
    }
    super::lockstep::check(program, errors);
}

fn no_thread(litmus: &Litmus, number: u32) -> K {
    K::NoThread { number, known: litmus.threads.iter().map(|t| t.number).collect() }
}

fn initial(litmus: &Litmus, names: &Names<'_>, errors: &mut Errors) {
    let mut registers: IndexMap<(u32, &str), Span> = IndexMap::new();
    let mut earlier: IndexSet<&str> = IndexSet::new();
    for decl in &litmus.init {
        let (name, of) = match &decl.kind {
            DeclKind::Location { value: Initial::Number(_), name } => (name, None),
            DeclKind::Location { value: Initial::Of(of), name } | DeclKind::Alias { name, of, .. } => (name, Some(of)),
            DeclKind::Register { thread, at, name, value } => {
                if litmus.thread(*thread).is_none() {
                    errors.push((no_thread(litmus, *thread), *at));
                }
                if let Some(first) = registers.insert((*thread, &name.name), name.span) {
                    errors.push((K::Twice(first), name.span));
                }
                // An address may be that of memory which no declaration names.
                match value {
                    Initial::Of(of) if !names.locations.contains(of.name.as_str()) => {
                        errors.push((no_location(names.locations.iter().copied()), of.span));
                    }
                    _ => {}
                }
                continue;
            }
        };
        if !earlier.insert(&name.name) {
            errors.push((K::Twice(names.declared[name.name.as_str()]), name.span));
        }
        // A value or an alias is taken of what stands before it, so that there is no circle.
        if let Some(of) = of
            && (!earlier.contains(of.name.as_str()) || earlier.last() == Some(&of.name.as_str()))
        {
            let known = earlier.iter().copied().take(earlier.len() - 1);
            errors.push((no_location(known), of.span));
        }
    }
}

fn no_location<'a>(known: impl Iterator<Item = &'a str>) -> K {
    K::NoLocation { known: known.map(str::to_owned).collect() }
}

/// Registers have no names of locations.
fn registers(thread: &Thread, arch: Arch, names: &Names<'_>, errors: &mut Errors) {
    for (instruction, _) in thread.instructions() {
        if let Some(to) = instruction.target().filter(|to| names.declared.contains_key(to.name.as_str())) {
            errors.push((K::RegisterIsLocation, to.span));
        }
        let locations = instruction.reads().filter(|ident| names.declared.contains_key(ident.name.as_str()));
        errors.extend(locations.map(|ident| (K::LocationAsValue(arch), ident.span)));
    }
}

fn labels(thread: &Thread, errors: &mut Errors) {
    let mut labels: IndexMap<&str, Span> = IndexMap::new();
    for stmt in &thread.code {
        if let StmtKind::Label(name) = &stmt.kind {
            match labels.get(name.as_str()) {
                Some(first) => errors.push((K::LabelTwice(*first), stmt.span)),
                None => drop(labels.insert(name, stmt.span)),
            }
        }
    }
    for to in thread.instructions().filter_map(|(i, _)| i.label()) {
        if !labels.contains_key(to.name.as_str()) {
            let known = labels.keys().map(|l| (*l).to_owned()).collect();
            errors.push((K::NoLabel { thread: thread.number, known }, to.span));
        }
    }
}

fn term(term: &Term, litmus: &Litmus, names: &Names<'_>, errors: &mut Errors) {
    match &term.kind {
        TermKind::Register { thread, name } => match litmus.thread(*thread).and_then(|k| names.registers.get(k)) {
            None => errors.push((no_thread(litmus, *thread), term.span)),
            Some(registers) if !registers.contains(name.as_str()) => {
                let known = registers.iter().map(|r| (*r).to_owned()).collect();
                errors.push((K::NoRegister { thread: *thread, known }, term.span));
            }
            Some(_) => {}
        },
        TermKind::Location { name, element } => {
            if !names.locations.contains(name.as_str()) {
                errors.push((no_location(names.locations.iter().copied()), term.span));
            } else if *element > 0 {
                errors.push((K::Element, term.span));
            }
        }
        TermKind::Number(_) => {}
    }
}
