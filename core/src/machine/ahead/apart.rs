//! Warps that have nothing to do with each other: what they come to does not depend on whose turn it is when.
//!
//! Where blocks take turns with each other, or whose turn was last cannot be guessed, blocks run ahead all the same if no warp of what is
//! left of a launch reads what another one writes, or writes a byte that another one writes. That is known at the end only. What
//! memory was like before is kept until then, and put back where it is not so; then all is run again in order.
//!
//! Under `crs` a warp that nobody interferes with executes the same instructions however long its turns are. How many of them native
//! code executes depends on where turns end, so that this is not done where somebody asks for that.

use super::guess::Guess;
use super::wave::{Done, Judge, is_slow};
use crate::machine::books::Stats;
use crate::machine::control::Explored;
use crate::machine::device::message::GridId;
use crate::machine::runner::Hosted;
use crate::memory::flat::{Below, Deeds, Flat, Former, Slabs, Together, View};
use std::sync::Arc;

/// Bytes that are written at most: what memory was like before is kept of all of them.
const KEPT: usize = 1 << 28;

/// The state before.
struct Before {
    clock: u64,
    native: u64,
    ahead: [u64; 2],
    stats: Vec<(GridId, Stats)>,
    next: u64,
    last: Option<(u32, bool)>,
}

/// Who looks at the chunks.
pub(super) struct Apart<'a> {
    guess: &'a mut Guess,
    most: u64,
    warps: u32,
    all: Together,
    /// What memory was like before, by chunk.
    kept: Vec<Former>,
    before: Before,
    /// Whether all blocks are over, and have nothing to do with each other.
    pub holds: bool,
}

impl<'a> Apart<'a> {
    pub fn new<C: Explored + 'static>(of: &Hosted<C, Flat>, guess: &'a mut Guess, most: u64) -> Option<Self> {
        let (grid, _) = of.grid()?;
        let (next, last) = (grid.next, grid.last);
        let before =
            Before { clock: of.clock, native: of.native, ahead: of.ahead, stats: of.stats.clone(), next, last };
        let (warps, kept) = (grid.loaded.warps(), Vec::new());
        Some(Self { guess, most, warps, all: Together::default(), kept, before, holds: false })
    }

    /// Whether a chunk has nothing to do with all others so far.
    fn fits(&mut self, done: &Done) -> bool {
        let Some(deeds) = done.deeds.as_ref() else { return false };
        let fits = done.whole
            && done.stats.warp_instructions < self.most
            && deeds.join(&mut self.all)
            && self.all.bytes <= KEPT;
        self.most = self.most.saturating_sub(done.stats.warp_instructions);
        fits
    }

    /// All is as it was.
    pub fn put_back<C: Explored + 'static>(self, of: &mut Hosted<C, Flat>, memory: &mut Below) {
        self.kept.iter().rev().for_each(|former| former.restore(memory));
        let Before { clock, native, ahead, stats, next, last } = self.before;
        let vain = of.ahead[0] - ahead[0];
        (of.clock, of.native, of.stats, of.ahead) = (clock, native, stats, [ahead[0], of.ahead[1] + vain]);
        if let Some(grid) = of.only_grid() {
            grid.has_run(next, last);
        }
    }
}

impl<C: Explored + 'static> Judge<C> for Apart<'_> {
    const VIEW: View = View::Apart;

    fn guess(&self) -> &Guess {
        self.guess
    }

    fn look(&mut self, of: &mut Hosted<C, Flat>, under: &mut Arc<Below>, all: Vec<Done>, spare: &mut Slabs) -> bool {
        let (fits, mut written) = (all.iter().all(|done| self.fits(done)) && !is_slow(&all), Vec::new());
        for done in all {
            let work = done.work();
            let Done { chunk, last, stats, native, deeds, .. } = done;
            let changes = deeds.map(Deeds::written);
            of.ahead[usize::from(!fits)] += chunk.until - chunk.first;
            if fits {
                self.guess.was_right(chunk, last, work, self.warps);
                self.guess.over(true);
                of.count(chunk.until, last, (stats, native));
                written.extend(changes);
            } else {
                changes.into_iter().for_each(|changes| changes.leave(spare));
            }
        }
        let Some(memory) = Arc::get_mut(under) else { return false };
        for changes in written {
            self.kept.push(changes.exchange(memory));
            changes.leave(spare);
        }
        self.holds = fits && of.grid().is_some_and(|(grid, _)| !grid.is_between());
        fits
    }
}
