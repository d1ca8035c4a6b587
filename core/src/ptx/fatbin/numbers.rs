//! Little-endian numbers at places that may not be there.

/// A number of 16 bits.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// A number of 32 bits.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// A length of 64 bits, if this computer can have one.
pub(super) fn size_at(bytes: &[u8], at: usize) -> Option<usize> {
    let number = u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?);
    usize::try_from(number).ok()
}
