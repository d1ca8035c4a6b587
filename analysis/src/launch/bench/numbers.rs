//! Kernels of real numbers among the ten: softmax, layer normalisation, Fourier transforms, sparse matrices, option prices,
//! a stencil. What they compute is computed again in double precision, in another way where there is one.

use super::data::{
    Xorshift, blocks, buffer, bytes_f32, bytes_f64, bytes_u32, close, double, doubles_of, floats_of, halfwords_of, int,
    line,
};
use super::{Setup, Shape};
use half::f16;

/// What a kernel is launched with and how its results are checked; `None` for an unknown name.
pub(super) fn setup(name: &str, shift: u32) -> Option<Setup> {
    let mut random = Xorshift::new();
    let rows = |most: usize| (most >> shift).max(8);
    Some(match name {
        "softmax" => softmax(rows(8192), &mut random),
        "layernorm" => layernorm(rows(16384), &mut random),
        "fft" => fft((4096 >> shift).max(4), &mut random),
        "spmv" => spmv(rows(1 << 17), &mut random),
        "blackscholes" => blackscholes(((1usize << 20) >> shift).max(256), &mut random),
        "stencil" => stencil((2048 >> shift.div_ceil(2)).max(64), &mut random),
        _ => return None,
    })
}

/// Columns of the matrices of softmax and of layer normalisation; points of a Fourier transform.
const ROW: usize = 1024;

/// Whether each row of a result is what `wanted` makes of the same row of the input.
fn rows_close(input: &[f32], found: &[f32], error: f64, wanted: impl Fn(&[f64]) -> Vec<f64>) -> bool {
    let right = |(row, found): (&[f32], &[f32])| {
        let row: Vec<f64> = row.iter().copied().map(f64::from).collect();
        wanted(&row).into_iter().zip(found).all(|(wanted, found)| close(*found, wanted, error * wanted.abs().max(1e-3)))
    };
    input.len() == found.len() && input.chunks(ROW).zip(found.chunks(ROW)).all(right)
}

/// Blocks of one warp for each of 8 rows.
fn warp_a_row(rows: usize) -> Shape {
    line(32 * rows)
}

fn softmax(rows: usize, random: &mut Xorshift) -> Setup {
    let a: Vec<f32> = random.floats(rows * ROW).into_iter().map(|x| 8.0 * x - 4.0).collect();
    Setup {
        size: format!("{rows} rows of {ROW}"),
        buffers: vec![("a", bytes_f32(&a)), ("o", vec![0; 4 * rows * ROW])],
        launches: vec![("softmax", warp_a_row(rows), vec![buffer("a"), buffer("o"), int(rows), int(ROW)])],
        check: Box::new(move |d| {
            rows_close(&a, &floats_of(d, "o"), 1e-4, |row| {
                // No number is so large that its power overflows in double precision.
                let powers: Vec<f64> = row.iter().map(|x| libm::exp(*x)).collect();
                let sum: f64 = powers.iter().sum();
                powers.into_iter().map(|power| power / sum).collect()
            })
        }),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a row is short")]
fn layernorm(rows: usize, random: &mut Xorshift) -> Setup {
    let (a, gain, bias) = (random.floats(rows * ROW), random.floats(ROW), random.floats(ROW));
    let args = ["a", "gain", "bias", "o"].map(buffer).to_vec();
    Setup {
        size: format!("{rows} rows of {ROW}"),
        buffers: vec![
            ("a", bytes_f32(&a)),
            ("gain", bytes_f32(&gain)),
            ("bias", bytes_f32(&bias)),
            ("o", vec![0; 4 * rows * ROW]),
        ],
        launches: vec![("layernorm", line(256 * rows), args)],
        check: Box::new(move |d| {
            rows_close(&a, &floats_of(d, "o"), 1e-2, |row| {
                let count = row.len() as f64;
                let mean = row.iter().sum::<f64>() / count;
                let variance = row.iter().map(|x| x * x).sum::<f64>() / count - mean * mean;
                let scale = 1.0 / libm::sqrt(variance + 1e-5);
                let of = |(k, x): (usize, &f64)| (x - mean) * scale * f64::from(gain[k]) + f64::from(bias[k]);
                row.iter().enumerate().map(of).collect()
            })
        }),
    }
}

/// A complex number.
type Complex = (f64, f64);

/// `exp(-2 pi i k / n)`.
#[expect(clippy::cast_precision_loss, reason = "they are small")]
fn root(k: usize, n: usize) -> Complex {
    let angle = -2.0 * std::f64::consts::PI * k as f64 / n as f64;
    (libm::cos(angle), libm::sin(angle))
}

/// The Fourier transform of every `stride`th of 1024 points, in halves.
fn transform(points: &[Complex], stride: usize, roots: &[Complex]) -> Vec<Complex> {
    if stride == ROW {
        return vec![points[0]];
    }
    let (even, odd) = (transform(points, 2 * stride, roots), transform(&points[stride..], 2 * stride, roots));
    let turned: Vec<Complex> = odd
        .iter()
        .enumerate()
        .map(|(k, (x, y))| {
            let (c, s) = roots[k * stride];
            (x * c - y * s, x * s + y * c)
        })
        .collect();
    let sum = even.iter().zip(&turned).map(|(a, b)| (a.0 + b.0, a.1 + b.1));
    let difference = even.iter().zip(&turned).map(|(a, b)| (a.0 - b.0, a.1 - b.1));
    sum.chain(difference).collect()
}

fn fft(count: usize, random: &mut Xorshift) -> Setup {
    let a = random.floats(2 * count * ROW);
    let roots: Vec<Complex> = (0..ROW).map(|k| root(k, ROW)).collect();
    #[expect(clippy::cast_possible_truncation, reason = "the kernel's precision")]
    let table: Vec<f32> = roots.iter().flat_map(|(c, s)| [*c as f32, *s as f32]).collect();
    Setup {
        size: format!("{count} of {ROW} points"),
        buffers: vec![("a", bytes_f32(&a)), ("roots", bytes_f32(&table))],
        launches: vec![("fft", line(256 * count), vec![buffer("a"), buffer("roots")])],
        check: Box::new(move |d| {
            let found = floats_of(d, "a");
            let right = |(points, found): (&[f32], &[f32])| {
                let points: Vec<Complex> =
                    points.as_chunks().0.iter().map(|[x, y]| (f64::from(*x), f64::from(*y))).collect();
                let wanted = transform(&points, 1, &roots);
                let near =
                    |((x, y), found): (&Complex, &[f32; 2])| close(found[0], *x, 2e-3) && close(found[1], *y, 2e-3);
                wanted.iter().zip(found.as_chunks().0).all(near)
            };
            found.len() == a.len() && a.chunks(2 * ROW).zip(found.chunks(2 * ROW)).all(right)
        }),
    }
}

/// A matrix with 32 to 95 entries a row, at random columns.
fn spmv(rows: usize, random: &mut Xorshift) -> Setup {
    let mut starts = vec![0usize];
    for row in 0..rows {
        starts.push(starts[row] + 32 + random.below(64));
    }
    let entries = starts[rows];
    let columns: Vec<usize> = (0..entries).map(|_| random.below(rows)).collect();
    let (values, x) = (random.floats(entries), random.floats(rows));
    let words = |numbers: &[usize]| bytes_u32(numbers.iter().map(|n| u32::try_from(*n).unwrap_or(u32::MAX)));
    let mut args = ["starts", "columns", "values", "x", "y"].map(buffer).to_vec();
    args.push(int(rows));
    Setup {
        size: format!("{rows} rows, {entries} entries"),
        buffers: vec![
            ("starts", words(&starts)),
            ("columns", words(&columns)),
            ("values", bytes_f32(&values)),
            ("x", bytes_f32(&x)),
            ("y", vec![0; 4 * rows]),
        ],
        launches: vec![("spmv", warp_a_row(rows), args)],
        check: Box::new(move |d| {
            let right = |(row, found): (usize, &f32)| {
                let entries = starts[row]..starts[row + 1];
                let wanted: f64 = entries.map(|i| f64::from(values[i]) * f64::from(x[columns[i]])).sum();
                close(*found, wanted, 1e-5 * wanted)
            };
            let found = floats_of(d, "y");
            found.len() == rows && found.iter().enumerate().all(right)
        }),
    }
}

fn blackscholes(n: usize, random: &mut Xorshift) -> Setup {
    const RATE: f64 = 0.02;
    const VOLATILITY: f64 = 0.3;
    let mut between = |low: f64, high: f64| -> Vec<f64> {
        random.floats(n).into_iter().map(|x| low + (high - low) * f64::from(x)).collect()
    };
    let (prices, strikes, years) = (between(5.0, 30.0), between(1.0, 100.0), between(0.25, 10.0));
    let mut args = ["prices", "strikes", "years", "calls", "puts"].map(buffer).to_vec();
    args.extend([double(RATE), double(VOLATILITY)]);
    Setup {
        size: format!("n={n}"),
        buffers: vec![
            ("prices", bytes_f64(&prices)),
            ("strikes", bytes_f64(&strikes)),
            ("years", bytes_f64(&years)),
            ("calls", vec![0; 8 * n]),
            ("puts", vec![0; 8 * n]),
        ],
        launches: vec![("blackscholes", line(n), args)],
        check: Box::new(move |d| {
            let (calls, puts) = (doubles_of(d, "calls"), doubles_of(d, "puts"));
            let right = |i: usize| {
                let (price, strike, time) = (prices[i], strikes[i], years[i]);
                let deviation = VOLATILITY * libm::sqrt(time);
                let d = (libm::log(price / strike) + (RATE + VOLATILITY * VOLATILITY / 2.0) * time) / deviation;
                let normal = |d: f64| libm::erfc(-d * std::f64::consts::FRAC_1_SQRT_2) / 2.0;
                let discounted = strike * libm::exp(-RATE * time);
                let call = price * normal(d) - discounted * normal(d - deviation);
                // The put by its parity with the call. The kernel's distribution is an approximation.
                close(calls[i], call, 2e-5) && close(puts[i], call + discounted - price, 2e-5)
            };
            calls.len() == n && puts.len() == n && (0..n).all(right)
        }),
    }
}

/// Four steps of the heat equation on a square of `n` times `n` cells.
fn stencil(n: usize, random: &mut Xorshift) -> Setup {
    const STEPS: usize = 4;
    let a: Vec<f16> = random.floats(n * n).into_iter().map(f16::from_f32).collect();
    let bytes = a.iter().flat_map(|x| x.to_le_bytes()).collect();
    let (width, names) = (n / 2, ["a", "b"]);
    let shape = ([blocks(width, 32), blocks(n, 8), 1], [32, 8, 1]);
    let step = |k: usize| {
        let (from, to) = (buffer(names[k % 2]), buffer(names[(k + 1) % 2]));
        ("stencil", shape, vec![from, to, int(width), int(n)])
    };
    Setup {
        size: format!("{n}x{n}, {STEPS} steps"),
        buffers: vec![("a", bytes), ("b", vec![0; 2 * n * n])],
        launches: (0..STEPS).map(step).collect(),
        check: Box::new(move |d| {
            let mut cells: Vec<f64> = a.iter().map(|x| x.to_f64()).collect();
            for _ in 0..STEPS {
                let after = |i: usize| {
                    let (y, x) = (i / n * n, i % n);
                    let beside = cells[y + (x + n - 1) % n] + cells[y + (x + 1) % n];
                    let around = beside + cells[(i + n) % (n * n)] + cells[(i + n * n - n) % (n * n)];
                    0.2 * (cells[i] + around)
                };
                cells = (0..n * n).map(after).collect();
            }
            let found = halfwords_of(d, "a");
            let near = |(found, wanted): (&u16, &f64)| close(f16::from_bits(*found), *wanted, 4e-3);
            found.len() == cells.len() && found.iter().zip(&cells).all(near)
        }),
    }
}
