//! The default oracle: deterministic and fair.
//!
//! Warps take turns; a turn ends at a barrier, at the warp's end or with its lease, so that a warp that spins cannot keep
//! the others from what it waits for. Of the groups of lanes of a warp the first offered runs: the machine orders them so
//! that they meet again soonest and none starves.

use super::{MICRO_END, MICRO_SILENT, MICRO_STEPS, MICRO_WANTED, Menu, Oracle, Pick, Site};
use crate::verdict::Stop;
use std::num::NonZeroU32;

/// Warp instructions of a turn. Long enough that a turn's start costs nothing, short enough that spinning is cheap.
const TURN: NonZeroU32 = NonZeroU32::new(2048).unwrap();

/// The deterministic, fair oracle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fair;

impl Fair {
    /// Warp instructions of a group of lanes, while other groups of the warp wait.
    pub(crate) const GROUP: NonZeroU32 = NonZeroU32::new(256).unwrap();

    /// Whose turn it is among at most 64 warps, at almost no cost: a barrier ends a turn every few instructions.
    #[inline(always)]
    pub const fn turn(ready: &[u64], last: Option<(u32, bool)>) -> Option<Pick> {
        let (Some((last @ 0..64, spent)), &[ready]) = (last, ready) else { return None };
        let later = ready & (!1 << last);
        let next = if later == 0 { ready } else { later };
        let index = if !spent && ready >> last & 1 == 1 { last } else { next.trailing_zeros() };
        Some(Pick { index, lease: TURN })
    }
}

impl Oracle for Fair {
    fn takes_turns(&self) -> bool {
        true
    }

    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        if menu.site == Site::Warp
            && let Some(pick) = Self::turn(menu.ready, menu.last)
        {
            return Ok(pick);
        }
        let (index, lease) = match (menu.site, menu.last) {
            (Site::Warp | Site::Context | Site::Grid, Some((last, spent))) => {
                let index = if !spent && menu.offers(last) { last } else { menu.next_from(last.wrapping_add(1)) };
                (index, TURN)
            }
            (Site::Warp | Site::Context | Site::Grid, None) => (menu.nth(0), TURN),
            (Site::Processor, Some((last, _))) => (menu.next_from(last.wrapping_add(1)), NonZeroU32::MIN),
            // Messages first, in the order in which they came.
            (Site::Message, _) => (menu.nth(0), TURN),
            (Site::Group, preferred) => (preferred.map_or_else(|| menu.nth(0), |(lane, _)| lane), Self::GROUP),
            // Another block is issued when turns keep running out: somebody may be spinning for it.
            (Site::Issue, Some((_, true))) => (1, NonZeroU32::MIN),
            (Site::Micro, last) => (micro(&menu, last), NonZeroU32::MIN),
            // As on flat memory, where lanes take effect in ascending order.
            (Site::Winner, _) => (menu.nth(menu.arity().saturating_sub(1)), NonZeroU32::MIN),
            (Site::Lanes | Site::Target | Site::Issue | Site::Processor | Site::Silent | Site::Victim, _) => {
                (menu.nth(0), NonZeroU32::MIN)
            }
        };
        Ok(Pick { index, lease })
    }
}

/// Memory goes on when no warp can, or when asked for: then all operations in flight take turns, micro step by micro step,
/// so that operations overlap as much as warps let them. A silent rule fires when nothing else can happen.
fn micro(menu: &Menu<'_>, last: Option<(u32, bool)>) -> u32 {
    let (last, pressed) = last.unwrap_or((0, true));
    if menu.offers(MICRO_END) && !pressed {
        return MICRO_END;
    }
    let next = menu.next_from(last.saturating_add(1).max(MICRO_STEPS));
    let next = if next < MICRO_STEPS { menu.next_from(MICRO_STEPS) } else { next };
    match next {
        step if step >= MICRO_STEPS => step,
        _ if menu.offers(MICRO_END) => MICRO_END,
        // Silent rules do not undo what need not be undone.
        _ if menu.offers(MICRO_WANTED) => MICRO_WANTED,
        _ => MICRO_SILENT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_warps_take_turns_as_many_do() {
        for ready in (1..1u64 << 6).map(|r| r | r << 58).filter(|r| r.count_ones() > 1) {
            for (last, spent) in (0..64).flat_map(|last| [(last, false), (last, true)]) {
                let pick = |ready: &[u64]| {
                    Fair.choose(Menu::of(Site::Warp, ready).after(Some((last, spent)))).map(|p| p.index)
                };
                assert_eq!(pick(&[ready]), pick(&[ready, 0]), "{ready:x} {last} {spent}");
            }
        }
    }

    #[test]
    fn blocks_are_issued_under_pressure() {
        let choose = |pressed| Fair.choose(Menu::of(Site::Issue, &[0b11]).after(Some((0, pressed))));
        assert_eq!(choose(false).map(|p| p.index), Ok(0));
        assert_eq!(choose(true).map(|p| p.index), Ok(1));
    }

    #[test]
    fn memory_goes_on_in_turns_when_warps_cannot() {
        let choose =
            |ready: [u64; 2], last| Fair.choose(Menu::of(Site::Micro, &ready).after(Some(last))).map(|p| p.index);
        assert_eq!(choose([0b11, 0b101], (64, false)), Ok(MICRO_END));
        assert_eq!(choose([0b10, 0b101], (64, false)), Ok(66));
        assert_eq!(choose([0b10, 0b101], (66, false)), Ok(64));
        assert_eq!(choose([0b11, 0], (66, true)), Ok(MICRO_END));
        assert_eq!(choose([0b10, 0], (66, true)), Ok(MICRO_SILENT));
        assert_eq!(choose([0b110, 0], (66, true)), Ok(MICRO_WANTED));
    }
}
