//! Layer 1: who decides. Everything that can go two ways is one choice (`semantics.md`, section 4).
//!
//! Forced moves never reach the oracle; an empty menu is the machine's affair. A schedule is the list of decisions.

mod fair;
mod guided;
mod observed;
mod pct;
mod recorder;
mod round_robin;
mod schedule;
mod seeded;
mod strategy;

pub use fair::Fair;
pub use guided::Guided;
pub use observed::{Decisions, Observed};
pub use pct::Pct;
pub use recorder::{Recorder, Replay};
pub use round_robin::RoundRobin;
pub use schedule::{Part, Schedule};
pub use seeded::Seeded;
pub use strategy::Strategy;

use crate::verdict::Stop;
use std::num::NonZeroU32;

/// What is being decided.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Site {
    /// Which warp of the resident blocks steps next; alternatives are numbered by block slot and warp.
    Warp,
    /// Which group of lanes of a warp runs next (control models `its` and `thread`); alternatives are numbered by the
    /// lowest lane of each. What was taken last is here what the control model would take.
    Group,
    /// Which lanes of a group run along with its first that does (control model `its`, split): all others
    /// ([`LANES_ALL`]), no more ([`LANES_NONE`]), or the next is lane l ([`LANES_FIRST`]` + l`), and it is asked again.
    Lanes,
    /// Which target of a divergent indirect branch or call is run first (`crs.bratarget`, `crs.calltarget`).
    Target,
    /// Whether another block is issued now rather than later, and which.
    Issue,
    /// How a macro step of memory goes on (report, 4.6): it ends ([`MICRO_END`]), a silent rule fires
    /// ([`MICRO_SILENT`], [`MICRO_WANTED`]), or operation number n makes a micro step ([`MICRO_STEPS`]` + n`).
    Micro,
    /// Which silent rule fires (report, 4.6); alternatives are numbered in the engine's order.
    Silent,
    /// Which of several lines is evicted for another (D-cache).
    Victim,
    /// Which of several lanes that write one location does so last (CUDA programming guide, G.4.2).
    Winner,
    /// Which pending message is handled next, in the order of arrival; the last alternative is none for now.
    Message,
    /// Which context is active next; alternatives are numbered by context.
    Context,
    /// Which grid of the active context steps next; alternatives are numbered by grid in the order of their starts.
    Grid,
    /// Which multiprocessor takes the next block.
    Processor,
}

impl Site {
    /// All sites.
    pub const ALL: [Self; 13] = [
        Self::Warp,
        Self::Group,
        Self::Lanes,
        Self::Target,
        Self::Issue,
        Self::Micro,
        Self::Silent,
        Self::Victim,
        Self::Winner,
        Self::Message,
        Self::Context,
        Self::Grid,
        Self::Processor,
    ];

    /// The word for it in schedules.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warp => "warp",
            Self::Group => "group",
            Self::Lanes => "lanes",
            Self::Target => "target",
            Self::Issue => "issue",
            Self::Micro => "micro",
            Self::Silent => "silent",
            Self::Victim => "victim",
            Self::Winner => "winner",
            Self::Message => "message",
            Self::Context => "context",
            Self::Grid => "grid",
            Self::Processor => "processor",
        }
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
}

impl Menu<'_> {
    /// The decision that an answer makes of it.
    #[must_use]
    pub fn decided(&self, pick: Pick) -> Decision {
        Decision { site: self.site, arity: self.arity(), pick: pick.index, lease: pick.lease.get() }
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
    #[must_use]
    pub fn nth(&self, mut n: u32) -> u32 {
        for (k, &word) in self.ready.iter().enumerate() {
            let here = word.count_ones();
            if n < here {
                let mut rest = word;
                for _ in 0..n {
                    rest &= rest - 1;
                }
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
    /// What was decided.
    pub site: Site,
    /// Among how many.
    pub arity: u32,
    /// The alternative taken.
    pub pick: u32,
    /// For how many warp instructions.
    pub lease: u32,
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
        let menu = Menu { site: Site::Warp, ready: &ready, last: None };
        assert_eq!(menu.arity(), 3);
        assert_eq!(menu.next_from(0), 1);
        assert_eq!(menu.next_from(2), 3);
        assert_eq!(menu.next_from(4), 133);
        assert_eq!(menu.next_from(134), 1);
        assert_eq!((menu.nth(0), menu.nth(2)), (1, 133));
        assert!(menu.offers(133) && !menu.offers(2));
    }
}
