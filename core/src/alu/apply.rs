//! One operation on one lane: a table expanded into a `match` over scalars.
//!
//! The machine expands the tables over lanes instead. This form serves whatever is not in a hurry: constant folding,
//! reductions over a warp, tests.

use super::float::{FloatOp, float_ops};
use super::int::{IntOp, int_ops};

/// What is in a slot for a value of a type, of 64 bits.
macro_rules! slot {
    ($bits:expr, bool) => {
        $bits & 1 == 1
    };
    ($bits:expr, u64) => {
        $bits
    };
    ($bits:expr, i64) => {
        $bits
    };
    ($bits:expr, f64) => {
        $bits
    };
    ($bits:expr, $word:ident) => {
        $bits as u32
    };
}

/// A result as 64 bits and a carry.
macro_rules! wide {
    ($result:expr) => {
        ($result.into(), false)
    };
    ($result:expr, $carry:ident) => {{
        let (result, carry) = $result;
        (result.into(), carry)
    }};
}

/// Expands a table into a function on 64-bit values.
macro_rules! define_apply {
    ($name:ident, $module:ident;
     $($op:ident $function:ident($($arg:ident: $source:ident),* $(; $mode:ident)?)
        -> $dest:ident $(+ $carry:ident)? = $formula:expr;)*) => {
        /// The destination's bits and the carry-out (`false` where the operation has none).
        ///
        /// A source is in the low bits of its element, a predicate in bit 0; elements beyond the operation's sources
        /// are ignored, and so is the mode of an operation without one.
        #[must_use]
        pub fn $module(op: $name, sources: [u64; 4], mode: u32) -> (u64, bool) {
            let mut rest = sources.into_iter();
            match op {
                $($name::$op => wide!(crate::alu::$module::$function(
                    $(slot!(rest.next().unwrap_or_default(), $source),)*
                    $({ let $mode = mode; $mode })?
                ) $(, $carry)?),)*
            }
        }
    };
}

float_ops!(define_apply);
int_ops!(define_apply);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_arrive_in_order() {
        assert_eq!(int(IntOp::Sub32, [5, 3, 9, 9], 7), (2, false));
        assert_eq!(int(IntOp::SelQ, [5, 3, 0, 0], 0), (3, false));
        assert_eq!(int(IntOp::AddCc32, [0xffff_ffff, 5, 0, 0], 0), (4, true));
        assert_eq!(int(IntOp::ByteOfW, [0x4433_2211, 0, 0, 0], 2), (0x33, false));
        assert_eq!(int(IntOp::LtS32, [0xffff_ffff, 0, 0, 0], 0), (1, false));
    }
}
