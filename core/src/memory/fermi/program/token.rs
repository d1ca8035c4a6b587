//! Tokens of memory programs, by logos.

use super::error::{Expected, MempErrorKind};
use crate::base::cursor::kinds;
use logos::Logos;

kinds! {
    #[logos(skip r"[ \t\r\n\x0c]+")]
    #[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
    #[logos(skip(r"//[^\n]*", allow_greedy = true))]
    enum Kind: MempErrorKind {
        /// A keyword, an operation, a preset; with dots the name of an operation of PTX.
        #[regex(r"[A-Za-z_][A-Za-z0-9_.:-]*[A-Za-z0-9_]|[A-Za-z_]")]
        Word = Expected::Statement,
    }
    Semi ";" Colon ":" Comma "," LBrace "{" RBrace "}" LParen "(" RParen ")" Bang "!"
}
