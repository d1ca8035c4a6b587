//! The data of a debug section (PTX ISA 11.5.4): labels, and lists of bytes, words and addresses.

use super::{CheckError, Checker, Problem};
use crate::base::Span;
use rustc_hash::FxHashSet;

/// A token of a section: its text and where it begins in the body.
type Token<'a> = (&'a str, usize);

impl Checker<'_> {
    /// Checks the text between a section's braces; `span` covers the whole section.
    pub fn section(&mut self, body: &str, span: Span) {
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let start = span.end.saturating_sub(1).saturating_sub(length).max(span.start);
        let mut labels = FxHashSet::default();
        let mut rest = Tokens { text: body, at: 0 };
        let mut ahead = rest.next();
        while let Some(token) = ahead {
            let problem = match token.0 {
                "." => statement(&mut rest, &mut ahead),
                name if is_name(name) => {
                    ahead = rest.next();
                    if ahead.map(|t| t.0) == Some(":") {
                        ahead = rest.next();
                        (!labels.insert(name)).then(|| Problem::Duplicate { name: name.to_owned() })
                    } else {
                        Some(Problem::SectionData { found: name.to_owned() })
                    }
                }
                other => Some(Problem::SectionData { found: other.to_owned() }),
            };
            if let Some(problem) = problem {
                let at = start + u32::try_from(token.1).unwrap_or(0);
                self.errors.push(CheckError::new(problem, Span::new(at, at + 1)));
                return;
            }
        }
    }
}

/// `.b8 1, 2` · `.b64 label + 4` · `.b32 .debug_abbrev` · `.b32 end - begin`, after its dot.
fn statement<'a>(rest: &mut Tokens<'a>, ahead: &mut Option<Token<'a>>) -> Option<Problem> {
    let bad = |found: &str| Some(Problem::SectionData { found: found.to_owned() });
    let Some((ty, _)) = rest.next() else { return bad(".") };
    let bits = match ty {
        "b8" => 8,
        "b16" => 16,
        "b32" => 32,
        "b64" => 64,
        _ => return bad(&format!(".{ty}")),
    };
    *ahead = rest.next();
    let mut advance = |ahead: &mut Option<Token<'a>>| std::mem::replace(ahead, rest.next()).map_or("", |t| t.0);
    let first = ahead.map_or("", |t| t.0);
    if first == "." || is_name(first) {
        advance(ahead);
        let section = first == ".";
        if section && !is_name(advance(ahead)) || bits < 32 {
            return bad(first);
        }
        return match ahead.map_or("", |t| t.0) {
            "+" => {
                advance(ahead);
                let offset = advance(ahead);
                if integer(offset).is_none() { bad(offset) } else { None }
            }
            "-" if !section => {
                advance(ahead);
                let other = advance(ahead);
                if is_name(other) { None } else { bad(other) }
            }
            _ => None,
        };
    }
    loop {
        let negative = ahead.map(|t| t.0) == Some("-");
        if negative {
            advance(ahead);
        }
        let text = advance(ahead);
        let Some(value) = integer(text) else { return bad(text) };
        if bits < 64 && value >> bits != 0 {
            return bad(text);
        }
        if ahead.map(|t| t.0) != Some(",") {
            return None;
        }
        advance(ahead);
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$' | '%'))
}

fn integer(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            let rest = &rest[blank..];
            let skip = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |n| n + 2)
            } else {
                break;
            };
            self.at += skip;
        }
        let rest = &self.text[self.at..];
        let word = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')));
        let length = match word.unwrap_or(rest.len()) {
            0 => rest.chars().next()?.len_utf8(),
            n => n,
        };
        let token = (&rest[..length], self.at);
        self.at += length;
        Some(token)
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
