//! Groups in parts (D-its-split): any non-empty subset of a group's lanes may run without the rest of it.
//!
//! Lanes that have met, because each waited for the others, execute the instruction at which they did together: they are
//! in a part all of them or none. Of a group of n lanes that have not met there are 2ⁿ − 1 parts.

use super::{Flow, Its};
use crate::base::{LaneMask, lanes_of};
use crate::choice::{LANES_ALL, LANES_FIRST, LANES_NONE, Menu, Oracle, Site};
use crate::verdict::Stop;
use smallvec::SmallVec;

impl Its {
    /// The lanes of a group that choices are about: those that have met are one, by the lowest of them.
    fn heads(&self, group: LaneMask) -> LaneMask {
        let met = group & self.met;
        group & !met | met & met.wrapping_neg()
    }

    /// The part that has these heads.
    fn whole(&self, group: LaneMask, heads: LaneMask) -> LaneMask {
        let met = group & self.met;
        if heads & met == 0 { heads } else { heads | met }
    }

    /// The lanes of a group that can run, each on its own; of those that have met all or none.
    pub(super) fn able(&self, group: Flow, can: impl Fn(Flow) -> bool) -> LaneMask {
        let alone = |l: &usize| can(Flow { mask: self.whole(group.mask, 1 << l), ..group });
        let heads = lanes_of(self.heads(group.mask)).filter(alone).fold(0, |m, l| m | 1 << l);
        self.whole(group.mask, heads)
    }

    /// All parts of a group, itself first.
    pub(super) fn parts(&self, group: Flow) -> SmallVec<[Flow; 4]> {
        let heads = self.heads(group.mask);
        let below = |part: &LaneMask| Some((part - 1) & heads).filter(|next| *next != 0);
        let all = std::iter::successors(Some(heads).filter(|h| *h != 0), below);
        all.map(|part| Flow { mask: self.whole(group.mask, part), ..group }).collect()
    }

    /// Which part of which of several groups runs next, and for how many instructions: first its lowest lane is chosen,
    /// then who else runs along. Each part is one way to answer.
    pub(super) fn pick_part(
        &self,
        groups: &[(LaneMask, u32, u32)],
        oracle: &mut dyn Oracle,
    ) -> Result<Option<(Flow, u32)>, Stop> {
        let all = groups.iter().fold(0, |m, g| m | self.heads(g.0));
        if all == 0 {
            return Ok(None);
        }
        let (first, lease) = if all.count_ones() == 1 {
            (all.trailing_zeros(), u32::MAX)
        } else {
            let preferred = groups.first().map(|g| (g.0.trailing_zeros(), false));
            let pick = oracle.choose(Menu::of(Site::Group, &[all.into()]).after(preferred))?;
            (pick.index, pick.lease.get())
        };
        let Some(&(group, pc, depth)) = groups.iter().find(|g| g.0 >> first & 1 == 1) else { return Ok(None) };
        let heads = self.heads(group);
        let mut rest = heads & (!1 << first);
        let mut part: LaneMask = 1 << first;
        // While nobody was left out, who would make it all of them is offered at the first question only: as all of them,
        // where they are several.
        let (mut asked, mut left_out) = (false, false);
        while rest != 0 {
            let several = rest & (rest - 1) != 0;
            let lanes = if left_out || several || !asked { rest } else { 0 };
            let mut ready = u64::from(lanes) << LANES_FIRST | 1 << LANES_NONE;
            ready |= u64::from(!asked && several) << LANES_ALL;
            let index = if ready & (ready - 1) == 0 {
                ready.trailing_zeros()
            } else {
                oracle.choose(Menu::of(Site::Lanes, &[ready]))?.index
            };
            asked = true;
            match index {
                LANES_ALL => (part, rest) = (part | rest, 0),
                LANES_NONE => rest = 0,
                next => {
                    let next = next - LANES_FIRST;
                    left_out |= rest.trailing_zeros() != next;
                    part |= 1 << next;
                    rest &= !1 << next;
                }
            }
        }
        Ok(Some((Flow { pc, mask: self.whole(group, part), depth }, lease)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::Pick;
    use crate::machine::control::{Control, Grouping};
    use std::collections::BTreeSet;
    use std::num::NonZeroU32;

    /// Every way to answer, one after the other: the alternative taken at each question, and among how many.
    #[derive(Default)]
    struct Ways {
        taken: Vec<(u32, u32)>,
        at: usize,
    }

    impl Ways {
        fn next(&mut self) -> bool {
            self.at = 0;
            while let Some((taken, arity)) = self.taken.pop() {
                if taken + 1 < arity {
                    self.taken.push((taken + 1, arity));
                    return true;
                }
            }
            false
        }
    }

    impl Oracle for Ways {
        fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
            if self.at == self.taken.len() {
                self.taken.push((0, menu.arity()));
            }
            self.at += 1;
            Ok(Pick { index: menu.nth(self.taken[self.at - 1].0), lease: NonZeroU32::MIN })
        }
    }

    /// The parts that choices lead to, in their order.
    fn chosen(warp: &Its) -> Vec<(LaneMask, u32)> {
        let mut ways = Ways::default();
        let mut found = Vec::new();
        loop {
            let (flow, _) = warp.clone().pick(&mut ways, |_| true).unwrap().unwrap();
            found.push((flow.mask, flow.pc));
            if !ways.next() {
                return found;
            }
        }
    }

    fn warp(lanes: LaneMask) -> Its {
        let mut warp = Its::new(lanes, 7);
        warp.group(Grouping::Any);
        warp
    }

    #[test]
    fn every_subset_comes_once_and_all_of_the_lanes_first() {
        for n in 1..=6 {
            let lanes = (1 << n) - 1;
            let found = chosen(&warp(lanes));
            assert_eq!(found[0], (lanes, 7));
            let masks: BTreeSet<LaneMask> = found.iter().map(|f| f.0).collect();
            assert_eq!((found.len(), masks), (lanes as usize, (1..=lanes).collect()));
            let parts = warp(lanes).parts(Flow { pc: 7, mask: lanes, depth: 0 });
            assert_eq!(parts.iter().map(|f| f.mask).collect::<Vec<_>>(), (1..=lanes).rev().collect::<Vec<_>>());
        }
    }

    #[test]
    fn groups_are_parted_each_on_its_own() {
        let mut warp = warp(0b11011);
        warp.gather().unwrap();
        for l in [1, 4] {
            warp.pc[l] = 9;
        }
        let found: BTreeSet<_> = chosen(&warp).into_iter().collect();
        let wanted = [(0b01, 7), (0b1000, 7), (0b1001, 7), (0b10, 9), (0b10000, 9), (0b10010, 9)];
        assert_eq!(found, BTreeSet::from(wanted));
    }

    #[test]
    fn who_has_met_goes_together() {
        let mut warp = warp(0b1111);
        warp.gather().unwrap();
        warp.met = 0b0110;
        let found: BTreeSet<LaneMask> = chosen(&warp).into_iter().map(|f| f.0).collect();
        let units = [0b0001, 0b0110, 0b1000];
        let wanted = (1..8usize).map(|k| (0..3).filter(|u| k >> u & 1 == 1).fold(0, |m, u| m | units[u]));
        assert_eq!(found, wanted.collect());
        // One of them cannot: none of them does.
        let able = warp.able(Flow { pc: 7, mask: 0b1111, depth: 0 }, |flow| flow.mask & 0b0100 == 0);
        assert_eq!(able, 0b1001);
    }
}
