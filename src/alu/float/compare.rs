//! Comparisons: `setp`, `set`, `slct` on floating-point types.
//!
//! An ordered comparison with NaN is false, an unordered one true (PTX ISA, "Floating Point Comparisons"); zeros of
//! either sign are equal.

use super::convert::{f32_of_bf16, f32_of_f16};
use super::single::flush32;

/// The fourteen comparisons of one type. `$value` makes a host number of a pattern.
macro_rules! comparisons {
    ($type:ty, $value:expr; $eq:ident $ne:ident $lt:ident $le:ident $gt:ident $ge:ident
     $equ:ident $neu:ident $ltu:ident $leu:ident $gtu:ident $geu:ident $num:ident $nan:ident) => {
        comparisons!(@ $type, $value; $eq "eq" |x, y| x == y);
        comparisons!(@ $type, $value; $ne "ne" |x, y| (x < y) | (x > y));
        comparisons!(@ $type, $value; $lt "lt" |x, y| x < y);
        comparisons!(@ $type, $value; $le "le" |x, y| x <= y);
        comparisons!(@ $type, $value; $gt "gt" |x, y| x > y);
        comparisons!(@ $type, $value; $ge "ge" |x, y| x >= y);
        comparisons!(@ $type, $value; $equ "equ" |x, y| !((x < y) | (x > y)));
        comparisons!(@ $type, $value; $neu "neu" |x, y| x != y);
        comparisons!(@ $type, $value; $ltu "ltu" |x, y| !(x >= y));
        comparisons!(@ $type, $value; $leu "leu" |x, y| !(x > y));
        comparisons!(@ $type, $value; $gtu "gtu" |x, y| !(x <= y));
        comparisons!(@ $type, $value; $geu "geu" |x, y| !(x < y));
        comparisons!(@ $type, $value; $num "num" |x, y| !x.is_nan() & !y.is_nan());
        comparisons!(@ $type, $value; $nan "nan" |x, y| x.is_nan() | y.is_nan());
    };
    (@ $type:ty, $value:expr; $name:ident $text:literal |$x:ident, $y:ident| $test:expr) => {
        #[doc = concat!("`", $text, "`, as the function's name says on which type and with `.ftz` or not.")]
        #[inline(always)]
        #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "an unordered comparison is the negation of an ordered one")]
        pub fn $name(a: $type, b: $type) -> bool {
            let ($x, $y) = ($value(a), $value(b));
            $test
        }
    };
}

comparisons!(u32, f32::from_bits; eq_f32 ne_f32 lt_f32 le_f32 gt_f32 ge_f32
    equ_f32 neu_f32 ltu_f32 leu_f32 gtu_f32 geu_f32 num_f32 nan_f32);
comparisons!(u32, |a| f32::from_bits(flush32(a)); eq_ftz_f32 ne_ftz_f32 lt_ftz_f32 le_ftz_f32 gt_ftz_f32 ge_ftz_f32
    equ_ftz_f32 neu_ftz_f32 ltu_ftz_f32 leu_ftz_f32 gtu_ftz_f32 geu_ftz_f32 num_ftz_f32 nan_ftz_f32);
comparisons!(u64, f64::from_bits; eq_f64 ne_f64 lt_f64 le_f64 gt_f64 ge_f64
    equ_f64 neu_f64 ltu_f64 leu_f64 gtu_f64 geu_f64 num_f64 nan_f64);
comparisons!(u32, |a| f32::from_bits(f32_of_f16(a)); eq_f16 ne_f16 lt_f16 le_f16 gt_f16 ge_f16
    equ_f16 neu_f16 ltu_f16 leu_f16 gtu_f16 geu_f16 num_f16 nan_f16);
comparisons!(u32, |a| f32::from_bits(f32_of_f16(flush16(a))); eq_ftz_f16 ne_ftz_f16 lt_ftz_f16 le_ftz_f16 gt_ftz_f16
    ge_ftz_f16 equ_ftz_f16 neu_ftz_f16 ltu_ftz_f16 leu_ftz_f16 gtu_ftz_f16 geu_ftz_f16 num_ftz_f16 nan_ftz_f16);
comparisons!(u32, |a| f32::from_bits(f32_of_bf16(a)); eq_bf16 ne_bf16 lt_bf16 le_bf16 gt_bf16 ge_bf16
    equ_bf16 neu_bf16 ltu_bf16 leu_bf16 gtu_bf16 geu_bf16 num_bf16 nan_bf16);

/// Subnormal f16 numbers become zeros of the same sign.
#[inline(always)]
pub(super) const fn flush16(a: u32) -> u32 {
    if a & 0x7c00 == 0 { a & 0x8000 } else { a }
}
