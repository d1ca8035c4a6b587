//! A random schedule, the same for the same seed in every build of one minor version.
//!
//! The stream is `ChaCha8`, which its crate fixes; `StdRng` would change with the toolchain. Leases are drawn between one
//! instruction and a few hundred, geometrically, so that both tight interleavings and long runs occur.

use super::{LANES_ALL, MICRO_END, MICRO_SILENT, MICRO_WANTED, Menu, Oracle, Pick, Site};
use crate::verdict::Stop;
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use std::num::NonZeroU32;

/// The random oracle.
#[derive(Debug)]
pub struct Seeded {
    seed: u64,
    stream: ChaCha8Rng,
}

impl Seeded {
    /// The schedule of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, stream: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// A number below `bound`, by widening multiplication; the bias of at most 2⁻³² does not matter here.
    fn below(&mut self, bound: u32) -> u32 {
        u32::try_from((u64::from(self.stream.next_u32()) * u64::from(bound)) >> 32).unwrap_or(0)
    }

    /// The same for 64 bits.
    pub(super) fn below_u64(&mut self, bound: u64) -> u64 {
        u64::try_from((u128::from(self.stream.next_u64()) * u128::from(bound)) >> 64).unwrap_or(0)
    }

    /// Macro steps of a few micro steps, silent rules now and then: were all alternatives alike, a large cache would do
    /// little but evict, and a device with many operations in flight would let no warp go on.
    fn micro(&mut self, menu: &Menu<'_>) -> u32 {
        let draw = self.below(32);
        if draw == 0 && menu.offers(MICRO_SILENT) {
            return MICRO_SILENT;
        }
        if draw < 8 && menu.offers(MICRO_END) {
            return MICRO_END;
        }
        let head = menu.ready.first().map_or(0, |w| w.count_ones());
        let steps = menu.arity() - head;
        if steps == 0 {
            let first = [MICRO_END, MICRO_WANTED].into_iter().find(|k| menu.offers(*k));
            return first.unwrap_or(MICRO_SILENT);
        }
        menu.nth(head + self.below(steps))
    }
}

impl Oracle for Seeded {
    /// Each launch has a stream of its own, so that one launch's length does not shift the next one's schedule.
    fn launch(&mut self, number: u32) -> Result<(), Stop> {
        let seed = self.seed ^ u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.stream = ChaCha8Rng::seed_from_u64(seed);
        Ok(())
    }

    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        if menu.site == Site::Micro {
            return Ok(Pick { index: self.micro(&menu), lease: NonZeroU32::MIN });
        }
        // Half the time together: lanes that parted should meet again.
        if menu.site == Site::Lanes && menu.offers(LANES_ALL) && self.below(2) == 0 {
            return Ok(Pick { index: LANES_ALL, lease: NonZeroU32::MIN });
        }
        let n = self.below(menu.arity());
        let more = if menu.site.is_held() { self.stream.next_u32() >> (24 + self.below(9).min(7)) } else { 0 };
        let lease = NonZeroU32::MIN.saturating_add(more);
        Ok(Pick { index: menu.nth(n), lease })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_stream() {
        let ready = [0xff];
        let run = |seed| {
            let mut oracle = Seeded::new(seed);
            (0..50).map(|_| oracle.choose(Menu::of(Site::Warp, &ready)).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        // A fixed expectation: the stream must not change within a minor version.
        assert_eq!(run(1)[..4].iter().map(|p| p.index).collect::<Vec<_>>(), [4, 0, 3, 2]);
    }
}
