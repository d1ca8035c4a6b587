//! Tokens of litmus files, by logos. What stands before the initial state is read without them.

use crate::base::Span;
use crate::litmus::error::LitmusErrorKind;
use logos::Logos;

/// The kind of a token.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\x0c]+")]
#[logos(skip r"\(\*([^*]|\*+[^*)])*\*+\)")]
pub(super) enum Kind {
    /// A name or a keyword.
    #[regex(r"[A-Za-z_$][A-Za-z0-9_$]*")]
    Word,
    /// A word before a parenthesis: only what is asked of final states has one.
    Asking,
    /// An instruction with its modifiers.
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]*)+")]
    Dotted,
    /// A number, or what begins like one.
    #[regex(r"[0-9][A-Za-z0-9_]*")]
    Number,
    #[token(";")]
    Semi,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[token("|")]
    Bar,
    #[token("@")]
    At,
    #[token("&")]
    Amp,
    #[token("-")]
    Minus,
    #[token("=")]
    Eq,
    #[token("==")]
    EqEq,
    #[token("!=")]
    Ne,
    #[token("<")]
    Lt,
    #[token("<=")]
    Le,
    #[token(">")]
    Gt,
    #[token(">=")]
    Ge,
    #[token("/\\")]
    And,
    #[token("\\/")]
    Or,
    #[token("~")]
    Tilde,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'s> {
    pub(super) kind: Kind,
    pub(super) text: &'s str,
    pub(super) span: Span,
}

impl Token<'_> {
    /// Whether it is this word.
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Asking) && self.text == word
    }

    /// Whether what follows the rows of instructions begins here.
    pub(super) fn ends_rows(&self) -> bool {
        matches!(self.kind, Kind::Tilde | Kind::Asking)
            || ["locations", "filter", "exists", "forall", "final", "not"].iter().any(|w| self.is(w))
    }
}

/// The tokens of a text of less than 4 GiB from an offset on, and what is none.
pub(super) fn tokens(text: &str, from: usize) -> (Vec<Token<'_>>, Vec<(LitmusErrorKind, Span)>) {
    let mut tokens: Vec<Token<'_>> = Vec::with_capacity(text.len() / 4);
    let mut garbage: Vec<Span> = Vec::new();
    let mut lexer = Kind::lexer(text.get(from..).unwrap_or(""));
    let offset = |n: usize| u32::try_from(from + n).unwrap_or(u32::MAX);
    let mut open = None;
    while let Some(kind) = lexer.next() {
        let span = Span::new(offset(lexer.span().start), offset(lexer.span().end));
        match (kind, tokens.last()) {
            (Ok(kind), _) => tokens.push(Token { kind, text: lexer.slice(), span }),
            // A comment that is closed was skipped as a whole.
            (Err(()), Some(last))
                if last.kind == Kind::LParen && last.span.end == span.start && lexer.slice().starts_with('*') =>
            {
                open = Some(last.span.to(span));
                break;
            }
            (Err(()), _) => match garbage.last_mut() {
                Some(last) if last.end == span.start => last.end = span.end,
                _ => garbage.push(span),
            },
        }
    }
    for k in 1..tokens.len() {
        if tokens[k].kind == Kind::LParen && tokens[k - 1].kind == Kind::Word {
            tokens[k - 1].kind = Kind::Asking;
        }
    }
    let mut errors: Vec<_> = garbage.into_iter().map(|span| (LitmusErrorKind::Garbage, span)).collect();
    errors.extend(open.map(|span| (LitmusErrorKind::OpenComment, span)));
    (tokens, errors)
}

/// The value of a number: decimal or `0x…`, up to 64 bits, where the upper half stands for negative numbers.
pub(super) fn number(text: &str, negative: bool) -> Option<i64> {
    let magnitude = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => text.parse::<u64>().ok()?,
    };
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { Some(magnitude.cast_signed()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text, 0).0.into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn words_numbers_and_operators() {
        use Kind::*;
        assert_eq!(kinds("atom.acq_rel.gpu.add r0, x, 1"), [Dotted, Word, Comma, Word, Comma, Number]);
        assert_eq!(
            kinds("P0:r1 != -0x1F /\\ ~(x == 2)"),
            [Word, Colon, Word, Ne, Minus, Number, And, Tilde, LParen, Word, EqEq, Number, RParen]
        );
        assert_eq!(kinds("a (* b ** c *) d"), [Word, Word]);
    }

    #[test]
    fn what_is_no_token_is_told_once() {
        assert_eq!(tokens("a ?? b", 2).1, [(LitmusErrorKind::Garbage, Span::new(2, 4))]);
        assert_eq!(tokens("a (* b", 0).1, [(LitmusErrorKind::OpenComment, Span::new(2, 4))]);
    }

    #[test]
    fn numbers_have_64_bits() {
        assert_eq!(number("0xffffffffffffffff", false), Some(-1));
        assert_eq!(number("9223372036854775808", true), Some(i64::MIN));
        assert_eq!(number("9223372036854775809", true), None);
        assert_eq!(number("18446744073709551616", false), None);
        assert_eq!((number("12ab", false), number("0x", false)), (None, None));
    }
}
