//! The nearest name or word, for hints.

use super::scope::Scopes;
use crate::base::suggest;
use crate::program::forms::{Word, forms};
use crate::ptx::tree::{Name, Names};
use crate::ptx::{Modifier, Opcode};
use std::collections::BTreeSet;

/// A name like this one that is declared here.
pub fn name(scopes: &mut Scopes, names: &Names, name: Name) -> Option<String> {
    let text = names.text(name);
    let count = u32::try_from(names.len().min(200_000)).unwrap_or(0);
    let declared: Vec<&str> =
        (0..count).map(Name).filter(|n| scopes.lookup(names, *n).is_some()).map(|n| names.text(n)).collect();
    suggest(text, declared).map(str::to_owned)
}

/// An instruction like this word.
pub fn opcode(text: &str) -> Option<String> {
    // Of words that are as near, the first in the alphabet.
    suggest(text, BTreeSet::from_iter(Opcode::known().iter().copied())).map(str::to_owned)
}

/// A modifier of the opcode like this word.
pub fn modifier(opcode: Opcode, modifier: Modifier, names: &Names) -> Option<String> {
    let slots = forms(opcode).iter().flat_map(|form| form.heads.iter().chain(&form.types).chain(&form.flags));
    let empty = Names::default();
    let words: Vec<String> = slots
        .flat_map(|slot| &slot.words)
        .map(|word| match word {
            Word::Known(m) => m.text(&empty).to_owned(),
            Word::Pattern(p) => (*p).to_owned(),
        })
        .collect();
    suggest(modifier.text(names), words.iter().map(String::as_str)).map(str::to_owned)
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
