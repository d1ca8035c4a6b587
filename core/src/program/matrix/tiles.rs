//! Fragments to matrices and back, a tile at a time, for products whose rows are neighbours
//! ([`crate::alu::matrix::floats_by_rows`]). What lies where is [`super::layout`]; here eight lanes that hold neighbouring rows
//! of `A`, columns of `B` or rows of `C` are moved together.

use super::{Multiply, Part, Words};
use crate::alu::matrix::Size;
use crate::base::{Best, Tier};
use pulp::{Simd, WithSimd};

/// An element of a fragment, by its number, with all lanes of the same place in their group of four.
struct Tile {
    /// Where the eights of place 0 are, how far apart those of the next ones are, and of the next element of a place.
    first: usize,
    step: usize,
}

impl Tile {
    /// The element with a number, of a matrix. None for `mma.m8n8k4` of `f16`, which follows another pattern.
    const fn of(of: &Multiply, part: Part, index: usize) -> Self {
        let Size { m, n, k } = of.size;
        let each = match part {
            Part::A | Part::B => of.per_register(part),
            Part::C | Part::D => 2,
        };
        let (tile, along) = (index / each, index % each);
        let (wide, deep) = (if matches!(part, Part::B) { n / 8 } else { m / 8 }, 4 * each);
        // Tiles go down first: along the rows, of `B` along the dot product.
        let (beside, after) = match part {
            Part::B => {
                let down = if k < deep { 1 } else { k / deep };
                (tile / down, tile % down)
            }
            _ => (tile % wide, tile / wide),
        };
        Self { first: (along + deep * after) * wide + beside, step: each * wide }
    }
}

/// Puts a matrix together from the words of its registers: neighbours in eights.
pub fn gather(of: &Multiply, part: Part, words: &[Words], all: &mut [[u32; 8]]) {
    Best::run(Gather { of, part, words, all });
}

struct Gather<'a> {
    of: &'a Multiply,
    part: Part,
    words: &'a [Words],
    all: &'a mut [[u32; 8]],
}

impl WithSimd for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        let Self { of, part, words, all } = self;
        let (bits, per) = (of.element_bits(part), of.per_register(part));
        let mask = u32::MAX >> (32 - bits);
        for (register, words) in words.iter().enumerate() {
            let turned = turned(words);
            for inner in 0..per {
                let tile = Tile::of(of, part, register * per + inner);
                let shift = bits * inner as u32;
                for (place, from) in turned.iter().enumerate() {
                    let Some(to) = all.get_mut(tile.first + place * tile.step) else { continue };
                    for g in 0..8 {
                        to[g] = from[g] >> shift & mask;
                    }
                }
            }
        }
    }
}

/// A register of a matrix, by its number, in all lanes.
pub fn register(of: &Multiply, part: Part, number: usize, all: &[[u32; 8]]) -> Words {
    let (bits, per) = (of.element_bits(part), of.per_register(part));
    let mut turned = [[0u32; 8]; 4];
    for inner in 0..per {
        let tile = Tile::of(of, part, number * per + inner);
        let shift = bits * inner as u32;
        for (place, to) in turned.iter_mut().enumerate() {
            let Some(from) = all.get(tile.first + place * tile.step) else { continue };
            for g in 0..8 {
                to[g] |= from[g] << shift;
            }
        }
    }
    let mut words = [0; 32];
    for g in 0..8 {
        for place in 0..4 {
            words[4 * g + place] = turned[place][g];
        }
    }
    words
}

/// Lanes by their place in a group of four, then by group.
#[inline(always)]
fn turned(words: &Words) -> [[u32; 8]; 4] {
    let mut all = [[0; 8]; 4];
    for g in 0..8 {
        for place in 0..4 {
            all[place][g] = words[4 * g + place];
        }
    }
    all
}
