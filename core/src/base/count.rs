//! Numbers with their nouns, and lists, for messages.

use super::suggest;

/// A number and what it counts, e.g. `1 byte`, `2 bytes`.
#[must_use]
pub fn counted(n: u64, noun: &str) -> String {
    format!("{n} {}", plural(n, noun))
}

/// A noun for so many.
#[must_use]
pub fn plural(n: u64, noun: &str) -> String {
    match noun {
        _ if n == 1 => noun.to_owned(),
        "is" => "are".to_owned(),
        "has" => "have".to_owned(),
        // As in "branch", "switch", "launch", "access".
        _ if noun.ends_with("ch") || noun.ends_with("ss") => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// `a`, `b or c`, `a, b or c`.
pub fn either(words: impl IntoIterator<Item = impl ToString>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
    match &words[..] {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// Words as they are, e.g. `x, y`.
pub fn plain(words: &[&str]) -> String {
    words.join(", ")
}

/// Words in backquotes, at most a dozen.
pub fn list(words: &[impl AsRef<str>]) -> String {
    const MOST: usize = 12;
    let more = words.len().checked_sub(MOST).filter(|n| *n > 0).map(|n| format!(" and {n} more"));
    let shown: Vec<String> = words.iter().take(MOST).map(|w| format!("`{}`", w.as_ref())).collect();
    shown.join(", ") + &more.unwrap_or_default()
}

/// Advice: the known word that `word` is probably meant to be.
pub fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    suggest(word, known).map(|near| format!("did you mean `{near}`?"))
}

/// Advice: the known word that `word` is probably meant to be, or else all of them as `list` has them, or `none`.
pub fn among<'a>(
    word: &str,
    known: &'a [impl AsRef<str>],
    none: &str,
    list: impl FnOnce(&[&'a str]) -> String,
) -> String {
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let all = || if known.is_empty() { none.to_owned() } else { format!("there is: {}", list(&known)) };
    meant(word, known.iter().copied()).unwrap_or_else(all)
}
