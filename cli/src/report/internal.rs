//! Errors of warpstep itself: what to report, and how.
//!
//! They are loud and look like nothing else: exit code 101, whatever command ran into one.

use crate::base::SourceMap;
use crate::verdict::Internal;
use std::fmt::Write;
use std::panic::PanicHookInfo;

/// What a process ends with that ran into an error of warpstep: the same as after a panic.
pub const INTERNAL: u8 = 101;

/// What to do about it.
pub(super) const HINT: &str = "this is an error of warpstep, and nothing is said about the program: please report it with this message, \
                               the command and the files that it names";

/// The command line as it was given. Arguments with spaces are in quotes.
pub(super) fn command() -> String {
    let word = |word: std::ffi::OsString| {
        let word = word.to_string_lossy().into_owned();
        if word.is_empty() || word.contains(char::is_whitespace) { format!("'{word}'") } else { word }
    };
    let mut all = vec!["warpstep".to_owned()];
    all.extend(std::env::args_os().skip(1).map(word));
    all.join(" ")
}

/// The version that has the error.
pub(super) fn version() -> String {
    format!("warpstep {} on {}-{}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH, std::env::consts::OS)
}

/// What somebody needs who is to find the error, in lines.
pub(super) fn needed(sources: &SourceMap) -> String {
    let mut text = format!("version: {}\ncommand: {}", version(), command());
    for (k, source) in sources.iter().enumerate() {
        let _ = write!(text, "{}{}", if k == 0 { "\nfiles: " } else { ", " }, source.name);
    }
    text
}

/// Where warpstep noticed it.
pub(super) fn noticed(error: &Internal) -> String {
    format!("{}:{}", error.noticed.file(), error.noticed.line())
}

/// What is told of a panic, ending in a line feed.
#[must_use]
pub fn panicked(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let what = text.unwrap_or("a panic without a message");
    let at = info.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
    let needed = needed(&SourceMap::default()).replace('\n', "\n  note: ");
    format!("[internal] Error: warpstep panicked: {what}{at}\n  note: {needed}\n  help: {HINT}\n")
}
