//! Why the grammar does not fit, as chumsky collects it.

use super::token::Token;
use crate::base::Span;
use crate::litmus::error::{Expected, LitmusErrorKind};
use chumsky::DefaultExpected;
use chumsky::error::{Error, LabelError};
use chumsky::span::SimpleSpan;
use chumsky::util::MaybeRef;

type In<'t, 's> = &'t [Token<'s>];

/// A complaint; places are numbers of tokens.
#[derive(Clone, Debug)]
pub(super) struct Complaint {
    at: SimpleSpan,
    expected: Vec<Expected>,
}

impl Complaint {
    /// The complaint with its place in the text.
    pub(super) fn resolve(mut self, tokens: &[Token<'_>], text: &str) -> (LitmusErrorKind, Span) {
        self.expected.sort_unstable();
        self.expected.dedup();
        if self.expected.contains(&Expected::Comparison) {
            self.expected.retain(|e| *e != Expected::Token("["));
        }
        let token = tokens.get(self.at.start);
        let before = self.at.start.checked_sub(1).and_then(|k| tokens.get(k));
        let apart = |from: u32, to: u32| Span::new(from, to).of(text).contains('\n');
        if let (Some(before), Some(token)) = (before, token)
            && self.expected.contains(&Expected::Token(";"))
            && apart(before.span.end, token.span.start)
        {
            return (LitmusErrorKind::MissingSemicolon, Span::new(before.span.end, before.span.end));
        }
        let end = u32::try_from(text.trim_end().len()).unwrap_or(u32::MAX);
        let kind = LitmusErrorKind::Unexpected { expected: self.expected, end: token.is_none() };
        (kind, token.map_or(Span::new(end, end), |t| t.span))
    }

    fn new(expected: impl IntoIterator<Item = Expected>, at: SimpleSpan) -> Self {
        Self { at, expected: expected.into_iter().collect() }
    }
}

impl<'t, 's> Error<'t, In<'t, 's>> for Complaint {
    fn merge(mut self, other: Self) -> Self {
        self.expected.extend(other.expected);
        self
    }
}

impl<'t, 's> LabelError<'t, In<'t, 's>, DefaultExpected<'t, Token<'s>>> for Complaint {
    fn expected_found<I: IntoIterator<Item = DefaultExpected<'t, Token<'s>>>>(
        expected: I,
        _: Option<MaybeRef<'t, Token<'s>>>,
        at: SimpleSpan,
    ) -> Self {
        let end = expected.into_iter().any(|e| matches!(e, DefaultExpected::EndOfInput));
        Self::new(end.then_some(Expected::End), at)
    }
}

impl<'t, 's> LabelError<'t, In<'t, 's>, Expected> for Complaint {
    fn expected_found<I: IntoIterator<Item = Expected>>(
        expected: I,
        _: Option<MaybeRef<'t, Token<'s>>>,
        at: SimpleSpan,
    ) -> Self {
        Self::new(expected, at)
    }

    fn label_with(&mut self, label: Expected) {
        self.expected = vec![label];
    }
}
