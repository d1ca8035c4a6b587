//! Sums without rounding.

/// Words of a sum. The least product is 2^-272 (`bf16`, twice 2^-126 with ten bits below the point each), the largest below
/// 2^256, and there are far fewer than 2^60 of them.
const WORDS: usize = 10;
/// The exponent of the last bit.
const LAST: i32 = -280;

/// A sum in fixed point, two's complement, the least word first.
#[derive(Clone, Copy, Default)]
pub(super) struct Exact([u64; WORDS]);

impl Exact {
    /// Adds ± significand · 2^exponent.
    pub fn add(&mut self, negative: bool, significand: u32, exponent: i32) {
        let at = (exponent - LAST).cast_unsigned() as usize;
        let parts = u128::from(significand) << (at % 64);
        let mut carry = [parts as u64, (parts >> 64) as u64];
        for word in self.0.iter_mut().skip(at / 64) {
            let [now, next] = carry;
            let (sum, over) = if negative { word.overflowing_sub(now) } else { word.overflowing_add(now) };
            *word = sum;
            // What is carried on is below 2^64: the second part is small.
            carry = [next + u64::from(over), 0];
        }
    }

    /// Sign, the 64 leading bits, the exponent of their last one, and whether anything is below.
    pub fn leading(mut self) -> (bool, u64, i32, bool) {
        let negative = self.0[WORDS - 1] >> 63 == 1;
        if negative {
            let mut carry = true;
            for word in &mut self.0 {
                (*word, carry) = (!*word).overflowing_add(carry.into());
            }
        }
        let Some(top) = self.0.iter().rposition(|word| *word != 0) else { return (false, 0, 0, false) };
        let below = top.checked_sub(1).map_or(0, |k| self.0[k]);
        let both = u128::from(self.0[top]) << 64 | u128::from(below);
        let zeros = both.leading_zeros();
        let kept = both << zeros;
        let more = kept as u64 != 0 || self.0.iter().take(top.saturating_sub(1)).any(|word| *word != 0);
        let place = i32::try_from(top * 64).unwrap_or(0) + LAST;
        (negative, (kept >> 64) as u64, place - zeros.cast_signed(), more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_ones_cancel_and_small_ones_stay() {
        let mut sum = Exact::default();
        assert_eq!(sum.leading().1, 0);
        sum.add(false, 3, 250);
        sum.add(true, 1, -272);
        sum.add(true, 3, 250);
        assert_eq!(sum.leading(), (true, 1 << 63, -272 - 63, false));
        sum.add(false, 1, 0);
        // Just below one.
        assert_eq!(sum.leading(), (false, u64::MAX, -64, true));
        sum.add(false, 1, -272);
        assert_eq!(sum.leading(), (false, 1 << 63, -63, false));
    }
}
