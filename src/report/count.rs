//! Numbers with their nouns, and the words of data.

pub(super) use crate::base::{counted, plural};
use serde::Serialize;
use serde_json::json;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one() {
        assert_eq!([counted(1, "byte"), counted(0, "byte"), counted(2, "launch")], ["1 byte", "0 bytes", "2 launches"]);
        assert_eq!([often(1), often(2), often(3)], ["once", "twice", "3 times"]);
    }
}
