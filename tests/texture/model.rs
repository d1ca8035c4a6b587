//! Fetches by the formulas of the CUDA programming guide ("Texture Fetching", "Cubemap Textures") and the PTX ISA (9.7.10), in exact
//! arithmetic, rounded where an H200 rounds (spec-notes/textures.md). Nothing of the implementation is used here.

/// A fraction; the denominator is positive.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    num: i128,
    den: i128,
}

/// Fractional bits of a coordinate.
const BITS: u32 = 60;

impl Exact {
    const fn whole(n: i128) -> Self {
        Self { num: n, den: 1 }
    }

    fn floor(self) -> i128 {
        self.num.div_euclid(self.den)
    }

    fn minus_half(self) -> Self {
        Self { num: 2 * self.num - self.den, den: 2 * self.den }
    }

    fn times(self, n: i128) -> Self {
        Self { num: self.num * n, den: self.den }
    }

    fn over(self, n: i128) -> Self {
        Self { num: self.num, den: self.den * n }
    }

    /// The nearest whole number, the larger one of two that are equally near.
    fn nearest(self) -> i128 {
        let below = self.floor();
        below + i128::from(2 * (self.num - below * self.den) >= self.den)
    }

    /// The nearest whole number, the smaller one of two that are equally near.
    fn nearest_down(self) -> i128 {
        let below = self.floor();
        below + i128::from(2 * (self.num - below * self.den) > self.den)
    }
}

/// Bits of a magnitude.
fn size(n: i128) -> u32 {
    128 - n.abs().leading_zeros()
}

/// What becomes of a blend of texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// It stays what it is.
    Exact,
    /// It is a half.
    Half,
    /// It is a fraction of 16 bits; the largest number of a texel, which stands for 1.
    Fraction(i128),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Wrap,
    Mirror,
    Clamp,
    Border,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    One,
    Two,
    Three,
    Layers1,
    Layers2,
    Cube,
    Cubes,
    Linear,
}

impl Shape {
    pub fn axes(self) -> usize {
        match self {
            Self::One | Self::Layers1 | Self::Linear => 1,
            Self::Two | Self::Layers2 | Self::Cube | Self::Cubes => 2,
            Self::Three => 3,
        }
    }
}

/// A texel's channels as exact numbers; the value of each is `numbers / unit`.
pub struct Model<'a> {
    pub shape: Shape,
    pub size: [i128; 3],
    pub layers: u32,
    pub channels: usize,
    pub modes: [Mode; 3],
    pub linear: bool,
    pub normalised: bool,
    /// The numbers of all channels of all texels, times `scale`.
    pub numbers: &'a [i128],
    pub scale: i128,
    /// The border colour, times `scale`.
    pub border: [i128; 4],
    pub form: Form,
}

/// A number that is no number, or too large for any texture.
enum Coordinate {
    Plain(Exact),
    Nothing,
    Far { negative: bool, finite: bool },
}

fn coordinate(x: f32) -> Coordinate {
    if x.is_nan() {
        return Coordinate::Nothing;
    }
    if x.abs() > 1e9 {
        return Coordinate::Far { negative: x < 0.0, finite: x.is_finite() };
    }
    let scaled = f64::from(x) * 2f64.powi(BITS as i32);
    // What is nearer to 0 than that is only known to be above or below it.
    let num = if scaled.abs() < 1.0 && x != 0.0 { x.signum() as i128 } else { scaled as i128 };
    Coordinate::Plain(Exact { num, den: 1 << BITS })
}

impl Model<'_> {
    fn mode(&self, axis: usize) -> Mode {
        match self.modes[axis] {
            _ if self.shape == Shape::Linear => Mode::Border,
            Mode::Wrap | Mode::Mirror if !self.normalised => Mode::Clamp,
            mode => mode,
        }
    }

    /// The texel's number, if it is inside.
    fn resolve(&self, axis: usize, i: i128) -> Option<i128> {
        let n = self.size[axis];
        match self.mode(axis) {
            Mode::Wrap => Some(i.rem_euclid(n)),
            // Every other time the texture is there the other way round.
            Mode::Mirror if i.div_euclid(n).rem_euclid(2) == 1 => Some(n - 1 - i.rem_euclid(n)),
            Mode::Mirror => Some(i.rem_euclid(n)),
            Mode::Clamp => Some(i.clamp(0, n - 1)),
            Mode::Border => Some(i).filter(|i| (0..n).contains(i)),
        }
    }

    /// Where a coordinate lies, in texels.
    fn place(&self, axis: usize, x: f32) -> Exact {
        let n = self.size[axis];
        let x = match coordinate(x) {
            Coordinate::Nothing => Exact::whole(0),
            Coordinate::Far { negative, finite } => match self.mode(axis) {
                Mode::Wrap | Mode::Mirror => {
                    // All numbers that are so large are even; infinities count as 0.
                    let _ = finite;
                    Exact::whole(0)
                }
                _ => return Exact::whole(if negative { -1 << 40 } else { 1 << 40 }),
            },
            Coordinate::Plain(x) => x,
        };
        if !self.normalised {
            return x;
        }
        // Cut off behind 21 bits, then multiplied.
        Exact { num: x.times(1 << 21).floor() * n, den: 1 << 21 }
    }

    /// The two texels of an axis and the weight of the second one, in 256ths.
    fn pair(&self, axis: usize, place: Exact) -> ([Option<i128>; 2], i128) {
        if !self.linear {
            return ([self.resolve(axis, place.floor()), None], 0);
        }
        let blend = place.minus_half().times(256).nearest();
        let (i, second) = (blend.div_euclid(256), blend.rem_euclid(256));
        let texels = [self.resolve(axis, i), self.resolve(axis, i + 1)];
        // Beyond the edge it is one texel, all of it.
        let clamped = self.mode(axis) == Mode::Clamp && texels[0] == texels[1];
        (texels, if clamped { 0 } else { second })
    }

    fn number(&self, texel: Option<[i128; 3]>, channel: usize) -> i128 {
        let Some([x, y, z]) = texel else { return self.border[channel] };
        let index = ((z * self.size[1] + y) * self.size[0] + x) * self.channels as i128;
        self.numbers[index as usize + channel]
    }

    /// The face that a direction meets, and where on it: the direction is divided by its largest magnitude in two steps of single precision.
    fn face(&self, direction: [f32; 3]) -> (i128, [Exact; 2]) {
        let most = direction.iter().map(|x| f64::from(x.abs())).fold(0.0, f64::max);
        // Doubles have more than twice the bits, so that each step is rounded once.
        let part = f64::from((1.0 / most) as f32);
        let [x, y, z] = direction.map(|x| match coordinate((f64::from(x) * part) as f32) {
            Coordinate::Plain(x) => x.num,
            _ => 0,
        });
        let (face, s, t) = if z.abs() >= y.abs() && z.abs() >= x.abs() {
            if z >= 0 { (4, x, -y) } else { (5, -x, -y) }
        } else if y.abs() >= x.abs() {
            if y >= 0 { (2, x, z) } else { (3, x, -z) }
        } else if x >= 0 {
            (0, -z, -y)
        } else {
            (1, z, -y)
        };
        // From 0 to 1, and cut off as such a coordinate is.
        let place = |s: i128| Exact { num: (s + (1 << BITS)) >> (BITS - 20), den: 1 << 21 }.times(self.size[0]);
        (face, [place(s), place(t)])
    }

    /// The places of a fetch along its axes, and its layer.
    fn places(&self, at: [f32; 4]) -> (Vec<Exact>, i128) {
        let layer = |cubes: u32| i128::from((at[3].to_bits()).min(cubes - 1));
        match self.shape {
            Shape::Cube | Shape::Cubes => {
                let (face, places) = self.face([at[0], at[1], at[2]]);
                let cube = if self.shape == Shape::Cubes { layer(self.layers / 6) } else { 0 };
                (places.to_vec(), cube * 6 + face)
            }
            Shape::Layers1 | Shape::Layers2 => {
                ((0..self.shape.axes()).map(|axis| self.place(axis, at[axis])).collect(), layer(self.layers))
            }
            Shape::Linear => (vec![Exact::whole(i128::from(at[0].to_bits().cast_signed()))], 0),
            _ => ((0..self.shape.axes()).map(|axis| self.place(axis, at[axis])).collect(), 0),
        }
    }

    /// The corners of a fetch: texels, and weights in 256ths.
    fn corners(&self, at: [f32; 4]) -> Vec<(Option<[i128; 3]>, i128)> {
        let (places, layer) = self.places(at);
        let pairs: Vec<_> = places.iter().enumerate().map(|(axis, place)| self.pair(axis, *place)).collect();
        let count = if self.linear { 1 << pairs.len() } else { 1 };
        let part = |axis: usize| pairs.get(axis).map_or(0, |(_, second)| *second);
        let weights = shares(part(0), part(1), part(2));
        let corner = |corner: usize| {
            let mut texel = Some([0, 0, layer]);
            for (axis, (texels, _)) in pairs.iter().enumerate() {
                texel = texel.zip(texels[corner >> axis & 1]).map(|(mut texel, i)| {
                    texel[axis] = i;
                    texel
                });
            }
            (texel, weights[corner])
        };
        (0..count).map(corner).collect()
    }

    /// What a fetch gives: numerators, and the denominator of all; channels that are not there are 0.
    pub fn fetch(&self, at: [f32; 4]) -> ([i128; 4], i128) {
        let corners = self.corners(at);
        let parts = |channel| -> Vec<(i128, i128)> {
            corners.iter().map(|(texel, weight)| (*weight, self.number(*texel, channel))).collect()
        };
        let of = |channel: usize| match self.form {
            _ if channel >= self.channels => 0,
            Form::Fraction(most) if !self.linear => self.number(corners[0].0, channel).max(-most),
            _ if !self.linear => self.number(corners[0].0, channel),
            Form::Exact => single(&parts(channel)),
            Form::Half => half(&parts(channel)),
            Form::Fraction(most) => fraction(most, sum(&parts(channel))),
        };
        let den = match self.form {
            _ if !self.linear => self.scale,
            Form::Exact | Form::Half => 256 * self.scale,
            Form::Fraction(most) => wide(most),
        };
        ([0, 1, 2, 3].map(of), den)
    }

    /// One channel of four texels: (i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j).
    pub fn gather(&self, at: [f32; 4], channel: usize) -> ([i128; 4], i128) {
        let all = Model { linear: true, border: self.border, ..*self };
        let corners = all.corners(at);
        let of = |corner: usize| match self.form {
            _ if channel >= self.channels => 0,
            Form::Fraction(most) => fraction(most, 256 * all.number(corners[corner].0, channel)),
            _ => all.number(corners[corner].0, channel),
        };
        let den = if let Form::Fraction(most) = self.form { wide(most) } else { self.scale };
        ([2, 3, 1, 0].map(of), den)
    }
}

/// The weights of eight corners, in 256ths of all: those of slices are divided among their columns, and those among their texels.
fn shares(x: i128, y: i128, z: i128) -> [i128; 8] {
    let of = |weight: i128, share: i128| Exact::whole(weight * share).over(256);
    let mut all = [0; 8];
    for (slice, weight) in [256 - z, z].into_iter().enumerate() {
        let far = of(weight, x).nearest();
        let near = weight - far;
        let (near_second, far_second) = (of(near, y).nearest_down(), of(far, y).nearest());
        all[4 * slice..][..4].copy_from_slice(&[near - near_second, far - far_second, near_second, far_second]);
    }
    all
}

/// 256ths of numbers of singles, of each slice what is not more than 28 bits of the largest one; it is rounded afterwards.
fn single(parts: &[(i128, i128)]) -> i128 {
    parts
        .chunks(4)
        .map(|slice| {
            let bits =
                slice.iter().filter(|(weight, _)| *weight > 0).map(|(_, number)| size(*number)).max().unwrap_or(0);
            let unit = 1 << bits.saturating_sub(28);
            slice.iter().map(|(weight, number)| weight * (number / unit) * unit).sum::<i128>()
        })
        .sum()
}

fn sum(parts: &[(i128, i128)]) -> i128 {
    parts.iter().map(|(weight, number)| weight * number).sum()
}

/// A half of 256ths of numbers: 15 bits of the largest number of a slice are kept, and those of all others that are as large.
fn half(parts: &[(i128, i128)]) -> i128 {
    let mut all = 0;
    let mut finest = 0;
    for slice in parts.chunks(4) {
        let bits = slice.iter().filter(|(weight, _)| *weight > 0).map(|(_, number)| size(*number)).max().unwrap_or(0);
        let unit = 1 << bits.saturating_sub(15);
        finest = finest.max(bits);
        all += slice.iter().map(|(weight, number)| weight * (number / unit) * unit).sum::<i128>();
    }
    // The larger slice says which bits of the sum are kept: one more than its own.
    let unit = 1 << finest.saturating_sub(16);
    let all = all.div_euclid(unit) * unit;
    // 11 bits of the result; half of the last one and more goes away from 0.
    let last = 1 << size(all).saturating_sub(11);
    all.signum() * ((2 * all.abs() + last) / (2 * last)) * last
}

/// What stands for 1 where blends have 16 bits.
const fn wide(most: i128) -> i128 {
    if most == 255 || most == 65_535 { 65_535 } else { 32_767 }
}

/// A fraction of 16 bits of 256ths of numbers.
fn fraction(most: i128, sum: i128) -> i128 {
    let sum = Exact::whole(sum);
    match most {
        255 => sum.times(257).over(256).nearest(),
        127 => sum.num + Exact::whole(sum.num + 16 * sum.over(4096).floor()).over(128).nearest(),
        _ => sum.over(256).nearest(),
    }
    .max(-wide(most))
}
