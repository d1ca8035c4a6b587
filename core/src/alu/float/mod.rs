//! Floating-point operations: PTX ISA, "Floating Point Instructions", "Half Precision Floating Point Instructions",
//! "Mixed Precision Floating Point Instructions", "Comparison and Selection Instructions" and `cvt`.
//!
//! Values are bit patterns. What PTX leaves to the implementation is decided here, the same on every host:
//!
//! - *NaN of 32 and 16 bits and below*: an operation's NaN result is the canonical one, `0x7fffffff` or `0x7fff`,
//!   as PTX says for arithmetic; `neg`, `abs`, `min` and `max` give it too, and `cvt` but for some pairs of types
//!   (`D-cvt-nan`). `copysign`, `mov`, `selp` and `slct` copy bits.
//! - `D-nan64`: an f64 operation with NaN operands gives that of the second, else of the third, else of the first, made
//!   quiet, with its sign and payload; an invalid operation gives `0xfff8_0000_0000_0000`. `abs` and `neg` make a NaN
//!   quiet, `copysign` changes its sign. The host's NaN bits are never seen.
//! - `D-ftz`: *flushing* looks at the result rounded to all bits of the significand, as if exponents had no lower end:
//!   what then is the least normal number stays.
//! - `D-approx`: an approximate instruction gives the exact result rounded once, or, for the transcendental functions,
//!   the `libm` crate's f64 result rounded once: closer than PTX's bound, and the same on every host. Only
//!   `rsqrt.approx` (two roundings, 2^-23) and the gross `f64` approximations (20 bits) are coarser.
//!
//! The table of operations (`ops`) has their formulas; the other files what takes more than a line. The fast functions
//! use the host's arithmetic, which IEEE 754 fixes apart from NaN; [`soft`] does the rest.

mod approx;
mod convert;
mod convert_any;
mod convert_nan;
mod double;
mod fused;
mod half;
mod ops;
mod sides;
mod single;
pub mod soft;

pub use super::table::NAN32;
pub(in crate::alu) use convert::{narrow16, widen16};
pub(in crate::alu) use double::add_f64_raw;
pub use double::{NAN64, fma_f64_hard};
pub use fused::*;
pub(crate) use ops::float_ops;
pub use ops::*;
#[cfg(all(feature = "native", target_arch = "x86_64"))]
pub(crate) use single::{LEAST_UP, UP};

#[cfg(test)]
mod tests;
