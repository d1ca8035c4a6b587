//! The two error types of the grammar.

use super::In;
use crate::ptx::error::{Expected, NumberProblem};
use crate::ptx::token::Token;
use chumsky::DefaultExpected;
use chumsky::error::{EmptyErr, Error, LabelError};
use chumsky::span::SimpleSpan;
use chumsky::util::MaybeRef;

/// An error type that the grammar can be built with.
pub(crate) trait Fault<'t>: Error<'t, In<'t>> + LabelError<'t, In<'t>, Expected> + 't {
    /// A number that cannot be read, at these tokens.
    fn number(problem: NumberProblem, at: SimpleSpan) -> Self;
    /// A word that PTX does not have at this place.
    fn unknown(at: SimpleSpan) -> Self;
}

impl Fault<'_> for EmptyErr {
    fn number(_: NumberProblem, _: SimpleSpan) -> Self {
        Self::default()
    }

    fn unknown(_: SimpleSpan) -> Self {
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
    /// The number that is wrong, when that is the cause.
    pub(crate) number: Option<NumberProblem>,
    /// Whether an unknown directive is the cause.
    pub(crate) unknown: bool,
}

impl Complaint {
    /// A complaint about the first token of which nothing is known.
    pub(crate) fn anything() -> Self {
        Self::new(SimpleSpan::from(0..1), Vec::new())
    }

    fn new(at: SimpleSpan, expected: Vec<Expected>) -> Self {
        Self { at, expected, number: None, unknown: false }
    }
}

impl Fault<'_> for Complaint {
    fn number(problem: NumberProblem, at: SimpleSpan) -> Self {
        Self { number: Some(problem), ..Self::new(at, Vec::new()) }
    }

    fn unknown(at: SimpleSpan) -> Self {
        Self { unknown: true, ..Self::new(at, Vec::new()) }
    }
}

impl<'t> Error<'t, In<'t>> for Complaint {
    fn merge(mut self, mut other: Self) -> Self {
        if other.number.is_some() || other.unknown {
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
