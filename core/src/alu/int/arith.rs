//! Addition, multiplication, division and their relatives.

/// The low 24 bits, as `mul24` reads an unsigned operand.
#[inline(always)]
pub(super) const fn low24(a: u32) -> u32 {
    a & 0x00ff_ffff
}

/// The low 24 bits as a signed number.
#[inline(always)]
pub(super) const fn signed24(a: u32) -> i32 {
    ((a << 8) as i32) >> 8
}
