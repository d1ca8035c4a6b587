//! What one program comes to under several models: a table, with a letter for each fate.

use super::hunt::{Models, shown};
use super::internal::INTERNAL;
use super::parts::Exit;
use super::terminal::inline;
use super::words::counted;
use crate::base::SourceMap;
use crate::explore::{Content, Fate, Fates, Recorded, Seen};
use crate::program::env::ProgEnv;
use crate::verdict::Stop;
use rustc_hash::FxHasher;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

/// Elements of buffers that tell one end from another, at most.
const TOLD: usize = 4;

/// Ends that are alike, as expected or not, that are told one by one.
const ENDS: usize = 8;

/// One model's part of a comparison.
pub struct Cell {
    /// The model.
    pub models: Models,
    /// What the program comes to under it, or why that cannot be said; what was seen is in `seen` alone.
    pub fates: Result<Fates, Stop>,
    /// The numbers of the fates that were seen, each once, and the schedule of each.
    pub seen: Vec<(usize, Option<PathBuf>)>,
}

impl Cell {
    /// Its models, as the first columns of a table.
    fn name(&self) -> String {
        format!("{:<10} {:<18}", self.models.control(), self.models.memory_and_lanes())
    }
}

/// A fate that was seen.
pub struct Told {
    /// The fate.
    pub fate: Fate,
    /// What it is called.
    pub text: String,
    /// Hashes of other ends that have its number.
    pub others: BTreeSet<u64>,
}

/// A program under several models.
pub struct Compared {
    /// The models, in the order in which they are shown.
    pub cells: Vec<Cell>,
    /// Every fate that was seen under some model, each once; of ends that are alike some.
    pub fates: Vec<Told>,
    /// Whether it is known what to expect of a run that ends.
    pub expects: bool,
    /// The checks that look at runs: those that show an end, and those of seeds.
    pub looks: Vec<String>,
}

/// What a fate is called: `A`, `B`, …, `Z`, `A1`, ….
#[must_use]
pub fn letter(k: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(k % 26).unwrap_or(0));
    if k < 26 { letter.to_string() } else { format!("{letter}{}", k / 26) }
}

impl Compared {
    /// Takes note of what a program comes to under one more model. `write` is told the number of each fate that it meets,
    /// once, with a run that shows it, and gives the file of its schedule: what the run left on the device is not kept.
    pub fn add(
        &mut self,
        models: Models,
        mut fates: Result<Fates, Stop>,
        (env, sources): (&ProgEnv, &SourceMap),
        write: impl Fn(usize, &Recorded) -> Option<PathBuf>,
    ) {
        let mut told: Vec<(usize, Option<PathBuf>)> = Vec::new();
        for Seen { fate, recorded } in fates.iter_mut().flat_map(|f| std::mem::take(&mut f.seen)) {
            let number = self.number(fate, env, sources);
            if told.iter().all(|(known, _)| *known != number) {
                told.push((number, write(number, &recorded)));
            }
        }
        self.cells.push(Cell { models, fates, seen: told });
    }

    /// The number of a fate. Beyond [`ENDS`] ends that are alike, as expected or not, others have the number of the last.
    fn number(&mut self, fate: Fate, env: &ProgEnv, sources: &SourceMap) -> usize {
        if let Some(same) = self.fates.iter().position(|told| told.fate == fate) {
            return same;
        }
        let text = match &fate {
            Fate::Stops(kind, spans) => stops(kind.describe().short, spans, env, sources),
            Fate::Ends { expected: true, .. } if !self.expects => "ends".to_owned(),
            Fate::Ends { expected: true, .. } => "ends, as expected".to_owned(),
            Fate::Ends { expected: false, .. } => "ends, with results other than expected".to_owned(),
        };
        if let Some(expected) = fate.is_expected() {
            let alike = self.fates.iter().enumerate().filter(|(_, told)| told.fate.is_expected() == Some(expected));
            if let Some(last) = alike.map(|(k, _)| k).nth(ENDS - 1) {
                let mut hasher = FxHasher::default();
                fate.hash(&mut hasher);
                self.fates[last].others.insert(hasher.finish());
                return last;
            }
        }
        self.fates.push(Told { fate, text, others: BTreeSet::new() });
        self.fates.len() - 1
    }

    /// A model's part in a line: for who waits for the others.
    #[must_use]
    pub fn row(cell: &Cell) -> String {
        let name = cell.name();
        let letters: Vec<String> = cell.seen.iter().map(|(k, _)| letter(*k)).collect();
        let letters = if letters.is_empty() { "nothing seen".to_owned() } else { letters.join(" ") };
        match &cell.fates {
            Err(stop) => format!("{name} {}\n", short(stop)),
            Ok(fates) => format!("{name} {letters}; {}\n", searched(fates)),
        }
    }

    /// What tells an end from the others: the elements in which they differ.
    fn particulars(&self, fate: &Fate) -> String {
        let Fate::Ends { contents, output, .. } = fate else { return String::new() };
        let ends: Vec<(&[Content], &[u8])> = (self.fates.iter())
            .filter_map(|told| match &told.fate {
                Fate::Ends { contents, output, .. } => Some((&contents[..], &output[..])),
                _ => None,
            })
            .collect();
        let mut told = Vec::new();
        let mut more = 0;
        for content in contents {
            let others = ends.iter().filter_map(|(all, _)| all.iter().find(|c| c.name == content.name));
            let others: Vec<&Content> = others.filter(|c| c.bytes.len() == content.bytes.len()).collect();
            let size = content.ty.size();
            for (k, own) in content.bytes.chunks(size).enumerate() {
                if others.iter().all(|c| c.bytes.chunks(size).nth(k) == Some(own)) {
                    continue;
                }
                match told.len() < TOLD {
                    true => told.push(format!("{}[{k}] = {}", content.name, content.ty.decode(own))),
                    false => more += 1,
                }
            }
        }
        if ends.iter().any(|(_, other)| *other != output) {
            told.push(format!("printed {:?}", String::from_utf8_lossy(output)));
        }
        match (told.is_empty(), more) {
            (true, _) => String::new(),
            (false, 0) => format!(": {}", told.join(", ")),
            (false, more) => format!(": {}, {more} more", told.join(", ")),
        }
    }

    /// The table and what its letters mean.
    #[must_use]
    pub fn render(&self) -> String {
        let letters: Vec<String> = (0..self.fates.len()).map(letter).collect();
        let mut out = format!("{:<10} {:<18}", "control", "memory");
        letters.iter().for_each(|l| out.push_str(&format!(" {l:>2}")));
        out.push_str("   searched\n");
        for cell in &self.cells {
            out.push_str(&cell.name());
            let fates = match &cell.fates {
                Ok(fates) => fates,
                Err(stop) => {
                    let _ = writeln!(out, "   {}", short(stop));
                    continue;
                }
            };
            for k in 0..self.fates.len() {
                let mark = match (cell.seen.iter().any(|(seen, _)| *seen == k), fates.limit) {
                    (true, _) => "x",
                    (false, None) => ".",
                    (false, Some(_)) => "?",
                };
                let _ = write!(out, " {mark:>2}");
            }
            let _ = writeln!(out, "   {}", searched(fates));
        }
        out.push_str("\nx some schedule comes to it   . none does   ? none was seen, and not all were searched\n\n");
        if !self.expects {
            out.push_str("no expectation is given: whether an end is right is not known (`[expect]`, or --expect)\n\n");
        }
        if !self.looks.is_empty() {
            let _ = writeln!(
                out,
                "--check {} looked at one run for each end, and at those of seeds, not at every schedule\n",
                self.looks.join(",")
            );
        }
        for (k, (Told { fate, text, others }, letter)) in self.fates.iter().zip(&letters).enumerate() {
            let _ = write!(out, "{letter:>2}  {text}{}", self.particulars(fate));
            let _ = match others.len() {
                0 => writeln!(out),
                n => writeln!(out, "; and {n} other ends of the kind"),
            };
            let mut files = self.cells.iter().flat_map(|cell| &cell.seen).filter(|(seen, _)| *seen == k);
            if let Some(file) = files.find_map(|(_, file)| file.as_ref()) {
                let _ = writeln!(out, "    warpstep replay {}", inline(&file.display().to_string()));
            }
        }
        out
    }

    /// The same as data.
    #[must_use]
    pub fn data(&self) -> Comparison<'_> {
        let fate = |(k, Told { fate, text, .. }): (usize, &Told)| {
            let kind = match fate {
                Fate::Ends { expected: true, .. } => "expected",
                Fate::Ends { expected: false, .. } => "unexpected",
                Fate::Stops(kind, _) => kind.id(),
            };
            FateData { letter: letter(k), kind, text: format!("{text}{}", self.particulars(fate)) }
        };
        Comparison {
            exit: Exit(self.code()),
            expectations: self.expects,
            looked_at_runs: &self.looks,
            fates: self.fates.iter().enumerate().map(fate).collect(),
            models: self.cells.iter().map(Model::new).collect(),
        }
    }

    /// The exit code: 101 where a model showed an error of ours, 1 with a defect under some model, 3 where some model was not searched to its end.
    #[must_use]
    pub fn code(&self) -> u8 {
        if self.cells.iter().any(|c| c.fates.as_ref().is_err_and(Stop::is_ours)) {
            return INTERNAL;
        }
        let all = || self.cells.iter().filter_map(|c| c.fates.as_ref().ok());
        let defect = self.fates.iter().any(|told| told.fate.is_expected() != Some(true));
        match (defect, all().any(|f| f.limit.is_some())) {
            (true, _) => 1,
            (false, true) => 3,
            (false, false) => 0,
        }
    }
}

/// What one program comes to under every control model and memory.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison<'a> {
    exit: Exit,
    /// Whether it is known what to expect of a run that ends; otherwise `expected` is said of any.
    expectations: bool,
    /// The checks that looked at one run for each end, and at those of seeds.
    looked_at_runs: &'a [String],
    /// What was seen under some model, each once.
    fates: Vec<FateData>,
    /// One entry for each model.
    models: Vec<Model<'a>>,
}

/// What a program may come to.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FateData {
    /// Its name in this report.
    letter: String,
    /// expected, unexpected, or the kind of a defect.
    kind: &'static str,
    /// In words, with what tells it from others.
    text: String,
}

/// A model.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Model<'a> {
    #[serde(flatten)]
    models: &'a Models,
    /// Why the model says nothing; the entries below are left out then.
    #[serde(skip_serializing_if = "Option::is_none")]
    unsupported: Option<String>,
    #[serde(flatten)]
    searched: Option<Searched>,
}

impl<'a> Model<'a> {
    fn new(cell: &'a Cell) -> Self {
        let fates = match &cell.fates {
            Ok(fates) => fates,
            Err(stop) => return Self { models: &cell.models, unsupported: Some(short(stop)), searched: None },
        };
        let seen =
            |(k, file): &(_, Option<PathBuf>)| SeenData { letter: letter(*k), schedule: file.as_deref().map(shown) };
        let (seen, complete) = (cell.seen.iter().map(seen).collect(), fates.limit.is_none());
        let searched = Searched { seen, complete, states: fates.states, seeds: fates.runs };
        Self { models: &cell.models, unsupported: None, searched: Some(searched) }
    }
}

/// How far a model was searched, and what was seen.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Searched {
    seen: Vec<SeenData>,
    /// Whether all states were searched: what was not seen cannot happen.
    complete: bool,
    states: u64,
    /// Random schedules that were run besides.
    seeds: u64,
}

/// A fate that was seen.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SeenData {
    letter: String,
    /// The file with a schedule that comes to it; null where it could not be written.
    schedule: Option<String>,
}

/// How far a model was searched.
fn searched(fates: &Fates) -> String {
    let more = if fates.more > 0 { format!(", {} more ends were left out", fates.more) } else { String::new() };
    match fates.limit {
        None => format!("all {}{more}", counted(fates.states, "state")),
        Some(limit) => {
            let (states, seeds) = (counted(fates.states, "state"), counted(fates.runs, "seed"));
            format!("{states} and {seeds}: {}{more}", super::limit::limit(limit))
        }
    }
}

/// Why a model says nothing.
fn short(stop: &Stop) -> String {
    match stop {
        Stop::Unsupported(what, _) => format!("unsupported: {what}"),
        Stop::Limit(limit) => super::limit::limit(*limit),
        Stop::Internal(error) => format!("error of warpstep, please report it: {}", error.what),
        other => other.kind().describe().short.to_owned(),
    }
}

/// A kind of defect with the lines that are involved.
fn stops(what: &str, spans: &[crate::base::Span], env: &ProgEnv, sources: &SourceMap) -> String {
    let line = |span: &crate::base::Span| {
        let origin = env.origin.iter().find(|o| o.span == *span)?;
        Some(inline(&sources.file_line(origin.file, *span)?).into_owned())
    };
    let lines: Vec<String> = spans.iter().filter_map(line).collect();
    if lines.is_empty() { what.to_owned() } else { format!("{what} at {}", lines.join(" and ")) }
}

#[cfg(test)]
mod tests {
    use super::letter;

    #[test]
    fn letters_go_on_with_numbers() {
        assert_eq!([0, 1, 25, 26, 53].map(letter), ["A", "B", "Z", "A1", "B2"]);
    }
}
