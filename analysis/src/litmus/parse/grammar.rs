//! The grammar of the frame: initial state, threads, rows of cells; and what all of it is made of.

use super::Reader;
use super::head::instruction;
use super::token::{Kind, Token, number};
use crate::base::{Placed, Span};
use crate::litmus::error::{Expected, LitmusErrorKind};
use crate::litmus::lockstep::FIRST;
use crate::litmus::tree::{Arch, DeclKind, Ident, Initial, Litmus, Placing, Proxy, Stmt, StmtKind, Thread, Value};

impl Reader<'_> {
    /// Any name.
    pub(super) fn name(&mut self, what: Expected) -> Option<Ident> {
        let token = self.take(what, |_, t| t.kind == Kind::Word)?;
        Some(Ident { name: self.str(token).to_owned(), span: token.span })
    }

    /// A number, perhaps negative. One that cannot be read is told and counts as 0.
    pub(super) fn number(&mut self) -> Option<(i64, Span)> {
        let from = self.at;
        let negative = self.kind() == Some(Kind::Minus);
        self.at += usize::from(negative);
        let digits = self.is(Kind::Number)?;
        let span = self.since(from);
        let value = number(self.str(digits), negative);
        if value.is_none() {
            self.errors.push((LitmusErrorKind::BadNumber, span));
        }
        Some((value.unwrap_or(0), span))
    }

    /// The number of a group of threads.
    fn ordinal(&mut self) -> Option<u32> {
        let token = self.take(Expected::Number, |r, t| t.kind == Kind::Number && r.str(t).parse::<u32>().is_ok())?;
        self.str(token).parse().ok()
    }

    /// `P0`, or `0` where a condition names a thread.
    pub(super) fn thread(&mut self) -> Option<(u32, Span)> {
        if self.state == Arch::Lockstep {
            return self.column();
        }
        let number = |r: &Self, token: Token| {
            let text = r.str(token);
            let digits = if token.kind == Kind::Number { Some(text) } else { text.strip_prefix('P') };
            let number = digits.filter(|d| d.bytes().all(|b| b.is_ascii_digit())).and_then(|d| d.parse().ok());
            number.filter(|n| *n < FIRST)
        };
        let token = self.take(Expected::Thread, |r, t| number(r, t).is_some())?;
        Some((number(self, token)?, token.span))
    }

    /// Reads by a rule; where the text does not fit, goes on at one of some tokens.
    fn unless<T>(&mut self, ends: &'static [Kind], rule: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.recover(rule, Self::complaint, |r| r.skip_to(|_, token| ends.contains(&token.kind)))
    }

    /// One of some tokens, which is not read.
    pub(super) fn before(&mut self, ends: &[Kind]) -> Option<()> {
        let found = ends.iter().any(|kind| self.is(*kind).is_some());
        self.at -= usize::from(found);
        found.then_some(())
    }

    /// A value of the initial state: a number, or a location, whose address may be written `&x` as well.
    fn value(&mut self, address: bool) -> Option<Initial> {
        if self.state == Arch::Lockstep {
            return self.number().map(|(n, _)| Initial::Number(n));
        }
        self.labelled(Expected::Value, |r| match r.kind() {
            Some(Kind::Amp) if address => {
                r.at += 1;
                r.name(Expected::Location).map(Initial::Of)
            }
            Some(Kind::Word) => r.name(Expected::Location).map(Initial::Of),
            _ => r.number().map(|(n, _)| Initial::Number(n)),
        })
    }

    /// `@ surface`
    fn proxy(&mut self) -> Option<Proxy> {
        self.is(Kind::At)?;
        let named = |r: &Self, token| Proxy::named(r.str(token));
        let word = self.take(Expected::Proxy, |r, t| named(r, t).is_some())?;
        named(self, word)
    }

    /// A declaration.
    pub(super) fn decl(&mut self) -> Option<DeclKind> {
        let from = self.at;
        if let Some((thread, at)) = self.thread() {
            if self.is(Kind::Colon).is_some() {
                let name = self.name(Expected::Register)?;
                self.is(Kind::Eq)?;
                return Some(DeclKind::Register { thread, at, name, value: self.value(true)? });
            }
            self.at = from;
        }
        let name = self.name(Expected::Declaration)?;
        if self.is(Kind::Eq).is_some() {
            return Some(DeclKind::Location { name, value: self.value(false)? });
        }
        if self.state == Arch::Lockstep {
            return None;
        }
        let proxy = if self.state == Arch::Vulkan { Proxy::Generic } else { self.proxy()? };
        self.word("aliases")?;
        Some(DeclKind::Alias { name, proxy, of: self.name(Expected::Location)? })
    }

    /// `ssw 0 1`
    fn ssw(&mut self) -> Option<(u32, u32)> {
        self.word("ssw")?;
        Some((self.thread()?.0, self.thread()?.0))
    }

    /// What stands between braces, by a rule for each part.
    pub(super) fn block<T>(&mut self, mut rule: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<Placed<T>>> {
        const ENDS: &[Kind] = &[Kind::Semi, Kind::RBrace];
        let mut all = Vec::new();
        self.is(Kind::LBrace)?;
        loop {
            if !matches!(self.kind(), Some(Kind::Semi | Kind::RBrace) | None) {
                all.extend(self.unless(ENDS, |r| {
                    let part = r.placed(&mut rule)?;
                    r.before(ENDS)?;
                    Some(part)
                }));
            }
            if self.is(Kind::Semi).is_none() {
                break;
            }
        }
        self.is(Kind::RBrace)?;
        Some(all)
    }

    /// Where a thread is. What the other language's threads are placed by is read as well, so that it can be told.
    fn placing(&mut self) -> Option<Placing> {
        let next = self.token().map_or("", |t| self.str(t));
        let foreign = [(Arch::Ptx, "sg"), (Arch::Vulkan, "cta")].contains(&(self.state, next));
        let arch = if foreign { self.state.other() } else { self.state };
        let levels = if arch == Arch::Ptx { &["cta", "gpu"][..] } else { &["sg", "wg", "qf"] };
        let mut at = [0; 3];
        for (k, level) in levels.iter().enumerate() {
            if k > 0 {
                self.is(Kind::Comma)?;
            }
            self.word(level)?;
            at[k] = self.ordinal()?;
        }
        let [first, second, third] = at;
        Some(match arch {
            Arch::Ptx => Placing::Ptx { cta: first, gpu: second },
            // Those of OpenCL have no row, and lanes have no place.
            Arch::Vulkan | Arch::OpenCl | Arch::Lockstep => {
                Placing::Vulkan { subgroup: first, workgroup: second, queue_family: third }
            }
        })
    }

    /// A thread of the row that names them.
    fn heading(&mut self) -> Option<Thread> {
        let from = self.at;
        let (number, _) = self.thread()?;
        self.is(Kind::At)?;
        let place = self.placing()?;
        Some(Thread { number, place, span: self.since(from), code: Vec::new() })
    }

    /// The row that names the threads. That they are placed as in another language is told once.
    fn headings(&mut self) -> Option<Vec<Thread>> {
        let threads = self.list(Kind::Bar, Self::heading)?;
        self.is(Kind::Semi)?;
        if let Some(thread) = threads.iter().find(|t| t.place.arch() != self.state) {
            self.errors.push((LitmusErrorKind::Placing(self.state), thread.span));
        }
        Some(threads)
    }

    pub(super) fn operand(&mut self) -> Option<Value> {
        self.labelled(Expected::Value, |r| match r.kind() {
            Some(Kind::Word) => r.name(Expected::Value).map(Value::Register),
            _ => r.number().map(|(n, span)| Value::Number(n, span)),
        })
    }

    /// A cell that is not empty; nothing where the instruction itself is wrong.
    fn cell(&mut self) -> Option<Option<Stmt>> {
        const ENDS: &[Kind] = &[Kind::Bar, Kind::Semi];
        let from = self.at;
        let fits = |t: Token| matches!(t.kind, Kind::Word | Kind::Dotted);
        let name = self.take(Expected::Instruction, |r, t| fits(t) && !r.ends_rows(t))?;
        if name.kind == Kind::Word && self.is(Kind::Colon).is_some() {
            let span = self.since(from);
            self.before(ENDS)?;
            return Some(Some(Stmt { kind: StmtKind::Label(self.str(name).to_owned()), span }));
        }
        let errors = self.errors.len();
        let operands = match self.before(ENDS) {
            Some(()) => Vec::new(),
            None => self.list(Kind::Comma, Self::operand)?,
        };
        let span = self.since(from);
        self.before(ENDS)?;
        if self.errors.len() > errors {
            return Some(None);
        }
        let instruction =
            instruction(self.str(name), name.span, operands, self.state).map_err(|wrong| self.errors.push(wrong));
        Some(instruction.ok().map(|instruction| Stmt { kind: StmtKind::Instruction(instruction), span }))
    }

    /// A row of cells; a thread may have nothing to do in one.
    fn row(&mut self) -> Option<Vec<Option<Stmt>>> {
        self.row_of(Self::cell)
    }

    /// A row of cells of any kind.
    pub(super) fn row_of<T>(&mut self, cell: fn(&mut Self) -> Option<Option<T>>) -> Option<Vec<Option<T>>> {
        let cells = self.list(Kind::Bar, |r| {
            let empty = r.token().is_none_or(|t| matches!(t.kind, Kind::Bar | Kind::Semi) || r.ends_rows(t));
            if empty {
                r.miss::<()>(Expected::Instruction);
                return Some(None);
            }
            Some(r.unless(&[Kind::Semi, Kind::Bar], cell).flatten())
        })?;
        self.is(Kind::Semi)?;
        Some(cells)
    }

    /// Whether what follows the rows of instructions begins with a token.
    pub(super) fn ends_rows(&self, token: Token) -> bool {
        matches!(token.kind, Kind::Tilde | Kind::Asking)
            || ["locations", "filter", "exists", "forall", "final", "not"].contains(&self.str(token))
    }

    /// The rows of instructions, which go to the threads.
    fn rows(&mut self, threads: &mut [Thread]) -> Option<()> {
        while self.token().is_some_and(|t| !self.ends_rows(t)) {
            let (from, errors) = (self.at, self.errors.len());
            let Some(cells) = self.row() else {
                self.errors.truncate(errors);
                return None;
            };
            if cells.len() != threads.len() {
                let columns = LitmusErrorKind::Columns { cells: cells.len(), threads: threads.len() };
                self.errors.push((columns, self.since(from)));
            }
            for (thread, cell) in threads.iter_mut().zip(cells) {
                thread.code.extend(cell);
            }
        }
        self.miss::<()>(Expected::Instruction);
        Some(())
    }

    /// A whole file from its `{` on.
    pub(super) fn file(&mut self, litmus: &mut Litmus) -> Option<()> {
        litmus.init = self.block(Self::decl)?;
        if self.state == Arch::Vulkan && self.kind() == Some(Kind::LBrace) {
            litmus.ssw = self.block(Self::ssw)?;
        }
        litmus.threads = self.headings()?;
        self.rows(&mut litmus.threads)?;
        litmus.locations = self.locations()?;
        if self.word("filter").is_some() {
            litmus.filter = Some(self.asked()?);
            // Of some tests it is only asked whether there are races.
            if self.state == Arch::Vulkan && self.token().is_none() {
                return Some(());
            }
        }
        litmus.condition = Some(self.question()?);
        self.end(Some(Expected::End))
    }
}
