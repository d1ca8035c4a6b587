//! Nine kernels of known size, to measure the speed of the machine: their inputs, launches and checks.
//!
//! The sizes are those at which other emulators of PTX were measured (`benches/README.md`). Inputs come from one 32-bit
//! xorshift generator with the seed 12345.

use super::{Arg, Buffer, Data, Device, Failure, KernelLaunch, Problem, Scalar, build};
use crate::base::SourceMap;
use crate::machine::{Config, Stats};
use crate::program::env::ProgEnv;
use crate::verdict::Sink;
use std::sync::Arc;

/// The names of the kernels, in order.
pub const KERNELS: [&str; 9] =
    ["vecadd", "saxpy", "matmul", "matmul_tiled", "reduce", "mandel", "hist", "nbody", "bitonic"];

/// The PTX of all of them, for sm_35.
pub const PTX: &str = include_str!("../../../benches/kernels.ptx");

/// The program of the kernels.
///
/// # Errors
/// None, unless the front end is broken.
pub fn program() -> Result<(Arc<ProgEnv>, SourceMap), (Vec<Problem>, SourceMap)> {
    let mut sources = SourceMap::default();
    let file = sources.add("benches/kernels.ptx", PTX);
    match build(&[file], None, &sources) {
        Ok(env) => Ok((Arc::new(env), sources)),
        Err(problems) => Err((problems, sources)),
    }
}

/// A kernel ready to be launched.
pub struct Case {
    /// Its size in words, e.g. `n=16777216`.
    pub size: String,
    device: Device,
    launches: Vec<KernelLaunch>,
    check: Box<dyn Fn(&Device) -> bool>,
}

impl Case {
    /// Makes the inputs of a kernel; `shift` divides the work by about `2^shift`. `None` for an unknown name.
    ///
    /// # Errors
    /// The memory cap.
    pub fn new(name: &str, shift: u32, env: &Arc<ProgEnv>, config: Config) -> Result<Option<Self>, Failure> {
        let Some(setup) = setup(name, shift.min(16)) else { return Ok(None) };
        let mut device = Device::new(env.clone(), SourceMap::default(), config)?;
        for (name, bytes) in setup.buffers {
            let buffer = Buffer { ty: Scalar::BYTE, init: Data::Hex(bytes), len: None, at: None };
            device.add_buffer(name, &buffer)?;
        }
        let launch = |args: Vec<Arg>| KernelLaunch {
            entry: Some(name.to_owned()),
            grid: setup.shape.0,
            block: setup.shape.1,
            shared: 0,
            args: args.into_iter().map(|a| (a, None)).collect(),
            at: None,
        };
        let launches = setup.args.into_iter().map(launch).collect();
        Ok(Some(Self { size: setup.size, device, launches, check: setup.check }))
    }

    /// Launches the kernel, under an observer of all launches: this is what is measured. Gives the counts of all launches
    /// together.
    ///
    /// # Errors
    /// The run stopped.
    pub fn run<S: Sink>(&mut self, sink: &mut S) -> Result<Stats, Failure> {
        let mut sum = Stats::default();
        for launch in &self.launches {
            let stats = self.device.launch(launch, &mut *sink, &mut |_| ())?;
            sum.blocks += stats.blocks;
            sum.warp_instructions += stats.warp_instructions;
            sum.thread_instructions += stats.thread_instructions;
        }
        Ok(sum)
    }

    /// Whether the results are right; they are computed again on the host.
    #[must_use]
    pub fn correct(&self) -> bool {
        (self.check)(&self.device)
    }
}

struct Setup {
    size: String,
    buffers: Vec<(&'static str, Vec<u8>)>,
    /// Blocks, and threads of each.
    shape: ([u32; 3], [u32; 3]),
    /// The arguments of each launch.
    args: Vec<Vec<Arg>>,
    check: Box<dyn Fn(&Device) -> bool>,
}

struct Xorshift(u32);

impl Xorshift {
    fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    #[expect(clippy::cast_precision_loss, reason = "24 bits fit")]
    fn float(&mut self) -> f32 {
        (self.word() >> 8) as f32 / 16_777_216.0
    }

    fn words(&mut self, n: usize) -> Vec<u32> {
        (0..n).map(|_| self.word()).collect()
    }

    fn floats(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.float()).collect()
    }
}

fn bytes_u32(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn bytes_f32(values: &[f32]) -> Vec<u8> {
    bytes_u32(values.iter().map(|v| v.to_bits()))
}

fn words_of(device: &Device, name: &str) -> Vec<u32> {
    let bytes = device.contents(name).map_or(&[][..], |(_, bytes)| bytes);
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

fn floats_of(device: &Device, name: &str) -> Vec<f32> {
    words_of(device, name).into_iter().map(f32::from_bits).collect()
}

fn buffer(name: &str) -> Arg {
    Arg::Buffer { name: name.to_owned(), offset: 0 }
}

fn int(n: usize) -> Arg {
    let ty = Scalar { meaning: super::Meaning::Signed, bytes: 4 };
    Arg::Scalar(ty, u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes().to_vec())
}

fn float(x: f32) -> Arg {
    let ty = Scalar { meaning: super::Meaning::Float, bytes: 4 };
    Arg::Scalar(ty, x.to_le_bytes().to_vec())
}

/// Blocks of `per` threads for `n` of them.
fn blocks(n: usize, per: usize) -> u32 {
    u32::try_from(n / per).unwrap_or(u32::MAX).max(1)
}

/// Blocks of 256 threads for `n` elements.
fn line(n: usize) -> ([u32; 3], [u32; 3]) {
    ([blocks(n, 256), 1, 1], [256, 1, 1])
}

/// Blocks of 16 times 16 threads for `n` times `n` elements.
fn square(n: usize) -> ([u32; 3], [u32; 3]) {
    ([blocks(n, 16), blocks(n, 16), 1], [16, 16, 1])
}

fn close(got: f32, wanted: f64, error: f64) -> bool {
    (f64::from(got) - wanted).abs() <= error
}

fn setup(name: &str, shift: u32) -> Option<Setup> {
    let mut random = Xorshift(12345);
    let large = ((1usize << 24) >> shift).max(256);
    Some(match name {
        "vecadd" | "saxpy" => elementwise(name == "vecadd", large, &mut random),
        "matmul" | "matmul_tiled" => {
            let n = (512usize >> shift.div_ceil(3)).max(32);
            let (a, b) = (random.floats(n * n), random.floats(n * n));
            Setup {
                size: format!("{n}x{n}"),
                buffers: vec![("a", bytes_f32(&a)), ("b", bytes_f32(&b)), ("c", vec![0; 4 * n * n])],
                shape: square(n),
                args: vec![vec![buffer("a"), buffer("b"), buffer("c"), int(n)]],
                check: Box::new(move |d| {
                    let c = floats_of(d, "c");
                    let mut random = Xorshift(99);
                    c.len() == n * n
                        && (0..100).all(|_| {
                            let (y, x) = (random.word() as usize % n, random.word() as usize % n);
                            let sum: f64 = (0..n).map(|k| f64::from(a[y * n + k]) * f64::from(b[k * n + x])).sum();
                            close(c[y * n + x], sum, 1e-3 * sum)
                        })
                }),
            }
        }
        "reduce" => {
            let a = random.floats(large);
            Setup {
                size: format!("n={large}"),
                buffers: vec![("a", bytes_f32(&a)), ("o", vec![0; large / 64])],
                shape: line(large),
                args: vec![vec![buffer("a"), buffer("o"), int(large)]],
                check: Box::new(move |d| {
                    let found: f64 = floats_of(d, "o").into_iter().map(f64::from).sum();
                    let wanted: f64 = a.iter().copied().map(f64::from).sum();
                    (found - wanted).abs() < 1e-4 * wanted
                }),
            }
        }
        "mandel" => {
            let d = (1024usize >> shift.div_ceil(2)).max(16);
            Setup {
                size: format!("{d}x{d}, 256 iterations"),
                buffers: vec![("o", vec![0; 4 * d * d])],
                shape: square(d),
                args: vec![vec![buffer("o"), int(d), int(d), int(256)]],
                check: Box::new(move |device| mandel_close(&words_of(device, "o"), d)),
            }
        }
        "hist" => {
            let a = random.words(large);
            Setup {
                size: format!("n={large}"),
                buffers: vec![("a", bytes_u32(a.iter().copied())), ("h", vec![0; 1024])],
                shape: line(large),
                args: vec![vec![buffer("a"), buffer("h"), int(large)]],
                check: Box::new(move |d| {
                    let mut wanted = vec![0u32; 256];
                    a.iter().for_each(|x| wanted[(x & 255) as usize] += 1);
                    words_of(d, "h") == wanted
                }),
            }
        }
        "nbody" => nbody((4096usize >> shift.div_ceil(2)).max(256), &mut random),
        "bitonic" => bitonic(((1usize << 20) >> shift).max(512), &mut random),
        _ => return None,
    })
}

/// `c = a + b`, or `b = 2.5 a + b`.
fn elementwise(add: bool, n: usize, random: &mut Xorshift) -> Setup {
    let (a, b) = (random.floats(n), random.floats(n));
    let third = vec![0; if add { 4 * n } else { 4 }];
    Setup {
        size: format!("n={n}"),
        buffers: vec![("a", bytes_f32(&a)), ("b", bytes_f32(&b)), ("c", third)],
        shape: line(n),
        args: vec![vec![buffer("a"), buffer("b"), if add { buffer("c") } else { float(2.5) }, int(n)]],
        check: Box::new(move |d| {
            let found = floats_of(d, if add { "c" } else { "b" });
            let right = |(i, x): (usize, &f32)| {
                if add { *x == a[i] + b[i] } else { (x - (2.5 * a[i] + b[i])).abs() <= 1e-5 }
            };
            found.len() == a.len() && found.iter().enumerate().all(right)
        }),
    }
}

/// A bitonic sort, a launch for each step.
fn bitonic(n: usize, random: &mut Xorshift) -> Setup {
    let mut sorted = random.words(n);
    let unsorted = bytes_u32(sorted.iter().copied());
    sorted.sort_unstable();
    let powers = |limit: usize| std::iter::successors(Some(2), |k| Some(2 * k)).take_while(move |k| *k <= limit);
    let steps = powers(n).flat_map(|k| powers(k).map(move |p| (k / p, k)));
    Setup {
        size: format!("n={n}"),
        buffers: vec![("a", unsorted)],
        shape: line(n),
        args: steps.map(|(j, k)| vec![buffer("a"), int(j), int(k)]).collect(),
        check: Box::new(move |d| words_of(d, "a") == sorted),
    }
}

/// Whether an image of the Mandelbrot set is right, up to 0.1 % of its points or one a row: rounding moves points at its
/// edge, which weighs more in a small image.
#[expect(clippy::cast_precision_loss, reason = "the kernel's own arithmetic")]
fn mandel_close(found: &[u32], d: usize) -> bool {
    let point = |x: usize, y: usize| {
        let (cx, cy) = (-2.0 + 3.0 * x as f32 / d as f32, -1.5 + 3.0 * y as f32 / d as f32);
        let (mut zx, mut zy) = (0f32, 0f32);
        let escaped = |zx: &mut f32, zy: &mut f32| {
            let (x2, y2) = (*zx * *zx, *zy * *zy);
            if x2 + y2 > 4.0 {
                return true;
            }
            (*zx, *zy) = (x2 - y2 + cx, 2.0 * *zx * *zy + cy);
            false
        };
        (0..256u32).find(|_| escaped(&mut zx, &mut zy)).unwrap_or(256)
    };
    let wrong = (0..d * d).filter(|i| found.get(*i) != Some(&point(i % d, i / d))).count();
    wrong <= d.max(d * d / 1000)
}

fn nbody(n: usize, random: &mut Xorshift) -> Setup {
    const INPUT: [&str; 4] = ["x", "y", "z", "m"];
    const OUTPUT: [&str; 3] = ["ox", "oy", "oz"];
    let data: Vec<Vec<f32>> = INPUT.iter().map(|_| random.floats(n)).collect();
    let inputs = INPUT.into_iter().zip(&data).map(|(name, values)| (name, bytes_f32(values)));
    let outputs = OUTPUT.into_iter().map(|name| (name, vec![0; 4 * n]));
    let mut args: Vec<Arg> = INPUT.iter().chain(&OUTPUT).map(|name| buffer(name)).collect();
    args.push(int(n));
    Setup {
        size: format!("n={n}"),
        buffers: inputs.chain(outputs).collect(),
        shape: line(n),
        args: vec![args],
        check: Box::new(move |device| {
            let found = floats_of(device, "ox");
            let at = |k: usize, i: usize| f64::from(data[k][i]);
            let mut random = Xorshift(99);
            (0..20).all(|_| {
                let i = random.word() as usize % n;
                let pull = |j: usize| {
                    let (dx, dy, dz) = (at(0, j) - at(0, i), at(1, j) - at(1, i), at(2, j) - at(2, i));
                    let r2 = dx * dx + dy * dy + dz * dz + 0.01;
                    dx * at(3, j) / (r2 * libm::sqrt(r2))
                };
                let wanted: f64 = (0..n).map(pull).sum();
                found.get(i).is_some_and(|x| close(*x, wanted, 1e-2 * (wanted.abs() + 10.0)))
            })
        }),
    }
}
