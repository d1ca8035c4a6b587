//! Text on its way to a terminal or a log.
//!
//! Names and lines of files come from anybody. A terminal obeys escape sequences, a reader is misled by characters that turn
//! the direction of writing or are not seen at all ("Trojan Source", N. Boucher and R. Anderson, 2023), and the logs of
//! continuous integration take some lines for commands (`::error …`, `##[error]`). So text leaves as [`Text`], and whatever
//! becomes one is escaped; only excerpts, whose parts were escaped before, keep the colours that we gave them
//! (D-escaped-text).

use std::borrow::Cow;
use std::fmt::{self, Display, Write};
use std::ops::Deref;

/// Text that does nothing to a terminal but appear there, in lines that are ours.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Text(String);

impl Text {
    /// Text whose escapes are ours, since those of its parts were taken away before ([`inline`], [`in_place`]).
    pub(super) const fn ours(text: String) -> Self {
        Self(text)
    }

    /// Appends a text.
    pub fn push(&mut self, more: impl Into<Self>) {
        self.0.push_str(&more.into().0);
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            // The runner of GitHub's actions leaves out blanks before it looks for a command.
            let start = line.len() - line.trim_start().len();
            let (blanks, rest) = line.split_at(start);
            out.push_str(blanks);
            let rest = match rest.strip_prefix("::") {
                Some(rest) => {
                    out.push_str("\\u{3a}:");
                    rest
                }
                None => rest,
            };
            put(rest, &mut out, |c| c == '\n' || c == '\t');
        }
        Self(out)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

/// A name, a path or another word of an input, on one line.
#[must_use]
pub fn inline(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    put(text, &mut out, |_| false);
    Cow::Owned(out)
}

/// Lines of an input with marks in place of what acts on a terminal: of as many bytes, so that places in it stay.
#[must_use]
pub(super) fn in_place(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let line_end = c == '\n' || c == '\r' && rest.peek() == Some(&'\n');
        if line_end || c == '\t' || !acts(c) {
            out.push(c);
        } else {
            out.push_str(["?", "??", "\u{fffd}", "\u{fffd}?"][c.len_utf8() - 1]);
        }
    }
    if out.contains(COMMAND) { out.replace(COMMAND, "?#[") } else { out }
}

/// JSON that does nothing to a terminal or a runner: the same value, with escapes in its strings.
#[must_use]
pub fn json(text: &str) -> Cow<'_, str> {
    let escaped = |c: char| acts(c) && c != '\n';
    if !text.contains(escaped) && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let (mut out, mut hash) = (String::with_capacity(text.len() + 16), false);
    for c in text.chars() {
        if escaped(c) || c == '#' && hash {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
        hash = c == '#';
    }
    Cow::Owned(out)
}

/// How a command begins to some runners, anywhere in a line: `##[`, `##vso[`, `##teamcity[`.
const COMMAND: &str = "##[";

/// Appends a text, escaped but for characters that may stay.
fn put(text: &str, out: &mut String, stays: impl Fn(char) -> bool) {
    let mut hash = false;
    for c in text.chars() {
        match c {
            _ if stays(c) || !(acts(c) || c == '#' && hash) => out.push(c),
            '#' => out.push_str("\\u{23}"),
            _ => out.extend(c.escape_default()),
        }
        hash = c == '#';
    }
}

/// Whether a character does something other than to stand where it is: controls, and those that order or hide others.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAD: &str = "\u{1b}[31m \u{7} \u{9b}2J \u{202e}abc\u{2066} \r \u{2028}::error::x \u{e0041}";

    #[test]
    fn nothing_acts() {
        let harmless = |text: &str| !text.contains(|c| acts(c) && c != '\n');
        assert!(
            harmless(&Text::from(BAD)) && harmless(&inline(BAD)) && harmless(&json(BAD)) && harmless(&in_place(BAD))
        );
        assert_eq!(inline("a\nb\tc"), "a\\nb\\tc");
        assert_eq!(inline("größer ✓ 中"), "größer ✓ 中");
        assert_eq!(in_place(BAD).len(), BAD.len());
        assert_eq!(in_place("a\r\nb\rc"), "a\r\nb?c");
        let value = serde_json::json!({ "a": BAD, "b": "##[error]" });
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json(&value.to_string())).unwrap(), value);
    }

    #[test]
    fn no_line_is_a_command() {
        for text in ["::error::x", "a\n  ::error::x", "a\r\n\t::set-output", "a ##[error]x", "##vso[task]"] {
            let text = Text::from(text);
            let command = |line: &str| line.trim_start().starts_with("::") || line.contains("##");
            assert!(!text.lines().any(command), "{text:?}");
        }
        assert_eq!(&*Text::from("std::string\na :: b\n"), "std::string\na :: b\n");
        assert!(!in_place("x ##[error]").contains(COMMAND));
    }

    #[test]
    fn what_is_ours_stays() {
        let mut text = Text::ours("\u{1b}[31mred\u{1b}[0m\n".into());
        text.push("\u{1b}[31m");
        assert_eq!(&*text, "\u{1b}[31mred\u{1b}[0m\n\\u{1b}[31m");
    }
}
