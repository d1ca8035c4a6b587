//! Causal attention, forward and backward: a softmax in pieces, products of products, reductions over the lanes of a warp.

use super::{Case, Why, f16, halves, kernel, run, within};
use std::sync::LazyLock;

/// Rows of each head, heads, and elements of a row; tiles have 32 rows, so that the last is one in part, and the longest loop
/// has four steps.
const N: usize = 112;
const HEADS: usize = 2;
const D: usize = 32;
const GRID: (u32, u32, u32) = (N.div_ceil(32) as u32, HEADS as u32, 1);
const SCALE: f64 = 0.176_776_695;

/// The largest relative error of rounding to `f16`; what is smaller than its normal numbers is off by `TINY` at most.
const HALF: f64 = 1.0 / (1 << 11) as f64;
const TINY: f64 = 1.0 / (1 << 25) as f64;

/// For everything that is in `f32`: sums of `D` and `N` terms, scores in the exponent, approximate powers.
const REST: f64 = HALF / 4.0;

/// Inputs, and what the definition makes of them, each number with a bound of the kernel's error.
struct Attention {
    q: Vec<f16>,
    k: Vec<f16>,
    v: Vec<f16>,
    /// The slope of the output.
    slope: Vec<f16>,
    o: Vec<(f64, f64)>,
    /// Of the sums of powers, to base 2.
    logs: Vec<(f64, f64)>,
    /// Of each row of the output and its slope.
    dots: Vec<(f64, f64)>,
    dq: Vec<(f64, f64)>,
    dk: Vec<(f64, f64)>,
    dv: Vec<(f64, f64)>,
}

/// What every run is compared with.
static ALL: LazyLock<Attention> = LazyLock::new(Attention::new);

/// The product of two rows, and the sum of its terms' sizes.
fn dot(a: &[f64], b: &[f64]) -> (f64, f64) {
    a.iter().zip(b).map(|(x, y)| x * y).fold((0.0, 0.0), |(sum, sizes), term| (sum + term, sizes + term.abs()))
}

/// Adds to each element of a row, with a bound for each.
fn add(to: &mut [(f64, f64)], row: &[f64], factor: f64, bound: f64) {
    for ((sum, bounds), element) in to.iter_mut().zip(row) {
        *sum += factor * element;
        *bounds += bound * element.abs();
    }
}

impl Attention {
    fn new() -> Self {
        let [q, k, v, slope] = [11, 12, 13, 14].map(|seed| halves(seed, HEADS * N * D));
        let none = vec![(0.0, 0.0); HEADS * N * D];
        let [o, dq, dk, dv] = [(); 4].map(|()| none.clone());
        let mut all = Self { q, k, v, slope, o, logs: Vec::new(), dots: Vec::new(), dq, dk, dv };
        for row in 0..HEADS * N {
            all.row(row);
        }
        all
    }

    /// What a row of the queries has to do with all the others.
    fn row(&mut self, row: usize) {
        let real = |all: &[f16], row: usize| -> Vec<f64> {
            all[row * D..][..D].iter().map(|element| element.to_f64()).collect()
        };
        let (query, slope) = (real(&self.q, row), real(&self.slope, row));
        let range = row * D..(row + 1) * D;
        let columns = row / N * N..=row;
        let powers: Vec<f64> =
            columns.clone().map(|column| (SCALE * dot(&query, &real(&self.k, column)).0).exp()).collect();
        let sum: f64 = powers.iter().sum();
        let weights: Vec<f64> = powers.iter().map(|power| power / sum).collect();
        self.logs.push((sum.log2(), REST));
        for (column, weight) in columns.clone().zip(&weights) {
            // Weights are rounded, and at last the output is.
            add(&mut self.o[range.clone()], &real(&self.v, column), *weight, weight * (2.0 * HALF + REST) + TINY);
        }
        let out: Vec<f64> = self.o[range.clone()].iter().map(|(value, _)| *value).collect();
        let (along, sizes) = dot(&out, &slope);
        self.dots.push((along, sizes * (HALF + REST)));
        for (column, weight) in columns.zip(weights) {
            let (toward, terms) = dot(&slope, &real(&self.v, column));
            let change = weight * (toward - along);
            // The change is rounded, and has the error of the product of the output, which was rounded, too.
            let bound = SCALE * (weight * (terms + sizes) * (2.0 * HALF + REST) + TINY);
            let other = column * D..(column + 1) * D;
            add(&mut self.dq[range.clone()], &real(&self.k, column), SCALE * change, bound);
            add(&mut self.dk[other.clone()], &query, SCALE * change, bound);
            add(&mut self.dv[other], &slope, weight, weight * (HALF + REST) + TINY);
        }
    }
}

fn single(all: &[(f64, f64)]) -> Vec<f32> {
    all.iter().map(|(value, _)| *value as f32).collect()
}

/// Bound: the weights and the result are rounded to `f16`.
const FORWARD: Case = Case {
    name: "attend",
    run: |text, seed| {
        let all = &*ALL;
        let (mut o, mut logs) = (vec![f16::ZERO; all.o.len()], vec![0f32; all.logs.len()]);
        let kernel = kernel(text, GRID, seed)?.arg(&all.q).arg(&all.k).arg(&all.v).arg(&mut o).arg(&mut logs);
        run(kernel.arg(N as u32).arg(SCALE as f32))?;
        within("o", &o, all.o.iter().copied())?;
        within("logs", &logs, all.logs.iter().copied())
    },
};

/// Bound: what the scores' slopes and the output are off by when they are rounded to `f16`.
const QUERIES: Case = Case {
    name: "attend_dq",
    run: |text, seed| {
        let all = &*ALL;
        let o: Vec<f16> = all.o.iter().map(|(value, _)| f16::from_f64(*value)).collect();
        let logs = single(&all.logs);
        let (mut dots, mut dq) = (vec![0f32; logs.len()], vec![0f32; o.len()]);
        let kernel = kernel(text, GRID, seed)?.arg(&all.q).arg(&all.k).arg(&all.v).arg(&o).arg(&all.slope);
        run(kernel.arg(&logs).arg(&mut dots).arg(&mut dq).arg(N as u32).arg(SCALE as f32))?;
        within("dots", &dots, all.dots.iter().copied())?;
        within("dq", &dq, all.dq.iter().copied())
    },
};

/// Bound: the same for keys, and the weights rounded to `f16` for values.
const KEYS: Case = Case {
    name: "attend_dkdv",
    run: |text, seed| {
        let all = &*ALL;
        let (logs, dots) = (single(&all.logs), single(&all.dots));
        let (mut dk, mut dv) = (vec![0f32; all.dk.len()], vec![0f32; all.dv.len()]);
        let kernel = kernel(text, GRID, seed)?.arg(&all.q).arg(&all.k).arg(&all.v).arg(&all.slope);
        run(kernel.arg(&logs).arg(&dots).arg(&mut dk).arg(&mut dv).arg(N as u32).arg(SCALE as f32))?;
        within("dk", &dk, all.dk.iter().copied())?;
        within("dv", &dv, all.dv.iter().copied())
    },
};

#[test]
fn forward() {
    FORWARD.holds(&[(111, Why::Joins)]);
}

#[test]
fn backward_to_queries() {
    QUERIES.holds(&[(280, Why::Joins)]);
}

#[test]
fn backward_to_keys_and_values() {
    KEYS.holds(&[(129, Why::Joins), (140, Why::Joins), (153, Why::Joins)]);
}
