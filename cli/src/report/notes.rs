//! What is noted of a run that is no defect: zeros that were assumed, and accesses that a check could not follow.

use super::diagnostic::place;
use super::words::{counted, plural};
use crate::base::{Pc, SourceMap};
use crate::check::Relied;
use crate::program::env::ProgEnv;
use serde::Serialize;
use serde_json::{Value, json};

/// How many places are named.
const NAMED: usize = 3;

/// Accesses whose origin was lost (`--check bounds`).
#[derive(Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostReport(Vec<Lost>);

/// Accesses of an instruction whose origin was lost.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Lost {
    /// How many.
    accesses: u64,
    /// The instruction, as `FILE:LINE`.
    #[serde(skip)]
    line: String,
    /// The instruction.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::report::diagnostic::SourcePlace<'_>>"))]
    place: Value,
}

impl LostReport {
    /// A report about the instructions of a program's run; `sources` are its files.
    #[must_use]
    pub fn new(all: impl Iterator<Item = (Pc, u64)>, env: &ProgEnv, sources: &SourceMap) -> Self {
        let one = |(pc, accesses): (Pc, u64)| {
            let (file, span) = env.place(pc)?;
            Some(Lost { accesses, line: sources.file_line(file, span)?, place: json!(place(file, span, sources)) })
        };
        Self(all.filter_map(one).collect())
    }

    /// A line, if there were any.
    #[must_use]
    pub fn text(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let mut lines: Vec<&str> = self.0.iter().map(|lost| lost.line.as_str()).collect();
        lines.dedup();
        let count = counted(self.0.iter().map(|lost| lost.accesses).sum(), "access");
        let more = lines.len().saturating_sub(NAMED) as u64;
        let places = lines[..lines.len().min(NAMED)].join(", ");
        let rest = if more > 0 { format!(" and {more} more {}", plural(more, "line")) } else { String::new() };
        format!(
            "note: bounds: {count} whose origin was lost ({places}{rest}): the object in which the address lay counted as its own\n"
        )
    }
}

/// Buffers whose zeros were relied on though nobody had said what they hold.
#[derive(Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReliedReport(Vec<Assumed>);

/// A buffer whose zeros were relied on.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Assumed {
    /// The buffer.
    name: String,
    /// The first byte that was read.
    offset: u64,
    /// The instruction that read it, as `FILE:LINE`.
    #[serde(skip)]
    line: String,
    /// The instruction that read it.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::report::diagnostic::SourcePlace<'_>>"))]
    place: Value,
}

impl ReliedReport {
    /// A report about the buffers of a program's run; `sources` are its files.
    #[must_use]
    pub fn new(all: &[Relied], env: &ProgEnv, sources: &SourceMap) -> Self {
        let one = |r: &Relied| {
            let (file, span) = env.place(r.read)?;
            let (line, place) = (sources.file_line(file, span)?, json!(place(file, span, sources)));
            Some(Assumed { name: r.inside.name.clone(), offset: r.inside.offset, line, place })
        };
        Self(all.iter().filter_map(one).collect())
    }

    /// A line for each.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |Assumed { name, offset, line, .. }: &Assumed| {
            format!(
                "note: `{name}` is read at byte {offset} where nothing had written it ({line}): zeros, since --buffer {name} says \
                 nothing else; say =zeros if the kernel may rely on that, =uninit if not\n"
            )
        };
        self.0.iter().map(line).collect()
    }
}
