//! Numbers as bytes, of states that are kept as sections.

/// A reader of packed bytes. What is not there reads as zero: sections are read as they were written.
pub struct Unpack<'a>(pub(super) &'a [u8]);

impl Unpack<'_> {
    /// The next four bytes.
    pub fn u32(&mut self) -> u32 {
        let Some((head, rest)) = self.0.split_first_chunk() else { return 0 };
        self.0 = rest;
        u32::from_le_bytes(*head)
    }

    /// The next eight bytes.
    pub fn u64(&mut self) -> u64 {
        let Some((head, rest)) = self.0.split_first_chunk() else { return 0 };
        self.0 = rest;
        u64::from_le_bytes(*head)
    }
}

pub(in crate::machine) fn put(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}
