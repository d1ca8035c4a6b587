//! Chunks of blocks that run one after the other: each is right that began as the one before ended, and touched nothing that those
//! before it have changed.

use super::guess::Guess;
use super::wave::{Done, Judge, is_slow};
use crate::base::mutant::{Mutant, on};
use crate::machine::control::Explored;
use crate::machine::runner::Hosted;
use crate::memory::flat::{Below, Deeds, Flat, Slabs, View, Written};
use std::sync::Arc;

/// Who looks at them.
pub(super) struct InOrder<'a> {
    pub guess: &'a mut Guess,
    /// Warp instructions that may be executed.
    pub most: u64,
    /// Warps of a block.
    pub warps: u32,
    /// Whether there is another way for launches whose turns cannot be guessed.
    pub may_be_apart: bool,
}

impl InOrder<'_> {
    /// How many of the first chunks are right, and whether something was learned by the others.
    fn right(&mut self, all: &[Done]) -> (usize, bool) {
        let Some(mut last) = all.first().map(|done| done.chunk.last) else { return (0, false) };
        let (mut right, mut learned) = (0, false);
        for done in all {
            let Some(deeds) = done.deeds.as_ref() else { break };
            learned |= deeds.teach(&mut self.guess.manners);
            if done.chunk.last != last && !on(Mutant::AheadBegins) {
                learned |= self.guess.was_wrong();
                break;
            }
            if !done.whole || done.stats.warp_instructions >= self.most {
                self.guess.irregular |= done.pressed;
                break;
            }
            if let Some(met) = all[..right].iter().find_map(|earlier| deeds.meets(earlier.deeds.as_ref()?)) {
                learned |= self.guess.met(met);
                break;
            }
            self.most -= done.stats.warp_instructions;
            (last, right) = (done.last, right + 1);
        }
        (right, learned)
    }
}

impl<C: Explored + 'static> Judge<C> for InOrder<'_> {
    const VIEW: View = View::InOrder;

    fn guess(&self) -> &Guess {
        self.guess
    }

    fn look(&mut self, of: &mut Hosted<C, Flat>, under: &mut Arc<Below>, all: Vec<Done>, spare: &mut Slabs) -> bool {
        let (count, first) = (all.len(), all.first().map(|done| done.chunk));
        let (right, learned) = self.right(&all);
        let slow = is_slow(&all);
        let mut written = Vec::new();
        for (k, done) in all.into_iter().enumerate() {
            let work = done.work();
            let Done { chunk, last, stats, native, deeds, .. } = done;
            of.ahead[usize::from(k >= right)] += chunk.until - chunk.first;
            let changes = deeds.map(Deeds::written);
            if k >= right {
                changes.into_iter().for_each(|changes| changes.leave(spare));
                continue;
            }
            self.guess.was_right(chunk, last, work, self.warps);
            of.count(chunk.until, last, (stats, native));
            written.extend(changes);
        }
        // All views are gone.
        let Some(memory) = Arc::get_mut(under) else { return false };
        Written::commit(&written, memory, of.config.threads as usize);
        written.into_iter().for_each(|changes| changes.leave(spare));
        if std::mem::take(&mut self.guess.irregular) && self.may_be_apart {
            self.guess.irregular = true;
            // Those that take turns in any order may be worth trying.
            self.guess.from = Some(0);
            return false;
        }
        // A wave that has taught something is none that was in vain: there are few things to be learned.
        let useful = count == 1 || right < count && learned || self.guess.over(right > 1 && !slow);
        if right == 0 && !learned {
            // What the first chunk could not do is left to the ordinary way.
            self.guess.from = first.map(|chunk| chunk.until).filter(|_| useful && self.guess.over(false));
            return false;
        }
        useful
    }
}
