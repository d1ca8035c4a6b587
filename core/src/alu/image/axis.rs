//! One axis of a fetch: which texels a coordinate means, and how much of the second one is blended in.

use super::{Address, Filter};

/// A coordinate along an axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Coordinate {
    /// Counted in texels, from the edge of the first one.
    Texels(f64),
    /// A whole number: a texel by its number.
    Number(i32),
}

/// The two texels that a coordinate lies between, or the one that it lies in, twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// Their numbers; none of one outside, which has the border colour.
    pub texels: [Option<u32>; 2],
    /// How much of the second one is taken, in 256ths, 256 at most: what is left of 256 is taken of the first one.
    pub second: u32,
}

/// The largest magnitude of a number of a texel that is told from larger ones: no texture has so many texels, and all smaller
/// numbers are exact.
const FAR: f64 = 1e15;

impl Pair {
    /// The texels of a coordinate in an axis of `count` texels. `gathers`: the two that a linear filter would blend, both in full.
    ///
    /// The guide's formulas: `i = floor(x)` without a filter, else `i = floor(x - 0.5)` and `frac(x - 0.5)`, which has eight bits
    /// behind the point and may be 1. It is rounded to nearest, ties up (D-texture-weights).
    #[must_use]
    pub fn of(count: u32, address: Address, filter: Filter, coordinate: Coordinate) -> Self {
        let place = match coordinate {
            Coordinate::Number(number) => return Self::alone(index(count, unblended(address), f64::from(number))),
            Coordinate::Texels(place) => moved(count, address, place),
        };
        if filter == Filter::Point {
            return Self::alone(index(count, mirrored(unblended(address)), place.floor()));
        }
        let first = (place - 0.5).floor();
        let fraction = place - 0.5 - first;
        let texels = [first, first + 1.0].map(|number| index(count, mirrored(address), number));
        // Not negative and 256 at most, since `place` is a number that is not far away.
        Self { texels, second: (fraction * 256.0 + 0.5).floor() as u32 }
    }

    /// One texel, and nothing of another one.
    const fn alone(texel: Option<u32>) -> Self {
        Self { texels: [texel, texel], second: 0 }
    }
}

/// The mode for the numbers of texels once coordinates have been mirrored: those that a filter needs beyond the edge are mirrored
/// at it, which is the nearest texel.
const fn mirrored(address: Address) -> Address {
    if matches!(address, Address::Mirror) { Address::Clamp } else { address }
}

/// The mode where nothing is blended: the border is no part of what OpenGL clamps.
const fn unblended(address: Address) -> Address {
    if matches!(address, Address::ClampOgl) { Address::Clamp } else { address }
}

/// A coordinate in the range that its mode leaves. No number counts as 0, and so do infinities where a texture repeats
/// (D-texture-nan).
fn moved(count: u32, address: Address, place: f64) -> f64 {
    let n = f64::from(count);
    let repeats = matches!(address, Address::Wrap | Address::Mirror);
    if place.is_nan() || repeats && place.is_infinite() {
        return 0.0;
    }
    match address {
        // Numbers of texels are taken modulo the size: the same, and exact next to 0.
        Address::Wrap => place % n,
        // `frac(x)` where `floor(x)` is even, `1 - frac(x)` where it is odd.
        Address::Mirror => {
            let twice = place % (2.0 * n);
            if twice < -n {
                twice + 2.0 * n
            } else if twice < 0.0 {
                -twice
            } else if twice < n {
                twice
            } else {
                2.0 * n - twice
            }
        }
        Address::ClampOgl => place.clamp(0.0, n),
        Address::Clamp | Address::Border => place.clamp(-FAR, FAR),
    }
}

/// The number of the texel that is taken for a number that may lie outside.
fn index(count: u32, address: Address, number: f64) -> Option<u32> {
    let last = count.saturating_sub(1);
    let inside = number >= 0.0 && number <= f64::from(last);
    match address {
        _ if inside => Some(number as u32),
        Address::Wrap => Some(number.rem_euclid(f64::from(count)) as u32 % count.max(1)),
        Address::Mirror => {
            let twice = number.rem_euclid(2.0 * f64::from(count));
            Some(if twice <= f64::from(last) { twice } else { 2.0 * f64::from(count) - 1.0 - twice } as u32)
        }
        Address::Clamp => Some(if number < 0.0 { 0 } else { last }),
        Address::ClampOgl | Address::Border => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(address: Address, place: f64) -> Option<u32> {
        Pair::of(4, address, Filter::Point, Coordinate::Texels(place)).texels[0]
    }

    fn linear(address: Address, place: f64) -> ([Option<u32>; 2], u32) {
        let Pair { texels, second } = Pair::of(4, address, Filter::Linear, Coordinate::Texels(place));
        (texels, second)
    }

    #[test]
    fn without_a_filter_a_coordinate_is_the_texel_that_it_lies_in() {
        for address in Address::ALL {
            assert_eq!([0.0, 0.5, 1.0, 3.9].map(|x| point(*address, x)), [0, 0, 1, 3].map(Some), "{address:?}");
        }
        assert_eq!([-0.5, 4.0, -1.0, 9.0].map(|x| point(Address::Wrap, x)), [3, 0, 3, 1].map(Some));
        assert_eq!([-0.5, 4.5, 7.9, 8.0, -4.5].map(|x| point(Address::Mirror, x)), [0, 3, 0, 0, 3].map(Some));
        assert_eq!([-0.5, 4.0, 1e30, f64::NEG_INFINITY].map(|x| point(Address::Clamp, x)), [0, 3, 3, 0].map(Some));
        assert_eq!([-0.5, 4.0, f64::INFINITY].map(|x| point(Address::Border, x)), [None; 3]);
        assert_eq!([Address::Wrap, Address::Clamp].map(|a| point(a, f64::NAN)), [Some(0); 2]);
    }

    #[test]
    fn a_linear_filter_blends_from_centre_to_centre() {
        assert_eq!(linear(Address::Clamp, 1.5), ([Some(1), Some(2)], 0));
        assert_eq!(linear(Address::Clamp, 2.0), ([Some(1), Some(2)], 128));
        assert_eq!(linear(Address::Clamp, 0.0), ([Some(0), Some(0)], 128));
        assert_eq!(linear(Address::Border, 0.0), ([None, Some(0)], 128));
        assert_eq!(linear(Address::ClampOgl, -7.0), ([None, Some(0)], 128));
        assert_eq!(linear(Address::Wrap, 4.0), ([Some(3), Some(0)], 128));
        assert_eq!(linear(Address::Mirror, -0.25), ([Some(0), Some(0)], 192));
        // The nearest of eight bits may be 1.
        assert_eq!(linear(Address::Clamp, 1.499), ([Some(0), Some(1)], 256));
    }

    #[test]
    fn whole_numbers_are_texels() {
        let at = |address, number| Pair::of(4, address, Filter::Linear, Coordinate::Number(number)).texels[0];
        assert_eq!([-1, 3, 4].map(|n| at(Address::Border, n)), [None, Some(3), None]);
        assert_eq!([-1, 3, i32::MAX].map(|n| at(Address::Clamp, n)), [Some(0), Some(3), Some(3)]);
        assert_eq!([-1, 5].map(|n| at(Address::Wrap, n)), [Some(3), Some(1)]);
        assert_eq!([-1, 5].map(|n| at(Address::Mirror, n)), [Some(0), Some(2)]);
    }
}
