//! The mode word of floating-point operations: rounding, clamping, flushing, and the types of a conversion.
//!
//! Most instructions need none of it and have operations of their own; an operation whose table row ends in `| m` reads
//! one [`FMode`].

use crate::base::words;

words! {
    /// How a result that is not representable is rounded.
    #[derive(Default)]
    pub enum Rounding {
        /// To nearest, ties to even.
        #[default]
        NearestEven = "rn",
        /// Towards zero.
        Zero = "rz",
        /// Towards negative infinity.
        Down = "rm",
        /// Towards positive infinity.
        Up = "rp",
        /// To nearest, ties away from zero.
        NearestAway = "rna",
        /// Stochastically, by random bits that the program supplies.
        Stochastic = "rs",
    }
}

impl Rounding {
    /// Whether what is rounded goes to one side of it, however near the other is.
    #[must_use]
    #[inline(always)]
    pub const fn is_to_side(self) -> bool {
        matches!(self, Self::Zero | Self::Down | Self::Up)
    }
}

words! {
    /// The types a conversion names, and those of half-precision operations.
    #[allow(missing_docs, reason = "named as PTX names them")]
    pub enum Num {
        U8 = "u8",
        U16 = "u16",
        U32 = "u32",
        U64 = "u64",
        S8 = "s8",
        S16 = "s16",
        S32 = "s32",
        S64 = "s64",
        F16 = "f16",
        Bf16 = "bf16",
        F32 = "f32",
        F64 = "f64",
        Tf32 = "tf32",
        E4m3 = "e4m3",
        E5m2 = "e5m2",
        E2m1 = "e2m1",
        E2m3 = "e2m3",
        E3m2 = "e3m2",
        Ue8m0 = "ue8m0",
        S2f6 = "s2f6",
    }
}

impl Num {
    /// The size in bits of one value where it is stored.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::E2m1 => 4,
            Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 16,
            Self::U32 | Self::S32 | Self::F32 | Self::Tf32 => 32,
            Self::U64 | Self::S64 | Self::F64 => 64,
            Self::U8 | Self::S8 | Self::E4m3 | Self::E5m2 | Self::E2m3 | Self::E3m2 | Self::Ue8m0 | Self::S2f6 => 8,
        }
    }

    /// Whether the type is a signed or unsigned integer.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        (self as u8) < (Self::F16 as u8)
    }

    /// Whether the type is a signed integer.
    #[must_use]
    pub const fn is_signed_integer(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    const fn of(code: u32) -> Self {
        let code = code as usize;
        Self::ALL[if code < Self::ALL.len() { code } else { 0 }]
    }
}

words! {
    /// A property that `testp` tests.
    #[allow(missing_docs, reason = "named as PTX names them")]
    pub enum Property {
        Finite = "finite",
        Infinite = "infinite",
        Number = "number",
        NotANumber = "notanumber",
        Normal = "normal",
        Subnormal = "subnormal",
    }
}

/// The mode word of a floating-point operation.
///
/// Bits 0–2 are the rounding, 3–12 the flags, 16–20 the destination's type, 21–25 the source's. `testp` keeps its
/// property in bits 16–20.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FMode(pub u32);

impl FMode {
    /// `.rni .rzi .rmi .rpi`: round to an integral value.
    pub const INTEGRAL: Self = Self(1 << 3);
    /// `.ftz`: subnormal inputs and results become zeros of the same sign.
    pub const FTZ: Self = Self(1 << 4);
    /// `.sat`: clamp to [+0, 1]; NaN becomes +0.
    pub const SAT: Self = Self(1 << 5);
    /// `.relu`: negative results become +0; NaN stays NaN.
    pub const RELU: Self = Self(1 << 6);
    /// `.satfinite`: results beyond the largest finite value become that value.
    pub const SATFINITE: Self = Self(1 << 7);
    /// `.NaN`: a minimum or maximum with a NaN input is NaN.
    pub const NAN: Self = Self(1 << 8);
    /// `.xorsign`: the result's sign is the exclusive or of the inputs' signs.
    pub const XORSIGN: Self = Self(1 << 9);
    /// `.abs`: inputs are taken without their signs.
    pub const ABS: Self = Self(1 << 10);
    /// Two values packed in a register.
    pub const PACKED: Self = Self(1 << 11);
    /// `.oob`: a product with a number that stands for one out of bounds gives +0 (D-oob).
    pub const OOB: Self = Self(1 << 12);

    /// Both words' flags.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The word with this rounding.
    #[must_use]
    pub const fn rounded(self, rounding: Rounding) -> Self {
        Self(self.0 & !7 | rounding as u32)
    }

    /// The word with this destination type.
    #[must_use]
    pub const fn to(self, dest: Num) -> Self {
        Self(self.0 & !(31 << 16) | (dest as u32) << 16)
    }

    /// The word with this source type.
    #[must_use]
    pub const fn from(self, source: Num) -> Self {
        Self(self.0 & !(31 << 21) | (source as u32) << 21)
    }

    /// The word of a `testp`.
    #[must_use]
    pub const fn testing(property: Property) -> Self {
        Self((property as u32) << 16)
    }

    /// Whether all flags of `other` are set.
    #[must_use]
    #[inline(always)]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The rounding.
    #[must_use]
    #[inline(always)]
    pub const fn rounding(self) -> Rounding {
        let code = (self.0 & 7) as usize;
        Rounding::ALL[if code < Rounding::ALL.len() { code } else { 0 }]
    }

    /// The destination's type.
    #[must_use]
    #[inline(always)]
    pub const fn dest(self) -> Num {
        Num::of(self.0 >> 16 & 31)
    }

    /// The source's type.
    #[must_use]
    #[inline(always)]
    pub const fn source(self) -> Num {
        Num::of(self.0 >> 21 & 31)
    }

    /// The property of a `testp`.
    #[must_use]
    #[inline(always)]
    pub const fn property(self) -> Property {
        let code = (self.0 >> 16 & 31) as usize;
        Property::ALL[if code < Property::ALL.len() { code } else { 0 }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_keeps_its_parts() {
        for &dest in Num::ALL {
            for &source in Num::ALL {
                let mode = FMode::SAT.with(FMode::PACKED).rounded(Rounding::Stochastic).to(dest).from(source);
                assert_eq!((mode.dest(), mode.source()), (dest, source));
                assert_eq!(mode.rounding(), Rounding::Stochastic);
                assert!(mode.has(FMode::SAT) && mode.has(FMode::PACKED) && !mode.has(FMode::FTZ));
            }
        }
        assert_eq!(FMode::testing(Property::Normal).property(), Property::Normal);
    }
}
