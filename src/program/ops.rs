//! Operations: the instructions that compute registers from registers, with their types resolved.
//!
//! There is one table per vertical ([`super::int_ops`], [`super::float_ops`]), written once and expanded several times:
//! here into an enumeration with the shapes of its members, in the machine into the dispatch. A row reads
//!
//! ```text
//! Add32 (w w) -> w = add32;             // two 32-bit sources, 32-bit destination, computed by alu::int::add32
//! Lop3 (w w w) -> w | m = lop3;         // the instruction's mode word is the last argument
//! AddCc32 (w w) -> w+p = add_cc32;      // returns (u32, bool): the second destination is a predicate
//! ```
//!
//! A row has at most four sources; one with four sources or two destinations has no mode.

pub use super::float_ops::FloatOp;
pub use super::int_ops::IntOp;

/// The kinds of register slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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

/// The class of a table's letter.
macro_rules! class {
    (w) => {
        $crate::program::ops::Class::W
    };
    (q) => {
        $crate::program::ops::Class::Q
    };
    (p) => {
        $crate::program::ops::Class::P
    };
}
pub(crate) use class;

/// Turns a table of operations into an enumeration and the shapes of its members.
macro_rules! define_ops {
    ($name:ident, $module:ident;
     $($op:ident ($($source:ident)*) -> $dest:ident $(+ $carry:ident)? $(| $mode:ident)? = $function:ident;)*) => {
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
            pub fn shape(self) -> $crate::program::ops::Shape {
                use $crate::program::ops::{Shape, sources};
                match self {
                    $(Self::$op => const {
                        Shape {
                            sources: sources(&[$($crate::program::ops::class!($source)),*]),
                            dest: $crate::program::ops::class!($dest),
                            carry_out: false $(|| matches!($crate::program::ops::class!($carry), $crate::program::ops::Class::P))?,
                            mode: !stringify!($($mode)?).is_empty(),
                        }
                    },)*
                }
            }
        }
    };
}
pub(crate) use define_ops;

/// An operation of either vertical.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AluOp {
    /// Integers, bits, predicates.
    Int(IntOp),
    /// Floating-point numbers and their conversions.
    Float(FloatOp),
}

impl AluOp {
    /// The operation that the tables of forms call so.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        IntOp::named(name).map(Self::Int).or_else(|| FloatOp::named(name).map(Self::Float))
    }

    /// What the operation reads and writes.
    #[must_use]
    pub fn shape(self) -> Shape {
        match self {
            Self::Int(op) => op.shape(),
            Self::Float(op) => op.shape(),
        }
    }
}

impl From<IntOp> for AluOp {
    fn from(op: IntOp) -> Self {
        Self::Int(op)
    }
}

impl From<FloatOp> for AluOp {
    fn from(op: FloatOp) -> Self {
        Self::Float(op)
    }
}

/// The operations of `atom` and `red` (PTX ISA, "Parallel Synchronization and Communication Instructions: atom").
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomOp {
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Addition.
    Add,
    /// Increment, back to zero at the bound.
    Inc,
    /// Decrement, from zero to the bound.
    Dec,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Exchange.
    Exch,
    /// Compare and swap.
    Cas,
}

/// The types of atomic operations. A vector is several scalars, each atomic by itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "named as PTX names them")]
pub enum AtomTy {
    B16,
    B32,
    B64,
    B128,
    U32,
    U64,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    /// f32 in a state space whose atomic addition flushes subnormal numbers (global memory on today's hardware).
    F32Ftz,
    F64,
}

impl AtomTy {
    /// The size of one element in bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::B16 | Self::F16 | Self::Bf16 => 2,
            Self::B32 | Self::U32 | Self::S32 | Self::F16x2 | Self::Bf16x2 | Self::F32 | Self::F32Ftz => 4,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 => 8,
            Self::B128 => 16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! sample {
        ($then:ident) => {
            $then! { SampleOp, sample;
                Add (w w) -> w = add;
                Pick (q q p) -> q = pick;
                Carry (w w p) -> w+p = carry;
                Table (w) -> p | m = table;
                Four (w w w w) -> w = four;
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

    #[test]
    fn every_row_keeps_the_tables_rules() {
        let all = IntOp::ALL.iter().map(|op| AluOp::Int(*op)).chain(FloatOp::ALL.iter().map(|op| AluOp::Float(*op)));
        for op in all {
            let shape = op.shape();
            assert!(
                !(shape.mode && (shape.carry_out || shape.sources[3].is_some())),
                "{op:?} has a mode and no room for it"
            );
        }
    }
}
