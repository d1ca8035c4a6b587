//! Which texels a fetch needs, and how much of each.

use super::axis::{Coordinate, Pair};
use super::cube::met;
use super::{Address, Filter, Geometry, Image, Sampler};

/// The most texels that a fetch needs: the corners of a cube.
pub const MOST: usize = 8;

/// Where an instruction fetches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fetch {
    /// The bits of its coordinates.
    pub coordinates: [u32; 3],
    /// Whether these are floating-point numbers, not integers.
    pub floats: bool,
    /// The number of the layer, or of the cube.
    pub layer: u32,
    /// Texels that are added to the coordinates.
    pub offset: [i32; 3],
    /// Whether all texels are wanted that a linear filter would blend (`tld4`).
    pub gathers: bool,
}

/// A texel of a fetch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tap {
    /// Where it lies: x, y, and z or the layer; none of one outside, which has the border colour.
    pub texel: Option<[u32; 3]>,
    /// How much of it is taken: in 256ths where texels are blended.
    pub weight: u32,
    /// Whether it is read. What weighs nothing along an axis is not; a corner whose weight is rounded to nothing is.
    pub reads: bool,
}

/// The texels of a fetch. The first axis goes fastest: the texel beside in x comes next, the one beside in y two places later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Footprint {
    taps: [Tap; MOST],
    count: usize,
    /// Whether a linear filter makes one value of all of them, even if all but one weigh nothing.
    pub blends: bool,
}

impl Footprint {
    /// Its texels.
    #[must_use]
    pub fn taps(&self) -> &[Tap] {
        &self.taps[..self.count.min(MOST)]
    }
}

/// The mode of an axis: repetition needs normalised coordinates (CUDA reference, `cudaTextureDesc`), and outside of linear memory
/// there is nothing (D-texture-linear).
fn mode(image: &Image, sampler: &Sampler, axis: usize) -> Address {
    match sampler.address[axis % 3] {
        _ if image.linear => Address::Border,
        // A filter stays on the face that the direction meets, at whose edges the mode holds (D-texture-cube).
        Address::Wrap | Address::Mirror if !sampler.normalised && !image.geometry.is_cube() => Address::Clamp,
        mode => mode,
    }
}

/// The texels of a fetch.
#[must_use]
pub fn footprint(image: &Image, sampler: &Sampler, fetch: &Fetch) -> Footprint {
    let [width, ..] = image.size;
    let mut face = 0;
    let mut places = [Coordinate::Number(0); 3];
    if image.geometry.is_cube() {
        let (met, at) = met(fetch.coordinates.map(f32::from_bits));
        face = met;
        places[0] = Coordinate::on_face(width, at[0]);
        places[1] = Coordinate::on_face(width, at[1]);
    } else {
        for (axis, place) in places.iter_mut().enumerate().take(image.geometry.axes()) {
            let (bits, offset) = (fetch.coordinates[axis], fetch.offset[axis]);
            *place = if fetch.floats {
                let (count, mode) = (image.size[axis], mode(image, sampler, axis));
                Coordinate::placed(count, mode, sampler.normalised, f32::from_bits(bits), offset)
            } else {
                Coordinate::Number(bits.cast_signed().saturating_add(offset))
            };
        }
    }
    let filter = if fetch.gathers || fetch.floats { sampler.filter } else { Filter::Point };
    let filter = if fetch.gathers { Filter::Linear } else { filter };
    let pair = |axis: usize| Pair::of(image.size[axis], mode(image, sampler, axis), filter, places[axis]);
    let axes = image.geometry.axes();
    let pairs: [Pair; 3] = [0, 1, 2].map(|axis| if axis < axes { pair(axis) } else { FIRST });
    // Numbers of layers are clamped (D-texture-layer).
    let cubes = image.layers / image.geometry.faces();
    let layer = fetch.layer.min(cubes.saturating_sub(1)) * image.geometry.faces() + face;
    let blended = if filter == Filter::Linear { axes } else { 0 };
    let weights = weights(pairs.map(|pair| pair.second));
    let mut taps = [Tap::default(); MOST];
    for (corner, tap) in taps.iter_mut().enumerate().take(1 << blended) {
        let mut texel = Some([0; 3]);
        for (axis, Pair { texels, .. }) in pairs.iter().enumerate() {
            let far = axis < blended && corner >> axis & 1 == 1;
            texel = texel.zip(texels[usize::from(far)]).map(|(mut texel, number)| {
                texel[axis] = number;
                texel
            });
        }
        tap.texel = texel.map(|[x, y, z]| [x, y, if image.geometry == Geometry::D3 { z } else { layer }]);
        let is_near = |axis: usize| corner >> axis & 1 == 0;
        tap.reads = fetch.gathers || (0..blended).all(|axis| is_near(axis) || pairs[axis].second > 0);
        tap.weight = if fetch.gathers || blended == 0 { 1 } else { weights[corner] };
    }
    Footprint { taps, count: 1 << blended, blends: blended > 0 && !fetch.gathers }
}

/// The weights of a cube's corners, the first axis fastest, in 256ths: how much of the second texel is taken along each axis.
///
/// Weights are whole 256ths on an H200, so that they are divided, not multiplied: those of a slice into those of its columns, and those of a column
/// into those of its texels, rounded to nearest. Ties go to the second texel, but in the first column to the first one
/// (D-texture-weights).
fn weights([x, y, z]: [u32; 3]) -> [u32; MOST] {
    let mut weights = [0; MOST];
    for (slice, weights) in [256 - z, z].into_iter().zip(weights.chunks_exact_mut(4)) {
        let second = (x * slice + 128) >> 8;
        let first = slice - second;
        let [first_far, second_far] = [(y * first + 127) >> 8, (y * second + 128) >> 8];
        weights.copy_from_slice(&[first - first_far, second - second_far, first_far, second_far]);
    }
    weights
}

/// The only texel of an axis that is not there.
const FIRST: Pair = Pair { texels: [Some(0), Some(0)], second: 0 };

#[cfg(test)]
mod tests {
    use super::weights;

    #[test]
    fn weights_of_one_and_two_axes_are_products_to_the_nearest() {
        assert_eq!(weights([77, 0, 0])[..4], [179, 77, 0, 0]);
        // 3 * 40 / 256 is 0.47, 100 * 100 / 256 is 39.06, 128 * 255 / 256 is a tie.
        assert_eq!(weights([3, 40, 0])[..4], [213, 3, 40, 0]);
        assert_eq!(weights([100, 100, 0])[..4], [95, 61, 61, 39]);
        assert_eq!(weights([128, 255, 0])[..4], [1, 0, 127, 128]);
    }

    /// What an H200 made of three axes.
    #[test]
    fn weights_of_three_axes_are_divided_slice_by_slice() {
        assert_eq!(weights([51, 0, 128]), [102, 26, 0, 0, 102, 26, 0, 0]);
        assert_eq!(weights([0, 163, 128]), [47, 0, 81, 0, 47, 0, 81, 0]);
        assert_eq!(weights([255, 227, 55]).iter().sum::<u32>(), 256);
    }
}
