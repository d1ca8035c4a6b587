//! The grammar of the frame, by chumsky: initial state, threads, rows of cells.

use super::condition;
use super::head::{Operand, head};
use super::pieces::{Ex, In, Rule, Wrong, here, is, name, ordinal, signed, skip, thread, unexpected, word};
use super::token::{Kind, Token};
use crate::base::Span;
use crate::litmus::error::{Expected, LitmusErrorKind};
use crate::litmus::tree::{Cond, Condition, Decl, DeclKind, Initial, Litmus, Proxy, Stmt, StmtKind, Term, Thread};
use chumsky::prelude::*;

/// The cells of a row; a thread may have nothing to do in one.
type Row = Vec<Result<Option<Stmt>, Wrong>>;

/// What a file consists of after its name.
pub(super) struct File {
    init: Vec<Result<Decl, Wrong>>,
    threads: Vec<Result<Thread, Wrong>>,
    rows: Vec<(Row, Span)>,
    locations: Vec<Term>,
    filter: Option<Cond>,
    question: Option<Condition>,
}

impl File {
    /// Puts what was understood into the tree, and the rest into `errors`.
    pub(super) fn fill(self, litmus: &mut Litmus, errors: &mut Vec<Wrong>) {
        let Self { init, threads, rows, locations, filter, question } = self;
        let mut keep = |wrong| errors.push(wrong);
        litmus.init = init.into_iter().filter_map(|d| d.map_err(&mut keep).ok()).collect();
        let columns = threads.len();
        let mut all: Vec<Option<Thread>> = threads.into_iter().map(|t| t.map_err(&mut keep).ok()).collect();
        for (cells, span) in rows {
            if cells.len() != columns && columns > 0 {
                keep((LitmusErrorKind::Columns { cells: cells.len(), threads: columns }, span));
            }
            for (k, cell) in cells.into_iter().enumerate() {
                match cell {
                    Ok(Some(stmt)) => {
                        if let Some(Some(thread)) = all.get_mut(k) {
                            thread.code.push(stmt);
                        }
                    }
                    Ok(None) => {}
                    Err(wrong) => keep(wrong),
                }
            }
        }
        litmus.threads = all.into_iter().flatten().collect();
        (litmus.locations, litmus.filter, litmus.condition) = (locations, filter, question);
    }
}

/// A declaration; one that cannot be read is left out.
fn decl<'t, 's: 't>() -> impl Rule<'t, 's, Option<Result<Decl, Wrong>>> {
    let address = is(Kind::Amp, "&").ignore_then(name(Expected::Location)).map(|of| Ok(Initial::Of(of)));
    let of = name(Expected::Location).map(|of| Ok(Initial::Of(of)));
    let value = signed().map(|n| n.map(|(n, _)| Initial::Number(n)));
    let register = thread()
        .then_ignore(is(Kind::Colon, ":"))
        .then(name(Expected::Register))
        .then_ignore(is(Kind::Eq, "="))
        .then(choice((value.clone(), address, of.clone())).labelled(Expected::Value))
        .map(|(((thread, at), name), value)| value.map(|value| DeclKind::Register { thread, at, name, value }));
    let location = name(Expected::Declaration)
        .then_ignore(is(Kind::Eq, "="))
        .then(choice((value, of)).labelled(Expected::Value))
        .map(|(name, value)| value.map(|value| DeclKind::Location { name, value }));
    let proxy = any()
        .try_map(|t: Token<'_>, at| {
            let proxy = Proxy::named(t.text).filter(|proxy| t.is(proxy.name()));
            proxy.ok_or_else(|| unexpected(Expected::Proxy, at))
        })
        .labelled(Expected::Proxy);
    let alias = name(Expected::Declaration)
        .then_ignore(is(Kind::At, "@"))
        .then(proxy)
        .then_ignore(word("aliases"))
        .then(name(Expected::Location))
        .map(|((name, proxy), of)| Ok(DeclKind::Alias { name, proxy, of }));
    choice((register, location, alias))
        .map_with(|kind, e| Some(kind.map(|kind| Decl { kind, span: here(e) })))
        .then_ignore(is(Kind::Semi, ";").or(is(Kind::RBrace, "}")).rewind())
        .recover_with(via_parser(skip(&[Kind::Semi, Kind::RBrace]).to(None)))
}

/// The row that names the threads.
fn threads<'t, 's: 't>() -> impl Rule<'t, 's, Vec<Result<Thread, Wrong>>> {
    let thread = thread()
        .then_ignore(is(Kind::At, "@"))
        .then_ignore(word("cta"))
        .then(ordinal())
        .then_ignore(is(Kind::Comma, ","))
        .then_ignore(word("gpu"))
        .then(ordinal())
        .map_with(|(((number, _), cta), gpu), e| Thread { number, cta, gpu, span: here(e), code: Vec::new() });
    thread.map(Ok).separated_by(is(Kind::Bar, "|")).at_least(1).collect().then_ignore(is(Kind::Semi, ";"))
}

/// A cell; `None` when it is empty or could not be read.
fn cell<'t, 's: 't>() -> impl Rule<'t, 's, Result<Option<Stmt>, Wrong>> {
    let label = name(Expected::Instruction)
        .then_ignore(is(Kind::Colon, ":"))
        .map_with(|name, e| Ok(Some(Stmt { kind: StmtKind::Label(name.name), span: here(e) })));
    let number = signed().map(|n| n.map(|(n, span)| Operand::Number(n, span)));
    let operand = name(Expected::Value).map(|ident| Ok(Operand::Name(ident))).or(number).labelled(Expected::Value);
    let operands = operand.separated_by(is(Kind::Comma, ",")).collect::<Vec<Result<Operand, Wrong>>>();
    let instruction = any()
        .filter(|t: &Token<'_>| matches!(t.kind, Kind::Word | Kind::Dotted) && !t.ends_rows())
        .labelled(Expected::Instruction)
        .then(operands)
        .map_with(|(name, operands): (Token<'_>, _), e| {
            let head = head(name.text, name.span)?;
            let operands = operands.into_iter().collect::<Result<Vec<_>, _>>()?;
            let instruction = head.with(operands, name.span)?;
            Ok(Some(Stmt { kind: StmtKind::Instruction(instruction), span: here(e) }))
        });
    let ends = is(Kind::Bar, "|").or(is(Kind::Semi, ";")).rewind();
    let wrong = any().filter(|t: &Token<'_>| !t.ends_rows()).rewind().then(skip(&[Kind::Semi, Kind::Bar]));
    choice((label, instruction))
        .then_ignore(ends)
        .recover_with(via_parser(wrong.to(Ok(None))))
        .or_not()
        .map(|cell| cell.unwrap_or(Ok(None)))
}

/// A row of cells.
fn row<'t, 's: 't>() -> impl Rule<'t, 's, (Vec<Result<Option<Stmt>, Wrong>>, Span)> {
    let begins = any().filter(|t: &Token<'_>| !t.ends_rows()).rewind().labelled(Expected::Instruction);
    begins.ignore_then(
        cell()
            .separated_by(is(Kind::Bar, "|"))
            .at_least(1)
            .collect()
            .then_ignore(is(Kind::Semi, ";"))
            .map_with(|cells, e| (cells, here(e))),
    )
}

/// A whole file from its `{` on.
pub(super) fn file<'t, 's: 't>() -> impl Parser<'t, In<'t, 's>, File, Ex> {
    let decls = decl().or_not().separated_by(is(Kind::Semi, ";")).collect::<Vec<_>>();
    let init = is(Kind::LBrace, "{").ignore_then(decls).then_ignore(is(Kind::RBrace, "}"));
    let tail = condition::locations().or_not().then(condition::filter().or_not()).then(condition::question());
    let tail = tail.map(|((locations, filter), question)| (locations.unwrap_or_default(), filter, Some(question)));
    let tail = tail.then_ignore(end()).recover_with(via_parser(any().repeated().to((Vec::new(), None, None))));
    init.then(threads()).then(row().repeated().collect()).then(tail).map(
        |(((init, threads), rows), (locations, filter, question))| File {
            init: init.into_iter().flatten().flatten().collect(),
            threads,
            rows,
            locations,
            filter,
            question,
        },
    )
}
