//! Selection of floating-point operations: everything with a floating-point type but moves, selections, memory, and
//! `set`/`setp`/`slct`, which are built from [`compare`].

use super::Selected;
use crate::program::float_ops::FloatOp;
use crate::program::mode::{FMode, Num, Property, Rounding};
use crate::program::ops::AluOp;
use crate::ptx::{Modifier as M, Opcode};

/// What the modifiers of an instruction say.
pub(super) struct Words {
    /// The mode without types.
    pub(super) mode: FMode,
    /// The types in order.
    pub(super) types: [Option<M>; 2],
    /// Whether a rounding is written.
    pub(super) rounded: bool,
    /// `.approx` or `.full`
    approx: Option<M>,
}

/// The rounding and flags that one modifier stands for.
fn flag(word: M) -> Option<FMode> {
    let rounding = |r| FMode::default().rounded(r);
    Some(match word {
        M::RN => rounding(Rounding::NearestEven),
        M::RZ => rounding(Rounding::Zero),
        M::RM => rounding(Rounding::Down),
        M::RP => rounding(Rounding::Up),
        M::RNA => rounding(Rounding::NearestAway),
        M::RS => rounding(Rounding::Stochastic),
        M::RNI => FMode::INTEGRAL,
        M::RZI => FMode::INTEGRAL.rounded(Rounding::Zero),
        M::RMI => FMode::INTEGRAL.rounded(Rounding::Down),
        M::RPI => FMode::INTEGRAL.rounded(Rounding::Up),
        M::FTZ => FMode::FTZ,
        M::SAT => FMode::SAT,
        M::RELU => FMode::RELU,
        M::SATFINITE => FMode::SATFINITE,
        M::NAN_PROPAGATE => FMode::NAN,
        M::XORSIGN => FMode::XORSIGN,
        M::ABS => FMode::ABS,
        _ => return None,
    })
}

impl Words {
    fn of(mods: &[M]) -> Self {
        let mut words = Self { mode: FMode::default(), types: [None; 2], rounded: false, approx: None };
        for word in mods {
            if let Some(part) = flag(*word) {
                words.mode = words.mode.with(part);
                words.rounded |=
                    part.has(FMode::INTEGRAL) || part.rounding() != Rounding::NearestEven || *word == M::RN;
            } else if matches!(*word, M::APPROX | M::FULL) {
                words.approx = Some(*word);
            } else if words.types[0].is_none() {
                words.types[0] = Some(*word);
            } else if words.types[1].is_none() {
                words.types[1] = Some(*word);
            }
        }
        words
    }

    /// Whether nothing but rounding to nearest and perhaps `.ftz` is asked.
    pub(super) fn plain(&self) -> bool {
        self.mode.0 & !FMode::FTZ.0 == 0
    }

    fn ftz(&self) -> bool {
        self.mode.has(FMode::FTZ)
    }
}

pub(super) fn op(op: FloatOp) -> Option<Selected> {
    Some(Selected { op: AluOp::Float(op), mode: 0 })
}

pub(super) fn moded(op: FloatOp, mode: FMode) -> Option<Selected> {
    Some(Selected { op: AluOp::Float(op), mode: mode.0 })
}

/// The operation of a floating-point instruction; `None` where it is not one of this vertical's.
#[must_use]
pub fn select(opcode: Opcode, mods: &[M]) -> Option<Selected> {
    if opcode == Opcode::TESTP {
        return testp(mods);
    }
    let words = Words::of(mods);
    if opcode == Opcode::CVT {
        return super::convert::select(&words);
    }
    match (words.types[0]?, words.types[1]) {
        (M::F32, None) => single(opcode, &words),
        (M::F64, None) => double(opcode, &words),
        (M::F32X2, None) => pair(opcode, &words),
        (M::F16 | M::F16X2 | M::BF16 | M::BF16X2, None) => half(opcode, &words),
        (M::F32, Some(narrow)) => mixed(opcode, narrow, &words),
        _ => None,
    }
}

/// The common form with and without `.ftz`, or the general one.
fn forms(words: &Words, common: FloatOp, ftz: FloatOp, general: FloatOp) -> Option<Selected> {
    match (words.plain(), words.ftz()) {
        (true, false) => op(common),
        (true, true) => op(ftz),
        (false, _) => moded(general, words.mode),
    }
}

fn single(opcode: Opcode, words: &Words) -> Option<Selected> {
    use FloatOp as F;
    let two = |common, ftz| op(if words.ftz() { ftz } else { common });
    match opcode {
        Opcode::ADD => forms(words, F::AddF32, F::AddFtzF32, F::AddModeF32),
        Opcode::SUB => forms(words, F::SubF32, F::SubFtzF32, F::SubModeF32),
        Opcode::MUL => forms(words, F::MulF32, F::MulFtzF32, F::MulModeF32),
        Opcode::FMA | Opcode::MAD => forms(words, F::FmaF32, F::FmaFtzF32, F::FmaModeF32),
        // Without a rounding, as PTX 1.3 and earlier allow, division is approximate.
        Opcode::DIV if !words.rounded && words.approx.is_none() => moded(F::DivApproxF32, words.mode.with(FMode::FTZ)),
        Opcode::DIV if words.approx == Some(M::APPROX) => moded(F::DivApproxF32, words.mode),
        Opcode::DIV => forms(words, F::DivF32, F::DivFtzF32, F::DivModeF32),
        Opcode::RCP => forms(words, F::RcpF32, F::RcpFtzF32, F::RcpModeF32),
        Opcode::SQRT => forms(words, F::SqrtF32, F::SqrtFtzF32, F::SqrtModeF32),
        Opcode::RSQRT => two(F::RsqrtF32, F::RsqrtFtzF32),
        Opcode::NEG => two(F::NegF32, F::NegFtzF32),
        Opcode::ABS => two(F::AbsF32, F::AbsFtzF32),
        Opcode::MIN => forms(words, F::MinF32, F::MinFtzF32, F::MinModeF32),
        Opcode::MAX => forms(words, F::MaxF32, F::MaxFtzF32, F::MaxModeF32),
        Opcode::COPYSIGN => op(F::CopysignF32),
        Opcode::SIN => moded(F::SinF32, words.mode),
        Opcode::COS => moded(F::CosF32, words.mode),
        Opcode::LG2 => moded(F::Lg2F32, words.mode),
        Opcode::EX2 => moded(F::Ex2F32, words.mode),
        Opcode::TANH => moded(F::TanhF32, words.mode),
        _ => None,
    }
}

fn double(opcode: Opcode, words: &Words) -> Option<Selected> {
    use FloatOp as F;
    let both = |common, general| forms(words, common, common, general);
    match opcode {
        Opcode::ADD => both(F::AddF64, F::AddModeF64),
        Opcode::SUB => both(F::SubF64, F::SubModeF64),
        Opcode::MUL => both(F::MulF64, F::MulModeF64),
        Opcode::FMA | Opcode::MAD => both(F::FmaF64, F::FmaModeF64),
        Opcode::DIV => both(F::DivF64, F::DivModeF64),
        Opcode::RCP if words.approx.is_some() => op(F::RcpGrossF64),
        Opcode::RCP => both(F::RcpF64, F::RcpModeF64),
        Opcode::RSQRT if words.ftz() => op(F::RsqrtGrossF64),
        Opcode::RSQRT => op(F::RsqrtF64),
        Opcode::SQRT => both(F::SqrtF64, F::SqrtModeF64),
        Opcode::NEG => op(F::NegF64),
        Opcode::ABS => op(F::AbsF64),
        Opcode::MIN => op(F::MinF64),
        Opcode::MAX => op(F::MaxF64),
        Opcode::COPYSIGN => op(F::CopysignF64),
        _ => None,
    }
}

fn pair(opcode: Opcode, words: &Words) -> Option<Selected> {
    let op = match opcode {
        Opcode::ADD => FloatOp::AddF32x2,
        Opcode::SUB => FloatOp::SubF32x2,
        Opcode::MUL => FloatOp::MulF32x2,
        Opcode::FMA => FloatOp::FmaF32x2,
        _ => return None,
    };
    moded(op, words.mode)
}

/// The mode of a half-precision type.
fn half_mode(ty: M) -> Option<FMode> {
    let mode = FMode::default();
    Some(match ty {
        M::F16 => mode.to(Num::F16).from(Num::F16),
        M::BF16 => mode.to(Num::Bf16).from(Num::Bf16),
        M::F16X2 => mode.to(Num::F16).with(FMode::PACKED),
        M::BF16X2 => mode.to(Num::Bf16).with(FMode::PACKED),
        _ => return None,
    })
}

fn half(opcode: Opcode, words: &Words) -> Option<Selected> {
    use FloatOp as F;
    let op = match opcode {
        Opcode::ADD => F::AddHalf,
        Opcode::SUB => F::SubHalf,
        Opcode::MUL => F::MulHalf,
        Opcode::FMA => F::FmaHalf,
        Opcode::NEG => F::NegHalf,
        Opcode::ABS => F::AbsHalf,
        Opcode::MIN => F::MinHalf,
        Opcode::MAX => F::MaxHalf,
        Opcode::EX2 => F::Ex2Half,
        Opcode::TANH => F::TanhHalf,
        _ => return None,
    };
    moded(op, words.mode.with(half_mode(words.types[0]?)?))
}

/// f32 operations with narrow sources.
fn mixed(opcode: Opcode, narrow: M, words: &Words) -> Option<Selected> {
    let op = match opcode {
        Opcode::ADD => FloatOp::AddMixed,
        Opcode::SUB => FloatOp::SubMixed,
        Opcode::FMA => FloatOp::FmaMixed,
        _ => return None,
    };
    let source = match narrow {
        M::F16 => Num::F16,
        M::BF16 => Num::Bf16,
        _ => return None,
    };
    moded(op, words.mode.from(source).to(Num::F32))
}

/// The operation of a `min` or `max` of three sources, which its modifiers do not tell from one of two.
#[must_use]
pub fn select_three(opcode: Opcode, mods: &[M]) -> Option<Selected> {
    let words = Words::of(mods);
    match (opcode, words.types) {
        (Opcode::MIN, [Some(M::F32), None]) => moded(FloatOp::Min3F32, words.mode),
        (Opcode::MAX, [Some(M::F32), None]) => moded(FloatOp::Max3F32, words.mode),
        _ => None,
    }
}

fn testp(mods: &[M]) -> Option<Selected> {
    let property = mods.iter().find_map(|word| {
        Some(match *word {
            M::FINITE => Property::Finite,
            M::INFINITE => Property::Infinite,
            M::NUMBER => Property::Number,
            M::NOTANUMBER => Property::NotANumber,
            M::NORMAL => Property::Normal,
            M::SUBNORMAL => Property::Subnormal,
            _ => return None,
        })
    })?;
    let op = if mods.contains(&M::F64) { FloatOp::TestpF64 } else { FloatOp::TestpF32 };
    moded(op, FMode::testing(property))
}

/// A comparison of two values of a floating-point type, with a predicate as its result.
///
/// For `.f16x2` and `.bf16x2` it compares the low halves; the lowering shifts the high halves down for the second
/// result. `None` for other types and comparisons.
#[must_use]
pub fn compare(cmp: M, ty: M, ftz: bool) -> Option<AluOp> {
    use FloatOp as F;
    let ops = match cmp {
        M::EQ => [F::EqF32, F::EqFtzF32, F::EqF64, F::EqF16, F::EqFtzF16, F::EqBf16],
        M::NE => [F::NeF32, F::NeFtzF32, F::NeF64, F::NeF16, F::NeFtzF16, F::NeBf16],
        M::LT => [F::LtF32, F::LtFtzF32, F::LtF64, F::LtF16, F::LtFtzF16, F::LtBf16],
        M::LE => [F::LeF32, F::LeFtzF32, F::LeF64, F::LeF16, F::LeFtzF16, F::LeBf16],
        M::GT => [F::GtF32, F::GtFtzF32, F::GtF64, F::GtF16, F::GtFtzF16, F::GtBf16],
        M::GE => [F::GeF32, F::GeFtzF32, F::GeF64, F::GeF16, F::GeFtzF16, F::GeBf16],
        M::EQU => [F::EquF32, F::EquFtzF32, F::EquF64, F::EquF16, F::EquFtzF16, F::EquBf16],
        M::NEU => [F::NeuF32, F::NeuFtzF32, F::NeuF64, F::NeuF16, F::NeuFtzF16, F::NeuBf16],
        M::LTU => [F::LtuF32, F::LtuFtzF32, F::LtuF64, F::LtuF16, F::LtuFtzF16, F::LtuBf16],
        M::LEU => [F::LeuF32, F::LeuFtzF32, F::LeuF64, F::LeuF16, F::LeuFtzF16, F::LeuBf16],
        M::GTU => [F::GtuF32, F::GtuFtzF32, F::GtuF64, F::GtuF16, F::GtuFtzF16, F::GtuBf16],
        M::GEU => [F::GeuF32, F::GeuFtzF32, F::GeuF64, F::GeuF16, F::GeuFtzF16, F::GeuBf16],
        M::NUM => [F::NumF32, F::NumFtzF32, F::NumF64, F::NumF16, F::NumFtzF16, F::NumBf16],
        M::NAN_CMP => [F::NanF32, F::NanFtzF32, F::NanF64, F::NanF16, F::NanFtzF16, F::NanBf16],
        _ => return None,
    };
    let column = match ty {
        M::F32 => usize::from(ftz),
        M::F64 => 2,
        M::F16 | M::F16X2 => 3 + usize::from(ftz),
        M::BF16 | M::BF16X2 => 5,
        _ => return None,
    };
    ops.get(column).map(|op| AluOp::Float(*op))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::tree::Names;

    /// An instruction's opcode and modifiers.
    fn words(text: &str) -> (Opcode, Vec<M>) {
        let mut names = Names::default();
        let mut parts = text.split('.');
        let opcode = Opcode::of(parts.next().unwrap_or_default(), &mut names);
        (opcode, parts.map(|word| M::of(word, &mut names)).collect())
    }

    fn selected(text: &str) -> Option<(FloatOp, FMode)> {
        let (opcode, mods) = words(text);
        match select(opcode, &mods)? {
            Selected { op: AluOp::Float(op), mode } => Some((op, FMode(mode))),
            Selected { .. } => None,
        }
    }

    #[test]
    fn common_instructions_have_their_own_operations() {
        use FloatOp as F;
        let rows = [
            ("add.f32", F::AddF32),
            ("add.rn.ftz.f32", F::AddFtzF32),
            ("sub.f32", F::SubF32),
            ("mul.rn.f32", F::MulF32),
            ("fma.rn.f32", F::FmaF32),
            ("mad.rn.ftz.f32", F::FmaFtzF32),
            ("div.rn.f32", F::DivF32),
            ("div.full.ftz.f32", F::DivFtzF32),
            ("rcp.approx.f32", F::RcpF32),
            ("sqrt.rn.f32", F::SqrtF32),
            ("rsqrt.approx.ftz.f32", F::RsqrtFtzF32),
            ("neg.ftz.f32", F::NegFtzF32),
            ("max.f32", F::MaxF32),
            ("add.f64", F::AddF64),
            ("fma.rn.f64", F::FmaF64),
            ("rcp.approx.ftz.f64", F::RcpGrossF64),
            ("rsqrt.approx.f64", F::RsqrtF64),
            ("cvt.rn.f32.s32", F::F32OfS32),
            ("cvt.rzi.s32.f32", F::S32OfF32),
            ("cvt.rzi.ftz.u32.f32", F::U32OfF32),
            ("cvt.rzi.s64.f64", F::S64OfF64),
            ("cvt.f64.f32", F::F64OfF32),
            ("cvt.ftz.f64.f32", F::F64OfF32Ftz),
            ("cvt.rn.f32.f64", F::F32OfF64),
            ("cvt.f32.f16", F::F32OfF16),
            ("cvt.rn.f16.f32", F::F16OfF32),
            ("cvt.rn.bf16.f32", F::Bf16OfF32),
            ("copysign.f64", F::CopysignF64),
        ];
        for (text, op) in rows {
            assert_eq!(selected(text), Some((op, FMode(0))), "{text}");
        }
    }

    #[test]
    fn other_instructions_carry_their_modifiers() {
        use FloatOp as F;
        let mode = FMode::default();
        let rows = [
            ("add.rz.ftz.sat.f32", F::AddModeF32, FMode::FTZ.with(FMode::SAT).rounded(Rounding::Zero)),
            ("fma.rp.f64", F::FmaModeF64, mode.rounded(Rounding::Up)),
            ("fma.rm.f32x2", F::FmaF32x2, mode.rounded(Rounding::Down)),
            ("div.approx.ftz.f32", F::DivApproxF32, FMode::FTZ),
            ("min.NaN.xorsign.abs.f32", F::MinModeF32, FMode::NAN.with(FMode::XORSIGN).with(FMode::ABS)),
            ("fma.rn.relu.bf16x2", F::FmaHalf, FMode::RELU.with(FMode::PACKED).to(Num::Bf16)),
            ("ex2.approx.ftz.f16x2", F::Ex2Half, FMode::FTZ.with(FMode::PACKED).to(Num::F16)),
            ("add.rn.f32.bf16", F::AddMixed, mode.from(Num::Bf16).to(Num::F32)),
            ("testp.subnormal.f64", F::TestpF64, FMode::testing(Property::Subnormal)),
            ("cvt.rni.s8.f16", F::CvtWW, FMode::INTEGRAL.to(Num::S8).from(Num::F16)),
            ("cvt.rz.f32.u64", F::CvtQW, mode.rounded(Rounding::Zero).to(Num::F32).from(Num::U64)),
            ("cvt.rn.satfinite.e4m3x2.f32", F::CvtPack, FMode::SATFINITE.to(Num::E4m3).from(Num::F32)),
            ("cvt.rn.f16x2.e5m2x2", F::CvtPair, mode.to(Num::F16).from(Num::E5m2)),
            ("cvt.rna.tf32.f32", F::CvtWW, mode.rounded(Rounding::NearestAway).to(Num::Tf32).from(Num::F32)),
            ("cvt.rs.f16x2.f32", F::CvtPackRandom, mode.rounded(Rounding::Stochastic).to(Num::F16).from(Num::F32)),
        ];
        for (text, op, mode) in rows {
            assert_eq!(selected(text), Some((op, mode)), "{text}");
        }
        let (opcode, mods) = words("min.abs.f32");
        assert_eq!(select_three(opcode, &mods), moded(F::Min3F32, FMode::ABS));
    }

    #[test]
    fn what_belongs_to_others_is_left() {
        for text in
            ["add.s32", "min.relu.s16x2", "cvt.u32.u8", "mul.wide.u32", "fma.rn.oob.f16", "setp.lt.f32", "abs.s64"]
        {
            assert_eq!(selected(text), None, "{text}");
        }
    }

    #[test]
    fn comparisons_by_type() {
        let op = |cmp, ty, ftz| match compare(cmp, ty, ftz) {
            Some(AluOp::Float(op)) => Some(op),
            _ => None,
        };
        assert_eq!(op(M::LT, M::F32, false), Some(FloatOp::LtF32));
        assert_eq!(op(M::GEU, M::F32, true), Some(FloatOp::GeuFtzF32));
        assert_eq!(op(M::NAN_CMP, M::F64, false), Some(FloatOp::NanF64));
        assert_eq!(op(M::EQ, M::F16X2, true), Some(FloatOp::EqFtzF16));
        assert_eq!(op(M::NUM, M::BF16, false), Some(FloatOp::NumBf16));
        assert_eq!(op(M::LO, M::F32, false), None);
        assert_eq!(op(M::LT, M::S32, false), None);
    }
}
