//! Fences of a warp (PTX ISA, chapter 8, "Release and Acquire Patterns"; D-race).

use super::sites::FenceSite;
use super::sync::acquire_observed;
use super::threads::Moment;
use super::watch::Watch;
use crate::base::{LaneMask, lanes_of};
use crate::verdict::Reach;
use std::sync::Arc;

impl Watch {
    /// Lanes of a warp execute a fence.
    pub(super) fn fence(&mut self, at: usize, warp: usize, lanes: LaneMask, fence: FenceSite) {
        let Some(block) = &mut self.blocks[at] else { return };
        if fence.acquires {
            for lane in lanes_of(lanes) {
                let first = block.first;
                acquire_observed(block, (warp, lane), |_, release| {
                    fence.reach.with(release.reach, release.block == first)
                });
            }
        }
        if fence.total {
            self.ordered_fence(at, warp, lanes, fence.reach);
        }
        let Some(block) = &mut self.blocks[at] else { return };
        if fence.releases {
            for lane in lanes_of(lanes) {
                let moment = Moment::now(block, warp, lane);
                let Some(w) = block.warps.get_mut(warp) else { return };
                let fences = &mut w.pending(lane).fences;
                // One that reaches farther does all that an earlier one did.
                if fence.reach == Reach::Device {
                    fences[0] = None;
                }
                fences[fence.reach as usize] = Some(moment);
            }
            self.fenced.note(block.first, block.epoch);
            block.epoch += 1;
        }
    }

    /// A sequentially consistent fence comes after those before it whose scopes and its own include each other's
    /// threads. Lanes of one instruction are not ordered among each other.
    fn ordered_fence(&mut self, at: usize, warp: usize, lanes: LaneMask, reach: Reach) {
        let now = self.order.now();
        let Some(block) = &mut self.blocks[at] else { return };
        let near = block.fences.take().unwrap_or_default();
        let mut before = near.clone();
        if reach == Reach::Device {
            before.know_fences(now);
        }
        block.join(warp, block.learners(warp, lanes), &Arc::new(before));
        let mut mine = near;
        for lane in lanes_of(lanes) {
            mine.join(&Moment::now(block, warp, lane).known());
        }
        if reach == Reach::Device {
            self.order.add(&mine);
        }
        block.fences = Some(mine);
        block.epoch += 1;
    }
}
