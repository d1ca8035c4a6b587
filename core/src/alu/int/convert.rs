//! Conversions between integers (PTX ISA, "Data Movement and Conversion Instructions: cvt"), and the extensions that
//! loads need.
//!
//! A conversion reads its source by the source type, clamps to the destination type (`.sat`) or keeps its low bits, and
//! extends the result by the destination type's sign to the width of the destination *register* ("Operand Size
//! Exceeding Instruction-Type Size"). The frequent ones have functions of their own, named by type and register:
//! `sx8_w` gives a sign-extended byte in a 32-bit register, `sx8_h` in a 16-bit one (held zero-extended in its slot),
//! `sx8_q` in a 64-bit one. The others go by a mode word, [`IntCvt`].

/// An integer conversion: the mode word of `CvtWW`, `CvtWQ`, `CvtQW`, `CvtQQ` and of `CvtPack`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntCvt {
    /// Bits of the source type: 8, 16, 32 or 64.
    pub from_bits: u32,
    /// Whether the source type is signed.
    pub from_signed: bool,
    /// Bits of the destination type: 8, 16, 32 or 64; 2 or 4 too for `cvt.pack`.
    pub to_bits: u32,
    /// Whether the destination type is signed.
    pub to_signed: bool,
    /// `.sat`: clamp to the destination type instead of keeping the low bits.
    pub sat: bool,
    /// Bits of the destination register: 16, 32 or 64.
    pub register_bits: u32,
}

impl IntCvt {
    /// The mode word: seven bits for each width, one for each flag.
    #[must_use]
    pub const fn mode(self) -> u32 {
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
}

/// The destination register's bits for a source slot's bits.
#[inline(always)]
pub(super) fn convert(source: u64, cvt: IntCvt) -> u64 {
    let mut value = extend(source, cvt.from_bits, cvt.from_signed);
    if cvt.sat {
        let (low, high) = range(cvt.to_bits, cvt.to_signed);
        value = value.clamp(low, high);
    }
    let result = extend(value as u64, cvt.to_bits, cvt.to_signed);
    extend(result as u64, cvt.register_bits, false) as u64
}

/// The number that the low bits mean.
#[inline(always)]
pub(in crate::alu) const fn extend(a: u64, bits: u32, signed: bool) -> i128 {
    let unused = 64u32.saturating_sub(bits) & 63;
    let up = a << unused;
    if signed { (up as i64 >> unused) as i128 } else { (up >> unused) as i128 }
}

/// The least and the greatest number of a type.
#[inline(always)]
pub(in crate::alu) const fn range(bits: u32, signed: bool) -> (i128, i128) {
    let size = 1i128 << bits;
    if signed { (-(size / 2), size / 2 - 1) } else { (0, size - 1) }
}

/// Two numbers clamped to the destination type, `a` above `b`, below the low bits of `c`.
#[inline(always)]
pub(super) fn pack(a: u32, b: u32, c: u32, cvt: IntCvt) -> u32 {
    let (low, high) = range(cvt.to_bits, cvt.to_signed);
    let piece = |x: u32| (i128::from(x as i32).clamp(low, high) as u64) & ((1 << cvt.to_bits) - 1);
    // The shifts are at most 32: in 64 bits nothing is lost before the cut.
    ((u64::from(c) << (2 * cvt.to_bits)) | (piece(a) << cvt.to_bits) | piece(b)) as u32
}
