//! Who makes steps, by small numbers.

use super::left::Unit;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Units whose numbers are at hand: a power of two.
const AT_HAND: usize = 32;

/// The units that steps were noted with. What follows from the list is not kept in files.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Named {
    units: Vec<Unit>,
    #[serde(skip)]
    known: FxHashMap<Unit, u32>,
    /// Those asked for last, by their warps and lanes or places.
    #[serde(skip)]
    at_hand: [Option<(Unit, u32)>; AT_HAND],
}

impl Named {
    /// The number of a unit.
    #[inline]
    pub fn number(&mut self, unit: Unit) -> u32 {
        let (warp, which) = match unit {
            Unit::Lanes(_, warp, lanes) => (warp, lanes),
            Unit::Operation(name) => (name.warp, name.place),
            Unit::Silent => (0, 0),
        };
        // Fibonacci hashing: the upper bits of a product with the golden ratio.
        let place = ((warp << 16 ^ which).wrapping_mul(0x9e37_79b9) >> (32 - AT_HAND.ilog2())) as usize;
        if let Some((of, number)) = &self.at_hand[place]
            && *of == unit
        {
            return *number;
        }
        let number = self.look_up(unit);
        self.at_hand[place] = Some((unit, number));
        number
    }

    /// The number of a unit that is not at hand.
    #[cold]
    fn look_up(&mut self, unit: Unit) -> u32 {
        let fresh = u32::try_from(self.units.len()).unwrap_or(u32::MAX);
        *self.known.entry(unit).or_insert_with(|| {
            self.units.push(unit);
            fresh
        })
    }

    /// The unit with a number that [`Named::number`] gave.
    pub fn unit(&self, number: u32) -> Unit {
        self.units[number as usize]
    }

    /// How many there are.
    pub const fn count(&self) -> usize {
        self.units.len()
    }

    /// A list that was read from a file knows its numbers again; tells whether each unit is in it once.
    pub fn restore(&mut self) -> bool {
        self.known = self.units.iter().copied().zip(0..).collect();
        self.known.len() == self.units.len()
    }
}
