//! Reading `[textures]`, `[surfaces]` and `[samplers]` of a launch file.

use super::{ImageSpec, Images, NamedSampler, SamplerSpec, Texels};
use crate::alu::image::{Address, Channel, Filter, Format, Geometry, Read as ReadMode};
use crate::launch::Data;
use crate::launch::problem::{At, ProblemKind};
use crate::launch::toml::{Item, Table};
use crate::verdict::ImageKind;

const TEXTURE: &[&str] = &[
    "geometry",
    "size",
    "layers",
    "levels",
    "format",
    "channels",
    "buffer",
    "offset",
    "pitch",
    "init",
    "address",
    "filter",
    "level_filter",
    "normalised",
    "border",
    "read",
    "variable",
];
const SURFACE: &[&str] =
    &["geometry", "size", "layers", "format", "channels", "buffer", "offset", "pitch", "init", "variable"];
const SAMPLER: &[&str] = &["address", "filter", "level_filter", "normalised", "border", "variable"];

/// Words and what they stand for.
type Words<T> = [(&'static str, T)];

const GEOMETRIES: &Words<(Geometry, bool)> = &[
    ("1d", (Geometry::D1, false)),
    ("2d", (Geometry::D2, false)),
    ("3d", (Geometry::D3, false)),
    ("a1d", (Geometry::A1, false)),
    ("a2d", (Geometry::A2, false)),
    ("cube", (Geometry::Cube, false)),
    ("acube", (Geometry::ACube, false)),
    ("linear", (Geometry::D1, true)),
];
const ADDRESSES: &Words<Address> = &[
    ("wrap", Address::Wrap),
    ("mirror", Address::Mirror),
    ("clamp", Address::Clamp),
    ("border", Address::Border),
    ("clamp_ogl", Address::ClampOgl),
];
const FILTERS: &Words<Filter> = &[("point", Filter::Point), ("linear", Filter::Linear)];
const READS: &Words<ReadMode> = &[("element", ReadMode::Element), ("normalised", ReadMode::Normalised)];

/// What reading these needs of the reader of launch files.
pub trait Read {
    /// Whether there is such a buffer; a complaint where there is not.
    fn buffer_named(&self, item: &Item<'_, '_>) -> Option<String>;
    /// What a buffer holds at first, of a channel's type.
    fn contents(&self, item: &Item<'_, '_>, channel: Channel) -> Option<Data>;
    /// Notes that a buffer of a texture's own has its name.
    fn owns(&mut self, name: &str, channel: Channel);

    /// All of a launch file.
    fn images(&mut self, root: &Table<'_, '_>) -> Images {
        let mut images = Images::default();
        let kinds = [(ImageKind::Texture, "textures"), (ImageKind::Surface, "surfaces")];
        let named = |(kind, key)| root.named(key).into_iter().map(move |(name, at, item)| (kind, name, at, item));
        let all: Vec<_> = kinds.into_iter().flat_map(named).collect();
        // A texture may have the texels of a surface that stands behind it.
        for (_, name, _, item) in &all {
            let keys = item.value().as_table().filter(|keys| keys.contains_key("init"));
            let format = keys.and_then(|keys| keys.get("format")).and_then(|format| format.get_ref().as_str());
            if let Some(channel) = format.and_then(Channel::named) {
                self.owns(name, channel);
            }
        }
        for (kind, name, at, item) in all {
            let Some(spec) = item.table().and_then(|table| image(self, kind, &table, at)) else { continue };
            let of_kind = if kind == ImageKind::Texture { &mut images.textures } else { &mut images.surfaces };
            of_kind.insert(name, spec);
        }
        for (name, at, item) in root.named("samplers") {
            let Some(table) = item.table().filter(|table| table.only(SAMPLER)) else { continue };
            let (sampler, variable) = (sampler(&table), table.text("variable"));
            images.samplers.insert(name, NamedSampler { sampler, variable, at });
        }
        images
    }
}

/// A texture or surface.
fn image<R: Read + ?Sized>(reader: &R, kind: ImageKind, table: &Table<'_, '_>, at: At) -> Option<ImageSpec> {
    table.only(if kind == ImageKind::Texture { TEXTURE } else { SURFACE });
    table.need("geometry")?;
    let (geometry, linear) = table.choice("geometry", GEOMETRIES)?;
    let size = size(&table.need("size")?, geometry)?;
    let layers = match table.get("layers") {
        Some(item) => {
            let one = geometry.is_layered();
            item.checked(
                item.number().filter(|n| *n > 0 && *n <= MOST_LAYERS && one),
                "1 to 65536, of what has layers: a1d, a2d or acube",
            )?
        }
        None => 1,
    };
    let levels = match table.get("levels") {
        Some(item) => {
            let most = size.iter().map(|n| n.ilog2() + 1).max().filter(|_| !linear && table.get("pitch").is_none());
            let fits = |n: &u32| *n > 0 && *n <= most.unwrap_or(1);
            item.checked(item.number().filter(fits), "1 to as many as halve the largest size to 1, without a pitch")?
        }
        None => 1,
    };
    let format = table.need("format")?;
    let channel = Channel::named(&format.text()?);
    let channel = format.checked(channel, "u8, s8, u16, s16, u32, s32, f16 or f32")?;
    let channels = match table.get("channels") {
        Some(item) => item.checked(item.number().filter(|n| matches!(n, 1 | 2 | 4)), "1, 2 or 4")?,
        None => 1,
    };
    let format = Format { channel, channels: u8::try_from(channels).unwrap_or(1) };
    let texels = match (table.get("buffer"), table.get("init")) {
        (Some(item), None) => {
            let name = reader.buffer_named(&item)?;
            let offset = match table.get("offset") {
                Some(item) => {
                    item.checked(item.count(u64::MAX).filter(|n| n.is_multiple_of(16)), "a multiple of 16")?
                }
                None => 0,
            };
            Texels::Buffer { name, offset }
        }
        (None, Some(item)) => Texels::Own(reader.contents(&item, channel)?),
        (buffer, _) => {
            let keys = &["buffer", "init"];
            let found = if buffer.is_some() { 2 } else { 0 };
            table.problem(ProblemKind::OneOf { keys, table: table.name.clone(), found }, at);
            return None;
        }
    };
    let row = u64::from(size[0]) * u64::from(format.bytes());
    let pitch = match table.get("pitch") {
        Some(item) => {
            let fits = |n: &u64| *n >= row && n.is_multiple_of(u64::from(format.bytes())) && *n < 1 << 32;
            Some(item.checked(item.count(u64::MAX).filter(fits), "a multiple of a texel's size, and at least a row")?)
        }
        None => None,
    };
    let sampler = if kind == ImageKind::Texture { sampler(table) } else { SamplerSpec::default() };
    let read = table.choice("read", READS).unwrap_or(ReadMode::Element);
    let variable = table.text("variable");
    Some(ImageSpec { geometry, linear, size, layers, levels, format, texels, pitch, sampler, read, variable, at })
}

/// The most layers; hardware has fewer.
pub const MOST_LAYERS: u32 = 1 << 16;

/// How many texels there are: a number for each axis, or one for all of a cube.
fn size(item: &Item<'_, '_>, geometry: Geometry) -> Option<[u32; 3]> {
    let mut given = Vec::new();
    let several = if item.value().is_array() { item.array()? } else { Vec::new() };
    if several.is_empty() {
        given.push(item.number()?);
    }
    for one in several {
        given.push(one.number()?);
    }
    let axes = geometry.axes();
    if geometry.is_cube() && given.len() == 1 {
        given.push(given[0]);
    }
    let square = !geometry.is_cube() || given.first() == given.last();
    let right = given.len() == axes && square && given.iter().all(|n| *n > 0);
    let mut size = [1; 3];
    size.iter_mut().zip(&given).for_each(|(to, n)| *to = *n);
    let wanted = match geometry {
        Geometry::D1 | Geometry::A1 => "one number above 0",
        Geometry::D2 | Geometry::A2 => "two numbers above 0: width and height",
        Geometry::D3 => "three numbers above 0: width, height and depth",
        Geometry::Cube | Geometry::ACube => "one number above 0, or two that are equal",
    };
    item.checked(right.then_some(size), wanted)
}

/// How textures are read.
fn sampler(table: &Table<'_, '_>) -> SamplerSpec {
    SamplerSpec {
        address: table.get("address").and_then(|item| addresses(&item)),
        filter: table.choice("filter", FILTERS),
        levels: table.choice("level_filter", FILTERS),
        normalised: table.get("normalised").map(|_| table.flag("normalised")),
        border: table.get("border").and_then(|item| border(&item)),
    }
}

/// One mode for all axes, or one for each.
fn addresses(item: &Item<'_, '_>) -> Option<[Address; 3]> {
    let mut modes = Vec::new();
    for one in if item.value().is_array() { item.array()? } else { Vec::new() } {
        modes.push(one.word("address", ADDRESSES)?);
    }
    if !item.value().is_array() {
        modes.push(item.word("address", ADDRESSES)?);
    }
    let last = modes.last().copied().filter(|_| modes.len() <= 3);
    let last = item.checked(last, "one mode, or one for each axis")?;
    Some([0, 1, 2].map(|axis| modes.get(axis).copied().unwrap_or(last)))
}

/// Four finite numbers.
fn border(item: &Item<'_, '_>) -> Option<[f32; 4]> {
    let numbers = item.array()?.iter().map(Item::real).collect::<Option<Vec<_>>>()?;
    let four: Option<[f64; 4]> = numbers.try_into().ok();
    let four = four.filter(|all| all.iter().all(|n| n.is_finite()));
    Some(item.checked(four, "four finite numbers")?.map(|n| n as f32))
}
