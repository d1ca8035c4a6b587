//! What one program comes to under several models: a table, with a letter for each fate.

use super::count::counted;
use super::hunt::Models;
use super::kinds::describe;
use super::terminal::inline;
use crate::base::SourceMap;
use crate::explore::{Content, Fate, Fates};
use crate::program::env::ProgEnv;
use crate::verdict::Stop;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// Elements of buffers that tell one end from another, at most.
const TOLD: usize = 4;

/// One model's part of a comparison.
pub struct Cell {
    /// The model.
    pub models: Models,
    /// What the program comes to under it, or why that cannot be said.
    pub fates: Result<Fates, Stop>,
    /// The schedule of each fate, in the order of `fates.seen`.
    pub schedules: Vec<Option<PathBuf>>,
}

/// A program under several models.
pub struct Compared {
    /// The models, in the order in which they are shown.
    pub cells: Vec<Cell>,
    /// Every fate that was seen under some model, each once.
    pub fates: Vec<(Fate, String)>,
}

/// What a fate is called: `A`, `B`, …, `Z`, `A1`, ….
#[must_use]
pub fn letter(k: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(k % 26).unwrap_or(0));
    if k < 26 { letter.to_string() } else { format!("{letter}{}", k / 26) }
}

impl Compared {
    /// Takes note of what a program comes to under one more model.
    pub fn add(&mut self, cell: Cell, env: &ProgEnv, sources: &SourceMap) {
        for seen in cell.fates.iter().flat_map(|f| &f.seen) {
            if self.number(&seen.fate).is_none() {
                let text = match &seen.fate {
                    Fate::Stops(kind, spans) => stops(describe(*kind).short, spans, env, sources),
                    Fate::Ends { expected: true, .. } => "ends, as expected".to_owned(),
                    Fate::Ends { expected: false, .. } => "ends, with results other than expected".to_owned(),
                };
                self.fates.push((seen.fate.clone(), text));
            }
        }
        self.cells.push(cell);
    }

    /// The number of a fate.
    #[must_use]
    pub fn number(&self, fate: &Fate) -> Option<usize> {
        self.fates.iter().position(|(f, _)| f == fate)
    }

    /// What tells an end from the others: the elements in which they differ.
    fn particulars(&self, fate: &Fate) -> String {
        let Fate::Ends { contents, output, .. } = fate else { return String::new() };
        let ends: Vec<(&[Content], &[u8])> = (self.fates.iter())
            .filter_map(|(f, _)| match f {
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
            let _ = write!(out, "{:<10} {:<18}", cell.models.control(), cell.models.memory_and_lanes());
            let fates = match &cell.fates {
                Ok(fates) => fates,
                Err(stop) => {
                    let _ = writeln!(out, "   {}", short(stop));
                    continue;
                }
            };
            for (fate, _) in &self.fates {
                let mark = match (fates.seen.iter().any(|s| s.fate == *fate), fates.limit) {
                    (true, _) => "x",
                    (false, None) => ".",
                    (false, Some(_)) => "?",
                };
                let _ = write!(out, " {mark:>2}");
            }
            let _ = match fates.limit {
                None => writeln!(out, "   all {}", counted(fates.states, "state")),
                Some(limit) => {
                    let limit = super::stop::limit(limit);
                    let (states, seeds) = (counted(fates.states, "state"), counted(fates.runs, "seed"));
                    writeln!(out, "   {states} and {seeds}: {limit}")
                }
            };
        }
        out.push_str("\nx some schedule comes to it   . none does   ? none was seen, and not all were searched\n\n");
        for ((fate, text), letter) in self.fates.iter().zip(&letters) {
            let _ = writeln!(out, "{letter:>2}  {text}{}", self.particulars(fate));
            let file = (self.cells.iter()).find_map(|cell| {
                let at = cell.fates.as_ref().ok()?.seen.iter().position(|s| s.fate == *fate)?;
                cell.schedules.get(at)?.as_ref()
            });
            if let Some(file) = file {
                let _ = writeln!(out, "    warpstep replay {}", inline(&file.display().to_string()));
            }
        }
        out
    }

    /// The same as JSON; described in docs/schema/report.schema.json.
    #[must_use]
    pub fn json(&self) -> Value {
        let fates = self.fates.iter().enumerate().map(|(k, (fate, text))| {
            let kind = match fate {
                Fate::Ends { expected: true, .. } => "expected",
                Fate::Ends { expected: false, .. } => "unexpected",
                Fate::Stops(kind, _) => kind.id(),
            };
            json!({ "letter": letter(k), "kind": kind, "text": format!("{text}{}", self.particulars(fate)) })
        });
        let cells = self.cells.iter().map(|cell| {
            let mut value = cell.models.json();
            match &cell.fates {
                Err(stop) => value["unsupported"] = short(stop).into(),
                Ok(fates) => {
                    let seen = fates.seen.iter().zip(&cell.schedules).map(|(seen, file)| {
                        json!({
                            "letter": self.number(&seen.fate).map(letter),
                            "schedule": file.as_ref().map(|f| f.display().to_string()),
                        })
                    });
                    value["seen"] = seen.collect();
                    value["complete"] = fates.limit.is_none().into();
                    value["states"] = fates.states.into();
                    value["seeds"] = fates.runs.into();
                }
            }
            value
        });
        json!({ "exit": self.code(), "fates": fates.collect::<Vec<_>>(), "models": cells.collect::<Vec<_>>() })
    }

    /// The exit code: 1 with a defect under some model, 3 where some model was not searched to its end.
    #[must_use]
    pub fn code(&self) -> u8 {
        let all = || self.cells.iter().filter_map(|c| c.fates.as_ref().ok());
        match (all().any(Fates::any_defect), all().any(|f| f.limit.is_some())) {
            (true, _) => 1,
            (false, true) => 3,
            (false, false) => 0,
        }
    }
}

/// Why a model says nothing.
fn short(stop: &Stop) -> String {
    match stop {
        Stop::Unsupported(what, _) => format!("unsupported: {what}"),
        Stop::Limit(limit) => super::stop::limit(*limit),
        other => describe(other.kind()).short.to_owned(),
    }
}

/// A kind of defect with the lines that are involved.
fn stops(what: &str, spans: &[crate::base::Span], env: &ProgEnv, sources: &SourceMap) -> String {
    let line = |span: &crate::base::Span| {
        let origin = env.origin.iter().find(|o| o.span == *span)?;
        let source = sources.get(origin.file)?;
        Some(format!("{}:{}", inline(&source.name), source.line_col(span.start).0))
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
