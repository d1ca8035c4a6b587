//! Sets of a warp's lanes.

/// A set of lanes: bit `l` stands for lane `l` (the report's active mask, 5.4.1).
pub type LaneMask = u32;

/// The lanes of a mask, in ascending order.
pub fn lanes_of(mask: LaneMask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            lane
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_come_in_order() {
        assert_eq!(lanes_of(0b1010_0001).collect::<Vec<_>>(), [0, 5, 7]);
        assert_eq!(lanes_of(0).count(), 0);
    }
}
