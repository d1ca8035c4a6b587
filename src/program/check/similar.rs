//! The nearest name or word, for hints.

use super::scope::Scopes;
use crate::program::forms::{Word, table};
use crate::ptx::tree::{Name, Names};
use crate::ptx::{Modifier, Opcode};

/// The number of edits (insert, delete, replace, swap neighbours) between two words, or more than `limit`.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len().abs_diff(b.len()) > limit || a.len() > 64 || b.len() > 64 {
        return limit + 1;
    }
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// The nearest of some words, when it is near enough to be what was meant.
#[must_use]
pub fn nearest<'a>(text: &str, all: impl Iterator<Item = &'a str>) -> Option<String> {
    let limit = if text.len() < 4 { 1 } else { 2 };
    let best = all.filter(|w| *w != text).map(|w| (distance(text, w, limit), w)).min_by_key(|(d, _)| *d)?;
    (best.0 <= limit).then(|| best.1.to_owned())
}

/// A name like this one that is declared here.
pub fn name(scopes: &mut Scopes, names: &Names, name: Name) -> Option<String> {
    let text = names.text(name);
    let count = u32::try_from(names.len().min(200_000)).unwrap_or(0);
    let declared: Vec<&str> =
        (0..count).map(Name).filter(|n| scopes.lookup(names, *n).is_some()).map(|n| names.text(n)).collect();
    nearest(text, declared.into_iter())
}

/// An instruction like this word.
pub fn opcode(text: &str) -> Option<String> {
    nearest(text, Opcode::KNOWN.iter().copied())
}

/// A modifier of the opcode like this word.
pub fn modifier(opcode: Opcode, modifier: Modifier, names: &Names) -> Option<String> {
    let table = table();
    let slots = table.of(opcode).iter().flat_map(|id| {
        let form = table.form(*id);
        form.heads.iter().chain(&form.types).chain(&form.flags)
    });
    let empty = Names::default();
    let words: Vec<String> = slots
        .flat_map(|slot| &slot.words)
        .map(|word| match word {
            Word::Known(m) => m.text(&empty).to_owned(),
            Word::Pattern(p) => (*p).to_owned(),
        })
        .collect();
    nearest(modifier.text(names), words.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found() {
        assert_eq!(opcode("setpp").as_deref(), Some("setp"));
        assert_eq!(opcode("mvo").as_deref(), Some("mov"));
        assert_eq!(opcode("zzzzzz"), None);
    }
}
