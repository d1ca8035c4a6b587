//! Data races in words.

use super::diagnostic::{Diagnostic, Severity, said};
use super::parts;
use super::race_words::hint;
use super::stop::StopReport;
use super::suppress::Suppressed;
use super::terminal::{Text, inline};
use super::words::{listed, often, plural};
use crate::base::{Pc, SourceMap};
use crate::check::{Finding, Races, UnorderedData};
use crate::program::env::ProgEnv;
use crate::verdict::{BugKind, Race, Stop};
use indexmap::IndexMap;
use serde_json::json;

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
        let report = StopReport::new(&self.stop, self.env, sources).suppressed(self.accepted.as_ref());
        StopReport { times: Some(self.times), ..report }
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

    fn race(&self) -> Option<&Race> {
        let Stop::Bug(bug) = &self.stop else { return None };
        if let BugKind::Race(race) = &bug.kind { Some(race) } else { None }
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

    /// Of each pair of lines the race whose remedy helps against all of them; and those that are suppressed.
    pub fn by_lines(&self) -> impl Iterator<Item = StopReport<'_>> {
        let groups = self.groups().into_iter().filter_map(|group| Some(group.first()?.report(self.sources)));
        groups.chain(self.all().filter(|report| report.suppressed.is_some()))
    }

    /// Those that are not suppressed, by their pairs of lines: what orders the first one, the widest, orders all.
    fn groups(&self) -> Vec<Vec<&Told<'_>>> {
        let mut groups: IndexMap<_, Vec<&Told<'_>>> = IndexMap::new();
        for told in self.findings.iter().filter(|f| f.accepted.is_none()) {
            groups.entry(told.lines(self.sources)).or_default().push(told);
        }
        let widest = |mut group: Vec<_>| {
            // Why nothing orders them: the greater, the wider what would.
            group.sort_by_key(|told: &&Told<'_>| std::cmp::Reverse(told.race().map(|race| race.cause)));
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
        let more = |all: usize, what: &str| match all.saturating_sub(TOLD) as u64 {
            0 => String::new(),
            left => format!("and {left} more {} of {what}\n", plural(left, "pair")),
        };
        text.push(more(groups.len(), "lines that race"));
        for report in self.all() {
            report.suppressed.iter().for_each(|known| text.push(report.in_short(known)));
        }
        for diagnostic in self.unordered.iter().take(TOLD) {
            text.push(diagnostic.render(self.sources, colour));
        }
        text.push(more(self.unordered.len(), "volatile accesses that nothing orders"));
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
        let places = listed(&self.hidden, NAMED, place, |n| format!("and {n} more"));
        let them = if self.hidden.len() == 1 { "it" } else { "them" };
        format!("benign races, stores of the same value: {}; --benign none reports {them}\n", places.join(", "))
    }

    /// Warnings of volatile data that nothing orders.
    pub fn unordered(&self) -> &[Diagnostic] {
        &self.unordered
    }

    /// All of them as data; the hint of a race is that of the widest one between the same lines.
    #[must_use]
    pub fn data(&self) -> parts::Races {
        let groups = self.groups();
        let widest = groups.iter().filter_map(|group| Some((group[0].lines(self.sources), hint(group[0].race()?))));
        let widest: IndexMap<_, _> = widest.collect();
        let one = |told: &Told<'_>| {
            let mut value = told.report(self.sources).json();
            if let Some(hint) = widest.get(&told.lines(self.sources)) {
                value["hint"] = (*hint).into();
            }
            value
        };
        parts::Races {
            races: self.findings.iter().map(one).collect(),
            unordered: self.unordered.iter().map(|d| json!(d.message(self.sources))).collect(),
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
    let label = format!("loads what another thread stored, {}", often(data.times));
    let mut diagnostic = said("unordered", message, label)
        .at(file, load)
        .also(other, store, "the other thread's store; it executes no fence before or after it")
        .hint(hint);
    diagnostic.severity = Severity::Warning;
    diagnostic
}
