//! The words of reports: numbers with their nouns; parties, places in memory, what they wait for.

use super::diagnostic::{Diagnostic, said};
use crate::base::{LaneMask, lanes_of};
pub(super) use crate::base::{counted, plural};
use crate::verdict::{CLUSTER, Inside, Operation, Place, Waiting, WaitingFor};
use serde::Serialize;
use serde_json::json;
use std::fmt::Write;

/// The texts of the first `most` of them; behind these, where there are more, what `more` says of their number.
pub(super) fn listed<T>(
    all: &[T],
    most: usize,
    text: impl FnMut(&T) -> String,
    more: impl FnOnce(usize) -> String,
) -> Vec<String> {
    let left = all.len().saturating_sub(most);
    all.iter().take(most).map(text).chain((left > 0).then(|| more(left))).collect()
}

/// Ascending numbers as ranges, e.g. `0-3, 8`.
pub(super) fn ranges(numbers: impl IntoIterator<Item = usize>) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let text = ranges.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") });
    text.collect::<Vec<_>>().join(", ")
}

/// How often something happened.
pub(super) fn often(n: u64) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{n} times"),
    }
}

/// The word that data has for a value, e.g. `sync` for a token's kind.
pub(super) fn word(value: impl Serialize) -> String {
    json!(value).as_str().map(str::to_owned).unwrap_or_default()
}

/// What is said of a defect: its name is that of its kind.
pub(super) fn words(message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
    said("", message, label)
}

/// The place of an address in what has a name, e.g. "`lock`" or "`x`+4"; `None`: it has none.
pub(super) fn place_in(inside: &Inside) -> Option<String> {
    match inside {
        Inside { name, .. } if name.is_empty() => None,
        Inside { name, offset: 0, .. } => Some(format!("`{name}`")),
        Inside { name, offset, .. } => Some(format!("`{name}`+{offset}")),
    }
}

/// A memory program and the line at which it is.
pub(super) fn program(o: &Operation) -> String {
    if o.file.is_empty() { format!("`{}`", o.program) } else { format!("`{}` at {}:{}", o.program, o.file, o.line) }
}

/// What lanes wait for.
pub(super) fn awaited(w: &Waiting) -> String {
    match w.on {
        WaitingFor::Barrier(id) => barrier(id),
        WaitingFor::Members(mask) => format!("the other members of mask {mask:#010x}"),
    }
}

/// A barrier of a block in words.
pub(super) fn barrier(id: u32) -> String {
    if id == CLUSTER { "the barrier of the cluster".to_owned() } else { format!("barrier {id}") }
}

/// Arrivals at the barrier of a cluster, and waits, do not take turns.
pub(super) fn cluster(arrives: bool) -> Diagnostic {
    let (message, label) = if arrives {
        ("a thread arrives again at the barrier of its cluster, and has not waited since it arrived", "arrives again")
    } else {
        ("a thread waits at the barrier of its cluster, at which it has not arrived", "waits here")
    };
    words(message, label)
        .hint("each `barrier.cluster.arrive` must be followed by one `barrier.cluster.wait` of the same thread")
}

/// A thread in words.
pub(super) fn who(p: &Place) -> String {
    if p.entry.is_empty() {
        return "the host".to_owned();
    }
    let dims = |d: [u32; 3]| format!("({}, {}, {})", d[0], d[1], d[2]);
    let mut text = format!(
        "thread {} of block {} in kernel `{}`: warp {}, lane {}",
        dims(p.thread),
        dims(p.block),
        p.entry,
        p.warp,
        p.lane
    );
    if p.lanes.count_ones() > 1 {
        let _ = write!(text, "; the same for {}", lanes(p.lanes));
    }
    text
}

/// A set of lanes in words, e.g. `lanes 0-3, 7`.
pub(super) fn lanes(mask: LaneMask) -> String {
    let all = ranges(lanes_of(mask));
    match mask.count_ones() {
        0 => "no lane".to_owned(),
        1 => format!("lane {all}"),
        _ => format!("lanes {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_read_as_ranges() {
        assert_eq!(lanes(0), "no lane");
        assert_eq!(lanes(0b100), "lane 2");
        assert_eq!(lanes(0xf0f), "lanes 0-3, 8-11");
        assert_eq!(lanes(!0), "lanes 0-31");
    }

    #[test]
    fn one_is_one() {
        assert_eq!([counted(1, "byte"), counted(0, "byte"), counted(2, "launch")], ["1 byte", "0 bytes", "2 launches"]);
        assert_eq!([often(1), often(2), often(3)], ["once", "twice", "3 times"]);
    }
}
