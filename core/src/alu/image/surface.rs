//! Where an access of a surface goes (PTX ISA 9.7.11).

use super::Image;
use crate::base::words;

words! {
    /// What becomes of an access outside of a surface.
    pub enum Clamp {
        /// It is a defect.
        Trap = "trap",
        /// It goes to the nearest place inside.
        Clamp = "clamp",
        /// A load gives 0, a store does nothing.
        Zero = "zero",
    }
}

/// Where an access goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hit {
    /// To an address.
    At(u64),
    /// Nowhere.
    Nowhere,
    /// Outside: the axis, 3 for the layer, the coordinate, and the first one that is too large.
    Outside(usize, i64, u64),
    /// To a byte in x that is no multiple of the access's size.
    Misaligned(i64),
}

/// Where an access of `bytes` goes. `at` is x, y, z and the layer; x counts bytes, or texels where `texels` says so.
///
/// What is not aligned is told first: it is wrong wherever the access goes.
#[must_use]
pub fn hit(image: &Image, clamp: Clamp, at: [i64; 4], bytes: u32, texels: bool) -> Hit {
    let texel = i64::from(image.format.bytes());
    let (size, [width, height, depth]) = (i64::from(bytes), image.size.map(i64::from));
    let [mut x, y, z, layer] = at;
    let step = if texels { 1 } else { size };
    if !texels && x.rem_euclid(size.max(1)) != 0 {
        return Hit::Misaligned(x);
    }
    let row = if texels { width } else { width * texel };
    // The first place in a row that an access must not begin at.
    let ends = [row - step + 1, height, depth, i64::from(image.layers)];
    let mut inside = [0; 4];
    for (axis, (to, (value, end))) in inside.iter_mut().zip([x, y, z, layer].into_iter().zip(ends)).enumerate() {
        *to = value;
        if value >= 0 && value < end {
            continue;
        }
        match clamp {
            Clamp::Trap => {
                let end = if axis == 0 { row } else { end };
                return Hit::Outside(axis, value, u64::try_from(end).unwrap_or(0));
            }
            Clamp::Zero => return Hit::Nowhere,
            Clamp::Clamp if end < 1 => return Hit::Nowhere,
            Clamp::Clamp => *to = value.clamp(0, end - 1),
        }
    }
    x = if texels { inside[0] * texel } else { inside[0] - inside[0] % step.max(1) };
    let [_, y, z, layer] = inside.map(|n| u32::try_from(n).unwrap_or(0));
    let row = image.texel([0, y, if image.size[2] > 1 { z } else { layer }]);
    Hit::At(row.wrapping_add_signed(x))
}

#[cfg(test)]
mod tests {
    use super::super::{Channel, Format, Geometry};
    use super::*;

    fn image(geometry: Geometry, size: [u32; 3], layers: u32) -> Image {
        let format = Format { channel: Channel::U8, channels: 4 };
        Image { geometry, size, layers, format, address: 0x1000, pitch: 32, levels: 1, linear: false }
    }

    #[test]
    fn bytes_and_texels_in_x() {
        let flat = image(Geometry::D2, [8, 4, 1], 1);
        assert_eq!(hit(&flat, Clamp::Trap, [12, 1, 0, 0], 4, false), Hit::At(0x102c));
        assert_eq!(hit(&flat, Clamp::Trap, [3, 1, 0, 0], 4, true), Hit::At(0x102c));
        assert_eq!(hit(&flat, Clamp::Trap, [2, 1, 0, 0], 4, false), Hit::Misaligned(2));
        assert_eq!(hit(&flat, Clamp::Trap, [31, 3, 0, 0], 1, false), Hit::At(0x107f));
    }

    #[test]
    fn what_is_outside_does_as_its_mode_says() {
        let flat = image(Geometry::D2, [8, 4, 1], 1);
        let at = |clamp, x, y| hit(&flat, clamp, [x, y, 0, 0], 16, false);
        assert_eq!(at(Clamp::Trap, 32, 0), Hit::Outside(0, 32, 32));
        assert_eq!(at(Clamp::Trap, 0, -1), Hit::Outside(1, -1, 4));
        assert_eq!(at(Clamp::Zero, 32, 0), Hit::Nowhere);
        assert_eq!(at(Clamp::Clamp, 64, 9), Hit::At(0x1070));
        assert_eq!(at(Clamp::Clamp, -16, -9), Hit::At(0x1000));
    }

    #[test]
    fn layers_and_slices_lie_one_after_the_other() {
        let deep = image(Geometry::D3, [8, 4, 2], 1);
        assert_eq!(hit(&deep, Clamp::Trap, [0, 1, 1, 0], 1, false), Hit::At(0x10a0));
        let layers = image(Geometry::A2, [8, 4, 1], 2);
        assert_eq!(hit(&layers, Clamp::Trap, [0, 1, 0, 1], 1, false), Hit::At(0x10a0));
        assert_eq!(hit(&layers, Clamp::Trap, [0, 1, 0, 2], 1, false), Hit::Outside(3, 2, 2));
    }
}
