//! Programs with remote-scope promotion: the frames of both forms. What stands between is read by [`statement`], its functions by
//! [`function`], and [`flatten`] makes statements of the tree of it.

mod comments;
mod flatten;
mod function;
mod statement;

pub(super) use comments::blank;

use super::Reader;
use super::token::Kind;
use crate::base::Span;
use crate::litmus::error::{Expected, LitmusErrorKind as K};
use crate::litmus::rsp::{Form, Home, Location, Region, Test, Thread};
use crate::litmus::tree::Ident;
use flatten::Flat;
use statement::Raw;

/// A parameter of a thread's function: a location and what its type says of it.
struct Parameter {
    name: Ident,
    atomic: bool,
    region: Region,
}

/// A thread as it is read.
struct Function {
    number: u32,
    span: Span,
    parameters: Vec<Parameter>,
    code: Vec<Raw>,
}

impl Reader<'_> {
    /// A whole program from its `{` on.
    pub(super) fn rsp(&mut self, test: &mut Test) -> Option<()> {
        for (name, initial) in self.block(Self::begins_with)?.into_iter().map(|part| part.kind) {
            match test.location(&name.name) {
                Some(first) => self.errors.push((K::Twice(first.name.span), name.span)),
                None => test.locations.push(Location { name, initial, atomic: false, region: Region::Global }),
            }
        }
        match test.form {
            Form::OpenCl => self.functions(test)?,
            Form::Lists => self.lists(test)?,
        }
        test.shown = self.locations()?;
        if self.word("filter").is_some() {
            test.filter = Some(self.asked()?);
        }
        if self.token().is_none() {
            return Some(());
        }
        test.condition = Some(self.question()?);
        self.end(Some(Expected::End))
    }

    /// `[x]=0`, `x=0`
    fn begins_with(&mut self) -> Option<(Ident, i64)> {
        let bracketed = self.is(Kind::LBracket).is_some();
        let name = self.name(Expected::Declaration)?;
        if bracketed {
            self.is(Kind::RBracket)?;
        }
        self.is(Kind::Eq)?;
        Some((name, self.number()?.0))
    }

    /// Functions, and the tree that places them.
    fn functions(&mut self, test: &mut Test) -> Option<()> {
        let mut all = vec![self.function()?];
        while self.word("scopeTree").is_none() {
            all.push(self.function()?);
        }
        let homes = self.scope_tree()?;
        self.misplaced(&all, &homes);
        let mut declared: Vec<&Parameter> = Vec::new();
        for parameter in all.iter().flat_map(|function| &function.parameters) {
            match declared.iter().find(|known| known.name.name == parameter.name.name) {
                Some(first) if (first.atomic, first.region) != (parameter.atomic, parameter.region) => {
                    self.errors.push((K::Type(first.name.span), parameter.name.span));
                }
                Some(_) => {}
                None => {
                    declare(test, parameter);
                    declared.push(parameter);
                }
            }
        }
        let flat = Flat::new(self.text, Form::OpenCl);
        for function in &all {
            let known: Vec<&str> = function.parameters.iter().map(|p| &*p.name.name).collect();
            let code = flat.thread(&function.code, &known, test, &mut self.errors);
            let home = homes.iter().find(|(of, ..)| *of == function.number).map(|(.., home)| *home);
            let home = home.unwrap_or(Home { device: 0, group: 0 });
            test.threads.push(Thread { number: function.number, home, span: function.span, code });
        }
        Some(())
    }

    /// Complains where the tree and the functions do not fit.
    fn misplaced(&mut self, all: &[Function], homes: &[(u32, Span, Home)]) {
        for Function { number, span, .. } in all {
            let times = homes.iter().filter(|(of, ..)| of == number).count();
            if times != 1 {
                self.errors.push((K::Placed { number: *number, times }, *span));
            }
        }
        for (number, at, _) in homes {
            if all.iter().all(|function| function.number != *number) {
                let known = all.iter().map(|function| function.number).collect();
                self.errors.push((K::NoThread { number: *number, known }, *at));
            }
        }
    }

    /// `P0 (global atomic_int* x, …) { … }`
    fn function(&mut self) -> Option<Function> {
        let from = self.at;
        let (number, _) = self.thread()?;
        self.is(Kind::LParen)?;
        let parameters = self.until(Kind::Comma, Kind::RParen, Self::parameter)?;
        let span = self.since(from);
        self.is(Kind::LBrace)?;
        let code = self.statements(0)?;
        self.is(Kind::RBrace)?;
        Some(Function { number, span, parameters, code })
    }

    /// `global atomic_int* x`
    fn parameter(&mut self) -> Option<Parameter> {
        let region = match self.word("global").or_else(|| self.word("__global")) {
            Some(_) => Region::Global,
            None => {
                let local = self.word("local").or_else(|| self.word("__local"));
                if local.is_some() { Region::Local } else { Region::Global }
            }
        };
        self.word("volatile");
        let atomic = self.word("atomic_int").is_some();
        if !atomic {
            self.word("int")?;
        }
        self.is(Kind::Star)?;
        Some(Parameter { name: self.name(Expected::Location)?, atomic, region })
    }

    /// What follows `scopeTree`: `(device (work_group P0 P1) (work_group P2)) (device …)`: threads, their mentions and where they are.
    fn scope_tree(&mut self) -> Option<Vec<(u32, Span, Home)>> {
        let (mut homes, mut device) = (Vec::new(), 0);
        while device == 0 || self.kind() == Some(Kind::LParen) {
            self.is(Kind::LParen)?;
            self.word("device")?;
            let mut group = 0;
            while group == 0 || self.kind() == Some(Kind::LParen) {
                self.is(Kind::LParen)?;
                self.word("work_group")?;
                while self.is(Kind::RParen).is_none() {
                    let (number, at) = self.thread()?;
                    homes.push((number, at, Home { device, group }));
                }
                group += 1;
            }
            self.is(Kind::RParen)?;
            device += 1;
        }
        Some(homes)
    }

    /// Threads with `||` between those of a work-group, `|||` between work-groups and `||||` between devices.
    fn lists(&mut self, test: &mut Test) -> Option<()> {
        let (mut home, mut all) = (Home { device: 0, group: 0 }, Vec::new());
        for number in 0.. {
            let from = self.at;
            let code = self.statements(0)?;
            let span = self.since(from);
            all.push((number, home, span, code));
            match self.bars() {
                0 => break,
                2 => {}
                3 => home.group += 1,
                4 => home = Home { device: home.device + 1, group: 0 },
                _ => {
                    self.errors.push((K::Bars, self.since(self.at - 1)));
                    self.at = self.tokens.len();
                    return None;
                }
            }
        }
        let flat = Flat::new(self.text, Form::Lists);
        for (number, home, span, code) in &all {
            let code = flat.thread(code, &[], test, &mut self.errors);
            test.threads.push(Thread { number: *number, home: *home, span: *span, code });
        }
        Some(())
    }

    /// So many bars that stand together.
    fn bars(&mut self) -> usize {
        let mut count = 0;
        let mut end = None;
        while let Some(token) = self.token()
            && token.kind == Kind::Bar
            && end.is_none_or(|end| end == token.span.start)
        {
            end = Some(token.span.end);
            self.at += 1;
            count += 1;
        }
        count
    }
}

/// Notes what a parameter says of a location. What is given no value begins with zero, as in herd.
fn declare(test: &mut Test, Parameter { name, atomic, region }: &Parameter) {
    match test.locations.iter_mut().find(|location| location.name.name == name.name) {
        Some(location) => (location.atomic, location.region) = (*atomic, *region),
        None => test.locations.push(Location { name: name.clone(), initial: 0, atomic: *atomic, region: *region }),
    }
}
