//! Fetches of textures of all kinds at coordinates of all kinds, for a GPU to make.

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
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
    texels: Vec<u8>,
    coordinates: Vec<f32>,
}

const ADDRESSES: [Address; 4] = [Address::Wrap, Address::Mirror, Address::Clamp, Address::Border];
const BORDER: [f32; 4] = [0.25, -1.5, 3.0, 0.75];
/// Elements, and what is told of them: bytes, whether they are numbers with a point.
const ELEMENTS: [(&str, usize, bool); 6] =
    [("f32", 4, true), ("f16", 2, true), ("u8", 1, false), ("i8", 1, false), ("u16", 2, false), ("i16", 2, false)];

/// A coordinate, in texels: anywhere, near the middles and the edges of texels, at steps of the weights, far away, no number.
fn coordinate(random: &mut ChaCha8Rng, size: f32) -> f32 {
    let texel = random.random_range(-2..size as i32 + 3) as f32;
    match random.random_range(0..16) {
        0 => texel,
        1 => texel + 0.5,
        2 => texel + 0.5 + [1.0, -1.0, 0.5, -0.5, 1.5, 0.499, 0.501][random.random_range(0..7)] / 256.0,
        3..=5 => texel + random.random_range(0..1025) as f32 / 1024.0,
        6 => f32::from_bits((texel + 0.5).to_bits().wrapping_add_signed(random.random_range(-3..4))),
        7 => f32::from_bits(texel.to_bits().wrapping_add_signed(random.random_range(-3..4))),
        8 => size * random.random_range(-20.0..20.0f32),
        9 => [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e30, -1e30, 1e-40, 3e9, -1e-20]
            [random.random_range(0..10)],
        _ => random.random_range(-0.5..size + 0.5),
    }
}

fn texels(random: &mut ChaCha8Rng, element: &str, count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..count {
        match element {
            "f32" => {
                let value: f32 = random.random_range(-4.0..4.0);
                let few = (value * 16.0).round() / 16.0;
                bytes.extend((if random.random() { value } else { few }).to_le_bytes());
            }
            "f16" => bytes.extend((random.random::<u16>() & 0xbfff).to_le_bytes()),
            "u8" | "i8" => bytes.push(random.random()),
            _ => bytes.extend(random.random::<u16>().to_le_bytes()),
        }
    }
    bytes
}

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
    let texels = texels(&mut random, element, count as usize);
    let mut coordinates = Vec::new();
    for _ in 0..COUNT {
        for axis in size {
            let wide = axis as f32;
            let at = coordinate(&mut random, wide);
            coordinates.push(if normalised { at / wide } else { at });
        }
        coordinates.push(f32::from_bits(random.random_range(0..4)));
    }
    let address = *ADDRESSES.choose(&mut random).unwrap();
    let name = format!(
        "{number} {} {size:?} {element}x{channels} {} {} {} {} {}",
        geometry.name(),
        address.name(),
        filter.name(),
        if normalised { "normalised" } else { "texels" },
        read.name(),
        if gather { "gather" } else { "" }
    );
    Case {
        name,
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
        texels,
        coordinates,
    }
}

/// All of them.
pub fn cases() -> Vec<Case> {
    (0..360).map(case).collect()
}

impl Case {
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
            _ => ("a2d", "{%layer, %f0, %f1, %f1}"),
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
            "normalised": self.normalised, "read": self.read.name(), "border": BORDER, "gather": self.gather,
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
        let i8s: Vec<i8> = self.texels.iter().map(|byte| *byte as i8).collect();
        let u16s: Vec<u16> = if self.texels.len() % 2 == 0 { words(2).map(|w| w as u16).collect() } else { Vec::new() };
        let i16s: Vec<i16> = u16s.iter().map(|w| *w as i16).collect();
        let (geometry, size, channels) = (self.geometry, self.size, self.channels);
        let texture = match self.element {
            "f32" => Texture::new(geometry, size, channels, &f32s),
            "f16" => Texture::new(geometry, size, channels, &f16s),
            "u8" => Texture::new(geometry, size, channels, &self.texels),
            "i8" => Texture::new(geometry, size, channels, &i8s),
            "u16" => Texture::new(geometry, size, channels, &u16s),
            _ => Texture::new(geometry, size, channels, &i16s),
        };
        let texture = texture.layers(self.layers).address(self.address).filter(self.filter).normalised(self.normalised);
        let texture = texture.border(BORDER).read(self.read);
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

/// Compares with what the player brought back.
pub fn same(folder: &Path) {
    let lines = std::fs::read_to_string(folder.join("textures.played.jsonl")).unwrap();
    let mut all = 0;
    for (case, line) in cases().iter().zip(lines.lines()) {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert_eq!(entry["name"].as_str(), Some(case.name.as_str()));
        if let Some(error) = entry["error"].as_str() {
            println!("{}: {error}", case.name);
            continue;
        }
        let theirs = warpstep::launch::hex(entry["out"].as_str().unwrap()).unwrap();
        let theirs: Vec<u32> = theirs.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
        let ours = case.run();
        let differ: Vec<usize> = (0..COUNT).filter(|i| ours[*i] != theirs[4 * i..][..4]).collect();
        if differ.is_empty() {
            all += 1;
            continue;
        }
        println!("{}: {} of {COUNT} differ", case.name, differ.len());
        for i in differ.iter().take(5) {
            println!("    {:?}: ours {:x?}, theirs {:x?}", case.at(*i), ours[*i], &theirs[4 * i..][..4]);
        }
    }
    println!("{all} textures the same");
}
