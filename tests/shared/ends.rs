//! What the runs of a program can end with, found by searches that have to agree.

use crate::reference::Reference;
use std::collections::BTreeSet;
use warpstep::explore::space::{Options, explore};
use warpstep::machine::walk::{Grain, State, Walk};

/// The walk of a program in a grain.
pub type Begin<'a, 'w> = &'a dyn Fn(Grain) -> Box<dyn Walk + 'w>;

/// Makes of a state at the end of a run what is told of it.
pub type End<'a> = &'a mut dyn FnMut(&dyn State) -> Vec<u32>;

/// What runs end with.
pub type Ends = BTreeSet<Vec<u32>>;

/// What our search finds in a grain: no defect, and equal numbers of equal states only.
pub fn searched(walk: Begin<'_, '_>, (warps, grain): (bool, Grain), end: End<'_>) -> Ends {
    let mut poll = |_: &_| None;
    let mut options = Options { audit: true, max_states: Some(500_000), ..Options::states(warps, &mut poll) };
    let space = explore(&mut *walk(grain), &mut options, end);
    assert_eq!((space.limit, space.found.len(), space.progress.collisions), (None, 0, 0));
    space.outcomes.into_keys().collect()
}

/// All ends: ours with each step an instruction and as far as nobody notices, the reference's by every state, and by every schedule
/// where they are not too many. `warps`: whether a warp is scheduled as a whole.
pub fn ends(walk: Begin<'_, '_>, warps: bool, end: End<'_>) -> Ends {
    let mut reference = |how: Reference, grain: Grain| {
        let (found, _) = how.search(&mut *walk(grain), end)?;
        assert_eq!(found.defects.len(), 0);
        Some(found.outcomes)
    };
    let all = reference(Reference::states(warps, 1_000_000), Grain::Instruction).unwrap();
    let schedules = reference(Reference::schedules(warps, 20_000), Grain::Visible);
    assert_eq!(schedules.as_ref().unwrap_or(&all), &all);
    for grain in [Grain::Instruction, Grain::Visible] {
        assert_eq!(searched(walk, (warps, grain), end), all, "{grain:?}");
    }
    all
}
