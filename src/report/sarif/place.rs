//! Places and threads as SARIF has them (sections 3.28 to 3.38).

use crate::base::{FileId, Pc, SourceMap, Span};
use crate::report::stop::{StopReport, who};
use crate::verdict::Place;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Component, Path};
use xxhash_rust::xxh3::xxh3_64;

/// A place in a file that we have read (3.29): its region with lines and columns from 1, the end exclusive, and the text.
pub(in crate::report) fn physical(file: FileId, span: Span, sources: &SourceMap) -> Option<Value> {
    let source = sources.get(file)?;
    let column = |offset: u32| {
        let (line, column) = source.line_col(offset);
        // Ours count bytes, SARIF's characters (columnKind).
        let end = (offset as usize).min(source.text.len());
        let before = source.text.get(end + 1 - column as usize..end).map_or(column as usize, |t| t.chars().count() + 1);
        (line, before)
    };
    let ((line, first), (end_line, end)) = (column(span.start), column(span.end.max(span.start)));
    Some(json!({
        "artifactLocation": { "uri": uri(&source.name) },
        "region": {
            "startLine": line,
            "startColumn": first,
            "endLine": end_line,
            "endColumn": end,
            "snippet": { "text": span.of(&source.text) },
        },
    }))
}

/// A location of a result (3.28); nowhere when the file is not there.
pub(super) fn location(file: FileId, span: Span, sources: &SourceMap, message: Option<&str>) -> Value {
    let mut value = json!({});
    if let Some(physical) = physical(file, span, sources) {
        value["physicalLocation"] = physical;
    }
    if let Some(message) = message.filter(|m| !m.is_empty()) {
        value["message"] = json!({ "text": message });
    }
    value
}

/// The reference of a file (3.4): relative where its name is, so that it is found from the root of a checkout.
fn uri(name: &str) -> String {
    let mut parts = Vec::new();
    let mut root = "";
    for component in Path::new(name).components() {
        match component {
            Component::Prefix(_) | Component::RootDir => root = "file:///",
            Component::CurDir => {}
            Component::ParentDir => parts.push("..".to_owned()),
            Component::Normal(part) => parts.push(encode(&part.to_string_lossy())),
        }
    }
    format!("{root}{}", parts.join("/"))
}

/// Percent-encoding of one segment of a path (RFC 3986, section 2). A colon would begin a scheme.
fn encode(part: &str) -> String {
    let mut out = String::new();
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

impl StopReport<'_> {
    /// An instruction, in the function that it belongs to.
    fn at_pc(&self, pc: Pc, message: &str) -> Value {
        let (file, span) = self.span(pc);
        let mut value = location(file, span, self.sources, Some(message));
        let function = self.function(pc);
        if !function.is_empty() {
            value["logicalLocations"] = json!([{ "name": function, "kind": "function" }]);
        }
        value
    }

    /// Where it happened.
    pub(super) fn primary(&self, place: &Place, label: &str) -> Value {
        self.at_pc(place.pc, label)
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
        let function = self.env.origin.get(place.pc.0 as usize).and_then(|o| self.env.function(o.function));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_references() {
        assert_eq!(uri("kernel.ptx"), "kernel.ptx");
        assert_eq!(uri("./a b/ü.ptx"), "a%20b/%C3%BC.ptx");
        assert_eq!(uri("../c:/50%.ptx"), "../c%3A/50%25.ptx");
        assert_eq!(uri("/tmp/k.ptx"), "file:///tmp/k.ptx");
    }

    #[test]
    fn columns_count_characters() {
        let mut sources = SourceMap::default();
        let file = sources.add("k.ptx", "// ü\n// üü x\n");
        let place = physical(file, Span::new(14, 15), &sources).unwrap_or_default();
        assert_eq!(
            place["region"],
            json!({ "startLine": 2, "startColumn": 7, "endLine": 2, "endColumn": 8, "snippet": { "text": "x" } })
        );
        assert_eq!(physical(FileId(9), Span::default(), &sources), None);
    }
}
