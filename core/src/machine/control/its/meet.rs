//! Where lanes meet: running ones those that stand before them, waiting ones each other.

use super::Its;
use crate::base::{lanes_of, lanes_with};
use crate::machine::control::{Flow, Wait};

impl Its {
    /// Where the running lanes next meet others: the lowest address of another ready lane at the same depth, from here on.
    #[inline(always)]
    pub(in crate::machine::control) fn set_watch(&mut self, flow: Flow) {
        self.watch = if self.alone() {
            u32::MAX
        } else {
            let others = self.ready & !flow.mask & lanes_with(&self.depth, flow.depth);
            let mut least = u32::MAX;
            for (l, pc) in self.pc.iter().enumerate() {
                least = least.min(if (others >> l & 1 == 1) & (*pc > flow.pc) { *pc } else { u32::MAX });
            }
            least
        };
    }

    /// Marks lanes that wait for each other ready once all of them are there.
    pub(super) fn wake(&mut self) {
        let waiting = !self.exited & !self.ready;
        let mut rest = waiting;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let Some(wait) = self.wait[lane] else { continue };
            let here = |l: &usize| self.wait[*l] == Some(wait);
            let same_pc = |l: &usize| self.pc[*l] == self.pc[lane] && self.depth[*l] == self.depth[lane];
            let (members, present) = match wait {
                Wait::Members(m) => (m, lanes_of(waiting).filter(here).filter(same_pc).fold(0, |m, l| m | 1 << l)),
                Wait::Warp => (!0, lanes_of(waiting).filter(here).filter(same_pc).fold(0, |m, l| m | 1 << l)),
                Wait::WarpSync(m) => (m, lanes_of(waiting).filter(here).fold(0, |m, l| m | 1 << l)),
                Wait::Barrier(_) => continue,
            };
            // They would all find the same.
            rest &= !present;
            if members & !self.exited & !present == 0 {
                self.ready |= present;
                if !matches!(wait, Wait::WarpSync(_)) {
                    self.met |= present;
                }
                for l in lanes_of(present) {
                    self.wait[l] = None;
                }
            }
        }
    }
}
