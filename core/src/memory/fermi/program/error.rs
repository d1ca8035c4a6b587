//! What can be wrong with memory programs.

use super::tree::{Level, OpExp};
use super::{OpKey, Undefined, presets};
use crate::base::{END, FileId, Span, Wording, among, complaints, either, meant, phrases, plain};

/// The most complaints that are kept for one file.
pub const MAX_ERRORS: usize = 100;

/// The deepest nesting of braces, parentheses and negations, and the most operators in one condition.
pub const MAX_NESTING: usize = 64;

/// A complaint about a file of memory programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MempError {
    /// What is wrong.
    pub kind: MempErrorKind,
    /// The file.
    pub file: FileId,
    /// Where.
    pub span: Span,
}

impl MempError {
    /// Whether the programs can be run nevertheless.
    #[must_use]
    pub const fn is_warning(&self) -> bool {
        matches!(self.kind, MempErrorKind::Unreachable)
    }
}

complaints! {
    /// The kinds of complaints; `here` is the text of the place.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    #[expect(missing_docs, reason = "fields are named for what the message prints")]
    pub enum MempErrorKind(here: &str) {
        /// Characters that start no token.
        Garbage => "bad-character" ("`{}` begins no token of a memory program", shown(here)) ("not expected");
        /// A `/*` without `*/`.
        OpenComment => "open-comment" ("a comment is not closed") ("begins here") ("add the closing `*/`");
        /// The text has 4 GiB or more.
        TooLarge => "too-large" ("the file has 4 GiB or more") ("") ("split it into several files");
        /// Something else was expected; what would have fitted, without repetition, and whether the text ends there.
        Unexpected { expected: Vec<Expected>, end: bool } => {
            let found = if *end { END.to_owned() } else { format!("`{}`", shown(here)) };
            Wording::unexpected(&found, &either(expected))
        };
        /// A statement ends without `;`. The span is empty and lies where the semicolon belongs.
        MissingSemicolon =>
            "missing-semicolon" ("a `;` is missing") ("expected `;` here") ("end the statement with `;`");
        /// A `{` without `}`.
        OpenBrace => "open-brace" ("a `{{` is not closed") ("this one") ("add the `}}`");
        /// A word that is no statement.
        UnknownStatement =>
            "unknown-statement" ("memory programs have no statement `{}`", shown(here)) ("not a statement")
            ("{}", meant(here, OpExp::all().map(OpExp::name).chain(["yield", "end"])).unwrap_or_else(||
                "statements are `yield`, `end`, `if` and the operations of the report, 4.4.3".to_owned()));
        /// A word that is no condition.
        UnknownCondition =>
            "unknown-condition" ("memory programs have no condition `{}`", shown(here)) ("not a condition")
            ("{}", meant(here, ["isCachedL1", "isCachedL2", "true", "false"]).unwrap_or_else(||
                "conditions are `isCachedL1`, `isCachedL2`, `true` and `false`, with `!`, `and` and `or`".to_owned()));
        /// Not the name of an operation.
        UnknownOperation =>
            "unknown-operation" ("no memory operation is called `{}`", shown(here)) ("not an operation")
            ("{}", meant_operation(here).unwrap_or_else(||
                "operations are named as in PTX, e.g. `ld.global.ca`, `ld.relaxed.cta.global`, `atom.global`, \
                 `fence.sc.gpu`; `mov` writes registers".to_owned()));
        /// No preset has this name.
        UnknownPreset =>
            "unknown-preset" ("there is no preset `{}`", shown(here)) ("not a preset")
            ("{}", among(here, &presets().collect::<Vec<_>>(), "", plain));
        /// A second `use`; the place of the first.
        SecondUse(first: Span) =>
            "second-use" ("the programs are taken from two presets") ("a second `use`") ("remove one of them");
        /// Nested deeper than [`MAX_NESTING`].
        TooDeep =>
            "too-deep" ("nested more than {MAX_NESTING} levels deep") ("the limit is reached here")
            ("braces may be nested, and a condition may have operators, up to that number");
        /// A program of more statements than can be numbered.
        TooLong => "too-long" ("the program has more than 65535 statements") ("this program");
        /// There were more than [`MAX_ERRORS`] complaints.
        TooMany => "too-many" ("more than {MAX_ERRORS} errors: the rest is not shown") ("stopped here");
        /// The operation has a program already, at this place.
        Twice { key: OpKey, file: FileId, span: Span } =>
            "second-program" ("`{}` has two programs", key.name()) ("the second one") ("remove one of them");
        /// No program serves these operations. The span is that of the last file's end.
        Missing(keys: Vec<OpKey>) => { missing(keys) };
        /// A statement that no path reaches.
        Unreachable =>
            "unreachable" ("this statement is never executed") ("no path leads here")
            ("remove it, or the `end` before it");
        /// A path reaches the end of the program without `end`.
        NoEnd => "no-end" ("the program ends without `end`") ("nothing follows here") ("add `end;`");
        /// A statement that is undefined for an operation that the program serves.
        Undefined { op: OpExp, key: OpKey, cause: Undefined } =>
            "undefined" ("`{}` is undefined for `{}`", op.name(), key.name()) ("{cause}");
        /// A query that is undefined for an operation that the program serves.
        NoCaches { key: OpKey } =>
            "undefined" ("`isCachedL1` and `isCachedL2` are undefined for `{}`", key.name())
            ("{}", Undefined::NoCaches);
        /// On some path the line is not known to be in the cache: it was neither reserved nor found there in this micro step.
        NotReserved { op: OpExp, level: Level } =>
            "not-reserved" ("`{}` of a line that may not be in the cache", op.name())
            ("neither reserved before, nor found by `isCached{level}` in this micro step")
            ("ask `if (!isCached{level})` and `reserve{level}`; what was asked before a `yield`, or before an operation that \
              may have to wait, no longer holds");
        /// On some path the line may be in the cache already: it was not looked for in this micro step.
        MayBeCached(level: Level) =>
            "may-be-cached" ("`reserve{level}` of a line that may be in the cache already")
            ("undefined for a cached line") ("ask `if (!isCached{level})` in the same micro step");
        /// On some path the statement waits for ever: for a line that the program pins itself, or has undertaken to fill.
        WaitsForItself(op: OpExp) =>
            "waits-for-itself" ("`{}` waits for ever on some path", op.name())
            ("the program itself has reserved the line, and neither filled nor read it")
            ("fetch the bytes and `update` the line; `read` lets go of it");
        /// On some path the program waits for the other multiprocessors' lines while it has one reserved itself: two that
        /// do so wait for each other.
        WaitsForEachOther =>
            "waits-for-each-other" ("`invalidateOthersL1` may wait for ever on some path")
            ("the program has a line reserved here, which the same program on another multiprocessor may wait for")
            ("`read` the line first, which lets go of it, or invalidate before you reserve");
        /// On some path bytes are made clean that the level behind has not been given in the same micro step.
        NotWrittenThrough(level: Level) => {
            let (behind, write) = if *level == Level::L1 { ("L2", "writeL2") } else { ("memory", "writeMem") };
            let message = format!("`clean{level}` of bytes that {behind} may not have: they would be lost");
            let label = format!("no `{write}` in this micro step on some path to this");
            Wording::new("not-written-through", message, label)
                .hint(format!("`{write}` in the same micro step; what may have to wait in between ends it"))
        };
        /// On some path the program ends while it pins a line.
        StillPinned(level: Level) =>
            "still-pinned" ("the program ends with a line of {level} reserved on some path")
            ("nobody can evict the line after this") ("`read{level}` lets go of a line");
        /// On some path the value of an atomic operation is read in another micro step than the one it is written in, with
        /// banks unlocked. The place of the read.
        Torn { read: Span } =>
            "torn" ("the atomic operation is torn apart on some path")
            ("written in another micro step than the one it was read in")
            ("read, compute and write in one micro step, or `lock` the banks of shared memory before and `unlock` after");
        /// On some path something is used that has not been read.
        NothingRead(op: OpExp) =>
            "nothing-read" ("`{}` before a value was read", op.name())
            ("no `readMem`, `readL1` or `readL2` on some path to this");
        /// On some path the program ends with the operation's registers blocked.
        NotReleased =>
            "not-released" ("the operation's registers stay blocked on some path")
            ("no `releaseRegs` on some path to this `end`")
            ("add `releaseRegs;`: the thread waits for ever otherwise");
        /// On some path a load ends without having written its registers, or an atomic operation that returns a value.
        NotWritten =>
            "not-written" ("the destination registers are not written on some path")
            ("no `writeToRegs` on some path to this `end`") ("add `writeToRegs;` before `releaseRegs;`");
        /// On some path registers are written after they were released.
        WrittenAfterRelease =>
            "written-late" ("registers are written after they were released on some path")
            ("the thread may have used the old value already") ("write before `releaseRegs;`");
        /// On some path a store or atomic operation ends without having written memory or a cache.
        NoEffect =>
            "no-effect" ("memory is not written on some path")
            ("no `writeMem`, `writeL1` or `writeL2` on some path to this `end`");
        /// On some path banks are locked twice, or unlocked without having been locked.
        LockTwice => "locked-twice" ("banks are locked twice on some path") ("waits for ever for its own lock");
        /// See [`MempErrorKind::LockTwice`].
        NotLocked => "not-locked" ("banks are unlocked that the program has not locked on some path") ("no `lock`");
        /// On some path the program ends with its banks locked.
        StillLocked =>
            "still-locked" ("the program ends with its banks locked on some path") ("no `unlock`")
            ("add `unlock;`: other atomic operations wait for ever otherwise");
    }
}

phrases! {
    /// What would have fitted.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
    pub enum Expected {
        /// A fixed token or word.
        Token(text: &'static str) => ("`{text}`");
        /// A statement.
        Statement => ("a statement");
        /// A condition.
        Condition => ("a condition");
        /// The name of an operation.
        Operation => ("an operation such as `ld.global.ca`");
        /// The name of a preset.
        Preset => ("the name of a preset");
        /// A program, or that they are taken from a preset.
        Item => ("`program` or `use`");
    }
}

/// The text of a place, fit for a message.
fn shown(here: &str) -> String {
    here.chars().take(40).flat_map(char::escape_debug).collect()
}

fn meant_operation(here: &str) -> Option<String> {
    let names: Vec<String> = OpKey::all().iter().chain(&OpKey::refinements()).map(OpKey::name).collect();
    meant(here, names.iter().map(String::as_str))
}

/// The first few of what is missing.
fn missing(keys: &[OpKey]) -> Wording {
    const SHOWN: usize = 6;
    let names: Vec<String> = keys.iter().map(OpKey::name).collect();
    let first = names.first().cloned().unwrap_or_default();
    let message = match names.len() {
        1 => format!("no program for {first}"),
        n if n <= SHOWN => format!("no program for {}", names.join(", ")),
        n => format!("no program for {} and {} others", names.get(..SHOWN).unwrap_or(&names).join(", "), n - SHOWN),
    };
    Wording::new("missing-program", message, "the programs end here")
        .hint(format!("add `program {first}: …`, or take what is missing from a preset with `use fermi;`"))
}
