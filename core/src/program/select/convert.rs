//! Selection of `cvt` with a floating-point type on either side.

use super::{Selected, flag, flags, number};
use crate::program::mode::{FMode, Num, Rounding};
use crate::program::ops::FloatOp as F;
use crate::ptx::Modifier as M;

/// The operation of a conversion; `None` between integers.
pub(super) fn select(to: M, from: M, mods: &[M]) -> Option<Selected> {
    let (dest, packed) = number(to)?;
    let (source, sources_packed) = number(from)?;
    if dest.is_integer() && source.is_integer() {
        return None;
    }
    let asked = flags(mods);
    // Older PTX may leave the rounding out; towards zero is then meant where the result is an integer.
    let rounds = |word: &M| *word == M::RN || flag(*word).is_some_and(|f| f.rounding() != Rounding::default());
    let rounded = asked.has(FMode::INTEGRAL) || mods.iter().any(rounds);
    let asked = if dest.is_integer() && !rounded { asked.with(FMode::INTEGRAL).rounded(Rounding::Zero) } else { asked };
    let common = if packed { None } else { F::named(&common(asked, dest, source)) };
    if let Some(op) = common {
        return Some(op.into());
    }
    let mode = if rounded || !dest.is_integer() { asked } else { FMode(asked.0 & !FMode::INTEGRAL.0) };
    let scaled = mods.contains(&M::SCALED);
    let general = match (packed, sources_packed) {
        (true, true) if scaled => F::CvtPairScaled,
        (true, false) if scaled => F::CvtPackScaled,
        (true, true) => F::CvtPair,
        (true, false) if mode.rounding() == Rounding::Stochastic => F::CvtPackRandom,
        (true, false) => F::CvtPack,
        (false, _) => match (source.bits() == 64, dest.bits() == 64) {
            (false, false) => F::CvtWW,
            (false, true) => F::CvtWQ,
            (true, false) => F::CvtQW,
            (true, true) => F::CvtQQ,
        },
    };
    Some(Selected { op: general.into(), mode: mode.to(dest).from(source).0 })
}

/// What the operation of a common conversion would be called: those that truncate to an integer, and those that round to
/// nearest.
fn common(asked: FMode, dest: Num, source: Num) -> String {
    let ftz = asked.has(FMode::FTZ);
    let asked = FMode(asked.0 & !FMode::FTZ.0);
    // `.sat` says nothing new: conversions to integers clamp. Truncation makes zero of a subnormal number, flushed or not.
    let truncates = FMode(asked.0 & !FMode::SAT.0) == FMode::INTEGRAL.rounded(Rounding::Zero);
    let plain = if dest.is_integer() { truncates } else { asked == FMode::default() };
    // A subnormal f16 is a normal f32, so `.ftz` changes nothing.
    let flushes = ftz && !dest.is_integer() && !source.is_integer() && (dest, source) != (Num::F32, Num::F16);
    if plain { format!("{dest:?}Of{source:?}{}", if flushes { "Ftz" } else { "" }) } else { String::new() }
}
