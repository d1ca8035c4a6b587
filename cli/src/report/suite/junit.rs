//! JUnit XML, which most systems of continuous integration read: a test suite with a case for each file.
//!
//! A file that failed is a `failure`; one that is unsupported, broken or reached a limit is an `error` of this type, since
//! nothing is known of its program; one that was not run is `skipped`. XML has no place for control characters, not even
//! encoded (XML 1.0, section 2.2), so they become `U+FFFD`.

use super::{Case, Counts, Finding, Status, Suite};
use crate::report::words::counted;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use std::io::Result;
use std::time::Duration;

/// Lines of a report that a case has: some systems refuse large files.
const LINES: usize = 400;

/// The suite as a document.
#[must_use]
pub fn junit(suite: &Suite<'_>) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    // Nothing fails that is written to memory.
    let _ = document(&mut writer, suite);
    let mut text = String::from_utf8_lossy(&writer.into_inner()).into_owned();
    text.push('\n');
    text
}

fn document(writer: &mut Writer<Vec<u8>>, suite: &Suite<'_>) -> Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let Counts { failed, unsupported, timed_out, limit, broken, internal, not_run, .. } = suite.counts;
    let errors = unsupported + timed_out + limit + broken + internal;
    let time: Duration = suite.files.iter().map(|case| case.elapsed).sum();
    let counts = [
        ("name", "warpstep".to_owned()),
        ("tests", suite.files.len().to_string()),
        ("failures", failed.to_string()),
        ("errors", errors.to_string()),
        ("skipped", not_run.to_string()),
        ("time", seconds(time)),
    ];
    open(writer, "testsuites", &counts)?;
    open(writer, "testsuite", &counts)?;
    suite.files.iter().try_for_each(|case| write_case(writer, case))?;
    close(writer, "testsuite")?;
    close(writer, "testsuites")
}

fn write_case(writer: &mut Writer<Vec<u8>>, case: &Case) -> Result<()> {
    // Where a system shows tests as a tree, the folder is the branch.
    let (folder, name) = case.file.rsplit_once('/').unwrap_or((".", &case.file));
    let of = [
        ("classname", folder.replace('/', ".")),
        ("name", name.to_owned()),
        ("file", case.file.clone()),
        ("time", seconds(case.elapsed)),
    ];
    open(writer, "testcase", &of)?;
    let element = match case.status {
        Status::Passed => None,
        Status::Failed => Some("failure"),
        Status::NotRun => Some("skipped"),
        Status::Unsupported | Status::TimedOut | Status::Limit | Status::Broken | Status::Internal => Some("error"),
    };
    let bad: Vec<&Finding> = case.findings.iter().filter(|f| f.exit != 0).collect();
    if let Some(element) = element {
        let kind = bad.first().map_or("not-run", |f| f.code);
        let more = match bad.len() {
            0 | 1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        let message =
            bad.first().map_or_else(|| "this file was not tested".to_owned(), |f| format!("{}{more}", f.message));
        open(writer, element, &[("message", message), ("type", kind.to_owned())])?;
        writer.write_event(Event::Text(BytesText::new(&allowed(&bad.iter().map(|f| body(f)).collect::<String>()))))?;
        close(writer, element)?;
    }
    let rest = case.findings.iter().filter(|f| f.exit == 0).map(body);
    let rest: String = case.notes.iter().map(|note| format!("{note}\n")).chain(rest).collect();
    if !rest.is_empty() {
        open(writer, "system-out", &[])?;
        writer.write_event(Event::Text(BytesText::new(&allowed(&rest))))?;
        close(writer, "system-out")?;
    }
    close(writer, "testcase")
}

/// The report of a finding, and how to see it again.
fn body(finding: &Finding) -> String {
    let mut text = String::new();
    for line in finding.text.lines().take(LINES) {
        text.push_str(&plain(line));
        text.push('\n');
    }
    let left = finding.text.lines().count().saturating_sub(LINES);
    if left > 0 {
        text.push_str(&format!("and {}\n", counted(left as u64, "more line")));
    }
    finding.accepted.iter().for_each(|why| text.push_str(&format!("accepted: {why}\n")));
    finding.replay.iter().for_each(|replay| text.push_str(&format!("see it again: {replay}\n")));
    text
}

/// A line without the escape sequences of colours.
fn plain(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut text = parts.next().unwrap_or("").to_owned();
    parts.for_each(|part| text.push_str(part.split_once('m').map_or(part, |(_, rest)| rest)));
    text
}

/// A text with what XML can hold.
fn allowed(text: &str) -> String {
    let holds = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}');
    text.chars().map(|c| if holds(c) { c } else { '\u{fffd}' }).collect()
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

fn open(writer: &mut Writer<Vec<u8>>, name: &str, attributes: &[(&str, String)]) -> Result<()> {
    let mut start = BytesStart::new(name);
    attributes.iter().for_each(|(key, value)| start.push_attribute((*key, allowed(value).as_str())));
    writer.write_event(Event::Start(start))
}

fn close(writer: &mut Writer<Vec<u8>>, name: &str) -> Result<()> {
    writer.write_event(Event::End(BytesEnd::new(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_marked() {
        assert_eq!(allowed("a\u{0}b\u{1b}c\u{ffff}\td"), "a\u{fffd}b\u{fffd}c\u{fffd}\td");
        assert_eq!(plain("\u{1b}[31mred\u{1b}[0m, plain"), "red, plain");
    }
}
