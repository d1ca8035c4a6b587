//! The nine kernels: their inputs, launches and checks.

use super::data::{Xorshift, blocks, buffer, bytes_f32, bytes_u32, close, float, floats_of, int, line, words_of};
use super::{KERNELS, Setup, Shape};
use crate::launch::Arg;

/// Blocks of 16 times 16 threads for `n` times `n` elements.
fn square(n: usize) -> Shape {
    ([blocks(n, 16), blocks(n, 16), 1], [16, 16, 1])
}

/// What a kernel is launched with and how its results are checked; `None` for an unknown name.
pub(super) fn setup(name: &str, shift: u32) -> Option<Setup> {
    let name = KERNELS.into_iter().find(|kernel| *kernel == name)?;
    let mut random = Xorshift::new();
    let large = ((1usize << 24) >> shift).max(256);
    Some(match name {
        "vecadd" | "saxpy" => elementwise(name, large, &mut random),
        "matmul" | "matmul_tiled" => {
            let n = (512usize >> shift.div_ceil(3)).max(32);
            let (a, b) = (random.floats(n * n), random.floats(n * n));
            Setup {
                size: format!("{n}x{n}"),
                buffers: vec![("a", bytes_f32(&a)), ("b", bytes_f32(&b)), ("c", vec![0; 4 * n * n])],
                launches: vec![(name, square(n), vec![buffer("a"), buffer("b"), buffer("c"), int(n)])],
                check: Box::new(move |d| {
                    let c = floats_of(d, "c");
                    let mut random = Xorshift::places();
                    c.len() == n * n
                        && (0..100).all(|_| {
                            let (y, x) = (random.below(n), random.below(n));
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
                launches: vec![(name, line(large), vec![buffer("a"), buffer("o"), int(large)])],
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
                launches: vec![(name, square(d), vec![buffer("o"), int(d), int(d), int(256)])],
                check: Box::new(move |device| mandel_close(&words_of(device, "o"), d)),
            }
        }
        "hist" => {
            let a = random.words(large);
            Setup {
                size: format!("n={large}"),
                buffers: vec![("a", bytes_u32(a.iter().copied())), ("h", vec![0; 1024])],
                launches: vec![(name, line(large), vec![buffer("a"), buffer("h"), int(large)])],
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
fn elementwise(name: &'static str, n: usize, random: &mut Xorshift) -> Setup {
    let add = name == "vecadd";
    let (a, b) = (random.floats(n), random.floats(n));
    let third = vec![0; if add { 4 * n } else { 4 }];
    let third_argument = if add { buffer("c") } else { float(2.5) };
    Setup {
        size: format!("n={n}"),
        buffers: vec![("a", bytes_f32(&a)), ("b", bytes_f32(&b)), ("c", third)],
        launches: vec![(name, line(n), vec![buffer("a"), buffer("b"), third_argument, int(n)])],
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
        launches: steps.map(|(j, k)| ("bitonic", line(n), vec![buffer("a"), int(j), int(k)])).collect(),
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
        launches: vec![("nbody", line(n), args)],
        check: Box::new(move |device| {
            let found = floats_of(device, "ox");
            let at = |k: usize, i: usize| f64::from(data[k][i]);
            let mut random = Xorshift::places();
            (0..20).all(|_| {
                let i = random.below(n);
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
