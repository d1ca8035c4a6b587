//! The two error types of the grammar.

use super::In;
use crate::ptx::error::{Expected, SyntaxErrorKind};
use crate::ptx::token::Token;
use chumsky::DefaultExpected;
use chumsky::error::{EmptyErr, Error, LabelError};
use chumsky::span::SimpleSpan;
use chumsky::util::MaybeRef;

/// An error type that the grammar can be built with.
pub(crate) trait Fault<'t>: Error<'t, In<'t>> + LabelError<'t, In<'t>, Expected> + 't {
    /// What fits the grammar at these tokens and is wrong all the same.
    fn wrong(kind: SyntaxErrorKind, at: SimpleSpan) -> Self;
}

impl Fault<'_> for EmptyErr {
    fn wrong(_: SyntaxErrorKind, _: SimpleSpan) -> Self {
        Self::default()
    }
}

/// Why a statement does not parse.
#[derive(Clone, Debug)]
pub(crate) struct Complaint {
    /// The tokens, counted from the start of the statement.
    pub(crate) at: SimpleSpan,
    /// What would have fitted.
    pub(crate) expected: Vec<Expected>,
    /// The cause where it is a token that fits: a number that cannot be read, a directive that there is none of.
    pub(crate) wrong: Option<SyntaxErrorKind>,
}

impl Complaint {
    /// A complaint about the first token of which nothing is known.
    pub(crate) fn anything() -> Self {
        Self::new(SimpleSpan::from(0..1), Vec::new())
    }

    fn new(at: SimpleSpan, expected: Vec<Expected>) -> Self {
        Self { at, expected, wrong: None }
    }
}

impl Fault<'_> for Complaint {
    fn wrong(kind: SyntaxErrorKind, at: SimpleSpan) -> Self {
        Self { wrong: Some(kind), ..Self::new(at, Vec::new()) }
    }
}

impl<'t> Error<'t, In<'t>> for Complaint {
    fn merge(mut self, mut other: Self) -> Self {
        if other.wrong.is_some() {
            std::mem::swap(&mut self, &mut other);
        }
        for what in other.expected {
            if !self.expected.contains(&what) {
                self.expected.push(what);
            }
        }
        self
    }
}

impl<'t> LabelError<'t, In<'t>, DefaultExpected<'t, Token>> for Complaint {
    fn expected_found<I: IntoIterator<Item = DefaultExpected<'t, Token>>>(
        expected: I,
        _: Option<MaybeRef<'t, Token>>,
        at: SimpleSpan,
    ) -> Self {
        let known = |e: DefaultExpected<'t, Token>| match e {
            DefaultExpected::Token(t) => Some(t.kind.expected()),
            _ => None,
        };
        Self::new(at, expected.into_iter().filter_map(known).collect())
    }
}

impl<'t> LabelError<'t, In<'t>, Expected> for Complaint {
    fn expected_found<I: IntoIterator<Item = Expected>>(
        expected: I,
        _: Option<MaybeRef<'t, Token>>,
        at: SimpleSpan,
    ) -> Self {
        Self::new(at, expected.into_iter().collect())
    }

    fn label_with(&mut self, label: Expected) {
        self.expected = vec![label];
    }
}
