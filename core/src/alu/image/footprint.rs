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
    /// How much of it is taken, in parts of [`Footprint::whole`].
    pub weight: u32,
}

/// The texels of a fetch. The first axis goes fastest: the texel beside in x comes next, the one beside in y two places later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Footprint {
    taps: [Tap; MOST],
    count: usize,
    /// What all weights add up to.
    pub whole: u32,
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
        // A filter stays on the face that the direction meets (D-texture-cube).
        _ if image.geometry.is_cube() => Address::Clamp,
        Address::Wrap | Address::Mirror if !sampler.normalised => Address::Clamp,
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
        let (met, at) = met(fetch.coordinates.map(f32::from_bits), width);
        face = met;
        places[0] = Coordinate::Texels(at[0]);
        places[1] = Coordinate::Texels(at[1]);
    } else {
        for (axis, place) in places.iter_mut().enumerate().take(image.geometry.axes()) {
            let (bits, offset) = (fetch.coordinates[axis], fetch.offset[axis]);
            *place = if fetch.floats {
                let scale = if sampler.normalised { f64::from(image.size[axis]) } else { 1.0 };
                Coordinate::Texels(f64::from(f32::from_bits(bits)) * scale + f64::from(offset))
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
    let mut taps = [Tap::default(); MOST];
    for (corner, tap) in taps.iter_mut().enumerate().take(1 << blended) {
        let mut texel = Some([0; 3]);
        tap.weight = 1;
        for (axis, Pair { texels, second }) in pairs.iter().enumerate() {
            let far = axis < blended && corner >> axis & 1 == 1;
            texel = texel.zip(texels[usize::from(far)]).map(|(mut texel, number)| {
                texel[axis] = number;
                texel
            });
            if axis < blended {
                tap.weight *= if fetch.gathers { 1 } else { [256 - second, *second][usize::from(far)] };
            }
        }
        tap.texel = texel.map(|[x, y, z]| [x, y, if image.geometry == Geometry::D3 { z } else { layer }]);
    }
    let whole = if fetch.gathers { 1 } else { 1 << (8 * blended) };
    Footprint { taps, count: 1 << blended, whole }
}

/// The only texel of an axis that is not there.
const FIRST: Pair = Pair { texels: [Some(0), Some(0)], second: 0 };
