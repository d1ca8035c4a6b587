//! Textures, samplers and surfaces of a launch (CUDA guide, "Texture and Surface Memory"): what is said of them, and how they are made.
//!
//! Texels are bytes of a buffer: one that is there anyway, or one of their own, which has the texture's name and is compared under it.

mod make;
mod read;

pub(super) use make::{Made, made};
pub use read::MOST_LAYERS;
pub(super) use read::Read as ReadImages;

use super::problem::At;
use super::{Data, Scalar};
use crate::alu::image::{Address, Filter, Format, Geometry, Read};
use crate::verdict::ImageKind;

/// A texture or a surface.
#[derive(Clone, PartialEq, Debug)]
pub struct ImageSpec {
    /// Its shape.
    pub geometry: Geometry,
    /// Whether it is linear memory (`tex1Dfetch`).
    pub linear: bool,
    /// Texels in x, y and z; 1 where there is no such axis.
    pub size: [u32; 3],
    /// Layers, or cubes; 1 where the shape has none.
    pub layers: u32,
    /// Levels of detail, which lie one after the other.
    pub levels: u32,
    /// What a texel is.
    pub format: Format,
    /// Its bytes.
    pub texels: Texels,
    /// Bytes from a row to the next one; the bytes of a row when absent.
    pub pitch: Option<u64>,
    /// How it is read; of a texture only.
    pub sampler: SamplerSpec,
    /// What its integers become; of a texture only.
    pub read: Read,
    /// The `.texref` or `.surfref` that it is bound to.
    pub variable: Option<String>,
    /// Where it is described.
    pub at: At,
}

impl ImageSpec {
    /// The element type of its buffer: a channel.
    #[must_use]
    pub fn element(&self) -> Option<Scalar> {
        Scalar::named(self.format.channel.name())
    }
}

/// The bytes of texels.
#[derive(Clone, PartialEq, Debug)]
pub enum Texels {
    /// Those of a buffer, from an offset in bytes on.
    Buffer {
        /// The buffer.
        name: String,
        /// The offset in bytes.
        offset: u64,
    },
    /// A buffer of their own, which holds this at first.
    Own(Data),
}

/// How textures are read, as far as it is said; the rest is what the variable says that they are bound to, or a default.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SamplerSpec {
    /// What is taken for texels outside, by axis.
    pub address: Option<[Address; 3]>,
    /// Which texels make a value.
    pub filter: Option<Filter>,
    /// Which levels of detail make a value.
    pub levels: Option<Filter>,
    /// Whether coordinates go from 0 to 1.
    pub normalised: Option<bool>,
    /// The border colour.
    pub border: Option<[f32; 4]>,
}

/// A sampler by itself (`texmode_independent`).
#[derive(Clone, PartialEq, Debug)]
pub struct NamedSampler {
    /// How textures are read.
    pub sampler: SamplerSpec,
    /// The `.samplerref` that it is bound to.
    pub variable: Option<String>,
    /// Where it is described.
    pub at: At,
}

/// All of a launch file, by name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Images {
    /// Textures.
    pub textures: indexmap::IndexMap<String, ImageSpec>,
    /// Surfaces.
    pub surfaces: indexmap::IndexMap<String, ImageSpec>,
    /// Samplers.
    pub samplers: indexmap::IndexMap<String, NamedSampler>,
}

impl Images {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.textures.is_empty() && self.surfaces.is_empty() && self.samplers.is_empty()
    }

    /// Textures and surfaces, in order.
    pub fn images(&self) -> impl Iterator<Item = (ImageKind, &String, &ImageSpec)> {
        let textures = self.textures.iter().map(|(name, image)| (ImageKind::Texture, name, image));
        textures.chain(self.surfaces.iter().map(|(name, image)| (ImageKind::Surface, name, image)))
    }

    /// The names of those of a kind.
    #[must_use]
    pub fn names(&self, kind: ImageKind) -> Vec<String> {
        match kind {
            ImageKind::Texture => self.textures.keys().cloned().collect(),
            ImageKind::Surface => self.surfaces.keys().cloned().collect(),
            ImageKind::Sampler => self.samplers.keys().cloned().collect(),
        }
    }
}
