//! A cache that knows which lines it holds, and nothing of what is in them.

/// A set-associative cache that evicts what was used longest ago.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cache {
    /// The lines of each set, the one used last first.
    sets: Vec<Vec<u64>>,
    ways: usize,
}

impl Cache {
    /// An empty one of so many bytes.
    pub fn new(bytes: u32, ways: u32, line: u32) -> Self {
        let ways = ways.max(1);
        let sets = (bytes / line.max(1) / ways).max(1);
        Self { sets: vec![Vec::new(); sets as usize], ways: ways as usize }
    }

    /// The set of a line.
    pub fn set(&self, line: u64) -> usize {
        let sets = self.sets.len() as u64;
        usize::try_from(line % sets).unwrap_or(0)
    }

    /// How many sets there are.
    pub fn sets(&self) -> usize {
        self.sets.len()
    }

    /// The lines that a set holds.
    pub fn lines(&self, set: usize) -> &[u64] {
        self.sets.get(set).map_or(&[], Vec::as_slice)
    }

    /// Uses a line, if it is there.
    pub fn touch(&mut self, line: u64) -> bool {
        let set = self.set(line);
        let lines = &mut self.sets[set];
        let found = lines.iter().position(|l| *l == line);
        if let Some(at) = found {
            lines[..=at].rotate_right(1);
        }
        found.is_some()
    }

    /// Puts in a line that is not there; gives the line that had to go.
    pub fn fill(&mut self, line: u64) -> Option<u64> {
        let (set, ways) = (self.set(line), self.ways);
        let lines = &mut self.sets[set];
        let victim = if lines.len() < ways { None } else { lines.pop() };
        lines.insert(0, line);
        victim
    }

    /// Takes a line out, if it is there.
    pub fn remove(&mut self, line: u64) -> bool {
        let set = self.set(line);
        let lines = &mut self.sets[set];
        let found = lines.iter().position(|l| *l == line);
        if let Some(at) = found {
            lines.remove(at);
        }
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_used_longest_ago_goes_first() {
        // Two sets of two lines.
        let mut cache = Cache::new(256, 2, 64);
        assert_eq!(cache.sets(), 2);
        assert_eq!([cache.fill(0), cache.fill(2), cache.fill(1)], [None; 3]);
        assert!(cache.touch(0));
        assert!(!cache.touch(4));
        assert_eq!(cache.fill(4), Some(2));
        assert_eq!(cache.lines(0), [4, 0]);
        assert!(cache.remove(4) && !cache.remove(4));
        assert_eq!(cache.fill(6), None);
        assert_eq!(cache.lines(1), [1]);
    }

    #[test]
    fn a_shape_that_makes_no_sense_is_one_line() {
        let mut cache = Cache::new(0, 0, 0);
        assert_eq!((cache.fill(7), cache.fill(9)), (None, Some(7)));
    }
}
