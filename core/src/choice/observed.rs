//! Telling an observer of decisions that another oracle takes.

use super::{Decision, Menu, Oracle, Pick};
use crate::verdict::Stop;
use std::cell::RefCell;

/// Decisions that nobody has looked at yet. A run borrows its oracle and its observer at the same time; this stands between
/// the two.
#[derive(Debug, Default)]
pub struct Decisions(RefCell<Vec<(Decision, u32)>>);

impl Decisions {
    /// Takes note of a decision.
    pub fn add(&self, menu: &Menu<'_>, pick: Pick) {
        self.0.borrow_mut().push((menu.decided(pick), menu.arity()));
    }

    /// Takes out what was decided since the last look, in order, and among how many alternatives.
    pub fn take(&self) -> Vec<(Decision, u32)> {
        self.0.take()
    }
}

/// Decides as another oracle does and tells what it decided.
pub struct Observed<'a, F> {
    inner: &'a mut dyn Oracle,
    tell: F,
}

impl<'a, F: FnMut(&Menu<'_>, Pick)> Observed<'a, F> {
    /// Tells the decisions of `inner`.
    pub const fn new(inner: &'a mut dyn Oracle, tell: F) -> Self {
        Self { inner, tell }
    }
}

impl<F: FnMut(&Menu<'_>, Pick)> Oracle for Observed<'_, F> {
    fn launch(&mut self, number: u32) -> Result<(), Stop> {
        self.inner.launch(number)
    }

    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let pick = self.inner.choose(menu)?;
        (self.tell)(&menu, pick);
        Ok(pick)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Fair, Site};
    use super::*;

    #[test]
    fn decisions_are_told_once_and_in_order() {
        let (seen, mut fair) = (Decisions::default(), Fair);
        let mut oracle = Observed::new(&mut fair, |menu, pick| seen.add(menu, pick));
        let menu = |last| Menu::of(Site::Warp, &[0b101]).after(last);
        let first = oracle.choose(menu(None)).map(|pick| menu(None).decided(pick));
        let second = oracle.choose(menu(Some((0, true)))).map(|pick| menu(None).decided(pick));
        assert_eq!(seen.take(), [(first.unwrap(), 2), (second.unwrap(), 2)]);
        assert!(seen.take().is_empty());
    }
}
