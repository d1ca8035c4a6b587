//! Which group of lanes runs first.

use super::*;

/// What is found without asking is what the fair oracle is offered first, and leaves the same state.
#[test]
fn the_first_group_is_the_one_that_would_be_picked() {
    let mut seed = 1_u32;
    let mut next = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % below
    };
    let mut found = 0;
    for _ in 0..4000 {
        let mut its = Its::new(!0, 0);
        its.part();
        its.exited = if next(2) == 0 { 0 } else { 1 << next(32) | 1 << next(32) };
        its.ready = !its.exited & (next(3) << 30 | !7 << next(8));
        let (places, depths) = (1 + next(6), 1 + next(3));
        for l in 0..LANES {
            (its.pc[l], its.depth[l]) = (next(places), next(depths));
            its.since[l] = next(4);
            its.wait[l] = (its.ready >> l & 1 == 0).then_some(Wait::Barrier(0));
        }
        its.met = next(1 << 16);
        its.starved = if next(4) == 0 { PATIENCE } else { next(PATIENCE) };
        let mut other = its.clone();
        let Some(first) = its.first() else { continue };
        assert_eq!(other.pick(&mut Fair, |_| true).map(Result::ok), Ok(Some(first)));
        assert_eq!((&its, its.starved), (&other, other.starved));
        found += 1;
    }
    assert!(found > 2000, "{found}");
}
