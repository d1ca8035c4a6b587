//! Which lane holds which element, as the PTX ISA writes it for each shape (9.7.14.5.1 to 9.7.14.5.13). With `groupID =
//! laneid >> 2` and `threadID_in_group = laneid % 4`.

/// A shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Rows, columns, depth.
    Whole(usize, usize, usize),
    /// `m8n8k4` of `f16`, `A` by rows and `B` by columns.
    Quads,
}

impl Shape {
    pub const fn size(self) -> (usize, usize, usize) {
        match self {
            Self::Whole(m, n, k) => (m, n, k),
            Self::Quads => (8, 8, 4),
        }
    }
}

/// An element: which of several products, row and column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub product: usize,
    pub row: usize,
    pub column: usize,
}

/// The element of `A`, `B`, `C` or `D` (by number) that is element `i` of a lane's fragment.
pub fn place(shape: Shape, part: usize, bits: usize, lane: usize, i: usize) -> Place {
    let (row, column) = match shape {
        Shape::Quads => quads(part, bits, lane, i),
        Shape::Whole(m, ..) if part >= 2 => accumulators(m, lane >> 2, lane % 4, i),
        Shape::Whole(m, _, k) if part == 0 => a(m, k, bits, lane >> 2, lane % 4, i),
        Shape::Whole(_, _, k) => b(k, bits, lane >> 2, lane % 4, i),
    };
    // The quad pairs: lanes 0 to 3 and 16 to 19, 4 to 7 and 20 to 23, and so on.
    let product = if shape == Shape::Quads { lane % 16 / 4 } else { 0 };
    Place { product, row, column }
}

fn accumulators(m: usize, group: usize, thread: usize, i: usize) -> (usize, usize) {
    match m {
        8 => (group, thread * 2 + (i & 1)),
        _ => (if i < 2 { group } else { group + 8 }, thread * 2 + (i & 1)),
    }
}

fn a(m: usize, k: usize, bits: usize, group: usize, thread: usize, i: usize) -> (usize, usize) {
    let low = |yes: bool| if yes { group } else { group + 8 };
    match (m, k, bits) {
        // m8n8k4 f64; m8n8k16 s8; m8n8k32 s4; m8n8k128 b1.
        (8, 4, 64) => (group, thread),
        (8, 16, 8) => (group, thread * 4 + i),
        (8, 32, 4) => (group, thread * 8 + i),
        (8, 128, 1) => (group, thread * 32 + i),
        // m16n8k8 and m16n8k16 f16, bf16.
        (16, 8, 16) => (low(i < 2), thread * 2 + (i & 1)),
        (16, 16, 16) => {
            let row = low(i < 2 || (4..6).contains(&i));
            (row, if i < 4 { thread * 2 + (i & 1) } else { thread * 2 + (i & 1) + 8 })
        }
        // m16n8k4 and m16n8k8 tf32.
        (16, 4, 32) => (low(i == 0), thread),
        (16, 8, 32) => (low(i == 0 || i == 2), if i < 2 { thread } else { thread + 4 }),
        // f64 of sm_90.
        (16, 4, 64) => (low(i == 0), thread),
        (16, 8, 64) => (low(i == 0 || i == 2), if i < 2 { thread } else { thread + 4 }),
        (16, 16, 64) => (low(i.is_multiple_of(2)), i / 2 * 4 + thread),
        // m16n8k16 and m16n8k32 of 8 bits.
        (16, 16, 8) => (low(i < 4), thread * 4 + (i & 3)),
        (16, 32, 8) => {
            let row = low(i < 4 || (8..12).contains(&i));
            (row, if i < 8 { thread * 4 + (i & 3) } else { thread * 4 + (i & 3) + 16 })
        }
        // m16n8k32 and m16n8k64 of 4 bits.
        (16, 32, 4) => (low(i < 8), thread * 8 + (i & 7)),
        (16, 64, 4) => {
            let row = low(i < 8 || (16..24).contains(&i));
            (row, if i < 16 { thread * 8 + (i & 7) } else { thread * 8 + (i & 7) + 32 })
        }
        // m16n8k128 and m16n8k256 b1.
        (16, 128, 1) => (low(i < 32), thread * 32 + (i & 31)),
        (16, 256, 1) => {
            let row = low(i < 32 || (64..96).contains(&i));
            (row, if i < 64 { thread * 32 + (i & 31) } else { thread * 32 + (i & 31) + 128 })
        }
        _ => panic!("no figure of A for {m} {k} {bits}"),
    }
}

fn b(k: usize, bits: usize, group: usize, thread: usize, i: usize) -> (usize, usize) {
    let row = match (k, bits) {
        (8, 16) => thread * 2 + i,
        (16, 16) => {
            if i < 2 {
                thread * 2 + (i & 1)
            } else {
                thread * 2 + (i & 1) + 8
            }
        }
        (4, 32 | 64) => thread,
        (8, 32 | 64) => {
            if i == 0 {
                thread
            } else {
                thread + 4
            }
        }
        (16, 64) => thread + i * 4,
        (16, 8) => thread * 4 + i,
        (32, 8) => {
            if i < 4 {
                thread * 4 + (i & 3)
            } else {
                thread * 4 + (i & 3) + 16
            }
        }
        (32, 4) => thread * 8 + i,
        (64, 4) => {
            if i < 8 {
                thread * 8 + (i & 7)
            } else {
                thread * 8 + (i & 7) + 32
            }
        }
        // Of sparse products alone: figures 121, 124, 132 to 135, 142 to 145.
        (32, 16) => thread * 2 + (i & 1) + i / 2 * 8,
        (16, 32) => thread + i * 4,
        (64, 8) => thread * 4 + (i & 3) + i / 4 * 16,
        (128, 4) => thread * 8 + (i & 7) + i / 8 * 32,
        (128, 1) => thread * 32 + i,
        (256, 1) => {
            if i < 32 {
                thread * 32 + (i & 31)
            } else {
                thread * 32 + (i & 31) + 128
            }
        }
        _ => panic!("no figure of B for {k} {bits}"),
    };
    (row, group)
}

fn quads(part: usize, bits: usize, lane: usize, i: usize) -> (usize, usize) {
    let upper = if lane < 16 { 0 } else { 4 };
    match part {
        0 => (lane % 4 + upper, i),
        1 => (i, lane % 4 + upper),
        _ if bits == 16 => (lane % 4 + upper, i),
        _ => ((lane & 0b1) + (i & 0b10) + upper, (i & 0b100) + (lane & 0b10) + (i & 0b1)),
    }
}
