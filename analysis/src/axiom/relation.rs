//! Sets of events and binary relations between them, as rows of bits.
//!
//! Events are numbered from 0; both kinds know how many there are, and operands of one operation have the same number.

/// Bits in a word.
const BITS: usize = u64::BITS as usize;

/// The words that so many bits take.
const fn words(len: usize) -> usize {
    len.div_ceil(BITS)
}

/// The positions of the bits of some words, ascending.
fn ones(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(k, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros() as usize;
            (rest != 0).then(|| {
                rest &= rest - 1;
                k * BITS + bit
            })
        })
    })
}

/// A square of bits with rows and columns exchanged: squares within it, half as wide each time, change places.
fn transpose(rows: &mut [u64; BITS]) {
    let (mut size, mut mask) = (BITS / 2, u64::from(u32::MAX));
    while size != 0 {
        for a in (0..BITS).filter(|a| a & size == 0) {
            let changed = (rows[a] >> size ^ rows[a + size]) & mask;
            rows[a] ^= changed << size;
            rows[a + size] ^= changed;
        }
        size /= 2;
        mask ^= mask << size;
    }
}

/// A set of events.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Set {
    len: usize,
    bits: Vec<u64>,
}

impl Set {
    /// The empty set of `len` events.
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self { len, bits: vec![0; words(len)] }
    }

    /// All of `len` events.
    #[must_use]
    pub fn full(len: usize) -> Self {
        let mut all = Self { len, bits: vec![u64::MAX; words(len)] };
        if let Some(last) = all.bits.last_mut() {
            *last >>= (BITS - len % BITS) % BITS;
        }
        all
    }

    /// The events of an iterator, of `len`.
    pub fn of(len: usize, events: impl IntoIterator<Item = usize>) -> Self {
        let mut set = Self::new(len);
        events.into_iter().for_each(|event| set.insert(event));
        set
    }

    /// How many events there are, in the set or not.
    #[must_use]
    pub const fn events(&self) -> usize {
        self.len
    }

    /// Adds an event.
    pub fn insert(&mut self, event: usize) {
        self.bits[event / BITS] |= 1 << (event % BITS);
    }

    /// Removes an event.
    pub fn remove(&mut self, event: usize) {
        self.bits[event / BITS] &= !(1 << (event % BITS));
    }

    /// Whether an event is in it.
    #[must_use]
    pub fn contains(&self, event: usize) -> bool {
        self.bits[event / BITS] >> (event % BITS) & 1 == 1
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|word| *word == 0)
    }

    /// What is in it, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        ones(&self.bits)
    }

    /// Adds what is in another.
    pub fn add(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(a, b)| *a |= b);
    }

    /// Keeps only what is in another, too.
    pub fn keep(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(a, b)| *a &= b);
    }

    /// Removes what is in another.
    pub fn take(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(a, b)| *a &= !b);
    }

    /// Whether all of it is in another.
    #[must_use]
    pub fn within(&self, other: &Self) -> bool {
        self.bits.iter().zip(&other.bits).all(|(a, b)| a & !b == 0)
    }
}

/// A binary relation between events: row `a` has the `b` of each pair `(a, b)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Relation {
    len: usize,
    width: usize,
    bits: Vec<u64>,
}

impl Relation {
    /// The empty relation between `len` events.
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self { len, width: words(len), bits: vec![0; len * words(len)] }
    }

    /// The pairs of an iterator, between `len` events.
    pub fn of(len: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut all = Self::new(len);
        pairs.into_iter().for_each(|(a, b)| all.insert(a, b));
        all
    }

    /// The pairs that pass a test.
    pub fn matching(len: usize, test: impl Fn(usize, usize) -> bool) -> Self {
        Self::of(len, (0..len).flat_map(|a| (0..len).map(move |b| (a, b))).filter(|(a, b)| test(*a, *b)))
    }

    /// Every event of a set with itself.
    #[must_use]
    pub fn identity(set: &Set) -> Self {
        Self::of(set.len, set.iter().map(|event| (event, event)))
    }

    /// Every event of one set with every event of another.
    #[must_use]
    pub fn product(from: &Set, to: &Set) -> Self {
        let mut all = Self::new(from.len);
        for a in from.iter() {
            all.row_mut(a).copy_from_slice(&to.bits);
        }
        all
    }

    /// How many events there are.
    #[must_use]
    pub const fn events(&self) -> usize {
        self.len
    }

    fn row(&self, a: usize) -> &[u64] {
        &self.bits[a * self.width..(a + 1) * self.width]
    }

    fn row_mut(&mut self, a: usize) -> &mut [u64] {
        &mut self.bits[a * self.width..(a + 1) * self.width]
    }

    /// Adds a pair.
    pub fn insert(&mut self, a: usize, b: usize) {
        self.row_mut(a)[b / BITS] |= 1 << (b % BITS);
    }

    /// Removes a pair.
    pub fn remove(&mut self, a: usize, b: usize) {
        self.row_mut(a)[b / BITS] &= !(1 << (b % BITS));
    }

    /// Whether a pair is in it.
    #[must_use]
    pub fn contains(&self, a: usize, b: usize) -> bool {
        self.row(a)[b / BITS] >> (b % BITS) & 1 == 1
    }

    /// Whether no pair is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|word| *word == 0)
    }

    /// How many pairs are in it.
    #[must_use]
    pub fn count(&self) -> usize {
        self.bits.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The sum of its words as numbers: more with each pair.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.bits.iter().map(|word| u128::from(*word)).sum()
    }

    /// Its pairs, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.len).flat_map(|a| self.from(a).map(move |b| (a, b)))
    }

    /// What an event is related to, ascending.
    pub fn from(&self, a: usize) -> impl Iterator<Item = usize> {
        ones(self.row(a))
    }

    /// Adds the pairs of another.
    pub fn add(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(a, b)| *a |= b);
    }

    /// Keeps only pairs that are in another, too.
    pub fn keep(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(a, b)| *a &= b);
    }

    /// Removes the pairs of another.
    pub fn take(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(a, b)| *a &= !b);
    }

    /// Whether all pairs are in another.
    #[must_use]
    pub fn within(&self, other: &Self) -> bool {
        self.bits.iter().zip(&other.bits).all(|(a, b)| a & !b == 0)
    }

    /// Whether some pair is in both.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.bits.iter().zip(&other.bits).any(|(a, b)| a & b != 0)
    }

    /// One after the other: `(a, c)` for each `(a, b)` of the first and `(b, c)` of the second.
    #[must_use]
    pub fn then(&self, other: &Self) -> Self {
        match self.width {
            1 => self.then_of::<1>(other),
            2 => self.then_of::<2>(other),
            _ => {
                let (mut all, leading) = (Self::new(self.len), other.domain());
                for a in 0..self.len {
                    let row = &mut all.bits[a * self.width..(a + 1) * self.width];
                    for b in ones(self.row(a)).filter(|b| leading.contains(*b)) {
                        row.iter_mut().zip(other.row(b)).for_each(|(x, y)| *x |= y);
                    }
                }
                all
            }
        }
    }

    /// The same for rows of few words, which stay in registers.
    fn then_of<const WIDTH: usize>(&self, other: &Self) -> Self {
        let mut all = Self::new(self.len);
        let (rows, _) = other.bits.as_chunks::<WIDTH>();
        // Only these lead on.
        let mut leading = [0; WIDTH];
        for (b, row) in rows.iter().enumerate() {
            leading[b / BITS] |= u64::from(row.iter().any(|word| *word != 0)) << (b % BITS);
        }
        for (from, to) in self.bits.as_chunks::<WIDTH>().0.iter().zip(all.bits.as_chunks_mut::<WIDTH>().0) {
            for (k, word) in from.iter().enumerate() {
                let mut rest = word & leading[k];
                while rest != 0 {
                    let row = rows[k * BITS + rest.trailing_zeros() as usize];
                    (0..WIDTH).for_each(|k| to[k] |= row[k]);
                    rest &= rest - 1;
                }
            }
        }
        all
    }

    /// Every pair the other way round.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut all = Self::new(self.len);
        for (above, rows) in self.bits.chunks(BITS * self.width.max(1)).enumerate() {
            for left in 0..self.width {
                let mut block = [0; BITS];
                for (row, to) in rows.chunks(self.width).zip(&mut block) {
                    *to = row[left];
                }
                if block.iter().all(|word| *word == 0) {
                    continue;
                }
                transpose(&mut block);
                let first = left * BITS;
                for (a, word) in block.iter().enumerate().take(self.len - first) {
                    all.bits[(first + a) * self.width + above] = *word;
                }
            }
        }
        all
    }

    /// The transitive closure (Warshall).
    #[must_use]
    pub fn plus(&self) -> Self {
        let mut all = self.clone();
        let mut via = vec![0; all.width];
        for middle in 0..all.len {
            via.copy_from_slice(all.row(middle));
            if via.iter().all(|word| *word == 0) {
                continue;
            }
            for a in 0..all.len {
                if all.contains(a, middle) {
                    all.row_mut(a).iter_mut().zip(&via).for_each(|(x, y)| *x |= y);
                }
            }
        }
        all
    }

    /// Every event with itself as well.
    #[must_use]
    pub fn optional(&self) -> Self {
        let mut all = self.clone();
        (0..all.len).for_each(|event| all.insert(event, event));
        all
    }

    /// The events that are related to some event.
    #[must_use]
    pub fn domain(&self) -> Set {
        Set::of(self.len, (0..self.len).filter(|a| self.row(*a).iter().any(|word| *word != 0)))
    }

    /// The events that some event is related to.
    #[must_use]
    pub fn range(&self) -> Set {
        let mut all = Set::new(self.len);
        for a in 0..self.len {
            all.bits.iter_mut().zip(self.row(a)).for_each(|(x, y)| *x |= y);
        }
        all
    }

    /// The events that are related to themselves.
    pub fn reflexive(&self) -> impl Iterator<Item = usize> {
        (0..self.len).filter(|event| self.contains(*event, *event))
    }

    /// A shortest cycle, as the events along it; none where there is none.
    #[must_use]
    pub fn cycle(&self) -> Option<Vec<usize>> {
        let closure = self.plus();
        let on_cycles: Vec<usize> = closure.reflexive().collect();
        on_cycles.into_iter().filter_map(|start| self.path(start, start)).min_by_key(Vec::len)
    }

    /// A shortest way of at least one pair between two events: the events along it but the last.
    #[must_use]
    pub fn path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut before = vec![usize::MAX; self.len];
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(event) = queue.pop_front() {
            for next in self.from(event) {
                if next == to {
                    let mut way = vec![event];
                    while way[way.len() - 1] != from {
                        way.push(before[way[way.len() - 1]]);
                    }
                    way.reverse();
                    return Some(way);
                }
                if before[next] == usize::MAX && next != from {
                    before[next] = event;
                    queue.push_back(next);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{ProptestConfig, any, proptest};

    fn relation(len: usize, seed: &[bool]) -> Relation {
        Relation::matching(len, |a, b| seed[(a * len + b) % seed.len()])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn closures_and_ways_agree(len in 1usize..80, seed in proptest::collection::vec(proptest::bool::weighted(0.05), 6400)) {
            let r = relation(len, &seed);
            let plus = r.plus();
            let mut grown = r.clone();
            for _ in 0..len {
                let mut more = grown.then(&r);
                more.add(&r);
                grown = more;
            }
            assert_eq!(plus.cycle().is_some(), r.cycle().is_some());
            for a in 0..len {
                for b in 0..len {
                    let way = r.path(a, b);
                    assert_eq!(way.is_some(), plus.contains(a, b));
                    if let Some(way) = way {
                        assert!(way.windows(2).all(|w| r.contains(w[0], w[1])) && r.contains(way[way.len() - 1], b));
                    }
                }
            }
            assert!(plus.then(&plus).within(&plus) && grown.within(&plus));
        }

        #[test]
        fn laws_of_inverses(len in 1usize..200, one in proptest::collection::vec(any::<bool>(), 997), two in proptest::collection::vec(any::<bool>(), 991)) {
            let (a, b) = (relation(len, &one), relation(len, &two));
            assert_eq!(a.then(&b).inverse(), b.inverse().then(&a.inverse()));
            assert_eq!(a.inverse().inverse(), a);
            assert_eq!(a.inverse(), Relation::of(len, a.iter().map(|(x, y)| (y, x))));
            assert_eq!(a.inverse().domain(), a.range());
            let product = Relation::product(&a.domain(), &b.range());
            assert!(a.then(&b).within(&product));
        }
    }
}
