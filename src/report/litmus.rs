//! The text of litmus tests: complaints about files, and outcomes in the form of herd and litmus.

use super::count::{counted, either, plain};
use super::data::Stopped;
use super::diagnostic::{Diagnostic, END, said, unexpected};
use super::parts::Exit;
use super::prove::Scope;
use crate::base::{SourceMap, suggest};
use crate::explore::space::Progress;
use crate::litmus::tree::TermKind;
use crate::litmus::{
    Expected, Gap, LitmusError, LitmusErrorKind as K, MAX_ERRORS, MAX_NESTING, Outcomes, Truth, instructions,
};
use crate::verdict::LimitKind;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// The message of a complaint.
pub fn diagnostic(error: &LitmusError, sources: &SourceMap) -> Diagnostic {
    let text = sources.get(error.file).map_or("", |s| s.text.as_str());
    let here: String = error.span.of(text).chars().take(40).flat_map(char::escape_debug).collect();
    let said = match &error.kind {
        K::Unsupported(gap) => unsupported(gap),
        kind => names(kind, &here).unwrap_or_else(|| syntax(kind, &here)),
    };
    let diagnostic = said.at(error.file, error.span);
    match error.kind {
        K::ThreadTwice(first) | K::Twice(first) | K::LabelTwice(first) => {
            diagnostic.also(error.file, first, "the first one")
        }
        _ => diagnostic,
    }
}

fn syntax(kind: &K, here: &str) -> Diagnostic {
    match kind {
        K::TooLarge => said("too-large", "the file has 4 GiB or more", "").hint("split it into several tests"),
        K::NotPtx(word) if word.is_empty() => said("not-litmus", "the file is empty", "a litmus test is expected")
            .hint("a litmus test begins with `PTX` and its name"),
        K::NotPtx(word) => {
            said("not-litmus", format!("this is no litmus test for PTX: it begins with `{word}`"), "here")
                .hint("a litmus test for PTX begins with `PTX` and its name; other languages are not read")
        }
        K::NoName => said("no-name", "the test has no name", "nothing follows on this line").hint("write `PTX name`"),
        K::NoInit => said("no-init", "the test has no initial state", "the text ends here")
            .hint("declare locations between braces, e.g. `{ x=0; y=0; }`; the braces may be empty"),
        K::OpenInit => said("open-init", "the initial state is not closed", "begins here").hint("add the closing `}`"),
        K::MissingSemicolon => {
            said("missing-semicolon", "a `;` is missing", "expected `;` here").hint("each row ends with `;`")
        }
        K::Garbage => said("bad-character", format!("`{here}` begins no token of a litmus test"), "not expected"),
        K::OpenComment => said("open-comment", "a comment is not closed", "begins here").hint("add the closing `*)`"),
        K::BadNumber => said("bad-number", format!("`{here}` is no number of 64 bits"), "not a number")
            .hint("numbers are decimal or begin with `0x`"),
        K::Unexpected { expected, end } => {
            let found = if *end { END.to_owned() } else { format!("`{here}`") };
            let said = unexpected(&found, &expected_list(expected));
            let asks = expected.contains(&Expected::Quantifier);
            match here {
                _ if asks => said.hint("a test ends with `exists`, `~exists` or `forall` and a condition"),
                "[" => said.hint("addresses of instructions are written without brackets"),
                _ => said,
            }
        }
        K::TooDeep => {
            said("too-deep", format!("nested more than {MAX_NESTING} levels deep"), "the limit is reached here")
        }
        K::TooMany => said("too-many", format!("more than {MAX_ERRORS} errors: the rest is not shown"), "stopped here"),
        K::Columns { cells, threads } => said(
            "columns",
            format!("the row has {}, there are {threads} threads", counted(*cells as u64, "cell")),
            "this row",
        )
        .hint("separate cells by `|`; a cell may be empty"),
        K::UnknownInstruction => {
            let known: Vec<&str> = instructions().collect();
            said("unknown-instruction", format!("there is no instruction `{here}`"), "not an instruction")
                .among(here, &known, "", plain)
        }
        K::Modifier { allowed } if allowed.is_empty() => {
            let label = if here == "." { "nothing follows this" } else { "one word too many" };
            said("modifier", "the instruction's name ends before this", label)
        }
        K::Modifier { allowed } => {
            let near = suggest(here, allowed.iter().copied()).map(|near| format!("did you mean `.{near}`?"));
            said("modifier", format!("`.{here}` cannot stand here"), format!("expected {}", dotted(allowed)))
                .hint_if(near)
        }
        K::NoModifier { allowed } => {
            said("modifier", "the instruction's name is not complete", format!("expected {}", dotted(allowed)))
        }
        K::Operands { form, found } => {
            let message = format!("the instruction has {}", counted(*found as u64, "operand"));
            said("operands", message, "too many or too few").hint(format!("it is written `{form}`"))
        }
        K::Operand { form, wanted } => {
            let wanted = expected_text(*wanted);
            said("operand", format!("`{here}` stands where {wanted} is needed"), format!("expected {wanted}"))
                .hint(format!("the instruction is written `{form}`"))
        }
        _ => said("litmus", "the test is wrong", "here"),
    }
}

/// Complaints about names.
fn names(kind: &K, here: &str) -> Option<Diagnostic> {
    Some(match kind {
        K::LocationAsValue => {
            said("location-as-value", format!("`{here}` is a location, not a register"), "a location")
                .hint(format!("load it first, e.g. `ld.weak r0, {here}`; `P0:r0=&{here}` begins with its address"))
        }
        K::RegisterIsLocation => said(
            "register-name",
            format!("`{here}` is declared as a location and written as a register"),
            "written here",
        )
        .hint("give the register another name"),
        K::ThreadTwice(_) => said("thread-twice", "two threads have one number", "again")
            .hint("number the threads from P0 on, one for each column"),
        K::NoThread { number, known } => {
            let known: Vec<String> = known.iter().map(|n| format!("P{n}")).collect();
            said("no-thread", format!("there is no thread P{number}"), "no such thread")
                .hint(format!("there is: {}", known.join(", ")))
        }
        K::Twice(_) => {
            said("declared-twice", format!("`{here}` is declared twice"), "again").hint("remove one of them")
        }
        K::NoLocation { known } => said("no-location", format!("there is no location `{here}`"), "not declared so far")
            .among(here, known, &format!("declare it in the initial state: `{here}=0;`"), plain),
        K::NoRegister { thread, known } => {
            let name = here.rsplit(':').next().unwrap_or(here);
            said("no-register", format!("thread P{thread} has no register `{name}`"), "no such register").among(
                name,
                known,
                "it has none",
                plain,
            )
        }
        K::Element => said("element", "a location has one element", "beyond it").hint("its number is 0"),
        K::LabelTwice(_) => {
            said("label-twice", "the thread has two labels of one name", "again").hint("give one of them another name")
        }
        K::NoLabel { thread, known } => said(
            "no-label",
            format!("thread P{thread} has no label `{here}`"),
            "no such label",
        )
        .among(here, known, "a label is a cell of its own: `LC00:`", plain),
        _ => return None,
    })
}

fn unsupported(gap: &Gap) -> Diagnostic {
    let (message, label): (String, String) = match gap {
        Gap::Proxy(proxy) => {
            let name = proxy.name();
            (format!("the engines have no {name} proxy"), format!("memory is accessed by the {name} proxy"))
        }
        Gap::Atomic(op) => (format!("PTX has no atomic `{}`", op.name()), "this operation".to_owned()),
        Gap::BarrierNumber => (
            "it cannot be told in advance which threads meet at this barrier".to_owned(),
            "a register says which barrier".to_owned(),
        ),
        Gap::Quorum => (
            "it cannot be told in advance how many threads meet at this barrier".to_owned(),
            "a register says how many".to_owned(),
        ),
        Gap::Latecomers { quorum, threads } => (
            format!("{threads} threads come to a barrier whose quorum is {quorum}"),
            "in PTX it begins anew after the first ones; late ones can be let pass only where nobody comes twice"
                .to_owned(),
        ),
        Gap::Barriers => ("the test has more than the 16 barriers of a block".to_owned(), "one too many".to_owned()),
        Gap::BarrierOfBlocks => (
            "threads of a cta meet at a barrier, and each is a block of its own".to_owned(),
            "blocks have no barrier in common".to_owned(),
        ),
        Gap::PartOfWarp { count, warp } => {
            (format!("{count} of the {warp} threads of a warp meet at a barrier"), "PTX counts whole warps".to_owned())
        }
        Gap::Threads { threads, limit } => {
            (format!("a cta has {threads} threads, {limit} are possible"), "one too many".to_owned())
        }
    };
    let said = said("unsupported", message, label);
    match gap {
        Gap::PartOfWarp { .. } => said.hint("give each thread a warp of its own: leave out --same-warp"),
        _ => said,
    }
}

fn dotted(words: &[&str]) -> String {
    either(&words.iter().map(|w| format!("`.{w}`")).collect::<Vec<_>>())
}

fn expected_text(expected: Expected) -> String {
    let text = match expected {
        Expected::Token(text) => return format!("`{text}`"),
        Expected::Declaration => "a declaration such as `x=0`",
        Expected::Proxy => "`generic`, `constant`, `texture` or `surface`",
        Expected::Thread => "a thread such as `P0`",
        Expected::Instruction => "an instruction or a label",
        Expected::Register => "a register",
        Expected::Location => "a location",
        Expected::Value => "a value",
        Expected::Number => "a number",
        Expected::Label => "a label",
        Expected::Name => "a name",
        Expected::Quantifier => "`exists`, `~exists`, `forall` or `final`",
        Expected::Condition => "a condition",
        Expected::Term => "a register, a location or a number",
        Expected::Comparison => "a comparison",
        Expected::End => "the end of the text",
    };
    text.to_owned()
}

fn expected_list(expected: &[Expected]) -> String {
    either(&expected.iter().map(|e| expected_text(*e)).collect::<Vec<_>>())
}

/// All executions of a litmus test.
#[derive(Serialize, JsonSchema)]
pub struct Tested<'a> {
    exit: Exit,
    /// The test's name.
    test: &'a str,
    /// Whether its condition does; null where a limit was reached before that was settled.
    holds: Option<bool>,
    satisfied: u64,
    not_satisfied: u64,
    /// Whether all executions were gone through.
    complete: bool,
    /// Why the search ended early, if it did.
    limit: Option<String>,
    /// Runs that stop before their end, one of each kind and place.
    #[schemars(with = "Vec<Stopped<'_>>")]
    stopped: Vec<Value>,
    /// Kinds of runs that never end.
    endless: usize,
    states: u64,
    transitions: u64,
}

impl<'a> Tested<'a> {
    /// What a search of a test came to, which some limit may have ended: its outcomes and counts, how many kinds of runs
    /// never end, and those that stop.
    #[must_use]
    pub fn new(
        exit: Exit,
        (outcomes, limit): (&'a Outcomes<'_>, Option<LimitKind>),
        counts: &Progress,
        endless: usize,
        stopped: Vec<Value>,
    ) -> Self {
        let (verdict, complete) = (outcomes.verdict(), limit.is_none());
        Self {
            exit,
            test: &outcomes.litmus().name,
            holds: outcomes.decided(complete).then_some(verdict.holds),
            satisfied: verdict.satisfied,
            not_satisfied: verdict.not_satisfied,
            complete,
            limit: limit.map(super::limit::limit),
            stopped,
            endless,
            states: counts.states,
            transitions: counts.transitions,
        }
    }
}

/// The outcomes of a test as herd and litmus print them: each with its count, `*>` before those that satisfy the condition.
/// `complete`: whether these are all there are; only then anything is said about the condition that one more execution
/// could change.
#[must_use]
pub fn outcomes(all: &Outcomes<'_>, complete: bool) -> String {
    let litmus = all.litmus();
    let Some(asked) = &litmus.condition else { return String::new() };
    let truth = Truth::of(asked);
    let kind = match truth {
        Truth::Some => "Allowed",
        Truth::None => "Forbidden",
        Truth::All => "Required",
    };
    let mut out = format!("Test {} {kind}\nStates {}\n", litmus.name, all.iter().count());
    let width = all.iter().map(|(_, times, _)| times.to_string().len()).max().unwrap_or(0);
    for (outcome, times, satisfies) in all.iter() {
        let _ = write!(out, "{times:<width$} {}>", if satisfies { '*' } else { ':' });
        let shown = all.observed().places().zip(&outcome.0).map(|(place, value)| match place {
            TermKind::Register { thread, name } => format!("{thread}:{name}={value};"),
            TermKind::Location { name, .. } => format!("{name}={value};"),
            TermKind::Number(n) => format!("{n};"),
        });
        out.push_str(&shown.collect::<Vec<_>>().join(" "));
        out.push('\n');
    }
    let verdict = all.verdict();
    let (answer, said) = match (all.decided(complete), verdict.holds) {
        (false, _) => ("Unknown", "not decided"),
        (true, true) => ("Ok", "validated"),
        (true, false) => ("No", "NOT validated"),
    };
    // Witnesses speak for what is asked; the observation is about the condition alone.
    let (yes, no) = (verdict.satisfied, verdict.not_satisfied);
    let (positive, negative) = if truth == Truth::None { (no, yes) } else { (yes, no) };
    let seen = match (yes, no) {
        (0, _) => "Never",
        (_, 0) => "Always",
        _ => "Sometimes",
    };
    let _ = writeln!(out, "{answer}\nWitnesses\nPositive: {positive} Negative: {negative}");
    let _ = writeln!(out, "Condition {} {} is {said}", asked.quantifier.name(), asked.cond);
    let _ = writeln!(out, "Observation {} {seen} {yes} {no}", litmus.name);
    out
}

/// Only how the condition fared: the last lines of [`outcomes`].
#[must_use]
pub fn verdict(all: &Outcomes<'_>, complete: bool) -> String {
    let text = outcomes(all, complete);
    let about = |line: &&str| line.starts_with("Condition ") || line.starts_with("Observation ");
    text.lines().filter(about).map(|line| format!("{line}\n")).collect()
}

/// What a search of a test looked at.
#[must_use]
pub fn searched(scope: &Scope<'_>, counts: &Progress, endless: usize, stopped: usize) -> String {
    let ends = match (endless, stopped) {
        (0, 0) => "every fair run ends",
        (0, _) => "some runs stop before their end",
        _ => "some fair runs never end",
    };
    let (states, transitions) = (counted(counts.states, "state"), counted(counts.transitions, "transition"));
    format!("{}: {states}, {transitions}; {ends}\n", scope.text())
}
