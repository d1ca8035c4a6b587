//! Tokens of cat files, by logos.

use super::error::{CatErrorKind, Expected};
use crate::base::Span;
use crate::base::cursor::{self, Lexed, kinds, lex};
use logos::Logos;

kinds! {
    #[logos(skip r"[ \t\r\n\x0c]+")]
    #[logos(skip r"\(\*([^*]|\*+[^*)])*\*+\)")]
    #[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
    #[logos(skip(r"//[^\n]*", allow_greedy = true))]
    enum Kind: CatErrorKind {
        /// A name or a keyword: a `-` may be in it, so `co-1` is a name and `(co)-1` an inverse; and a `'`, but not at its start.
        #[regex(r"[A-Za-z0-9\-_.][A-Za-z0-9\-_.']*")]
        Word = Expected::Name,
        /// A text in quotation marks, on one line.
        #[regex(r#""[^"\n]*""#)]
        Text = Expected::Text,
    }
    Universe "_" Comma "," Bar "|" Amp "&" Backslash "\\" Semi ";" Star "*" CaretStar "^*" Plus "+" CaretPlus "^+"
    Inverse "-1" CaretInverse "^-1" Square "^2" Query "?" Tilde "~" Bang "!" Eq "=" LParen "(" RParen ")" LBracket "[" RBracket "]"
}

/// A token of a cat file.
pub(super) type Token = cursor::Token<Kind>;

/// The tokens of a text of less than 4 GiB, and what is none.
pub(super) fn tokens(text: &str) -> Lexed<Kind> {
    // A file may begin with a byte-order mark.
    let from = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut lexed = lex(text, from, "(*");
    // A run of garbage may end with the first character of a comment that does not end.
    let opens = |span: &Span| {
        let rest = text.get(span.start as usize..)?;
        let at = u32::try_from(rest.find("/*")?).ok()?;
        (span.start + at < span.end).then_some(span.start + at)
    };
    if let Some(open) = lexed.garbage.iter().find_map(opens) {
        lexed.garbage.retain(|span| span.end < open);
        lexed.tokens.retain(|token: &Token| token.span.start < open);
        lexed.open = Some(Span::new(open, open + 2));
    }
    lexed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text).tokens.into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn names_may_have_a_minus_and_inverses_begin_with_one() {
        use Kind::*;
        assert_eq!(kinds("co-1 (co)-1 rf^-1"), [Word, LParen, Word, RParen, Inverse, Word, CaretInverse]);
        assert_eq!(kinds("_ _a po-loc? r^+ s^*"), [Universe, Word, Word, Query, Word, CaretPlus, Word, CaretStar]);
        assert_eq!(kinds("\"C++\" A*B"), [Text, Word, Star, Word]);
        assert_eq!(kinds("scp' (!I) r^2 rs'*"), [Word, LParen, Bang, Word, RParen, Word, Square, Word, Star]);
        assert_eq!(tokens("'a").garbage, [Span::new(0, 1)]);
    }

    #[test]
    fn comments_of_three_kinds_are_left_out() {
        use Kind::*;
        assert_eq!(kinds("a (* b ** c *) d // e\n/* f **/ g //"), [Word, Word, Word]);
        assert_eq!(tokens("a (* b").open, Some(Span::new(2, 4)));
        assert_eq!(tokens("a /* b (* c *)").open, Some(Span::new(2, 4)));
        assert_eq!(kinds("a /* b"), [Word]);
        assert_eq!(tokens("a $/* b").open, Some(Span::new(3, 5)));
        assert_eq!(tokens("a $$ b").garbage, [Span::new(2, 4)]);
        assert_eq!(kinds("\u{feff}a"), [Word]);
    }
}
