//! What is known of a run so far: its launch, its blocks, the shadows of memory.

use super::clock::FenceOrder;
use super::copies::Copies;
use super::finding::Findings;
use super::flight::Flights;
use super::launch::Launch;
use super::shadow::Shadow;
use super::sites::Site;
use super::sync::Fenced;
use super::threads::Block;
use crate::program::env::ProgEnv;
use crate::verdict::{Named, Shape, Step, Stop, Who};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What is known of a run so far.
#[derive(Default)]
pub(super) struct Watch {
    pub env: Arc<ProgEnv>,
    /// Accesses that are kept of a location with a history.
    pub kept: usize,
    pub launch: Option<Launch>,
    /// The first warp's number of the next launch.
    pub next: u32,
    pub blocks: Vec<Option<Block>>,
    /// Where a block is, by its linear index.
    pub places: FxHashMap<u64, usize>,
    /// The block that was asked for last, and where it is.
    pub last: (u64, usize),
    pub global: Shadow,
    /// Shadows of shared memory to be used again.
    pub spare: Vec<Shadow>,
    pub order: FenceOrder,
    pub fenced: Fenced,
    /// The buffers and variables of the launch that began last.
    pub names: Vec<Named>,
    pub findings: Findings,
    pub flights: Flights,
    pub copies: Copies,
}

impl Watch {
    pub fn begin(&mut self, shape: Shape, program: u32, (tokens, later): (bool, bool)) -> Result<(), Stop> {
        let warps = shape.threads().div_ceil(shape.warp_size.max(1));
        let blocks = shape.grid.iter().map(|n| u64::from(*n)).product::<u64>();
        let end = u64::from(self.next).saturating_add(blocks.saturating_mul(warps.into()));
        let Ok(end) = u32::try_from(end) else {
            return Err(Stop::Unsupported("a race check of launches of more than 2^32 warps".to_owned(), None));
        };
        let lockstep = tokens && self.env.target.sm < 70;
        let one_block = shape.grid == [1; 3];
        self.launch = Some(Launch { shape, program, first: self.next, warps, lockstep, one_block, later });
        self.next = end;
        self.blocks.clear();
        self.places.clear();
        self.last = (u64::MAX, 0);
        self.global.begin();
        self.order = FenceOrder::default();
        self.fenced = Fenced::default();
        self.flights = Flights::default();
        self.copies.clear();
        self.copies.proxies.begin(&self.env);
        Ok(())
    }

    pub fn block_mut(&mut self, who: Who) -> Option<&mut Block> {
        let at = self.block(who)?;
        self.blocks[at].as_mut()
    }

    /// Where a block is; it is made when it is first heard of.
    #[inline(always)]
    pub fn block(&mut self, who: Who) -> Option<usize> {
        if self.last.0 == who.block { Some(self.last.1) } else { self.find_block(who) }
    }

    #[inline(never)]
    pub fn find_block(&mut self, who: Who) -> Option<usize> {
        let launch = self.launch?;
        let at = if let Some(at) = self.places.get(&who.block) {
            *at
        } else {
            let first = launch.first + u32::try_from(who.block).ok()? * launch.warps;
            let shared = self.spare.pop().unwrap_or_default();
            let block = Block::new(first, &launch, shared);
            let at = self.blocks.iter().position(Option::is_none).unwrap_or(self.blocks.len());
            if at == self.blocks.len() {
                self.blocks.push(None);
            }
            self.blocks[at] = Some(block);
            self.places.insert(who.block, at);
            at
        };
        self.last = (who.block, at);
        Some(at)
    }

    pub fn end_block(&mut self, who: Who) {
        let Some(at) = self.places.remove(&who.block) else { return };
        self.last = (u64::MAX, 0);
        self.copies.end_block(at);
        if let Some(mut block) = self.blocks.get_mut(at).and_then(Option::take) {
            block.shared.clear();
            self.spare.push(block.shared);
        }
    }

    #[inline(never)]
    pub fn synchronise(&mut self, who: Who, step: &Step<'_>, site: Site) {
        if step.lanes == 0 {
            return;
        }
        let Some(at) = self.block(who) else { return };
        let warp = who.warp as usize;
        match site {
            // Where memory acts later, a fence is told of when what came before it has been performed.
            Site::Fence(_) if self.launch.is_some_and(|l| l.later) => {}
            Site::Fence(fence) => self.fence(at, warp, step.lanes, fence),
            Site::WarpSync(slot) => {
                let Some(block) = &mut self.blocks[at] else { return };
                let Some(masks) = step.regs.w.get(slot.index()) else { return };
                let mut rest = step.lanes;
                while rest != 0 {
                    let mask = masks.0[rest.trailing_zeros() as usize & 31];
                    let alike = crate::base::lanes_of(rest).filter(|l| masks.0[*l] == mask).fold(0, |m, l| m | 1 << l);
                    block.warp_sync(warp, alike, mask);
                    rest &= !alike;
                }
            }
            Site::Exit => {
                if let Some(block) = &mut self.blocks[at] {
                    block.exit(warp, step.lanes);
                }
            }
            Site::CopyCommit { bulk } => self.copies.commit(at, who.warp, step.lanes, bulk),
            Site::ProxyFence => self.copies.proxies.fenced(at),
            Site::Other | Site::Access(_) | Site::CopyWait(_) => {}
        }
    }
}
