//! A schedule followed as far as it goes: for schedules that were changed and may not fit any more.

use super::{Fair, Menu, Oracle, Part, Pick, Schedule, Site};
use crate::verdict::Stop;
use std::num::NonZeroU32;

/// Takes the decisions of a plan where they are offered, and the fair oracle's otherwise; knows what it did.
///
/// A decision that is not offered is left out. One about something that is decided within what is decided now (a group of
/// a warp, when a warp is asked for) comes too late and is left out; one about something larger waits.
#[derive(Clone, Debug)]
pub struct Guided {
    plan: Schedule,
    launch: usize,
    next: usize,
    /// Decisions of the part at `next` that were taken.
    used: u32,
    did: Schedule,
}

impl Guided {
    /// Follows a plan.
    #[must_use]
    pub fn new(plan: Schedule) -> Self {
        Self { plan, launch: 0, next: 0, used: 0, did: Schedule::default() }
    }

    /// What it did, to be replayed: decisions that differ from the fair oracle's, and how many lie between.
    #[must_use]
    pub fn did(mut self) -> Schedule {
        for parts in &mut self.did.launches {
            if let Some(Part::Fair(_)) = parts.last() {
                parts.pop();
            }
            parts.push(Part::Rest);
        }
        self.did
    }

    fn planned(&mut self, menu: &Menu<'_>) -> Option<Pick> {
        loop {
            match *self.plan.launches.get(self.launch)?.get(self.next)? {
                Part::Rest => return None,
                Part::Fair(n) => {
                    self.used += 1;
                    if self.used >= n {
                        (self.next, self.used) = (self.next + 1, 0);
                    }
                    return None;
                }
                Part::Take(d) if d.what.site() == menu.site => {
                    self.next += 1;
                    if let Some(index) = menu.find(d.what) {
                        return Some(Pick { index, lease: NonZeroU32::new(d.lease)? });
                    }
                }
                Part::Take(d) if level(d.what.site()) > level(menu.site) => self.next += 1,
                Part::Take(_) => return None,
            }
        }
    }
}

/// What is decided within what: a larger number within a smaller one.
const fn level(site: Site) -> u8 {
    match site {
        Site::Message | Site::Context => 0,
        Site::Grid => 1,
        Site::Issue | Site::Processor => 2,
        Site::Micro => 3,
        Site::Silent => 4,
        Site::Warp => 5,
        Site::Group => 6,
        Site::Lanes | Site::Target | Site::Victim | Site::Winner => 7,
    }
}

impl Oracle for Guided {
    fn launch(&mut self, number: u32) -> Result<(), Stop> {
        (self.launch, self.next, self.used) = (number as usize, 0, 0);
        self.did.begin();
        Ok(())
    }

    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let fair = Fair.choose(menu)?;
        let pick = self.planned(&menu).unwrap_or(fair);
        self.did.push(if pick == fair { Part::Fair(1) } else { Part::Take(menu.decided(pick)) });
        Ok(pick)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Alternative, Decision, Replay};
    use super::*;

    fn warp(warp: u32, lease: u32) -> Part {
        Part::Take(Decision { what: Alternative::Warp { block: 0, warp }, lease })
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_what_was_done_replays() {
        let group = Part::Take(Decision { what: Alternative::Numbered(Site::Group, 1), lease: 1 });
        let parts = vec![warp(7, 3), warp(1, 3), group, warp(1, 5)];
        let mut guided = Guided::new(Schedule { launches: vec![parts], fair_from: None });
        guided.launch(0).unwrap();
        let warp = Menu::of(Site::Warp, &[0b11]);
        let group = Menu { site: Site::Group, ..warp };
        // Alternative 7 is not offered; a group is not asked for before the next warp is.
        let menus = [group, warp, warp, warp];
        let picks: Vec<Pick> = menus.iter().map(|m| guided.choose(*m).unwrap()).collect();
        assert_eq!(picks.iter().map(|p| (p.index, p.lease.get())).collect::<Vec<_>>()[1..3], [(1, 3), (1, 5)]);
        let did = guided.did();
        assert_eq!((did.taken(), did.launches[0][0], did.launches[0].last()), (2, Part::Fair(1), Some(&Part::Rest)));
        let mut replay = Replay::new(did);
        replay.launch(0).unwrap();
        let again: Vec<Pick> = menus.iter().map(|m| replay.choose(*m).unwrap()).collect();
        assert_eq!(again, picks);
    }
}
