//! `wmma`: matrices in memory, by rows and by columns, with and without distances of their own, against the same model as `mma`.

use super::model::{Adds, Kind, element};
use crate::hardware::probe::{Buffer, Probe};
use Kind::{B1, Bf16, F16, F32, F64, S4, S8, S32, Tf32, U4, U8};
use chacha20::ChaCha8Rng;
use rand::SeedableRng;
use std::fmt::Write as _;
use warpstep::check::Check;

/// A product of matrices in memory.
struct Case {
    sm: u32,
    size: (usize, usize, usize),
    /// Of `A`, `B`, `C` and `D`.
    kinds: [Kind; 4],
    adds: Adds,
    /// How many registers a lane's fragments have, from the tables of the PTX ISA (9.7.14.1).
    registers: [usize; 4],
    /// After the name: `.xor.popc` and the like, `.satfinite`.
    op: &'static str,
    saturates: bool,
}

const fn name(kind: Kind) -> &'static str {
    match kind {
        F16 => "f16",
        Bf16 => "bf16",
        Tf32 => "tf32",
        F32 => "f32",
        F64 => "f64",
        S8 => "s8",
        U8 => "u8",
        S4 => "s4",
        U4 => "u4",
        B1 => "b1",
        _ => "s32",
    }
}

impl Case {
    fn shape(&self) -> String {
        let (m, n, k) = self.size;
        format!("m{m}n{n}k{k}")
    }

    /// Height and width of `A`, `B`, `C` and `D`.
    const fn extents(&self) -> [(usize, usize); 4] {
        let (m, n, k) = self.size;
        [(m, k), (k, n), (m, n), (m, n)]
    }

    /// `rows`: which of the matrices lie by rows; `pad`: bytes between rows, or none and no distance given.
    fn ptx(&self, rows: [bool; 4], pad: usize, space: &str) -> String {
        let layout = |part: usize| if rows[part] { "row" } else { "col" };
        let list = |part: usize| {
            let file = if self.kinds[part].bits() == 64 { "rd" } else { "r" };
            let first = part * 10;
            let all: Vec<String> = (0..self.registers[part]).map(|k| format!("%{file}{}", first + k)).collect();
            format!("{{{}}}", all.join(", "))
        };
        let stride = |part: usize| if pad == 0 { String::new() } else { format!(", {}", self.stride(part, rows, pad)) };
        let mut text = format!(
            ".version 8.0\n.target sm_{}\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd)\n{{\n\
             .reg .b32 %r<40>;\n.reg .b64 %rd<40>, %p<4>;\n",
            self.sm
        );
        for (part, param) in ["pa", "pb", "pc", "pd"].iter().enumerate() {
            writeln!(text, "ld.param.u64 %p{part}, [{param}];").unwrap();
        }
        for (part, letter) in ["a", "b", "c"].iter().enumerate() {
            writeln!(
                text,
                "wmma.load.{letter}.sync.aligned.{}.{}{space}.{} {}, [%p{part}]{};",
                layout(part),
                self.shape(),
                name(self.kinds[part]),
                list(part),
                stride(part)
            )
            .unwrap();
        }
        let [a, b, c, d] = self.kinds.map(name);
        let types = if self.kinds[0] == F16 { format!("{d}.{c}") } else { format!("{d}.{a}.{b}.{c}") };
        let (before, after) = if self.op.contains("popc") { (self.op, "") } else { ("", self.op) };
        writeln!(
            text,
            "wmma.mma{before}.sync.aligned.{}.{}.{}.{types}{after} {}, {}, {}, {};",
            layout(0),
            layout(1),
            self.shape(),
            list(3),
            list(0),
            list(1),
            list(2)
        )
        .unwrap();
        writeln!(
            text,
            "wmma.store.d.sync.aligned.{}.{}{space}.{d} [%p3], {}{};",
            layout(3),
            self.shape(),
            list(3),
            stride(3)
        )
        .unwrap();
        text + "ret;\n}\n"
    }

    /// Elements from a row (or column) to the next.
    const fn stride(&self, part: usize, rows: [bool; 4], pad: usize) -> usize {
        let (height, width) = self.extents()[part];
        let line = if rows[part] { width } else { height };
        line + pad * 8 / self.kinds[part].bits()
    }

    /// Matrices of random elements, and the kernel that multiplies them.
    fn made(&self, rows: [bool; 4], pad: usize, space: &str, seed: u64) -> ([Vec<u64>; 3], Probe) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut matrices: [Vec<u64>; 3] = Default::default();
        let mut memory: [Vec<u8>; 4] = Default::default();
        let at = |part: usize, row: usize, column: usize| self.at(rows, pad, part, row, column);
        for part in 0..4 {
            let (height, width) = self.extents()[part];
            let bits = self.kinds[part].bits();
            memory[part] = vec![0; (at(part, height - 1, width - 1) + bits).div_ceil(8)];
            for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column))) {
                if part == 3 {
                    continue;
                }
                let value = self.kinds[part].random(&mut random, (seed % 5) as usize, part == 2);
                matrices[part].push(value);
                let first = at(part, row, column);
                for bit in 0..bits {
                    memory[part][(first + bit) / 8] |= ((value >> bit & 1) as u8) << ((first + bit) % 8);
                }
            }
        }
        let result = Buffer::result(memory[3].len());
        let mut buffers: Vec<Buffer> = memory.into_iter().take(3).map(|bytes| Buffer { bytes, read: false }).collect();
        buffers.push(result);
        let [a, b, c, d] = self.kinds.map(name);
        let name = format!("wmma {} {d}.{a}.{b}.{c}{} {rows:?} {pad}", self.shape(), self.op);
        (matrices, Probe { name, ptx: self.ptx(rows, pad, space), grid: 1, block: 32, buffers })
    }

    /// Where an element of a matrix is, in bits.
    fn at(&self, rows: [bool; 4], pad: usize, part: usize, row: usize, column: usize) -> usize {
        let (major, minor) = if rows[part] { (row, column) } else { (column, row) };
        (major * self.stride(part, rows, pad) + minor) * self.kinds[part].bits()
    }

    fn agrees(&self, rows: [bool; 4], pad: usize, space: &str, seed: u64) {
        let (matrices, probe) = self.made(rows, pad, space, seed);
        let d = probe.run_with(|kernel| kernel.check(Check::Races).check(Check::Bounds));
        let ((m, n, k), ptx) = (self.size, &probe.ptx);
        for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
            let (x, y): (Vec<u64>, Vec<u64>) =
                (0..k).map(|i| (matrices[0][row * k + i], matrices[1][i * n + column])).unzip();
            let wanted = element(self.kinds, self.adds, self.saturates, &x, &y, matrices[2][row * n + column]);
            let (first, bytes) = (self.at(rows, pad, 3, row, column) / 8, self.kinds[3].bits() / 8);
            let is = d[first..first + bytes].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
            let is = if self.kinds[3] == F64 && f64::from_bits(is).is_nan() { u64::MAX } else { is };
            assert_eq!(is, wanted, "row {row} column {column}\n{ptx}");
        }
    }

    /// In all layouts that there are.
    fn everywhere(&self) {
        let small = self.kinds[0].bits() < 8;
        for choice in 0..16 {
            let rows: [bool; 4] = std::array::from_fn(|part| choice >> part & 1 == 1);
            if small && (!rows[0] || rows[1]) {
                continue;
            }
            for (pad, space) in [(0, ""), (16, ".global")] {
                self.agrees(rows, pad, space, choice + pad as u64);
            }
        }
    }
}

const SIXTEEN: [(usize, usize, usize); 3] = [(16, 16, 16), (8, 32, 16), (32, 8, 16)];

const fn blocks(products: usize, fraction: u32) -> Adds {
    Adds::Blocks { products, fraction, kept: 23 }
}

fn floats(sm: u32, size: (usize, usize, usize), kinds: [Kind; 4], adds: Adds, registers: [usize; 4]) -> Case {
    Case { sm, size, kinds, adds, registers, op: "", saturates: false }
}

fn whole(size: (usize, usize, usize), kind: Kind, registers: [usize; 4], op: &'static str) -> Case {
    let adds = if op.contains("xor") { Adds::Differing } else { Adds::Once };
    Case { sm: 80, size, kinds: [kind, kind, S32, S32], adds, registers, op, saturates: op.contains("satfinite") }
}

#[test]
fn halves() {
    for size in SIXTEEN {
        for (c, d) in [(F32, F32), (F16, F16), (F16, F32), (F32, F16)] {
            let count = |kind| if kind == F16 { 4 } else { 8 };
            let registers = [8, 8, count(c), count(d)];
            floats(70, size, [F16, F16, c, d], blocks(4, 23), registers).everywhere();
        }
    }
    floats(80, SIXTEEN[0], [F16, F16, F32, F32], blocks(8, 24), [8; 4]).everywhere();
    floats(90, SIXTEEN[1], [F16, F16, F32, F32], blocks(16, 25), [8; 4]).everywhere();
}

#[test]
fn other_floats() {
    for (size, [a, b]) in SIXTEEN.into_iter().zip([[4, 4], [2, 8], [8, 2]]) {
        floats(80, size, [Bf16, Bf16, F32, F32], blocks(8, 24), [a, b, 8, 8]).everywhere();
    }
    floats(80, (16, 16, 8), [Tf32, Tf32, F32, F32], blocks(4, 24), [4, 4, 8, 8]).everywhere();
    floats(90, (16, 16, 8), [Tf32, Tf32, F32, F32], blocks(4, 25), [4, 4, 8, 8]).everywhere();
    floats(80, (8, 8, 4), [F64; 4], Adds::Once, [1, 1, 2, 2]).everywhere();
}

#[test]
fn integers_and_bits() {
    for (size, [a, b]) in SIXTEEN.into_iter().zip([[2, 2], [1, 4], [4, 1]]) {
        whole(size, S8, [a, b, 8, 8], "").everywhere();
        whole(size, U8, [a, b, 8, 8], ".satfinite").everywhere();
    }
    whole((8, 8, 32), S4, [1, 1, 2, 2], "").everywhere();
    whole((8, 8, 32), U4, [1, 1, 2, 2], ".satfinite").everywhere();
    whole((8, 8, 128), B1, [1, 1, 2, 2], ".xor.popc").everywhere();
    whole((8, 8, 128), B1, [1, 1, 2, 2], ".and.popc").everywhere();
}

/// All products that sm_90 has, for the hardware to compute: with `A` and `B` in two layouts.
pub fn probes() -> Vec<Probe> {
    let mut cases = Vec::new();
    for size in SIXTEEN {
        for (c, d) in [(F32, F32), (F16, F16), (F16, F32), (F32, F16)] {
            let count = |kind| if kind == F16 { 4 } else { 8 };
            cases.push(floats(90, size, [F16, F16, c, d], Adds::Once, [8, 8, count(c), count(d)]));
        }
    }
    for (size, [a, b]) in SIXTEEN.into_iter().zip([[4, 4], [2, 8], [8, 2]]) {
        cases.push(floats(90, size, [Bf16, Bf16, F32, F32], Adds::Once, [a, b, 8, 8]));
    }
    cases.push(floats(90, (16, 16, 8), [Tf32, Tf32, F32, F32], Adds::Once, [4, 4, 8, 8]));
    cases.push(floats(90, (8, 8, 4), [F64; 4], Adds::Once, [1, 1, 2, 2]));
    for (size, [a, b]) in SIXTEEN.into_iter().zip([[2, 2], [1, 4], [4, 1]]) {
        cases.push(whole(size, S8, [a, b, 8, 8], ""));
        cases.push(whole(size, U8, [a, b, 8, 8], ".satfinite"));
    }
    cases.push(whole((8, 8, 32), S4, [1, 1, 2, 2], ""));
    cases.push(whole((8, 8, 32), U4, [1, 1, 2, 2], ".satfinite"));
    cases.push(whole((8, 8, 128), B1, [1, 1, 2, 2], ".xor.popc"));
    cases.push(whole((8, 8, 128), B1, [1, 1, 2, 2], ".and.popc"));
    cases.iter_mut().for_each(|case| case.sm = 90);
    let layouts = [[true, false, true, true], [false, true, false, true]];
    let mut probes = Vec::new();
    for case in &cases {
        let small = case.kinds[0].bits() < 8;
        for (seed, rows) in layouts.into_iter().enumerate().filter(|(seed, _)| !small || *seed == 0) {
            // Numbers of five styles.
            for style in 0..5 {
                let mut probe = case.made(rows, 16, ".global", (10 * seed + style) as u64).1;
                probe.name = format!("{} style {style}", probe.name);
                probes.push(probe);
            }
        }
    }
    probes
}
