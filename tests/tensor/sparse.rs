//! `mma.sp` against a model of its own: fragments and metadata as the text and the figures of the PTX ISA have them
//! (9.7.14.6), of each product the elements that are stored and those of `B` that they meet, added up as those of a dense
//! product of half the depth (D-mma-sparse).

use super::figures::{self, Shape};
use super::model::{Adds, Kind, element};
use super::{get, put, words_of};
use crate::hardware::probe::{Buffer, Probe};
use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::fmt::Write as _;

struct Case {
    /// From the shape on.
    text: &'static str,
    sm: u32,
    k: usize,
    /// Of `A`, `B`, `C` and `D`.
    kinds: [Kind; 4],
    adds: Adds,
    selectors: usize,
}

/// Columns of a chunk, and how many of its elements are stored.
const fn chunk(bits: usize) -> (usize, usize) {
    match bits {
        32 => (2, 1),
        4 => (8, 4),
        _ => (4, 2),
    }
}

/// Which chunks of which rows a lane has the metadata of: bit, row, chunk. Figures 118, 127; 122, 125; 129, 139; 136 and 137, 146
/// and 147.
fn metadata(k: usize, bits: usize, selector: usize, lane: usize) -> Vec<(usize, usize, usize)> {
    let (group, thread) = (lane >> 2, lane % 4);
    let halves = |first: usize| {
        (0..4).flat_map(move |c| [(4 * c, group, first + c), (16 + 4 * c, group + 8, first + c)]).collect()
    };
    let whole = |row: usize, first: usize| (0..8).map(|c| (4 * c, row, first + c)).collect();
    match (k, bits) {
        (16, 16) | (8, 32) if thread == selector => halves(0),
        (32, 16) | (16, 32) if thread / 2 == selector => halves(4 * (thread % 2)),
        (32, 8) | (64, 4) if thread / 2 == selector => whole(group + 8 * (thread % 2), 0),
        (64, 8) | (128, 4) => whole(group + 8 * (thread % 2), 8 * (thread / 2)),
        _ => Vec::new(),
    }
}

/// Row, chunk, and number among the stored elements of the chunk, of element `i` of a lane's fragment of `A`. A register has
/// elements of `firstcol` to `lastcol`, twice as many columns.
fn stored(bits: usize, lane: usize, i: usize) -> (usize, usize, usize) {
    let (group, thread) = (lane >> 2, lane % 4);
    let (per, (wide, kept)) = (32 / bits, chunk(bits));
    let (register, inside) = (i / per, i % per);
    let row = if register.is_multiple_of(2) { group } else { group + 8 };
    let first_column = thread * 2 * per + if register < 2 { 0 } else { 8 * per };
    (row, first_column / wide + inside / kept, inside % kept)
}

/// Where in its chunk a stored element is.
const fn index(bits: usize, indices: usize, number: usize) -> usize {
    match bits {
        // 0b0100 is the first one, 0b1110 the second.
        32 => indices >> 3,
        // Pairs.
        4 => 2 * (if number < 2 { indices & 3 } else { indices >> 2 }) + number % 2,
        _ if number == 0 => indices & 3,
        _ => indices >> 2,
    }
}

const BLOCKS: usize = 20;

/// Elements of `A`, of which those that are stored, of `B` and of `C`.
type Matrices = [Vec<u64>; 3];

impl Case {
    fn words(&self, part: usize) -> usize {
        let elements = [16 * self.k / 2, self.k * 8, 128, 128][part] / 32;
        elements * self.kinds[part].bits() / 32
    }

    fn ptx(&self, ordered: bool, selector: usize) -> String {
        let mut text = format!(
            ".version 8.7\n.target sm_{}\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pe, .param .u64 pd)\n{{\n\
             .reg .b32 %r<64>, %t<4>;\n.reg .b64 %p<8>;\n\
             mov.u32 %t0, %tid.x;\nmov.u32 %t1, %ctaid.x;\nmad.lo.u32 %t0, %t1, 32, %t0;\n",
            self.sm
        );
        let mut lists = Vec::new();
        for (number, (name, words)) in [("pa", 0), ("pb", 1), ("pc", 2), ("pd", 3)].into_iter().enumerate() {
            let count = self.words(words);
            write!(text, "ld.param.u64 %p{number}, [{name}];\nmul.wide.u32 %p7, %t0, {};\n", 4 * count).unwrap();
            writeln!(text, "add.s64 %p{number}, %p{number}, %p7;").unwrap();
            for k in 0..count {
                if number < 3 {
                    writeln!(text, "ld.global.b32 %r{}, [%p{number}+{}];", number * 12 + k, 4 * k).unwrap();
                }
            }
            let registers: Vec<String> = (0..count).map(|k| format!("%r{}", number * 12 + k)).collect();
            lists.push(format!("{{{}}}", registers.join(", ")));
        }
        text +=
            "ld.param.u64 %p4, [pe];\nmul.wide.u32 %p7, %t0, 4;\nadd.s64 %p4, %p4, %p7;\nld.global.b32 %t2, [%p4];\n";
        let variant = if ordered { "sp::ordered_metadata" } else { "sp" };
        let (d, a, b, c) = (&lists[3], &lists[0], &lists[1], &lists[2]);
        writeln!(text, "mma.{variant}.sync.aligned.{} {d}, {a}, {b}, {c}, %t2, {selector};", self.text).unwrap();
        for k in 0..self.words(3) {
            writeln!(text, "st.global.b32 [%p3+{}], %r{};", 4 * k, 36 + k).unwrap();
        }
        text + "ret;\n}\n"
    }

    /// Random elements, random metadata (lanes that are not asked have any), and the kernel that multiplies them.
    fn made(&self, ordered: bool, selector: usize) -> (Vec<Matrices>, Vec<Vec<usize>>, Probe) {
        let mut random = ChaCha8Rng::seed_from_u64((self.text.len() + 100 * selector) as u64 + u64::from(self.sm));
        let (k, bits) = (self.k, self.kinds[0].bits());
        let (wide, kept) = chunk(bits);
        let lengths = [16 * k / 2, k * 8, 128];
        let mut matrices: Vec<[Vec<u64>; 3]> = Vec::new();
        let mut indices: Vec<Vec<usize>> = Vec::new();
        for block in 0..BLOCKS {
            matrices.push(std::array::from_fn(|part| {
                (0..lengths[part]).map(|_| self.kinds[part].random(&mut random, block % 5, part == 2)).collect()
            }));
            let mut any = || loop {
                let (low, high) = (random.random_range(0..4), random.random_range(0..4));
                match (bits, low == high, ordered && low > high) {
                    (32, ..) => return if low < 2 { 0b0100 } else { 0b1110 },
                    (_, false, false) => return low | high << 2,
                    _ => {}
                }
            };
            indices.push((0..16 * k / wide).map(|_| any()).collect());
        }
        let mut inputs: Vec<Vec<u32>> = (0..3).map(|part| vec![0; BLOCKS * 32 * self.words(part)]).collect();
        let mut given: Vec<u32> = (0..BLOCKS * 32).map(|_| random.random()).collect();
        for (thread, lane) in (0..BLOCKS * 32).map(|thread| (thread, thread % 32)) {
            let ([a, b, c], indices) = (&matrices[thread / 32], &indices[thread / 32]);
            for (part, words) in inputs.iter_mut().enumerate() {
                let (count, bits) = (self.words(part), self.kinds[part].bits());
                for i in 0..count * 32 / bits {
                    let value = match part {
                        0 => {
                            let (row, chunk, number) = stored(bits, lane, i);
                            a[row * k / 2 + chunk * kept + number]
                        }
                        _ => {
                            let at = figures::place(Shape::Whole(16, 8, k), part, bits, lane, i);
                            [b, c][part - 1][at.row * 8 + at.column]
                        }
                    };
                    put(&mut words[thread * count..], bits, i, value);
                }
            }
            for (bit, row, chunk) in metadata(k, bits, selector, lane) {
                given[thread] = given[thread] & !(15 << bit) | (indices[row * k / wide + chunk] as u32) << bit;
            }
        }
        let mut buffers: Vec<Buffer> = inputs.iter().map(|words| Buffer::of(words, u32::to_le_bytes)).collect();
        buffers.push(Buffer::of(&given, u32::to_le_bytes));
        buffers.push(Buffer::result(4 * BLOCKS * 32 * self.words(3)));
        let name = format!("{} {} {selector}", if ordered { "ordered" } else { "sp" }, self.text);
        let probe = Probe { name, ptx: self.ptx(ordered, selector), grid: BLOCKS as u32, block: 32, buffers };
        (matrices, indices, probe)
    }

    /// Runs it; every element of every lane is what the model says.
    fn agrees(&self, ordered: bool, selector: usize, exact: bool) {
        let (matrices, indices, probe) = self.made(ordered, selector);
        let (k, bits) = (self.k, self.kinds[0].bits());
        let (wide, kept) = chunk(bits);
        let (words, d_bits) = (self.words(3), self.kinds[3].bits());
        let result = words_of(&probe.run_with(|kernel| kernel.mma_exact(exact)));
        for (thread, lane) in (0..BLOCKS * 32).map(|thread| (thread, thread % 32)) {
            let ([a, b, c], indices) = (&matrices[thread / 32], &indices[thread / 32]);
            for i in 0..words * 32 / d_bits {
                let at = figures::place(Shape::Whole(16, 8, k), 3, d_bits, lane, i);
                let (mut left, mut right) = (Vec::new(), Vec::new());
                for (chunk, number) in (0..k / wide).flat_map(|chunk| (0..kept).map(move |number| (chunk, number))) {
                    let column = chunk * wide + index(bits, indices[at.row * k / wide + chunk], number);
                    left.push(a[at.row * k / 2 + chunk * kept + number]);
                    right.push(b[column * 8 + at.column]);
                }
                let adds = if exact { Adds::Once } else { self.adds };
                let saturates = self.text.contains("satfinite");
                let wanted = element(self.kinds, adds, saturates, &left, &right, c[at.row * 8 + at.column]);
                let is = get(&result[thread * words..], d_bits, i);
                assert_eq!(is, wanted, "{} {selector}: lane {lane} element {i}\n{left:x?}\n{right:x?}", self.text);
            }
        }
    }
}

use Kind::{Bf16, E4m3, E5m2, F16, F32, S4, S8, S32, Tf32, U4, U8};

fn float(text: &'static str, sm: u32, k: usize, kinds: [Kind; 4], (products, fraction): (usize, u32)) -> Case {
    let kept = if fraction == 13 { 13 } else { 23 };
    let selectors = match (k, kinds[0].bits()) {
        (16, 16) | (8, 32) => 4,
        (_, 8) => 1,
        _ => 2,
    };
    Case { text, sm, k, kinds, adds: Adds::Blocks { products, fraction, kept }, selectors }
}

fn whole(text: &'static str, k: usize, a: Kind, b: Kind) -> Case {
    let selectors = if 256 / a.bits() == k { 2 } else { 1 };
    Case { text, sm: 80, k, kinds: [a, b, S32, S32], adds: Adds::Once, selectors }
}

fn all(cases: &[Case]) {
    for case in cases {
        for selector in 0..case.selectors {
            case.agrees(false, selector, false);
            case.agrees(true, selector, false);
        }
    }
}

#[test]
fn halves_and_bfloats() {
    let (wide, narrow, brain) = ([F16, F16, F32, F32], [F16; 4], [Bf16, Bf16, F32, F32]);
    let cases = [
        float("m16n8k16.row.col.f32.f16.f16.f32", 80, 16, wide, (8, 24)),
        float("m16n8k16.row.col.f16.f16.f16.f16", 80, 16, narrow, (8, 24)),
        float("m16n8k32.row.col.f32.f16.f16.f32", 80, 32, wide, (8, 24)),
        float("m16n8k32.row.col.f16.f16.f16.f16", 89, 32, narrow, (8, 24)),
        float("m16n8k16.row.col.f32.bf16.bf16.f32", 80, 16, brain, (8, 24)),
        float("m16n8k32.row.col.f32.bf16.bf16.f32", 80, 32, brain, (8, 24)),
        float("m16n8k32.row.col.f32.f16.f16.f32", 90, 32, wide, (16, 25)),
    ];
    all(&cases);
    cases.iter().filter(|case| case.kinds[0] == F16).for_each(|case| case.agrees(false, 0, true));
}

#[test]
fn tensor_floats_and_floats_of_eight_bits() {
    let tensor = [Tf32, Tf32, F32, F32];
    all(&[
        float("m16n8k8.row.col.f32.tf32.tf32.f32", 80, 8, tensor, (4, 24)),
        float("m16n8k16.row.col.f32.tf32.tf32.f32", 80, 16, tensor, (4, 24)),
        float("m16n8k64.row.col.f32.e4m3.e4m3.f32", 89, 64, [E4m3, E4m3, F32, F32], (16, 13)),
        float("m16n8k64.row.col.f32.e4m3.e5m2.f32", 89, 64, [E4m3, E5m2, F32, F32], (16, 13)),
        Case {
            adds: Adds::Halves,
            ..float("m16n8k64.row.col.f32.e5m2.e4m3.f32", 90, 64, [E5m2, E4m3, F32, F32], (1, 1))
        },
    ]);
}

#[test]
fn integers() {
    all(&[
        whole("m16n8k32.row.col.s32.s8.s8.s32", 32, S8, S8),
        whole("m16n8k32.row.col.satfinite.s32.u8.s8.s32", 32, U8, S8),
        whole("m16n8k64.row.col.satfinite.s32.s8.u8.s32", 64, S8, U8),
        whole("m16n8k64.row.col.s32.u8.u8.s32", 64, U8, U8),
        whole("m16n8k64.row.col.s32.s4.u4.s32", 64, S4, U4),
        whole("m16n8k128.row.col.satfinite.s32.u4.u4.s32", 128, U4, U4),
        whole("m16n8k128.row.col.s32.s4.s4.s32", 128, S4, S4),
    ]);
}

/// All products that sm_90 has, for the hardware to compute.
pub fn probes() -> Vec<Probe> {
    let (wide, narrow, brain, tensor) =
        ([F16, F16, F32, F32], [F16; 4], [Bf16, Bf16, F32, F32], [Tf32, Tf32, F32, F32]);
    let mut cases = vec![
        float("m16n8k16.row.col.f32.f16.f16.f32", 90, 16, wide, (1, 1)),
        float("m16n8k16.row.col.f16.f16.f16.f16", 90, 16, narrow, (1, 1)),
        float("m16n8k32.row.col.f32.f16.f16.f32", 90, 32, wide, (1, 1)),
        float("m16n8k32.row.col.f16.f16.f16.f16", 90, 32, narrow, (1, 1)),
        float("m16n8k16.row.col.f32.bf16.bf16.f32", 90, 16, brain, (1, 1)),
        float("m16n8k32.row.col.f32.bf16.bf16.f32", 90, 32, brain, (1, 1)),
        float("m16n8k8.row.col.f32.tf32.tf32.f32", 90, 8, tensor, (1, 1)),
        float("m16n8k16.row.col.f32.tf32.tf32.f32", 90, 16, tensor, (1, 1)),
        float("m16n8k64.row.col.f32.e4m3.e5m2.f32", 90, 64, [E4m3, E5m2, F32, F32], (1, 1)),
        float("m16n8k64.row.col.f32.e4m3.e4m3.f32", 90, 64, [E4m3, E4m3, F32, F32], (1, 1)),
        whole("m16n8k32.row.col.s32.s8.s8.s32", 32, S8, S8),
        whole("m16n8k32.row.col.satfinite.s32.u8.s8.s32", 32, U8, S8),
        whole("m16n8k64.row.col.satfinite.s32.s8.u8.s32", 64, S8, U8),
        whole("m16n8k64.row.col.s32.s4.u4.s32", 64, S4, U4),
        whole("m16n8k128.row.col.satfinite.s32.u4.u4.s32", 128, U4, U4),
    ];
    cases.iter_mut().for_each(|case| case.sm = 90);
    let each = cases.iter().flat_map(|case| (0..case.selectors).map(move |selector| (case, selector)));
    each.flat_map(|(case, selector)| [false, true].map(|ordered| case.made(ordered, selector).2)).collect()
}
