//! Which threads spin and which wait, as a search for hangs goes through them.

use super::runs::View;
use crate::litmus::lasting::{exchanges, orbit};

/// Who spins, and who waits.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// A thread that spins.
    pub sure: usize,
    /// Whether each thread may spin.
    pub may: Vec<bool>,
    /// By block: how many barriers its threads pass before they wait at the next one; none: they pass all.
    pub waits: Vec<Option<u64>>,
}

/// All plans, one after the other. Of threads that may take each other's places it does not matter which one spins.
pub(super) struct Plans {
    /// Who spins for sure, and who may.
    spinning: Vec<(usize, Vec<bool>)>,
    at: usize,
    waits: Vec<Option<u64>>,
    /// How many threads a block has.
    each: usize,
    begun: bool,
}

impl Plans {
    pub fn new(symmetries: &[Vec<usize>], threads: usize, each: usize) -> Self {
        let mut may = vec![true; threads];
        let mut spinning = Vec::new();
        for sure in 0..threads {
            if may[sure] {
                spinning.push((sure, may.clone()));
                orbit(sure, symmetries).into_iter().for_each(|thread| may[thread] = false);
            }
        }
        let each = each.max(1);
        Self { spinning, at: 0, waits: vec![None; threads / each], each, begun: false }
    }

    /// The next one. `arrivals`: the most barriers that a thread comes to, as far as that is known.
    pub fn next(&mut self, arrivals: u64) -> Option<Plan> {
        if self.begun && !self.wait(arrivals) {
            self.at += 1;
        }
        self.begun = true;
        let (sure, may) = self.spinning.get(self.at)?;
        Some(Plan { sure: *sure, may: may.clone(), waits: self.waits.clone() })
    }

    /// The next combination of where blocks wait, for one of theirs that spins; after all it is again that none does.
    fn wait(&mut self, arrivals: u64) -> bool {
        let Some((_, may)) = self.spinning.get(self.at) else { return false };
        // A thread that is alone in its block waits for nobody.
        let most = if self.each > 1 { arrivals } else { 0 };
        for (wait, threads) in self.waits.iter_mut().zip(may.chunks(self.each)) {
            let after = wait.map_or(0, |n| n + 1);
            if after < most && threads.contains(&true) {
                *wait = Some(after);
                return true;
            }
            *wait = None;
        }
        false
    }
}

/// Ways in which threads of a launch may change places: two of a block, or two blocks.
pub(super) fn symmetries(view: &View, each: usize) -> Vec<Vec<usize>> {
    let classes = &view.classes;
    let each = each.max(1);
    let mut found = Vec::new();
    let mut take = |pairs: &[(usize, usize)]| {
        if pairs.iter().all(|(a, b)| classes[*a] == classes[*b]) {
            let mut all: Vec<usize> = (0..classes.len()).collect();
            pairs.iter().for_each(|(a, b)| all.swap(*a, *b));
            found.push(all);
        }
    };
    for first in (0..classes.len()).step_by(each) {
        for a in first..first + each {
            (a + 1..first + each).for_each(|b| take(&[(a, b)]));
        }
        for other in (first + each..classes.len()).step_by(each) {
            let block = |first: usize| (first..first + each).collect::<Vec<usize>>();
            exchanges(&block(first), &block(other)).iter().for_each(|pairs| take(pairs));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_threads_spin_once_and_blocks_stay_together() {
        let view = View::first(6, true);
        let symmetries = symmetries(&view, 2);
        // Two threads of each block; two blocks of three, either thread of the one for the first of the other.
        assert_eq!(symmetries.len(), 3 + 3 * 2);
        let mut plans = Plans::new(&symmetries, 6, 2);
        let mut count = 0;
        while let Some(plan) = plans.next(2) {
            assert_eq!((plan.sure, plan.may), (0, vec![true; 6]));
            count += 1;
        }
        // Each block passes all barriers, or waits at the first or the second.
        assert_eq!(count, 27);
    }

    #[test]
    fn threads_that_differ_spin_one_after_the_other() {
        let view = View { kept: None, classes: vec![0, 1, 0, 1] };
        let symmetries = symmetries(&view, 2);
        assert_eq!(symmetries, [vec![2, 3, 0, 1]]);
        let mut plans = Plans::new(&symmetries, 4, 2);
        assert_eq!(plans.next(0).map(|plan| (plan.sure, plan.may)), Some((0, vec![true; 4])));
        assert_eq!(plans.next(0).map(|plan| (plan.sure, plan.may)), Some((1, vec![false, true, false, true])));
        assert!(plans.next(0).is_none());
    }
}
