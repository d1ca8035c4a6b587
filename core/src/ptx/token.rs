//! Tokens of PTX (PTX ISA 4.1 to 4.4), by logos.
//!
//! An opcode with its modifiers is one token ([`Kind::Dotted`]), and so is `%tid.x`: what ptxas would also accept with
//! blanks before the dots is put together again by the grammar. Comments and line markers (`# 1 "a.cu"`) are dropped.

use super::error::{Expected, SyntaxErrorKind};
use crate::base::cursor::{self, kinds};
use logos::Logos;

kinds! {
    #[logos(skip r"[ \t\r\n\x0c]+")]
    #[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
    #[logos(skip(r"(//|#[ \t]*[0-9])[^\n]*", allow_greedy = true))]
    enum Kind: SyntaxErrorKind {
        /// A name: identifier, register, label or an opcode without modifiers.
        #[regex(r"[A-Za-z_$][A-Za-z0-9_$]*|%[A-Za-z0-9_$]+", priority = 3)]
        Word = Expected::Name,
        /// A name with what follows its dots: `ld.global.u32`, `%tid.x`, `ld.const[2].b32`.
        #[regex(
            r"([A-Za-z_$][A-Za-z0-9_$]*|%[A-Za-z0-9_$]+)(\.const\[[0-9]+\]|\.[A-Za-z0-9_]+(::[A-Za-z0-9_]+)*)+",
            priority = 3
        )]
        Dotted = Expected::Name,
        /// `.word` that has no kind of its own.
        #[regex(r"\.([A-Za-z_]|[0-9]+[A-Za-z_])[A-Za-z0-9_$]*(::[A-Za-z0-9_]+)*", priority = 2)]
        Dot = Expected::Type,
        #[token("_", priority = 10)]
        Underscore = Expected::Name,
        /// An integer literal (PTX ISA 4.5.1), without its sign.
        #[regex(r"(0|[1-9][0-9]*|0[0-7]+|0[xX][0-9a-fA-F]+|0[bB][01]+)U?", priority = 10)]
        Int = Expected::Integer,
        /// `0f` and eight hexadecimal digits.
        #[regex(r"0[fF][0-9a-fA-F]{8}", priority = 10)]
        HexF32 = Expected::Constant,
        /// `0d` and sixteen hexadecimal digits.
        #[regex(r"0[dD][0-9a-fA-F]{16}", priority = 10)]
        HexF64 = Expected::Constant,
        /// A decimal floating-point literal.
        #[regex(r"([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+", priority = 10)]
        Decimal = Expected::Constant,
        /// What starts like a number and is none: `0x`, `089`, `12ab`, `0f3f8`.
        #[regex(r"[0-9][A-Za-z0-9_$]*", priority = 2)]
        BadNumber = Expected::Integer,
        /// A string; PTX strings have no escapes.
        #[regex(r#""[^"\n]*""#)]
        Text = Expected::Text,
        /// An `@@DWARF` line.
        #[regex(r"@@DWARF[^\n]*", allow_greedy = true)]
        Dwarf = Expected::Token("@@DWARF"),
        /// `.const[2]`
        #[regex(r"\.const\[[0-9]+\]", priority = 20)]
        ConstBank = Expected::Token(".const"),
        /// Where the stream has already complained.
        Poison = Expected::Statement,
        /// A run of characters that start no token.
        Garbage = Expected::Statement,
    }
    Version ".version" Target ".target" AddressSize ".address_size" Entry ".entry" Func ".func"
    Visible ".visible" Extern ".extern" Weak ".weak" Common ".common" Reg ".reg" Sreg ".sreg" Const ".const"
    Global ".global" Local ".local" Param ".param" Shared ".shared" Tex ".tex" Align ".align" Ptr ".ptr"
    Attribute ".attribute" File ".file" Loc ".loc" Section ".section" Pragma ".pragma" Alias ".alias"
    CallPrototype ".callprototype" BranchTargets ".branchtargets" CallTargets ".calltargets" Unified ".unified"
    Comma "," Semi ";" Colon ":" LParen "(" RParen ")" LBracket "[" RBracket "]" LBrace "{" RBrace "}" Lt "<"
    Gt ">" Le "<=" Ge ">=" EqEq "==" Ne "!=" Eq "=" Shl "<<" Shr ">>" Bar "|" OrOr "||" Amp "&" AndAnd "&&"
    Caret "^" Bang "!" Tilde "~" At "@" Plus "+" Minus "-" Star "*" Slash "/" Percent "%" Question "?"
}

impl Kind {
    /// Whether the token is a word after a dot.
    pub(crate) const fn is_dot(self) -> bool {
        matches!(self, Self::Dot) || matches!(self.text().as_bytes(), [b'.', ..])
    }

    /// Whether the token gives what follows a linkage.
    pub(crate) const fn is_linkage(self) -> bool {
        matches!(self, Self::Visible | Self::Extern | Self::Weak | Self::Common)
    }

    /// Whether a module-level item starts here and nothing else can.
    pub(crate) const fn starts_item(self) -> bool {
        use Kind::{AddressSize, Alias, Entry, Func, Section, Target, Version};
        self.is_linkage() || matches!(self, Version | Target | AddressSize | Entry | Func | Alias | Section)
    }

    /// Whether a declaration starts here, at module or function level.
    pub(crate) const fn starts_variable(self) -> bool {
        use Kind::{Attribute, Const, ConstBank, Global, Local, Param, Reg, Shared, Sreg, Tex};
        matches!(self, Reg | Sreg | Const | ConstBank | Global | Local | Param | Shared | Tex | Attribute)
    }

    /// Whether the token can begin a statement or an item; used to resume after an error.
    pub(crate) const fn starts_statement(self) -> bool {
        self.starts_item()
            || self.starts_variable()
            || matches!(self, Self::Word | Self::Dotted | Self::At | Self::Loc | Self::Pragma | Self::File)
    }
}

/// A token of PTX.
pub(crate) type Token = cursor::Token<Kind>;

/// The tokens of a text, each with its own text and where it begins.
pub(crate) fn lex(text: &str) -> impl Iterator<Item = (Kind, &str, usize)> {
    let tokens = Kind::lexer(text).spanned();
    tokens.map(|(kind, at)| (kind.unwrap_or(Kind::Garbage), &text[at.clone()], at.start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        Kind::lexer(text).map(|k| k.unwrap_or(Kind::Garbage)).collect()
    }

    #[test]
    fn words_and_numbers() {
        use Kind::*;
        assert_eq!(
            kinds("ld.global.L1::evict_last.u32 %tid.x _ _a %r1 $str$1"),
            [Dotted, Dotted, Underscore, Word, Word, Word]
        );
        assert_eq!(
            kinds("0 10U 0x1F 017 0b101 0f3F800000 0d3ff0000000000000 1.5 .5 1. 1e5 8.0"),
            [Int, Int, Int, Int, Int, HexF32, HexF64, Decimal, Decimal, Decimal, Decimal, Decimal]
        );
        assert_eq!(kinds("0x 08 12ab 0f3f8 5u"), [BadNumber; 5]);
        assert_eq!(kinds("ld.const[2].b32 .const[11] tex.1d.v4"), [Dotted, ConstBank, Dotted]);
        assert_eq!(kinds("7 % 3 %p<5>"), [Int, Percent, Int, Word, Lt, Int, Gt]);
    }

    #[test]
    fn blanks_and_comments_vanish() {
        use Kind::*;
        assert_eq!(kinds("// a\n/* b * / ** */ x # 3 \"f.cu\"\n;"), [Word, Semi]);
        assert_eq!(kinds("/* open x"), [Slash, Star, Word, Word]);
        assert_eq!(kinds("\"a\\\" @@DWARF x y\n.b8"), [Text, Dwarf, Dot]);
        assert!(!kinds("@@@ anything\n@@ DWARF").contains(&Dwarf));
        assert_eq!(kinds(".loc .locals .reg .register"), [Loc, Dot, Reg, Dot]);
    }
}
