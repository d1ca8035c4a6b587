//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010).
//!
//! Each warp has a random priority and the highest one that is ready steps; at d − 1 random steps the one that steps falls
//! below all others. A defect that d ordering constraints suffice for is found by one schedule with a probability of at
//! least 1/(n·k^(d−1)), for n warps and k steps.
//!
//! Departures. A step is a decision about warps or lanes: what is forced makes no difference. Groups of lanes within a warp have priorities of
//! their own, drawn in the same way. A warp that takes k decisions in a row spins for another one, and falls below all
//! others: the paper's programs end under every schedule. Other choices (blocks, memory) are drawn at random.

use super::{Menu, Oracle, Pick, Seeded, Site};
use crate::verdict::Stop;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// Priorities with d − 1 change points.
#[derive(Debug)]
pub struct Pct {
    random: Seeded,
    /// The decisions at which a priority changes; the k-th of them gives priority k.
    changes: Vec<u64>,
    /// k: decisions of a run.
    steps: u64,
    /// Decisions so far, of all launches.
    now: u64,
    priorities: BTreeMap<Party, i64>,
    /// The warp that was picked last.
    warp: u32,
    /// Who was picked last at each of the two sites, and how many times in a row.
    row: [(Option<Party>, u64); 2],
    /// The lowest priority so far of those who fell for spinning.
    lowest: i64,
}

/// A warp, or a group of lanes of a warp by its lowest lane.
type Party = (u32, Option<u32>);

/// First priorities lie above this, those of change points below.
const FIRST: i64 = 1 << 40;

impl Pct {
    /// The schedule of a seed for defects of depth `depth` (at least 1) in runs of about `steps` decisions (at least 1).
    #[must_use]
    pub fn new(seed: u64, depth: u32, steps: u64) -> Self {
        let steps = steps.max(1);
        // Of another stream: a launch begins its own from the start.
        let mut points = Seeded::new(!seed);
        let changes = (1..depth).map(|_| points.below_u64(steps)).collect();
        let random = Seeded::new(seed);
        let (priorities, row) = (BTreeMap::new(), [(None, 0); 2]);
        Self { random, changes, steps, now: 0, priorities, warp: 0, row, lowest: 0 }
    }

    /// The least probability with which one schedule finds a defect of depth `depth` in `warps` warps and `steps` steps.
    #[must_use]
    pub fn bound(depth: u32, warps: u64, steps: u64) -> f64 {
        let power = f64::from(depth.saturating_sub(1));
        1.0 / (warps.max(1) as f64 * libm::pow(steps.max(1) as f64, power))
    }

    fn priority(&mut self, party: Party) -> i64 {
        let drawn = || FIRST + i64::try_from(self.random.below_u64(1 << 62)).unwrap_or(0);
        *self.priorities.entry(party).or_insert_with(drawn)
    }

    /// Who of a menu has the highest priority; `warp`: the warp whose groups it offers.
    fn highest(&mut self, menu: &Menu<'_>, warp: Option<u32>) -> u32 {
        let party = |index: u32| warp.map_or((index, None), |warp| (warp, Some(index)));
        // Ties cannot be told apart by the menu's order alone, but two equal draws of 62 bits do not happen.
        let highest = menu.offered().map(|index| (self.priority(party(index)), Reverse(index))).max();
        let index = highest.map_or(0, |(_, Reverse(index))| index);
        self.after(party(index), usize::from(warp.is_some()));
        index
    }

    /// Changes the priority of who steps now, where that is due.
    fn after(&mut self, party: Party, site: usize) {
        if let Some(k) = self.changes.iter().position(|at| *at == self.now) {
            self.priorities.insert(party, i64::try_from(k).unwrap_or(0) + 1);
        }
        let (last, count) = &mut self.row[site];
        *count = if *last == Some(party) { *count + 1 } else { 0 };
        *last = Some(party);
        if *count >= self.steps {
            *count = 0;
            self.lowest -= 1;
            self.priorities.insert(party, self.lowest);
        }
    }
}

impl Oracle for Pct {
    fn launch(&mut self, number: u32) -> Result<(), Stop> {
        self.priorities.clear();
        self.row = [(None, 0); 2];
        self.random.launch(number)
    }

    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let index = match menu.site {
            Site::Warp => {
                self.warp = self.highest(&menu, None);
                self.warp
            }
            Site::Group => self.highest(&menu, Some(self.warp)),
            _ => return self.random.choose(menu),
        };
        self.now += 1;
        Ok(Pick { index, lease: NonZeroU32::MIN })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picks(seed: u64, depth: u32, steps: u64) -> Vec<u32> {
        let mut oracle = Pct::new(seed, depth, steps);
        oracle.launch(0).unwrap();
        let menu = Menu::of(Site::Warp, &[0b1111]);
        (0..steps).map(|_| oracle.choose(menu).unwrap().index).collect()
    }

    #[test]
    fn priorities_change_at_d_minus_1_steps() {
        for seed in 0..100 {
            for depth in 1..4 {
                let switches = picks(seed, depth, 50).windows(2).filter(|w| w[0] != w[1]).count();
                assert!(switches < depth as usize, "seed {seed}, depth {depth}: {switches}");
            }
        }
    }

    #[test]
    fn all_orders_and_all_change_points_occur() {
        let first: std::collections::BTreeSet<u32> = (0..100).map(|seed| picks(seed, 1, 1)[0]).collect();
        assert_eq!(first.len(), 4);
        let at = |seed| picks(seed, 2, 10).windows(2).position(|w| w[0] != w[1]);
        let points: std::collections::BTreeSet<_> = (0..200).filter_map(at).collect();
        // A change at the last of the ten steps shows no more.
        assert_eq!(points, (0..9).collect());
    }

    #[test]
    fn who_spins_gives_way() {
        let mut oracle = Pct::new(1, 1, 8);
        let menu = Menu::of(Site::Warp, &[0b11]);
        let picks: Vec<u32> = (0..60).map(|_| oracle.choose(menu).unwrap().index).collect();
        assert!(picks[..8].iter().all(|p| *p == picks[0]) && picks.iter().any(|p| *p != picks[0]), "{picks:?}");
    }

    #[test]
    fn the_bound_is_the_papers() {
        assert!((Pct::bound(1, 4, 100) - 0.25).abs() < 1e-12);
        assert!((Pct::bound(3, 2, 100) - 0.5e-4).abs() < 1e-12);
    }
}
