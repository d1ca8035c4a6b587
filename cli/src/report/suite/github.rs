//! Annotations: lines that GitHub's runner takes for commands, which put messages beside the source of a change.
//!
//! The form is that of GitHub's documentation, "Workflow commands": `::error file=F,line=L,col=C,title=T::MESSAGE`. A message
//! has `%`, CR and LF encoded, a property `:` and `,` besides, as the runner's own toolkit does. What else a runner or a
//! terminal would obey is taken away first: names and messages come from the inputs.

use super::{Case, Finding, Status};
use crate::report::diagnostic::Severity;
use crate::report::terminal::{Text, inline};
use std::fmt::Write;

/// The annotations of a file: an error for each finding that makes it fail, a warning for one that is to be known.
#[must_use]
pub fn annotations(case: &Case) -> Text {
    let told = case.findings.iter().filter(|f| f.accepted.is_none());
    let mut out: String = told.map(|finding| annotation(case, finding)).collect();
    if case.status == Status::NotRun && case.findings.is_empty() {
        let _ = writeln!(
            out,
            "::warning file={},title=warpstep%3A not run::this file was not tested",
            property(&case.file)
        );
    }
    Text::ours(out)
}

fn annotation(case: &Case, finding: &Finding) -> String {
    let command = if finding.severity == Severity::Error { "error" } else { "warning" };
    let mut at = match &finding.place {
        Some(spot) => {
            let column = if spot.column > 0 { format!(",col={}", spot.column) } else { String::new() };
            format!("file={},line={}{column}", property(&spot.file), spot.line)
        }
        None => format!("file={}", property(&case.file)),
    };
    let _ = write!(at, ",title={}", property(&format!("warpstep: {}", finding.code)));
    let by = finding.seed.map(|seed| format!("found by seed {seed}"));
    let again = finding.replay.as_ref().map(|replay| format!("see it again: {replay}"));
    let of = Some(format!("in the test {}", case.file));
    let lines = [Some(finding.message.clone()), finding.hint.clone(), of, by, again];
    let message: Vec<String> = lines.iter().flatten().map(|line| data(line)).collect();
    format!("::{command} {at}::{}\n", message.join("%0A"))
}

/// A message, or a line of one.
fn data(text: &str) -> String {
    // What inline leaves has no line ends: they are encoded as text before.
    let lines: Vec<String> = text.lines().map(|line| inline(line).replace('%', "%25")).collect();
    lines.join("%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_separates_is_encoded() {
        assert_eq!(property("a,b:c%d"), "a%2Cb%3Ac%25d");
        assert_eq!(data("50% of\nx: 1, 2"), "50%25 of%0Ax: 1, 2");
    }

    #[test]
    fn an_input_begins_no_command() {
        for evil in ["x\r::error::pwned", "x\u{1b}]0;t\u{7}", "##[error]x", "\u{202e}::error"] {
            let (message, value) = (data(evil), property(evil));
            assert!(!message.contains(|c: char| c.is_control() || c == '\u{202e}'), "{message:?}");
            assert!(!message.contains("##[") && !value.contains("::"), "{message:?} {value:?}");
        }
    }
}
