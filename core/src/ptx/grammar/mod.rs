//! The grammar of PTX statements and directives, by chumsky.
//!
//! The parsers read one statement at a time from a slice of tokens and say how many tokens they took. They are generic
//! in the error type: with chumsky's `EmptyErr` they only succeed or fail, which is fast; a statement that fails is
//! parsed again with [`Complaint`] to learn why.

mod complaint;
mod constant;
mod declaration;
mod directive;
mod instruction;
mod operand;

pub(crate) use complaint::{Complaint, Fault};
pub(crate) use constant::{Field, operator};
pub(crate) use directive::Labelled;

use super::error::SyntaxErrorKind;
use super::token::{Kind, Token, cover};
use super::tree::{Debugging, Expr, Function, Ident, Initialiser, Item, Name, Names, Stmt, Variable};
use super::{Modifier, Opcode};
use crate::base::Span;
use chumsky::input::Checkpoint;
use chumsky::inspector::Inspector;
use chumsky::prelude::*;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The grammar's input.
pub(crate) type In<'t> = &'t [Token];
/// Error type and state of a parser.
pub(crate) type Ex<'s, E> = extra::Full<E, Builder<'s>, ()>;

/// Short for a cloneable parser of this grammar.
pub(crate) trait Rule<'t, 's: 't, O, E: Fault<'t>>: Parser<'t, In<'t>, O, Ex<'s, E>> + Clone + 't {}
impl<'t, 's: 't, O, E: Fault<'t>, P: Parser<'t, In<'t>, O, Ex<'s, E>> + Clone + 't> Rule<'t, 's, O, E> for P {}

/// The opcode and modifiers of an instruction.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) opcode: Opcode,
    pub(crate) mods: SmallVec<[Modifier; 8]>,
}

/// What the parsers share: the text, the names so far, and what the stream has read ahead.
#[derive(Debug)]
pub(crate) struct Builder<'s> {
    pub(crate) text: &'s str,
    pub(crate) names: Names,
    /// Braced initialisers by the offset of their `{`.
    pub(crate) tables: FxHashMap<u32, Initialiser>,
    /// The statements of the function that is being read. An instruction goes here straight from the grammar, because
    /// handing a large value up through many parsers copies it each time; the list is kept for the next function, so
    /// that bodies are allocated once and in their size.
    pub(crate) body: Vec<Stmt>,
    /// Instruction heads seen before: modules repeat a few hundred of them.
    heads: FxHashMap<&'s str, Head>,
}

impl<'s> Builder<'s> {
    pub(crate) fn new(text: &'s str) -> Self {
        let (names, tables, heads) = (Names::default(), FxHashMap::default(), FxHashMap::default());
        Self { text, names, tables, heads, body: Vec::new() }
    }

    /// The text of a token.
    pub(crate) fn str(&self, token: Token) -> &'s str {
        token.text(self.text)
    }

    /// The name that a token is.
    pub(crate) fn name(&mut self, token: Token) -> Name {
        self.names.intern(token.text(self.text))
    }

    /// The identifier that a token is.
    pub(crate) fn ident(&mut self, token: Token) -> Ident {
        Ident { name: self.name(token), span: token.span() }
    }

    /// The modifier that a token with a leading dot is.
    pub(crate) fn modifier(&mut self, token: Token) -> Modifier {
        Modifier::of(self.str(token).trim_start_matches('.'), &mut self.names)
    }

    /// Whether a token is the opcode `call`, whose lists in parentheses are no expressions.
    pub(crate) fn is_call(&self, token: Token) -> bool {
        self.str(token).strip_prefix("call").is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// The opcode and modifiers of one token, e.g. `ld.global.u32`.
    pub(crate) fn head(&mut self, token: Token) -> Head {
        let text = self.str(token);
        if let Some(head) = self.heads.get(text) {
            return head.clone();
        }
        let mut words = text.split('.');
        let opcode = Opcode::of(words.next().unwrap_or(""), &mut self.names);
        let mods = words.map(|word| Modifier::of(word, &mut self.names)).collect();
        let head = Head { opcode, mods };
        self.heads.insert(text, head.clone());
        head
    }
}

impl<'t> Inspector<'t, In<'t>> for Builder<'_> {
    type Checkpoint = ();
    fn on_token(&mut self, _: &Token) {}
    fn on_save<'p>(&self, _: &chumsky::input::Cursor<'t, 'p, In<'t>>) {}
    fn on_rewind<'p>(&mut self, _: &Checkpoint<'t, 'p, In<'t>, ()>) {}
}

/// A token of a kind. (`just` alone gives the token asked for, not the one that stands there.)
fn is<'t, 's: 't, E: Fault<'t>>(kind: Kind) -> impl Rule<'t, 's, Token, E> {
    just(Token::of(kind)).to_slice().map(move |t: In<'t>| t.first().copied().unwrap_or(Token::of(kind)))
}

/// A token that `f` makes something of.
fn take<'t, 's: 't, O: 't, E: Fault<'t>>(
    f: impl Fn(Token, &mut Builder<'s>) -> Option<O> + Clone + 't,
) -> impl Rule<'t, 's, O, E> {
    chumsky::primitive::select(move |t: Token, e: &mut chumsky::input::MapExtra<'t, '_, In<'t>, Ex<'s, E>>| {
        f(t, e.state())
    })
}

/// What `f` makes of a token of a kind.
fn made<'t, 's: 't, O: 't, E: Fault<'t>>(
    kind: Kind,
    f: impl Fn(Token, &mut Builder<'s>) -> O + Clone + 't,
) -> impl Rule<'t, 's, O, E> {
    is(kind).map_with(move |t, e| f(t, e.state()))
}

/// What `f` makes of a token, or why it is wrong.
fn tried<'t, 's: 't, O: 't, E: Fault<'t>>(
    token: impl Rule<'t, 's, Token, E>,
    f: impl Fn(Token, &mut Builder<'s>) -> Result<O, SyntaxErrorKind> + Clone + 't,
) -> impl Rule<'t, 's, O, E> {
    token.try_map_with(move |t, e| {
        let at = e.span();
        f(t, e.state()).map_err(|kind| E::wrong(kind, at))
    })
}

/// A given word.
fn word<'t, 's: 't, E: Fault<'t>>(word: &'static str) -> impl Rule<'t, 's, Token, E> {
    take(move |t, b| (t.kind == Kind::Word && b.str(t) == word).then_some(t))
}

/// An identifier.
fn ident<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Ident, E> {
    take(|t, b| (t.kind == Kind::Word).then(|| b.ident(t))).labelled(super::error::Expected::Name)
}

/// The bytes of what a parser read.
fn here<'t, 's: 't, E: Fault<'t>>(e: &mut chumsky::input::MapExtra<'t, '_, In<'t>, Ex<'s, E>>) -> Span {
    cover(e.slice())
}

/// A parser whose type is forgotten; it tells how many tokens it took.
type Entry<'t, 's, O, E> = Boxed<'t, 't, In<'t>, (O, usize), Ex<'s, E>>;

fn entry<'t, 's: 't, O: 't, E: Fault<'t>>(rule: impl Rule<'t, 's, O, E>) -> Entry<'t, 's, O, E> {
    rule.map_with(|out, e| {
        let span: SimpleSpan = e.span();
        (out, span.end)
    })
    .lazy()
    .boxed()
}

/// The parsers, one for each kind of statement.
pub(crate) struct Grammar<'t, 's, E: Fault<'t>> {
    /// Puts the instruction into [`Builder::body`].
    pub(crate) instruction: Entry<'t, 's, (), E>,
    pub(crate) variable: Entry<'t, 's, Variable, E>,
    pub(crate) function: Entry<'t, 's, (Function, bool), E>,
    pub(crate) labelled: Entry<'t, 's, Labelled, E>,
    pub(crate) item: Entry<'t, 's, Item, E>,
    pub(crate) debugging: Entry<'t, 's, Debugging, E>,
}

impl<'t, 's: 't, E: Fault<'t>> Grammar<'t, 's, E> {
    pub(crate) fn new() -> Self {
        Self {
            instruction: entry(instruction::instruction()),
            variable: entry(declaration::variable()),
            function: entry(directive::function()),
            labelled: entry(directive::labelled()),
            item: entry(directive::item()),
            debugging: entry(directive::debugging()),
        }
    }
}

/// The parsers for an element of a braced initialiser.
pub(crate) struct Elements<'t, 's, E: Fault<'t>> {
    pub(crate) value: Boxed<'t, 't, In<'t>, Expr, Ex<'s, E>>,
    pub(crate) field: Boxed<'t, 't, In<'t>, Field, Ex<'s, E>>,
}

impl<'t, 's: 't, E: Fault<'t>> Elements<'t, 's, E> {
    pub(crate) fn new() -> Self {
        Self { value: constant::value().boxed(), field: constant::field().boxed() }
    }
}
