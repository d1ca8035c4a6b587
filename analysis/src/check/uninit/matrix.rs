//! Definedness through matrix instructions: an element of a product is defined where its row, its column and its accumulator
//! are.

use super::cause::Cause;
use super::shadow::{DEFINED, Regs, set_lane, undefined};
use crate::base::{LANES, Pc};
use crate::program::instr::{NO_SLOT, Slot};
use crate::program::matrix::layout::{place, quad};
use crate::program::matrix::{Matrix, MatrixKind, Multiply, Part, Registers, Words, permuted};
use crate::program::ops::Class;
use rustc_hash::FxHashSet;

/// Carries definedness through a matrix instruction of a whole warp.
pub(super) fn run(matrix: &Matrix, pc: Pc, shadow: &mut Regs) {
    let results = match matrix.kind {
        MatrixKind::Multiply(of) => product(&of, matrix, shadow),
        kind => {
            let from: Vec<Words> = matrix.sources[0].all().map(|(class, slot)| words(class, slot, shadow)).collect();
            let count = matrix.d.slots.len();
            (0..count).map(|number| permuted(kind, number, &from).map(u64::from)).collect()
        }
    };
    let cause = if results.iter().flatten().any(|bits| *bits != 0) { cause(matrix, pc, shadow) } else { None };
    for (slot, undefined) in matrix.d.slots.iter().zip(results) {
        let mut bytes = DEFINED;
        undefined.iter().enumerate().for_each(|(lane, bits)| set_lane(&mut bytes, lane, *bits));
        shadow.put(matrix.d.class, *slot, !0, &bytes);
        let bad = (0..LANES).filter(|lane| undefined[*lane] != 0);
        shadow.blame(
            matrix.d.class,
            *slot,
            cause.into_iter().flat_map(|cause| bad.clone().map(move |lane| (lane, cause))),
        );
    }
}

/// The undefined bits of a slot, by lanes.
fn words(class: Class, slot: Slot, shadow: &Regs) -> Words {
    let bytes = shadow.get(class, slot);
    std::array::from_fn(|lane| undefined(&bytes, lane) as u32)
}

/// Why an operand is not defined, of the first one that is not in a lane.
fn cause(matrix: &Matrix, pc: Pc, shadow: &Regs) -> Option<Cause> {
    let mut all = matrix.sources.iter().flat_map(Registers::all);
    all.find_map(|(class, slot)| {
        let bytes = shadow.get(class, slot);
        let lane = (0..LANES).find(|lane| undefined(&bytes, *lane) != 0)?;
        Some(shadow.cause(class, slot, lane, pc))
    })
}

/// The undefined bits of each register of a product, by lanes.
fn product(of: &Multiply, matrix: &Matrix, shadow: &Regs) -> Vec<[u64; LANES]> {
    let [a, b, c, metadata] = &matrix.sources;
    // With the number of the product, of which `mma.m8n8k4` has four.
    let (mut rows, mut columns, mut sums) = (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
    each_undefined(of, Part::A, a, shadow, |which, (row, _)| _ = rows.insert((which, row)));
    // Of a lane with metadata, those of the rows of its group.
    for (lane, word) in metadata.all().flat_map(|(class, slot)| words(class, slot, shadow).into_iter().enumerate()) {
        if word != 0 && of.has_metadata(lane) {
            rows.extend([(0, lane / 4), (0, lane / 4 + 8)]);
        }
    }
    each_undefined(of, Part::B, b, shadow, |which, (_, column)| _ = columns.insert((which, column)));
    each_undefined(of, Part::C, c, shadow, |which, at| _ = sums.insert((which, at)));
    let mut results = vec![[0; LANES]; matrix.d.slots.len()];
    if rows.is_empty() && columns.is_empty() && sums.is_empty() {
        return results;
    }
    each(of, Part::D, |lane, register, bits, which, at| {
        let bad = rows.contains(&(which, at.0)) || columns.contains(&(which, at.1)) || sums.contains(&(which, at));
        if let Some(result) = results.get_mut(register).filter(|_| bad) {
            result[lane] |= bits;
        }
    });
    results
}

/// Calls `see` for each element of a matrix: its lane, its register, its bits there, which product it is of, and its place.
fn each(of: &Multiply, part: Part, mut see: impl FnMut(usize, usize, u64, usize, (usize, usize))) {
    let (per, width) = (of.per_register(part), of.element_bits(part));
    let mask = u64::MAX >> (64 - width.min(64));
    for lane in 0..LANES {
        let which = if of.quads.is_some() { quad(lane) } else { 0 };
        for index in 0..of.elements(part) {
            let shift = width * (index % per) as u32;
            see(lane, index / per, mask << shift, which, place(of, part, lane, index));
        }
    }
}

/// The same of those that are not defined: which product they are of, and their places.
fn each_undefined(
    of: &Multiply,
    part: Part,
    from: &Registers,
    shadow: &Regs,
    mut see: impl FnMut(usize, (usize, usize)),
) {
    let known: Vec<_> = from.slots.iter().map(|slot| shadow.get(from.class, *slot)).collect();
    if known.iter().all(|bytes| *bytes == DEFINED) {
        return;
    }
    each(of, part, |lane, register, bits, which, at| {
        let slot = from.slots.get(register).copied().unwrap_or(NO_SLOT);
        if slot != NO_SLOT && known.get(register).is_some_and(|bytes| undefined(bytes, lane) & bits != 0) {
            see(which, at);
        }
    });
}
