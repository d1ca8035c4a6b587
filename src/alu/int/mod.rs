//! Integers, bits and predicates (PTX ISA, "Integer Arithmetic Instructions", "Extended-Precision Integer Arithmetic
//! Instructions", "Comparison and Selection Instructions", "Logic and Shift Instructions", and the integer parts of
//! "Data Movement and Conversion Instructions").
//!
//! A function is written in Rust's own integer types; `scalar!` gives it slots for arguments and results:
//! `add_sat_s32(a: i32, b: i32) -> i32` becomes `fn(u32, u32) -> u32`. Where PTX leaves a result open, the choice is
//! what the hardware does: division by zero gives all ones, its remainder the dividend (D-div0).
//!
//! Branches are avoided where a select serves, so that a loop over lanes becomes vector code.

mod arith;
mod bits;
mod carry;
mod compare;
mod convert;
mod dot;
mod moves;
mod packed;
mod shift;
#[cfg(test)]
mod spec;
#[cfg(test)]
mod tests;

pub use arith::*;
pub use bits::*;
pub use carry::*;
pub use compare::*;
pub use convert::*;
pub use dot::*;
pub use moves::*;
pub use packed::*;
pub use shift::*;

/// A value as it is held in a register slot.
///
/// Values of 8 and 16 bits are held zero-extended in a 32-bit slot, signed ones too; reading one ignores the bits above.
pub trait Bits: Copy {
    /// The slot: `u32`, `u64` or `bool`; a pair of slots for an operation with two results.
    type Slot: Copy;
    /// The value in a slot.
    fn get(slot: Self::Slot) -> Self;
    /// The slot that holds a value.
    fn put(self) -> Self::Slot;
}

macro_rules! bits {
    ($($value:ty, $unsigned:ty => $slot:ty;)*) => {$(
        impl Bits for $value {
            type Slot = $slot;
            #[inline(always)]
            #[allow(clippy::cast_lossless, clippy::unnecessary_cast, trivial_numeric_casts)]
            fn get(slot: $slot) -> Self {
                slot as $value
            }
            #[inline(always)]
            #[allow(clippy::cast_lossless, clippy::unnecessary_cast, trivial_numeric_casts)]
            fn put(self) -> $slot {
                self as $unsigned as $slot
            }
        }
    )*};
}

bits! {
    u8, u8 => u32;
    i8, u8 => u32;
    u16, u16 => u32;
    i16, u16 => u32;
    u32, u32 => u32;
    i32, u32 => u32;
    u64, u64 => u64;
    i64, u64 => u64;
    bool, bool => bool;
}

impl<T: Bits> Bits for (T, bool) {
    type Slot = (T::Slot, bool);
    #[inline(always)]
    fn get(slot: Self::Slot) -> Self {
        (T::get(slot.0), slot.1)
    }
    #[inline(always)]
    fn put(self) -> Self::Slot {
        (self.0.put(), self.1)
    }
}

/// Makes functions on slots of functions on values; their documentation is the formula.
macro_rules! scalar {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty = $body:expr;)*) => {$(
        $(#[$doc])*
        #[doc = concat!("`", stringify!($body), "` where `", stringify!($($arg: $ty),*), "`; gives `", stringify!($ret), "`.")]
        #[inline(always)]
        #[must_use]
        pub fn $name($($arg: <$ty as $crate::alu::int::Bits>::Slot),*) -> <$ret as $crate::alu::int::Bits>::Slot {
            $(let $arg = <$ty as $crate::alu::int::Bits>::get($arg);)*
            <$ret as $crate::alu::int::Bits>::put($body)
        }
    )*};
}
use scalar;
