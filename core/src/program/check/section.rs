//! The data of a debug section (PTX ISA 11.5.4): labels, and lists of bytes, words and addresses.

use super::{CheckError, Checker, Problem};
use crate::base::Span;
use crate::ptx::{Kind, lex};
use rustc_hash::FxHashSet;
use std::iter::Peekable;

/// A token of a section: its kind, its text and where it begins in the body.
type Token<'a> = (Kind, &'a str, usize);

impl Checker<'_> {
    /// Checks the text between a section's braces; `span` covers the whole section.
    pub fn section(&mut self, body: &str, span: Span) {
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let start = span.end.saturating_sub(1).saturating_sub(length).max(span.start);
        let mut labels = FxHashSet::default();
        let mut rest = lex(body).peekable();
        while let Some((kind, text, at)) = rest.next() {
            let problem = match kind {
                Kind::Word if rest.next_if(|next| next.0 == Kind::Colon).is_some() => {
                    (!labels.insert(text)).then(|| Problem::Duplicate { name: text.to_owned() })
                }
                kind if kind.is_dot() => data(text, &mut rest),
                _ => bad(text),
            };
            if let Some(problem) = problem {
                let at = start + u32::try_from(at).unwrap_or(0);
                self.errors.push(CheckError::new(problem, Span::new(at, at + 1)));
                return;
            }
        }
    }
}

fn bad(found: &str) -> Option<Problem> {
    Some(Problem::SectionData { found: found.to_owned() })
}

/// `.b8 1, 2` · `.b64 label + 4` · `.b32 .debug_abbrev` · `.b32 end - begin`, after its type.
fn data<'a>(ty: &str, rest: &mut Peekable<impl Iterator<Item = Token<'a>>>) -> Option<Problem> {
    let bits = match ty {
        ".b8" => 8,
        ".b16" => 16,
        ".b32" => 32,
        ".b64" => 64,
        _ => return bad(ty),
    };
    if let Some((kind, name, _)) = rest.next_if(|next| next.0 == Kind::Word || next.0.is_dot()) {
        if bits < 32 {
            return bad(name);
        }
        let sign = rest.next_if(|next| next.0 == Kind::Plus || next.0 == Kind::Minus && kind == Kind::Word)?;
        let (kind, text, _) = rest.next().unwrap_or((Kind::Garbage, "", 0));
        let fits = if sign.0 == Kind::Plus { integer(text).is_some() } else { kind == Kind::Word };
        return if fits { None } else { bad(text) };
    }
    loop {
        rest.next_if(|next| next.0 == Kind::Minus);
        let text = rest.next().map_or("", |next| next.1);
        if integer(text).is_none_or(|value| bits < 64 && value >> bits != 0) {
            return bad(text);
        }
        rest.next_if(|next| next.0 == Kind::Comma)?;
    }
}

fn integer(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::tree::Module;

    fn errors(body: &str) -> usize {
        let module = Module::default();
        let mut checker = Checker::new(&module);
        checker.section(body, Span::new(0, u32::try_from(body.len()).unwrap_or(0) + 1));
        checker.errors.len()
    }

    #[test]
    fn sections_hold_labels_and_numbers() {
        for good in ["", "L: .b8 1,0x11\n.b64 L+4 // end\n.b32 .debug_abbrev", "L: M: .b32 M-L", ".b8 -1 .b16 2"] {
            assert_eq!(errors(good), 0, "{good}");
        }
        for bad in [".u8 1", ".b8 300", ".b8 1,", ".b8 1 2", ".b8", "1", "L: L:", ".b8 L", ".b32 1.5", ".b8 1;"] {
            assert_eq!(errors(bad), 1, "{bad}");
        }
    }
}
