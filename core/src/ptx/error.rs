//! What can be wrong with a text as PTX syntax.

use crate::base::{END, Placed, Span, Wording, complaints, either, meant, phrases};

/// The most complaints one parse keeps; then it gives up with [`SyntaxErrorKind::TooMany`].
pub const MAX_ERRORS: usize = 100;

/// The deepest nesting of parentheses and brackets, and the most operators, in one operand or initialiser element.
pub const MAX_NESTING: u32 = 256;

/// The deepest nesting of blocks in a function. ptxas has no documented limit; no compiler comes near.
pub const MAX_BLOCKS: u32 = 10_000;

/// One complaint: what is wrong, and where.
pub type SyntaxError = Placed<SyntaxErrorKind>;

/// Directives of PTX, for advice.
const DIRECTIVES: &str = "\
    .version .target .address_size .entry .func .visible .extern .weak .common .reg .sreg .const .global .local \
    .param .shared .tex .align .ptr .attribute .file .loc .section .pragma .alias .callprototype .branchtargets \
    .calltargets .maxnreg .maxntid .reqntid .minnctapersm .maxnctapersm .noreturn .explicitcluster \
    .reqnctapercluster .maxclusterrank .blocksareclusters .abi_preserve .abi_preserve_control";

/// Operators of constant expressions: they could nearly always follow, so they are only named when nothing else fits.
const OPERATORS: &[&str] =
    &["+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "^", "|", "&&", "||", "?", "!", "~"];

complaints! {
    /// The ways in which a text is not PTX; `span` is the place in the text.
    #[derive(Clone, PartialEq, Eq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what the message prints")]
    pub enum SyntaxErrorKind(span: Span, text: &str) {
        /// The text has `.version` nowhere.
        NotPtx =>
            "not-ptx" ("this is not PTX: there is no `.version` directive") ("the text begins here")
            ("a PTX module begins with `.version`, `.target` and `.address_size`; nvcc writes one with `-ptx`");
        /// The text does not begin with `.version`.
        NoVersion => "no-version" ("a module begins with `.version`") ("`.version` must come before this");
        /// The text has 4 GiB or more.
        TooLarge => "too-large" ("the file has 4 GiB or more") ("") ("split the module into several files");
        /// Characters that start no token.
        Garbage => "bad-character" ("{} begins no token of PTX", here(span, text)) ("not part of PTX");
        /// A `"` without its partner on the line.
        OpenText => "open-string" ("a string is not closed on its line") ("begins here") ("add the closing `\"`");
        /// A `/*` without `*/`.
        OpenComment => "open-comment" ("a comment is not closed") ("begins here") ("add the closing `*/`");
        /// Something else was expected: what would have fitted, without repetition, whether the text ends there, and what
        /// was being read.
        Unexpected { expected: Vec<Expected>, end: bool, within: Context } => {
            unexpected(expected, *end, *within, &here(span, text))
        };
        /// A statement ends without `;`. The span is empty and lies where the semicolon belongs.
        MissingSemicolon =>
            "missing-semicolon" ("a `;` is missing") ("expected `;` here") ("end the statement with `;`");
        /// A number that cannot be read.
        BadNumber(problem: NumberProblem) => { problem.wording(&here(span, text)) };
        /// A `.word` that PTX does not have, where a directive should be.
        UnknownDirective =>
            "unknown-directive" ("PTX has no {} at this place", here(span, text)) ("not expected here")
            if meant(span.of(text), DIRECTIVES.split(' '));
        /// Not `.section .name { … }`.
        BadSection => "bad-section" ("a section is not well formed") ("this section") ("write `.section .name {{ … }}`");
        /// An instruction or block outside of any function.
        OutsideFunction =>
            "outside-function" ("a statement stands outside of any function") ("not in a function")
            ("statements belong between the braces of an `.entry` or `.func`; perhaps a `}}` before this is one too many");
        /// A module-level directive inside a function, whose `{` was not closed.
        InsideFunction { open: Span } =>
            "inside-function" ("{} stands inside a function", here(span, text)) ("a module-level directive")
            ("perhaps the `}}` of the function before it is missing");
        /// A `}` without `{`.
        StrayBrace => "stray-brace" ("a `}}` has no `{{`") ("closes nothing") ("remove it, or add the `{{` before");
        /// The text ends inside a function, block, section or initialiser; the span is its `{`.
        OpenBrace =>
            "open-brace" ("a `{{` is not closed before the text ends") ("this one")
            ("add the `}}`; is the file complete?");
        /// Nested deeper than the limit, in levels.
        TooDeep { limit: u32 } =>
            "too-deep" ("nested more than {limit} levels deep") ("the limit is reached here")
            ("no compiler writes this; is the file damaged?");
        /// A statement of more tokens than any compiler writes.
        StatementTooLong =>
            "too-long" ("a statement has more than 131072 tokens") ("begins here") ("perhaps a `;` is missing");
        /// There were more than [`MAX_ERRORS`] complaints.
        TooMany => "too-many" ("more than {MAX_ERRORS} errors: the rest is not shown") ("stopped here");
    }
}

complaints! {
    /// Why a number cannot be read; `here` is its text.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what the message prints")]
    pub enum NumberProblem(here: &str) {
        /// Not a literal of PTX (PTX ISA 4.5).
        Malformed =>
            "bad-number" ("{here} is no number of PTX") ("not a number")
            ("integers: `10`, `0x1F`, `017`, `0b101`, each perhaps with `U`; floats: `1.5`, `0f` and 8 hexadecimal digits, \
              `0d` and 16");
        /// Beyond 64 bits, or beyond what fits at this place.
        TooLarge => "large-number" ("the number {here} is too large") ("does not fit");
        /// More or fewer numbers than a directive takes: the least and the most.
        Count { least: usize, most: usize } => {
            let count = match (*least, *most) {
                (0, 0) => "no number".to_owned(),
                (1, 1) => "one number".to_owned(),
                (least, most) if least == most => format!("{least} numbers"),
                (least, most) => format!("{least} to {most} numbers"),
            };
            Wording::new("number-count", format!("this directive takes {count}"), format!("needs {count}"))
        };
    }
}

phrases! {
    /// What would have fitted.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
    pub enum Expected {
        /// A fixed token, e.g. `;`.
        Token(text: &'static str) => ("`{text}`");
        /// A register, variable, label or function.
        Name => ("a name");
        /// An operand of an instruction.
        Operand => ("an operand");
        /// A constant expression.
        Constant => ("a constant");
        /// An integer literal.
        Integer => ("an integer");
        /// A string.
        Text => ("a string in quotes");
        /// An opcode.
        Opcode => ("an opcode");
        /// A type.
        Type => ("a type such as `.u32`");
        /// A version.
        Version => ("a version such as `8.0`");
        /// A state space.
        Space => ("a state space such as `.global`");
        /// A statement.
        Statement => ("a statement");
        /// A module-level directive.
        Item => ("a directive such as `.visible` or `.global`");
        /// A directive between a function's head and its body.
        FunctionDirective => ("a directive such as `.maxntid`");
    }
}

phrases! {
    /// What was being read when something else was found.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Context {
        /// An instruction.
        Instruction => ("in an instruction");
        /// A declaration.
        Declaration => ("in a declaration");
        /// An initialiser.
        Initialiser => ("in an initialiser");
        /// The head of a function.
        FunctionHead => ("in the head of a function");
        /// Any other directive.
        Directive => ("in a directive");
        /// The body of a function.
        Body => ("in the body of a function");
        /// The module.
        Module => ("at module level");
    }
}

fn unexpected(expected: &[Expected], end: bool, within: Context, here: &str) -> Wording {
    let found_text = if end { END } else { here };
    let wording = Wording::unexpected(&format!("{found_text} {within}"), &expected_list(expected));
    let closes = || expected.iter().any(|e| matches!(e, Expected::Token(")" | "]" | "}")));
    match (end, here, within) {
        (true, ..) => wording.hint("the text ends too early; is the file complete?"),
        (_, "`=`", Context::Instruction) => {
            wording.hint("PTX has no assignment: write `mov` with the destination first")
        }
        (_, "`)`" | "`]`" | "`}`", _) if closes() => {
            wording.hint("this bracket does not match the one that was opened")
        }
        (_, "`;`", _) if closes() => wording.hint("a bracket of this statement is not closed"),
        (_, "`-`", Context::Instruction) if expected.contains(&Expected::Token("+")) => {
            wording.hint("a negative offset is written `+-4`")
        }
        (_, "`,`", Context::Instruction) if expected.contains(&Expected::Operand) => {
            wording.hint("one comma is too many")
        }
        _ => wording,
    }
}

/// `a`, `b` or `c`: what would have fitted, without operators when there is anything else.
fn expected_list(expected: &[Expected]) -> String {
    let is_operator = |e: &Expected| matches!(e, Expected::Token(t) if OPERATORS.contains(t));
    let all = || expected.iter().copied();
    let operators_alone = all().all(|e| is_operator(&e));
    // An operand includes names and constants.
    let included = |e: &Expected| {
        matches!(e, Expected::Name | Expected::Constant | Expected::Integer | Expected::Token("[" | "{"))
    };
    let general = expected.contains(&Expected::Operand);
    let shown = all().filter(|e| (operators_alone || !is_operator(e)) && !(general && included(e)));
    either(shown)
}

/// The text of a place in quotes, shortened, fit for a message.
fn here(span: Span, text: &str) -> String {
    let all = span.of(text);
    let short: String = all.chars().take(40).flat_map(char::escape_debug).collect();
    let short = short.replace("\\\"", "\"").replace("\\'", "'");
    if all.chars().nth(40).is_some() { format!("`{short}…`") } else { format!("`{short}`") }
}
