//! Fetches of textures of all kinds at coordinates of all kinds, for a GPU to make.

#[path = "fetched.rs"]
pub mod fetched;
#[path = "texels.rs"]
mod texels;

use chacha20::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use std::path::Path;
use warpstep::{Address, Filter, Geometry, Kernel, Read, Texture};

/// Fetches of each texture.
pub const COUNT: usize = 1024;

/// A texture and how it is fetched.
pub struct Case {
    pub name: String,
    geometry: Geometry,
    size: [u32; 3],
    layers: u32,
    channels: u8,
    element: &'static str,
    address: Address,
    filter: Filter,
    normalised: bool,
    read: Read,
    gather: bool,
    border: [f32; 4],
    texels: Vec<u8>,
    coordinates: Vec<f32>,
}

const ADDRESSES: [Address; 4] = [Address::Wrap, Address::Mirror, Address::Clamp, Address::Border];
const BORDER: [f32; 4] = [0.25, -1.5, 3.0, 0.75];
/// Borders that halves and integers do not have, and some whose bits are other integers than their values.
const BORDERS: [[f32; 4]; 4] =
    [[0.1, -0.3, 65_537.5, 1e-7], [0.5, 0.5, -0.5, -1.0], [8_388_735.0, -8_388_865.0, 131_071.0, 1e-40], [0.0; 4]];
/// Elements, and what is told of them: bytes, whether they are numbers with a point.
const ELEMENTS: [(&str, usize, bool); 6] =
    [("f32", 4, true), ("f16", 2, true), ("u8", 1, false), ("i8", 1, false), ("u16", 2, false), ("i16", 2, false)];

fn case(number: u64) -> Case {
    let mut random = ChaCha8Rng::seed_from_u64(number);
    let geometry =
        [Geometry::D1, Geometry::D2, Geometry::D2, Geometry::D3, Geometry::A1, Geometry::A2][number as usize % 6];
    let (element, _, pointed) = *ELEMENTS.choose(&mut random).unwrap();
    let channels = [1, 2, 4][random.random_range(0..3)];
    let read = if pointed || random.random() { Read::Element } else { Read::Normalised };
    let floats = pointed || read == Read::Normalised;
    let filter = if floats && random.random_range(0..4) > 0 { Filter::Linear } else { Filter::Point };
    let normalised = random.random();
    let extent = |random: &mut ChaCha8Rng| [1, 2, 3, 5, 7, 8, 16, 33][random.random_range(1..8)];
    let mut size = [extent(&mut random), 1, 1];
    let layers = if matches!(geometry, Geometry::A1 | Geometry::A2) { 3 } else { 1 };
    if matches!(geometry, Geometry::D2 | Geometry::D3 | Geometry::A2) {
        size[1] = extent(&mut random);
    }
    if geometry == Geometry::D3 {
        size[2] = extent(&mut random);
    }
    let gather = geometry == Geometry::D2 && random.random_range(0..4) == 0;
    let count = size.iter().product::<u32>() * layers * u32::from(channels);
    let texels = texels::plain(&mut random, element, count as usize);
    let mut coordinates = Vec::new();
    for _ in 0..COUNT {
        for axis in size {
            let wide = axis as f32;
            let at = texels::coordinate(&mut random, wide);
            coordinates.push(if normalised { at / wide } else { at });
        }
        coordinates.push(f32::from_bits(random.random_range(0..4)));
    }
    let address = *ADDRESSES.choose(&mut random).unwrap();
    let case = Case {
        name: String::new(),
        geometry,
        size,
        layers,
        channels,
        element,
        address,
        filter,
        normalised,
        read,
        gather,
        border: BORDER,
        texels,
        coordinates,
    };
    Case { name: case.described(number), ..case }
}

/// A texture of any geometry, with texels and borders of all kinds: cubes, layers, axes of one texel, numbers of all sizes.
fn wide(number: u64) -> Case {
    let mut random = ChaCha8Rng::seed_from_u64(number);
    let geometry = Geometry::ALL[number as usize % Geometry::ALL.len()];
    let element = *["f32", "f16", "f32", "f16", "u8", "i8", "u16", "i16", "u32", "i32"].choose(&mut random).unwrap();
    let short = !element.ends_with("32");
    let pointed = element.starts_with('f');
    let read = if !pointed && short && random.random_range(0..4) > 0 { Read::Normalised } else { Read::Element };
    let floats = pointed || read == Read::Normalised;
    let filter = if floats && random.random_range(0..6) > 0 { Filter::Linear } else { Filter::Point };
    let normalised = geometry.is_cube() || random.random();
    let longest = if geometry.axes() == 1 { 129 } else { 30 };
    let extent = |random: &mut ChaCha8Rng| *[1, 1, 2, 3, 4, 6, 9, longest].choose(random).unwrap();
    let mut size = [extent(&mut random), 1, 1];
    match geometry {
        Geometry::Cube | Geometry::ACube => size[1] = size[0],
        Geometry::D1 | Geometry::A1 => {}
        Geometry::D2 | Geometry::A2 => size[1] = extent(&mut random),
        Geometry::D3 => size = [0; 3].map(|_| extent(&mut random).min(9)),
    }
    let layers = if geometry.is_layered() { 3 } else { 1 };
    let channels = [1, 2, 4][random.random_range(0..3)];
    let gather = geometry == Geometry::D2 && random.random_range(0..5) == 0;
    let count = size.iter().product::<u32>() * layers * geometry.faces() * u32::from(channels);
    let texels = texels::wide(&mut random, element, count as usize);
    let mut coordinates = Vec::new();
    for _ in 0..COUNT {
        let at = if geometry.is_cube() {
            texels::direction(&mut random, size[0] as f32)
        } else {
            size.map(|n| texels::coordinate(&mut random, n as f32) / if normalised { n as f32 } else { 1.0 })
        };
        coordinates.extend(at);
        coordinates.push(f32::from_bits([0, 1, 2, 3, 7, 1 << 16, u32::MAX][random.random_range(0..7)]));
    }
    let address = *ADDRESSES.choose(&mut random).unwrap();
    let border = *BORDERS.choose(&mut random).unwrap();
    let case = Case {
        name: String::new(),
        geometry,
        size,
        layers,
        channels,
        element,
        address,
        filter,
        normalised,
        read,
        gather,
        border,
        texels,
        coordinates,
    };
    Case { name: format!("{} {border:?}", case.described(number)), ..case }
}

/// All of them.
pub fn cases() -> Vec<Case> {
    (0..360).map(case).chain((360..640).map(wide)).collect()
}

impl Case {
    /// What it is called, but for its border.
    fn described(&self, number: u64) -> String {
        format!(
            "{number} {} {:?} {}x{} {} {} {} {} {}",
            self.geometry.name(),
            self.size,
            self.element,
            self.channels,
            self.address.name(),
            self.filter.name(),
            if self.normalised { "normalised" } else { "texels" },
            self.read.name(),
            if self.gather { "gather" } else { "" }
        )
    }

    fn ptx(&self) -> String {
        let integers = self.read == Read::Element && !self.element.starts_with('f');
        let ty = match (integers, self.element.starts_with('i')) {
            (false, _) => "f32",
            (_, true) => "s32",
            _ => "u32",
        };
        let (shape, list) = match self.geometry {
            Geometry::D1 => ("1d", "{%f0}"),
            Geometry::D2 => ("2d", "{%f0, %f1}"),
            Geometry::D3 => ("3d", "{%f0, %f1, %f2, %f2}"),
            Geometry::A1 => ("a1d", "{%layer, %f0}"),
            Geometry::A2 => ("a2d", "{%layer, %f0, %f1, %f1}"),
            Geometry::Cube => ("cube", "{%f0, %f1, %f2, %f2}"),
            Geometry::ACube => ("acube", "{%layer, %f0, %f1, %f2}"),
        };
        let fetch = if self.gather { format!("tld4.r.{shape}") } else { format!("tex.{shape}") };
        format!(
            ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 t, .param .u64 in, .param .u64 out)\n{{\n\
             .reg .b32 %r<8>, %f<4>, %layer;\n.reg .b64 %d<8>;\n\
             mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 256, %r0; mul.wide.u32 %d0, %r0, 16;\n\
             ld.param.u64 %d1, [t]; ld.param.u64 %d2, [in]; ld.param.u64 %d3, [out]; add.s64 %d2, %d2, %d0; add.s64 %d3, %d3, %d0;\n\
             ld.global.v4.b32 {{%f0, %f1, %f2, %layer}}, [%d2];\n\
             {fetch}.v4.{ty}.f32 {{%r2, %r3, %r4, %r5}}, [%d1, {list}];\n\
             st.global.v4.b32 [%d3], {{%r2, %r3, %r4, %r5}};\nret;\n}}\n"
        )
    }

    pub fn job(&self) -> Value {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let coordinates: Vec<u8> = self.coordinates.iter().flat_map(|c| c.to_bits().to_le_bytes()).collect();
        json!({
            "name": self.name, "ptx": self.ptx(), "geometry": self.geometry.name(), "size": self.size, "layers": self.layers,
            "channels": self.channels, "element": self.element, "address": self.address.name(), "filter": self.filter.name(),
            "normalised": self.normalised, "read": self.read.name(), "border": self.border, "gather": self.gather,
            "texels": hex(&self.texels), "coordinates": hex(&coordinates),
        })
    }

    /// What is fetched here.
    pub fn run(&self) -> Vec<[u32; 4]> {
        let ptx = self.ptx();
        let mut out = vec![0u32; 4 * COUNT];
        let words = |size: usize| {
            self.texels.chunks_exact(size).map(|w| w.iter().rev().fold(0u32, |all, b| all << 8 | u32::from(*b)))
        };
        let f32s: Vec<f32> = if self.element == "f32" { words(4).map(f32::from_bits).collect() } else { Vec::new() };
        let f16s: Vec<half::f16> =
            if self.element == "f16" { words(2).map(|w| half::f16::from_bits(w as u16)).collect() } else { Vec::new() };
        let u32s: Vec<u32> = if self.element.ends_with("32") { words(4).collect() } else { Vec::new() };
        let i32s: Vec<i32> = u32s.iter().map(|w| w.cast_signed()).collect();
        let i8s: Vec<i8> = self.texels.iter().map(|byte| *byte as i8).collect();
        let u16s: Vec<u16> =
            if self.texels.len().is_multiple_of(2) { words(2).map(|w| w as u16).collect() } else { Vec::new() };
        let i16s: Vec<i16> = u16s.iter().map(|w| *w as i16).collect();
        let (geometry, size, channels) = (self.geometry, self.size, self.channels);
        let texture = match self.element {
            "f32" => Texture::new(geometry, size, channels, &f32s),
            "f16" => Texture::new(geometry, size, channels, &f16s),
            "u8" => Texture::new(geometry, size, channels, &self.texels),
            "u32" => Texture::new(geometry, size, channels, &u32s),
            "i32" => Texture::new(geometry, size, channels, &i32s),
            "i8" => Texture::new(geometry, size, channels, &i8s),
            "u16" => Texture::new(geometry, size, channels, &u16s),
            _ => Texture::new(geometry, size, channels, &i16s),
        };
        let texture = texture.layers(self.layers).address(self.address).filter(self.filter).normalised(self.normalised);
        let texture = texture.border(self.border).read(self.read);
        let kernel =
            Kernel::from_ptx(&ptx).unwrap_or_else(|e| panic!("{e}\n{ptx}")).grid(COUNT as u32 / 256).block(256);
        let kernel = kernel.arg(texture).arg(&self.coordinates).arg(&mut out[..]);
        kernel.run().unwrap_or_else(|e| panic!("{}: {e}\n{ptx}", self.name));
        out.chunks_exact(4).map(|four| four.try_into().unwrap()).collect()
    }

    /// The coordinates of a fetch.
    pub fn at(&self, fetch: usize) -> &[f32] {
        &self.coordinates[4 * fetch..][..4]
    }
}

/// Writes all of them for the player.
pub fn write(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let lines: String = cases().iter().map(|case| format!("{}\n", case.job())).collect();
    std::fs::write(folder.join("textures.jsonl"), lines).unwrap();
}
