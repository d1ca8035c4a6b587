//! The text of complaints about memory programs.

use super::count::{either, plain};
use super::diagnostic::{Diagnostic, END, Severity, said, unexpected};
use crate::base::SourceMap;
use crate::memory::fermi::program::{
    Expected, Level, MAX_ERRORS, MAX_NESTING, MempError, MempErrorKind as K, OpExp, OpKey, Undefined, presets,
};

/// The message of a complaint.
pub fn diagnostic(error: &MempError, sources: &SourceMap) -> Diagnostic {
    let text = sources.get(error.file).map_or("", |s| s.text.as_str());
    let mut diagnostic = say(error, error.span.of(text)).at(error.file, error.span);
    if error.is_warning() {
        diagnostic.severity = Severity::Warning;
    }
    match &error.kind {
        K::Twice { file, span, .. } => diagnostic.also(*file, *span, "the first program"),
        K::SecondUse(first) => diagnostic.also(error.file, *first, "the first one"),
        K::Torn { read } => diagnostic.also(error.file, *read, "the value was read here"),
        _ => diagnostic,
    }
}

fn say(error: &MempError, here: &str) -> Diagnostic {
    let known = syntax(&error.kind, here).or_else(|| cached(&error.kind));
    known.unwrap_or_else(|| meaning(&error.kind))
}

fn syntax(kind: &K, here: &str) -> Option<Diagnostic> {
    let shown: String = here.chars().take(40).flat_map(char::escape_debug).collect();
    Some(match kind {
        K::Garbage => said("bad-character", format!("`{shown}` begins no token of a memory program"), "not expected"),
        K::OpenComment => said("open-comment", "a comment is not closed", "begins here").hint("add the closing `*/`"),
        K::TooLarge => said("too-large", "the file has 4 GiB or more", "").hint("split it into several files"),
        K::Unexpected { expected, end } => {
            let found = if *end { END.to_owned() } else { format!("`{shown}`") };
            unexpected(&found, &expected_list(expected))
        }
        K::MissingSemicolon => {
            said("missing-semicolon", "a `;` is missing", "expected `;` here").hint("end the statement with `;`")
        }
        K::OpenBrace => said("open-brace", "a `{` is not closed", "this one").hint("add the `}`"),
        K::UnknownStatement => {
            let words = OpExp::all().map(OpExp::name).chain(["yield", "end"]);
            said("unknown-statement", format!("memory programs have no statement `{shown}`"), "not a statement").meant(
                here,
                words,
                || Some("statements are `yield`, `end`, `if` and the operations of the report, 4.4.3".to_owned()),
            )
        }
        K::UnknownCondition => said(
            "unknown-condition",
            format!("memory programs have no condition `{shown}`"),
            "not a condition",
        )
        .meant(here, ["isCachedL1", "isCachedL2", "true", "false"], || {
            Some("conditions are `isCachedL1`, `isCachedL2`, `true` and `false`, with `!`, `and` and `or`".to_owned())
        }),
        K::UnknownOperation => {
            let known = OpKey::all().into_iter().chain(OpKey::refinements());
            let names: Vec<String> = known.map(|key| key.name()).collect();
            said("unknown-operation", format!("no memory operation is called `{shown}`"), "not an operation").meant(here, names.iter().map(String::as_str), || Some("operations are named as in PTX, e.g. `ld.global.ca`, `ld.relaxed.cta.global`, `atom.global`, `fence.sc.gpu`; `mov` writes registers".to_owned()))
        }
        K::UnknownPreset => {
            let names: Vec<&str> = presets().collect();
            said("unknown-preset", format!("there is no preset `{shown}`"), "not a preset")
                .among(here, &names, "", plain)
        }
        K::SecondUse(_) => {
            said("second-use", "the programs are taken from two presets", "a second `use`").hint("remove one of them")
        }
        K::TooDeep => {
            said("too-deep", format!("nested more than {MAX_NESTING} levels deep"), "the limit is reached here")
                .hint("braces may be nested, and a condition may have operators, up to that number")
        }
        K::TooLong => said("too-long", "the program has more than 65535 statements", "this program"),
        K::TooMany => said("too-many", format!("more than {MAX_ERRORS} errors: the rest is not shown"), "stopped here"),
        _ => return None,
    })
}

/// Complaints about lines of caches.
fn cached(kind: &K) -> Option<Diagnostic> {
    Some(match kind {
        K::NoCaches { key } => said(
            "undefined",
            format!("`isCachedL1` and `isCachedL2` are undefined for `{}`", key.name()),
            because(Undefined::NoCaches),
        ),
        K::NotReserved { op, level } => said(
            "not-reserved",
            format!("`{}` of a line that may not be in the cache", op.name()),
            format!("neither reserved before, nor found by `isCached{}` in this micro step", text(*level)),
        )
        .hint(format!(
            "ask `if (!isCached{0})` and `reserve{0}`; what was asked before a `yield`, or before an operation that may \
             have to wait, no longer holds",
            text(*level)
        )),
        K::MayBeCached(level) => said(
            "may-be-cached",
            format!("`reserve{}` of a line that may be in the cache already", text(*level)),
            "undefined for a cached line",
        )
        .hint(format!("ask `if (!isCached{})` in the same micro step", text(*level))),
        K::WaitsForItself(op) => said(
            "waits-for-itself",
            format!("`{}` waits for ever on some path", op.name()),
            "the program itself has reserved the line, and neither filled nor read it",
        )
        .hint("fetch the bytes and `update` the line; `read` lets go of it"),
        K::WaitsForEachOther => said(
            "waits-for-each-other",
            "`invalidateOthersL1` may wait for ever on some path",
            "the program has a line reserved here, which the same program on another multiprocessor may wait for",
        )
        .hint("`read` the line first, which lets go of it, or invalidate before you reserve"),
        K::NotWrittenThrough(level) => {
            let (behind, write) = if *level == Level::L1 { ("L2", "writeL2") } else { ("memory", "writeMem") };
            said(
                "not-written-through",
                format!("`clean{}` of bytes that {behind} may not have: they would be lost", text(*level)),
                format!("no `{write}` in this micro step on some path to this"),
            )
            .hint(format!("`{write}` in the same micro step; what may have to wait in between ends it"))
        }
        K::StillPinned(level) => said(
            "still-pinned",
            format!("the program ends with a line of {} reserved on some path", text(*level)),
            "nobody can evict the line after this",
        )
        .hint(format!("`read{}` lets go of a line", text(*level))),
        _ => return None,
    })
}

fn meaning(kind: &K) -> Diagnostic {
    match kind {
        K::Twice { key, .. } => said("second-program", format!("`{}` has two programs", key.name()), "the second one")
            .hint("remove one of them"),
        K::Missing(keys) => missing(keys),
        K::Unreachable => said("unreachable", "this statement is never executed", "no path leads here")
            .hint("remove it, or the `end` before it"),
        K::NoEnd => said("no-end", "the program ends without `end`", "nothing follows here").hint("add `end;`"),
        K::Undefined { op, key, cause } => {
            said("undefined", format!("`{}` is undefined for `{}`", op.name(), key.name()), because(*cause))
        }
        K::Torn { .. } => said(
            "torn",
            "the atomic operation is torn apart on some path",
            "written in another micro step than the one it was read in",
        )
        .hint(
            "read, compute and write in one micro step, or `lock` the banks of shared memory before and `unlock` after",
        ),
        K::NothingRead(op) => said(
            "nothing-read",
            format!("`{}` before a value was read", op.name()),
            "no `readMem`, `readL1` or `readL2` on some path to this",
        ),
        K::NotReleased => said(
            "not-released",
            "the operation's registers stay blocked on some path",
            "no `releaseRegs` on some path to this `end`",
        )
        .hint("add `releaseRegs;`: the thread waits for ever otherwise"),
        K::NotWritten => said(
            "not-written",
            "the destination registers are not written on some path",
            "no `writeToRegs` on some path to this `end`",
        )
        .hint("add `writeToRegs;` before `releaseRegs;`"),
        K::WrittenAfterRelease => said(
            "written-late",
            "registers are written after they were released on some path",
            "the thread may have used the old value already",
        )
        .hint("write before `releaseRegs;`"),
        K::NoEffect => said(
            "no-effect",
            "memory is not written on some path",
            "no `writeMem`, `writeL1` or `writeL2` on some path to this `end`",
        ),
        K::LockTwice => said("locked-twice", "banks are locked twice on some path", "waits for ever for its own lock"),
        K::NotLocked => {
            said("not-locked", "banks are unlocked that the program has not locked on some path", "no `lock`")
        }
        _ => said("still-locked", "the program ends with its banks locked on some path", "no `unlock`")
            .hint("add `unlock;`: other atomic operations wait for ever otherwise"),
    }
}

/// The first few of what is missing.
fn missing(keys: &[OpKey]) -> Diagnostic {
    const SHOWN: usize = 6;
    let names: Vec<String> = keys.iter().map(OpKey::name).collect();
    let first = names.first().cloned().unwrap_or_default();
    let message = match names.len() {
        1 => format!("no program for {first}"),
        n if n <= SHOWN => format!("no program for {}", names.join(", ")),
        n => format!("no program for {} and {} others", names.get(..SHOWN).unwrap_or(&names).join(", "), n - SHOWN),
    };
    said("missing-program", message, "the programs end here")
        .hint(format!("add `program {first}: …`, or take what is missing from a preset with `use fermi;`"))
}

const fn text(level: Level) -> &'static str {
    match level {
        Level::L1 => "L1",
        Level::L2 => "L2",
    }
}

/// Why a statement is undefined, as words.
#[must_use]
pub(super) fn because(cause: Undefined) -> String {
    match cause {
        Undefined::NotCached(level) => format!("the address is not in {}, or not all of its bytes are", text(level)),
        Undefined::AlreadyCached(level) => format!("the address is in {} already", text(level)),
        Undefined::NoCaches => "this memory has no caches".to_owned(),
        Undefined::NotAtomic => "the operation is not atomic".to_owned(),
        Undefined::NotFence => "only a fence acts on all lines of the cache".to_owned(),
        Undefined::NotSharedAtomic => "only atomic operations on shared memory lock banks".to_owned(),
        Undefined::NoMemory => "the operation has no address".to_owned(),
        Undefined::NothingRead => "no value has been read".to_owned(),
        Undefined::NoRegisters => "the operation has no destination registers".to_owned(),
        Undefined::NotWritable => "this memory cannot be written".to_owned(),
        Undefined::NotReadable => "this memory cannot be read".to_owned(),
        Undefined::NoEnd => "the program ends without `end`".to_owned(),
    }
}

fn expected_list(expected: &[Expected]) -> String {
    let words: Vec<String> = expected
        .iter()
        .map(|what| match what {
            Expected::Token(text) => format!("`{text}`"),
            Expected::Statement => "a statement".to_owned(),
            Expected::Condition => "a condition".to_owned(),
            Expected::Operation => "an operation such as `ld.global.ca`".to_owned(),
            Expected::Preset => "the name of a preset".to_owned(),
            Expected::Item => "`program` or `use`".to_owned(),
        })
        .collect();
    either(&words)
}
