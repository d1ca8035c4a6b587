//! All ways through the choices of one step, one after the other.

use crate::choice::{Menu, Oracle, Pick};
use crate::verdict::Stop;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// An oracle that takes each combination of alternatives once, in ascending order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Odometer {
    /// The alternative taken at each choice, and among how many.
    path: Vec<(u32, u32)>,
    #[serde(skip)]
    at: usize,
}

impl Odometer {
    /// The first combination.
    #[must_use]
    pub const fn new() -> Self {
        Self { path: Vec::new(), at: 0 }
    }

    /// Goes on to the next combination; tells whether there is one.
    pub fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((taken, arity)) = self.path.pop() {
            if taken + 1 < arity {
                self.path.push((taken + 1, arity));
                return true;
            }
        }
        false
    }

    /// The alternatives taken, by their numbers among those offered.
    #[must_use]
    pub fn taken(&self) -> Vec<u32> {
        self.path.iter().map(|(taken, _)| *taken).collect()
    }

    /// Takes these alternatives, then the first of each choice.
    #[must_use]
    pub fn of(taken: &[u32]) -> Self {
        Self { path: taken.iter().map(|k| (*k, u32::MAX)).collect(), at: 0 }
    }
}

impl Oracle for Odometer {
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        if self.at == self.path.len() {
            self.path.push((0, menu.arity()));
        }
        // One that was read from a file may belong to other choices: what is taken was offered nevertheless.
        let nth = self.path.get(self.at).map_or(0, |(taken, _)| *taken).min(menu.arity().saturating_sub(1));
        self.at += 1;
        Ok(Pick { index: menu.nth(nth), lease: NonZeroU32::MIN })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::Site;

    #[test]
    fn every_combination_comes_once() {
        let menu = |n: u32| [(1u64 << n) - 1];
        let mut odometer = Odometer::new();
        let mut seen = Vec::new();
        loop {
            let mut ask = |n: u32| {
                let ready = menu(n);
                odometer.choose(Menu::of(Site::Target, &ready)).unwrap().index
            };
            let first = ask(2);
            // The second choice is there on one way only.
            let second = if first == 1 { ask(3) } else { 0 };
            seen.push((first, second));
            if !odometer.advance() {
                break;
            }
        }
        assert_eq!(seen, [(0, 0), (1, 0), (1, 1), (1, 2)]);
    }
}
