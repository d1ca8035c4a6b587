//! Layer 1: who decides. Everything that can go two ways is one choice (`semantics.md`, section 4).
//!
//! Forced moves never reach the oracle; an empty menu is the machine's affair. An oracle sees alternatives as bits in a
//! fixed order, so that deciding is cheap; what a bit stands for has a [name](Alternative), and a schedule is the list of
//! the names that were taken.

mod alternative;
mod fair;
mod guided;
mod observed;
mod pct;
mod recorder;
mod round_robin;
mod schedule;
mod seeded;
mod strategy;

pub use alternative::{Alternative, Name, Names};
pub use fair::Fair;
pub use guided::Guided;
pub use observed::{Decisions, Observed};
pub use pct::Pct;
pub use recorder::{Recorder, Replay};
pub use round_robin::RoundRobin;
pub use schedule::{Part, Schedule};
pub use seeded::Seeded;
pub use strategy::Strategy;

use crate::base::words;
use crate::verdict::Stop;
use std::num::NonZeroU32;

words! {
    /// What is being decided, by its word in schedules.
    pub enum Site {
        /// Which warp of the resident blocks steps next.
        Warp = "warp",
        /// Which group of lanes of a warp runs next (control models `its` and `thread`); a group has the number of
        /// its lowest lane. What was taken last is here what the control model would take.
        Group = "group",
        /// Which lanes of a group run along with its first that does (control model `its`, split): all others
        /// ([`LANES_ALL`]), no more ([`LANES_NONE`]), or the next is lane l ([`LANES_FIRST`]` + l`), and it is asked again.
        Lanes = "lanes",
        /// Which target of a divergent indirect branch or call is run first (`crs.bratarget`, `crs.calltarget`).
        Target = "target",
        /// Whether another block is issued now rather than later.
        Issue = "issue",
        /// How a macro step of memory goes on (report, 4.6): it ends ([`MICRO_END`]), a silent rule fires
        /// ([`MICRO_SILENT`], [`MICRO_WANTED`]), or operation number n makes a micro step ([`MICRO_STEPS`]` + n`).
        Micro = "micro",
        /// Which silent rule fires (report, 4.6); numbered in the engine's order.
        Silent = "silent",
        /// Which of several lines is evicted for another (D-cache).
        Victim = "victim",
        /// Which of several lanes that write one location does so last (CUDA programming guide, G.4.2).
        Winner = "winner",
        /// Which pending message is handled next, in the order of arrival; the last alternative is none for now.
        Message = "message",
        /// Which context is active next.
        Context = "context",
        /// Which grid of the active context steps next.
        Grid = "grid",
        /// Which multiprocessor takes the next block.
        Processor = "processor",
    }
}

impl Site {
    /// Whether a decision holds for some time: somebody goes on, and others wait.
    pub const fn is_held(self) -> bool {
        matches!(self, Self::Warp | Self::Group | Self::Message | Self::Context | Self::Grid)
    }
}

/// The alternative of [`Site::Lanes`] that is all the others.
pub const LANES_ALL: u32 = 0;
/// The alternative of [`Site::Lanes`] that is lane 0.
pub const LANES_FIRST: u32 = 1;
/// The alternative of [`Site::Lanes`] that is nobody else.
pub const LANES_NONE: u32 = 33;

/// The alternative of [`Site::Micro`] that ends the macro step.
pub const MICRO_END: u32 = 0;
/// The alternative of [`Site::Micro`] that fires a silent rule.
pub const MICRO_SILENT: u32 = 1;
/// The alternative of [`Site::Micro`] that fires a silent rule that an operation waits for. Such a rule is among those of
/// [`MICRO_SILENT`] as well: there may be thousands, and a schedule should not have to look for it.
pub const MICRO_WANTED: u32 = 2;
/// The alternative of [`Site::Micro`] that is operation 0's micro step.
pub const MICRO_STEPS: u32 = 64;

/// A decision to be taken: the alternatives are the set bits of `ready`. There are at least two; at [`Site::Warp`] one, too,
/// where only its lease is to be decided: what memory may do in between depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Menu<'a> {
    /// What is being decided.
    pub site: Site,
    /// The alternatives as a bitset.
    pub ready: &'a [u64],
    /// The alternative taken last at this site, and whether it used up its lease.
    pub last: Option<(u32, bool)>,
    /// What the alternatives are.
    pub names: Names<'a>,
}

impl<'a> Menu<'a> {
    /// A menu of alternatives with numbers of their own; none was taken before.
    #[must_use]
    #[inline(always)]
    pub const fn of(site: Site, ready: &'a [u64]) -> Self {
        Self { site, ready, last: None, names: Names::Numbers }
    }

    /// The same menu after an alternative was taken.
    #[must_use]
    #[inline(always)]
    pub const fn after(self, last: Option<(u32, bool)>) -> Self {
        Self { last, ..self }
    }

    /// The same menu of other things.
    #[must_use]
    #[inline(always)]
    pub const fn named(self, names: Names<'a>) -> Self {
        Self { names, ..self }
    }
}

impl Menu<'_> {
    /// The decision that an answer makes of it.
    #[must_use]
    pub fn decided(&self, pick: Pick) -> Decision {
        Decision { what: self.name(pick.index), lease: pick.lease.get() }
    }

    /// What an alternative is.
    #[must_use]
    pub fn name(&self, index: u32) -> Alternative {
        let site = self.site;
        let number = |n: u32| Alternative::Numbered(site, n.into());
        match (site, self.names, index) {
            (Site::Warp, Names::Warps(blocks, shift), _) => {
                let block = blocks.get(index as usize >> shift).copied().unwrap_or(u64::MAX);
                Alternative::Warp { block, warp: index & !(!0 << shift) }
            }
            (Site::Warp, ..) => Alternative::Warp { block: 0, warp: index },
            (Site::Lanes, _, LANES_ALL) => Alternative::Named(site, Name::All),
            (Site::Lanes, _, LANES_NONE) => Alternative::Named(site, Name::Alone),
            (Site::Lanes, ..) => number(index - LANES_FIRST),
            (Site::Issue, _, 0) => Alternative::Named(site, Name::Later),
            (Site::Micro, _, MICRO_END) => Alternative::Named(site, Name::End),
            (Site::Micro, _, MICRO_SILENT) => Alternative::Named(site, Name::Silent),
            (Site::Micro, _, MICRO_WANTED) => Alternative::Named(site, Name::Wanted),
            (Site::Micro, ..) => number(index.saturating_sub(MICRO_STEPS)),
            (_, Names::Each(all), _) => {
                all.get(index as usize).map_or_else(|| number(index), |n| Alternative::Numbered(site, *n))
            }
            _ => number(index),
        }
    }

    /// The alternatives, in ascending order.
    pub fn offered(&self) -> impl Iterator<Item = u32> + Clone {
        let bits = |(k, word): (usize, &u64)| {
            let base = u32::try_from(k * 64).unwrap_or(u32::MAX);
            let below = |rest: &u64| Some(rest & (rest - 1)).filter(|rest| *rest != 0);
            let all = std::iter::successors(Some(*word).filter(|word| *word != 0), below);
            all.map(move |rest| base + rest.trailing_zeros())
        };
        self.ready.iter().enumerate().flat_map(bits)
    }

    /// The alternative of this name, if it is offered.
    #[must_use]
    pub fn find(&self, what: Alternative) -> Option<u32> {
        self.offered().find(|index| self.name(*index) == what)
    }

    /// How many alternatives there are.
    #[must_use]
    pub fn arity(&self) -> u32 {
        self.ready.iter().map(|w| w.count_ones()).sum()
    }

    /// Whether an alternative is offered.
    #[must_use]
    pub fn offers(&self, index: u32) -> bool {
        self.ready.get(index as usize / 64).is_some_and(|w| w >> (index % 64) & 1 == 1)
    }

    /// The first alternative at or after `from`, wrapping around.
    #[must_use]
    pub fn next_from(&self, from: u32) -> u32 {
        let words = self.ready.len();
        let start = from as usize / 64;
        for step in 0..=words {
            let k = (start + step) % words.max(1);
            let Some(&word) = self.ready.get(k) else { return 0 };
            let word = if step == 0 { word & (!0 << (from % 64)) } else { word };
            if word != 0 {
                return u32::try_from(k * 64).unwrap_or(u32::MAX) + word.trailing_zeros();
            }
        }
        0
    }

    /// The `n`-th alternative in ascending order.
    #[inline]
    #[must_use]
    pub fn nth(&self, mut n: u32) -> u32 {
        for (k, &word) in self.ready.iter().enumerate() {
            let here = word.count_ones();
            if n < here {
                let rest = (0..n).fold(word, |rest, _| rest & (rest - 1));
                return u32::try_from(k * 64).unwrap_or(u32::MAX) + rest.trailing_zeros();
            }
            n -= here;
        }
        0
    }
}

/// An answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pick {
    /// The alternative: a set bit of the menu's `ready`.
    pub index: u32,
    /// For how many warp instructions it holds.
    pub lease: NonZeroU32,
}

/// A decision that was taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Decision {
    /// What was chosen.
    pub what: Alternative,
    /// For how many warp instructions.
    pub lease: u32,
}

/// Picks one of `count` alternatives that have no numbers of their own; one alternative is no choice.
///
/// # Errors
/// As for [`Oracle::choose`].
pub fn one_of(oracle: &mut dyn Oracle, site: Site, count: usize) -> Result<usize, Stop> {
    if count < 2 {
        return Ok(0);
    }
    let mut ready = vec![!0u64; count / 64];
    if !count.is_multiple_of(64) {
        ready.push((1 << (count % 64)) - 1);
    }
    Ok(oracle.choose(Menu::of(site, &ready))?.index as usize)
}

/// Who decides.
pub trait Oracle {
    /// A launch begins, the `number`-th of its context from 0: what is decided from now on belongs to it.
    ///
    /// # Errors
    /// [`Stop::Diverged`] from a replay whose schedule does not fit.
    fn launch(&mut self, number: u32) -> Result<(), Stop> {
        let _ = number;
        Ok(())
    }

    /// Whether warps take turns as [`Fair`] lets them, and of a warp's lanes the group runs that is offered first, so that it need not
    /// be asked whose turn it is.
    fn takes_turns(&self) -> bool {
        false
    }

    /// Picks one of a menu's alternatives.
    ///
    /// # Errors
    /// [`Stop::Diverged`] from a replay whose schedule does not fit.
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn menus_wrap_and_count() {
        let ready = [0b1010, 0, 1 << 5];
        let menu = Menu::of(Site::Warp, &ready);
        assert_eq!(menu.arity(), 3);
        assert_eq!(menu.next_from(0), 1);
        assert_eq!(menu.next_from(2), 3);
        assert_eq!(menu.next_from(4), 133);
        assert_eq!(menu.next_from(134), 1);
        assert_eq!((menu.nth(0), menu.nth(2)), (1, 133));
        assert!(menu.offers(133) && !menu.offers(2));
        assert_eq!(menu.offered().collect::<Vec<_>>(), [1, 3, 133]);
    }

    #[test]
    fn alternatives_have_names() {
        let ready = [0b1010, 0b11];
        let warps = Menu::of(Site::Warp, &ready).named(Names::Warps(&[7, 9, 4], 5));
        let names: Vec<_> = warps.offered().map(|k| warps.name(k).to_string()).collect();
        assert_eq!(names, ["warp 7.1", "warp 7.3", "warp 4.0", "warp 4.1"]);
        assert_eq!(warps.find(Alternative::Warp { block: 4, warp: 1 }), Some(65));
        assert_eq!(warps.find(Alternative::Warp { block: 7, warp: 0 }), None);
        let text = |site, names, index| Menu::of(site, &ready).named(names).name(index).to_string();
        assert_eq!(text(Site::Grid, Names::Each(&[5, 8]), 1), "grid 8");
        assert_eq!(text(Site::Issue, Names::Each(&[0, 12]), 0), "issue later");
        assert_eq!(text(Site::Issue, Names::Each(&[0, 12]), 1), "issue 12");
        assert_eq!(text(Site::Lanes, Names::Numbers, LANES_FIRST + 3), "lanes 3");
        assert_eq!(text(Site::Micro, Names::Numbers, MICRO_STEPS + 7), "micro 7");
        assert_eq!(text(Site::Micro, Names::Numbers, MICRO_WANTED), "micro wanted");
    }
}
