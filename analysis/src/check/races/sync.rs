//! Fences, releases and acquires: the patterns by which threads synchronise through memory (PTX ISA, chapter 8,
//! "Release and Acquire Patterns", "Synchronizes-with"; D-race).
//!
//! A release pattern is a release operation, or one followed by a strong write to the same location, or a releasing
//! fence followed by a strong write; an acquire pattern is its mirror image. They synchronise when the read observes
//! the write and the pattern's outer operations are morally strong.

use super::history::Release;
use super::sites::AccessSite;
use super::threads::{Block, Moment};
use crate::verdict::{Reach, Strength};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The last fence or release of each block: what was stored before one is no data without any order (D-unordered).
#[derive(Clone, Debug, Default)]
pub(super) struct Fenced(FxHashMap<u32, u32>);

impl Fenced {
    /// A block, given by its first warp, fences or releases in an epoch.
    pub fn note(&mut self, block: u32, epoch: u32) {
        self.0.insert(block, epoch);
    }

    /// Whether a block has since an epoch.
    pub fn since(&self, block: u32, epoch: u32) -> bool {
        self.0.get(&block).is_some_and(|last| *last >= epoch)
    }
}

/// A lane acquires the releases that its strong reads have observed, as far as `included` says: of the release's location and
/// width, and of the release.
pub(super) fn acquire_observed(
    block: &mut Block,
    (warp, lane): (usize, usize),
    included: impl Fn((u64, u32), &Release) -> bool,
) {
    let learners = block.learners(warp, 1 << lane);
    let Some(w) = block.warps.get_mut(warp).filter(|w| !w.is_plain()) else { return };
    let acquired = w.pending(lane).observed.extract_if(.., |o| included((o.0, o.1), &o.2));
    let acquired: Vec<Release> = acquired.map(|o| o.2).collect();
    acquired.iter().for_each(|release| block.join(warp, learners, &release.known));
}

/// The releases that a lane's write makes visible at a location.
pub(super) fn publish(block: &mut Block, who: (usize, usize), at: u64, site: &AccessSite) -> Vec<Release> {
    let (warp, lane) = who;
    let reach = match site.strength {
        Strength::Strong(reach) if site.kind.writes() => reach,
        _ => return Vec::new(),
    };
    if site.releases {
        let now = Moment::now(block, warp, lane);
        if let Some(w) = block.warps.get_mut(warp) {
            w.pending(lane).heads.insert((at, site.width, reach), now);
        }
    }
    let Some(pending) = block.warps.get(warp).and_then(|w| w.has_pending(lane)) else { return Vec::new() };
    let release = |reach, moment: &Moment| Release { block: block.first, reach, known: Arc::new(moment.known()) };
    let reaches = [Reach::Block, Reach::Device, Reach::Remote];
    // No fence is remote.
    let fences = reaches[..2].iter().filter_map(|r| Some(release(*r, pending.fences[*r as usize].as_ref()?)));
    let heads = reaches.into_iter().filter_map(|r| Some(release(r, pending.heads.get(&(at, site.width, r))?)));
    fences.chain(heads).collect()
}

/// A lane's strong read observes releases at a location: it acquires them now, or a fence may later.
pub(super) fn observe(block: &mut Block, who: (usize, usize), at: u64, site: &AccessSite, releases: Vec<Release>) {
    let ((warp, lane), first) = (who, block.first);
    let Strength::Strong(reach) = site.strength else { return };
    let Some(w) = block.warps.get_mut(warp) else { return };
    let observed = &mut w.pending(lane).observed;
    // A remote read may complete the pattern of a release that does not reach it.
    for release in releases.into_iter().filter(|r| r.reach.with(reach.max(Reach::Device), r.block == first)) {
        let same = |o: &&mut (u64, u32, Release)| {
            (o.0, o.1, o.2.block, o.2.reach) == (at, site.width, release.block, release.reach)
        };
        match observed.iter_mut().find(same) {
            Some((.., known)) => known.merge(&release.known),
            None => observed.push((at, site.width, release)),
        }
    }
    if site.acquires {
        // It completes the patterns of earlier strong reads of its location.
        let mine = |of, r: &Release| of == (at, site.width) && reach.with(r.reach, r.block == first);
        acquire_observed(block, who, mine);
    }
}

/// Whether a lane has anything to hand on at a write.
pub(super) fn may_publish(block: &Block, warp: usize, lane: usize) -> bool {
    let pending = block.warps.get(warp).and_then(|w| w.has_pending(lane));
    pending.is_some_and(|p| p.fences.iter().any(Option::is_some) || !p.heads.is_empty())
}
