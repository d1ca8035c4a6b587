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

/// What an operation reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// The sources in order; the used ones come first.
    pub sources: [Option<Class>; 4],
    /// The destination.
    pub dest: Class,
    /// Whether a predicate is written beside the destination.
    pub carry_out: bool,
    /// Whether the operation reads the instruction's mode word.
    pub mode: bool,
}

impl Shape {
    /// The used sources, in order.
    pub fn used(&self) -> impl Iterator<Item = Class> + '_ {
        self.sources.iter().map_while(|s| *s)
    }
}

/// Pads a list of sources.
pub(crate) const fn sources(list: &[Class]) -> [Option<Class>; 4] {
    let mut all = [None; 4];
    let mut i = 0;
    while i < list.len() && i < 4 {
        all[i] = Some(list[i]);
        i += 1;
    }
    all
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

macro_rules! bits {
    ($($value:ty, $unsigned:ty => $slot:ty, $class:ident;)*) => {$(
        impl Bits for $value {
            type Slot = $slot;
            const CLASS: Class = Class::$class;
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
    u8, u8 => u32, W;
    u16, u16 => u32, W;
    u32, u32 => u32, W;
    u64, u64 => u64, Q;
    i8, u8 => u32, W;
    i16, u16 => u32, W;
    i32, u32 => u32, W;
    i64, u64 => u64, Q;
    bool, bool => bool, P;
}

/// The NaN that operations on numbers of 32 bits give.
pub const NAN32: u32 = 0x7fff_ffff;

impl Bits for f32 {
    type Slot = u32;
    const CLASS: Class = Class::W;
    #[inline(always)]
    fn get(slot: u32) -> Self {
        Self::from_bits(slot)
    }
    /// NaN is the canonical one.
    #[inline(always)]
    fn put(self) -> u32 {
        if self.is_nan() { NAN32 } else { self.to_bits() }
    }
}

impl Bits for f64 {
    type Slot = u64;
    const CLASS: Class = Class::Q;
    #[inline(always)]
    fn get(slot: u64) -> Self {
        Self::from_bits(slot)
    }
    #[inline(always)]
    fn put(self) -> u64 {
        self.to_bits()
    }
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
                use $crate::alu::table::{Shape, sources};
                match self {
                    $(Self::$op => const {
                        Shape {
                            sources: sources(&[$(<$source as $crate::alu::table::Bits>::CLASS),*]),
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
        let shape = |sources: [Option<Class>; 4], dest, carry_out, mode| Shape { sources, dest, carry_out, mode };
        assert_eq!(SampleOp::Add.shape(), shape([Some(W), Some(W), None, None], W, false, false));
        assert_eq!(SampleOp::Pick.shape(), shape([Some(Q), Some(Q), Some(P), None], Q, false, false));
        assert_eq!(SampleOp::Carry.shape(), shape([Some(W), Some(W), Some(P), None], W, true, false));
        assert_eq!(SampleOp::Table.shape(), shape([Some(W), None, None, None], P, false, true));
        assert_eq!(SampleOp::Four.shape().used().count(), 4);
        assert_eq!(SampleOp::ALL.len(), 5);
        assert_eq!((SampleOp::named("Four"), SampleOp::named("four")), (Some(SampleOp::Four), None));
    }
}
