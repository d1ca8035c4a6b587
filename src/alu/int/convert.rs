//! Conversions between integers (PTX ISA, "Data Movement and Conversion Instructions: cvt"), and the extensions that
//! loads need.
//!
//! A conversion reads its source by the source type, clamps to the destination type (`.sat`) or keeps its low bits, and
//! extends the result by the destination type's sign to the width of the destination *register* ("Operand Size
//! Exceeding Instruction-Type Size"). The frequent ones have functions of their own, named by type and register:
//! `sx8_w` gives a sign-extended byte in a 32-bit register, `sx8_h` in a 16-bit one (held zero-extended in its slot),
//! `sx8_q` in a 64-bit one. The others go by [`Cvt`].

use super::scalar;

scalar! {
    zx8(a: u8) -> u8 = a;
    zx16(a: u16) -> u16 = a;
    sx8_h(a: i8) -> i16 = i16::from(a);
    sx8_w(a: i8) -> i32 = i32::from(a);
    sx8_q(a: i8) -> i64 = i64::from(a);
    sx16_w(a: i16) -> i32 = i32::from(a);
    sx16_q(a: i16) -> i64 = i64::from(a);
    sx32_q(a: i32) -> i64 = i64::from(a);
    zx8_q(a: u8) -> u64 = u64::from(a);
    zx16_q(a: u16) -> u64 = u64::from(a);
    zx32_q(a: u32) -> u64 = u64::from(a);
    lo8_of_q(a: u64) -> u8 = a as u8;
    lo16_of_q(a: u64) -> u16 = a as u16;
}

/// An integer conversion as a mode word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cvt {
    /// Bits of the source type: 8, 16, 32 or 64.
    pub from_bits: u32,
    /// Whether the source type is signed.
    pub from_signed: bool,
    /// Bits of the destination type: 8, 16, 32 or 64.
    pub to_bits: u32,
    /// Whether the destination type is signed.
    pub to_signed: bool,
    /// `.sat`: clamp to the destination type instead of keeping the low bits.
    pub sat: bool,
    /// Bits of the destination register: 16, 32 or 64.
    pub register_bits: u32,
}

impl Cvt {
    /// The mode word.
    #[must_use]
    pub const fn mode(self) -> u32 {
        // Widths are at most 64: seven bits each.
        self.from_bits
            | self.to_bits << 7
            | self.register_bits << 14
            | (self.from_signed as u32) << 21
            | (self.to_signed as u32) << 22
            | (self.sat as u32) << 23
    }

    /// The conversion that a mode word stands for.
    #[inline(always)]
    #[must_use]
    pub const fn of(mode: u32) -> Self {
        Self {
            from_bits: mode & 127,
            to_bits: mode >> 7 & 127,
            register_bits: mode >> 14 & 127,
            from_signed: mode >> 21 & 1 == 1,
            to_signed: mode >> 22 & 1 == 1,
            sat: mode >> 23 & 1 == 1,
        }
    }

    /// The destination register's bits.
    #[inline(always)]
    #[must_use]
    pub fn apply(self, source: u64) -> u64 {
        let mut value = extend(source, self.from_bits, self.from_signed);
        if self.sat {
            let (low, high) = range(self.to_bits, self.to_signed);
            value = value.clamp(low, high);
        }
        let result = extend(value as u64, self.to_bits, self.to_signed);
        extend(result as u64, self.register_bits, false) as u64
    }
}

/// The number that the low bits mean.
#[inline(always)]
const fn extend(a: u64, bits: u32, signed: bool) -> i128 {
    let unused = 64u32.saturating_sub(bits) & 63;
    let up = a << unused;
    if signed { (up as i64 >> unused) as i128 } else { (up >> unused) as i128 }
}

/// The least and the greatest number of a type.
#[inline(always)]
const fn range(bits: u32, signed: bool) -> (i128, i128) {
    let size = 1i128 << bits;
    if signed { (-(size / 2), size / 2 - 1) } else { (0, size - 1) }
}

/// Any conversion from a 32-bit slot to a 32-bit slot.
#[inline(always)]
#[must_use]
pub fn cvt_ww(a: u32, mode: u32) -> u32 {
    Cvt::of(mode).apply(u64::from(a)) as u32
}

/// Any conversion from a 32-bit slot to a 64-bit slot.
#[inline(always)]
#[must_use]
pub fn cvt_wq(a: u32, mode: u32) -> u64 {
    Cvt::of(mode).apply(u64::from(a))
}

/// Any conversion from a 64-bit slot to a 32-bit slot.
#[inline(always)]
#[must_use]
pub fn cvt_qw(a: u64, mode: u32) -> u32 {
    Cvt::of(mode).apply(a) as u32
}

/// Any conversion from a 64-bit slot to a 64-bit slot.
#[inline(always)]
#[must_use]
pub fn cvt_qq(a: u64, mode: u32) -> u64 {
    Cvt::of(mode).apply(a)
}
