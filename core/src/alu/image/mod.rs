//! Textures and surfaces: what their texels are, which of them a coordinate means, and what becomes of these (PTX ISA 5.3, 9.7.10 and
//! 9.7.11; CUDA C++ Programming Guide, "Texture and Surface Memory" and the appendix "Texture Fetching").
//!
//! Nothing here reads memory: [`footprint`] names the texels of a fetch, somebody loads their bytes, and [`filtered`] or [`gathered`]
//! makes the result of these. So a fetch is ordinary accesses for whoever runs it (D-texture-loads).

mod axis;
mod blend;
mod cube;
mod filter;
mod footprint;
mod format;
mod level;
mod surface;

pub use axis::{Coordinate, Pair};
pub use filter::{Values, as_half, between, filtered, gathered};
pub use footprint::{Fetch, Footprint, MOST, Tap, footprint};
pub use format::{Channel, Format, Meaning, encoded};
pub use level::{Blend, blend};
pub use surface::{Clamp, Hit, hit};

use crate::base::words;

words! {
    /// The shape of a texture or surface, by the words of `tex`, `suld` and the like.
    pub enum Geometry {
        /// A row of texels.
        D1 = "1d",
        /// Rows of texels.
        D2 = "2d",
        /// Slices of rows of texels.
        D3 = "3d",
        /// Layers of a row each.
        A1 = "a1d",
        /// Layers of rows.
        A2 = "a2d",
        /// Six square layers, the faces of a cube.
        Cube = "cube",
        /// Cubes, of six layers each.
        ACube = "acube",
    }
}

impl Geometry {
    /// How many axes a layer has: those along which filters blend.
    #[must_use]
    pub const fn axes(self) -> usize {
        match self {
            Self::D1 | Self::A1 => 1,
            Self::D2 | Self::A2 | Self::Cube | Self::ACube => 2,
            Self::D3 => 3,
        }
    }

    /// Whether it has layers that are chosen by a number.
    #[must_use]
    pub const fn is_layered(self) -> bool {
        matches!(self, Self::A1 | Self::A2 | Self::ACube)
    }

    /// Whether coordinates are a direction from the centre of a cube.
    #[must_use]
    pub const fn is_cube(self) -> bool {
        matches!(self, Self::Cube | Self::ACube)
    }

    /// Layers that a number of layers stands for: six for each cube.
    #[must_use]
    pub const fn faces(self) -> u32 {
        if self.is_cube() { 6 } else { 1 }
    }

    /// How many coordinates a fetch has, the number of the layer not among them.
    #[must_use]
    pub const fn coordinates(self) -> usize {
        if self.is_cube() { 3 } else { self.axes() }
    }
}

words! {
    /// What is taken for a texel outside of a texture (CUDA guide, "Texture Memory": addressing mode; PTX ISA 5.3), in PTX's order.
    pub enum Address {
        /// The texture repeats. Only with normalised coordinates.
        Wrap = "wrap",
        /// It repeats, every other time mirrored. Only with normalised coordinates.
        Mirror = "mirror",
        /// Coordinates stay inside, and a filter at the edge blends with the border colour: OpenGL's `GL_CLAMP`.
        ClampOgl = "clamp_ogl",
        /// The nearest texel.
        Clamp = "clamp" | "clamp_to_edge",
        /// The border colour.
        Border = "border" | "clamp_to_border",
    }
}

words! {
    /// How a value is made of the texels around a coordinate.
    pub enum Filter {
        /// The texel that the coordinate lies in.
        Point = "point" | "nearest",
        /// The two, four or eight nearest texels, blended.
        Linear = "linear",
    }
}

words! {
    /// What a texel's integers become (CUDA guide: read mode).
    pub enum Read {
        /// They stay as they are.
        Element = "element",
        /// Those of 8 and 16 bits become numbers from 0 or -1 to 1.
        Normalised = "normalised" | "normalized",
    }
}

/// Texels in device memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Image {
    /// Its shape.
    pub geometry: Geometry,
    /// Texels in x, y and z; 1 where the geometry has no such axis.
    pub size: [u32; 3],
    /// Layers: 6 of a cube, 1 where the geometry has none.
    pub layers: u32,
    /// What a texel is.
    pub format: Format,
    /// The address of the first texel.
    pub address: u64,
    /// Bytes from a row to the next one (D-texture-layout).
    pub pitch: u64,
    /// Levels of detail: each has half as many texels along each axis as the one before it, and lies behind it. Of several, rows
    /// lie close together.
    pub levels: u32,
    /// Whether it is linear memory, which is fetched by whole numbers only (`tex1Dfetch`; D-texture-linear).
    pub linear: bool,
}

impl Image {
    /// The address of a texel: its place in x, y and z, where z is the layer of what has no third axis.
    #[must_use]
    pub fn texel(&self, [x, y, z]: [u32; 3]) -> u64 {
        let row = u64::from(z) * u64::from(self.size[1]) + u64::from(y);
        let within = row.wrapping_mul(self.pitch).wrapping_add(u64::from(x) * u64::from(self.format.bytes()));
        self.address.wrapping_add(within)
    }

    /// A level of detail; the last one for those that are not there.
    #[must_use]
    pub fn level(&self, number: u32) -> Self {
        let mut level = Self { levels: 1, ..*self };
        for _ in 0..number.min(self.levels.saturating_sub(1)) {
            level.address = level.address.wrapping_add(level.bytes());
            level.size = level.size.map(|n| (n / 2).max(1));
            level.pitch = u64::from(level.size[0]) * u64::from(level.format.bytes());
        }
        level
    }

    /// Bytes from its first texel to the end of its last one, of all levels.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        if self.levels > 1 {
            return (0..self.levels).map(|number| self.level(number).bytes()).fold(0, u64::saturating_add);
        }
        let slices = u64::from(self.size[2]) * u64::from(self.layers);
        let rows = u64::from(self.size[1]).saturating_mul(slices);
        let row = u64::from(self.size[0]) * u64::from(self.format.bytes());
        rows.saturating_sub(1).saturating_mul(self.pitch).saturating_add(row)
    }
}

/// How a texture is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sampler {
    /// What is taken for texels outside, by axis.
    pub address: [Address; 3],
    /// Which texels make a value.
    pub filter: Filter,
    /// Which levels of detail make a value.
    pub levels: Filter,
    /// Whether coordinates go from 0 to 1, not to the number of texels.
    pub normalised: bool,
    /// The border colour: floats by their bits.
    pub border: [u32; 4],
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            address: [Address::Clamp; 3],
            filter: Filter::Point,
            levels: Filter::Point,
            normalised: false,
            border: [0; 4],
        }
    }
}

/// A texture: texels, and how they are read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Texture {
    /// Its texels.
    pub image: Image,
    /// How they are read where an instruction names no other sampler.
    pub sampler: Sampler,
    /// What integers become.
    pub read: Read,
}

impl Texture {
    /// What a fetch gives: floating-point numbers, or integers with or without a sign.
    #[must_use]
    pub const fn gives(&self) -> Meaning {
        if self.normalises() { Meaning::Float } else { self.image.format.channel.meaning() }
    }

    /// Whether integers become fractions. Those of 32 bits do not (CUDA guide: read mode).
    #[must_use]
    pub const fn normalises(&self) -> bool {
        matches!(self.read, Read::Normalised) && self.image.format.channel.bytes() < 4
    }
}
