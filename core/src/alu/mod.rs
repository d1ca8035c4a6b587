//! Layer 3: the operations, and what they compute.
//!
//! Pure, total, scalar functions on bit patterns: `u32` for a 32-bit slot, `u64` for a 64-bit slot, `bool` for a
//! predicate. Values of 8 and 16 bits are held zero-extended in a `u32`; a function that yields such a value returns it
//! so. The machine maps the functions over a warp's lanes; other engines and tests use the same functions. Knows nothing
//! of registers, memory, threads or errors: every input has a result (decision D-alu).

pub mod apply;
pub mod atom;
pub mod float;
pub mod image;
pub mod int;
pub mod matrix;
pub mod mbarrier;
pub mod mode;
pub mod ops;
pub mod table;
