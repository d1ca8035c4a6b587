//! Tokens of litmus files, by logos. What stands before the initial state is read without them.

use crate::base::cursor::{self, Lexed, kinds, lex};
use crate::base::sort;
use crate::litmus::error::{Expected, LitmusErrorKind};
use crate::litmus::tree::Arch;
use logos::Logos;

kinds! {
    #[logos(skip r"[ \t\r\n\x0c]+")]
    #[logos(skip r"\(\*([^*]|\*+[^*)])*\*+\)")]
    enum Kind: LitmusErrorKind {
        /// A name or a keyword.
        #[regex(r"[A-Za-z_$][A-Za-z0-9_$]*")]
        Word = Expected::Name,
        /// A word before a parenthesis: only what is asked of final states has one.
        Asking = Expected::Name,
        /// An instruction with its modifiers.
        #[regex(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]*)+")]
        Dotted = Expected::Instruction,
        /// A number, or what begins like one.
        #[regex(r"[0-9][A-Za-z0-9_]*")]
        Number = Expected::Number,
    }
    Semi ";" Colon ":" Comma "," Bar "|" At "@" Amp "&" Minus "-" Eq "=" EqEq "==" Ne "!=" Lt "<" Le "<=" Gt ">" Ge ">="
    Star "*" Plus "+" Bang "!" And "/\\" Or "\\/" Tilde "~" LParen "(" RParen ")" LBracket "[" RBracket "]" LBrace "{" RBrace "}"
}

/// A token of a litmus test.
pub(super) type Token = cursor::Token<Kind>;

/// The tokens of a text of less than 4 GiB from an offset on, and what is none.
pub(super) fn tokens(text: &str, from: usize, arch: Arch) -> Lexed<Kind> {
    let mut lexed = if arch == Arch::OpenCl { of_c(text, from) } else { lex(text, from, "(*") };
    if arch != Arch::OpenCl {
        only_c(&mut lexed, arch);
    }
    let tokens: &mut [Token] = &mut lexed.tokens;
    for k in 1..tokens.len() {
        if tokens[k].kind == Kind::LParen && tokens[k - 1].kind == Kind::Word {
            tokens[k - 1].kind = Kind::Asking;
        }
    }
    lexed
}

/// The tokens of C, where `(*x)` begins no comment: what stands before the star is read by itself.
fn of_c(text: &str, mut from: usize) -> Lexed<Kind> {
    let mut all = Lexed { tokens: Vec::new(), garbage: Vec::new(), open: None };
    while from < text.len() {
        let next = text.get(from..).and_then(|rest| rest.find("(*"));
        let end = next.map_or(text.len(), |at| from + at + 1);
        let part = lex(&text[..end], from, "(*");
        all.tokens.extend(part.tokens);
        all.garbage.extend(part.garbage);
        from = end;
    }
    all
}

/// Counts as garbage what only C has; wavefronts access bytes of locations, `x+2`.
fn only_c(lexed: &mut Lexed<Kind>, arch: Arch) {
    let of_c = |token: &Token| match token.kind {
        Kind::Star | Kind::Bang => true,
        Kind::Plus => arch != Arch::Lockstep,
        _ => false,
    };
    if !lexed.tokens.iter().any(of_c) {
        return;
    }
    lexed.garbage.extend(lexed.tokens.iter().filter(|token| of_c(token)).map(|token| token.span));
    lexed.tokens.retain(|token| !of_c(token));
    sort::sort(&mut lexed.garbage);
    // What stands together is told once.
    lexed.garbage.dedup_by(|next, run| {
        let together = run.end == next.start;
        if together {
            run.end = next.end;
        }
        together
    });
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
    use crate::base::Span;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text, 0, Arch::Ptx).tokens.into_iter().map(|t| t.kind).collect()
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
    fn a_dereference_in_parentheses_begins_no_comment_of_c() {
        use Kind::*;
        let of = |arch| tokens("if (*x) (*y = 1) *)", 0, arch);
        let kinds = |arch| of(arch).tokens.into_iter().map(|t| t.kind).collect::<Vec<_>>();
        assert_eq!(
            kinds(Arch::OpenCl),
            [Asking, LParen, Star, Word, RParen, LParen, Star, Word, Eq, Number, RParen, Star, RParen]
        );
        assert_eq!(kinds(Arch::Ptx), [Word]);
        assert_eq!(of(Arch::OpenCl).tokens[2].span, Span::new(4, 5));
    }

    #[test]
    fn what_is_no_token_is_told_once() {
        assert_eq!(tokens("a ?? b", 2, Arch::Ptx).garbage, [Span::new(2, 4)]);
        assert_eq!(tokens("a (* b", 0, Arch::Ptx).open, Some(Span::new(2, 4)));
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
