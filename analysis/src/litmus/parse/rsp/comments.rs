//! Comments of C, which other litmus tests do not have.

use crate::base::Span;

/// A text without its comments.
pub(in crate::litmus::parse) struct Comments {
    /// The text; characters of comments are blanks, so that all places stay what they are.
    pub(in crate::litmus::parse) text: String,
    /// Where a comment begins that does not end.
    pub(in crate::litmus::parse) open: Option<Span>,
}

/// Leaves out `// …` and `/* … */`. `(* … *)`, a comment of other litmus tests, is none here: `(*x)` is
/// an expression.
pub(in crate::litmus::parse) fn blank(text: &str) -> Comments {
    let (mut kept, mut open) = (String::with_capacity(text.len()), None);
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        let (before, comment) = rest.split_at(at);
        kept.push_str(before);
        let length = if comment.starts_with("//") {
            comment.find('\n')
        } else {
            // The star of the opening is none of the closing.
            let end = comment[2..].find("*/").map(|end| end + 4);
            if end.is_none() {
                let start = u32::try_from(kept.len()).unwrap_or(u32::MAX);
                open = Some(Span::new(start, start.saturating_add(2)));
            }
            end
        };
        let (comment, after) = comment.split_at(length.unwrap_or(comment.len()));
        kept.extend(comment.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }));
        rest = after;
    }
    kept.push_str(rest);
    Comments { text: kept, open }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_what_they_are() {
        let text = "a // b\nc /* é\n*/ d /\\ e /*/ f */ g";
        let blank = blank(text);
        assert_eq!(blank.text.len(), text.len());
        assert_eq!(blank.text.split_whitespace().collect::<Vec<_>>(), ["a", "c", "d", "/\\", "e", "g"]);
        assert_eq!(blank.text.find('d'), text.find('d'));
        assert_eq!(blank.text.find('\n'), text.find('\n'));
        assert!(blank.open.is_none());
    }

    #[test]
    fn a_comment_that_does_not_end_is_told() {
        assert_eq!(blank("a /* b").open, Some(Span::new(2, 4)));
        assert!(blank("a // b").open.is_none());
    }
}
