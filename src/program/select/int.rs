//! Selection of integer, bitwise and predicate operations.
//!
//! Not every instruction is one operation:
//! - `setp`, `set` and `slct` are a [`compare`] followed by predicate operations and selections;
//! - `lop3.and` and `lop3.or` are `Lop3` followed by [`IntOp::NonzeroAnd`] or [`IntOp::NonzeroOr`] of its result and the
//!   source predicate, which give the second result. The table of `lop3`, its last integer operand, becomes the mode;
//! - a vector `mov` is a [`pack`], or an [`unpack`] for each element;
//! - `cvt` depends on the registers' widths, which its modifiers do not tell: see [`super::int_cvt::convert`].
//!
//! The carry of `.cc` is the second destination, and the last source of `addc`, `subc` and `madc`.

use super::Selected;
use crate::program::int_ops::IntOp;
use crate::program::ops::AluOp;
use crate::ptx::{Modifier as M, Opcode as O};

/// Whether a word names a type of this vertical, or of a value that is only moved.
fn is_type(word: M) -> bool {
    bits_of(word).is_some()
}

/// The bits of a value of a type; `None` for words that are not types, one for `.pred`.
pub(super) fn bits_of(word: M) -> Option<u32> {
    Some(match word {
        M::PRED => 1,
        M::U8 | M::S8 | M::B8 => 8,
        M::U16 | M::S16 | M::B16 | M::F16 | M::BF16 => 16,
        M::U32 | M::S32 | M::B32 | M::F32 | M::U16X2 | M::S16X2 | M::U8X4 | M::S8X4 | M::F16X2 | M::BF16X2 => 32,
        M::U64 | M::S64 | M::B64 | M::F64 | M::F32X2 => 64,
        _ => return None,
    })
}

/// One of several operations by the type's width and sign: `[16 bits, 32 bits, 64 bits]`.
fn by_width(ty: M, ops: [IntOp; 3]) -> Option<IntOp> {
    match ty {
        M::U16 | M::S16 | M::B16 => Some(ops[0]),
        M::U32 | M::S32 | M::B32 => Some(ops[1]),
        M::U64 | M::S64 | M::B64 => Some(ops[2]),
        _ => None,
    }
}

/// As [`by_width`], unsigned and signed: `[u16, s16, u32, s32, u64, s64]`.
fn by_type(ty: M, ops: [IntOp; 6]) -> Option<IntOp> {
    match ty {
        M::U16 => Some(ops[0]),
        M::S16 => Some(ops[1]),
        M::U32 => Some(ops[2]),
        M::S32 => Some(ops[3]),
        M::U64 => Some(ops[4]),
        M::S64 => Some(ops[5]),
        _ => None,
    }
}

/// As [`by_type`], where 16 bits do not exist: `[u32, s32, u64, s64]`.
fn by_wide_type(ty: M, ops: [IntOp; 4]) -> Option<IntOp> {
    match ty {
        M::U32 => Some(ops[0]),
        M::S32 => Some(ops[1]),
        M::U64 => Some(ops[2]),
        M::S64 => Some(ops[3]),
        _ => None,
    }
}

/// The operation of a checked instruction; `None` if it is not an integer operation or none of this list (see the
/// module's documentation).
///
/// `cvt` is answered only where the result is the same in every destination register that is as wide as the type.
#[must_use]
pub fn select(opcode: O, mods: &[M]) -> Option<Selected> {
    // The type is the last one named: `cvt` and `dp4a`, which name two, are looked at by themselves.
    let ty = mods.iter().copied().rfind(|m| is_type(*m))?;
    let op = match opcode {
        O::ADD | O::ADDC | O::SUB | O::SUBC => sum(opcode, ty, mods)?,
        O::MUL => product(ty, mods)?,
        O::MAD | O::MADC => multiply_add(opcode, ty, mods)?,
        O::MUL24 | O::MAD24 => product24(opcode, ty, mods)?,
        O::MIN | O::MAX => extremum(opcode, ty, mods)?,
        O::SAD | O::DIV | O::REM | O::ABS | O::NEG => arithmetic(opcode, ty)?,
        O::AND | O::OR | O::XOR | O::NOT | O::CNOT | O::SHL | O::SHR => logic(opcode, ty)?,
        O::SHF | O::LOP3 | O::PRMT | O::BMSK | O::SZEXT => moded(opcode, ty, mods)?,
        O::POPC | O::CLZ | O::BREV | O::BFIND | O::BFE | O::BFI | O::FNS => counting(opcode, ty, mods)?,
        O::DP4A | O::DP2A => dot(opcode, mods)?,
        O::SELP => match bits_of(ty)? {
            16 | 32 => IntOp::SelW,
            64 => IntOp::SelQ,
            _ => return None,
        },
        O::MOV => match bits_of(ty)? {
            1 => IntOp::MovP,
            16 | 32 => IntOp::MovW,
            64 => IntOp::MovQ,
            _ => return None,
        },
        O::CVT if mods.contains(&M::PACK) => return super::int_cvt::packed(mods),
        O::CVT => return super::int_cvt::natural(mods),
        _ => return None,
    };
    Some(op.into())
}

fn sum(opcode: O, ty: M, mods: &[M]) -> Option<IntOp> {
    use IntOp::{
        Add8x4, Add16, Add16x2, Add32, Add64, AddCc32, AddCc64, AddSatS8x4, AddSatS16x2, AddSatS32, AddSatU8x4,
        AddSatU16x2, AddSatU32, Addc32, Addc64, AddcCc32, AddcCc64, Sub8x4, Sub16, Sub32, Sub64, SubCc32, SubCc64,
        SubSatS8x4, SubSatS32, SubSatU8x4, Subc32, Subc64, SubcCc32, SubcCc64,
    };
    let adds = matches!(opcode, O::ADD | O::ADDC);
    let carry_in = matches!(opcode, O::ADDC | O::SUBC);
    let carry_out = mods.contains(&M::CC);
    if mods.contains(&M::SAT) {
        return Some(match (adds, ty) {
            (true, M::S32) => AddSatS32,
            (true, M::U32) => AddSatU32,
            (true, M::U16X2) => AddSatU16x2,
            (true, M::S16X2) => AddSatS16x2,
            (true, M::U8X4) => AddSatU8x4,
            (true, M::S8X4) => AddSatS8x4,
            (false, M::S32) => SubSatS32,
            (false, M::U8X4) => SubSatU8x4,
            (false, M::S8X4) => SubSatS8x4,
            _ => return None,
        });
    }
    match (adds, ty) {
        (true, M::U16X2 | M::S16X2) => return Some(Add16x2),
        (true, M::U8X4 | M::S8X4) => return Some(Add8x4),
        (false, M::U8X4 | M::S8X4) => return Some(Sub8x4),
        _ => {}
    }
    let [narrow, word, double] = match (adds, carry_in, carry_out) {
        (true, false, false) => [Some(Add16), Some(Add32), Some(Add64)],
        (false, false, false) => [Some(Sub16), Some(Sub32), Some(Sub64)],
        (true, false, true) => [None, Some(AddCc32), Some(AddCc64)],
        (true, true, false) => [None, Some(Addc32), Some(Addc64)],
        (true, true, true) => [None, Some(AddcCc32), Some(AddcCc64)],
        (false, false, true) => [None, Some(SubCc32), Some(SubCc64)],
        (false, true, false) => [None, Some(Subc32), Some(Subc64)],
        (false, true, true) => [None, Some(SubcCc32), Some(SubcCc64)],
    };
    match ty {
        M::U16 | M::S16 => narrow,
        M::U32 | M::S32 => word,
        M::U64 | M::S64 => double,
        _ => None,
    }
}

fn product(ty: M, mods: &[M]) -> Option<IntOp> {
    use IntOp::{
        MulHiS16, MulHiS32, MulHiS64, MulHiU16, MulHiU32, MulHiU64, MulLo16, MulLo32, MulLo64, MulWideS16, MulWideS32,
        MulWideU16, MulWideU32,
    };
    if mods.contains(&M::LO) {
        by_width(ty, [MulLo16, MulLo32, MulLo64])
    } else if mods.contains(&M::HI) {
        by_type(ty, [MulHiU16, MulHiS16, MulHiU32, MulHiS32, MulHiU64, MulHiS64])
    } else if mods.contains(&M::WIDE) {
        match ty {
            M::U16 => Some(MulWideU16),
            M::S16 => Some(MulWideS16),
            M::U32 => Some(MulWideU32),
            M::S32 => Some(MulWideS32),
            _ => None,
        }
    } else {
        None
    }
}

fn multiply_add(opcode: O, ty: M, mods: &[M]) -> Option<IntOp> {
    use IntOp::{
        MadHiCcS32, MadHiCcS64, MadHiCcU32, MadHiCcU64, MadHiS16, MadHiS32, MadHiS64, MadHiSatS32, MadHiU16, MadHiU32,
        MadHiU64, MadLo16, MadLo32, MadLo64, MadLoCc32, MadLoCc64, MadWideS16, MadWideS32, MadWideU16, MadWideU32,
        MadcHiCcS32, MadcHiCcS64, MadcHiCcU32, MadcHiCcU64, MadcHiS32, MadcHiS64, MadcHiU32, MadcHiU64, MadcLo32,
        MadcLo64, MadcLoCc32, MadcLoCc64,
    };
    if mods.contains(&M::WIDE) {
        return match ty {
            M::U16 => Some(MadWideU16),
            M::S16 => Some(MadWideS16),
            M::U32 => Some(MadWideU32),
            M::S32 => Some(MadWideS32),
            _ => None,
        };
    }
    let high = mods.contains(&M::HI);
    if !high && !mods.contains(&M::LO) {
        return None;
    }
    if mods.contains(&M::SAT) {
        return (high && ty == M::S32).then_some(MadHiSatS32);
    }
    match (opcode == O::MADC, mods.contains(&M::CC), high) {
        (false, false, false) => by_width(ty, [MadLo16, MadLo32, MadLo64]),
        (false, false, true) => by_type(ty, [MadHiU16, MadHiS16, MadHiU32, MadHiS32, MadHiU64, MadHiS64]),
        (false, true, false) => by_wide_type(ty, [MadLoCc32, MadLoCc32, MadLoCc64, MadLoCc64]),
        (false, true, true) => by_wide_type(ty, [MadHiCcU32, MadHiCcS32, MadHiCcU64, MadHiCcS64]),
        (true, false, false) => by_wide_type(ty, [MadcLo32, MadcLo32, MadcLo64, MadcLo64]),
        (true, false, true) => by_wide_type(ty, [MadcHiU32, MadcHiS32, MadcHiU64, MadcHiS64]),
        (true, true, false) => by_wide_type(ty, [MadcLoCc32, MadcLoCc32, MadcLoCc64, MadcLoCc64]),
        (true, true, true) => by_wide_type(ty, [MadcHiCcU32, MadcHiCcS32, MadcHiCcU64, MadcHiCcS64]),
    }
}

fn product24(opcode: O, ty: M, mods: &[M]) -> Option<IntOp> {
    use IntOp::{
        Mad24HiS32, Mad24HiSatS32, Mad24HiU32, Mad24LoS32, Mad24LoU32, Mul24HiS32, Mul24HiU32, Mul24LoS32, Mul24LoU32,
    };
    let high = mods.contains(&M::HI);
    if mods.contains(&M::SAT) {
        return (high && opcode == O::MAD24 && ty == M::S32).then_some(Mad24HiSatS32);
    }
    Some(match (opcode, high, ty) {
        (O::MUL24, false, M::U32) => Mul24LoU32,
        (O::MUL24, false, M::S32) => Mul24LoS32,
        (O::MUL24, true, M::U32) => Mul24HiU32,
        (O::MUL24, true, M::S32) => Mul24HiS32,
        (O::MAD24, false, M::U32) => Mad24LoU32,
        (O::MAD24, false, M::S32) => Mad24LoS32,
        (O::MAD24, true, M::U32) => Mad24HiU32,
        (O::MAD24, true, M::S32) => Mad24HiS32,
        _ => return None,
    })
}

fn extremum(opcode: O, ty: M, mods: &[M]) -> Option<IntOp> {
    use IntOp::{
        MaxReluS8x4, MaxReluS16x2, MaxReluS32, MaxS8x4, MaxS16, MaxS16x2, MaxS32, MaxS64, MaxU8x4, MaxU16, MaxU16x2,
        MaxU32, MaxU64, MinReluS8x4, MinReluS16x2, MinReluS32, MinS8x4, MinS16, MinS16x2, MinS32, MinS64, MinU8x4,
        MinU16, MinU16x2, MinU32, MinU64,
    };
    let min = opcode == O::MIN;
    let of = |a, b| if min { a } else { b };
    match (ty, mods.contains(&M::RELU)) {
        (M::U16X2, false) => Some(of(MinU16x2, MaxU16x2)),
        (M::S16X2, false) => Some(of(MinS16x2, MaxS16x2)),
        (M::S16X2, true) => Some(of(MinReluS16x2, MaxReluS16x2)),
        (M::U8X4, false) => Some(of(MinU8x4, MaxU8x4)),
        (M::S8X4, false) => Some(of(MinS8x4, MaxS8x4)),
        (M::S8X4, true) => Some(of(MinReluS8x4, MaxReluS8x4)),
        (M::S32, true) => Some(of(MinReluS32, MaxReluS32)),
        (_, true) => None,
        (_, false) if min => by_type(ty, [MinU16, MinS16, MinU32, MinS32, MinU64, MinS64]),
        (_, false) => by_type(ty, [MaxU16, MaxS16, MaxU32, MaxS32, MaxU64, MaxS64]),
    }
}

fn arithmetic(opcode: O, ty: M) -> Option<IntOp> {
    use IntOp::{
        AbsS16, AbsS32, AbsS64, DivS16, DivS32, DivS64, DivU16, DivU32, DivU64, Neg8x4, Neg16, Neg32, Neg64, RemS16,
        RemS32, RemS64, RemU16, RemU32, RemU64, SadS16, SadS32, SadS64, SadU16, SadU32, SadU64,
    };
    match (opcode, ty) {
        (O::ABS, M::S16) => Some(AbsS16),
        (O::ABS, M::S32) => Some(AbsS32),
        (O::ABS, M::S64) => Some(AbsS64),
        (O::NEG, M::S8X4) => Some(Neg8x4),
        (O::NEG, _) => by_width(ty, [Neg16, Neg32, Neg64]),
        (O::SAD, _) => by_type(ty, [SadU16, SadS16, SadU32, SadS32, SadU64, SadS64]),
        (O::DIV, _) => by_type(ty, [DivU16, DivS16, DivU32, DivS32, DivU64, DivS64]),
        (O::REM, _) => by_type(ty, [RemU16, RemS16, RemU32, RemS32, RemU64, RemS64]),
        _ => None,
    }
}

fn logic(opcode: O, ty: M) -> Option<IntOp> {
    use IntOp::{
        And32, And64, AndP, Cnot16, Cnot32, Cnot64, Not16, Not32, Not64, NotP, Or32, Or64, OrP, Shl16, Shl32, Shl64,
        ShrS16, ShrS32, ShrS64, ShrU16, ShrU32, ShrU64, Xor32, Xor64, XorP,
    };
    match (opcode, ty) {
        (O::AND, M::PRED) => Some(AndP),
        (O::OR, M::PRED) => Some(OrP),
        (O::XOR, M::PRED) => Some(XorP),
        (O::NOT, M::PRED) => Some(NotP),
        // Zero-extended half words stay so under and, or, xor.
        (O::AND, _) => by_width(ty, [And32, And32, And64]),
        (O::OR, _) => by_width(ty, [Or32, Or32, Or64]),
        (O::XOR, _) => by_width(ty, [Xor32, Xor32, Xor64]),
        (O::NOT, _) => by_width(ty, [Not16, Not32, Not64]),
        (O::CNOT, _) => by_width(ty, [Cnot16, Cnot32, Cnot64]),
        (O::SHL, _) => by_width(ty, [Shl16, Shl32, Shl64]),
        (O::SHR, M::S16 | M::S32 | M::S64) => by_width(ty, [ShrS16, ShrS32, ShrS64]),
        (O::SHR, _) => by_width(ty, [ShrU16, ShrU32, ShrU64]),
        _ => None,
    }
}

fn moded(opcode: O, ty: M, mods: &[M]) -> Option<IntOp> {
    use IntOp::{
        BmskClamp, BmskWrap, Lop3, Prmt, PrmtB4e, PrmtEcl, PrmtEcr, PrmtF4e, PrmtRc8, PrmtRc16, ShfLClamp, ShfLWrap,
        ShfRClamp, ShfRWrap, SzextClampS32, SzextClampU32, SzextWrapS32, SzextWrapU32,
    };
    let wrap = mods.contains(&M::WRAP);
    match (opcode, ty) {
        (O::SHF, M::B32) => Some(match (mods.contains(&M::L), wrap) {
            (true, false) => ShfLClamp,
            (true, true) => ShfLWrap,
            (false, false) => ShfRClamp,
            (false, true) => ShfRWrap,
        }),
        (O::LOP3, M::B32) => Some(Lop3),
        (O::PRMT, M::B32) => Some(mods.iter().fold(Prmt, |op, word| match *word {
            M::F4E => PrmtF4e,
            M::B4E => PrmtB4e,
            M::RC8 => PrmtRc8,
            M::ECL => PrmtEcl,
            M::ECR => PrmtEcr,
            M::RC16 => PrmtRc16,
            _ => op,
        })),
        (O::BMSK, M::B32) => Some(if wrap { BmskWrap } else { BmskClamp }),
        (O::SZEXT, M::U32) => Some(if wrap { SzextWrapU32 } else { SzextClampU32 }),
        (O::SZEXT, M::S32) => Some(if wrap { SzextWrapS32 } else { SzextClampS32 }),
        _ => None,
    }
}

fn counting(opcode: O, ty: M, mods: &[M]) -> Option<IntOp> {
    use IntOp::{
        BfeS32, BfeS64, BfeU32, BfeU64, Bfi32, Bfi64, BfindS32, BfindS64, BfindShiftamtS32, BfindShiftamtS64,
        BfindShiftamtU32, BfindShiftamtU64, BfindU32, BfindU64, Brev32, Brev64, Clz32, Clz64, Fns, Popc32, Popc64,
    };
    match (opcode, ty) {
        (O::POPC, M::B32) => Some(Popc32),
        (O::POPC, M::B64) => Some(Popc64),
        (O::CLZ, M::B32) => Some(Clz32),
        (O::CLZ, M::B64) => Some(Clz64),
        (O::BREV, M::B32) => Some(Brev32),
        (O::BREV, M::B64) => Some(Brev64),
        (O::BFI, M::B32) => Some(Bfi32),
        (O::BFI, M::B64) => Some(Bfi64),
        (O::FNS, M::B32) => Some(Fns),
        (O::BFE, _) => by_wide_type(ty, [BfeU32, BfeS32, BfeU64, BfeS64]),
        (O::BFIND, _) if mods.contains(&M::SHIFTAMT) => {
            by_wide_type(ty, [BfindShiftamtU32, BfindShiftamtS32, BfindShiftamtU64, BfindShiftamtS64])
        }
        (O::BFIND, _) => by_wide_type(ty, [BfindU32, BfindS32, BfindU64, BfindS64]),
        _ => None,
    }
}

fn dot(opcode: O, mods: &[M]) -> Option<IntOp> {
    use IntOp::{
        Dp2aHiSs, Dp2aHiSu, Dp2aHiUs, Dp2aHiUu, Dp2aLoSs, Dp2aLoSu, Dp2aLoUs, Dp2aLoUu, Dp4aSs, Dp4aSu, Dp4aUs, Dp4aUu,
    };
    let mut signs = mods.iter().filter(|m| is_type(**m)).map(|m| *m == M::S32);
    let (a, b) = (signs.next()?, signs.next()?);
    let of = |[uu, us, su, ss]: [IntOp; 4]| match (a, b) {
        (false, false) => uu,
        (false, true) => us,
        (true, false) => su,
        (true, true) => ss,
    };
    Some(match (opcode, mods.contains(&M::HI)) {
        (O::DP4A, _) => of([Dp4aUu, Dp4aUs, Dp4aSu, Dp4aSs]),
        (_, false) => of([Dp2aLoUu, Dp2aLoUs, Dp2aLoSu, Dp2aLoSs]),
        (_, true) => of([Dp2aHiUu, Dp2aHiUs, Dp2aHiSu, Dp2aHiSs]),
    })
}

/// The comparison of two integers or bit patterns: an operation of shape `(x x) -> p`.
///
/// `lo ls hi hs` are the unsigned orders whatever the type. `None` for floating-point types and for orders of bit
/// types. Flushing (`.ftz`) does not exist here.
#[must_use]
pub fn compare(cmp: M, ty: M, ftz: bool) -> Option<AluOp> {
    use IntOp::{
        EqQ, EqW, GeS16, GeS32, GeS64, GeU32, GeU64, GtS16, GtS32, GtS64, GtU32, GtU64, LeS16, LeS32, LeS64, LeU32,
        LeU64, LtS16, LtS32, LtS64, LtU32, LtU64, NeQ, NeW,
    };
    if ftz {
        return None;
    }
    let order = match ty {
        M::B16 | M::B32 | M::B64 if !matches!(cmp, M::EQ | M::NE) => return None,
        M::S16 | M::S32 | M::S64 if matches!(cmp, M::LT | M::LE | M::GT | M::GE) => ty,
        // Half words are held zero-extended, so that a word's comparison serves.
        M::U16 | M::S16 | M::B16 | M::U32 | M::S32 | M::B32 => M::U32,
        M::U64 | M::S64 | M::B64 => M::U64,
        _ => return None,
    };
    let by_order = |[word, half_signed, word_signed, double, double_signed]: [IntOp; 5]| match order {
        M::S16 => half_signed,
        M::S32 => word_signed,
        M::U64 => double,
        M::S64 => double_signed,
        _ => word,
    };
    let op = by_order(match cmp {
        M::EQ => [EqW, EqW, EqW, EqQ, EqQ],
        M::NE => [NeW, NeW, NeW, NeQ, NeQ],
        M::LT | M::LO => [LtU32, LtS16, LtS32, LtU64, LtS64],
        M::LE | M::LS => [LeU32, LeS16, LeS32, LeU64, LeS64],
        M::GT | M::HI => [GtU32, GtS16, GtS32, GtU64, GtS64],
        M::GE | M::HS => [GeU32, GeS16, GeS32, GeU64, GeS64],
        _ => return None,
    });
    Some(op.into())
}

/// The operation that packs elements into a value of `bits` bits (`mov.b16 d, {a, b}` and so on), the first element
/// lowest. `None` where PTX has no such form, and for `.b128`, whose halves are slots.
#[must_use]
pub fn pack(bits: u32, elements: usize) -> Option<IntOp> {
    match (bits, elements) {
        (16, 2) => Some(IntOp::Pack8x2),
        (32, 2) => Some(IntOp::Pack16x2),
        (32, 4) => Some(IntOp::Pack8x4),
        (64, 2) => Some(IntOp::Pack32x2),
        (64, 4) => Some(IntOp::Pack16x4),
        _ => None,
    }
}

/// The operation that gives element `index` of a value of `bits` bits unpacked into `elements` elements.
#[must_use]
pub fn unpack(bits: u32, elements: usize, index: u32) -> Option<Selected> {
    let with_index = |op| Some(Selected { op: AluOp::Int(op), mode: index });
    if usize::try_from(index).ok()? >= elements {
        return None;
    }
    match (bits, elements, index) {
        (16, 2, _) | (32, 4, _) => with_index(IntOp::ByteOfW),
        (32, 2, 0) => Some(IntOp::Lo16.into()),
        (32, 2, _) => Some(IntOp::Hi16.into()),
        (64, 2, 0) => Some(IntOp::TruncQW.into()),
        (64, 2, _) => Some(IntOp::Hi32.into()),
        (64, 4, _) => with_index(IntOp::HalfOfQ),
        _ => None,
    }
}
