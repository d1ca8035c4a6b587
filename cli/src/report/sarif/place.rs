//! Threads as SARIF has them (sections 3.28 to 3.38).

use crate::base::Pc;
use crate::report::location::{location, uri};
use crate::report::stop::StopReport;
use crate::report::words::who;
use crate::verdict::Place;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

impl StopReport<'_> {
    /// An instruction, in the function that it belongs to.
    pub(super) fn at_pc(&self, pc: Pc, message: &str) -> Value {
        let (file, span) = self.span(pc);
        let mut value = location(file, span, self.sources, Some(message));
        let function = self.function(pc);
        if !function.is_empty() {
            value["logicalLocations"] = json!([{ "name": function, "kind": "function" }]);
        }
        value
    }

    /// The line of CUDA source of an instruction, by `.loc` (PTX ISA, 11.5).
    pub(super) fn cuda_location(&self, pc: Pc, message: &str) -> Option<Value> {
        let cuda = self.cuda(pc)?;
        let mut region = json!({ "startLine": cuda.line.max(1) });
        if cuda.column > 0 {
            region["startColumn"] = cuda.column.into();
        }
        // The text is trimmed: it is that of the line, not of the region.
        let text = cuda.text.map_or_else(String::new, |t| format!(": {t}"));
        Some(json!({
            "physicalLocation": { "artifactLocation": { "uri": uri(&cuda.file) }, "region": region },
            "message": { "text": format!("{message}{text}") },
        }))
    }

    /// A number that stays the same while the code around the instruction changes: of the kind, the function, the
    /// instruction's text, and how many of the same text come before it in the function.
    pub(super) fn fingerprint(&self, place: &Place) -> u64 {
        let text = |pc: Pc| {
            let (file, span) = self.span(pc);
            self.sources.get(file).map_or("", |s| span.of(&s.text))
        };
        let function = self.env.function_at(place.pc);
        let start = function.map_or(place.pc.0, |f| f.start.0);
        let before = (start..place.pc.0).map(Pc).filter(|pc| text(*pc) == text(place.pc)).count();
        let words: Vec<&str> = text(place.pc).split_whitespace().collect();
        let parts = [self.stop.kind().id(), self.function(place.pc), &words.join(" "), &before.to_string()];
        xxh3_64(parts.join("\n").as_bytes())
    }

    /// How a thread came there (3.37): its calls, the outermost first, then the instruction.
    pub(super) fn thread_flow(&self, place: &Place, what: &str) -> Value {
        let calls = place.calls.iter().rev().map(|pc| (*pc, "calls"));
        let steps = calls.chain(std::iter::once((place.pc, what)));
        let locations: Vec<Value> = steps
            .enumerate()
            .map(|(level, (pc, text))| json!({ "location": self.at_pc(pc, text), "nestingLevel": level }))
            .collect();
        json!({ "id": who(place), "locations": locations })
    }
}
