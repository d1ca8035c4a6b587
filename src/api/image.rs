//! Textures and surfaces as arguments of kernels.

use super::argument::{Argument, Element, Given, Memory};
use super::described::Described;
use crate::alu::image::{Address, Channel, Filter, Format, Geometry, Read};
use crate::launch::{ImageSpec, SamplerSpec, Scalar, Texels};
use crate::verdict::ImageKind;
use bytemuck::{cast_slice, cast_slice_mut};

/// A texture: texels, and how they are read; what a kernel takes as `cudaTextureObject_t`.
///
/// Texels lie row by row, slice by slice, layer by layer, their channels beside each other. Unless said otherwise coordinates count
/// texels and stay inside, nothing is blended, and integers stay what they are, as after `cudaCreateTextureObject` with a
/// description of zeros but for the clamping mode.
#[must_use]
pub struct Texture<'a> {
    image: Given<'a>,
}

/// A surface: texels that a kernel loads and stores; what it takes as `cudaSurfaceObject_t`.
#[must_use]
pub struct Surface<'a> {
    image: Given<'a>,
}

/// Texels of a shape in device memory.
fn image<'a>(
    kind: ImageKind,
    (geometry, size, channels): (Geometry, [u32; 3], u8),
    (ty, memory): (Scalar, Memory<'a>),
) -> Given<'a> {
    let channel = Channel::named(ty.name());
    let spec = ImageSpec {
        geometry,
        linear: false,
        size,
        layers: 1,
        levels: 1,
        format: Format { channel: channel.unwrap_or(Channel::U8), channels },
        // The memory's name is not known here.
        texels: Texels::Buffer { name: String::new(), offset: 0 },
        pitch: None,
        sampler: SamplerSpec::default(),
        read: Read::Element,
        variable: None,
        at: None,
    };
    Given::Image(Box::new(Described { kind, ty, spec }), memory)
}

impl<'a> Texture<'a> {
    /// A texture of a shape, of so many texels in x, y and z (1 where the shape has no such axis), with 1, 2 or 4 channels each.
    ///
    /// What a kernel does to the texels, through a surface of the same memory, is lost: [`Surface::new`] gives them back.
    pub fn new<T: Element>(geometry: Geometry, size: [u32; 3], channels: u8, texels: &'a [T]) -> Self {
        let memory = (T::TYPE, Memory::Read(cast_slice(texels)));
        Self { image: image(ImageKind::Texture, (geometry, size, channels), memory) }
    }

    /// Linear memory, which `tex1Dfetch` reads.
    pub fn linear<T: Element>(channels: u8, texels: &'a [T]) -> Self {
        let count = u32::try_from(texels.len() / usize::from(channels.max(1))).unwrap_or(u32::MAX);
        Self::new(Geometry::D1, [count, 1, 1], channels, texels).with(|spec| spec.linear = true)
    }

    fn with(mut self, change: impl FnOnce(&mut ImageSpec)) -> Self {
        if let Given::Image(described, _) = &mut self.image {
            change(&mut described.spec);
        }
        self
    }

    /// The number of layers, or of cubes, of a shape that has layers; 1 if nothing is said.
    pub fn layers(self, layers: u32) -> Self {
        self.with(|spec| spec.layers = layers)
    }

    /// Levels of detail, which lie one after the other in the texels; 1 if nothing is said. With several, coordinates must be normalised.
    pub fn levels(self, levels: u32) -> Self {
        self.with(|spec| spec.levels = levels)
    }

    /// Whether a value is made of two levels of detail where the detail lies between them.
    pub fn level_filter(self, filter: Filter) -> Self {
        self.with(|spec| spec.sampler.levels = Some(filter))
    }

    /// What is taken for texels outside, along all axes. Repetition needs normalised coordinates.
    pub fn address(self, address: Address) -> Self {
        self.with(|spec| spec.sampler.address = Some([address; 3]))
    }

    /// The same, axis by axis.
    pub fn addresses(self, addresses: [Address; 3]) -> Self {
        self.with(|spec| spec.sampler.address = Some(addresses))
    }

    /// Which texels make a value.
    pub fn filter(self, filter: Filter) -> Self {
        self.with(|spec| spec.sampler.filter = Some(filter))
    }

    /// Whether coordinates go from 0 to 1.
    pub fn normalised(self, normalised: bool) -> Self {
        self.with(|spec| spec.sampler.normalised = Some(normalised))
    }

    /// The border colour, for [`Address::Border`]. Texels that stay integers have the lowest bits of these numbers.
    pub fn border(self, colour: [f32; 4]) -> Self {
        self.with(|spec| spec.sampler.border = Some(colour))
    }

    /// What integers become.
    pub fn read(self, read: Read) -> Self {
        self.with(|spec| spec.read = read)
    }
}

impl<'a> Surface<'a> {
    /// A surface of a shape, of so many texels in x, y and z (1 where the shape has no such axis), with 1, 2 or 4 channels each.
    pub fn new<T: Element>(geometry: Geometry, size: [u32; 3], channels: u8, texels: &'a mut [T]) -> Self {
        let memory = (T::TYPE, Memory::Write(cast_slice_mut(texels), None));
        Self { image: image(ImageKind::Surface, (geometry, size, channels), memory) }
    }

    /// The number of layers, or of cubes, of a shape that has layers; 1 if nothing is said.
    pub fn layers(mut self, layers: u32) -> Self {
        if let Given::Image(described, _) = &mut self.image {
            described.spec.layers = layers;
        }
        self
    }
}

impl<'a> From<Texture<'a>> for Argument<'a> {
    fn from(texture: Texture<'a>) -> Self {
        Self(texture.image)
    }
}

impl<'a> From<Surface<'a>> for Argument<'a> {
    fn from(surface: Surface<'a>) -> Self {
        Self(surface.image)
    }
}
