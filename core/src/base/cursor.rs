//! What the parsers of PTX, of litmus tests and of memory programs share: tokens, and a cursor that goes through them.
//!
//! A rule of a grammar is a method of [`Cursor`]. It gives what it read; or `None` where the text does not fit: then the
//! cursor may stand anywhere, and whoever has an alternative puts it back. What would have fitted is kept for the
//! furthest place at which a token was looked for in vain, since that tells best what is wrong.

use crate::base::{Placed, Span, sort};
use logos::Logos;

/// The kind of a token.
pub(crate) trait Kind: Copy + PartialEq {
    /// What can be expected, as messages tell it.
    type Expected: Copy + Ord;
    /// What can be wrong with a text.
    type Wrong;

    /// A fixed text as something that was expected.
    fn fixed(text: &'static str) -> Self::Expected;

    /// A token of the kind as something that was expected.
    fn expected(self) -> Self::Expected;
}

/// The kinds of a language's tokens: those that vary, with what they are expected as, and those that have one text.
macro_rules! kinds {
    (
        $(#[$($top:tt)*])*
        enum Kind: $wrong:ident { $($(#[$($attribute:tt)*])* $kind:ident = $expected:expr,)* }
        $($fixed:ident $text:tt)*
    ) => {
        /// The kind of a token.
        #[derive(Logos, Clone, Copy, PartialEq, Eq, Debug, Hash)]
        $(#[$($top)*])*
        pub(crate) enum Kind {
            $($(#[$($attribute)*])* $kind,)*
            $(#[token($text, priority = 20)] $fixed,)*
        }

        impl Kind {
            /// The text of a token that has only one; empty for others.
            pub(crate) const fn text(self) -> &'static str {
                match self {
                    $(Self::$fixed => $text,)*
                    _ => "",
                }
            }
        }

        impl crate::base::cursor::Kind for Kind {
            type Expected = Expected;
            type Wrong = $wrong;

            fn fixed(text: &'static str) -> Expected {
                Expected::Token(text)
            }

            fn expected(self) -> Expected {
                match self {
                    $(Self::$kind => $expected,)*
                    fixed => Self::fixed(fixed.text()),
                }
            }
        }
    };
}
pub(crate) use kinds;

/// A token: its kind and its bytes.
pub(crate) type Token<K> = Placed<K>;

/// The bytes that a run of tokens covers.
pub(crate) fn cover<K>(tokens: &[Token<K>]) -> Span {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => first.span.to(last.span),
        _ => Span::default(),
    }
}

/// What is wrong with a text, and where.
pub(crate) type Wrong<K> = (<K as Kind>::Wrong, Span);

/// Where tokens come from that are not read at once.
pub(crate) trait Source<K> {
    /// The next token.
    fn next(&mut self) -> Option<Token<K>>;
}

impl<K> Source<K> for () {
    fn next(&mut self) -> Option<Token<K>> {
        None
    }
}

/// The most tokens that are held at a time. Statements of compilers stay far below.
pub(crate) const LONGEST: usize = 1 << 17;

/// A cursor over the tokens of a text, and what a parser keeps beside: it may be the source of more tokens.
pub(crate) struct Cursor<'s, K: Kind, S> {
    pub(crate) text: &'s str,
    /// The tokens that are held.
    pub(crate) tokens: Vec<Token<K>>,
    /// The number of the next token.
    pub(crate) at: usize,
    pub(crate) state: S,
    /// What is wrong with what was read all the same.
    pub(crate) errors: Vec<Wrong<K>>,
    /// Whether what would have fitted is kept.
    telling: bool,
    /// The furthest token that did not fit, and what would have fitted there.
    stuck: (usize, Vec<K::Expected>),
}

impl<'s, K: Kind, S: Source<K>> Cursor<'s, K, S> {
    pub(crate) fn new(text: &'s str, tokens: Vec<Token<K>>, state: S) -> Self {
        Self { text, tokens, at: 0, state, errors: Vec::new(), telling: false, stuck: (0, Vec::new()) }
    }

    /// Whether what would have fitted is kept from here on. A text that fits is read faster without.
    pub(crate) fn tell(&mut self, telling: bool) -> bool {
        std::mem::replace(&mut self.telling, telling)
    }

    /// Drops the tokens from a number on up to the cursor.
    #[allow(dead_code, reason = "of the two crates that this is compiled in, only one has a rule for it")]
    pub(crate) fn forget(&mut self, from: usize) {
        self.tokens.drain(from..self.at);
        self.at = from;
        self.stuck = (0, Vec::new());
    }

    /// The token so many behind the next one.
    #[inline]
    pub(crate) fn peek(&mut self, behind: usize) -> Option<Token<K>> {
        while self.tokens.len() <= self.at + behind && self.tokens.len() < LONGEST {
            self.tokens.push(self.state.next()?);
        }
        self.tokens.get(self.at + behind).copied()
    }

    /// The next token.
    #[inline]
    pub(crate) fn token(&mut self) -> Option<Token<K>> {
        self.peek(0)
    }

    /// The kind of the next token.
    #[inline]
    pub(crate) fn kind(&mut self) -> Option<K> {
        self.token().map(|t| t.kind)
    }

    /// The text of a token.
    pub(crate) fn str(&self, token: Token<K>) -> &'s str {
        token.span.of(self.text)
    }

    /// The bytes of the tokens from a number on up to the cursor.
    pub(crate) fn since(&self, from: usize) -> Span {
        cover(self.tokens.get(from..self.at).unwrap_or_default())
    }

    /// What a rule reads, with its place.
    #[inline]
    pub(crate) fn placed<T>(&mut self, rule: impl FnOnce(&mut Self) -> Option<T>) -> Option<Placed<T>> {
        let from = self.at;
        let kind = rule(self)?;
        Some(Placed { kind, span: self.since(from) })
    }

    /// What a rule reads between two tokens.
    #[inline]
    pub(crate) fn between<T>(&mut self, open: K, close: K, rule: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.is(open)?;
        let inside = rule(self)?;
        self.is(close)?;
        Some(inside)
    }

    /// What a rule reads after a token, where that is next.
    #[inline]
    pub(crate) fn after<T>(&mut self, mark: K, rule: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.is(mark).is_some() { rule(self).map(Some) } else { Some(None) }
    }

    /// Notes that something would have fitted here.
    #[inline]
    pub(crate) fn miss<T>(&mut self, what: K::Expected) -> Option<T> {
        if self.telling {
            self.lack(Some(what));
        }
        None
    }

    #[cold]
    fn lack(&mut self, what: Option<K::Expected>) {
        if self.at > self.stuck.0 {
            self.stuck = (self.at, Vec::new());
        }
        if self.at == self.stuck.0 {
            self.stuck.1.extend(what);
        }
    }

    /// Where the text did not fit and what would have, in order and without repetition.
    pub(crate) fn stuck(&mut self) -> (usize, Vec<K::Expected>) {
        let (at, mut expected) = std::mem::take(&mut self.stuck);
        sort::sort(&mut expected);
        expected.dedup();
        (at, expected)
    }

    /// A token that passes a test, which is told as `what`.
    #[inline]
    pub(crate) fn take(&mut self, what: K::Expected, test: impl FnOnce(&Self, Token<K>) -> bool) -> Option<Token<K>> {
        match self.token() {
            Some(token) if test(self, token) => {
                self.at += 1;
                Some(token)
            }
            _ => self.miss(what),
        }
    }

    /// A token of a kind.
    #[inline]
    pub(crate) fn is(&mut self, kind: K) -> Option<Token<K>> {
        match self.token() {
            Some(token) if token.kind == kind => {
                self.at += 1;
                Some(token)
            }
            _ if self.telling => self.miss(kind.expected()),
            _ => None,
        }
    }

    /// A keyword.
    pub(crate) fn word(&mut self, word: &'static str) -> Option<Token<K>> {
        self.take(K::fixed(word), |c, token| c.str(token) == word)
    }

    /// The end of the tokens, which is told as `what`.
    #[allow(dead_code, reason = "of the two crates that this is compiled in, only one has a rule for it")]
    pub(crate) fn end(&mut self, what: Option<K::Expected>) -> Option<()> {
        if self.token().is_none() {
            return Some(());
        }
        self.lack(what);
        None
    }

    /// What a rule reads, where it is told as `what` if its first token does not fit.
    pub(crate) fn labelled<T>(&mut self, what: K::Expected, rule: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let at = self.at;
        let before = if self.stuck.0 == at { self.stuck.1.len() } else { 0 };
        let read = rule(self);
        if self.stuck.0 == at && self.stuck.1.len() > before {
            self.stuck.1.truncate(before);
            self.stuck.1.push(what);
        }
        read
    }

    /// One or more by a rule, with `mark`s between them.
    pub(crate) fn list<T>(&mut self, mark: K, mut rule: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut list = vec![rule(self)?];
        while self.is(mark).is_some() {
            list.push(rule(self)?);
        }
        Some(list)
    }

    /// What a rule reads up to `end`, with `mark`s between: perhaps nothing.
    pub(crate) fn until<T, L: Default + Extend<T>>(
        &mut self,
        mark: K,
        end: K,
        mut rule: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<L> {
        let mut list = L::default();
        if self.is(end).is_some() {
            return Some(list);
        }
        loop {
            list.extend(Some(rule(self)?));
            if self.is(mark).is_none() {
                return self.is(end).map(|_| list);
            }
        }
    }

    /// What a rule reads. Where the text does not fit, that is kept as `told` has it, and `skip` goes on from the same
    /// place.
    pub(crate) fn recover<T>(
        &mut self,
        rule: impl FnOnce(&mut Self) -> Option<T>,
        told: impl FnOnce(&mut Self) -> Wrong<K>,
        skip: impl FnOnce(&mut Self),
    ) -> Option<T> {
        let (start, errors) = (self.at, self.errors.len());
        let read = rule(self);
        if read.is_none() {
            self.errors.truncate(errors);
            let wrong = told(self);
            self.errors.push(wrong);
            self.at = start;
            skip(self);
        }
        read
    }

    /// Goes to the next token that passes a test, one further at least.
    pub(crate) fn skip_to(&mut self, ends: impl Fn(&Self, Token<K>) -> bool) {
        self.at += 1;
        while self.token().is_some_and(|token| !ends(self, token)) {
            self.at += 1;
        }
    }
}

/// A text as tokens.
pub(crate) struct Lexed<K> {
    pub(crate) tokens: Vec<Token<K>>,
    /// Runs of characters that begin no token.
    pub(crate) garbage: Vec<Span>,
    /// Where a comment begins that does not end.
    pub(crate) open: Option<Span>,
}

/// The tokens of a text of less than 4 GiB from an offset on; `comment` is how one begins.
pub(crate) fn lex<'s, K: Logos<'s, Source = str, Extras = ()>>(text: &'s str, from: usize, comment: &str) -> Lexed<K> {
    let mut lexed = Lexed { tokens: Vec::new(), garbage: Vec::new(), open: None };
    let rest = text.get(from..).unwrap_or_default();
    let offset = |n: usize| u32::try_from(from + n).unwrap_or(u32::MAX);
    for (kind, range) in K::lexer(rest).spanned() {
        let span = Span::new(offset(range.start), offset(range.end));
        // A comment that ends was left out as a whole.
        if rest[range.start..].starts_with(comment) {
            lexed.open = Some(Span::new(span.start, span.start + 2));
            break;
        }
        match (kind, lexed.garbage.last_mut()) {
            (Ok(kind), _) => lexed.tokens.push(Token { kind, span }),
            (Err(_), Some(last)) if last.end == span.start => last.end = span.end,
            (Err(_), _) => lexed.garbage.push(span),
        }
    }
    lexed
}

/// What is wrong in the order of the text, and no more than so many, of which `too_many` tells.
pub(crate) fn in_order<W>(mut found: Vec<(W, Span)>, most: usize, too_many: W) -> Vec<(W, Span)> {
    sort::sort_by_key(&mut found, |(_, span)| *span);
    if let Some((_, last)) = found.get(most) {
        let last = *last;
        found.truncate(most);
        found.push((too_many, last));
    }
    found
}
