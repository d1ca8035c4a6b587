//! The words for what is wrong with an `mbarrier` instruction.

use super::diagnostic::Diagnostic;
use super::words::{counted, words};
use crate::alu::mbarrier::Object;
use crate::verdict::BarrierProblem as P;

/// The words for a problem.
pub(super) fn words_of(problem: P) -> Diagnostic {
    match problem {
        P::NotShared { address } => {
            words(format!("{address:#x} is no address of shared memory"), "barriers lie in shared memory")
                .hint("pass the generic address of a shared variable (cvta.shared), or name the space: mbarrier.….shared")
        }
        P::Again { expected, pending } => words(
            format!("a barrier is initialised that is one already: it awaits {pending} of {}", arrivals(expected)),
            "initialised again here",
        )
        .hint("let one thread initialise it, and end its use with mbarrier.inval before it is initialised again"),
        P::NoBarrier { found } => words(
            format!("there is no barrier at this address: {found:#x} is stored there"),
            if found == 0 { "never initialised, or invalidated before" } else { "other data are there" },
        )
        .hint("let one thread execute mbarrier.init and all others wait for that, as at bar.sync, before they use the barrier"),
        P::Count { count } => words(
            format!("{} at a barrier in memory", arrivals(count)),
            "the count must be 1 to 1048575",
        ),
        P::Arrivals { count, pending } => words(
            format!("too many arrivals at a barrier: {count}, where its phase awaits {pending}"),
            if pending == 0 { "nobody is awaited any more".to_owned() } else { format!("{} awaited", of(pending)) },
        )
        .hint("initialise the barrier with the number of arrivals of a phase, and wait for a phase before the next arrival"),
        P::Transactions { count, expects, before } => words(
            format!(
                "a barrier cannot count so many transactions: {count} are {}, and its tx-count is {before}",
                if expects { "expected" } else { "completed" }
            ),
            "the tx-count must be -1048575 to 1048575",
        ),
        P::Completes { count } => words(
            format!("{} with .noComplete would complete the phase", arrivals(count)),
            "these are the last that it awaits",
        )
        .hint("leave .noComplete out, or let another arrival come last"),
        P::NoState { found } => words(
            format!("{found:#x} is the state of no barrier"),
            "this register was not given by mbarrier.arrive",
        )
        .hint("keep the state that the arrival at this barrier returned"),
        P::Parity { parity } => words(format!("{parity} is no parity of a phase"), "it must be 0 or 1")
            .hint("take the number of the phase modulo 2"),
    }
}

/// What a word is, as a barrier, e.g. `a barrier in an odd phase that awaits 2 of 4 arrivals`.
pub(super) fn object(word: u64) -> Option<String> {
    let object = Object::of(word)?;
    let phase = if object.odd { "an odd" } else { "an even" };
    let open = match object.tx {
        0 => String::new(),
        tx => format!(" and has a tx-count of {tx}"),
    };
    Some(format!("a barrier in {phase} phase that awaits {} of {}{open}", object.pending, arrivals(object.expected)))
}

/// `1 arrival`, `2 arrivals`.
fn arrivals(count: impl Into<u64>) -> String {
    counted(count.into(), "arrival")
}

/// `1 is`, `2 are`.
fn of(count: u32) -> String {
    format!("{count} {}", if count == 1 { "is" } else { "are" })
}
