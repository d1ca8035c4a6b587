//! Places as SARIF has them (sections 3.28 and 3.29).

use crate::base::{FileId, SourceMap, Span};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Component, Path};

/// A place in a file that we have read (3.29): its region with lines and columns from 1, the end exclusive, and the text.
pub(super) fn physical(file: FileId, span: Span, sources: &SourceMap) -> Option<Value> {
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
pub(super) fn uri(name: &str) -> String {
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

/// The name of the file that a reference of ours is of: what [`uri`] was made from, but for parts that change nothing.
pub(super) fn name_of(uri: &str) -> String {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    let (mut bytes, mut rest) = (Vec::with_capacity(path.len()), path.bytes());
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| byte.and_then(|b| char::from(b).to_digit(16));
        let encoded = if byte == b'%' { digit(rest.next()).zip(digit(rest.next())) } else { None };
        bytes.push(encoded.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()).unwrap_or(byte));
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
    fn references_become_names() {
        for name in ["kernel.ptx", "a b/ü.ptx", "../c:/50%.ptx", "/tmp/k.ptx", "/"] {
            assert_eq!(name_of(&uri(name)), name);
        }
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
