//! The default oracle: deterministic and fair.
//!
//! Warps take turns; a turn ends at a barrier, at the warp's end or with its lease, so that a warp that spins cannot keep
//! the others from what it waits for. Of the groups of lanes of a warp the first offered runs: the machine orders them so
//! that they meet again soonest and none starves.

use super::{Menu, Oracle, Pick, Site};
use crate::verdict::Stop;
use std::num::NonZeroU32;

/// Warp instructions of a turn. Long enough that a turn's start costs nothing, short enough that spinning is cheap.
const TURN: NonZeroU32 = NonZeroU32::new(2048).unwrap();
/// Warp instructions of a group of lanes, while other groups of the warp wait.
const GROUP: NonZeroU32 = NonZeroU32::new(256).unwrap();

/// The deterministic, fair oracle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fair;

impl Oracle for Fair {
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let (index, lease) = match (menu.site, menu.last) {
            (Site::Warp, Some((last, spent))) => {
                let index = if !spent && menu.offers(last) { last } else { menu.next_from(last.wrapping_add(1)) };
                (index, TURN)
            }
            (Site::Warp, None) => (menu.nth(0), TURN),
            (Site::Group, _) => (menu.nth(0), GROUP),
            // Another block is issued when turns keep running out: somebody may be spinning for it.
            (Site::Issue, Some((_, true))) => (1, NonZeroU32::MIN),
            (Site::Target | Site::Issue, _) => (menu.nth(0), NonZeroU32::MIN),
        };
        Ok(Pick { index, lease })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_issued_under_pressure() {
        let choose = |pressed| Fair.choose(Menu { site: Site::Issue, ready: &[0b11], last: Some((0, pressed)) });
        assert_eq!(choose(false).map(|p| p.index), Ok(0));
        assert_eq!(choose(true).map(|p| p.index), Ok(1));
    }
}
