//! Operations: the instructions that compute registers from registers, with their types resolved.
//!
//! There is one table of integer operations and one of floating-point operations, each written once and expanded several
//! times: here into an enumeration with the shapes of its members and into scalar functions, in the machine into the
//! dispatch over lanes. A row reads
//!
//! ```text
//! Add32 add32(a: u32, b: u32) -> u32 = a.wrapping_add(b);
//! Lop3 lop3(a: u32, b: u32, c: u32; table) -> u32 = …; // the instruction's mode word is the last argument
//! AddCc32 add_cc32(a: u32, b: u32) -> u32 + bool = …;  // the second result is a predicate
//! ```
//!
//! The formula is in Rust's own types; [`Bits`] gives them slots. A row has at most four sources; one with four sources or
//! two destinations has no mode.

use serde::{Deserialize, Serialize};

/// The kinds of register slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Class {
    /// 32 bits; narrower values are held zero-extended.
    W,
    /// 64 bits.
    Q,
    /// A predicate.
    P,
}

impl Class {
    /// Bits of a slot.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::W => 32,
            Self::Q => 64,
            Self::P => 1,
        }
    }
}

/// What an operation reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// The sources in order, at most four.
    pub sources: &'static [Class],
    /// The destination.
    pub dest: Class,
    /// Whether a predicate is written beside the destination.
    pub carry_out: bool,
    /// Whether the operation reads the instruction's mode word.
    pub mode: bool,
}

/// A value as it is held in a register slot.
///
/// Values of 8 and 16 bits are held zero-extended in a 32-bit slot, signed ones too; reading one ignores the bits above.
pub trait Bits: Copy {
    /// The slot: `u32`, `u64` or `bool`; a pair of slots for an operation with two results.
    type Slot: Copy;
    /// The kind of the slot, of the first one of a pair.
    const CLASS: Class;
    /// The value in a slot.
    fn get(slot: Self::Slot) -> Self;
    /// The slot that holds a value.
    fn put(self) -> Self::Slot;
}

/// The NaN that operations on numbers of 32 bits give.
pub const NAN32: u32 = 0x7fff_ffff;

/// Types of values, each with its slot, what a slot means and what holds a value.
macro_rules! bits {
    ($($value:ty: $slot:ty, $class:ident, $bits:ident => $get:expr, $number:ident => $put:expr;)*) => {$(
        impl Bits for $value {
            type Slot = $slot;
            const CLASS: Class = Class::$class;
            #[inline(always)]
            fn get($bits: $slot) -> Self {
                $get
            }
            #[inline(always)]
            fn put(self) -> $slot {
                let $number = self;
                $put
            }
        }
    )*};
}

bits! {
    u8: u32, W, s => s as u8, v => v.into();
    u16: u32, W, s => s as u16, v => v.into();
    u32: u32, W, s => s, v => v;
    u64: u64, Q, s => s, v => v;
    i8: u32, W, s => s as i8, v => (v as u8).into();
    i16: u32, W, s => s as i16, v => (v as u16).into();
    i32: u32, W, s => s as i32, v => v as u32;
    i64: u64, Q, s => s as i64, v => v as u64;
    bool: bool, P, s => s, v => v;
    // NaN is the canonical one.
    f32: u32, W, s => f32::from_bits(s), v => if v.is_nan() { NAN32 } else { v.to_bits() };
    f64: u64, Q, s => f64::from_bits(s), v => v.to_bits();
}

impl<T: Bits> Bits for (T, bool) {
    type Slot = (T::Slot, bool);
    const CLASS: Class = T::CLASS;
    #[inline(always)]
    fn get(slot: Self::Slot) -> Self {
        (T::get(slot.0), slot.1)
    }
    #[inline(always)]
    fn put(self) -> Self::Slot {
        (self.0.put(), self.1)
    }
}

/// Turns a table of operations into an enumeration and the shapes of its members.
macro_rules! define_ops {
    ($name:ident, $module:ident;
     $($op:ident $function:ident($($arg:ident: $source:ident),* $(; $mode:ident)?)
        -> $dest:ident $(+ $carry:ident)? = $formula:expr;)*) => {
        #[doc = concat!("Operations whose functions are in `alu::", stringify!($module), "`.")]
        #[allow(missing_docs, reason = "the table's row is a member's documentation")]
        #[repr(u16)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name { $($op),* }

        impl $name {
            /// Every operation, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$op),*];

            /// The operation that the tables of forms call so.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                static TABLE: std::sync::LazyLock<rustc_hash::FxHashMap<&str, $name>> =
                    std::sync::LazyLock::new(|| [$((stringify!($op), $name::$op)),*].into_iter().collect());
                TABLE.get(name).copied()
            }

            /// What the operation reads and writes.
            #[must_use]
            pub fn shape(self) -> $crate::alu::table::Shape {
                use $crate::alu::table::Shape;
                match self {
                    $(Self::$op => const {
                        Shape {
                            sources: &[$(<$source as $crate::alu::table::Bits>::CLASS),*],
                            dest: <$dest as $crate::alu::table::Bits>::CLASS,
                            carry_out: !stringify!($($carry)?).is_empty(),
                            mode: !stringify!($($mode)?).is_empty(),
                        }
                    },)*
                }
            }
        }
    };
}
pub(crate) use define_ops;

/// The type of a row's result.
macro_rules! result {
    ($dest:ident) => {
        $dest
    };
    ($dest:ident $carry:ident) => {
        ($dest, $carry)
    };
}
pub(crate) use result;

/// Turns a table of operations into functions on slots; their documentation is the formula.
macro_rules! define_functions {
    ($name:ident, $module:ident;
     $($op:ident $function:ident($($arg:ident: $source:ident),* $(; $mode:ident)?)
        -> $dest:ident $(+ $carry:ident)? = $formula:expr;)*) => {$(
        #[doc = concat!("`", stringify!($formula), "` where `", stringify!($($arg: $source),*), "`; gives `", stringify!($dest), "`.")]
        #[inline(always)]
        #[must_use]
        pub fn $function(
            $($arg: <$source as $crate::alu::table::Bits>::Slot,)* $($mode: u32)?
        ) -> <$crate::alu::table::result!($dest $($carry)?) as $crate::alu::table::Bits>::Slot {
            $(let $arg = <$source as $crate::alu::table::Bits>::get($arg);)*
            <$crate::alu::table::result!($dest $($carry)?) as $crate::alu::table::Bits>::put($formula)
        }
    )*};
}
pub(crate) use define_functions;

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! sample {
        ($then:ident) => {
            $then! { SampleOp, sample;
                Add add(a: u32, b: i16) -> u32 = a;
                Pick pick(a: u64, b: i64, c: bool) -> u64 = a;
                Carry carry(a: u32, b: u32, c: bool) -> u32 + bool = (a, c);
                Table table(a: u32; mode) -> bool = mode > a;
                Four four(a: u8, b: u8, c: u8, d: u8) -> u16 = 4;
            }
        };
    }
    sample!(define_ops);

    #[test]
    fn a_table_gives_shapes() {
        use Class::{P, Q, W};
        let shape = |sources: &'static [Class], dest, carry_out, mode| Shape { sources, dest, carry_out, mode };
        assert_eq!(SampleOp::Add.shape(), shape(&[W, W], W, false, false));
        assert_eq!(SampleOp::Pick.shape(), shape(&[Q, Q, P], Q, false, false));
        assert_eq!(SampleOp::Carry.shape(), shape(&[W, W, P], W, true, false));
        assert_eq!(SampleOp::Table.shape(), shape(&[W], P, false, true));
        assert_eq!(SampleOp::Four.shape().sources.len(), 4);
        assert_eq!(SampleOp::ALL.len(), 5);
        assert_eq!((SampleOp::named("Four"), SampleOp::named("four")), (Some(SampleOp::Four), None));
    }
}
