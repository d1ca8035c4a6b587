//! One axis of a fetch: which texels a coordinate means, and how much of the second one is blended in.

use super::{Address, Filter};

/// Bits behind the point of a place: coordinates from 0 to 1 are cut off there, as an H200 does it (D-texture-place).
const POINT: u32 = 21;

/// A coordinate along an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coordinate {
    /// A place, counted from the edge of the first texel, in 2^-21 of a texel.
    Place(i64),
    /// A whole number: a texel by its number.
    Number(i32),
}

impl Coordinate {
    /// The place of a floating-point coordinate, with an offset in texels, along an axis of `count` texels.
    ///
    /// Coordinates from 0 to 1 are cut off before they are multiplied with the number of texels, which is exact. What repeats is
    /// taken modulo 2: no mode tells it from the rest. No number counts as 0, and so do infinities of what repeats (D-texture-nan).
    #[must_use]
    pub fn placed(count: u32, address: Address, normalised: bool, coordinate: f32, offset: i32) -> Self {
        let coordinate = f64::from(coordinate);
        let near = if normalised && matches!(address, Address::Wrap | Address::Mirror) {
            coordinate % 2.0
        } else {
            // What lies further out is the same as what lies there, and no offset brings it back.
            let most = if normalised { 16.0 } else { 2f64.powi(34) };
            coordinate.clamp(-most, most)
        };
        let texels = if normalised { i64::from(count) } else { 1 };
        Self::Place(parts(near) * texels + (i64::from(offset) << POINT))
    }

    /// The place of a coordinate that goes from -1 to 1 along an axis of `count` texels: as one from 0 to 1 is cut off. No number is the middle.
    #[must_use]
    pub fn on_face(count: u32, coordinate: f32) -> Self {
        let middle = 1 << (POINT - 1);
        Self::Place((parts(f64::from(coordinate) / 2.0) + middle) * i64::from(count))
    }
}

/// A number cut off behind the bits of a place. Conversions of Rust make 0 of what is no number.
fn parts(number: f64) -> i64 {
    (number * f64::from(1u32 << POINT)).floor() as i64
}

/// The two texels that a coordinate lies between, or the one that it lies in, twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// Their numbers; none of one outside, which has the border colour.
    pub texels: [Option<u32>; 2],
    /// How much of the second one is taken, in 256ths: what is left of 256 is taken of the first one.
    pub second: u32,
}

impl Pair {
    /// The texels of a coordinate in an axis of `count` texels. `gathers`: the two that a linear filter would blend, both in full.
    ///
    /// The guide's formulas: `i = floor(x)` without a filter, else `i = floor(x - 0.5)` and `frac(x - 0.5)`, which has eight bits
    /// behind the point. It is rounded to nearest, ties up, before `i` is taken off: what would be 1 is nothing of the next texel
    /// (D-texture-weights).
    #[must_use]
    pub fn of(count: u32, address: Address, filter: Filter, coordinate: Coordinate) -> Self {
        let place = match coordinate {
            Coordinate::Number(number) => return Self::alone(index(count, unblended(address), number.into())),
            Coordinate::Place(place) if address == Address::ClampOgl => place.clamp(0, i64::from(count) << POINT),
            Coordinate::Place(place) => place,
        };
        if filter == Filter::Point {
            return Self::alone(index(count, unblended(address), place >> POINT));
        }
        // floor((x - 1/2) * 256 + 1/2), for which the 512ths of x are enough.
        let blend = ((place >> (POINT - 9)) - 255) >> 1;
        let texels = [blend >> 8, (blend >> 8) + 1].map(|number| index(count, address, number));
        // A texel that was clamped to is taken whole, which the roundings of several axes show.
        let whole = address == Address::Clamp && texels[0] == texels[1];
        Self { texels, second: if whole { 0 } else { (blend & 0xff) as u32 } }
    }

    /// One texel, and nothing of another one.
    const fn alone(texel: Option<u32>) -> Self {
        Self { texels: [texel, texel], second: 0 }
    }
}

/// The mode where nothing is blended: the border is no part of what OpenGL clamps.
const fn unblended(address: Address) -> Address {
    if matches!(address, Address::ClampOgl) { Address::Clamp } else { address }
}

/// The number of the texel that is taken for a number that may lie outside.
fn index(count: u32, address: Address, number: i64) -> Option<u32> {
    let n = i64::from(count.max(1));
    let number = match address {
        Address::Wrap => number.rem_euclid(n),
        Address::Mirror => {
            let twice = number.rem_euclid(2 * n);
            twice.min(2 * n - 1 - twice)
        }
        Address::Clamp => number.clamp(0, n - 1),
        Address::ClampOgl | Address::Border => number,
    };
    u32::try_from(number).ok().filter(|number| i64::from(*number) < n)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A coordinate in texels, of four, that goes from 0 to 1.
    fn pair(address: Address, filter: Filter, place: f32) -> Pair {
        Pair::of(4, address, filter, Coordinate::placed(4, address, true, place / 4.0, 0))
    }

    fn point(address: Address, place: f32) -> Option<u32> {
        pair(address, Filter::Point, place).texels[0]
    }

    fn linear(address: Address, place: f32) -> ([Option<u32>; 2], u32) {
        let Pair { texels, second } = pair(address, Filter::Linear, place);
        (texels, second)
    }

    #[test]
    fn without_a_filter_a_coordinate_is_the_texel_that_it_lies_in() {
        for address in Address::ALL {
            assert_eq!([0.0, 0.5, 1.0, 3.9].map(|x| point(*address, x)), [0, 0, 1, 3].map(Some), "{address:?}");
        }
        assert_eq!([-0.5, 4.0, -1.0, 9.0].map(|x| point(Address::Wrap, x)), [3, 0, 3, 1].map(Some));
        assert_eq!([-0.5, 4.5, 7.9, 8.0, -4.5].map(|x| point(Address::Mirror, x)), [0, 3, 0, 0, 3].map(Some));
        assert_eq!([-0.5, 4.0, 1e30, f32::NEG_INFINITY].map(|x| point(Address::Clamp, x)), [0, 3, 3, 0].map(Some));
        assert_eq!([-0.5, 4.0, f32::INFINITY].map(|x| point(Address::Border, x)), [None; 3]);
        for address in Address::ALL {
            assert_eq!(point(*address, f32::NAN), Some(0), "{address:?}");
        }
        assert_eq!([f32::INFINITY, f32::NEG_INFINITY].map(|x| point(Address::Wrap, x)), [Some(0); 2]);
        assert_eq!([Address::Wrap, Address::Mirror].map(|a| point(a, 3e38)), [Some(0); 2]);
    }

    #[test]
    fn a_linear_filter_blends_from_centre_to_centre() {
        assert_eq!(linear(Address::Clamp, 1.5), ([Some(1), Some(2)], 0));
        assert_eq!(linear(Address::Clamp, 2.0), ([Some(1), Some(2)], 128));
        assert_eq!(linear(Address::Clamp, 0.25), ([Some(0), Some(0)], 0));
        assert_eq!(linear(Address::Border, 0.0), ([None, Some(0)], 128));
        assert_eq!(linear(Address::ClampOgl, -7.0), ([None, Some(0)], 128));
        assert_eq!(linear(Address::Wrap, 4.0), ([Some(3), Some(0)], 128));
        assert_eq!(linear(Address::Mirror, -0.25), ([Some(0), Some(0)], 64));
        assert_eq!(linear(Address::Mirror, 5.75), ([Some(2), Some(1)], 64));
        // The nearest of eight bits is 1.
        assert_eq!(linear(Address::Clamp, 1.499), ([Some(1), Some(2)], 0));
    }

    #[test]
    fn coordinates_from_0_to_1_are_cut_off() {
        let at = |count, address, x| {
            Pair::of(count, address, Filter::Point, Coordinate::placed(count, address, true, x, 0)).texels[0]
        };
        // As an H200 gave it: 0.4 is a little more than 2/5, but not in 21 bits; its mirror image is cut off before it is mirrored.
        assert_eq!(at(5, Address::Clamp, 0.4), Some(1));
        assert_eq!(at(5, Address::Mirror, -0.4), Some(2));
        assert_eq!(at(8, Address::Mirror, 1.25), Some(5));
        // Coordinates in texels are not.
        let texels = Coordinate::placed(5, Address::Clamp, false, 1.999_999_9, 1);
        assert_eq!(Pair::of(5, Address::Clamp, Filter::Point, texels).texels, [Some(2); 2]);
    }

    #[test]
    fn places_on_faces_go_from_minus_1_to_1() {
        let at = |address, x| Pair::of(4, address, Filter::Point, Coordinate::on_face(4, x)).texels[0];
        let places = [-1.0, -0.5, 0.0, 0.999_999_9, 1.0, f32::NAN];
        assert_eq!(places.map(|x| at(Address::Clamp, x)), [0, 1, 2, 3, 3, 2].map(Some));
        assert_eq!([Address::Wrap, Address::Mirror, Address::Border].map(|a| at(a, 1.0)), [Some(0), Some(3), None]);
        // 2^-21 before the middle is before it, since places are cut off downwards.
        assert_eq!(at(Address::Clamp, -1e-9), Some(1));
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
