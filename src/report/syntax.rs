//! The text of syntax errors.

use super::count::either;
use super::diagnostic::{Diagnostic, END, said};
use crate::base::{FileId, Span};
use crate::ptx::{Context, Expected, Found, MAX_ERRORS, NumberProblem, SyntaxError, SyntaxErrorKind as K};

/// Directives of PTX, for hints.
const DIRECTIVES: &str = "\
    .version .target .address_size .entry .func .visible .extern .weak .common .reg .sreg .const .global .local \
    .param .shared .tex .align .ptr .attribute .file .loc .section .pragma .alias .callprototype .branchtargets \
    .calltargets .maxnreg .maxntid .reqntid .minnctapersm .maxnctapersm .noreturn .explicitcluster \
    .reqnctapercluster .maxclusterrank .blocksareclusters .abi_preserve .abi_preserve_control";

/// Operators of constant expressions: they could nearly always follow, so they are only named when nothing else fits.
const OPERATORS: &[&str] =
    &["+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "^", "|", "&&", "||", "?", "!", "~"];

/// The message of a syntax error in `file`, whose text is `text`.
pub fn diagnostic(error: &SyntaxError, file: FileId, text: &str) -> Diagnostic {
    let diagnostic = say(error, text).at(file, error.span);
    match error.kind {
        K::InsideFunction { open } => diagnostic.also(file, open, "this `{` is not closed"),
        _ => diagnostic,
    }
}

fn say(error: &SyntaxError, text: &str) -> Diagnostic {
    let here = excerpt(error.span, text);
    match &error.kind {
        K::NoVersion { anywhere: false } => {
            said("not-ptx", "this is not PTX: there is no `.version` directive", "the text begins here")
                .hint("a PTX module begins with `.version`, `.target` and `.address_size`; nvcc writes one with `-ptx`")
        }
        K::NoVersion { anywhere: true } => {
            said("no-version", "a module begins with `.version`", "`.version` must come before this")
        }
        K::NotUtf8 => said(
            "not-text",
            format!("this is not text: the bytes at offset {} are not UTF-8", error.span.start),
            "not UTF-8 from here",
        )
        .hint("a cubin or fat binary is not PTX; `cuobjdump -ptx` extracts the PTX that one contains"),
        K::TooLarge => said("too-large", "the file has 4 GiB or more", "").hint("split the module into several files"),
        K::Garbage => said("bad-character", format!("{here} begins no token of PTX"), "not part of PTX"),
        K::OpenText => {
            said("open-string", "a string is not closed on its line", "begins here").hint("add the closing `\"`")
        }
        K::OpenComment => said("open-comment", "a comment is not closed", "begins here").hint("add the closing `*/`"),
        K::Unexpected { expected, found, within } => unexpected(expected, *found, *within, &here),
        K::MissingSemicolon => {
            said("missing-semicolon", "a `;` is missing", "expected `;` here").hint("end the statement with `;`")
        }
        K::BadNumber(problem) => number(*problem, &here),
        K::UnknownDirective => said(
            "unknown-directive",
            format!("PTX has no {here} at this place"),
            "not expected here",
        )
        .meant(error.span.of(text), DIRECTIVES.split(' '), || None),
        K::BadSection => {
            said("bad-section", "a section is not well formed", "this section").hint("write `.section .name { … }`")
        }
        K::OutsideFunction => said(
            "outside-function",
            "a statement stands outside of any function",
            "not in a function",
        )
        .hint(
            "statements belong between the braces of an `.entry` or `.func`; perhaps a `}` before this is one too many",
        ),
        K::InsideFunction { .. } => {
            said("inside-function", format!("{here} stands inside a function"), "a module-level directive")
                .hint("perhaps the `}` of the function before it is missing")
        }
        K::StrayBrace => {
            said("stray-brace", "a `}` has no `{`", "closes nothing").hint("remove it, or add the `{` before")
        }
        K::OpenBrace => said("open-brace", "a `{` is not closed before the text ends", "this one")
            .hint("add the `}`; is the file complete?"),
        K::TooDeep { limit } => {
            said("too-deep", format!("nested more than {limit} levels deep"), "the limit is reached here")
                .hint("no compiler writes this; is the file damaged?")
        }
        K::StatementTooLong => {
            said("too-long", "a statement has more than 131072 tokens", "begins here").hint("perhaps a `;` is missing")
        }
        K::TooMany => said("too-many", format!("more than {MAX_ERRORS} errors: the rest is not shown"), "stopped here"),
    }
}

fn number(problem: NumberProblem, here: &str) -> Diagnostic {
    match problem {
        NumberProblem::Malformed => said("bad-number", format!("{here} is no number of PTX"), "not a number").hint(
            "integers: `10`, `0x1F`, `017`, `0b101`, each perhaps with `U`; floats: `1.5`, `0f` and 8 hexadecimal digits, \
             `0d` and 16",
        ),
        NumberProblem::TooLarge => {
            said("large-number", format!("the number {here} is too large"), "does not fit")
        }
        NumberProblem::Count { least, most } if least == most => said(
            "number-count",
            format!("this directive takes {}", count(least)),
            format!("needs {}", count(least)),
        ),
        NumberProblem::Count { least, most } => said(
            "number-count",
            format!("this directive takes {least} to {most} numbers"),
            format!("needs {least} to {most} numbers"),
        ),
    }
}

fn count(n: usize) -> String {
    match n {
        0 => "no number".to_owned(),
        1 => "one number".to_owned(),
        n => format!("{n} numbers"),
    }
}

fn unexpected(expected: &[Expected], found: Found, within: Context, here: &str) -> Diagnostic {
    let place = match within {
        Context::Instruction => "in an instruction",
        Context::Declaration => "in a declaration",
        Context::Initialiser => "in an initialiser",
        Context::FunctionHead => "in the head of a function",
        Context::Directive => "in a directive",
        Context::Body => "in the body of a function",
        Context::Module => "at module level",
    };
    let found_text = if found == Found::End { END } else { here };
    let said = super::diagnostic::unexpected(&format!("{found_text} {place}"), &expected_list(expected));
    match (found, here, within) {
        (Found::End, ..) => said.hint("the text ends too early; is the file complete?"),
        (_, "`=`", Context::Instruction) => said.hint("PTX has no assignment: write `mov` with the destination first"),
        (_, "`)`" | "`]`" | "`}`", _) if expected.iter().any(|e| matches!(e, Expected::Token(")" | "]" | "}"))) => {
            said.hint("this bracket does not match the one that was opened")
        }
        (_, "`;`", _) if expected.iter().any(|e| matches!(e, Expected::Token(")" | "]" | "}"))) => {
            said.hint("a bracket of this statement is not closed")
        }
        (_, "`-`", Context::Instruction) if expected.contains(&Expected::Token("+")) => {
            said.hint("a negative offset is written `+-4`")
        }
        (_, "`,`", Context::Instruction) if expected.contains(&Expected::Operand) => said.hint("one comma is too many"),
        _ => said,
    }
}

/// `a`, `b` or `c`: what would have fitted, without operators when there is anything else.
fn expected_list(expected: &[Expected]) -> String {
    let is_operator = |e: &Expected| matches!(e, Expected::Token(t) if OPERATORS.contains(t));
    let plain: Vec<&Expected> = expected.iter().filter(|e| !is_operator(e)).collect();
    let shown = if plain.is_empty() { expected.iter().collect() } else { plain };
    // An operand includes names and constants.
    let general = shown.contains(&&Expected::Operand);
    let mut words: Vec<String> = Vec::new();
    for what in shown {
        if general
            && matches!(what, Expected::Name | Expected::Constant | Expected::Integer | Expected::Token("[" | "{"))
        {
            continue;
        }
        let word = expected_text(*what);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    either(&words)
}

fn expected_text(what: Expected) -> String {
    match what {
        Expected::Token(text) => return format!("`{text}`"),
        Expected::Name => "a name",
        Expected::Operand => "an operand",
        Expected::Constant => "a constant",
        Expected::Integer => "an integer",
        Expected::Text => "a string in quotes",
        Expected::Opcode => "an opcode",
        Expected::Type => "a type such as `.u32`",
        Expected::Version => "a version such as `8.0`",
        Expected::Space => "a state space such as `.global`",
        Expected::Statement => "a statement",
        Expected::Item => "a directive such as `.visible` or `.global`",
        Expected::FunctionDirective => "a directive such as `.maxntid`",
    }
    .to_owned()
}

/// The text of a place in quotes, shortened, fit for a message.
fn excerpt(span: Span, text: &str) -> String {
    let all = span.of(text);
    let short: String = all.chars().take(40).flat_map(char::escape_debug).collect();
    let short = short.replace("\\\"", "\"").replace("\\'", "'");
    if all.chars().nth(40).is_some() { format!("`{short}…`") } else { format!("`{short}`") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::SourceMap;
    use crate::ptx::parse;

    const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

    /// The messages about a text, one line each: code, line:column, message, label, hint.
    fn said(text: &str) -> Vec<String> {
        let mut sources = SourceMap::default();
        let file = sources.add("x.ptx", text);
        let (_, errors) = parse(text);
        let line = |e: &SyntaxError| {
            let d = diagnostic(e, file, text);
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
}
