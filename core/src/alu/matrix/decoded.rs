//! Elements of several rows as exponents, significands and signs, each in an array, and sums that become elements again.

use super::number::{POINT, SUM_POINT};
use super::{Accumulator, Element};

/// The exponent of zero: the sum of two, or of one and a number's, is below that of every accumulator.
const NOTHING: i32 = -1000;

/// Numbers of neighbouring rows: ± significand · 2^exponent, but for where the binary point is. Signs are 0 or -1.
#[derive(Clone, Copy)]
pub(super) struct Column<const L: usize> {
    pub exponent: [i32; L],
    pub significand: [u32; L],
    pub sign: [i32; L],
}

impl<const L: usize> Column<L> {
    pub const ZERO: Self = Self { exponent: [0; L], significand: [0; L], sign: [0; L] };

    /// Becomes the numbers of elements, their significands `up` bits further to the left; those that are not finite are noted, and
    /// are some number here. In place: columns are too large to be moved.
    #[inline(always)]
    pub fn decode(&mut self, element: Element, bits: &[u32; L], up: u32, odds: &mut [u32; L]) {
        // Bits below the fraction, of the fraction, of the exponent.
        let (low, fraction, exponents) = match element {
            Element::F16 => (0, 10, 5),
            Element::Bf16 => (0, 7, 8),
            Element::Tf32 => (13, 10, 8),
            Element::E4m3 => (0, 3, 4),
            Element::E5m2 => (0, 2, 5),
        };
        let top = (1u32 << exponents) - 1;
        // Of e4m3 the largest pattern alone is no number.
        let odd = if element == Element::E4m3 { 0x7f } else { top << fraction };
        self.take(bits, (low, fraction, exponents), POINT - fraction + up);
        for l in 0..L {
            odds[l] |= u32::from((bits[l] >> low) & odd == odd);
            self.exponent[l] = if self.significand[l] == 0 { NOTHING } else { self.exponent[l] };
        }
    }

    /// The numbers of a format, significands moved to the left. Zero has the least exponent of the format.
    #[inline(always)]
    fn take(&mut self, bits: &[u32; L], (low, fraction, exponents): (u32, u32, u32), up: u32) {
        let (top, bias) = ((1u32 << exponents) - 1, (1 << (exponents - 1)) - 1);
        for l in 0..L {
            let bits = bits[l] >> low;
            let field = (bits >> fraction) & top;
            let leading = u32::from(field != 0) << fraction;
            self.exponent[l] = field.max(1).cast_signed() - bias;
            self.significand[l] = (bits & ((1 << fraction) - 1) | leading) << up;
            self.sign[l] = 0i32.wrapping_sub(((bits >> (fraction + exponents)) & 1).cast_signed());
        }
    }
}

/// Accumulators of neighbouring rows, as bit patterns, and which of them the definition has to compute.
pub(super) struct Sums<const L: usize> {
    pub bits: [u32; L],
    pub odd: [u32; L],
}

impl<const L: usize> Sums<L> {
    /// Their numbers; those that are not finite are noted.
    #[inline(always)]
    pub fn decode(&mut self, ty: Accumulator, up: u32) -> Column<L> {
        let (fraction, exponents) = match ty {
            Accumulator::F16 => (10, 5),
            Accumulator::F32 => (23, 8),
        };
        let mut all = Column::ZERO;
        all.take(&self.bits, (0, fraction, exponents), SUM_POINT - fraction + up);
        let odd = ((1u32 << exponents) - 1) << fraction;
        for l in 0..L {
            self.odd[l] |= u32::from(self.bits[l] & odd == odd);
            // As if it had 32 bits.
            all.exponent[l] = if all.significand[l] == 0 { -126 } else { all.exponent[l] };
        }
        all
    }

    /// They become whole numbers times powers of two, rounded: toward zero with `kept` bits below the leading one, or to nearest
    /// even halves.
    #[inline(always)]
    pub fn round(&mut self, ty: Accumulator, whole: &[f64; L], unit: &[i32; L], kept: u32) {
        match ty {
            Accumulator::F32 => self.toward_zero(whole, unit, kept),
            Accumulator::F16 => self.nearest(whole, unit),
        }
    }

    #[inline(always)]
    fn toward_zero(&mut self, whole: &[f64; L], unit: &[i32; L], kept: u32) {
        let mask = 0x7f_ffff << (23 - kept.min(23)) & 0x7f_ffff;
        for l in 0..L {
            let bits = whole[l].to_bits();
            let field = (bits >> 52 & 0x7ff) as u32;
            let exponent = field.cast_signed() - 1023 + unit[l] + 127;
            let sign = (bits >> 63 << 31) as u32;
            let sum = sign | exponent.cast_unsigned() << 23 | (bits >> 29) as u32 & mask;
            // What is no normal number is rare.
            let odd = u32::from((exponent - 1).cast_unsigned() >= 254);
            let some = field != 0;
            self.bits[l] = if some { sum } else { 0 };
            self.odd[l] |= if some { odd } else { 0 };
        }
    }

    #[inline(always)]
    fn nearest(&mut self, whole: &[f64; L], unit: &[i32; L]) {
        for l in 0..L {
            let bits = whole[l].to_bits();
            let field = (bits >> 52 & 0x7ff) as i32;
            // Of the last bit of the result: ten below the leading one, or those of subnormal numbers.
            let last = (field - 1023 + unit[l]).max(-14) - 10;
            let scale = f64::from_bits(u64::from((unit[l] - last + 1023).cast_unsigned()) << 52);
            // The sum of a number below 2^52 and 2^52 is rounded to a whole number, to nearest even.
            let rounded = f64::from_bits(bits & (u64::MAX >> 1)) * scale + 4_503_599_627_370_496.0;
            // A leading one adds to the exponent, and so does what was rounded up to the next power of two.
            let encoded = ((last + 24).cast_unsigned() << 10) + (rounded.to_bits() & 0xfff) as u32;
            let sign = (bits >> 63 << 15) as u32;
            let some = field != 0;
            self.bits[l] = if some { sign | encoded } else { 0 };
            self.odd[l] |= if some { u32::from(encoded >= 0x7c00) } else { 0 };
        }
    }
}
