//! All orders of a few things, and all choices of some of them.

/// So many things are ordered at most: there are 130,023 strict orders of six, and 6,129,859 of seven.
pub(super) const LARGEST: usize = 6;

/// All strict orders of so many things, or all total ones: for each thing, as bits, those that come before it.
pub(super) fn orders(count: usize, total: bool) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![Vec::new()];
    for new in 0..count {
        all = all.iter().flat_map(|order| extended(order, new, total)).collect();
    }
    all
}

/// The orders in which a new thing has some of the others before it and some after it.
fn extended(order: &[u32], new: usize, total: bool) -> Vec<Vec<u32>> {
    let everything = (1u32 << new) - 1;
    let mut all = Vec::new();
    for before in 0..=everything {
        for after in 0..=everything {
            let apart = before & after == 0 && (!total || before | after == everything);
            let closed = order.iter().enumerate().all(|(k, below)| {
                let (is_before, is_after) = (before >> k & 1 == 1, after >> k & 1 == 1);
                // What is before something that comes before comes before, and so on.
                (!is_before || below & !before == 0)
                    && (!is_after || before & !below == 0)
                    && (below & after == 0 || is_after)
            });
            if apart && closed {
                let mut wider: Vec<u32> =
                    order.iter().enumerate().map(|(k, below)| below | (after >> k & 1) << new).collect();
                wider.push(before);
                all.push(wider);
            }
        }
    }
    all
}

/// All choices of `size` things, as bits.
pub(super) fn subsets(count: usize, size: usize) -> Vec<u32> {
    (0..1u32 << count.min(20)).filter(|set| usize::try_from(set.count_ones()) == Ok(size)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of strict orders: OEIS A001035; of total ones: factorials.
    #[test]
    fn there_are_as_many_orders_as_there_are() {
        let counts = |total: bool| (0..6).map(|n| orders(n, total).len()).collect::<Vec<_>>();
        assert_eq!(counts(false), [1, 1, 3, 19, 219, 4231]);
        assert_eq!(counts(true), [1, 1, 2, 6, 24, 120]);
    }

    #[test]
    fn orders_are_closed_differ_and_have_no_circle() {
        for n in 0..5 {
            let mut all = orders(n, false);
            for order in &all {
                for (k, below) in order.iter().enumerate() {
                    assert_eq!(below >> k & 1, 0);
                    assert!((0..n).filter(|j| below >> j & 1 == 1).all(|j| order[j] & !below == 0));
                }
            }
            let before = all.len();
            all.sort();
            all.dedup();
            assert_eq!(all.len(), before);
        }
    }

    #[test]
    fn choices_of_two_in_four() {
        assert_eq!(subsets(4, 2).len(), 6);
        assert_eq!(subsets(3, 4), Vec::<u32>::new());
    }
}
