//! Fetches by the formulas of the CUDA programming guide ("Texture Fetching", "Cubemap Textures") and the PTX ISA (9.7.10), in exact
//! arithmetic. Nothing of the implementation is used here.

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

    /// What is behind the point, in 256ths to the nearest, ties up.
    fn fraction(self) -> i128 {
        let rest = self.num.rem_euclid(self.den);
        (rest * 512 + self.den).div_euclid(2 * self.den)
    }

    fn times(self, n: i128) -> Self {
        Self { num: self.num * n, den: self.den }
    }

    fn plus(self, n: i128) -> Self {
        Self { num: self.num + n * self.den, den: self.den }
    }

    fn negative(self) -> Self {
        Self { num: -self.num, den: self.den }
    }
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
            _ if matches!(self.shape, Shape::Cube | Shape::Cubes) => Mode::Clamp,
            Mode::Wrap | Mode::Mirror if !self.normalised => Mode::Clamp,
            mode => mode,
        }
    }

    /// The texel's number, if it is inside.
    fn resolve(&self, axis: usize, i: i128) -> Option<i128> {
        let n = self.size[axis];
        match self.mode(axis) {
            Mode::Wrap => Some(i.rem_euclid(n)),
            Mode::Mirror | Mode::Clamp => Some(i.clamp(0, n - 1)),
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
        let whole = x.floor();
        let frac = x.plus(-whole);
        match self.mode(axis) {
            Mode::Wrap => frac,
            Mode::Mirror if whole.rem_euclid(2) == 1 => frac.negative().plus(1),
            Mode::Mirror => frac,
            _ => x,
        }
        .times(n)
    }

    /// The two texels of an axis and the weight of the second one.
    fn pair(&self, axis: usize, place: Exact) -> ([Option<i128>; 2], i128) {
        if !self.linear {
            return ([self.resolve(axis, place.floor()), None], 0);
        }
        let b = place.minus_half();
        let i = b.floor();
        ([self.resolve(axis, i), self.resolve(axis, i + 1)], b.fraction())
    }

    fn number(&self, texel: Option<[i128; 3]>, channel: usize) -> i128 {
        let Some([x, y, z]) = texel else { return self.border[channel] };
        let index = ((z * self.size[1] + y) * self.size[0] + x) * self.channels as i128;
        self.numbers[index as usize + channel]
    }

    /// The face that a direction meets, and where on it.
    fn face(&self, direction: [f32; 3]) -> (i128, [Exact; 2]) {
        let exact = direction.map(|x| match coordinate(x) {
            Coordinate::Plain(x) => x.num,
            _ => 0,
        });
        let [x, y, z] = exact;
        let (face, m, s, t) = if x.abs() >= y.abs() && x.abs() >= z.abs() {
            if x >= 0 { (0, x, -z, -y) } else { (1, -x, z, -y) }
        } else if y.abs() >= z.abs() {
            if y >= 0 { (2, y, x, z) } else { (3, -y, x, -z) }
        } else if z >= 0 {
            (4, z, x, -y)
        } else {
            (5, -z, -x, -y)
        };
        let n = self.size[0];
        let place = |s: i128| if m == 0 { Exact::whole(0) } else { Exact { num: (s + m) * n, den: 2 * m } };
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

    /// The corners of a fetch: texels, and weights in parts of 256 to the power of the number of axes.
    fn corners(&self, at: [f32; 4]) -> Vec<(Option<[i128; 3]>, i128)> {
        let (places, layer) = self.places(at);
        let pairs: Vec<_> = places.iter().enumerate().map(|(axis, place)| self.pair(axis, *place)).collect();
        let count = if self.linear { 1 << pairs.len() } else { 1 };
        let corner = |corner: usize| {
            let (mut texel, mut weight) = (Some([0, 0, layer]), 1);
            for (axis, (texels, second)) in pairs.iter().enumerate() {
                let far = corner >> axis & 1;
                texel = texel.zip(texels[far]).map(|(mut texel, i)| {
                    texel[axis] = i;
                    texel
                });
                weight *= if !self.linear {
                    1
                } else if far == 1 {
                    *second
                } else {
                    256 - second
                };
            }
            (texel, weight)
        };
        (0..count).map(corner).collect()
    }

    /// What a fetch gives: numerators, and the denominator of all; channels that are not there are 0, 0 and 1.
    pub fn fetch(&self, at: [f32; 4]) -> ([i128; 4], i128) {
        let corners = self.corners(at);
        let den = self.scale * if self.linear { 256i128.pow(self.shape.axes() as u32) } else { 1 };
        let channel = |channel: usize| match channel {
            c if c < self.channels => corners.iter().map(|(texel, weight)| weight * self.number(*texel, c)).sum(),
            3 => den,
            _ => 0,
        };
        ([0, 1, 2, 3].map(channel), den)
    }

    /// One channel of four texels: (i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j).
    pub fn gather(&self, at: [f32; 4], channel: usize) -> ([i128; 4], i128) {
        let all = Model { linear: true, border: self.border, ..*self };
        let corners = all.corners(at);
        let of = |corner: usize| match channel {
            c if c < self.channels => all.number(corners[corner].0, c),
            3 => self.scale,
            _ => 0,
        };
        ([2, 3, 1, 0].map(of), self.scale)
    }
}
