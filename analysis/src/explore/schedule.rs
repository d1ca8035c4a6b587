//! Schedules as text that people can paste into a bug report.
//!
//! ```text
//! warpstep schedule 2
//! version 0.1
//! target spin.ptx --grid 1 --block 64 --control its
//! ptx 38f1c2d3e4a5b6c7
//! setup 1f2e3d4c5b6a7988
//! found endless at spin.ptx:21
//! trace 9a8b7c6d5e4f3a2b
//! launch 0
//! warp 3.1 for 12
//! group 5 for 2, 7 times
//! fair, 57 times
//! warp 0.0
//! fair
//! fair from 1000000
//! check 1f2e 3d4c 5b6a 7988 9a8b 7c6d 5e4f 3a2b 1f2e
//! end
//! ```
//!
//! A line is a decision: the [alternative](Alternative) that is taken, `for` how many warp instructions where it is not 1, and
//! how many `times` in a row: here warp 1 of block 3 runs for twelve instructions, then the lanes that run with lane 5 for
//! two, seven times. `fair, N times` leaves N decisions to the default schedule, `fair` all that are left of the launch, and
//! `fair from N` everything after the first turn that ends at N warp instructions or later.
//! `check` has sixteen bits for each line before it, of the hash (xxh3) of all lines up to there, so that the first line
//! that is not as it was written can be named. Lines may end in blanks or carriage returns: pasting adds them.

use crate::base::{FileId, Span, complaints};
use crate::choice::{Alternative, Decision, Part, Schedule};
use std::fmt::Write;
use xxhash_rust::xxh3::Xxh3;

/// The version of the format.
const FORMAT: &str = "2";
/// Checks on a line.
const CHECKS: usize = 20;

/// A schedule with what it belongs to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScheduleFile {
    /// The words of the command line that name the target: its path, then flags.
    pub target: Vec<String>,
    /// [`Target::ptx_hash`](super::Target::ptx_hash).
    pub ptx: u64,
    /// [`Target::setup_hash`](super::Target::setup_hash).
    pub setup: u64,
    /// What the schedule shows, for people.
    pub found: String,
    /// The hash of the trace ([`TraceHash`](crate::check::TraceHash)).
    pub trace: u64,
    /// The decisions.
    pub schedule: Schedule,
    /// Places in the text that it was read from.
    pub places: Places,
}

/// Where things stand in the text of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Places {
    /// The file, once it is known.
    pub file: FileId,
    /// The words of the target.
    pub target: Span,
    /// The hash of the program.
    pub ptx: Span,
    /// The hash of the rest.
    pub setup: Span,
    /// The hash of the trace.
    pub trace: Span,
}

complaints! {
    /// Why a schedule is refused.
    #[derive(Clone, PartialEq, Eq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what they are")]
    pub enum ScheduleError() {
        /// The file does not begin as a schedule does.
        NoSchedule =>
            "no-schedule" ("the file is no schedule") ("a schedule begins with `warpstep schedule`")
            ("`warpstep hunt` and `warpstep replay --seed N TARGET --save-schedule FILE` write schedules");
        /// Another version of the format.
        Format { found: String, known: &'static str } =>
            "schedule-format" ("schedules of format {found} cannot be read") ("here")
            ("this warpstep knows format {known}: replay it with the one that wrote it, or find the defect again \
              (`warpstep hunt`, or `warpstep replay --seed N TARGET --save-schedule FILE`)");
        /// Another minor version of warpstep, whose runs differ.
        Version { found: String, own: String } =>
            "schedule-version" ("the schedule is of warpstep {found}, this is {own}") ("here")
            ("a schedule holds within a minor version: replay it with the one that wrote it, or hunt again");
        /// The text ends before its last line.
        CutOff =>
            "schedule-cut" ("the schedule is cut off: its last line must be `end`") ("the text ends here")
            ("copy the whole schedule, from `warpstep schedule` to `end`");
        /// Something follows the last line.
        AfterEnd => "schedule-end" ("something follows the end of the schedule") ("here") ("remove it");
        /// The first line that is not as it was written.
        Edited =>
            "schedule-edited" ("the schedule was edited") ("the first line that is not as it was written")
            ("a schedule must be as warpstep wrote it; to change a run, hunt with other options, or minimise");
        /// A line that ought to be another.
        Line { expected: &'static str } =>
            "schedule-line" ("a line with `{expected}` should stand here") ("here");
        /// A word that is no decision.
        Word =>
            "schedule-word" ("this is no decision") ("here")
            ("e.g. `warp 3.1 for 12, 2 times`: warp 1 of block 3 for 12 warp instructions, twice; or `fair, 9 times`");
        /// There are more decisions than are read.
        TooLong { most: usize } =>
            "schedule-long" ("the schedule has more than {most} decisions") ("with these")
            ("find the defect by a shorter run: fewer blocks or threads, or a smaller --max-steps");
        /// The program is another one: hashes.
        OtherProgram { recorded: u64, found: u64 } =>
            "schedule-program"
            ("the schedule belongs to another program: the PTX has hash {found:016x}, not {recorded:016x}")
            ("the program that it was recorded with")
            ("replay it with the very same PTX; any edit makes it another program");
        /// Launches, arguments, memory or device are others: hashes.
        OtherSetup { recorded: u64, found: u64 } =>
            "schedule-setup"
            ("the schedule belongs to another launch: what is run has hash {found:016x}, not {recorded:016x}")
            ("grid, arguments, initial memory, control model, memory and device that it was recorded with")
            ("replay it with the launch file and data that it was recorded with");
    }
}

/// Decisions that are read at most: a few bytes of text stand for any number of equal ones, each of which is kept (D-schedule-length).
const LONGEST: usize = 1 << 24;

/// A reason with its place.
pub type Refusal = (ScheduleError, Span);

/// The version of warpstep within which schedules are the same.
#[must_use]
pub fn minor_version() -> String {
    concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR")).to_owned()
}

impl ScheduleFile {
    /// How the text of every schedule begins.
    pub const START: &str = "warpstep schedule ";

    /// The schedule as text.
    #[must_use]
    pub fn text(&self) -> String {
        let target: Vec<String> = self.target.iter().map(|word| quoted(word)).collect();
        let mut out = format!(
            "warpstep schedule {FORMAT}\nversion {}\ntarget {}\nptx {:016x}\nsetup {:016x}\nfound {}\ntrace {:016x}\n",
            minor_version(),
            target.join(" "),
            self.ptx,
            self.setup,
            self.found.replace(['\n', '\r'], " "),
            self.trace
        );
        for (number, parts) in self.schedule.launches.iter().enumerate() {
            let _ = writeln!(out, "launch {number}");
            decisions(parts, &mut out);
        }
        if let Some(from) = self.schedule.fair_from {
            let _ = writeln!(out, "fair from {from}");
        }
        Self::sealed(&out)
    }

    /// The lines of a schedule with their checks and the last line.
    #[must_use]
    pub fn sealed(lines: &str) -> String {
        let lines = lines.trim_end();
        let checks: Vec<String> = checks(lines).map(|(check, _)| format!("{check:04x}")).collect();
        let checks = checks.chunks(CHECKS).map(|line| format!("check {}\n", line.join(" ")));
        format!("{lines}\n{}end\n", checks.collect::<String>())
    }

    /// Reads a schedule.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place.
    pub fn parse(text: &str, file: FileId) -> Result<Self, Refusal> {
        let lines = Lines::of(text)?;
        let mut lines = lines.checked()?;
        let mut places = Places { file, ..Places::default() };
        let (version, at) = lines.after("version")?;
        if version != minor_version() {
            return Err((ScheduleError::Version { found: version.to_owned(), own: minor_version() }, at));
        }
        let (target, at) = lines.after("target")?;
        places.target = at;
        let target = words(target);
        let ptx = lines.hash("ptx", &mut places.ptx)?;
        let setup = lines.hash("setup", &mut places.setup)?;
        let found = lines.after("found")?.0.to_owned();
        let trace = lines.hash("trace", &mut places.trace)?;
        let schedule = lines.schedule()?;
        Ok(Self { target, ptx, setup, found, trace, schedule, places })
    }
}

/// Writes the decisions of a launch, a line each.
fn decisions(parts: &[Part], out: &mut String) {
    for same in parts.chunk_by(|a, b| a == b && matches!(a, Part::Take(_))) {
        let times = match same[0] {
            Part::Take(Decision { what, lease }) => {
                let _ = write!(out, "{what}");
                if lease != 1 {
                    let _ = write!(out, " for {lease}");
                }
                Some(same.len()).filter(|n| *n > 1)
            }
            Part::Fair(n) => {
                out.push_str("fair");
                usize::try_from(n).ok()
            }
            Part::Rest => {
                out.push_str("fair");
                None
            }
        };
        match times {
            Some(n) => _ = writeln!(out, ", {n} times"),
            None => out.push('\n'),
        }
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "''"))
    }
}

/// The words of a line; those in quotes may have blanks, and two quotes in a row stand for one.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('\'') {
            let mut word = String::new();
            let mut tail = inner;
            loop {
                let (part, after) = tail.split_once('\'').unwrap_or((tail, ""));
                word.push_str(part);
                tail = after;
                let Some(more) = tail.strip_prefix('\'') else { break };
                word.push('\'');
                tail = more;
            }
            words.push(word);
            rest = tail.trim_start();
        } else {
            let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
            words.push(word.to_owned());
            rest = after.trim_start();
        }
    }
    words
}

/// Sixteen bits of the hash of all lines up to each, with the line's place.
fn checks(text: &str) -> impl Iterator<Item = (u16, Span)> {
    let mut hasher = Xxh3::new();
    places(text).map(move |(line, at)| {
        hasher.update(line.as_bytes());
        hasher.update(b"\n");
        let low = hasher.digest().to_le_bytes();
        (u16::from_le_bytes([low[0], low[1]]), at)
    })
}

/// The lines of a text without blanks at their ends, with their places.
fn places(text: &str) -> impl Iterator<Item = (&str, Span)> {
    let mut start = 0;
    text.split('\n').map(move |line| {
        let kept = line.trim_end();
        let from = u32::try_from(start).unwrap_or(u32::MAX);
        let to = u32::try_from(start + kept.len()).unwrap_or(u32::MAX);
        start += line.len() + 1;
        (kept, Span::new(from, to))
    })
}

/// The lines of a schedule: those that are left to be read.
struct Lines<'a> {
    text: &'a str,
    all: Vec<(&'a str, Span)>,
    next: usize,
}

impl<'a> Lines<'a> {
    /// Looks at the first line and the last.
    fn of(text: &'a str) -> Result<Self, Refusal> {
        let mut all: Vec<_> = places(text).collect();
        while all.last().is_some_and(|(line, _)| line.is_empty()) {
            all.pop();
        }
        let (first, at) = all.first().copied().unwrap_or_default();
        let Some(format) = first.strip_prefix(ScheduleFile::START) else {
            return Err((ScheduleError::NoSchedule, at));
        };
        if format != FORMAT {
            return Err((ScheduleError::Format { found: format.to_owned(), known: FORMAT }, at));
        }
        let end = all.iter().position(|(line, _)| *line == "end");
        let last = all.last().map_or(at, |(_, at)| *at);
        match end {
            None => Err((ScheduleError::CutOff, last)),
            Some(end) if end + 1 < all.len() => Err((ScheduleError::AfterEnd, all[end + 1].1)),
            Some(end) => {
                all.truncate(end);
                Ok(Self { text, all, next: 1 })
            }
        }
    }

    /// Compares all lines with their checks, and leaves those out.
    fn checked(mut self) -> Result<Self, Refusal> {
        let body = self.all.iter().position(|(line, _)| line.starts_with("check ")).unwrap_or(self.all.len());
        let mut written = self.all[body..].iter().flat_map(|(line, _)| line.split(' ').skip(1));
        let end = self.all.get(body.saturating_sub(1)).map_or(0, |(_, at)| at.end as usize);
        let mut last = Span::default();
        for (check, at) in checks(self.text.get(..end).unwrap_or("")) {
            last = at;
            if written.next().is_none_or(|word| word != format!("{check:04x}")) {
                return Err((ScheduleError::Edited, at));
            }
        }
        if written.next().is_some() {
            return Err((ScheduleError::Edited, last));
        }
        self.all.truncate(body);
        Ok(self)
    }

    fn peek(&self) -> Option<(&'a str, Span)> {
        self.all.get(self.next).copied()
    }

    /// What follows a word that a line must begin with.
    fn after(&mut self, key: &'static str) -> Result<(&'a str, Span), Refusal> {
        let end = self.all.last().map_or(Span::default(), |(_, at)| *at);
        let (line, at) = self.peek().unwrap_or(("", end));
        let expected = || (ScheduleError::Line { expected: key }, at);
        let rest = line.strip_prefix(key).filter(|r| r.is_empty() || r.starts_with(' ')).ok_or_else(expected)?;
        self.next += 1;
        let rest = rest.trim_start();
        Ok((rest, Span::new(at.end - u32::try_from(rest.len()).unwrap_or(0), at.end)))
    }

    fn hash(&mut self, key: &'static str, place: &mut Span) -> Result<u64, Refusal> {
        let (text, at) = self.after(key)?;
        *place = at;
        u64::from_str_radix(text, 16).map_err(|_| (ScheduleError::Line { expected: key }, at))
    }

    fn schedule(&mut self) -> Result<Schedule, Refusal> {
        let (mut schedule, mut room) = (Schedule::default(), LONGEST);
        while let Some((line, at)) = self.peek() {
            if let Some(from) = line.strip_prefix("fair from ") {
                let from = from.parse().map_err(|_| (ScheduleError::Word, at))?;
                schedule.fair_from = Some(from);
                self.next += 1;
                if let Some((_, at)) = self.peek() {
                    return Err((ScheduleError::Line { expected: "check" }, at));
                }
                break;
            }
            let (number, at) = self.after("launch")?;
            if number.parse() != Ok(schedule.launches.len()) {
                return Err((ScheduleError::Line { expected: "launch" }, at));
            }
            let mut parts = Vec::new();
            while let Some((line, at)) = self.peek()
                && !line.starts_with("launch ")
                && !line.starts_with("fair from ")
            {
                read_decisions(line, at, &mut parts, &mut room)?;
                self.next += 1;
            }
            schedule.launches.push(parts);
        }
        Ok(schedule)
    }
}

/// Reads a line of decisions; `room` is how many more there may be.
fn read_decisions(line: &str, at: Span, parts: &mut Vec<Part>, room: &mut usize) -> Result<(), Refusal> {
    let wrong = || (ScheduleError::Word, at);
    let positive = |text: &str| text.parse::<u32>().ok().filter(|n| *n > 0).ok_or_else(wrong);
    let (once, times) = match line.split_once(", ") {
        Some((once, times)) => (once, Some(positive(times.strip_suffix(" times").ok_or_else(wrong)?)?)),
        None => (line, None),
    };
    if once == "fair" {
        parts.push(times.map_or(Part::Rest, Part::Fair));
        return Ok(());
    }
    let (what, lease) = match once.split_once(" for ") {
        Some((what, lease)) => (what, positive(lease)?),
        None => (once, 1),
    };
    let part = Part::Take(Decision { what: Alternative::read(what).ok_or_else(wrong)?, lease });
    let times = usize::try_from(times.unwrap_or(1)).unwrap_or(usize::MAX);
    *room = room.checked_sub(times).ok_or((ScheduleError::TooLong { most: LONGEST }, at))?;
    parts.extend(std::iter::repeat_n(part, times));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::Site;

    fn warp(block: u64, warp: u32, lease: u32) -> Part {
        Part::Take(Decision { what: Alternative::Warp { block, warp }, lease })
    }

    fn number(site: Site, number: u64, lease: u32) -> Part {
        Part::Take(Decision { what: Alternative::Numbered(site, number), lease })
    }

    fn sample() -> ScheduleFile {
        let mut first = vec![warp(3, 1, 12), warp(0, 3, 1)];
        first.extend([number(Site::Group, 5, 2); 7]);
        first.extend([Part::Fair(57), warp(1, 0, 9), Part::Fair(1), Part::Fair(1)]);
        first.extend((0..40).map(|k| number(Site::Micro, k, 1)));
        first.push(Part::Rest);
        ScheduleFile {
            target: ["it's here/k.ptx", "--buffer", "out:u32:4", ""].map(str::to_owned).to_vec(),
            ptx: 0x0123_4567_89ab_cdef,
            setup: 7,
            found: "nothing".into(),
            trace: 9,
            schedule: Schedule { launches: vec![first, Vec::new()], fair_from: Some(1_000_000) },
            places: Places::default(),
        }
    }

    fn parse(text: &str) -> Result<ScheduleFile, Refusal> {
        ScheduleFile::parse(text, FileId::default()).map(|s| ScheduleFile { places: Places::default(), ..s })
    }

    #[test]
    fn what_is_written_is_read() {
        let text = sample().text();
        assert_eq!(parse(&text), Ok(sample()), "{text}");
        let lines =
            "warp 3.1 for 12\nwarp 0.3\ngroup 5 for 2, 7 times\nfair, 57 times\nwarp 1.0 for 9\nfair, 1 times\n";
        assert!(text.contains(lines), "{text}");
        let pasted = text.replace('\n', " \r\n") + "\n\n";
        assert_eq!(parse(&pasted), Ok(sample()));
    }

    #[test]
    fn a_count_is_no_bomb() {
        let times = |n: u64| {
            let text = sample().text();
            let body = text.split("launch 0").next().unwrap();
            parse(&ScheduleFile::sealed(&format!("{body}launch 0\nwarp 0.0, {n} times\nwarp 0.1, {n} times\n")))
        };
        assert_eq!(times(3).unwrap().schedule.launches[0].len(), 6);
        for n in [LONGEST as u64, u64::from(u32::MAX)] {
            assert_eq!(times(n).unwrap_err().0, ScheduleError::TooLong { most: LONGEST }, "{n}");
        }
        assert_eq!(times(1 << 32).unwrap_err().0, ScheduleError::Word);
    }

    #[test]
    fn what_is_no_decision_is_refused() {
        let read = |line| read_decisions(line, Span::default(), &mut Vec::new(), &mut 10);
        assert_eq!(read("warp 0.1 for 3, 2 times"), Ok(()));
        for line in
            ["", "warp", "warp 0/2", "warp 0.1 for 0", "warp 0.1, 0 times", "fair, 3", "fair for 2", "warp 0.1 fair"]
        {
            assert_eq!(read(line), Err((ScheduleError::Word, Span::default())), "{line}");
        }
    }

    #[test]
    fn every_cut_and_every_edit_is_noticed() {
        let text = sample().text();
        for cut in 0..text.len() - 1 {
            let (error, _) = parse(&text[..cut]).expect_err(&text[..cut]);
            let early = text[..cut].lines().count() <= 1;
            assert!(error == ScheduleError::CutOff || early, "{error:?}");
        }
        let line_of = |offset: usize| text[..offset].matches('\n').count();
        let body = text.find("check ").unwrap();
        for at in text.find("version").unwrap()..body - 1 {
            let mut edited = text.clone().into_bytes();
            edited[at] = if edited[at] == b'7' { b'8' } else { b'7' };
            let edited = String::from_utf8(edited).unwrap();
            let (error, place) = parse(&edited).expect_err(&edited);
            assert_eq!((error, line_of(place.start as usize)), (ScheduleError::Edited, line_of(at)), "{edited}");
        }
        let lines: Vec<&str> = text.lines().collect();
        for gone in 1..lines.len() - 1 {
            let rest: Vec<&str> = lines.iter().enumerate().filter(|(k, _)| *k != gone).map(|(_, l)| *l).collect();
            assert!(parse(&rest.join("\n")).is_err(), "without {}", lines[gone]);
        }
    }
}
