//! What a PTX type is: its class and its size (PTX ISA 5.2, 5.3).

use crate::ptx::Modifier;
use crate::ptx::tree::{Names, StateSpace};

/// The classes that decide which register may stand where (PTX ISA 5.2.1, 9.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// `.b8` … `.b128`, and packed types without a register type of their own.
    Bits,
    /// `.u8` … `.s64`.
    Int,
    /// `.f16`, `.f16x2`, `.f32`, `.f64` and the alternate formats.
    Float,
    /// `.pred`.
    Pred,
}

/// A type's class and size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeInfo {
    /// The class.
    pub class: Class,
    /// The size in bits; 1 for a predicate.
    pub bits: u16,
}

/// The class and size of a type word; `None` for a word that is not a type or has no size as an operand.
#[must_use]
pub fn type_info(ty: Modifier) -> Option<TypeInfo> {
    use Modifier as M;
    let (class, bits) = match ty {
        M::PRED => (Class::Pred, 1),
        M::B8 | M::E4M3 | M::E5M2 | M::E2M1X2 => (Class::Bits, 8),
        M::B16 | M::E4M3X2 | M::E5M2X2 | M::E2M3X2 | M::E3M2X2 | M::UE8M0X2 | M::S2F6X2 | M::E2M1X4 => {
            (Class::Bits, 16)
        }
        M::B32 | M::B16X2 | M::U16X2 | M::S16X2 | M::TF32 | M::U8X4 | M::S8X4 => (Class::Bits, 32),
        M::E4M3X4 | M::E5M2X4 | M::E2M3X4 | M::E3M2X4 => (Class::Bits, 32),
        M::B64 | M::F32X2 => (Class::Bits, 64),
        M::B128 => (Class::Bits, 128),
        M::U8 | M::S8 => (Class::Int, 8),
        M::U16 | M::S16 => (Class::Int, 16),
        M::U32 | M::S32 => (Class::Int, 32),
        M::U64 | M::S64 => (Class::Int, 64),
        M::F16 | M::BF16 => (Class::Float, 16),
        M::F16X2 | M::BF16X2 | M::F32 => (Class::Float, 32),
        M::F64 => (Class::Float, 64),
        _ => return None,
    };
    Some(TypeInfo { class, bits })
}

/// Bits of a value of a type, 1 for predicates; `None` for words that are not types. References to textures and the like
/// are handles.
#[must_use]
pub fn bits_of(ty: Modifier) -> Option<u32> {
    if opaque(ty) { Some(64) } else { type_info(ty).map(|info| info.bits.into()) }
}

/// Whether a type is `.texref`, `.samplerref` or `.surfref`.
#[must_use]
pub fn opaque(ty: Modifier) -> bool {
    matches!(ty, Modifier::TEXREF | Modifier::SAMPLERREF | Modifier::SURFREF)
}

/// Whether a type is a signed integer.
#[must_use]
pub fn is_signed(ty: Modifier) -> bool {
    matches!(ty, Modifier::S8 | Modifier::S16 | Modifier::S32 | Modifier::S64)
}

/// Components of a declared vector; 1 without `.v2` and the like.
#[must_use]
pub fn lanes(vector: Option<Modifier>) -> u8 {
    match vector {
        Some(Modifier::V2) => 2,
        Some(Modifier::V4) => 4,
        Some(Modifier::V8) => 8,
        _ => 1,
    }
}

/// Whether a register of type `reg` may hold an operand of the instruction type `ty`, as ptxas decides it: untyped bits
/// go with anything of their size, integers with integers, a float only with itself; `wider` lets the register be
/// larger (`ld`, `st`, `cvt`).
#[must_use]
pub fn register_fits(ty: Modifier, reg: Modifier, wider: bool) -> bool {
    let (Some(want), Some(have)) = (type_info(ty), type_info(reg)) else { return false };
    if want.class == Class::Pred || have.class == Class::Pred {
        return want.class == have.class;
    }
    if have.bits != want.bits && !(wider && have.bits > want.bits) {
        return false;
    }
    match (want.class, have.class) {
        (Class::Bits, _) | (_, Class::Bits) | (Class::Int, Class::Int) => true,
        (Class::Float, Class::Float) => ty == reg || (ty == Modifier::BF16X2 && reg == Modifier::F16X2),
        // ptxas takes a packed register for 32 bits.
        (Class::Int, Class::Float) => reg == Modifier::F16X2 && have.bits == 32,
        _ => false,
    }
}

/// Whether a register or variable can be declared with the type (`.reg .f16` yes, `.reg .bf16` no).
#[must_use]
pub fn declarable(ty: Modifier) -> bool {
    use Modifier as M;
    let data = matches!(ty, M::PRED | M::F16 | M::F16X2 | M::F32 | M::F64);
    data || opaque(ty) || matches!(type_info(ty), Some(t) if t.class == Class::Int || ty >= M::B8 && ty <= M::B128)
}

/// The state space that a modifier names.
#[must_use]
pub fn state_space(modifier: Modifier, names: &Names) -> Option<StateSpace> {
    use Modifier as M;
    Some(match modifier {
        M::GLOBAL => StateSpace::Global,
        M::SHARED | M::SHARED_CTA | M::SHARED_CLUSTER => StateSpace::Shared,
        M::LOCAL => StateSpace::Local,
        M::CONST => StateSpace::Const,
        M::PARAM | M::PARAM_ENTRY | M::PARAM_FUNC => StateSpace::Param,
        M::GENERIC => StateSpace::Generic,
        // A constant bank of PTX 1.x: `const[2]`.
        other if !other.is_known() && other.text(names).starts_with("const[") => StateSpace::Const,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Modifier as M;

    #[test]
    fn registers_fit_as_ptxas_says() {
        for (ty, reg, wider) in [
            (M::S32, M::U32, false),
            (M::S32, M::B32, false),
            (M::B32, M::F32, false),
            (M::F32, M::B32, false),
            (M::U8, M::U32, true),
            (M::B16, M::F64, true),
            (M::F32, M::B64, true),
        ] {
            assert!(register_fits(ty, reg, wider), "{ty:?} {reg:?}");
        }
        for (ty, reg, wider) in [
            (M::S32, M::F32, false),
            (M::F32, M::S32, false),
            (M::S32, M::S64, false),
            (M::U64, M::U32, true),
            (M::F32, M::F64, true),
            (M::PRED, M::B32, false),
            (M::B32, M::PRED, true),
        ] {
            assert!(!register_fits(ty, reg, wider), "{ty:?} {reg:?}");
        }
    }
}
