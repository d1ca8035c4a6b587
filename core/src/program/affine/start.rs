//! What is known of registers where a function begins.

use super::pattern::{Line, Pattern, Residue};
use crate::program::env::{Function, Init, Special};
use crate::program::instr::{STACK_BASE, STACK_TOP};
use crate::program::ops::Class;

/// What parameters may be known to be multiples of: a warp's lanes.
pub const MULTIPLE: u32 = 32;

/// The shape of a block of threads, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threads {
    /// Its three dimensions.
    Block([u32; 3]),
    /// Its x is a multiple of the warp's size.
    Rows,
}

/// The patterns of registers where a function begins.
///
/// `multiples`: offsets of parameters that are multiples of [`MULTIPLE`].
pub(super) fn first(function: &Function, threads: Threads, lanes: u32, multiples: &[u32]) -> Vec<Pattern> {
    let mut state = vec![Pattern::Vector; function.slots.count()];
    let mut set = |class, slot, pattern| {
        if let Some(n) = function.slots.number(class, slot) {
            state[n] = pattern;
        }
    };
    // What may be read before it is written is zero (D-undefined); the rest is whatever another warp has left there.
    for (class, slot) in &function.undefined {
        set(*class, *slot, Pattern::Affine(Line::constant(0, *class)));
    }
    let uniform = Pattern::Affine(Line::uniform(Residue::NONE));
    for slot in [STACK_BASE, STACK_TOP] {
        set(Class::W, slot, if function.entry { uniform } else { Pattern::Vector });
    }
    for preload in &function.preloads {
        let pattern = match preload.init {
            Init::Const(value) => Pattern::Affine(Line::constant(value, preload.class)),
            Init::Param { offset, .. } if multiples.contains(&offset) => {
                Pattern::Affine(Line::uniform(Residue::new(MULTIPLE.trailing_zeros() as u8, 0)))
            }
            Init::Special(special) => register(special, preload.class, threads, lanes),
            Init::Within { of, offset } => {
                Pattern::Affine(Line::constant(u64::from(of.first).wrapping_add_signed(offset), preload.class))
            }
            _ => uniform,
        };
        set(preload.class, preload.slot, pattern);
    }
    state
}

/// The pattern of a special register.
fn register(special: Special, class: Class, threads: Threads, lanes: u32) -> Pattern {
    let constant = |value: u32| Pattern::Affine(Line::constant(value.into(), class));
    let aligned = u8::try_from(lanes.trailing_zeros()).unwrap_or(0);
    // Threads of a warp stand beside each other, from a multiple of its size on.
    let row = Pattern::Affine(Line { stride: 1, halves: false, base: Residue::new(aligned, 0) });
    let uniform = Pattern::Affine(Line::uniform(Residue::NONE));
    let rows = |x: u32, y: u32, z: u32| x.is_multiple_of(lanes.max(1)) || y == 1 && z == 1;
    match (special, threads) {
        (Special::Tid(3..) | Special::Zero, _) => constant(0),
        (Special::Tid(0), Threads::Rows) => row,
        (Special::Tid(_), Threads::Rows) => uniform,
        (Special::Tid(d), Threads::Block([x, y, z])) => match d {
            _ if [x, y, z][usize::from(d)] == 1 => constant(0),
            0 if rows(x, y, z) => row,
            _ if rows(x, y, z) => uniform,
            0 if 2 * x == lanes => Pattern::Affine(Line { stride: 1, halves: true, base: Residue::new(32, 0) }),
            _ if 2 * x == lanes => Pattern::Affine(Line { halves: true, ..Line::uniform(Residue::NONE) }),
            _ => Pattern::Vector,
        },
        (Special::Ntid(d), Threads::Block(block)) => constant(block.get(usize::from(d)).copied().unwrap_or(0)),
        (Special::Ntid(0), Threads::Rows) => Pattern::Affine(Line::uniform(Residue::new(aligned, 0))),
        (Special::LaneId, _) => Pattern::Affine(Line { stride: 1, halves: false, base: Residue::new(32, 0) }),
        (Special::WarpSize, _) => constant(lanes),
        (
            Special::LanemaskEq | Special::LanemaskLe | Special::LanemaskLt | Special::LanemaskGe | Special::LanemaskGt,
            _,
        ) => Pattern::Vector,
        _ => uniform,
    }
}
