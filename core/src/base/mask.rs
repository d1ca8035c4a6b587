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

/// The lanes that have a value, without a jump for each: a loop that becomes vector instructions where these may be used.
#[inline(always)]
pub fn lanes_with(all: &[u32; 32], value: u32) -> LaneMask {
    let mut with = 0;
    for (l, own) in all.iter().enumerate() {
        with |= u32::from(*own == value) << l;
    }
    with
}

/// Sets what some lanes have: one by one, or of many all at once.
#[inline(always)]
pub fn set_lanes(all: &mut [u32; 32], lanes: LaneMask, value: u32) {
    const MANY: u32 = 12;
    if lanes.count_ones() < MANY {
        lanes_of(lanes).for_each(|l| all[l] = value);
        return;
    }
    for (l, own) in all.iter_mut().enumerate() {
        *own = if lanes >> l & 1 == 1 { value } else { *own };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_come_in_order() {
        assert_eq!(lanes_of(0b1010_0001).collect::<Vec<_>>(), [0, 5, 7]);
        assert_eq!(lanes_of(0).count(), 0);
    }

    #[test]
    fn what_lanes_have_is_set_and_found() {
        for lanes in [0, 1, 0b1010_0001, 0x8000_0000, 0x0fff_0fff, !0] {
            let mut all = [7; 32];
            set_lanes(&mut all, lanes, 9);
            assert_eq!((lanes_with(&all, 9), lanes_with(&all, 7)), (lanes, !lanes));
        }
    }
}
