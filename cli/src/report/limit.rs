//! Limits in words, and what is known of a run that one ended.

use super::words::{counted, word};
use crate::verdict::{LimitKind, Standing};

/// Which limit was reached, in a line.
#[must_use]
pub fn limit(limit: LimitKind) -> String {
    match told(limit) {
        (what, _) if limit == LimitKind::Interrupted => what,
        (what, _) => format!("limit reached: {what}"),
    }
}

/// What to do about it.
pub(super) fn limit_hint(limit: LimitKind) -> &'static str {
    told(limit).1
}

/// The limit, and what to do.
fn told(limit: LimitKind) -> (String, &'static str) {
    match limit {
        LimitKind::Steps(n) => (counted(n, "warp instruction"), "nothing is proved; raise --max-steps to go on longer"),
        LimitKind::States(n) => (counted(n, "state"), "nothing is proved; raise --max-states to go on longer"),
        LimitKind::Switches(n) => (
            format!("schedules with more than {} were left out", counted(n.into(), "switch")),
            "nothing is proved; raise --preemptions, or leave it out",
        ),
        LimitKind::Parts { lanes, .. } => (
            format!("groups of {lanes} lanes, any of which may run without the others, are too wide to search"),
            "nothing is proved: a group of n lanes has 2^n parts; with --its-split, warps of at most 12 lanes (--warp-size 12)",
        ),
        LimitKind::Clock => {
            ("the program reads a clock".to_owned(), "nothing is proved: a clock's values are too many to go through")
        }
        LimitKind::Interrupted => ("interrupted".to_owned(), "nothing is proved"),
        LimitKind::Time(ms) => (
            if ms % 1000 == 0 { counted(ms / 1000, "second") } else { counted(ms, "millisecond") },
            "nothing is proved; raise --timeout, or --for, to go on longer",
        ),
        LimitKind::Heap { size, wanted } => (
            format!("malloc of {} in a heap of {}", counted(wanted, "byte"), counted(size, "byte")),
            "raise --heap-size; without --heap-stop malloc returns null, as on a GPU",
        ),
        LimitKind::Memory { cap, wanted } => {
            (format!("{wanted} bytes of device memory are needed, {cap} are allowed"), "raise --max-memory")
        }
        LimitKind::Taken { cap, taken, by } => (
            format!("{taken} bytes of memory would be taken, the last of them by {}, {cap} are allowed", word(by)),
            "nothing is proved; raise --max-memory (and --search-memory of a search), or launch less",
        ),
        LimitKind::Host { wanted } => (
            format!("this computer does not have {wanted} bytes of memory more"),
            "nothing is proved; launch less, or use a larger computer",
        ),
        LimitKind::Accesses { kept, .. } => (
            format!("of the accesses of one location the race check keeps {kept}, and one that it forgot might race"),
            "nothing is proved; try a smaller launch, with fewer threads that access one location",
        ),
        LimitKind::Stray(_) => (
            "the race check does not watch reads of memory that no store is for, and this store hits such memory"
                .to_owned(),
            "nothing is proved of races; the store leaves the object that its address was made from: --check bounds shows where",
        ),
        LimitKind::Search { cap, taken } => (
            format!("the search takes {taken} bytes, {cap} are allowed"),
            "nothing is proved; raise --search-memory to go on longer",
        ),
    }
}

/// Whether a limit may mean that a run never ends.
pub(super) const fn takes_too_long(limit: LimitKind) -> bool {
    matches!(limit, LimitKind::Steps(_) | LimitKind::Time(_) | LimitKind::Interrupted)
}

/// What is known of a run that a limit or its user ended.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EndedEarly {
    /// Where its warps were.
    pub standing: Vec<Standing>,
    /// The target and its flags as words, to name commands that find out more.
    pub target: Option<String>,
}

impl EndedEarly {
    /// Commands that find out why a run does not end.
    pub(super) fn advice(&self) -> Option<String> {
        let target = self.target.as_ref()?;
        Some(format!(
            "`warpstep hunt {target}` tells whether it never ends, and why; `warpstep prove {target}` goes through all \
             schedules"
        ))
    }
}
