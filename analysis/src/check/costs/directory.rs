//! The tagless directory that knows which first-level caches may hold a line (section 6.1; Zebchuk, Srinivasan, Qureshi and
//! Moshovos, "A Tagless Coherence Directory", 2009).
//!
//! For each set of each cache it has a sharing vector of 64 bits for each of five hash functions (Table 3). A line may be in a
//! cache if its bit is set in all five; bits of lines that have gone stay until the cache sends the vectors anew.

/// Hash functions (Table 1).
pub(super) const HASHES: usize = 5;

/// Odd numbers by which a line is multiplied, one for each hash function: the paper names none of its functions, and the upper bits of
/// such a product depend on all bits of the line (D-lsc-ptx-hash). Fractional parts of the golden ratio and of the roots of 2, 3, 5 and 7.
const FACTORS: [u64; HASHES] =
    [0x9e37_79b9_7f4a_7c15, 0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1];

/// The bit of a line in a sharing vector.
const fn bit(line: u64, hash: usize) -> u64 {
    1 << (line.wrapping_mul(FACTORS[hash]) >> 58)
}

/// The sharing vectors of a set of a cache: 320 bits, which a message with the recalculated hash carries.
pub(super) type Vectors = [u64; HASHES];

/// The sharing vectors of all sets of all first-level caches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Directory {
    /// By cache and set.
    vectors: Vec<Vec<Vectors>>,
    sets: usize,
}

impl Directory {
    /// For caches of so many sets.
    pub const fn new(sets: usize) -> Self {
        Self { vectors: Vec::new(), sets }
    }

    fn at(&mut self, cache: usize, set: usize) -> Option<&mut Vectors> {
        if self.vectors.len() <= cache {
            self.vectors.resize_with(cache + 1, || vec![Vectors::default(); self.sets]);
        }
        self.vectors[cache].get_mut(set)
    }

    /// A cache gets a line.
    pub fn fill(&mut self, cache: usize, set: usize, line: u64) {
        if let Some(vectors) = self.at(cache, set) {
            vectors.iter_mut().enumerate().for_each(|(k, v)| *v |= bit(line, k));
        }
    }

    /// A cache sends the vectors of a set anew: they are of the lines that it has there.
    pub fn rehash(&mut self, cache: usize, set: usize, lines: &[u64]) {
        if let Some(vectors) = self.at(cache, set) {
            *vectors = Vectors::default();
            for (k, vector) in vectors.iter_mut().enumerate() {
                *vector = lines.iter().fold(0, |v, line| v | bit(*line, k));
            }
        }
    }

    /// The caches that may have a line.
    pub fn sharers(&self, set: usize, line: u64) -> impl Iterator<Item = usize> + '_ {
        let may = move |vectors: &Vectors| vectors.iter().enumerate().all(|(k, v)| v & bit(line, k) != 0);
        let caches = self.vectors.iter().enumerate();
        caches.filter(move |(_, sets)| sets.get(set).is_some_and(may)).map(|(cache, _)| cache)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_a_line_is_found() {
        let mut directory = Directory::new(4);
        for line in (0..256).step_by(4) {
            directory.fill(0, 0, line);
            assert_eq!(directory.sharers(0, line).collect::<Vec<_>>(), [0]);
        }
        directory.fill(3, 0, 8);
        assert_eq!(directory.sharers(0, 8).collect::<Vec<_>>(), [0, 3]);
        // Other sets have vectors of their own.
        assert_eq!(directory.sharers(1, 8).count(), 0);
    }

    #[test]
    fn a_line_that_has_gone_may_be_there_until_the_hash_is_sent() {
        let mut directory = Directory::new(1);
        directory.fill(0, 0, 1);
        directory.fill(0, 0, 2);
        assert_eq!(directory.sharers(0, 1).count(), 1);
        directory.rehash(0, 0, &[2]);
        assert_eq!((directory.sharers(0, 1).count(), directory.sharers(0, 2).count()), (0, 1));
    }

    #[test]
    fn the_functions_differ() {
        let bits = |line: u64| (0..HASHES).map(|k| bit(line, k)).collect::<Vec<_>>();
        // No function is another's for all lines, and each uses all of its bits.
        for k in 0..HASHES {
            let all = (0..10_000).fold(0, |v, line| v | bit(line, k));
            assert_eq!(all, !0);
            assert!((0..k).all(|j| (0..100).any(|line| bits(line)[j] != bits(line)[k])));
        }
    }
}
