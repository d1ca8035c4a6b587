//! Data races in words.

use super::bug::{Words, inside_json, place_in, space_of, words as named};
use super::stop::StopReport;
use super::suppress::{suppressed, suppressed_json};
use super::terminal::Text;
use crate::base::SourceMap;
use crate::check::{Finding, Races};
use crate::launch::{Suppression, Suppressions};
use crate::program::env::ProgEnv;
use crate::verdict::{AccessKind, AllocKind, Inside, Party, Race, Stop, Unordered};
use serde_json::{Value, json};

/// How many pairs of instructions a text tells in full.
const TOLD: usize = 20;

/// The races of a run.
pub struct RacesReport<'a> {
    findings: Vec<Told<'a>>,
    sources: &'a SourceMap,
}

/// A race to be told.
struct Told<'a> {
    env: &'a ProgEnv,
    stop: Stop,
    times: u64,
    accepted: Option<Suppression>,
}

impl<'a> RacesReport<'a> {
    /// A report of what the observers of a run found; `sources` are the files of its programs.
    #[must_use]
    pub fn new(all: impl IntoIterator<Item = &'a Races>, sources: &'a SourceMap) -> Self {
        let mut findings = Vec::new();
        for races in all {
            let env = races.program();
            let stop = |f: &Finding| Stop::Bug(Box::new(f.bug.clone()));
            let told = |f: &Finding| Told { env, stop: stop(f), times: f.times, accepted: None };
            findings.extend(races.findings().map(told));
        }
        Self { findings, sources }
    }

    /// The same, with the races that are suppressed.
    #[must_use]
    pub fn accept(mut self, known: &mut Suppressions) -> Self {
        for told in &mut self.findings {
            told.accepted = known.accept(&told.stop, told.env, self.sources).cloned();
        }
        self
    }

    /// Whether there is a race that is not suppressed.
    #[must_use]
    pub fn any(&self) -> bool {
        self.findings.iter().any(|f| f.accepted.is_none())
    }

    /// Each race, and the entry that suppresses it.
    pub fn all(&self) -> impl Iterator<Item = (StopReport<'_>, Option<&Suppression>)> {
        self.findings
            .iter()
            .map(|f| (StopReport::new(&f.stop, f.env, self.sources).times(f.times), f.accepted.as_ref()))
    }

    /// Each pair of instructions with an excerpt, the first 20 of them; those that are suppressed in short, by
    /// the entries of a file that is in `known`.
    #[must_use]
    pub fn render(&self, known: &SourceMap, colour: bool) -> Text {
        let mut text = Text::default();
        let open = || self.all().filter(|(_, accepted)| accepted.is_none());
        for (report, _) in open().take(TOLD) {
            text.push(report.render(colour));
        }
        let all = open().count();
        if all > TOLD {
            text.push(format!("and {} more pairs of instructions that race\n", all - TOLD));
        }
        for (report, entry) in self.all().filter_map(|(report, accepted)| Some((report, accepted?))) {
            text.push(suppressed(&report, entry, known));
        }
        text
    }

    /// For each pair of instructions the object that [`StopReport::json`] makes, with `times` and perhaps `suppressed`.
    #[must_use]
    pub fn json(&self, known: &SourceMap) -> Vec<Value> {
        let one = |(report, accepted): (StopReport<'_>, Option<&Suppression>)| {
            let mut value = report.json();
            value["times"] = report.times.into();
            if let Some(entry) = accepted {
                value["suppressed"] = suppressed_json(entry, known);
            }
            value
        };
        self.all().map(one).collect()
    }
}

/// The words for a race.
pub(super) fn words(race: &Race) -> Words {
    let Race { first, second, .. } = race;
    let both = [first, second].map(|p| p.kind);
    let kinds = match both {
        [AccessKind::Write, AccessKind::Write] => "two writes".to_owned(),
        [a, b] => format!("a {} and a {}", noun(a), noun(b)),
    };
    let at = location(race.space, race.inside.as_ref(), second.address);
    let message = format!("data race: {kinds} of {at}, {}", cause(race.cause));
    let same = if race.same_value { "; the other one writes the same" } else { "" };
    named(message, format!("the later one {}{same}", does(second))).hint(hint(race))
}

/// A location, e.g. "`tile`+64 (shared memory at 0x100000040)".
fn location(space: AllocKind, inside: Option<&Inside>, address: u64) -> String {
    let at = format!("{} memory at {address:#x}", space_of(space));
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
        "lanes of one instruction write different values to {bytes} {} at {at}: which one stays is open",
        if bytes == 1 { "byte" } else { "bytes" }
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
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic operation",
    }
}

fn number(value: u64) -> String {
    if value < 10 { value.to_string() } else { format!("{value} ({value:#x})") }
}

fn does(p: &Party) -> String {
    let bytes = format!("{} {}", p.bytes, if p.bytes == 1 { "byte" } else { "bytes" });
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
            "all write the same: --benign same-value hides such races, one lane would do"
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

/// The fields of a race as JSON: `first` and `second` have `kind` (`read`, `write`, `atomic`), `strong`, `address`,
/// `bytes` and `value`; `cause` is one of `same-instruction`, `same-warp`, `same-block`, `other-block`, `scopes`,
/// `sizes`.
pub(super) fn details(race: &Race) -> Value {
    let party = |p: &Party| {
        let kind = match p.kind {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Atomic => "atomic",
        };
        json!({ "kind": kind, "strong": p.strong, "address": p.address, "bytes": p.bytes, "value": p.value })
    };
    let cause = match race.cause {
        Unordered::SameInstruction => "same-instruction",
        Unordered::SameWarp => "same-warp",
        Unordered::SameBlock => "same-block",
        Unordered::OtherBlock => "other-block",
        Unordered::Scopes => "scopes",
        Unordered::Sizes => "sizes",
    };
    json!({ "first": party(&race.first), "second": party(&race.second), "space": space_of(race.space), "cause": cause,
            "inside": race.inside.as_ref().map(inside_json), "same_value": race.same_value })
}
