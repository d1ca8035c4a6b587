//! Selection of `cvt` with a floating-point type on either side.

use super::Selected;
use super::float::{Words, moded, op};
use crate::program::float_ops::FloatOp as F;
use crate::program::mode::{FMode, Num, Rounding};
use crate::ptx::Modifier as M;

/// The number type of a modifier, and whether it stands for two packed values.
fn number(word: M) -> Option<(Num, bool)> {
    Some(match word {
        M::U8 => (Num::U8, false),
        M::U16 => (Num::U16, false),
        M::U32 => (Num::U32, false),
        M::U64 => (Num::U64, false),
        M::S8 => (Num::S8, false),
        M::S16 => (Num::S16, false),
        M::S32 => (Num::S32, false),
        M::S64 => (Num::S64, false),
        M::F16 => (Num::F16, false),
        M::BF16 => (Num::Bf16, false),
        M::F32 => (Num::F32, false),
        M::F64 => (Num::F64, false),
        M::TF32 => (Num::Tf32, false),
        M::F16X2 => (Num::F16, true),
        M::BF16X2 => (Num::Bf16, true),
        M::E4M3X2 => (Num::E4m3, true),
        M::E5M2X2 => (Num::E5m2, true),
        M::E2M1X2 => (Num::E2m1, true),
        M::E2M3X2 => (Num::E2m3, true),
        M::E3M2X2 => (Num::E3m2, true),
        M::UE8M0X2 => (Num::Ue8m0, true),
        _ => return None,
    })
}

/// The operation of a conversion; `None` between integers.
pub(super) fn select(words: &Words) -> Option<Selected> {
    let (dest, packed) = number(words.types[0]?)?;
    let (source, sources_packed) = number(words.types[1]?)?;
    if dest.is_integer() && source.is_integer() {
        return None;
    }
    // Older PTX may leave the rounding out; towards zero is then meant where the result is an integer.
    let mode = if dest.is_integer() && !words.rounded { words.mode.rounded(Rounding::Zero) } else { words.mode };
    let mode = mode.to(dest).from(source);
    if packed {
        let random = mode.rounding() == Rounding::Stochastic;
        return match (sources_packed, random) {
            (true, _) => moded(F::CvtPair, mode),
            (false, false) => moded(F::CvtPack, mode),
            (false, true) => moded(F::CvtPackRandom, mode),
        };
    }
    if let Some(common) = common(words, dest, source) {
        return op(common);
    }
    let general = match (source.bits() == 64, dest.bits() == 64) {
        (false, false) => F::CvtWW,
        (false, true) => F::CvtWQ,
        (true, false) => F::CvtQW,
        (true, true) => F::CvtQQ,
    };
    moded(general, mode)
}

/// The conversions that have operations of their own.
fn common(words: &Words, dest: Num, source: Num) -> Option<F> {
    let ftz = words.mode.has(FMode::FTZ);
    if dest.is_integer() {
        let to_zero = FMode::INTEGRAL.rounded(Rounding::Zero);
        // `.sat` says nothing new: conversions to integers clamp.
        let flags = words.mode.0 & !FMode::SAT.0;
        if words.rounded && flags != to_zero.0 && flags != to_zero.with(FMode::FTZ).0 {
            return None;
        }
        // Truncation makes zero of a subnormal number, flushed or not.
        return Some(match (dest, source) {
            (Num::S32, Num::F32) => F::S32OfF32,
            (Num::U32, Num::F32) => F::U32OfF32,
            (Num::S64, Num::F32) => F::S64OfF32,
            (Num::U64, Num::F32) => F::U64OfF32,
            (Num::S32, Num::F64) => F::S32OfF64,
            (Num::U32, Num::F64) => F::U32OfF64,
            (Num::S64, Num::F64) => F::S64OfF64,
            (Num::U64, Num::F64) => F::U64OfF64,
            _ => return None,
        });
    }
    if !words.plain() {
        return None;
    }
    Some(match (dest, source) {
        (Num::F32, Num::S32) => F::F32OfS32,
        (Num::F32, Num::U32) => F::F32OfU32,
        (Num::F32, Num::S64) => F::F32OfS64,
        (Num::F32, Num::U64) => F::F32OfU64,
        (Num::F64, Num::S32) => F::F64OfS32,
        (Num::F64, Num::U32) => F::F64OfU32,
        (Num::F64, Num::S64) => F::F64OfS64,
        (Num::F64, Num::U64) => F::F64OfU64,
        (Num::F64, Num::F32) => {
            if ftz {
                F::F64OfF32Ftz
            } else {
                F::F64OfF32
            }
        }
        (Num::F32, Num::F64) => {
            if ftz {
                F::F32OfF64Ftz
            } else {
                F::F32OfF64
            }
        }
        // A subnormal f16 is a normal f32, so `.ftz` changes nothing.
        (Num::F32, Num::F16) => F::F32OfF16,
        (Num::F16, Num::F32) if !ftz => F::F16OfF32,
        (Num::F32, Num::Bf16) if !ftz => F::F32OfBf16,
        (Num::Bf16, Num::F32) if !ftz => F::Bf16OfF32,
        _ => return None,
    })
}
