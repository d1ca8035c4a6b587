//! Products of matrices: by type of their elements, of several sizes in one launch, and with the sum in parts.

use super::{Case, Real, Why, halves, kernel, random, run, within, words};
use half::bf16;
use warpstep::Kernel;

/// Rows of the result, its columns, and terms of each sum.
#[derive(Clone, Copy)]
struct Size {
    m: usize,
    n: usize,
    k: usize,
}

impl Size {
    const fn all(self) -> [usize; 3] {
        [self.m, self.n, self.k]
    }

    fn tiles(self, tile: usize) -> (u32, u32) {
        (self.m.div_ceil(tile) as u32, self.n.div_ceil(tile) as u32)
    }
}

/// The product, each element with the sum of its terms' sizes.
fn product<T: Real>(a: &[T], b: &[T], Size { m, n, k }: Size) -> Vec<(f64, f64)> {
    let mut all = vec![(0.0, 0.0); m * n];
    for (at, (sum, sizes)) in all.iter_mut().enumerate() {
        for inner in 0..k {
            let term = a[at / n * k + inner].real() * b[inner * n + at % n].real();
            *sum += term;
            *sizes += term.abs();
        }
    }
    all
}

/// The same with the bound as a part of the terms' sizes.
fn bounded<T: Real>(a: &[T], b: &[T], size: Size, bound: f64) -> impl Iterator<Item = (f64, f64)> + use<T> {
    product(a, b, size).into_iter().map(move |(sum, sizes)| (sum, sizes * bound))
}

/// Two tiles, one of them in part, and five steps of the loop, the last in part.
const SIZE: Size = Size { m: 48, n: 32, k: 144 };

/// Each of the `k` additions drops less than a unit of 24 bits of a sum that is not more than all terms' sizes.
const ADDED: f64 = SIZE.k as f64 / (1 << 23) as f64;

fn matmul<'a, T: warpstep::Element, S: warpstep::Element>(
    kernel: Kernel<'a>,
    (a, b, c): (&'a [T], &'a [T], &'a mut [S]),
    size: Size,
) -> Kernel<'a> {
    let kernel = kernel.arg(a).arg(b).arg(c);
    size.all().into_iter().fold(kernel, |kernel, length| kernel.arg(length as u32))
}

fn simple<T, S>(
    text: &str,
    seed: Option<u64>,
    make: fn(u64, usize) -> Vec<T>,
    tile: usize,
    bound: f64,
) -> Result<(), String>
where
    T: Real + warpstep::Element,
    S: Real + warpstep::Element + Default,
{
    let (a, b) = (make(1, SIZE.m * SIZE.k), make(2, SIZE.k * SIZE.n));
    let mut c = vec![S::default(); SIZE.m * SIZE.n];
    let (x, y) = SIZE.tiles(tile);
    run(matmul(kernel(text, (x, y, 1), seed)?, (&a[..], &b[..], &mut c[..]), SIZE))?;
    within("c", &c, bounded(&a, &b, SIZE, bound))
}

/// Bound: what is added (`ADDED`). Products of these elements are exact.
const F16: Case = Case { name: "matmul_f16", run: |text, seed| simple::<_, f32>(text, seed, halves, 32, ADDED) };

/// Bound: `ADDED`, in tiles of 64 by 64 with four warps.
const BF16: Case = Case {
    name: "matmul_bf16",
    run: |text, seed| simple::<_, f32>(text, seed, |seed, count| random(seed, count, bf16::from_f64), 64, ADDED),
};

/// Bound: `ADDED`, and for both factors of each term the bits beyond the ten that tf32 has, which are cut off.
const TF32: Case = Case {
    name: "matmul_tf32",
    run: |text, seed| simple::<_, f32>(text, seed, words, 32, ADDED + 2.0 / f64::from(1 << 10)),
};

/// Bound: `ADDED`, where a chain of fused operations is within half of it.
const F32: Case = Case { name: "matmul_f32", run: |text, seed| simple::<_, f32>(text, seed, words, 32, ADDED / 2.0) };

/// Exact: no sum is beyond 32 bits.
const I8: Case = Case {
    name: "matmul_i8",
    run: |text, seed| simple::<_, i32>(text, seed, |seed, count| random(seed, count, |v| (v * 63.5) as i8), 32, 0.0),
};

/// Two parts of three steps each, the last of which is a part of one, added up by atomics: bound `ADDED` with the two.
const SPLIT: Case = Case {
    name: "splitk",
    run: |text, seed| {
        let (size, part) = (Size { k: 176, ..SIZE }, 96);
        let (a, b) = (halves(3, size.m * size.k), halves(4, size.k * size.n));
        let mut c = vec![0f32; size.m * size.n];
        let (x, y) = size.tiles(32);
        let kernel = kernel(text, (x, y, size.k.div_ceil(part) as u32), seed)?;
        run(matmul(kernel, (&a[..], &b[..], &mut c[..]), size).arg(part as u32))?;
        within("c", &c, bounded(&a, &b, size, (size.k + 2) as f64 / f64::from(1 << 23)))
    },
};

/// Five tiles of four problems, one of them without terms, by two blocks: bound `ADDED` of the longest sum.
const GROUPED: Case = Case {
    name: "grouped",
    run: |text, seed| {
        let sizes = [(40, 24, 136), (16, 48, 96), (24, 8, 0), (8, 32, 72)].map(|(m, n, k)| Size { m, n, k });
        let (mut table, mut lengths) = (Vec::new(), [0; 3]);
        for size in sizes {
            table.extend(size.all().into_iter().chain(lengths).map(|number| number as i32));
            let next = [size.m * size.k, size.k * size.n, size.m * size.n];
            lengths = [0, 1, 2].map(|part| (lengths[part] + next[part]).next_multiple_of(16));
        }
        let (a, b) = (halves(5, lengths[0]), halves(6, lengths[1]));
        let mut c = vec![0f32; lengths[2]];
        let kernel = kernel(text, (2, 1, 1), seed)?.arg(&a).arg(&b).arg(&mut c);
        run(kernel.arg(&table).arg(sizes.len() as u32))?;
        for (size, row) in sizes.into_iter().zip(table.chunks(6)) {
            let [from_a, from_b, from_c] = [3, 4, 5].map(|column| row[column] as usize);
            let found = &c[from_c..from_c + size.m * size.n];
            within("c", found, bounded(&a[from_a..], &b[from_b..], size, ADDED))?;
        }
        Ok(())
    },
};

#[test]
fn elements_of_f16() {
    F16.holds(&[
        (78, Why::Joins),
        (226, Why::Again(&[144, 313])),
        (227, Why::Again(&[145, 314])),
        (312, Why::Twice(313)),
        (313, Why::Twice(312)),
    ]);
}

#[test]
fn elements_of_bf16() {
    BF16.holds(&[
        (82, Why::Joins),
        (277, Why::Again(&[152, 383])),
        (278, Why::Again(&[153, 384])),
        (382, Why::Twice(383)),
        (383, Why::Twice(382)),
    ]);
}

#[test]
fn elements_of_tf32() {
    TF32.holds(&[
        (95, Why::Joins),
        (283, Why::Again(&[201, 423])),
        (284, Why::Again(&[202, 424])),
        (422, Why::Twice(423)),
        (423, Why::Twice(422)),
    ]);
}

#[test]
fn elements_of_f32() {
    F32.holds(&[(92, Why::Joins)]);
}

#[test]
fn elements_of_i8() {
    I8.holds(&[(74, Why::Joins), (291, Why::Again(&[144, 340])), (339, Why::Twice(340)), (340, Why::Twice(339))]);
}

#[test]
fn sums_in_parts() {
    SPLIT.holds(&[
        (89, Why::Joins),
        (238, Why::Again(&[156, 326])),
        (239, Why::Again(&[157, 327])),
        (325, Why::Twice(326)),
        (326, Why::Twice(325)),
    ]);
}

#[test]
fn several_products() {
    GROUPED.holds(&[
        (284, Why::Joins),
        (391, Why::Again(&[323, 478])),
        (392, Why::Again(&[324, 479])),
        (477, Why::Twice(478)),
        (478, Why::Twice(477)),
    ]);
}
