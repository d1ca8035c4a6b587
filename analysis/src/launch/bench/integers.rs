//! Kernels of integers among the ten: a prefix sum, a hash table, queens, a sort. What they compute is computed again in another
//! way.

use super::data::{Xorshift, blocks, buffer, bytes_u32, int, line, words_of};
use super::{Setup, Shape};
use crate::launch::Arg;

/// What a kernel is launched with and how its results are checked; `None` for an unknown name.
pub(super) fn setup(name: &str, shift: u32) -> Option<Setup> {
    let mut random = Xorshift::new();
    Some(match name {
        "scan" => scan(((1usize << 24) >> shift).max(1 << 13), &mut random),
        "hash" => hash(((1usize << 22) >> shift).max(512), &mut random),
        // The work grows by a factor of about five with each queen.
        "nqueens" => nqueens((13 - (3 * shift).div_ceil(7) as usize).max(6)),
        "radixsort" => radixsort(((1usize << 20) >> shift).max(512), &mut random),
        _ => return None,
    })
}

/// A prefix sum in one launch, by tiles of 1024 numbers.
fn scan(n: usize, random: &mut Xorshift) -> Setup {
    const TILE: usize = 1024;
    let a = random.words(n);
    let tiles = n / TILE;
    Setup {
        size: format!("n={n}"),
        buffers: vec![
            ("a", bytes_u32(a.iter().copied())),
            ("o", vec![0; 4 * n]),
            ("next", vec![0; 4]),
            ("told", vec![0; 4 * tiles]),
            ("sums", vec![0; 4 * tiles]),
            ("prefixes", vec![0; 4 * tiles]),
        ],
        launches: vec![("scan", line(n / 4), ["a", "o", "next", "told", "sums", "prefixes"].map(buffer).to_vec())],
        check: Box::new(move |d| {
            let mut sum = 0u32;
            let wanted = a.iter().map(|x| {
                sum = sum.wrapping_add(*x);
                sum
            });
            words_of(d, "o").into_iter().eq(wanted)
        }),
    }
}

/// A table of how often each of `n` keys comes, and `n` questions to it. There are few different keys, so that the table is in the
/// caches and time goes into instructions: the keys are even numbers, half of the questions are for odd ones, which never come.
fn hash(n: usize, random: &mut Xorshift) -> Setup {
    let most = n.div_ceil(16).max(256);
    let (slots, mask) = (2 * most, int(2 * most - 1));
    let asked: Vec<u32> = random.words(n).into_iter().map(|word| word % slots as u32).collect();
    let keys: Vec<u32> = random.words(n).into_iter().map(|word| (word % slots as u32) & !1).collect();
    let insert = vec![buffer("in"), buffer("keys"), buffer("counts"), mask.clone()];
    let lookup = vec![buffer("asked"), buffer("keys"), buffer("counts"), buffer("o"), mask];
    Setup {
        size: format!("n={n}"),
        buffers: vec![
            ("in", bytes_u32(keys.iter().copied())),
            ("asked", bytes_u32(asked.iter().copied())),
            ("keys", vec![0xff; 4 * slots]),
            ("counts", vec![0; 4 * slots]),
            ("o", vec![0; 4 * n]),
        ],
        launches: vec![("hash_insert", line(n), insert), ("hash_lookup", line(n), lookup)],
        check: Box::new(move |d| {
            let mut counts = vec![0u32; slots];
            keys.iter().for_each(|key| counts[*key as usize] += 1);
            words_of(d, "o").into_iter().eq(asked.iter().map(|key| counts[*key as usize]))
        }),
    }
}

/// How many ways there are to place `n` queens, by the columns of the first four.
fn nqueens(n: usize) -> Setup {
    const FIRST: u32 = 4;
    let starts = n.pow(FIRST);
    let shape: Shape = ([blocks(starts, 128), 1, 1], [128, 1, 1]);
    Setup {
        size: format!("{n} queens"),
        buffers: vec![("o", vec![0; 4 * starts])],
        launches: vec![("nqueens", shape, vec![buffer("o"), int(n), int(starts)])],
        check: Box::new(move |d| {
            let mut wanted = vec![0; starts];
            place(n, &mut Vec::new(), &mut wanted);
            words_of(d, "o") == wanted
        }),
    }
}

/// Places queens in all ways, given the columns of those in the rows above, and counts the ways by the columns of the first four.
fn place(n: usize, columns: &mut Vec<usize>, ways: &mut [u32]) {
    let row = columns.len();
    if row == n {
        let start = columns.iter().take(4).rev().fold(0, |start, column| start * n + column);
        ways[start] += 1;
        return;
    }
    for column in 0..n {
        let attacks = |(above, other): (usize, &usize)| *other == column || other.abs_diff(column) == row - above;
        if !columns.iter().enumerate().any(attacks) {
            columns.push(column);
            place(n, columns, ways);
            columns.pop();
        }
    }
}

/// A radix sort by four bits a pass, three launches a pass.
fn radixsort(n: usize, random: &mut Xorshift) -> Setup {
    const DIGITS: usize = 16;
    let mut sorted = random.words(n);
    let unsorted = bytes_u32(sorted.iter().copied());
    sorted.sort_unstable();
    let (counts, names) = (DIGITS * n / 256, ["a", "b"]);
    let pass = |k: usize| -> [(&'static str, Shape, Vec<Arg>); 3] {
        let (from, to, shift) = (buffer(names[k % 2]), buffer(names[(k + 1) % 2]), int(4 * k));
        [
            ("radix_count", line(n), vec![from.clone(), buffer("counts"), shift.clone()]),
            ("radix_scan", line(1), vec![buffer("counts"), int(counts)]),
            ("radix_scatter", line(n), vec![from, to, buffer("counts"), shift]),
        ]
    };
    Setup {
        size: format!("n={n}"),
        buffers: vec![("a", unsorted), ("b", vec![0; 4 * n]), ("counts", vec![0; 4 * counts])],
        launches: (0..8).flat_map(pass).collect(),
        check: Box::new(move |d| words_of(d, "a") == sorted),
    }
}
