//! Which rules of the mechanism fired.

use crate::verdict::Rule;

/// The rules that fired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fired(u32);

impl Fired {
    pub(super) const fn add(&mut self, rule: Rule) {
        self.0 |= 1_u32.wrapping_shl((rule as u32).wrapping_sub(Rule::LscHash as u32));
    }

    /// Adds others.
    pub const fn join(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// The rules.
    #[must_use]
    pub fn rules(self) -> Vec<Rule> {
        let bit =
            |r: &Rule| (*r as u32).checked_sub(Rule::LscHash as u32).and_then(|k| 1_u32.checked_shl(k)).unwrap_or(0);
        Rule::ALL.iter().copied().filter(|r| self.0 & bit(r) != 0).collect()
    }
}
