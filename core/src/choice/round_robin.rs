//! Warps and groups of lanes in turns of equal length.

use super::{Fair, Menu, Oracle, Pick, Site};
use crate::verdict::Stop;
use std::num::NonZeroU32;

/// Turn lengths that seeds go through before the warp that begins changes.
const LENGTHS: u64 = 64;

/// All take turns of so many instructions; everything else is decided as by the fair oracle. Seed n stands for turns of
/// 1 + n mod 64 warp instructions, and alternative ⌊n / 64⌋ begins.
#[derive(Clone, Copy, Debug)]
pub struct RoundRobin {
    turn: NonZeroU32,
    first: u32,
    begun: bool,
    /// The group of lanes that ran last.
    group: Option<u32>,
}

impl RoundRobin {
    /// The schedule of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let turn = u32::try_from(seed % LENGTHS).unwrap_or(0);
        let first = u32::try_from(seed / LENGTHS).unwrap_or(u32::MAX);
        Self { turn: NonZeroU32::MIN.saturating_add(turn), first, begun: false, group: None }
    }
}

impl Oracle for RoundRobin {
    fn launch(&mut self, _: u32) -> Result<(), Stop> {
        (self.begun, self.group) = (false, None);
        Ok(())
    }

    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let index = match menu.site {
            Site::Warp if !self.begun => {
                self.begun = true;
                menu.nth(self.first % menu.arity().max(1))
            }
            Site::Group => {
                let next = self.group.map_or_else(|| menu.nth(0), |last| menu.next_from(last.saturating_add(1)));
                self.group = Some(next);
                next
            }
            _ => Fair.choose(menu)?.index,
        };
        let timed = matches!(menu.site, Site::Warp | Site::Group | Site::Context | Site::Grid);
        Ok(Pick { index, lease: if timed { self.turn } else { NonZeroU32::MIN } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_take_turns() {
        let ready = [0b1011];
        let mut oracle = RoundRobin::new(64 + 6);
        let mut last = None;
        let picks: Vec<Pick> = (0..5)
            .map(|_| {
                let pick = oracle.choose(Menu::of(Site::Warp, &ready).after(last)).unwrap();
                last = Some((pick.index, true));
                pick
            })
            .collect();
        assert_eq!(picks.iter().map(|p| p.index).collect::<Vec<_>>(), [1, 3, 0, 1, 3]);
        assert!(picks.iter().all(|p| p.lease.get() == 7));
    }
}
