//! Buffers whose zeros were relied on though nobody had said what they hold.

use super::diagnostic::place;
use crate::base::SourceMap;
use crate::check::Relied;
use crate::program::env::ProgEnv;
use serde_json::{Value, json};

/// What is told of such buffers, each with its name, the first byte that was read, the place as `FILE:LINE` and as JSON.
#[derive(Default)]
pub struct ReliedReport(Vec<(String, u64, String, Value)>);

impl ReliedReport {
    /// A report about the buffers of a program's run; `sources` are its files.
    #[must_use]
    pub fn new(all: &[Relied], env: &ProgEnv, sources: &SourceMap) -> Self {
        let one = |r: &Relied| {
            let origin = env.origin.get(r.read.0 as usize)?;
            let source = sources.get(origin.file)?;
            let line = format!("{}:{}", source.name, source.line_col(origin.span.start).0);
            Some((r.inside.name.clone(), r.inside.offset, line, json!(place(origin.file, origin.span, sources))))
        };
        Self(all.iter().filter_map(one).collect())
    }

    /// A line for each.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |(name, offset, line, _): &(String, u64, String, Value)| {
            format!(
                "note: `{name}` is read at byte {offset} where nothing had written it ({line}): zeros, since --buffer {name} says \
                 nothing else; say =zeros if the kernel may rely on that, =uninit if not\n"
            )
        };
        self.0.iter().map(line).collect()
    }

    /// The same as JSON: an array of objects with `name`, `offset` and `place`.
    #[must_use]
    pub fn json(&self) -> Value {
        let one = |(name, offset, _, place): &(String, u64, String, Value)| json!({ "name": name, "offset": offset, "place": place });
        self.0.iter().map(one).collect()
    }
}
