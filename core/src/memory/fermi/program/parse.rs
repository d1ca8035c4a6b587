//! The grammar of memory programs (report, 4.4.2 to 4.4.4), by chumsky, with recovery at the end of a statement.
//!
//! What the report prints is the body of a program. A file says before each body which operations it serves:
//!
//! ```text
//! program ld.global.ca, ld.local.ca:
//!
//! if (!isCachedL1) { reserveL1; … }
//! end;
//! ```
//!
//! `use NAME;` at the head of a file takes what is not served from a preset. `!` binds more tightly than `and`, `and`
//! more tightly than `or`; conditions may have parentheses, which the report does without.

use super::OpKey;
use super::error::{Expected, MAX_ERRORS, MAX_NESTING, MempError, MempErrorKind};
use super::token::{Kind, Token, tokens};
use super::tree::{BExp, Level, MemProgram, MempFile, OpExp, Stmt, StmtKind};
use crate::base::{FileId, Span};
use chumsky::DefaultExpected;
use chumsky::error::{Error, LabelError};
use chumsky::input::MapExtra;
use chumsky::prelude::*;
use chumsky::util::MaybeRef;

/// Parses a file of memory programs. What was understood is returned with all complaints, in the order of the text.
#[must_use]
pub fn parse(file: FileId, text: &str) -> (MempFile, Vec<MempError>) {
    let at = |(kind, span)| MempError { kind, file, span };
    if u32::try_from(text.len()).is_err() {
        return (MempFile::default(), vec![at((MempErrorKind::TooLarge, Span::default()))]);
    }
    let (tokens, mut found) = tokens(text);
    let mut parsed = MempFile::default();
    if let Some(span) = too_deep(&tokens) {
        found.push((MempErrorKind::TooDeep, span));
    } else {
        let (items, complaints) = items().parse(tokens.as_slice()).into_output_errors();
        for item in items.into_iter().flatten() {
            match (item, &parsed.base) {
                (Item::Use(_, span), Some((_, first))) => found.push((MempErrorKind::SecondUse(*first), span)),
                (Item::Use(name, span), None) => parsed.base = Some((name, span)),
                (Item::Program(program), _) => parsed.programs.push(program),
                (Item::Nothing, _) => {}
            }
        }
        found.extend(complaints.into_iter().map(|c| c.resolve(&tokens, text)));
    }
    found.sort_by_key(|(_, span)| *span);
    if found.len() > MAX_ERRORS {
        let last = found.get(MAX_ERRORS).map_or(Span::default(), |(_, span)| *span);
        found.truncate(MAX_ERRORS);
        found.push((MempErrorKind::TooMany, last));
    }
    (parsed, found.into_iter().map(at).collect())
}

/// The place where nesting, or a condition, goes beyond the limit: recursion elsewhere need not fear it then.
fn too_deep(tokens: &[Token<'_>]) -> Option<Span> {
    let (mut braces, mut operators) = (0usize, 0usize);
    for token in tokens {
        match token.kind {
            Kind::LBrace => braces += 1,
            Kind::RBrace => braces = braces.saturating_sub(1),
            Kind::Bang | Kind::LParen => operators += 1,
            Kind::Word if token.is("and") || token.is("or") => operators += 1,
            _ => {}
        }
        if matches!(token.kind, Kind::LBrace | Kind::RBrace | Kind::Semi) {
            operators = 0;
        }
        if braces > MAX_NESTING || operators > MAX_NESTING {
            return Some(token.span);
        }
    }
    None
}

/// What a file consists of.
#[derive(Clone)]
enum Item {
    Use(String, Span),
    Program(MemProgram),
    /// What could not be read.
    Nothing,
}

type In<'t, 's> = &'t [Token<'s>];
type Ex = extra::Err<Complaint>;

/// Short for a cloneable parser of this grammar.
trait Rule<'t, 's: 't, O>: Parser<'t, In<'t, 's>, O, Ex> + Clone + 't {}
impl<'t, 's: 't, O, P: Parser<'t, In<'t, 's>, O, Ex> + Clone + 't> Rule<'t, 's, O> for P {}

/// Words that begin something else than an operation.
const RESERVED: &[&str] = &["program", "use", "if", "else", "yield", "end", "and", "or", "true", "false"];

fn is<'t, 's: 't>(kind: Kind, name: &'static str) -> impl Rule<'t, 's, Token<'s>> {
    any().filter(move |t: &Token<'_>| t.kind == kind).labelled(Expected::Token(name))
}

fn word<'t, 's: 't>(name: &'static str) -> impl Rule<'t, 's, Token<'s>> {
    any().filter(move |t: &Token<'_>| t.is(name)).labelled(Expected::Token(name))
}

/// A word that is not reserved.
fn name<'t, 's: 't>(what: Expected) -> impl Rule<'t, 's, Token<'s>> {
    any().filter(|t: &Token<'_>| t.kind == Kind::Word && !RESERVED.contains(&t.text)).labelled(what)
}

/// The bytes of what a parser read.
fn here<'t, 's: 't>(e: &mut MapExtra<'t, '_, In<'t, 's>, Ex>) -> Span {
    let tokens: In<'t, 's> = e.slice();
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => first.span.to(last.span),
        _ => Span::default(),
    }
}

/// The `;` of a statement. Without it the statement stands nevertheless.
fn semi<'t, 's: 't>() -> impl Rule<'t, 's, ()> {
    is(Kind::Semi, ";").or_not().validate(|found, e, emitter| {
        if found.is_none() {
            emitter.emit(Complaint::of(MempErrorKind::MissingSemicolon, e.span()));
        }
    })
}

/// A condition: `B⟦·⟧`'s domain (4.4.2).
fn condition<'t, 's: 't>() -> impl Rule<'t, 's, BExp> {
    recursive(|whole| {
        let simple = name(Expected::Condition).validate(|t: Token<'_>, e, emitter| match t.text {
            "isCachedL1" => BExp::IsCached(Level::L1),
            "isCachedL2" => BExp::IsCached(Level::L2),
            _ => {
                emitter.emit(Complaint::of(MempErrorKind::UnknownCondition, e.span()));
                BExp::Const(false)
            }
        });
        let constant = choice((word("true").to(BExp::Const(true)), word("false").to(BExp::Const(false))));
        let parentheses = is(Kind::LParen, "(").ignore_then(whole).then_ignore(is(Kind::RParen, ")"));
        let atom = choice((simple, constant, parentheses)).labelled(Expected::Condition);
        let not = is(Kind::Bang, "!").repeated().foldr(atom, |_, inner| BExp::Not(Box::new(inner)));
        let and =
            not.clone().foldl(word("and").ignore_then(not).repeated(), |l, r| BExp::And(Box::new(l), Box::new(r)));
        and.clone().foldl(word("or").ignore_then(and).repeated(), |l, r| BExp::Or(Box::new(l), Box::new(r)))
    })
}

/// A list of statements (4.4.4).
fn statements<'t, 's: 't>() -> impl Rule<'t, 's, Vec<Stmt>> {
    recursive(|list| {
        let block = is(Kind::LBrace, "{").map_with(|_, e| here(e)).then(list).then(is(Kind::RBrace, "}").or_not());
        let block = block.validate(|((_, list), close), e, emitter| {
            if close.is_none() {
                let start = e.span().start;
                emitter.emit(Complaint::of(MempErrorKind::OpenBrace, (start..start + 1).into()));
            }
            list
        });
        let nop = is(Kind::Semi, ";").to(StmtKind::Nop);
        let yields = word("yield").ignore_then(semi()).to(StmtKind::Yield);
        let end = word("end").ignore_then(semi()).to(StmtKind::End);
        let operation = name(Expected::Statement).validate(|t: Token<'_>, e, emitter| {
            OpExp::named(t.text).map_or_else(
                || {
                    emitter.emit(Complaint::of(MempErrorKind::UnknownStatement, e.span()));
                    StmtKind::Nop
                },
                StmtKind::Op,
            )
        });
        let cond = is(Kind::LParen, "(")
            .ignore_then(condition().map_with(|cond, e| (cond, here(e))))
            .then_ignore(is(Kind::RParen, ")"));
        let branch = word("if")
            .ignore_then(cond)
            .then(block.clone())
            .then(word("else").ignore_then(block).or_not())
            .map(|(((cond, cond_span), then), otherwise)| StmtKind::If { cond, cond_span, then, otherwise });
        let stmt = choice((nop, yields, end, branch, operation.then_ignore(semi())))
            .labelled(Expected::Statement)
            .map_with(|kind, e| Stmt { kind, span: here(e) });
        stmt.recover_with(via_parser(skip())).repeated().collect()
    })
}

/// What is left out after a wrong statement: up to its `;`, or its braces and all between them, or to a new program.
fn skip<'t, 's: 't>() -> impl Rule<'t, 's, Stmt> {
    let stop = |t: &Token<'_>| matches!(t.kind, Kind::Semi | Kind::LBrace | Kind::RBrace) || starts_item(t);
    let word = any().filter(move |t: &Token<'_>| !stop(t)).ignored();
    let braces = recursive(|braces| {
        let inner = any().filter(|t: &Token<'_>| !matches!(t.kind, Kind::LBrace | Kind::RBrace) && !starts_item(t));
        is(Kind::LBrace, "{")
            .ignore_then(inner.ignored().or(braces).repeated())
            .then_ignore(is(Kind::RBrace, "}").or_not())
            .ignored()
    });
    let rest = is(Kind::Semi, ";").ignored().or(braces.clone());
    word.repeated()
        .at_least(1)
        .then_ignore(rest.or_not())
        .ignored()
        .or(braces)
        .map_with(|(), e| Stmt { kind: StmtKind::Nop, span: here(e) })
}

fn starts_item(token: &Token<'_>) -> bool {
    token.is("program") || token.is("use")
}

fn items<'t, 's: 't>() -> impl Parser<'t, In<'t, 's>, Vec<Item>, Ex> {
    let uses = word("use")
        .ignore_then(name(Expected::Preset))
        .then_ignore(semi())
        .map(|t: Token<'_>| Item::Use(t.text.to_owned(), t.span));
    let operation = name(Expected::Operation).validate(|t: Token<'_>, e, emitter| {
        let key = OpKey::named(t.text);
        if key.is_none() {
            emitter.emit(Complaint::of(MempErrorKind::UnknownOperation, e.span()));
        }
        key.map(|key| (key, t.span))
    });
    let head = word("program")
        .ignore_then(operation.separated_by(is(Kind::Comma, ",")).at_least(1).collect::<Vec<_>>())
        .then_ignore(is(Kind::Colon, ":"))
        .map_with(|serves, e| (serves, here(e)));
    let program = head.then(statements()).map(|((serves, head), body)| {
        Item::Program(MemProgram { serves: serves.into_iter().flatten().collect(), body, head })
    });
    let skip = any().then(any().filter(move |t: &Token<'_>| !starts_item(t)).repeated()).to(Item::Nothing);
    choice((uses, program))
        .labelled(Expected::Item)
        .recover_with(via_parser(skip))
        .repeated()
        .collect()
        .then_ignore(end())
}

/// Why the grammar does not fit; places are numbers of tokens.
#[derive(Clone, Debug)]
struct Complaint {
    at: SimpleSpan,
    expected: Vec<Expected>,
    kind: Option<MempErrorKind>,
}

impl Complaint {
    fn of(kind: MempErrorKind, at: SimpleSpan) -> Self {
        Self { at, expected: Vec::new(), kind: Some(kind) }
    }

    /// The complaint with its place in the text.
    fn resolve(self, tokens: &[Token<'_>], text: &str) -> (MempErrorKind, Span) {
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let token = tokens.get(self.at.start);
        let span = token.map_or(Span::new(end, end), |t| t.span);
        match self.kind {
            Some(MempErrorKind::MissingSemicolon) => {
                let before =
                    self.at.start.checked_sub(1).and_then(|k| tokens.get(k)).map_or(span.start, |t| t.span.end);
                (MempErrorKind::MissingSemicolon, Span::new(before, before))
            }
            Some(kind) => (kind, span),
            None => {
                let mut expected = self.expected;
                expected.sort();
                expected.dedup();
                (MempErrorKind::Unexpected { expected, end: token.is_none() }, span)
            }
        }
    }
}

impl<'t, 's> Error<'t, In<'t, 's>> for Complaint {
    fn merge(mut self, mut other: Self) -> Self {
        if other.kind.is_some() {
            std::mem::swap(&mut self, &mut other);
        }
        self.expected.append(&mut other.expected);
        self
    }
}

impl<'t, 's> LabelError<'t, In<'t, 's>, DefaultExpected<'t, Token<'s>>> for Complaint {
    fn expected_found<I: IntoIterator<Item = DefaultExpected<'t, Token<'s>>>>(
        _: I,
        _: Option<MaybeRef<'t, Token<'s>>>,
        at: SimpleSpan,
    ) -> Self {
        Self { at, expected: Vec::new(), kind: None }
    }
}

impl<'t, 's> LabelError<'t, In<'t, 's>, Expected> for Complaint {
    fn expected_found<I: IntoIterator<Item = Expected>>(
        expected: I,
        _: Option<MaybeRef<'t, Token<'s>>>,
        at: SimpleSpan,
    ) -> Self {
        Self { at, expected: expected.into_iter().collect(), kind: None }
    }

    fn label_with(&mut self, label: Expected) {
        self.expected = vec![label];
    }
}
