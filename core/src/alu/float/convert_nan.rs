//! What `cvt` makes of NaN between two types (D-cvt-nan): the canonical one of the destination, or the source's, as much as
//! there is room for.

use super::convert::NAN64_FTZ;
use super::soft::{self, Format};
use crate::alu::mode::{FMode, Num, Rounding};

/// A NaN in another format, its sign and the upper bits of its payload, made quiet.
fn carried(from: Format, to: Format, source: u64) -> u64 {
    let sign = source >> (from.exponent + from.fraction) & 1;
    let fraction = source & ((1 << from.fraction) - 1);
    let fraction = match to.fraction.checked_sub(from.fraction) {
        Some(up) => fraction << up,
        None => fraction >> (from.fraction - to.fraction),
    };
    let quiet = ((2 << to.exponent) - 1) << (to.fraction - 1);
    sign << (to.exponent + to.fraction) | quiet | fraction
}

/// `tf32`: rounding away from zero cuts off what is below, and what is then no finite number becomes the one before it, as
/// infinity becomes the largest number (`.satfinite`); the other ways have the canonical NaN.
fn tensor_float(source: u64, mode: FMode) -> u64 {
    match mode.rounding() {
        Rounding::NearestAway if mode.has(FMode::SATFINITE) => (source & 0xffff_e000) - 0x2000,
        Rounding::NearestAway => source & 0xffff_e000,
        _ => 0x7fff_e000,
    }
}

/// The result of a conversion of NaN without `.sat`, if it is not the destination's canonical one.
pub(super) fn of(source: u64, mode: FMode) -> Option<u64> {
    let ftz = mode.has(FMode::FTZ);
    let plain = !ftz && !mode.has(FMode::INTEGRAL);
    Some(match (mode.dest(), mode.source()) {
        // A move.
        (Num::F64, Num::F64) | (Num::F32, Num::F32) if plain => source,
        (Num::F32, Num::Bf16) if plain => source << 16,
        (Num::F64, Num::F64) => carried(soft::F64, soft::F64, source),
        (Num::F64, Num::F32) if ftz => NAN64_FTZ,
        (Num::F64, Num::F32) => carried(soft::F32, soft::F64, source),
        (Num::F64, Num::F16) => carried(soft::F16, soft::F64, source),
        (Num::F64, Num::Bf16) => carried(soft::BF16, soft::F64, source),
        (Num::F32, Num::F64) => carried(soft::F64, soft::F32, source),
        (Num::F16, Num::F64) => carried(soft::F64, soft::F16, source),
        (Num::Bf16, Num::F64) => carried(soft::F64, soft::BF16, source),
        (Num::Tf32, Num::F32) => tensor_float(source, mode),
        _ => return None,
    })
}
