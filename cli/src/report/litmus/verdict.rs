//! What the axioms say of litmus tests, in words.

use super::data::{
    Answer, Counts, Deciding, Edge, EndlessExecution, EventKind, Forbidden, LitmusEvent, LitmusExecution, LitmusStep,
    ModelVerdict, PartOf, TestVerdicts,
};
use super::kernel::{differences, place};
use crate::litmus::tree::{Litmus, Quantifier, thread_name};
use crate::litmus::{Property, Truth};
use crate::report::words::{counted, plural};
use std::fmt::Write;

/// The question that is asked of a test, as its file has it.
#[must_use]
pub fn asked(litmus: &Litmus, property: Property) -> String {
    let condition = || match &litmus.condition {
        Some(asked) => format!("{} {}", Quantifier::name(asked.quantifier), asked.cond),
        None => String::new(),
    };
    match property {
        Property::Safety => condition(),
        Property::Drf => "no execution raises a flag of the model".to_owned(),
        Property::Liveness => "every execution ends".to_owned(),
    }
}

/// The answer to it. `found`: whether an execution was found that decides.
#[must_use]
pub fn said(litmus: &Litmus, property: Property, found: bool) -> &'static str {
    let truth = litmus.condition.as_ref().map_or(Truth::None, Truth::of);
    match (property, truth, found) {
        (Property::Safety, Truth::All, true) => "does not hold in some execution",
        (Property::Safety, Truth::All, false) => "holds in every execution",
        (Property::Safety, _, true) => "reachable",
        (Property::Safety, _, false) => "never reachable",
        (Property::Drf, _, true) => "a flag is raised",
        (Property::Drf, _, false) => "no flag is raised",
        (Property::Liveness, _, true) => "an execution never ends",
        (Property::Liveness, _, false) => "every execution ends",
    }
}

/// The answer where the bound may have hidden something.
#[must_use]
pub fn up_to(said: &str, bound: u32) -> String {
    format!("{said}, up to bound {bound}")
}

impl ModelVerdict {
    /// The property, and of liveness the progress model.
    fn property_words(&self) -> String {
        self.progress.map_or_else(|| self.property.to_owned(), |progress| format!("{} {progress}", self.property))
    }

    /// The verdict with what shows it, for people.
    #[must_use]
    pub fn text(&self, test: &str) -> String {
        let mut out = format!("{test} under {}, {}: {}\n", self.model, self.property_words(), self.answer.name());
        let _ = match self.property {
            "safety" | "exists" => writeln!(out, "{}: {}", self.asked, self.said),
            _ => writeln!(out, "{}", self.said),
        };
        out.push_str(&differences(&self.mismatches));
        if let Some(message) = self.defect.as_ref().and_then(|defect| defect["message"].as_str()) {
            let _ = writeln!(out, "  {message}");
        }
        if let Some(witness) = &self.witness {
            out.push('\n');
            out.push_str(&witness.text());
        }
        if let Some(endless) = &self.endless {
            out.push('\n');
            out.push_str(&endless.text());
        }
        if let Some(why) = &self.why {
            out.push('\n');
            out.push_str(&reasons(why));
        }
        if self.witness.is_none() && self.endless.is_none() {
            let _ = writeln!(out, "{} tried", counted(self.choices, "choice"));
        }
        out
    }

    /// It in a line of a list.
    #[must_use]
    pub fn line(&self, path: &str, (model, property): (usize, usize)) -> String {
        let asked = self.property_words();
        format!("{:<11}  {:<model$}  {asked:<property$}  {path}: {}\n", self.answer.name(), self.model, self.said)
    }
}

/// The tests in lines, and what they come to.
#[must_use]
pub fn list(tests: &[TestVerdicts], counts: &Counts) -> String {
    let all = || tests.iter().flat_map(|test| &test.verdicts);
    let widths = (
        all().map(|v| v.model.chars().count()).max().unwrap_or(0),
        all().map(|v| v.property_words().chars().count()).max().unwrap_or(0),
    );
    let mut out = String::new();
    for test in tests {
        test.verdicts.iter().for_each(|verdict| out.push_str(&verdict.line(&test.path, widths)));
        if !test.problems.is_empty() {
            let _ = writeln!(out, "{:<11}  {}", Answer::Wrong.name(), test.path);
        }
    }
    out.push_str(&summary(counts));
    out
}

/// How many verdicts there are of each kind.
#[must_use]
pub fn summary(counts: &Counts) -> String {
    let rest = [(counts.limit, "limit"), (counts.unsupported, "unsupported"), (counts.wrong, "wrong")];
    let mut out = format!("{}: {} pass, {} fail", counted(counts.tests as u64, "test"), counts.pass, counts.fail);
    for (n, what) in rest.into_iter().filter(|(n, _)| *n > 0) {
        let _ = write!(out, ", {n} {what}");
    }
    out.push('\n');
    out
}

impl Counts {
    /// The numbers of tests.
    #[must_use]
    pub fn of(tests: &[TestVerdicts]) -> Self {
        let mut counts = Self { tests: tests.len(), ..Self::default() };
        for test in tests {
            counts.wrong += usize::from(!test.problems.is_empty());
            for verdict in &test.verdicts {
                *match verdict.answer {
                    Answer::Pass => &mut counts.pass,
                    Answer::Fail => &mut counts.fail,
                    Answer::Limit => &mut counts.limit,
                    Answer::Unsupported => &mut counts.unsupported,
                    Answer::Wrong => &mut counts.wrong,
                } += 1;
            }
        }
        counts
    }
}

impl PartOf {
    /// Which bytes of the access it is.
    fn bytes(&self) -> String {
        if self.first == self.last {
            format!("byte {}", self.first)
        } else {
            format!("bytes {}–{}", self.first, self.last)
        }
    }

    /// It as a location.
    pub(super) fn named(&self) -> String {
        format!("{} {}", self.location, self.bytes())
    }

    /// What all of the access is to, and its value.
    fn access(&self) -> String {
        let value = match (&self.typed, self.value) {
            (Some(value), _) => value.to_string(),
            (None, Some(value)) => value.to_string(),
            (None, None) => "?".to_owned(),
        };
        format!("{} = {value}", self.location)
    }
}

impl LitmusEvent {
    /// Whether it is a part of an access, but not the first.
    pub(super) fn continues(&self) -> bool {
        self.part.as_ref().is_some_and(|part| part.event != self.number)
    }

    /// What it does, where all parts of an access stand below each other: the first one says what the access is.
    fn does_in_turn(&self) -> String {
        let Some(part) = &self.part else { return self.does() };
        let value = self.value.map_or_else(|| "?".to_owned(), |value| value.cast_unsigned().to_string());
        let from = self.reads_from.map_or_else(String::new, |from| format!(" from {from}"));
        let this = format!("{} = {value}{from}", part.bytes());
        match (self.kind, self.continues()) {
            (_, true) => format!("  {this}"),
            (EventKind::Read, _) => format!("reads {}: {this}", part.access()),
            _ => format!("writes {}: {this}", part.access()),
        }
    }

    /// Its thread in words.
    pub(super) fn whose(&self) -> String {
        match (self.spot, self.thread) {
            (Some(spot), _) => spot.text(),
            (None, Some(thread)) => thread_name(thread),
            (None, None) => "initial".to_owned(),
        }
    }

    /// What it accesses and the value, e.g. `x = 1`.
    pub(super) fn content(&self) -> String {
        let value = match (&self.address_of, &self.typed, self.value) {
            (Some(name), ..) => format!("&{name}"),
            (None, Some(value), _) => value.to_string(),
            (None, None, Some(value)) => value.to_string(),
            (None, None, None) => "?".to_owned(),
        };
        self.location.as_ref().map_or_else(String::new, |name| format!("{name} = {value}"))
    }

    /// What it does, in words.
    fn does(&self) -> String {
        match (self.kind, self.thread, self.reads_from) {
            (EventKind::Write, None, _) => self.content(),
            (EventKind::Write, ..) => format!("writes {}", self.content()),
            (EventKind::Read, _, Some(from)) => format!("reads {} from {from}", self.content()),
            (EventKind::Read, ..) => format!("reads {}", self.content()),
            (EventKind::Fence, ..) => "fence".to_owned(),
            (EventKind::Barrier, ..) => "comes to a barrier".to_owned(),
            (EventKind::Other, ..) => self.tags.join(" ").to_lowercase(),
        }
    }
}

/// Rows with columns of equal width, the first one to the right.
fn columns(rows: &[Vec<String>]) -> String {
    aligned(rows, |k| k == 0)
}

/// Rows with columns of equal width, some of them to the right, as numbers are.
pub(super) fn aligned(rows: &[Vec<String>], right: impl Fn(usize) -> bool) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |k: usize| rows.iter().filter_map(|row| row.get(k)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (k, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = if right(k) { write!(line, "  {cell:>width$}") } else { write!(line, "  {cell:<width$}") };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Pairs in a line, behind the relation's name; nothing where there are none.
fn pairs(name: &str, pairs: impl Iterator<Item = [usize; 2]>) -> String {
    let pairs: Vec<String> = pairs.map(|[a, b]| format!("{a}→{b}")).collect();
    if pairs.is_empty() { String::new() } else { format!("{name}: {}\n", pairs.join(" ")) }
}

/// A chain of links in a line: `2 -rf-> 4 -po-> 5`.
fn chain(links: &[Edge]) -> String {
    let mut out = links.first().map_or_else(String::new, |link| link.from.to_string());
    for link in links {
        let _ = write!(out, " -{}-> {}", link.name, link.to);
    }
    out
}

impl LitmusExecution {
    /// Its events as a table, and how they are related.
    #[must_use]
    pub fn text(&self) -> String {
        let mut rows = vec![["", "thread", "line", "instruction", ""].map(str::to_owned).to_vec()];
        for event in self.shown() {
            let (number, does) = (event.number.to_string(), event.does_in_turn());
            if event.continues() {
                rows.push(vec![number, String::new(), String::new(), String::new(), does]);
                continue;
            }
            let line = event.line.map_or_else(String::new, |line| place(line, event.cuda.as_ref()));
            let instruction = event.instruction.clone().unwrap_or_default();
            rows.push(vec![number, event.whose(), line, instruction, does]);
        }
        let mut out = self.story() + &columns(&rows);
        let both = |pair: &[usize; 2]| pair.iter().all(|event| !self.events[*event].aside);
        out.push_str(&pairs("rf", self.rf.iter().copied().filter(both)));
        out.push_str(&pairs("co", self.co.iter().copied().filter(both)));
        out.push_str(&pairs("fr", self.fr.iter().copied().filter(both)));
        let mut names: Vec<&str> = Vec::new();
        for edge in &self.edges {
            if !names.contains(&&*edge.name) {
                names.push(&edge.name);
            }
        }
        for name in names {
            let of = self.edges.iter().filter(|edge| edge.name == name);
            out.push_str(&pairs(name, of.map(|edge| [edge.from, edge.to]).filter(both)));
        }
        for flag in &self.flags {
            let seen = flag.events.iter().all(|event| !self.events[*event].aside);
            let _ = writeln!(out, "flag `{}` is raised{}", flag.name, if seen { flag.shown() } else { String::new() });
        }
        let aside = self.events.iter().filter(|event| event.aside && event.thread.is_some()).count();
        if aside > 0 {
            let _ = writeln!(
                out,
                "left out: {} that {} no part in this",
                counted(aside as u64, "event"),
                plural(aside as u64, "has")
            );
        }
        out
    }

    /// Why it is no interleaving, step by step; nothing where it may be one.
    fn story(&self) -> String {
        let Some(first) = self.cycle.first() else { return String::new() };
        let row = |event: usize, how: &str| {
            let event = &self.events[event];
            let line = event.line.map_or_else(String::new, |line| place(line, event.cuda.as_ref()));
            vec![event.number.to_string(), event.whose(), line, event.does(), how.to_owned()]
        };
        let mut rows = vec![row(first.from, "")];
        for edge in &self.cycle {
            let how = match &*edge.name {
                "po" => "later in this thread",
                "rf" => "reads that",
                "co" => "overwrites that",
                "fr" => "overwrites what was read",
                _ => "is one step with that",
            };
            let why = if edge.name == "rf" { self.unsynchronised(edge) } else { None };
            rows.push(row(edge.to, &why.map_or_else(|| how.to_owned(), |why| format!("{how}; {why}"))));
        }
        let head = "no interleaving of the threads does this: each step comes after the one above it, and the last is the first\n";
        format!("{head}{}\n", columns(&rows))
    }

    /// Why reading from a write does not order what is before that and what is after this, by the forms of the instructions alone.
    fn unsynchronised(&self, rf: &Edge) -> Option<String> {
        let (write, read) = (&self.events[rf.from], &self.events[rf.to]);
        let (from, to) = (write.spot?, read.spot?);
        let has = |event: &LitmusEvent, names: &[&str]| event.tags.iter().any(|tag| names.contains(tag));
        if (from.block, from.thread) == (to.block, to.thread) {
            return None;
        }
        let weak: Vec<&str> = [(write, "the write"), (read, "the read")]
            .into_iter()
            .filter(|(event, _)| has(event, &["WEAK"]))
            .map(|(_, name)| name)
            .collect();
        if !weak.is_empty() {
            return Some(format!("{} is weak", weak.join(" and ")));
        }
        let narrow = |event| has(event, &["CTA"]) && from.block != to.block;
        if narrow(write) || narrow(read) {
            return Some("the scope .cta does not reach another block".to_owned());
        }
        let steps = || self.cycle.iter().filter(|edge| edge.name == "po");
        let before = steps().find(|edge| edge.to == rf.from).map_or(rf.from, |edge| edge.from);
        let after = steps().find(|edge| edge.from == rf.to).map_or(rf.to, |edge| edge.to);
        let fence = |from: usize, to: usize| {
            let mut between = self.events.get(from..to).unwrap_or(&[]).iter();
            between.any(|event| event.kind == EventKind::Fence && has(event, &["ACQ_REL", "SC", "ACQ", "REL"]))
        };
        let releases = has(write, &["REL"]) || fence(before, rf.from);
        let acquires = has(read, &["ACQ"]) || fence(rf.to, after);
        match (releases, acquires) {
            (false, false) => Some("neither releases nor acquires".to_owned()),
            (false, true) => Some("that releases nothing".to_owned()),
            (true, false) => Some("acquires nothing".to_owned()),
            (true, true) => None,
        }
    }

    /// The events that have a part in it.
    pub(super) fn shown(&self) -> impl Iterator<Item = &LitmusEvent> {
        self.events.iter().filter(|event| !event.aside)
    }
}

impl Deciding {
    /// By which events.
    fn shown(&self) -> String {
        match (&self.events[..], &self.chain[..]) {
            ([], _) => String::new(),
            ([from, to], [_] | []) => format!(" by {from} and {to}"),
            (_, []) => format!(" by {}", self.events.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
            _ => format!(" by {}", chain(&self.chain)),
        }
    }

    /// What contradicts an axiom.
    fn contradiction(&self) -> String {
        let around = self.chain.first().map(|l| l.from) == self.chain.last().map(|l| l.to);
        match &self.chain[..] {
            [] => self.shown(),
            links if around => format!(": a cycle: {}", chain(links)),
            links => format!(": {}", chain(links)),
        }
    }
}

/// Why there is no execution of a kind.
fn reasons(why: &[Forbidden]) -> String {
    let Some(first) = why.first() else {
        return "no axiom forbids it: what threads do on their own rules it out\n".to_owned();
    };
    let mut out = String::new();
    if !first.alone {
        let names: Vec<String> = why.iter().map(|f| format!("`{}`", f.axiom.name)).collect();
        let _ = writeln!(out, "no axiom alone forbids it; this execution contradicts {}", names.join(", "));
        out.push_str(&first.execution.text());
    }
    for forbidden in why {
        let axiom = &forbidden.axiom;
        if first.alone {
            let _ = writeln!(out, "forbidden by `{}`, without which it is reachable:", axiom.name);
            out.push_str(&forbidden.execution.text());
        }
        let _ = writeln!(out, "`{}` is contradicted{}", axiom.name, axiom.contradiction());
    }
    out
}

impl LitmusStep {
    fn row(&self) -> Vec<String> {
        vec![String::new(), self.whose(), self.place(), self.instruction.clone()]
    }
}

impl EndlessExecution {
    /// What comes first, and what repeats.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        if let Some(prefix) = &self.prefix {
            out.push_str("first, as the model allows:\n");
            out.push_str(&prefix.text());
        }
        let steps = |all: &[LitmusStep]| columns(&all.iter().map(LitmusStep::row).collect::<Vec<_>>());
        if !self.stem.is_empty() {
            out.push_str(if self.prefix.is_some() { "then, " } else { "first, " });
            out.push_str("every read seeing the last value:\n");
            out.push_str(&steps(&self.stem));
        }
        if self.round.is_empty() {
            out.push_str("then nobody can go on: all that have not ended wait at barriers\n");
        } else {
            let rounds = if self.round.len() == 1 { "this step" } else { "these steps" };
            let _ = writeln!(out, "then {rounds} again and again, memory being the same each time:");
            out.push_str(&steps(&self.round));
        }
        if !self.waits.is_empty() {
            out.push_str("while others wait at barriers:\n");
            out.push_str(&steps(&self.waits));
        }
        out
    }
}
