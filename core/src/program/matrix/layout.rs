//! Which lane holds which element of a matrix (PTX ISA 9.7.14, the figures of each `mma` shape).
//!
//! The figures of all shapes but one follow one pattern. Lanes are in groups of four: *group* `lane / 4`, *place* `lane % 4`. A
//! register has `e` elements that are neighbours along the dot product, and a matrix is cut into tiles of 8 rows (columns of
//! `B`) by `4 e` elements, one register of each lane. The group is the row in a tile, the place says which `e` of its elements.
//! Tiles go down first. `C` and `D` are cut into tiles of 8 by 8, of which a lane has two neighbours in a row.
//!
//! PTX does not say how the fragments of `wmma` lie. They follow the same pattern here, so that `wmma.mma` is `mma` of larger
//! matrices (D-wmma-layout).

use super::{Multiply, Part, Quads};
use crate::alu::matrix::Size;

/// Row and column of a lane's element; of `A` along the dot product by columns, of `B` by rows.
#[must_use]
pub const fn place(of: &Multiply, part: Part, lane: usize, index: usize) -> (usize, usize) {
    if let Some(quads) = of.quads {
        return in_quads(quads, of.element_bits(part), part, lane, index);
    }
    let Size { m, k, .. } = of.size;
    let (group, place) = (lane / 4, lane % 4);
    match part {
        Part::A => {
            let (tile, along) = split(of.per_register(part), place, index);
            let down = tiles(m, 8);
            (group + 8 * (tile % down), along + 4 * of.per_register(part) * (tile / down))
        }
        Part::B => {
            let (tile, along) = split(of.per_register(part), place, index);
            let down = tiles(k, 4 * of.per_register(part));
            (along + 4 * of.per_register(part) * (tile % down), group + 8 * (tile / down))
        }
        Part::C | Part::D => {
            let (tile, along) = split(2, place, index);
            let down = tiles(m, 8);
            (group + 8 * (tile % down), along + 8 * (tile / down))
        }
    }
}

/// The tile of an element, and where it is along one of its rows.
const fn split(each: usize, place: usize, index: usize) -> (usize, usize) {
    (index / each, place * each + index % each)
}

const fn tiles(length: usize, each: usize) -> usize {
    if length < each { 1 } else { length / each }
}

/// `mma.m8n8k4` of `f16` (9.7.14.5.1): lanes `4 q` to `4 q + 3` and the same of the upper half have matrices of their own.
const fn in_quads(quads: Quads, bits: u32, part: Part, lane: usize, index: usize) -> (usize, usize) {
    let (place, upper) = (lane % 4, if lane < 16 { 0 } else { 4 });
    match part {
        Part::A if quads.a_rows => (place + upper, index),
        Part::A => (index + upper, place),
        Part::B if quads.b_rows => (place, index + upper),
        Part::B => (index, place + upper),
        Part::C | Part::D if bits == 16 => (place + upper, index),
        Part::C | Part::D => ((lane & 1) + (index & 2) + upper, (index & 4) + (lane & 2) + (index & 1)),
    }
}

/// Which of the four products of `mma.m8n8k4` of `f16` a lane has a part of.
#[must_use]
pub const fn quad(lane: usize) -> usize {
    lane % 16 / 4
}
