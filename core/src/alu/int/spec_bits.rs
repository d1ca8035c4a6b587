//! Bits as numbers, for definitions.

/// The low bits as an unsigned number.
pub fn u(a: u64, bits: u32) -> i128 {
    i128::from(a) & ((1 << bits) - 1)
}

/// The low bits as a signed number.
pub fn s(a: u64, bits: u32) -> i128 {
    let value = u(a, bits);
    if value >> (bits - 1) == 1 { value - (1 << bits) } else { value }
}

/// A number's low bits.
pub fn put(value: i128, bits: u32) -> u64 {
    (value & ((1 << bits) - 1)) as u64
}
