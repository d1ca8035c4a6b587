//! Room for groups of lanes that have parted natively, and what follows of them for counts.

use super::context::{Back, Groups, PLACES, RUNS};
use crate::base::LaneMask;
use crate::base::mutant::{Mutant, on};

/// A warp's groups, and the numbers of lines of those who wait.
#[derive(Debug)]
pub(super) struct Apart {
    pub(super) all: Groups,
    /// By place.
    pub(super) kept: Vec<u64>,
    pub(super) scalars: usize,
    /// Whether nobody waited when native code was entered.
    pub(super) alone: bool,
}

impl Apart {
    /// Nobody waits, of a kernel with so many places and numbers of lines.
    pub fn new(places: usize, scalars: usize) -> Self {
        let all = Groups {
            places: 0,
            since: 0,
            mask: 0,
            count: 0,
            waiting: [0; PLACES],
            runs: [0; RUNS + 1],
            whose: [0; RUNS + 1],
        };
        Self { all, kept: vec![0; places * scalars], scalars, alone: true }
    }

    /// Where native code finds the groups and the numbers, for a kernel with so many places and numbers. `None`: there is no room.
    pub fn room(&mut self, places: usize, scalars: usize) -> Option<(*mut Groups, *mut u64)> {
        let fits = self.kept.len() >= places * scalars && places <= PLACES;
        fits.then_some((&raw mut self.all, self.kept.as_mut_ptr()))
    }

    /// All lanes of warps are together.
    pub fn gather(&mut self) {
        (self.all.places, self.all.count, self.alone) = (0, 0, true);
    }

    /// Whether a run has been noted.
    #[inline(always)]
    pub const fn has_run(&self) -> bool {
        self.all.count > 0
    }

    /// Takes out who has run of each warp but one, of which that stays: the warps, and the lanes in their order.
    pub fn take_runs(&mut self, stays: Option<u32>) -> impl Iterator<Item = (u32, LaneMask)> + use<> {
        let count = (self.all.count as usize).min(RUNS);
        let all: Vec<(u32, LaneMask)> = self.all.whose.iter().copied().zip(self.all.runs).take(count).collect();
        self.all.count = 0;
        for (_, lanes) in all.iter().filter(|(warp, _)| Some(*warp) == stays) {
            self.all.runs[self.all.count as usize] = *lanes;
            self.all.count += 1;
        }
        all.into_iter().filter(move |(warp, _)| Some(*warp) != stays)
    }

    /// Lanes wait at a place, with those who do already.
    #[inline(always)]
    pub fn wait(&mut self, place: u8, lanes: LaneMask) {
        self.all.places |= 1 << place;
        self.all.waiting[usize::from(place) % PLACES] |= lanes;
    }

    /// Takes out who waits at the lowest place.
    #[inline(always)]
    pub fn take(&mut self) -> Option<(u8, LaneMask)> {
        let place = self.all.places.trailing_zeros();
        if place as usize >= PLACES {
            return None;
        }
        self.all.places &= self.all.places - 1;
        Some((place as u8, std::mem::take(&mut self.all.waiting[place as usize])))
    }

    /// Who waits at which place.
    pub fn those(&self) -> impl Iterator<Item = (u8, LaneMask)> {
        let mut rest = self.all.places;
        std::iter::from_fn(move || {
            let place = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            (place < u64::BITS).then_some(place as u8)
        })
        .map(|place| (place, self.all.waiting[usize::from(place) % PLACES]))
    }

    /// Whether a run can be noted.
    #[inline(always)]
    pub const fn has_room(&self) -> bool {
        (self.all.count as usize) < RUNS
    }

    /// Notes that lanes have run; there has to be room for it.
    #[inline(always)]
    pub fn ran(&mut self, lanes: LaneMask) {
        let count = self.all.count as usize;
        // Of lanes that have run twice in a row it makes no difference.
        if count == 0 || self.all.runs[count - 1] != lanes {
            self.all.runs[count] = lanes;
            self.all.count += 1;
        }
    }

    /// Those who run have run, with so much fuel left as in [`Context::left`](super::context::Context::left): gives how many thread
    /// instructions were fewer than if all lanes had executed each.
    #[inline(always)]
    pub fn turn(&mut self, left: i64) -> u64 {
        self.ran(self.all.mask);
        let (hidden, before) = (left as u32, self.all.since as u32);
        let executed = ((self.all.since >> 32) as u32).wrapping_sub((left >> 32) as u32);
        if !on(Mutant::NativeLease) {
            self.all.since = left;
        }
        let counted = executed.wrapping_sub(hidden.wrapping_sub(before));
        u64::from(counted) * u64::from((!self.all.mask).count_ones())
    }

    /// Native code is entered with so much fuel.
    pub fn enter(&mut self, fuel: u32) {
        self.all.since = i64::from(fuel) << 32;
    }

    /// Thread instructions that were fewer than if all lanes had executed each.
    pub fn fewer(&self, back: Back) -> u64 {
        let (left, hidden) = ((self.all.since >> 32) as u32, self.all.since as u32);
        let counted = left.wrapping_sub(back.left).wrapping_sub(back.hidden.wrapping_sub(hidden));
        back.fewer + u64::from(counted) * u64::from((!self.all.mask).count_ones())
    }
}
