//! The grammar of PTX statements and directives, by recursive descent.
//!
//! Each rule is a method of [`Reader`], which reads one statement at a time from a slice of tokens. A statement that
//! does not fit is read again to learn why.

mod constant;
mod declaration;
mod directive;
mod initialiser;
mod instruction;
mod operand;

pub(crate) use constant::operator;

use super::error::{Expected, SyntaxErrorKind};
use super::stream::Stream;
use super::token::{Kind, Token};
use super::tree::{Ident, Name, Names, Stmt};
use super::{Modifier, Opcode};
use crate::base::cursor::{Cursor, Source};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A parser of statements; its tokens are those of the statement at hand.
pub(crate) type Reader<'s> = Cursor<'s, Kind, Builder<'s>>;

/// The opcode and modifiers of an instruction.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) opcode: Opcode,
    pub(crate) mods: SmallVec<[Modifier; 8]>,
}

/// What the rules share: the names so far, and the tokens to come.
pub(crate) struct Builder<'s> {
    pub(crate) names: Names,
    pub(crate) stream: Stream<'s>,
    /// The statements of the function that is being read; the list is kept for the next function, so that bodies are
    /// allocated once and in their size.
    pub(crate) body: Vec<Stmt>,
    /// Instruction heads seen before: modules repeat a few hundred of them.
    heads: FxHashMap<&'s str, Head>,
}

impl Source<Kind> for Builder<'_> {
    fn next(&mut self) -> Option<Token> {
        self.stream.next()
    }
}

impl<'s> Builder<'s> {
    pub(crate) fn new(text: &'s str) -> Self {
        let (names, heads) = (Names::default(), FxHashMap::default());
        Self { names, stream: Stream::new(text), body: Vec::new(), heads }
    }

    /// The opcode and modifiers of one token, e.g. `ld.global.u32`.
    fn head(&mut self, text: &'s str) -> Head {
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

impl Reader<'_> {
    /// The identifier that a token is.
    pub(crate) fn identifier(&mut self, token: Token) -> Ident {
        Ident { name: self.name(self.str(token)), span: token.span }
    }

    /// Says that tokens from a number on fit the grammar and are wrong all the same.
    fn wrong<T>(&mut self, kind: SyntaxErrorKind, from: usize) -> Option<T> {
        let span = self.since(from);
        self.errors.push((kind, span));
        self.at = from;
        None
    }

    /// What `f` makes of the text of a token that was just read, or why it is wrong.
    fn made<T>(&mut self, token: Token, f: impl FnOnce(&str) -> Result<T, SyntaxErrorKind>) -> Option<T> {
        f(self.str(token)).map_or_else(|kind| self.wrong(kind, self.at - 1), Some)
    }

    /// The name that a text is.
    fn name(&mut self, text: &str) -> Name {
        self.state.names.intern(text)
    }

    /// The modifier that a token with a leading dot is.
    fn modifier(&mut self, token: Token) -> Modifier {
        Modifier::of(self.str(token).trim_start_matches('.'), &mut self.state.names)
    }

    /// An identifier.
    fn ident(&mut self) -> Option<Ident> {
        self.is(Kind::Word).map(|token| self.identifier(token))
    }

    /// The name of a declaration; `_` where it does not matter.
    fn declared(&mut self) -> Option<Ident> {
        let name = self.take(Expected::Name, |_, t| matches!(t.kind, Kind::Word | Kind::Underscore))?;
        Some(self.identifier(name))
    }
}
