//! Messages about wrong input: launch files, PTX, memory programs, arguments, limits, data files.

use super::diagnostic::{Diagnostic, NOWHERE, Severity};
use crate::base::{FileId, SourceMap, Span};
use crate::launch::{Problem, ProblemKind as K};
use crate::memory::fermi::program::MempErrorKind;
use crate::program::LowerErrorKind;
use crate::ptx::SyntaxErrorKind;

/// The message of a problem with the input; `sources` are the files that it is about.
pub fn problem(problem: &Problem, sources: &SourceMap) -> Diagnostic {
    let (file, span) = problem.at.unwrap_or(NOWHERE);
    let source = sources.get(file).map_or("", |s| s.text.as_str());
    let mut diagnostic = Diagnostic::from(problem.kind.wording(source)).at(file, span);
    if problem.is_warning() {
        diagnostic.severity = Severity::Warning;
    }
    match other(&problem.kind, file) {
        Some((file, span, text)) => diagnostic.also(file, span, text),
        None => diagnostic,
    }
}

/// Another place that a problem has to do with, which is one of a file.
fn other(kind: &K, here: FileId) -> Option<(FileId, Span, &'static str)> {
    match kind {
        K::Check(error) => error.other.map(|other| (here, other, "declared here")),
        K::Lower(error) => match error.kind {
            LowerErrorKind::Duplicate { file, span, .. } => Some((file, span, "first here")),
            _ => None,
        },
        K::Memp(error) => match error.kind {
            MempErrorKind::Twice { file, span, .. } => Some((file, span, "the first program")),
            MempErrorKind::SecondUse(first) => Some((here, first, "the first one")),
            MempErrorKind::Torn { read } => Some((here, read, "the value was read here")),
            _ => None,
        },
        K::Syntax(error) => match error.kind {
            SyntaxErrorKind::InsideFunction { open } => Some((here, open, "this `{` is not closed")),
            _ => None,
        },
        _ => None,
    }
}

/// How many problems were not told, of how many.
#[must_use]
pub fn more(left_out: usize, all: usize) -> String {
    format!("and {left_out} more: --max-errors {all} tells all\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::check::{CheckError, Expected, Found, Problem as Wrong};
    use crate::ptx::{SyntaxError, parse};

    const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

    /// The messages about a text, one line each: code, line:column, message, label, hint.
    fn said(text: &str) -> Vec<String> {
        let mut sources = SourceMap::default();
        let file = sources.add("x.ptx", text);
        let (_, errors) = parse(text);
        let line = |e: &SyntaxError| {
            let d = problem(&K::Syntax(Box::new(e.clone())).at(Some((file, e.span))), &sources);
            assert!(d.render(&sources, false).contains(&d.message));
            let (line, column) = sources.get(file).map_or((0, 0), |s| s.line_col(e.span.start));
            format!("{line}:{column} {}: {}; {}; {}", d.code, d.message, d.label, d.hint.unwrap_or_default())
        };
        errors.iter().map(line).collect()
    }

    /// The messages about a body.
    fn body(text: &str) -> Vec<String> {
        said(&format!("{HEAD}.entry k()\n{{\n{text}\n}}\n"))
    }

    #[test]
    fn one_run_reports_all() {
        let text = "mov.u32 %r1, %r2\nadd.s32 %r1,, %r2;\nld.global.u32 %r1, [%rd1-4];\nmov.u32 %r1 = 5;\n.rge .b32 %r1;\nret;";
        assert_eq!(
            body(text),
            [
                "6:17 missing-semicolon: a `;` is missing; expected `;` here; end the statement with `;`",
                "7:13 syntax: unexpected `,` in an instruction; expected an operand; one comma is too many",
                "8:25 syntax: unexpected `-` in an instruction; expected `,` or `]`; a negative offset is written `+-4`",
                "9:13 syntax: unexpected `=` in an instruction; expected `,`, `;` or `[`; \
             PTX has no assignment: write `mov` with the destination first",
                "10:1 unknown-directive: PTX has no `.rge` at this place; not expected here; did you mean `.reg`?",
            ]
        );
    }

    #[test]
    fn what_is_no_ptx_is_said_once() {
        assert_eq!(said("int main() { return 0; }").len(), 1);
        assert!(said("int main() { return 0; }")[0].starts_with("1:1 not-ptx: this is not PTX"));
        assert!(said("")[0].starts_with("1:1 not-ptx"));
        assert!(said("\u{1}\u{2}\u{3}")[0].starts_with("1:1 not-ptx"));
    }

    #[test]
    fn braces_and_places() {
        assert!(
            said(&format!("{HEAD}.entry k()\n{{\nret;\n.entry j() {{ ret; }}"))[0].starts_with("7:1 inside-function")
        );
        assert!(said(&format!("{HEAD}.entry k()\n{{\nret;\n"))[0].starts_with("5:1 open-brace"));
        assert!(
            said(&format!("{HEAD}.entry k() {{ ret; }} }}\nadd.s32 a, b, c;\n"))[0].starts_with("4:21 stray-brace")
        );
        assert!(said(&format!("{HEAD}\nadd.s32 a, b, c;\n"))[0].starts_with("5:1 outside-function"));
        assert!(said(&format!("{HEAD}.global .b8 x[4] = {{1, 2, }};\n"))[0].starts_with("4:27 syntax: unexpected `}`"));
        assert!(said(&format!("{HEAD}.global .b8 x[4] = {{1, 2;\n"))[0].contains("expected `,` or `}`"));
        assert!(said(&format!("{HEAD}/* open"))[0].starts_with("4:1 open-comment"));
        assert!(said(&format!("{HEAD}.file 1 \"open\n"))[0].contains("open-string"));
    }

    #[test]
    fn numbers() {
        assert!(body("mov.u32 %r1, 0x;")[0].contains("bad-number"));
        assert!(body("mov.u32 %r1, 99999999999999999999;")[0].contains("large-number"));
        assert!(said(&format!("{HEAD}.entry k() .maxntid {{ ret; }}"))[0].contains("1 to 3 numbers"));
    }

    #[test]
    fn messages_name_cause_and_remedy() {
        let kind = Wrong::Operand {
            opcode: "add".to_owned(),
            number: 2,
            expected: Expected::Source(".f32".to_owned(), false),
            found: Found::Integer,
        };
        let error = CheckError::with(kind, Span::new(4, 5), Span::new(0, 1));
        let at = Some((FileId::default(), error.span));
        let diagnostic = problem(&K::Check(Box::new(error)).at(at), &SourceMap::default());
        assert_eq!(diagnostic.message, "operand 2 of `add` must be a register or constant of type `.f32`");
        assert_eq!(diagnostic.label, "this is an integer constant");
        assert!(diagnostic.hint.is_some());
        assert_eq!(diagnostic.secondary.len(), 1);
    }
}
