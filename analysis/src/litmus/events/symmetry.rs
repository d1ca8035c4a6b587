//! Threads of a test that may change places: they do the same, and groups stay groups (D-alike).

use super::Threads;
use crate::litmus::lasting::exchanges;
use indexmap::IndexMap;

impl Threads {
    /// Ways in which threads may change places: two threads, or two groups, each as who takes the place of each thread.
    pub(in crate::litmus) fn symmetries(&self) -> Vec<Vec<usize>> {
        let count = self.codes.len();
        let swapped = |pairs: &[(usize, usize)]| {
            let mut all: Vec<usize> = (0..count).collect();
            pairs.iter().for_each(|(a, b)| all.swap(*a, *b));
            all
        };
        let same = |a: usize, b: usize| {
            (&self.codes[a].steps, &self.initial[a], &self.asked[a])
                == (&self.codes[b].steps, &self.initial[b], &self.asked[b])
        };
        let mut found = Vec::new();
        let mut take = |pairs: &[(usize, usize)]| {
            let symmetry = swapped(pairs);
            if pairs.iter().all(|(a, b)| same(*a, *b)) && self.keeps_groups(&symmetry) {
                found.push(symmetry);
            }
        };
        for a in 0..count {
            (a + 1..count).for_each(|b| take(&[(a, b)]));
        }
        let mut groups: IndexMap<[u32; 2], Vec<usize>> = IndexMap::new();
        for (thread, home) in self.homes.iter().enumerate() {
            groups.entry(home.group()).or_default().push(thread);
        }
        let groups: Vec<Vec<usize>> = groups.into_values().filter(|group| group.len() > 1).collect();
        for (k, one) in groups.iter().enumerate() {
            for other in groups[k + 1..].iter().filter(|other| other.len() == one.len()) {
                exchanges(one, other).iter().for_each(|pairs| take(pairs));
            }
        }
        found
    }

    /// Whether threads are in a group together exactly where those that take their places are, at every level, and the host orders
    /// the ones as the others.
    fn keeps_groups(&self, symmetry: &[usize]) -> bool {
        let together = |a: usize, b: usize| {
            let (one, other) = (self.homes[a].path(), self.homes[b].path());
            one.iter().zip(other).take_while(|(a, b)| **a == *b).count()
        };
        let ordered = |a: usize, b: usize| self.ssw.contains(&(a, b));
        let moved = (0..symmetry.len()).filter(|thread| symmetry[*thread] != *thread);
        moved.into_iter().all(|a| {
            (0..symmetry.len()).filter(|b| *b != a).all(|b| {
                let (to, other) = (symmetry[a], symmetry[b]);
                together(a, b) == together(to, other)
                    && (ordered(a, b), ordered(b, a)) == (ordered(to, other), ordered(other, to))
            })
        })
    }
}
