//! Why a run stopped: a report of compute-sanitizer's kind, as text or as JSON.

use super::bug::{bug, leaked};
use super::diagnostic::{Diagnostic, NOWHERE, said};
use super::gaps;
use super::internal::{self, INTERNAL};
use super::limit::EndedEarly;
use super::limit::{limit, limit_hint, takes_too_long};
use super::suppress::Suppressed;
use super::terminal::{Text, inline};
use super::words::{awaited, counted, often, plural, program, who};
use crate::base::{FileId, Pc, SourceMap, Span, files};
use crate::program::env::ProgEnv;
use crate::verdict::{BugKind, Internal, LimitKind, Operation, Place, Stop, StuckKind, Waiting};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// How many waiting warps a report lists.
const WAITING: usize = 8;
/// How many calls of a stack a report lists, equal ones in a row once.
const CALLS: usize = 16;
/// How many further lines a report of leaks shows.
const LEAKS: usize = 16;

/// A stop of a program, ready to be rendered.
pub struct StopReport<'a> {
    pub(super) stop: &'a Stop,
    pub(super) env: &'a ProgEnv,
    pub(super) sources: &'a SourceMap,
    /// How often it happened, of something that did not stop the run.
    pub(super) times: Option<u64>,
    pub(super) suppressed: Option<&'a Suppressed>,
    pub(super) ended: EndedEarly,
}

/// What a stop is called in JSON and how a process ends that reports it.
#[must_use]
pub fn exit_code(stop: &Stop) -> u8 {
    match stop {
        ours if ours.is_ours() => INTERNAL,
        Stop::Bug(_) | Stop::Stuck(_) => 1,
        Stop::Diverged { .. } => 2,
        Stop::Limit(_) => 3,
        Stop::Unsupported(..) => 4,
        Stop::Internal(_) => INTERNAL,
    }
}

/// The exit code of several things: an error of ours first, then wrong input, a defect, what is unsupported, and limits.
#[must_use]
pub fn worst(codes: impl IntoIterator<Item = u8>) -> u8 {
    let rank = |code: &u8| [0, 3, 4, 1, 2].iter().position(|c| c == code).unwrap_or(usize::MAX);
    codes.into_iter().max_by_key(rank).unwrap_or(0)
}

impl<'a> StopReport<'a> {
    /// A report of why a run of `env` stopped; `sources` are its files.
    #[must_use]
    pub const fn new(stop: &'a Stop, env: &'a ProgEnv, sources: &'a SourceMap) -> Self {
        let ended = EndedEarly { standing: Vec::new(), target: None };
        Self { stop, env, sources, times: None, suppressed: None, ended }
    }

    /// The same of a run that was ended from outside, when more is known of it.
    #[must_use]
    pub fn ended(mut self, ended: EndedEarly) -> Self {
        self.ended = ended;
        self
    }

    /// The same of a defect that is known and may stay, if it is.
    #[must_use]
    pub const fn suppressed(mut self, accepted: Option<&'a Suppressed>) -> Self {
        self.suppressed = accepted;
        self
    }

    /// A suppressed defect in a few lines.
    pub(super) fn in_short(&self, known: &Suppressed) -> String {
        let diagnostic = self.diagnostic();
        let at = self.sources.file_line(diagnostic.file, diagnostic.span);
        let by = self.stop.places().first().map(|p| format!("\n  by {}", who(p)));
        format!(
            "1 suppressed: {}{}\n  [{}] {}{}{}\n",
            inline(&known.reason),
            known.line.as_ref().map_or_else(String::new, |line| format!(" ({})", inline(line))),
            diagnostic.code,
            inline(&diagnostic.message),
            at.map_or_else(String::new, |at| format!("\n  at {}", inline(&at))),
            by.unwrap_or_default(),
        )
    }

    /// Why a run ended: in a few lines where that is suppressed.
    #[must_use]
    pub fn text(&self, colour: bool) -> Text {
        match self.suppressed {
            Some(known) => {
                (self.in_short(known) + "  the run ended there: what comes after it was not checked\n").into()
            }
            None => self.render(colour),
        }
    }

    /// The report as text, ending in a line feed.
    #[must_use]
    pub fn render(&self, colour: bool) -> Text {
        self.diagnostic().render(self.sources, colour)
    }

    /// What is said of it.
    pub fn diagnostic(&self) -> Diagnostic {
        match self.stop {
            Stop::Bug(b) => {
                let mut d = self.of(bug(&b.kind), b.place.pc).note(self.context(&b.place));
                if let Some(more) = self.more(&b.kind) {
                    d = d.note(format!("{}\n{more}", self.context(&b.place)));
                }
                if let BugKind::Leak { sites, .. } = &b.kind {
                    for site in sites.iter().skip(1).take(LEAKS) {
                        let label = format!("{} allocated here", leaked(site.blocks, site.bytes));
                        d = self.beside(d, site.place.pc, label);
                    }
                }
                if let Some(other) = &b.other {
                    let label = match &b.kind {
                        BugKind::Race(race) => format!("{}: {}", super::race_words::other(race), who(other)),
                        _ => format!("the other party: {}", who(other)),
                    };
                    d = self.beside(d, other.pc, label);
                    if let Some(cuda) = self.cuda(other.pc) {
                        d.note = d.note.map(|note| format!("{note}\nthe other party {}", cuda.text()));
                    }
                }
                for (pc, label) in super::elsewhere::labels(&b.kind, b.place.warp) {
                    d = self.beside(d, pc, label);
                }
                d
            }
            Stop::Stuck(s) => self.stuck(s),
            Stop::Limit(l) => {
                let hint = limit_hint(*l);
                let advice = if takes_too_long(*l) { self.ended.advice() } else { None };
                let mut d =
                    self.plain(limit(*l)).hint(advice.map_or_else(|| hint.to_owned(), |a| format!("{hint}; {a}")));
                d.note = self.standing();
                if let LimitKind::Accesses { at, .. } | LimitKind::Stray(at) = *l {
                    (d.file, d.span) = self.span(at);
                    d.label = "with this access".to_owned();
                }
                d
            }
            Stop::Unsupported(what, at) => {
                let message = format!("warpstep cannot execute {what}");
                let mut hint = "this is a gap of warpstep, not a defect of the program".to_owned();
                if let Some(needs) = gaps::needs(what) {
                    hint += &format!(": it needs {needs}");
                }
                match at {
                    Some(p) => self.at(p, message).label("not supported"),
                    None => self.plain(message),
                }
                .hint(hint)
            }
            Stop::Diverged { decision, expected, found } => self
                .plain(format!(
                    "the schedule does not fit this run: decision {decision} is {expected}, the run offers {found}"
                ))
                .hint("replay a schedule with the program, launch and options that it was recorded with"),
            Stop::Internal(error) => self.internal(error),
        }
    }

    fn internal(&self, error: &Internal) -> Diagnostic {
        let message = format!("warpstep has made an error: {} ({})", error.what, internal::noticed(error));
        let needed = internal::needed(self.sources);
        let mut d = match &error.place {
            Some(place) => self.at(place, message).label("the program was here"),
            None => self.plain(message),
        };
        d.note = Some(d.note.map_or_else(|| needed.clone(), |note| format!("{note}\n{needed}")));
        d.hint(internal::HINT)
    }

    fn plain(&self, message: impl Into<String>) -> Diagnostic {
        said(self.stop.kind().id(), message, "")
    }

    fn at(&self, place: &Place, message: impl Into<String>) -> Diagnostic {
        self.about(place.pc, message).note(self.context(place))
    }

    /// The same message with another instruction.
    pub(super) fn beside(&self, diagnostic: Diagnostic, pc: Pc, text: impl Into<String>) -> Diagnostic {
        let (file, span) = self.span(pc);
        diagnostic.also(file, span, text)
    }

    /// A message about an instruction and nothing else.
    pub(super) fn about(&self, pc: Pc, message: impl Into<String>) -> Diagnostic {
        self.of(said("", message, ""), pc)
    }

    /// What is said, as the message about this stop, at an instruction.
    fn of(&self, said: Diagnostic, pc: Pc) -> Diagnostic {
        let (file, span) = self.span(pc);
        Diagnostic { code: self.stop.kind().id(), ..said.at(file, span) }
    }

    /// The line of an instruction.
    pub(super) fn line(&self, pc: Pc) -> Option<u32> {
        let (file, span) = self.span(pc);
        self.sources.get(file).map(|s| s.line_col(span.start).0)
    }

    /// Who waits: the first, and some others with their lines, as `what` and `why` say.
    fn waiting<'p, T>(
        &self,
        all: &'p [T],
        place: fn(&'p T) -> &'p Place,
        what: fn(&T) -> String,
        why: fn(&T) -> String,
    ) -> String {
        let mut note = all.first().map_or_else(String::new, |first| format!("waiting: {}", what(first)));
        for one in all.iter().skip(1).take(WAITING - 1) {
            let line = self.line(place(one).pc).unwrap_or(0);
            let _ = write!(note, "\nwaiting: {} ({}line {line})", what(one), why(one));
        }
        if all.len() > WAITING {
            let _ = write!(note, "\nand {} more", all.len() - WAITING);
        }
        note
    }

    pub(super) fn span(&self, pc: Pc) -> (FileId, Span) {
        self.env.place(pc).unwrap_or(NOWHERE)
    }

    /// Who did it, the CUDA line, the call stack.
    fn context(&self, place: &Place) -> String {
        let mut text = format!("by {}", who(place));
        if let Some(times) = self.times.filter(|n| *n > 1) {
            let _ = write!(text, "\nthe same two instructions did so {} more", often(times - 1));
        }
        if let Some(cuda) = self.cuda(place.pc) {
            let _ = write!(text, "\n{}", cuda.text());
        }
        let mut left = place.calls.len();
        for (same, pc) in runs(&place.calls).into_iter().take(CALLS) {
            left -= same;
            let line = self.file_line(pc).map_or_else(String::new, |line| format!(" at {line}"));
            let cuda = self.cuda(pc).map_or_else(String::new, |c| format!(", {}", c.text()));
            let _ = write!(text, "\ncalled from `{}`{line}{cuda}", self.function(pc));
            if same > 1 {
                let _ = write!(text, ", {}", often(same as u64));
            }
        }
        if left > 0 {
            let _ = write!(text, "\nand {} more", counted(left as u64, "call"));
        }
        text
    }

    pub(super) fn function(&self, pc: Pc) -> &str {
        self.env.function_at(pc).map_or("", |f| f.name.as_str())
    }

    /// The CUDA source line of an instruction.
    pub(super) fn cuda(&self, pc: Pc) -> Option<Cuda> {
        Cuda::of(self.env, self.sources, pc)
    }

    fn stuck(&self, stuck: &StuckKind) -> Diagnostic {
        match stuck {
            StuckKind::BarrierDeadlock { waiting, exited } => {
                let Some(first) = waiting.first() else { return self.plain("barrier deadlock") };
                let message = format!("barrier deadlock: {} cannot go on", awaited(first));
                let why = |w: &Waiting| format!("{}, ", awaited(w));
                let mut note = self.waiting(waiting, |w| &w.place, |w| who(&w.place), why);
                if *exited > 0 {
                    let threads = counted((*exited).into(), "thread");
                    let _ = write!(note, "\n{threads} of the block {} exited", plural((*exited).into(), "has"));
                }
                self.about(first.place.pc, message)
                    .label("waits here for ever")
                    .note(note)
                    .hint("every thread that the barrier counts must reach it: look for a return, a loop bound or a branch that differs between warps")
            }
            StuckKind::Endless { tokens, place, hang, .. } => self.endless(tokens, place, hang),
            StuckKind::Operations { operations } => {
                let Some(first) = operations.first() else {
                    return self.plain("no warp can go on");
                };
                let what = |o: &Operation| format!("{}, {}", program(o), who(&o.place));
                let note = self.waiting(operations, |o| &o.place, what, |_| String::new());
                self.about(first.place.pc, "no warp and no memory operation can go on")
                    .label("this operation waits for ever")
                    .note(note)
                    .hint(match operations.iter().all(|o| o.line == 0) {
                        // Memory without programs has locks of its own: those of remote-scope promotion.
                        true => "look for a lock whose holder waits for what it stops: `--scheme proposed` has none",
                        false => "look in the memory programs for a line that is reserved and never updated, or banks that are never unlocked",
                    })
            }
            StuckKind::MemoryProgram { operation, cause } => self
                .at(
                    &operation.place,
                    format!(
                        "no rule applies to the memory program of this instruction: {}, {}",
                        program(operation),
                        undefined(cause)
                    ),
                )
                .label("its operation is stuck")
                .hint("the memory program is at fault, not the kernel: `warpstep check` looks for such statements"),
        }
    }
}

/// Calls in a row that are the same, counted.
fn runs(calls: &[Pc]) -> Vec<(usize, Pc)> {
    let same = calls.chunk_by(|a, b| a == b);
    same.filter_map(|run| Some((run.len(), *run.first()?))).collect()
}

/// A line of CUDA source, by `.loc` and `.file`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cuda {
    /// As the PTX names it.
    pub(super) file: String,
    /// From 1.
    pub(super) line: u32,
    /// From 1; 0 when unknown.
    pub(super) column: u32,
    /// The line, when the file could be read.
    pub(super) text: Option<String>,
}

impl Cuda {
    /// That of an instruction.
    pub(super) fn of(env: &ProgEnv, sources: &SourceMap, pc: Pc) -> Option<Self> {
        let (file, loc) = env.cuda(pc)?;
        let ptx = sources.get(env.place(pc)?.0)?;
        let (file, line, column) = (file.to_owned(), loc.line, loc.column);
        Some(Self { text: cuda_line(&ptx.name, &file, line, sources.is_confined()), file, line, column })
    }

    fn text(&self) -> String {
        let text = self.text.as_ref().map_or_else(String::new, |t| format!(": {t}"));
        format!("in the source: {}:{}{text}", self.file, self.line)
    }
}

/// A line of the source, when the file lies where it was compiled, or beside the PTX.
fn cuda_line(ptx: &str, file: &str, line: u32, confined: bool) -> Option<String> {
    let named = Path::new(file);
    let beside = Path::new(ptx).parent()?.join(named.file_name()?);
    let folder = Path::new(ptx).parent()?;
    let allowed = |p: &&Path| !confined || **p == beside && files::lies_in(folder, p);
    let text = [beside.as_path(), named].into_iter().filter(allowed).find_map(|p| files::read(p).ok())?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?.trim();
    Some(line.chars().take(200).collect())
}

/// Why a statement of a memory program is undefined, in words.
fn undefined(cause: &str) -> &str {
    match cause {
        "not-cached-l1" => "whose address is not in the L1 cache: reserve a line first",
        "not-cached-l2" => "whose address is not in the L2 cache: reserve a line first",
        "already-cached-l1" => "which reserves a line that the L1 cache has already: ask isCachedL1 first",
        "already-cached-l2" => "which reserves a line that the L2 cache has already: ask isCachedL2 first",
        "no-caches" => "which uses a cache for memory that is not cached",
        "not-atomic" => "which is no atomic operation",
        "not-fence" => "which is no fence",
        "not-shared-atomic" => "which locks banks for what is no atomic operation on shared memory",
        "no-memory" => "which accesses no memory",
        "nothing-read" => "which uses a value before it was read",
        "no-registers" => "which has no registers to write",
        "not-writable" => "which writes memory that cannot be written",
        "not-readable" => "which reads beyond the block's shared memory",
        "no-end" => "which ends without `end`",
        other => other,
    }
}
