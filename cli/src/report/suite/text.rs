//! What came of files that were tested, for people.

use super::{Case, Counts, Ended, Finding, Status, Suite};
use crate::report::terminal::{Text, inline};
use crate::report::words::{counted, listed};

/// Lines of a report that are shown; the command that shows it again shows all.
const LINES: usize = 40;
/// Files that are named which are no launch files.
const NAMED: usize = 3;

impl Status {
    /// In a word of a list, where what is not right stands out.
    const fn word(self) -> &'static str {
        match self {
            Self::Passed => "ok",
            Self::Failed => "FAILED",
            Self::Unsupported => "UNSUPPORTED",
            Self::TimedOut => "TIMED OUT",
            Self::Limit => "LIMIT",
            Self::Broken => "BROKEN",
            Self::Internal => "INTERNAL",
            Self::NotRun => "not run",
        }
    }
}

/// A file in a line; below it what was found, and how to see it again.
#[must_use]
pub fn line(case: &Case) -> Text {
    let Case { file, status, runs, findings, notes, .. } = case;
    let many = if *runs > 1 { format!(" ({})", counted(*runs, "run")) } else { String::new() };
    let mut text = Text::from(format!("{:<11} {}{many}\n", status.word(), inline(file)));
    for finding in findings {
        if let Some(why) = finding.accepted.as_deref().filter(|why| !why.starts_with("suppressed")) {
            // It is there on purpose: its report would look like a failure.
            text.push(format!("  {}: {}; {}\n", finding.code, inline(&finding.message), inline(why)));
            continue;
        }
        text.push(cut(finding));
        let by = finding.seed.map_or_else(String::new, |seed| format!("found by seed {seed}; "));
        if let Some(replay) = &finding.replay {
            text.push(format!("  {by}see it again: {}\n", inline(replay)));
        }
    }
    notes.iter().flat_map(|note| note.lines()).for_each(|note| text.push(format!("  {}\n", inline(note))));
    text
}

/// The first lines of a report.
fn cut(finding: &Finding) -> Text {
    let lines: Vec<&str> = finding.text.split_inclusive('\n').collect();
    let left = lines.len().saturating_sub(LINES);
    let mut text = Text::ours(lines.into_iter().take(LINES).collect());
    if left > 0 {
        text.push(format!("  and {}\n", counted(left as u64, "more line")));
    }
    text
}

/// The last line: how many files came to what.
#[must_use]
pub fn summary(suite: &Suite<'_>) -> Text {
    let Counts { passed, failed, unsupported, timed_out, limit, broken, internal, not_run } = suite.counts;
    let all = [
        (passed, "passed", true),
        (failed, "failed", true),
        (unsupported, "unsupported", false),
        (timed_out, "timed out", false),
        (limit, "reached a limit", false),
        (broken, "broken", false),
        (internal, "with an error of warpstep", false),
        (not_run, "not run", false),
    ];
    let parts = all.into_iter().filter(|(n, _, always)| *always || *n > 0).map(|(n, what, _)| format!("{n} {what}"));
    let why = match suite.ended {
        Ended::Done => "",
        Ended::FailFast => "; ended at the first that did not pass (--fail-fast)",
        Ended::Interrupted => "; interrupted",
    };
    let files = counted(suite.files.len() as u64, "launch file");
    format!("{files}: {}{why}\n", parts.collect::<Vec<_>>().join(", ")).into()
}

/// Which TOML files in the folders are no launch files, in a line.
#[must_use]
pub fn left_alone(files: &[String]) -> Text {
    if files.is_empty() {
        return Text::default();
    }
    let names = listed(files, NAMED, |name| inline(name).into_owned(), |n| format!("and {n} more"));
    let are = if files.len() == 1 { "is no launch file" } else { "are no launch files" };
    format!("left alone: {}, which {are}\n", names.join(", ")).into()
}
