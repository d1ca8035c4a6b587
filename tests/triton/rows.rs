//! Rows that are brought to mean 0 and variance 1: sums over a block, by shuffles and then by shared memory.

use super::{Case, kernel, run, within, words};

const ROWS: usize = 3;
/// A row takes three steps of 128 elements, the last in part.
const N: usize = 304;
const EPSILON: f64 = 1e-5;

/// Sums of `N` terms, by lanes and then in a tree, are within a few units of 2^-24 of the terms' sizes, and the approximate
/// root within two; values are a few times as large as their deviation at most.
const BOUND: f64 = 1.0 / (1 << 18) as f64;

/// Bound: 2^-18 of the sizes of what is added up in an element.
const LAYERNORM: Case = Case {
    name: "layernorm",
    run: |text, seed| {
        let (x, weight, bias) = (words(21, ROWS * N), words(22, N), words(23, N));
        let (mut y, mut means, mut scales) = (vec![0f32; ROWS * N], vec![0f32; ROWS], vec![0f32; ROWS]);
        let kernel = kernel(text, (ROWS as u32, 1, 1), seed)?.arg(&x).arg(&weight).arg(&bias);
        run(kernel.arg(&mut y).arg(&mut means).arg(&mut scales).arg(N as u32).arg(EPSILON as f32))?;
        for (row, (x, y)) in x.chunks(N).zip(y.chunks(N)).enumerate() {
            let mean = x.iter().map(|x| f64::from(*x)).sum::<f64>() / N as f64;
            let variance = x.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / N as f64;
            let scale = 1.0 / (variance + EPSILON).sqrt();
            within("means", &means[row..=row], [(mean, BOUND)])?;
            within("scales", &scales[row..=row], [(scale, scale * BOUND)])?;
            let expected = x.iter().zip(weight.iter().zip(&bias)).map(|(x, (weight, bias))| {
                let (weight, bias) = (f64::from(*weight), f64::from(*bias));
                let normal = (f64::from(*x) - mean) * scale;
                (normal * weight + bias, BOUND * (weight.abs() * (1.0 + normal.abs()) + bias.abs()))
            });
            within("y", y, expected)?;
        }
        Ok(())
    },
};

#[test]
fn mean_and_variance() {
    LAYERNORM.holds(&[]);
}
