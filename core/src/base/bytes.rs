//! Bytes as numbers.

/// The number that some bytes are, the least significant first; of more than eight the first eight count.
#[must_use]
#[inline]
pub fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |v, b| v << 8 | u64::from(*b))
}
