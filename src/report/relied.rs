//! Buffers whose zeros were relied on though nobody had said what they hold.

use super::diagnostic::{SourcePlace, place};
use crate::base::SourceMap;
use crate::check::Relied;
use crate::program::env::ProgEnv;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// What is told of such buffers.
#[derive(Default, Serialize, JsonSchema)]
pub struct ReliedReport(Vec<Assumed>);

/// A buffer whose zeros were relied on.
#[derive(Serialize, JsonSchema)]
struct Assumed {
    /// The buffer.
    name: String,
    /// The first byte that was read.
    offset: u64,
    /// The instruction that read it, as `FILE:LINE`.
    #[serde(skip)]
    line: String,
    /// The instruction that read it.
    #[schemars(with = "Option<SourcePlace<'_>>")]
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
