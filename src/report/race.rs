//! Data races in words.

use super::bug::{Words, place_in, words as named};
use super::count::{counted, often, plural, word};
use super::diagnostic::{Diagnostic, Severity};
use super::parts;
use super::stop::StopReport;
use super::suppress::Suppressed;
use super::terminal::{Text, inline};
use crate::base::{Pc, SourceMap};
use crate::check::{Finding, Races, UnorderedData};
use crate::program::env::ProgEnv;
use crate::verdict::{AccessKind, AllocKind, BugKind, Inside, Party, Race, Stop, Unordered};
use indexmap::IndexMap;

/// How many pairs of instructions a text tells in full.
const TOLD: usize = 20;

/// How many benign places a line names.
const NAMED: usize = 3;

/// The races of a run.
pub struct RacesReport<'a> {
    findings: Vec<Told<'a>>,
    /// Those that are no defects (`--benign`).
    hidden: Vec<Told<'a>>,
    /// Volatile data that nothing orders.
    unordered: Vec<Diagnostic>,
    sources: &'a SourceMap,
}

/// A race to be told.
struct Told<'a> {
    env: &'a ProgEnv,
    stop: Stop,
    times: u64,
    accepted: Option<Suppressed>,
}

/// A line of a source: of the CUDA program where the PTX names it.
type Line = (String, u32);

impl Told<'_> {
    fn report<'s>(&'s self, sources: &'s SourceMap) -> StopReport<'s> {
        StopReport::new(&self.stop, self.env, sources).times(self.times).suppressed(self.accepted.as_ref())
    }

    /// What two things race with each other: kind and lines, whichever comes first.
    fn lines(&self, sources: &SourceMap) -> (bool, Line, Line) {
        let Stop::Bug(bug) = &self.stop else { return Default::default() };
        let report = self.report(sources);
        let line = |pc| {
            if let Some(cuda) = report.cuda(pc) {
                return (cuda.file, cuda.line);
            }
            let (file, span) = report.span(pc);
            let source = sources.get(file);
            source.map_or_else(Line::default, |s| (s.name.clone(), s.line_col(span.start).0))
        };
        let (a, b) = (line(bug.place.pc), line(bug.other.as_ref().map_or(bug.place.pc, |o| o.pc)));
        let race = matches!(bug.kind, BugKind::Race(_));
        if a <= b { (race, a, b) } else { (race, b, a) }
    }

    /// Why nothing orders them: the greater, the wider what would.
    fn cause(&self) -> Option<Unordered> {
        let Stop::Bug(bug) = &self.stop else { return None };
        if let BugKind::Race(race) = &bug.kind { Some(race.cause) } else { None }
    }

    /// What to do about it.
    fn hint(&self) -> Option<&'static str> {
        let Stop::Bug(bug) = &self.stop else { return None };
        if let BugKind::Race(race) = &bug.kind { Some(hint(race)) } else { None }
    }
}

impl<'a> RacesReport<'a> {
    /// A report of what the observers of a run found; `sources` are the files of its programs.
    #[must_use]
    pub fn new(all: impl IntoIterator<Item = &'a Races>, sources: &'a SourceMap) -> Self {
        let (mut findings, mut hidden, mut unordered) = (Vec::new(), Vec::new(), Vec::new());
        for races in all {
            let env = races.program();
            let stop = |f: &Finding| Stop::Bug(Box::new(f.bug.clone()));
            let told = |f: &Finding| Told { env, stop: stop(f), times: f.times, accepted: None };
            findings.extend(races.findings().map(told));
            hidden.extend(races.hidden().map(told));
            unordered.extend(races.unordered().map(|data| unordered_data(env, data)));
        }
        Self { findings, hidden, unordered, sources }
    }

    /// The same, with the races that are suppressed, as `known` says.
    #[must_use]
    pub fn accept(mut self, mut known: impl FnMut(&Stop, &ProgEnv, &SourceMap) -> Option<Suppressed>) -> Self {
        for told in &mut self.findings {
            told.accepted = known(&told.stop, told.env, self.sources);
        }
        self
    }

    /// Whether there is a race that is not suppressed.
    #[must_use]
    pub fn any(&self) -> bool {
        self.findings.iter().any(|f| f.accepted.is_none())
    }

    /// Each race.
    pub fn all(&self) -> impl Iterator<Item = StopReport<'_>> {
        self.findings.iter().map(|f| f.report(self.sources))
    }

    /// Those that are not suppressed, by their pairs of lines: what orders the first one, the widest, orders all.
    fn groups(&self) -> Vec<Vec<&Told<'_>>> {
        let mut groups: IndexMap<_, Vec<&Told<'_>>> = IndexMap::new();
        for told in self.findings.iter().filter(|f| f.accepted.is_none()) {
            groups.entry(told.lines(self.sources)).or_default().push(told);
        }
        let widest = |mut group: Vec<_>| {
            group.sort_by_key(|told: &&Told<'_>| std::cmp::Reverse(told.cause()));
            group
        };
        groups.into_values().map(widest).collect()
    }

    /// Each pair of source lines with an excerpt, the first 20 of them; those that are suppressed in short;
    /// those that are no defects in a line.
    #[must_use]
    pub fn render(&self, colour: bool) -> Text {
        let mut text = Text::default();
        let groups = self.groups();
        for group in groups.iter().take(TOLD) {
            let Some((first, others)) = group.split_first() else { continue };
            text.push(first.report(self.sources).render(colour));
            if !others.is_empty() {
                let (pairs, times) = (others.len() as u64, others.iter().map(|o| o.times).sum());
                let of = plural(pairs, "pair");
                text.push(format!("and {pairs} more {of} of instructions of these lines, {}\n", often(times)));
            }
        }
        let left = groups.len().saturating_sub(TOLD) as u64;
        if left > 0 {
            text.push(format!("and {left} more {} of lines that race\n", plural(left, "pair")));
        }
        for report in self.all() {
            report.suppressed.iter().for_each(|known| text.push(report.in_short(known)));
        }
        for diagnostic in self.unordered.iter().take(TOLD) {
            text.push(diagnostic.render(self.sources, colour));
        }
        let left = self.unordered.len().saturating_sub(TOLD) as u64;
        if left > 0 {
            text.push(format!("and {left} more {} of volatile accesses that nothing orders\n", plural(left, "pair")));
        }
        text.push(self.benign());
        text
    }

    /// Where races are that are no defects, in a line.
    fn benign(&self) -> String {
        if self.hidden.is_empty() {
            return String::new();
        }
        let place = |told: &Told<'_>| {
            let (_, (file, line), _) = told.lines(self.sources);
            format!("{}:{line} ({})", inline(&file), often(told.times))
        };
        let mut places: Vec<String> = self.hidden.iter().take(NAMED).map(place).collect();
        let more = self.hidden.len().saturating_sub(NAMED);
        if more > 0 {
            places.push(format!("and {more} more"));
        }
        let them = if self.hidden.len() == 1 { "it" } else { "them" };
        format!("benign races, stores of the same value: {}; --benign none reports {them}\n", places.join(", "))
    }

    /// Warnings of volatile data that nothing orders.
    #[must_use]
    pub fn unordered(&self) -> &[Diagnostic] {
        &self.unordered
    }

    /// All of them as data; the hint of a race is that of the widest one between the same lines.
    #[must_use]
    pub fn data(&self) -> parts::Races {
        let mut widest = IndexMap::new();
        for group in self.groups() {
            if let Some(first) = group.first() {
                widest.insert(first.lines(self.sources), first.hint());
            }
        }
        let one = |told: &Told<'_>| {
            let mut value = told.report(self.sources).json();
            if let Some(Some(hint)) = widest.get(&told.lines(self.sources)) {
                value["hint"] = (*hint).into();
            }
            value
        };
        parts::Races {
            races: self.findings.iter().map(one).collect(),
            unordered: self.unordered.iter().map(|d| d.json(self.sources)).collect(),
            benign_races: self.hidden.iter().map(|told| told.report(self.sources).json()).collect(),
        }
    }
}

fn unordered_data(env: &ProgEnv, data: UnorderedData) -> Diagnostic {
    let span = |pc: Pc| env.place(pc).unwrap_or_default();
    let ((file, load), (other, store)) = (span(data.load), span(data.store));
    let message = "strong, but unordered: nothing makes the other thread's write visible here";
    let hint = if data.near {
        "volatile orders nothing: put __syncthreads() or __syncwarp() between; --volatile weak reports such pairs as races"
    } else {
        "volatile orders nothing: put __threadfence() between the data and the flag that tells of it; --volatile weak \
         reports such pairs as races"
    };
    let mut diagnostic = Diagnostic::error("unordered", file, load, message)
        .label(format!("loads what another thread stored, {}", often(data.times)))
        .also(other, store, "the other thread's store; it executes no fence before or after it")
        .hint(hint);
    diagnostic.severity = Severity::Warning;
    diagnostic
}

/// The words for a race.
pub(super) fn words(race: &Race) -> Words {
    let Race { first, second, .. } = race;
    let both = [first, second].map(|p| p.kind);
    let kinds = match both {
        [AccessKind::Write, AccessKind::Write] => "two writes".to_owned(),
        [a, b] => format!("{} and {}", noun(a), noun(b)),
    };
    let at = location(race.space, race.inside.as_ref(), second.address);
    let message = format!("data race: {kinds} of {at}, {}", cause(race.cause));
    let same = if race.same_value { "; the other one writes the same" } else { "" };
    named(message, format!("the later one {}{same}", does(second))).hint(hint(race))
}

/// A location, e.g. "`tile`+64 (shared memory at 0x100000040)".
fn location(space: AllocKind, inside: Option<&Inside>, address: u64) -> String {
    let at = format!("{} memory at {address:#x}", word(space.space()));
    inside.and_then(place_in).map_or_else(|| at.clone(), |name| format!("{name} ({at})"))
}

/// The words for lanes that strongly write different values to some bytes at an address.
pub(super) fn lane_decides(
    (address, bytes): (u64, u32),
    inside: Option<&Inside>,
    first: Option<u64>,
    second: Option<u64>,
) -> Words {
    let value = |v: Option<u64>| v.map_or_else(|| "something".to_owned(), number);
    let at = inside.and_then(place_in).map_or_else(|| format!("{address:#x}"), |name| format!("{name} ({address:#x})"));
    let message = format!(
        "lanes of one instruction write different values to {} at {at}: which one stays is open",
        counted(bytes.into(), "byte")
    );
    named(message, format!("among them {} and {}", value(first), value(second)))
        .hint("let one lane write, or combine the values with an atomic operation")
}

/// What the earlier party of a race did, e.g. "the other party wrote 4 bytes: 7".
pub(super) fn other(race: &Race) -> String {
    format!("the other party {}", does(&race.first))
}

const fn noun(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "a read",
        AccessKind::Write => "a write",
        AccessKind::Atomic => "an atomic operation",
    }
}

fn number(value: u64) -> String {
    if value < 10 { value.to_string() } else { format!("{value} ({value:#x})") }
}

fn does(p: &Party) -> String {
    let bytes = counted(p.bytes.into(), "byte");
    let strong = if p.strong && p.kind != AccessKind::Atomic { " strongly" } else { "" };
    let (verb, joint) = match p.kind {
        AccessKind::Read => ("reads", ""),
        AccessKind::Write => ("writes", ""),
        AccessKind::Atomic => ("updates", ", finding"),
    };
    match p.value {
        Some(value) if joint.is_empty() => format!("{verb} {bytes}{strong}: {}", number(value)),
        Some(value) => format!("{verb} {bytes}{joint} {}", number(value)),
        None => format!("{verb} {bytes}{strong}"),
    }
}

const fn cause(cause: Unordered) -> &'static str {
    match cause {
        Unordered::SameInstruction => "by lanes of one instruction",
        Unordered::SameWarp => "by threads of one warp with no __syncwarp() between",
        Unordered::SameBlock => "by threads of one block with no barrier between",
        Unordered::OtherBlock => "by threads of different blocks that nothing orders",
        Unordered::Scopes => "whose scopes do not include each other's threads",
        Unordered::Sizes => "which are both strong but of different sizes",
    }
}

const fn hint(race: &Race) -> &'static str {
    match race.cause {
        Unordered::SameInstruction if race.same_value => {
            "all write the same: without --benign none such races are hidden, one lane would do"
        }
        Unordered::SameInstruction => {
            "which lane's write stays is open: let one lane write, or use an atomic operation"
        }
        Unordered::SameWarp => "put __syncwarp() (bar.warp.sync) between, or let one thread do both",
        Unordered::SameBlock => "put __syncthreads() (bar.sync) between, outside of divergent branches",
        Unordered::OtherBlock => {
            "blocks of a launch run in any order: use atomics, release and acquire at .gpu scope, or a second launch"
        }
        Unordered::Scopes => "widen the scope to .gpu where threads of several blocks take part",
        Unordered::Sizes => "access the location with one size only",
    }
}
