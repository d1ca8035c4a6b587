//! Textures against a model of their own (`texture/model.rs`): every shape, addressing mode, filter, read mode and format, at
//! coordinates on the edges of texels, beyond them, huge, infinite and none. The kernels are `texture/kernels.cu`, as NVRTC compiles them.

#[path = "texture/forms.rs"]
mod forms;
#[path = "texture/model.rs"]
mod model;
#[path = "texture/references.rs"]
mod references;
#[path = "texture/surfaces.rs"]
mod surfaces;

use chacha20::ChaCha8Rng;
use model::{Form, Mode, Model, Shape};
use rand::{RngExt, SeedableRng};
use warpstep::{Address, Element, Filter, Geometry, Kernel, Read, Texture};

const PTX: &str = include_str!("texture/kernels.ptx");

/// A texture to be fetched from.
struct Case {
    shape: Shape,
    size: [u32; 3],
    layers: u32,
    mode: Mode,
    linear: bool,
    normalised: bool,
}

const SHAPES: &[(Shape, [u32; 3], u32)] = &[
    (Shape::One, [5, 1, 1], 1),
    (Shape::Two, [4, 3, 1], 1),
    (Shape::Three, [4, 3, 2], 1),
    (Shape::Layers1, [4, 1, 1], 3),
    (Shape::Layers2, [3, 4, 1], 2),
    (Shape::Cube, [3, 3, 1], 6),
    (Shape::Cubes, [4, 4, 1], 12),
];

impl Case {
    fn entry(&self) -> &'static str {
        match self.shape {
            Shape::One => "t1d",
            Shape::Two => "t2d",
            Shape::Three => "t3d",
            Shape::Layers1 => "ta1d",
            Shape::Layers2 => "ta2d",
            Shape::Cube => "tcube",
            Shape::Cubes => "tacube",
            Shape::Linear => "tlinear",
        }
    }

    fn texels(&self) -> usize {
        self.size.iter().product::<u32>() as usize * self.layers as usize
    }

    fn texture<'a, T: Element>(&self, channels: u8, read: Read, texels: &'a [T]) -> Texture<'a> {
        if self.shape == Shape::Linear {
            return Texture::linear(channels, texels).read(read);
        }
        let (geometry, layers) = match self.shape {
            Shape::One | Shape::Linear => (Geometry::D1, 1),
            Shape::Two => (Geometry::D2, 1),
            Shape::Three => (Geometry::D3, 1),
            Shape::Layers1 => (Geometry::A1, self.layers),
            Shape::Layers2 => (Geometry::A2, self.layers),
            Shape::Cube => (Geometry::Cube, 1),
            Shape::Cubes => (Geometry::ACube, self.layers / 6),
        };
        let address = match self.mode {
            Mode::Wrap => Address::Wrap,
            Mode::Mirror => Address::Mirror,
            Mode::Clamp => Address::Clamp,
            Mode::Border => Address::Border,
        };
        let filter = if self.linear { Filter::Linear } else { Filter::Point };
        let texture = Texture::new(geometry, self.size, channels, texels).layers(layers).address(address);
        texture.filter(filter).normalised(self.normalised).read(read).border(BORDER)
    }

    /// Coordinates worth looking at: on edges and centres of texels, beside them, far away, and at random.
    fn coordinates(&self, random: &mut ChaCha8Rng) -> Vec<[f32; 4]> {
        if self.shape == Shape::Linear {
            let numbers = [0i32, 1, 4, 5, -1, i32::MAX, i32::MIN, 2];
            return numbers.map(|n| [f32::from_bits(n.cast_unsigned()), 0.0, 0.0, 0.0]).to_vec();
        }
        let cube = matches!(self.shape, Shape::Cube | Shape::Cubes);
        let one = |random: &mut ChaCha8Rng, axis: usize| -> f32 {
            let n = if cube { 1.0 } else { self.size[axis] as f32 };
            let texel = match random.random_range(0..8) {
                0 => random.random_range(-3..=3) as f32 * n,
                1 => random.random_range(-9..=9) as f32,
                2 => random.random_range(-9..=9) as f32 + 0.5,
                3 => (random.random_range(-40..=40) as f32).mul_add(0.25, if random.random() { 1e-3 } else { -1e-3 }),
                4 => [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 1e-30, -1e-30, -0.0]
                    [random.random_range(0..8)],
                // A multiple of a 512th: weights that are ties.
                5 => random.random_range(-4096..=4096) as f32 / 512.0,
                _ => random.random_range(-8.0..8.0),
            };
            if self.normalised && !cube && texel.is_finite() && texel.abs() < 1e20 && texel.abs() > 1e-20 {
                texel / n
            } else {
                texel
            }
        };
        let layers = [0u32, 1, 2, 3, 200, u32::MAX];
        (0..400)
            .map(|_| {
                let mut at = [0, 1, 2].map(|axis| one(random, axis));
                if cube {
                    // No direction has no face.
                    at = at.map(|x| if x.is_nan() || x.abs() > 1e6 || x.abs() < 1e-9 { 1.0 } else { x });
                }
                [at[0], at[1], at[2], f32::from_bits(layers[random.random_range(0..layers.len())])]
            })
            .collect()
    }

    fn model<'a>(&self, channels: usize, numbers: &'a [i128], scale: i128, form: Form) -> Model<'a> {
        Model {
            shape: self.shape,
            size: self.size.map(i128::from),
            layers: self.layers,
            channels,
            modes: [self.mode; 3],
            linear: self.linear,
            normalised: self.normalised || matches!(self.shape, Shape::Cube | Shape::Cubes),
            numbers,
            scale,
            form,
            border: match form {
                _ if self.shape == Shape::Linear => [0; 4],
                Form::Fraction(most) => BORDER.map(|c| (f64::from(c).clamp(-1.0, 1.0) * most as f64).round() as i128),
                _ => BORDER.map(|c| (f64::from(c) * scale as f64) as i128),
            },
        }
    }
}

/// Whole numbers, so that they are exact; one of them has bits in its lower half.
const BORDER: [f32; 4] = [1.0, 0.0, 259.0, 3.0];

fn run<T: Element>(entry: &str, texture: Texture<'_>, at: &[[f32; 4]]) -> Vec<[T; 4]> {
    let flat: Vec<f32> = at.iter().flatten().copied().collect();
    let mut out = vec![T::zeroed(); flat.len()];
    let count = u32::try_from(at.len()).unwrap();
    let kernel = Kernel::from_ptx(PTX).unwrap().entry(entry).grid(count.div_ceil(64)).block(64);
    kernel
        .buffer("image", texture)
        .arg(&flat)
        .arg(&mut out)
        .arg(count)
        .run()
        .unwrap_or_else(|e| panic!("{entry}: {e}"));
    out.chunks(4).map(|four| [four[0], four[1], four[2], four[3]]).collect()
}

/// Every address mode, filter and kind of coordinates that a shape can have.
fn cases(mut see: impl FnMut(&Case)) {
    for (shape, size, layers) in SHAPES {
        for mode in [Mode::Wrap, Mode::Mirror, Mode::Clamp, Mode::Border] {
            for (linear, normalised) in [(false, false), (false, true), (true, false), (true, true)] {
                see(&Case { shape: *shape, size: *size, layers: *layers, mode, linear, normalised });
            }
        }
    }
}

/// Compares floats, and says where they differ.
fn agree(case: &Case, at: &[[f32; 4]], got: &[[f32; 4]], want: impl Fn([f32; 4]) -> ([i128; 4], i128)) {
    for (at, got) in at.iter().zip(got) {
        let (numbers, den) = want(*at);
        // Numerators and denominators are below 2^53.
        let want = numbers.map(|n| (n as f64 / den as f64) as f32);
        let what = (case.shape, case.mode, case.linear, case.normalised);
        assert_eq!(got.map(f32::to_bits), want.map(f32::to_bits), "{what:?} at {at:?}: {got:?}, not {want:?}");
    }
}

#[test]
fn floats_of_one_two_and_four_channels() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    cases(|case| {
        for channels in [1u8, 2, 4] {
            let count = case.texels() * usize::from(channels);
            let numbers: Vec<i128> = (0..count).map(|_| random.random_range(1..2000)).collect();
            let texels: Vec<f32> = numbers.iter().map(|n| *n as f32 / 64.0).collect();
            let at = case.coordinates(&mut random);
            let model = case.model(channels.into(), &numbers, 64, Form::Exact);
            let got = run(&format!("{}_f", case.entry()), case.texture(channels, Read::Element, &texels), &at);
            agree(case, &at, &got, |at| model.fetch(at));
        }
    });
}

#[test]
fn halves_are_floats() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    cases(|case| {
        // Of all sizes, so that bits are lost.
        let number = |random: &mut ChaCha8Rng| random.random_range(-2000..2000) << random.random_range(0..12);
        let numbers: Vec<i128> = (0..case.texels() * 2).map(|_| number(&mut random)).collect();
        let texels: Vec<half::f16> = numbers.iter().map(|n| half::f16::from_f32(*n as f32 / 16384.0)).collect();
        let at = case.coordinates(&mut random);
        let model = case.model(2, &numbers, 16384, Form::Half);
        let got = run(&format!("{}_f", case.entry()), case.texture(2, Read::Element, &texels), &at);
        agree(case, &at, &got, |at| model.fetch(at));
    });
}

/// Integers of a type as fractions, and as they are.
fn integers<T: Element + Into<i64>>(seed: u64, most: i128, fractions: bool, one: impl Fn(u32) -> T) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    cases(|case| {
        let texels: Vec<T> = (0..case.texels() * 4).map(|_| one(random.random())).collect();
        let at = case.coordinates(&mut random);
        let exact = |value: &T| i128::from((*value).into());
        if fractions {
            let numbers: Vec<i128> = texels.iter().map(exact).collect();
            let model = case.model(4, &numbers, most, Form::Fraction(most));
            let got = run(&format!("{}_f", case.entry()), case.texture(4, Read::Normalised, &texels), &at);
            agree(case, &at, &got, |at| model.fetch(at));
        }
        if case.linear {
            return;
        }
        let numbers: Vec<i128> = texels.iter().map(exact).collect();
        // The border's bits are the integer.
        let border = BORDER.map(|colour| exact(&one(colour.to_bits())));
        let model = Model { border, ..case.model(4, &numbers, 1, Form::Exact) };
        let signed = run::<i32>(&format!("{}_s", case.entry()), case.texture(4, Read::Element, &texels), &at);
        let unsigned = run::<u32>(&format!("{}_u", case.entry()), case.texture(4, Read::Element, &texels), &at);
        for ((at, signed), unsigned) in at.iter().zip(signed).zip(unsigned) {
            let want = model.fetch(*at).0.map(|n| n as i64 as u32);
            assert_eq!(unsigned, want, "{:?} at {at:?}", case.shape);
            assert_eq!(signed.map(i32::cast_unsigned), want, "{:?} at {at:?}", case.shape);
        }
    });
}

#[test]
fn integers_of_8_bits() {
    integers(3, 255, true, |bits| bits as u8);
    integers(4, 127, true, |bits| bits as u8 as i8);
}

#[test]
fn integers_of_16_bits() {
    integers(5, 65_535, true, |bits| bits as u16);
    integers(6, 32_767, true, |bits| bits as u16 as i16);
}

#[test]
fn integers_of_32_bits() {
    integers(7, 1, false, |bits| bits);
    integers(8, 1, false, u32::cast_signed);
}

#[test]
fn linear_memory_has_nothing_outside() {
    let case =
        Case { shape: Shape::Linear, size: [5, 1, 1], layers: 1, mode: Mode::Clamp, linear: false, normalised: false };
    let at = case.coordinates(&mut ChaCha8Rng::seed_from_u64(9));
    let texels: Vec<f32> = (1..=20u8).map(f32::from).collect();
    let numbers: Vec<i128> = (1..=20).collect();
    for channels in [1u8, 2, 4] {
        let wide = Case { size: [20 / u32::from(channels), 1, 1], ..Case { shape: Shape::Linear, ..case } };
        let model = wide.model(channels.into(), &numbers, 1, Form::Exact);
        let got = run("tlinear_f", wide.texture(channels, Read::Element, &texels), &at);
        agree(&wide, &at, &got, |at| model.fetch(at));
    }
}

#[test]
fn four_texels_are_gathered_counter_clockwise() {
    let mut random = ChaCha8Rng::seed_from_u64(10);
    cases(|case| {
        if case.shape != Shape::Two {
            return;
        }
        let numbers: Vec<i128> = (0..case.texels() * 2).map(|_| random.random_range(1..2000)).collect();
        let texels: Vec<f32> = numbers.iter().map(|n| *n as f32).collect();
        let whole: Vec<i32> = numbers.iter().map(|n| *n as i32).collect();
        let at = case.coordinates(&mut random);
        for channel in 0..4 {
            let model = case.model(2, &numbers, 1, Form::Exact);
            let got = run(&format!("gather{channel}_f"), case.texture(2, Read::Element, &texels), &at);
            agree(case, &at, &got, |at| model.gather(at, channel));
            if !case.linear {
                let got = run::<i32>(&format!("gather{channel}_s"), case.texture(2, Read::Element, &whole), &at);
                let got: Vec<[f32; 4]> = got.iter().map(|four| four.map(|n| n as f32)).collect();
                let model = Model { border: BORDER.map(|colour| colour.to_bits().into()), ..model };
                agree(case, &at, &got, |at| model.gather(at, channel));
            }
        }
    });
}

#[test]
fn levels_of_detail_are_blended() {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let sizes = [[8u32, 6], [4, 3], [2, 1], [1, 1]];
    let numbers = sizes.map(|[w, h]| (0..w * h * 2).map(|_| random.random_range(1..2000)).collect::<Vec<i128>>());
    let texels: Vec<f32> = numbers.iter().flatten().map(|n| *n as f32 / 64.0).collect();
    for mode in [Mode::Wrap, Mode::Mirror, Mode::Clamp, Mode::Border] {
        for (linear, between) in [(false, false), (true, false), (false, true), (true, true)] {
            let of = |[w, h]: [u32; 2]| Case {
                shape: Shape::Two,
                size: [w, h, 1],
                layers: 1,
                mode,
                linear,
                normalised: true,
            };
            let details = [0.0, 0.25, 0.5, 1.0, 1.49, 1.5, 2.75, 2.999, 3.0, 9.0, -1.0, f32::NAN, f32::INFINITY];
            let mut at = of(sizes[0]).coordinates(&mut random);
            at.iter_mut().for_each(|at| at[2] = details[random.random_range(0..details.len())]);
            let filter = if between { Filter::Linear } else { Filter::Point };
            let texture = of(sizes[0]).texture(2, Read::Element, &texels).levels(4).level_filter(filter);
            let got = run("level_f", texture, &at);
            let models = [0, 1, 2, 3].map(|level: usize| of(sizes[level]).model(2, &numbers[level], 64, Form::Exact));
            agree(&of(sizes[0]), &at, &got, |at| {
                // In 256ths of a level; what is no number is level 0.
                let detail = if at[2].is_nan() { 0.0 } else { at[2].clamp(0.0, 3.0) };
                let eighths = (f64::from(detail) * 256.0 + 0.5).floor() as i128;
                let (level, second) = if between { (eighths / 256, eighths % 256) } else { ((eighths + 128) / 256, 0) };
                let (near, den) = models[level as usize].fetch(at);
                let (far, _) = models[(level as usize + 1).min(3)].fetch(at);
                let blend = [0, 1, 2, 3].map(|c: usize| near[c] * (256 - second) + far[c] * second);
                (blend, den * 256)
            });
        }
    }
}

#[test]
fn levels_of_a_texture_with_one_are_that_one() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    cases(|case| {
        if case.shape != Shape::Two {
            return;
        }
        let numbers: Vec<i128> = (0..case.texels() * 4).map(|_| random.random_range(1..2000)).collect();
        let texels: Vec<f32> = numbers.iter().map(|n| *n as f32).collect();
        let at = case.coordinates(&mut random);
        let model = case.model(4, &numbers, 1, Form::Exact);
        for entry in ["level_f", "grad_f"] {
            let got = run(entry, case.texture(4, Read::Element, &texels), &at);
            agree(case, &at, &got, |at| model.fetch(at));
        }
        let got: Vec<[f32; 4]> = run("sparse", case.texture(4, Read::Element, &texels), &at);
        assert!(got.iter().all(|four| four[3] == 1.0));
    });
}
