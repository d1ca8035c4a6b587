//! The textures, samplers and surfaces of a context: what the handles of its host stand for (CUDA guide, "Texture Object API").
//!
//! A handle is a number that is no address of memory (D-texture-handles). An opaque variable of a program stands for what the host
//! binds to it; its own address serves as its handle, as PTX has it (PTX ISA 5.3: pointers to opaque variables). Texels lie in memory
//! that the context has anyway, so nothing here changes while a grid runs.

use crate::alu::image::{Address, Channel, Filter, Geometry, Image, Sampler, Texture};
use crate::program::env::Reference;
use crate::program::image::Query;
use crate::verdict::ImageKind;
use std::collections::BTreeMap;

/// The first handle: above all addresses of a context, which begin at `0x7f00_0000_0000` and have 2^54 bytes (D-gaps).
const FIRST: u64 = 0x7e00_0000_0000_0000;
/// From a handle to the next.
const STEP: u64 = 0x100;

/// What a handle or an opaque variable stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// What people call it: the name that the host gave it, or the variable's.
    pub name: String,
    /// What it is.
    pub what: What,
}

/// What is bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A texture.
    Texture(Texture),
    /// A sampler.
    Sampler(Sampler),
    /// A surface.
    Surface(Image),
    /// A variable to which nothing is bound.
    Nothing(ImageKind),
}

impl What {
    /// Whether it is a texture, a sampler or a surface; of a variable without any, which of them it can name.
    #[must_use]
    pub const fn kind(&self) -> ImageKind {
        match self {
            Self::Texture(_) => ImageKind::Texture,
            Self::Sampler(_) => ImageKind::Sampler,
            Self::Surface(_) => ImageKind::Surface,
            Self::Nothing(kind) => *kind,
        }
    }
}

/// What handles and opaque variables stand for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Images {
    bound: BTreeMap<u64, Bound>,
    made: u64,
}

impl Images {
    /// Makes a handle; a device with 32-bit addresses gets one, too, whose upper half is lost in its registers.
    pub fn make(&mut self, bound: Bound) -> u64 {
        let handle = FIRST + self.made * STEP;
        self.made += 1;
        self.bound.insert(handle, bound);
        handle
    }

    /// Binds to a variable, by its address.
    pub fn bind(&mut self, variable: u64, bound: Bound) {
        self.bound.insert(variable, bound);
    }

    /// Whether there is neither a handle nor an opaque variable.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bound.is_empty()
    }

    /// What a value stands for, if it is a handle or the address of an opaque variable.
    #[must_use]
    pub fn get(&self, handle: u64) -> Option<&Bound> {
        self.bound.get(&handle)
    }

    /// Whether it is the address of an opaque variable that names such a thing (`istypep`), or a handle of one.
    #[must_use]
    pub fn is(&self, value: u64, kind: ImageKind) -> bool {
        self.get(value).is_some_and(|bound| bound.what.kind() == kind)
    }
}

impl What {
    /// Levels of detail.
    #[must_use]
    pub const fn levels(&self) -> u32 {
        if let Self::Texture(texture) = self { texture.image.levels } else { 1 }
    }

    /// A level of detail of it, as if it had only that.
    #[must_use]
    pub fn level(&self, number: u32) -> Self {
        match self {
            Self::Texture(texture) if number > 0 => {
                Self::Texture(Texture { image: texture.image.level(number), ..*texture })
            }
            other => *other,
        }
    }

    /// The answer to a query: PTX numbers the words of its fields from 0, and takes the types and orders of channels from OpenCL
    /// (PTX ISA 5.3.3).
    #[must_use]
    pub fn answer(&self, query: Query) -> u32 {
        let (image, sampler) = match self {
            Self::Texture(texture) => (Some(&texture.image), texture.sampler),
            Self::Surface(image) => (Some(image), Sampler::default()),
            Self::Sampler(sampler) => (None, *sampler),
            Self::Nothing(_) => return 0,
        };
        let normalises = matches!(self, Self::Texture(texture) if texture.normalises());
        let of = |value: fn(&Image) -> u32| image.map_or(0, value);
        match query {
            Query::Width => of(|i| i.size[0]),
            Query::Height => of(|i| if i.geometry.axes() > 1 { i.size[1] } else { 0 }),
            Query::Depth => of(|i| if i.geometry == Geometry::D3 { i.size[2] } else { 0 }),
            Query::DataType => image.map_or(0, |i| data_type(i.format.channel, normalises)),
            Query::Order => of(|i| match i.format.channels {
                1 => 0x10b0,
                2 => 0x10b2,
                _ => 0x10b5,
            }),
            Query::Layers => of(|i| if i.geometry.is_layered() { i.layers / i.geometry.faces() } else { 0 }),
            Query::Levels => of(|i| i.levels),
            Query::Samples => 1,
            Query::Normalised => sampler.normalised.into(),
            Query::Unnormalised => (matches!(self, Self::Sampler(_)) && !sampler.normalised).into(),
            Query::Filter => (sampler.filter == Filter::Linear).into(),
            Query::Address0 => sampler.address[0] as u32,
            Query::Address1 => sampler.address[1] as u32,
            Query::Address2 => sampler.address[2] as u32,
            Query::Layout => of(|i| i.linear.into()),
        }
    }
}

/// A sampler by itself that says nothing: it leaves it to the texture whether coordinates are normalised.
pub const APART: Sampler = Sampler {
    address: [Address::Clamp; 3],
    filter: Filter::Point,
    levels: Filter::Point,
    normalised: true,
    border: [0; 4],
};

/// What the initialiser of an opaque variable says of how textures are read (PTX ISA 5.3), and the usual where it says nothing. A word may be its
/// number in PTX's order.
#[must_use]
pub fn initialised(reference: &Reference, usual: Sampler) -> Sampler {
    let field = |name: &str| reference.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str());
    let address = |axis: usize| {
        let word = field(["addr_mode_0", "addr_mode_1", "addr_mode_2"][axis])?;
        numbered(word, Address::ALL).or_else(|| Address::named(word))
    };
    let filter = field("filter_mode").and_then(|word| numbered(word, Filter::ALL).or_else(|| Filter::named(word)));
    let is = |name: &str| field(name).map(|word| word != "0");
    let normalised = is("normalized_coords").or(is("force_unnormalized_coords").map(|forced| !forced));
    Sampler {
        address: [0, 1, 2].map(|axis| address(axis).unwrap_or(usual.address[axis])),
        filter: filter.unwrap_or(usual.filter),
        normalised: normalised.unwrap_or(usual.normalised),
        ..usual
    }
}

/// The member of a number.
fn numbered<T: Copy>(word: &str, all: &[T]) -> Option<T> {
    all.get(word.parse::<usize>().ok()?).copied()
}

/// OpenCL's number of the type of a channel.
const fn data_type(channel: Channel, normalises: bool) -> u32 {
    match (channel, normalises) {
        (Channel::S8, true) => 0x10d0,
        (Channel::S16, true) => 0x10d1,
        (Channel::U8, true) => 0x10d2,
        (Channel::U16, true) => 0x10d3,
        (Channel::S8, false) => 0x10d7,
        (Channel::S16, false) => 0x10d8,
        (Channel::S32, _) => 0x10d9,
        (Channel::U8, false) => 0x10da,
        (Channel::U16, false) => 0x10db,
        (Channel::U32, _) => 0x10dc,
        (Channel::F16, _) => 0x10dd,
        (Channel::F32, _) => 0x10de,
    }
}
