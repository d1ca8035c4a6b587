//! Shifts. Amounts beyond the width are clamped, not wrapped as a processor's would be.

/// The two words that a funnel shift moves, `b` above `a`.
#[inline(always)]
pub(super) const fn both(a: u32, b: u32) -> u64 {
    ((b as u64) << 32) | a as u64
}
