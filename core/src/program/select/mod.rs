//! Selection: the operation that an instruction's form, types and modifiers name.
//!
//! The forms name their operations ([`crate::program::forms`]); here is what a name cannot say: the mode words, and the
//! operations of comparisons and conversions, which are made of two words. Operands keep PTX's order after the
//! destination. Not every instruction is one operation:
//! - `setp`, `set` and `slct` are a comparison followed by predicate operations and selections;
//! - `lop3.and` and `lop3.or` are `Lop3` followed by `NonzeroAnd` or `NonzeroOr` of its result and the source predicate,
//!   which give the second result. The table of `lop3`, its last integer operand, becomes the mode;
//! - a vector `mov` packs, or unpacks each element;
//! - `cvt` between integers depends on the registers' widths, which its modifiers do not tell: see [`int_cvt::convert`].
//!
//! The carry of `.cc` is the second destination, and the last source of `addc`, `subc` and `madc`.

mod convert;
pub mod int_cvt;
#[cfg(test)]
mod tests;
mod video;

use super::forms::{Choice, Form};
use super::mode::{FMode, Num, Property, Rounding};
use super::ops::{AluOp, AtomOp, AtomTy, IntOp};
use super::types::{Class, is_signed, type_info};
use crate::ptx::tree::Names;
use crate::ptx::{Modifier as M, Opcode};

/// What an instruction computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Selected {
    /// The operation.
    pub op: AluOp,
    /// Its mode word; zero where the operation has none.
    pub mode: u32,
}

impl<T: Into<AluOp>> From<T> for Selected {
    fn from(op: T) -> Self {
        Self { op: op.into(), mode: 0 }
    }
}

/// The rounding, flag or property that a modifier stands for in a mode word.
fn flag(word: M) -> Option<FMode> {
    let names = Names::default();
    let text = word.text(&names);
    if let Some(rounding) = Rounding::named(text) {
        return Some(FMode::default().rounded(rounding));
    }
    if let Some(property) = Property::named(text) {
        return Some(FMode::testing(property));
    }
    Some(match word {
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
        M::OOB => FMode::OOB,
        _ => return None,
    })
}

/// All that modifiers ask of a mode word, without types.
fn flags(mods: &[M]) -> FMode {
    mods.iter().filter_map(|word| flag(*word)).fold(FMode::default(), FMode::with)
}

/// The number type of a modifier, and whether it stands for two or four packed values.
fn number(word: M) -> Option<(Num, bool)> {
    let names = Names::default();
    let text = word.text(&names);
    match text.strip_suffix("x2").or_else(|| text.strip_suffix("x4")) {
        Some(of) => Some((Num::named(of)?, true)),
        None => Some((Num::named(text)?, false)),
    }
}

/// A mode word with the types that its operation needs to know: those of half precision, and two that differ.
fn typed(mode: FMode, types: &[M]) -> Option<FMode> {
    Some(match *types {
        [ty @ (M::F16 | M::BF16)] => mode.to(number(ty)?.0).from(number(ty)?.0),
        [ty @ (M::F16X2 | M::BF16X2)] => mode.to(number(ty)?.0).with(FMode::PACKED),
        [to, from] => mode.to(number(to)?.0).from(number(from)?.0),
        _ => mode,
    })
}

impl Choice {
    /// Whether the operation is what an instruction means. One without a mode word does what its own modifiers ask and
    /// nothing more.
    fn serves(&self, types: &[M], mods: &[M], asked: FMode) -> bool {
        types.starts_with(&self.types)
            && self.flags.iter().all(|flag| mods.contains(flag))
            && (self.op.shape().mode || flags(&self.flags) == asked)
    }
}

/// The operation of an instruction of a form, with the types and all modifiers that it has.
#[must_use]
pub fn select(form: &Form, types: &[M], mods: &[M]) -> Option<Selected> {
    match (form.opcode, types) {
        (Opcode::SETP, [ty]) | (Opcode::SET, [_, ty]) => {
            compare(*mods.iter().find(|word| comparison(**word).is_some())?, *ty, mods.contains(&M::FTZ))
        }
        (Opcode::SLCT, [_, ty]) => compare(M::GE, *ty, mods.contains(&M::FTZ)),
        (Opcode::CVT, _) if mods.contains(&M::PACK) => int_cvt::packed(mods),
        (Opcode::CVT, [to, from]) => convert::select(*to, *from, mods),
        _ => {
            let asked = flags(mods);
            let Choice { op, .. } = form.choices.iter().find(|choice| choice.serves(types, mods, asked))?;
            let mode = match op {
                AluOp::Int(IntOp::Lop3) => 0,
                AluOp::Int(op) if op.shape().mode => video::mode(types, mods)?,
                AluOp::Float(op) if op.shape().mode => typed(asked, types)?.0,
                _ => 0,
            };
            Some(Selected { op: *op, mode })
        }
    }
}

/// What operations call a comparison, unsigned ones as their counterparts, and the mode of one whose operation has a mode.
fn comparison(word: M) -> Option<(&'static str, u32)> {
    Some(match word {
        M::EQ => ("Eq", 0b0010),
        M::NE => ("Ne", 0b0101),
        M::LT | M::LO => ("Lt", 0b0001),
        M::LE | M::LS => ("Le", 0b0011),
        M::GT | M::HI => ("Gt", 0b0100),
        M::GE | M::HS => ("Ge", 0b0110),
        M::EQU => ("Equ", 0b1010),
        M::NEU => ("Neu", 0b1101),
        M::LTU => ("Ltu", 0b1001),
        M::LEU => ("Leu", 0b1011),
        M::GTU => ("Gtu", 0b1100),
        M::GEU => ("Geu", 0b1110),
        M::NUM => ("Num", 0b0111),
        M::NAN_CMP => ("Nan", 0b1000),
        _ => return None,
    })
}

/// The comparison of two values of a type: an operation of shape `(x x) -> p`. Of packed values it compares the low ones.
fn compare(word: M, ty: M, ftz: bool) -> Option<Selected> {
    let (mut name, mut mode) = (comparison(word)?.0, 0);
    let info = type_info(ty)?;
    let whole = if info.bits == 64 { "Q" } else { "W" };
    let signed = is_signed(ty) && !matches!(word, M::LO | M::LS | M::HI | M::HS);
    let of = match info.class {
        Class::Bits | Class::Int if matches!(word, M::EQ | M::NE) => whole.to_owned(),
        Class::Int if signed => format!("S{}", info.bits),
        // Half words are held zero-extended, so that a word's comparison serves.
        Class::Int => format!("U{}", info.bits.max(32)),
        Class::Float => {
            let number = number(ty)?.0;
            if matches!(number, Num::F16 | Num::Bf16) {
                (name, mode) = ("Cmp", comparison(word)?.1);
            }
            format!("{}{number:?}", if ftz { "Ftz" } else { "" })
        }
        Class::Bits | Class::Pred => return None,
    };
    Some(Selected { op: AluOp::named(&(name.to_owned() + &of))?, mode })
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

/// The function and the element type of `atom` and `red`, as their forms allow them.
///
/// `.f32` is given without flushing: whether the state space flushes is known only with the address
/// ([`AtomTy::F32Ftz`]).
#[must_use]
pub fn atom(mods: &[M], ty: M) -> Option<(AtomOp, AtomTy)> {
    let names = Names::default();
    let op = mods.iter().find_map(|word| AtomOp::named(word.text(&names)))?;
    Some((op, AtomTy::named(ty.text(&names))?))
}
