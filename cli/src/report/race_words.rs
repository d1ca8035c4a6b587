//! A data race in words: what the two accesses are, why nothing orders them, what would.

use super::diagnostic::Diagnostic;
use super::words::{counted, place_in, word, words as named};
use crate::verdict::{AccessKind, AllocKind, Inside, Party, Race, Unordered};

/// The words for a race.
pub(super) fn words(race: &Race) -> Diagnostic {
    let Race { first, second, .. } = race;
    let both = [first, second].map(|p| p.kind);
    let kinds = match both {
        [AccessKind::Write, AccessKind::Write] => "two writes".to_owned(),
        [a, b] => format!("{} and {}", noun(a), noun(b)),
    };
    let at = location(race.space, race.inside.as_ref(), second.address);
    let message = format!("data race: {kinds} of {at}, {}", cause(race.cause));
    let same = if race.same_value { "; the other one writes the same" } else { "" };
    named(message, format!("the later one {}{same}", does(second))).hint(hint(race))
}

/// A location, e.g. "`tile`+64 (shared memory at 0x100000040)".
fn location(space: AllocKind, inside: Option<&Inside>, address: u64) -> String {
    let at = format!("{} memory at {address:#x}", word(space.space()));
    inside.and_then(place_in).map_or_else(|| at.clone(), |name| format!("{name} ({at})"))
}

/// The words for lanes that strongly write different values to some bytes at an address.
pub(super) fn lane_decides(
    (address, bytes): (u64, u32),
    inside: Option<&Inside>,
    first: Option<u64>,
    second: Option<u64>,
) -> Diagnostic {
    let value = |v: Option<u64>| v.map_or_else(|| "something".to_owned(), number);
    let at = inside.and_then(place_in).map_or_else(|| format!("{address:#x}"), |name| format!("{name} ({address:#x})"));
    let message = format!(
        "lanes of one instruction write different values to {} at {at}: which one stays is open",
        counted(bytes.into(), "byte")
    );
    named(message, format!("among them {} and {}", value(first), value(second)))
        .hint("let one lane write, or combine the values with an atomic operation")
}

/// What the earlier party of a race did, e.g. "the other party wrote 4 bytes: 7".
pub(super) fn other(race: &Race) -> String {
    format!("the other party {}", does(&race.first))
}

const fn noun(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "a read",
        AccessKind::Write => "a write",
        AccessKind::Atomic => "an atomic operation",
    }
}

fn number(value: u64) -> String {
    if value < 10 { value.to_string() } else { format!("{value} ({value:#x})") }
}

fn does(p: &Party) -> String {
    let bytes = counted(p.bytes.into(), "byte");
    let strong = if p.strong && p.kind != AccessKind::Atomic { " strongly" } else { "" };
    let (verb, joint) = match p.kind {
        AccessKind::Read => ("reads", ""),
        AccessKind::Write => ("writes", ""),
        AccessKind::Atomic => ("updates", ", finding"),
    };
    match p.value {
        Some(value) if joint.is_empty() => format!("{verb} {bytes}{strong}: {}", number(value)),
        Some(value) => format!("{verb} {bytes}{joint} {}", number(value)),
        None => format!("{verb} {bytes}{strong}"),
    }
}

const fn cause(cause: Unordered) -> &'static str {
    match cause {
        Unordered::SameInstruction => "by lanes of one instruction",
        Unordered::InFlight => "one of them by an asynchronous copy that its thread has not waited for",
        Unordered::Proxy => "one of them by a bulk copy, with no fence.proxy.async between",
        Unordered::SameWarp => "by threads of one warp with no __syncwarp() between",
        Unordered::SameBlock => "by threads of one block with no barrier between",
        Unordered::OtherBlock => "by threads of different blocks that nothing orders",
        Unordered::Scopes => "whose scopes do not include each other's threads",
        Unordered::Sizes => "which are both strong but of different sizes",
    }
}

pub(super) const fn hint(race: &Race) -> &'static str {
    match race.cause {
        Unordered::SameInstruction if race.same_value => {
            "all write the same: without --benign none such races are hidden, one lane would do"
        }
        Unordered::SameInstruction => {
            "which lane's write stays is open: let one lane write, or use an atomic operation"
        }
        Unordered::InFlight => {
            "wait for the copy: for its group in the thread that began it, which then meets the others at a barrier, or at the mbarrier that it tells"
        }
        Unordered::Proxy => {
            "put fence.proxy.async behind the store, in the thread that stores, before it meets the one that copies"
        }
        Unordered::SameWarp => "put __syncwarp() (bar.warp.sync) between, or let one thread do both",
        Unordered::SameBlock => "put __syncthreads() (bar.sync) between, outside of divergent branches",
        Unordered::OtherBlock => {
            "blocks of a launch run in any order: use atomics, release and acquire at .gpu scope, or a second launch"
        }
        Unordered::Scopes => "widen the scope to .gpu where threads of several blocks take part",
        Unordered::Sizes => "access the location with one size only",
    }
}
