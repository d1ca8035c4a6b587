//! Diagnostic about lanes that are not where others wait for them.

use super::diagnostic::Diagnostic;
use super::words::{lanes, words};
use crate::base::Pc;
use crate::verdict::{BugKind, Doing, Elsewhere};

/// How many places a report lists.
const PLACES: usize = 8;

/// Where the others are, if the defect is of that kind.
fn others(kind: &BugKind) -> &[Elsewhere] {
    match kind {
        BugKind::BarrierDivergence { elsewhere, .. }
        | BugKind::BarrierExited { elsewhere, .. }
        | BugKind::MembersExited { elsewhere, .. }
        | BugKind::AbsentSource { elsewhere, .. } => elsewhere,
        _ => &[],
    }
}

/// What is said of the defect itself.
pub(super) fn words_of(kind: &BugKind) -> Diagnostic {
    match kind {
        BugKind::BarrierDivergence { arrived, missing, .. } => words(
            format!(
                "barrier divergence: {} of the warp execute the barrier without {}",
                lanes(*arrived),
                lanes(*missing)
            ),
            "all lanes of a warp must execute this barrier together",
        )
        .hint("move __syncthreads() out of the divergent branch"),
        BugKind::BarrierExited { id, arrived, elsewhere } => {
            let gone: u32 = elsewhere.iter().map(|e| e.lanes.count_ones()).sum();
            let threads = if gone == 1 { "thread" } else { "threads" };
            words(
                format!("barrier {id} is awaited by {} without {gone} {threads} of the block", lanes(*arrived)),
                "hardware goes on without threads that have exited; PTX wants all of them here",
            )
            .hint("let all threads reach the barrier: guard the work, not the barrier, in place of an early return")
        }
        BugKind::MembersExited { mask, exited, .. } => words(
            format!("the member mask {mask:#010x} names lanes that have exited ({})", lanes(*exited)),
            "only the others take part",
        )
        .hint("compute the mask before the branch that exits (__ballot_sync), so that it names only who goes on"),
        BugKind::AbsentSource { readers, sources, .. } => words(
            format!("a shuffle reads from {}, which {} no part in it", lanes(*sources), take(sources.count_ones())),
            format!("what {} {} is undefined", lanes(*readers), if readers.count_ones() == 1 { "gets" } else { "get" }),
        )
        .hint(
            "name the source lanes in the mask and let them execute the shuffle, or bound the source by their number",
        ),
        _ => words("", ""),
    }
}

const fn take(count: u32) -> &'static str {
    if count == 1 { "takes" } else { "take" }
}

/// Who is where, for a report about lanes of `warp`.
pub(super) fn labels(kind: &BugKind, warp: u32) -> Vec<(Pc, String)> {
    let one = |e: &Elsewhere| {
        let who = if e.warp == warp { lanes(e.lanes) } else { format!("{} of warp {}", lanes(e.lanes), e.warp) };
        let (is, plural) = if e.lanes.count_ones() == 1 { ("is", "s") } else { ("are", "") };
        let text = match e.doing {
            Doing::Runs => format!("{who} {is} here"),
            Doing::Waits => format!("{who} wait{plural} here"),
            Doing::Leaves => format!("{who} {is} here, with nothing left to do but exit"),
            Doing::Exited => format!("{who} exited here"),
        };
        (e.pc, text)
    };
    others(kind).iter().take(PLACES).map(one).collect()
}
