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
