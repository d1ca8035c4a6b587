//! Operations of which there is one for each mode, as far as native code has instructions for them: flushed, clamped, rounded to a
//! side, on halves.

use crate::alu::float::FloatOp as F;
use crate::alu::mode::{FMode, Num, Rounding};

/// An operation on single precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Single {
    /// The same to nearest, neither flushed nor clamped.
    pub op: F,
    pub ftz: bool,
    pub sat: bool,
    /// A minimum or maximum of which one operand is none is none.
    pub nan: bool,
    pub to: Rounding,
}

/// An operation on halves, of which a register has one or two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Half {
    /// The same in single precision.
    pub op: F,
    /// They are `bf16`.
    pub brain: bool,
    pub packed: bool,
}

/// What an operation with its mode is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moded {
    Single(Single),
    Half(Half),
    /// A half as a single; whether it is `bf16`.
    Widen(bool),
    /// A single as a half.
    Narrow(bool),
    /// `cvt.sat.f32.f32`; whether it is flushed.
    Clamp(bool),
    /// `rcp.approx.ftz.f64`, or, of the root, `rsqrt.approx.ftz.f64`.
    Gross(bool),
}

/// All flags of a mode.
const FLAGS: u32 = 0x1ff8;

/// Whether a mode has no other flags than some.
const fn only(mode: FMode, flags: FMode) -> bool {
    mode.0 & FLAGS & !flags.0 == 0
}

impl Moded {
    /// That of an operation. `None`: it has no mode, or not this one.
    pub fn of(op: F, mode: u32) -> Option<Self> {
        let mode = FMode(mode);
        flushed(op).or_else(|| single(op, mode)).or_else(|| half(op, mode)).or_else(|| conversion(op, mode))
    }
}

/// Those of single precision that are always flushed.
fn flushed(op: F) -> Option<Moded> {
    let op = match op {
        F::AddFtzF32 => F::AddF32,
        F::SubFtzF32 => F::SubF32,
        F::MulFtzF32 => F::MulF32,
        F::FmaFtzF32 => F::FmaF32,
        F::DivFtzF32 => F::DivF32,
        F::RcpFtzF32 => F::RcpF32,
        F::SqrtFtzF32 => F::SqrtF32,
        F::RsqrtFtzF32 => F::RsqrtF32,
        F::NegFtzF32 => F::NegF32,
        F::AbsFtzF32 => F::AbsF32,
        F::MinFtzF32 => F::MinF32,
        F::MaxFtzF32 => F::MaxF32,
        F::EqFtzF32 => F::EqF32,
        F::NeFtzF32 => F::NeF32,
        F::LtFtzF32 => F::LtF32,
        F::LeFtzF32 => F::LeF32,
        F::GtFtzF32 => F::GtF32,
        F::GeFtzF32 => F::GeF32,
        F::EquFtzF32 => F::EquF32,
        F::NeuFtzF32 => F::NeuF32,
        F::LtuFtzF32 => F::LtuF32,
        F::LeuFtzF32 => F::LeuF32,
        F::GtuFtzF32 => F::GtuF32,
        F::GeuFtzF32 => F::GeuF32,
        F::NumFtzF32 => F::NumF32,
        F::NanFtzF32 => F::NanF32,
        _ => return None,
    };
    Some(Moded::Single(Single { op, ftz: true, sat: false, nan: false, to: Rounding::NearestEven }))
}

/// Those of single precision with a mode.
fn single(op: F, mode: FMode) -> Option<Moded> {
    let (op, allowed) = match op {
        F::AddModeF32 => (F::AddF32, FMode::FTZ.with(FMode::SAT)),
        F::SubModeF32 => (F::SubF32, FMode::FTZ.with(FMode::SAT)),
        F::MulModeF32 => (F::MulF32, FMode::FTZ.with(FMode::SAT)),
        F::FmaModeF32 => (F::FmaF32, FMode::FTZ.with(FMode::SAT)),
        F::DivModeF32 => (F::DivF32, FMode::FTZ.with(FMode::SAT)),
        F::MinModeF32 => (F::MinF32, FMode::FTZ.with(FMode::NAN)),
        F::MaxModeF32 => (F::MaxF32, FMode::FTZ.with(FMode::NAN)),
        _ => return None,
    };
    let (ftz, to) = (mode.has(FMode::FTZ), mode.rounding());
    let sides = !ftz && matches!(op, F::AddF32 | F::SubF32 | F::MulF32 | F::FmaF32);
    let possible = to == Rounding::NearestEven || to.is_to_side() && sides;
    let single = Single { op, ftz, sat: mode.has(FMode::SAT), nan: mode.has(FMode::NAN), to };
    (only(mode, allowed) && possible).then_some(Moded::Single(single))
}

/// Those on halves.
fn half(op: F, mode: FMode) -> Option<Moded> {
    let brain = mode.dest() == Num::Bf16;
    let op = match op {
        F::AddHalf => F::AddF32,
        F::SubHalf => F::SubF32,
        F::MulHalf => F::MulF32,
        // A product of two `bf16` is no single.
        F::FmaHalf if !brain => F::FmaF32,
        F::NegHalf => F::NegF32,
        F::AbsHalf => F::AbsF32,
        F::MinHalf => F::MinF32,
        F::MaxHalf => F::MaxF32,
        _ => return None,
    };
    let half = Half { op, brain, packed: mode.has(FMode::PACKED) };
    let known = matches!(mode.dest(), Num::F16 | Num::Bf16) && mode.rounding() == Rounding::NearestEven;
    (known && only(mode, FMode::PACKED)).then_some(Moded::Half(half))
}

/// Conversions and approximations.
fn conversion(op: F, mode: FMode) -> Option<Moded> {
    let singles = mode.dest() == Num::F32 && mode.source() == Num::F32;
    let (flags, ftz) = (only(mode, FMode::FTZ.with(FMode::SAT)), mode.has(FMode::FTZ));
    Some(match op {
        F::F32OfF16 => Moded::Widen(false),
        F::F32OfBf16 => Moded::Widen(true),
        F::F16OfF32 => Moded::Narrow(false),
        F::Bf16OfF32 => Moded::Narrow(true),
        F::CvtWW if singles && flags && mode.has(FMode::SAT) => Moded::Clamp(ftz),
        F::RcpGrossF64 => Moded::Gross(false),
        F::RsqrtGrossF64 => Moded::Gross(true),
        _ => return None,
    })
}
