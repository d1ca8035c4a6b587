//! Matrix instructions against a model of their own: fragments as the PTX ISA's text has them, sums as the studies of the
//! hardware describe them (D-mma-rounding). Nothing of the implementation is used here but to run the kernels.

#[path = "tensor/figures.rs"]
mod figures;
#[path = "tensor/model.rs"]
mod model;
#[path = "tensor/moves.rs"]
mod moves;
#[path = "tensor/sparse.rs"]
mod sparse;
#[path = "tensor/wmma.rs"]
mod wmma;

use super::hardware::probe::{Buffer, Probe};
use chacha20::ChaCha8Rng;
use figures::{Place, Shape, place};
use model::{Adds, Kind, element};
use rand::SeedableRng;
use std::fmt::Write as _;

/// An `mma` and how its operands lie in registers.
struct Case {
    text: &'static str,
    sm: u32,
    shape: Shape,
    /// Of `A`, `B`, `C` and `D`.
    kinds: [Kind; 4],
    adds: Adds,
    saturates: bool,
}

/// Blocks of each run, each with matrices of its own.
const BLOCKS: usize = 40;

impl Case {
    fn elements(&self, part: usize) -> usize {
        let (m, n, k) = self.shape.size();
        let all = [m * k, k * n, m * n, m * n][part];
        if self.shape == Shape::Quads { all / 8 } else { all / 32 }
    }

    fn registers(&self, part: usize) -> usize {
        let bits = self.kinds[part].bits();
        (self.elements(part) * bits).div_ceil(if bits == 64 { 64 } else { 32 })
    }

    /// Words of 32 bits of a lane's fragment.
    fn words(&self, part: usize) -> usize {
        self.elements(part) * self.kinds[part].bits() / 32
    }

    /// A kernel that loads fragments, multiplies and stores the result.
    fn ptx(&self) -> String {
        let mut text = format!(
            ".version 8.7\n.target sm_{}\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd)\n{{\n\
             .reg .b32 %r<64>, %t<4>;\n.reg .b64 %rd<64>, %p<8>;\n\
             mov.u32 %t0, %tid.x;\nmov.u32 %t1, %ctaid.x;\nmad.lo.u32 %t0, %t1, 32, %t0;\n",
            self.sm
        );
        let mut lists: Vec<String> = Vec::new();
        for (part, name) in ["pa", "pb", "pc", "pd"].iter().enumerate() {
            let (bytes, count) = (4 * self.words(part), self.registers(part));
            let (file, size) = if self.kinds[part].bits() == 64 { ("rd", 8) } else { ("r", 4) };
            writeln!(
                text,
                "ld.param.u64 %p{part}, [{name}];\nmul.wide.u32 %p7, %t0, {bytes};\nadd.s64 %p{part}, %p{part}, %p7;"
            )
            .unwrap();
            let registers: Vec<String> = (0..count).map(|k| format!("%{file}{}", part * 12 + k)).collect();
            if part < 3 {
                for (k, register) in registers.iter().enumerate() {
                    writeln!(text, "ld.global.b{} {register}, [%p{part}+{}];", size * 8, size * k).unwrap();
                }
            }
            lists.push(format!("{{{}}}", registers.join(", ")));
        }
        writeln!(text, "{} {}, {}, {}, {};", self.text, lists[3], lists[0], lists[1], lists[2]).unwrap();
        let (file, size) = if self.kinds[3].bits() == 64 { ("rd", 8) } else { ("r", 4) };
        for k in 0..self.registers(3) {
            writeln!(text, "st.global.b{} [%p3+{}], %{file}{};", size * 8, size * k, 36 + k).unwrap();
        }
        text + "ret;\n}\n"
    }

    /// Matrices of random elements, by block and product and then by row and column, and the kernel that multiplies them.
    fn made(&self) -> (Vec<[Vec<u64>; 3]>, Probe) {
        let mut random = ChaCha8Rng::seed_from_u64(self.text.len() as u64 + u64::from(self.sm));
        let (m, n, k) = self.shape.size();
        let products = if self.shape == Shape::Quads { 4 } else { 1 };
        let lengths = [m * k, k * n, m * n];
        let mut matrices: Vec<[Vec<u64>; 3]> = Vec::new();
        for block in 0..BLOCKS * products {
            let style = block % 5;
            matrices.push(std::array::from_fn(|part| {
                (0..lengths[part]).map(|_| self.kinds[part].random(&mut random, style, part == 2)).collect()
            }));
        }
        let widths = [k, n, n];
        let mut buffers = Vec::new();
        for part in 0..3 {
            let (words, bits) = (self.words(part), self.kinds[part].bits());
            let mut all = vec![0u32; BLOCKS * 32 * words];
            for (thread, lane) in (0..BLOCKS * 32).map(|thread| (thread, thread % 32)) {
                for index in 0..self.elements(part) {
                    let Place { product, row, column } = place(self.shape, part, bits, lane, index);
                    let value = matrices[thread / 32 * products + product][part][row * widths[part] + column];
                    put(&mut all[thread * words..], bits, index, value);
                }
            }
            buffers.push(Buffer::of(&all, u32::to_le_bytes));
        }
        buffers.push(Buffer::result(4 * BLOCKS * 32 * self.words(3)));
        let name = self.text.to_owned();
        (matrices, Probe { name, ptx: self.ptx(), grid: BLOCKS as u32, block: 32, buffers })
    }

    /// Runs it; every element of every lane is what the model says.
    fn agrees(&self, exact: bool) {
        let (matrices, probe) = self.made();
        let (_, n, k) = self.shape.size();
        let products = if self.shape == Shape::Quads { 4 } else { 1 };
        let words = self.words(3);
        let result = words_of(&probe.run_with(|kernel| kernel.mma_exact(exact)));
        for (thread, lane) in (0..BLOCKS * 32).map(|thread| (thread, thread % 32)) {
            for index in 0..self.elements(3) {
                let bits = self.kinds[3].bits();
                let Place { product, row, column } = place(self.shape, 3, bits, lane, index);
                let [a, b, c] = &matrices[thread / 32 * products + product];
                let (a, b): (Vec<u64>, Vec<u64>) = (0..k).map(|x| (a[row * k + x], b[x * n + column])).unzip();
                let c = c[row * n + column];
                let is = match get(&result[thread * words..], bits, index) {
                    // Which NaN of 64 bits comes out is another decision's (D-nan64).
                    is if bits == 64 && f64::from_bits(is).is_nan() => u64::MAX,
                    is => is,
                };
                let adds = if exact { Adds::Once } else { self.adds };
                let wanted = element(self.kinds, adds, self.saturates, &a, &b, c);
                assert_eq!(
                    is, wanted,
                    "{}: lane {lane} element {index}: {is:#x}, wanted {wanted:#x}\n{a:x?}\n{b:x?}\n{c:x}",
                    self.text
                );
            }
        }
    }
}

/// Words of 32 bits.
fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Puts an element of a fragment where its registers have it.
fn put(words: &mut [u32], bits: usize, index: usize, value: u64) {
    if bits == 64 {
        (words[2 * index], words[2 * index + 1]) = (value as u32, (value >> 32) as u32);
    } else {
        words[index * bits / 32] |= (value as u32) << (index * bits % 32);
    }
}

fn get(words: &[u32], bits: usize, index: usize) -> u64 {
    if bits == 64 {
        return u64::from(words[2 * index]) | u64::from(words[2 * index + 1]) << 32;
    }
    u64::from(words[index * bits / 32] >> (index * bits % 32)) & (u64::MAX >> (64 - bits))
}

use Kind::{B1, Bf16, E4m3, E5m2, F16, F32, F64, S4, S8, S32, Tf32, U4, U8};

fn float(text: &'static str, sm: u32, shape: Shape, kinds: [Kind; 4], (products, fraction): (usize, u32)) -> Case {
    let kept = if fraction == 13 { 13 } else { 23 };
    Case { text, sm, shape, kinds, adds: Adds::Blocks { products, fraction, kept }, saturates: false }
}

fn exact(text: &'static str, sm: u32, shape: Shape, kinds: [Kind; 4]) -> Case {
    Case { text, sm, shape, kinds, adds: Adds::Once, saturates: text.contains("satfinite") }
}

const fn shape(m: usize, n: usize, k: usize) -> Shape {
    Shape::Whole(m, n, k)
}

#[test]
fn halves_of_every_target() {
    let wide = [F16, F16, F32, F32];
    let narrow = [F16, F16, F16, F16];
    let cases = [
        float("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 75, shape(16, 8, 8), wide, (8, 24)),
        float("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 80, shape(16, 8, 8), narrow, (8, 24)),
        float("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 80, shape(16, 8, 16), wide, (8, 24)),
        float("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 80, shape(16, 8, 16), narrow, (8, 24)),
        float("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 89, shape(16, 8, 16), wide, (8, 24)),
        float("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 90, shape(16, 8, 16), wide, (16, 25)),
        float("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 90, shape(16, 8, 16), narrow, (16, 25)),
    ];
    cases.iter().for_each(|case| case.agrees(false));
    cases.iter().for_each(|case| case.agrees(true));
}

#[test]
fn four_products_of_eight_lanes() {
    let cases = [
        float("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", 70, Shape::Quads, [F16, F16, F32, F32], (4, 23)),
        float("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16", 70, Shape::Quads, [F16; 4], (4, 23)),
        float("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16", 70, Shape::Quads, [F16, F16, F16, F32], (4, 23)),
    ];
    cases.iter().for_each(|case| case.agrees(false));
}

#[test]
fn bfloats_and_tensor_floats() {
    let (brain, tensor) = ([Bf16, Bf16, F32, F32], [Tf32, Tf32, F32, F32]);
    let cases = [
        float("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 80, shape(16, 8, 8), brain, (8, 24)),
        float("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 80, shape(16, 8, 16), brain, (8, 24)),
        float("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 90, shape(16, 8, 16), brain, (16, 25)),
        float("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 80, shape(16, 8, 4), tensor, (4, 24)),
        float("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 80, shape(16, 8, 8), tensor, (4, 24)),
        float("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 90, shape(16, 8, 8), tensor, (8, 25)),
    ];
    cases.iter().for_each(|case| case.agrees(false));
}

#[test]
fn floats_of_eight_bits() {
    let of = |text, sm, kinds, adds| float(text, sm, shape(16, 8, 32), kinds, adds);
    let cases = [
        of("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 89, [E4m3, E4m3, F32, F32], (16, 13)),
        of("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32", 89, [E5m2, E4m3, F32, F32], (16, 13)),
        of("mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16", 89, [E4m3, E5m2, F16, F16], (16, 13)),
        of("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", 120, [E5m2, E5m2, F32, F32], (32, 25)),
        float(
            "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32",
            89,
            shape(16, 8, 16),
            [E4m3, E4m3, F32, F32],
            (16, 13),
        ),
    ];
    cases.iter().for_each(|case| case.agrees(false));
}

/// On sm_90 and sm_100 they are products of halves.
#[test]
fn floats_of_eight_bits_as_halves() {
    for (text, k, kinds) in [
        ("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32", 32, [E5m2, E4m3, F32, F32]),
        ("mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16", 32, [E4m3, E5m2, F16, F16]),
        ("mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32", 16, [E4m3, E4m3, F32, F32]),
        ("mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e5m2.f16", 16, [E5m2, E5m2, F16, F16]),
    ] {
        for sm in [90, 100] {
            Case { text, sm, shape: shape(16, 8, k), kinds, adds: Adds::Halves, saturates: false }.agrees(false);
        }
    }
}

/// From sm_80 on no tensor core has them.
#[test]
fn four_products_without_tensor_cores() {
    for (text, kinds) in [
        ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", [F16, F16, F32, F32]),
        ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16", [F16, F16, F16, F32]),
        ("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16", [F16; 4]),
    ] {
        for sm in [80, 90] {
            Case { text, sm, shape: Shape::Quads, kinds, adds: Adds::Chain, saturates: false }.agrees(false);
        }
    }
}

#[test]
fn numbers_of_64_bits() {
    let cases = [
        exact("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 80, shape(8, 8, 4), [F64; 4]),
        exact("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", 90, shape(16, 8, 4), [F64; 4]),
        exact("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", 90, shape(16, 8, 8), [F64; 4]),
        exact("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 90, shape(16, 8, 16), [F64; 4]),
    ];
    cases.iter().for_each(|case| case.agrees(false));
}

#[test]
fn integers_and_bits() {
    let of = |a, b| [a, b, S32, S32];
    let cases = [
        exact("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 75, shape(8, 8, 16), of(S8, S8)),
        exact("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.s8.s32", 75, shape(8, 8, 16), of(U8, S8)),
        exact("mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32", 80, shape(16, 8, 16), of(S8, U8)),
        exact("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 80, shape(16, 8, 32), of(S8, S8)),
        exact("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32", 80, shape(16, 8, 32), of(U8, U8)),
        exact("mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32", 75, shape(8, 8, 32), of(S4, U4)),
        exact("mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32", 80, shape(16, 8, 32), of(U4, S4)),
        exact("mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.s4.s32", 80, shape(16, 8, 64), of(S4, S4)),
        exact("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 75, shape(8, 8, 128), of(B1, B1)),
        exact("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc", 80, shape(16, 8, 128), of(B1, B1)),
        exact("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 80, shape(16, 8, 256), of(B1, B1)),
    ];
    for mut case in cases {
        if case.text.contains("xor") {
            case.adds = Adds::Differing;
        }
        case.agrees(false);
    }
}

/// All products that sm_90 has, for the hardware to compute.
pub fn probes() -> Vec<Probe> {
    let (wide, narrow, brain, tensor) =
        ([F16, F16, F32, F32], [F16; 4], [Bf16, Bf16, F32, F32], [Tf32, Tf32, F32, F32]);
    let small = |a, b, c| [a, b, c, c];
    let whole = |a, b| [a, b, S32, S32];
    let lists: [(&'static str, Shape, [Kind; 4]); 35] = [
        ("m8n8k4.row.col.f32.f16.f16.f32", Shape::Quads, wide),
        ("m8n8k4.row.col.f16.f16.f16.f16", Shape::Quads, narrow),
        ("m16n8k8.row.col.f32.f16.f16.f32", shape(16, 8, 8), wide),
        ("m16n8k8.row.col.f16.f16.f16.f16", shape(16, 8, 8), narrow),
        ("m16n8k16.row.col.f32.f16.f16.f32", shape(16, 8, 16), wide),
        ("m16n8k16.row.col.f16.f16.f16.f16", shape(16, 8, 16), narrow),
        ("m16n8k8.row.col.f32.bf16.bf16.f32", shape(16, 8, 8), brain),
        ("m16n8k16.row.col.f32.bf16.bf16.f32", shape(16, 8, 16), brain),
        ("m16n8k4.row.col.f32.tf32.tf32.f32", shape(16, 8, 4), tensor),
        ("m16n8k8.row.col.f32.tf32.tf32.f32", shape(16, 8, 8), tensor),
        ("m16n8k32.row.col.f32.e4m3.e4m3.f32", shape(16, 8, 32), small(E4m3, E4m3, F32)),
        ("m16n8k32.row.col.f32.e5m2.e4m3.f32", shape(16, 8, 32), small(E5m2, E4m3, F32)),
        ("m16n8k32.row.col.f32.e5m2.e5m2.f32", shape(16, 8, 32), small(E5m2, E5m2, F32)),
        ("m16n8k32.row.col.f16.e4m3.e5m2.f16", shape(16, 8, 32), small(E4m3, E5m2, F16)),
        ("m16n8k32.row.col.f16.e4m3.e4m3.f16", shape(16, 8, 32), small(E4m3, E4m3, F16)),
        ("m16n8k16.row.col.f32.e4m3.e4m3.f32", shape(16, 8, 16), small(E4m3, E4m3, F32)),
        ("m16n8k16.row.col.f16.e5m2.e4m3.f16", shape(16, 8, 16), small(E5m2, E4m3, F16)),
        ("m8n8k4.row.col.f64.f64.f64.f64", shape(8, 8, 4), [F64; 4]),
        ("m16n8k4.row.col.f64.f64.f64.f64", shape(16, 8, 4), [F64; 4]),
        ("m16n8k8.row.col.f64.f64.f64.f64", shape(16, 8, 8), [F64; 4]),
        ("m16n8k16.row.col.f64.f64.f64.f64", shape(16, 8, 16), [F64; 4]),
        ("m8n8k16.row.col.s32.s8.s8.s32", shape(8, 8, 16), whole(S8, S8)),
        ("m8n8k16.row.col.satfinite.s32.u8.s8.s32", shape(8, 8, 16), whole(U8, S8)),
        ("m16n8k16.row.col.s32.s8.u8.s32", shape(16, 8, 16), whole(S8, U8)),
        ("m16n8k32.row.col.s32.s8.s8.s32", shape(16, 8, 32), whole(S8, S8)),
        ("m16n8k32.row.col.satfinite.s32.u8.u8.s32", shape(16, 8, 32), whole(U8, U8)),
        ("m8n8k32.row.col.s32.s4.u4.s32", shape(8, 8, 32), whole(S4, U4)),
        ("m16n8k32.row.col.s32.u4.s4.s32", shape(16, 8, 32), whole(U4, S4)),
        ("m16n8k64.row.col.satfinite.s32.s4.s4.s32", shape(16, 8, 64), whole(S4, S4)),
        ("m8n8k128.row.col.s32.b1.b1.s32.xor.popc", shape(8, 8, 128), whole(B1, B1)),
        ("m8n8k128.row.col.s32.b1.b1.s32.and.popc", shape(8, 8, 128), whole(B1, B1)),
        ("m16n8k128.row.col.s32.b1.b1.s32.xor.popc", shape(16, 8, 128), whole(B1, B1)),
        ("m16n8k128.row.col.s32.b1.b1.s32.and.popc", shape(16, 8, 128), whole(B1, B1)),
        ("m16n8k256.row.col.s32.b1.b1.s32.xor.popc", shape(16, 8, 256), whole(B1, B1)),
        ("m16n8k256.row.col.s32.b1.b1.s32.and.popc", shape(16, 8, 256), whole(B1, B1)),
    ];
    let dense = lists.map(|(text, shape, kinds)| {
        let text = format!("mma.sync.aligned.{text}").leak();
        Case { text, sm: 90, shape, kinds, adds: Adds::Once, saturates: false }.made().1
    });
    dense.into_iter().chain(sparse::probes()).chain(wmma::probes()).collect()
}
