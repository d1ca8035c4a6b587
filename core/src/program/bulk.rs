//! Bulk copies and what is done in the same way (PTX ISA 9.7.9.25.4, and `st.async` and `red.async`).

use super::instr::{BulkPart, Slot, WarpRequest};

/// A bulk copy; `Op::Bulk` names it by its number, and a 32-bit slot with its size in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bulk {
    /// A load of 16 bytes at the source, of which there are as many, one behind the other, as the size says; none where what is written
    /// comes from registers.
    pub from: Option<WarpRequest>,
    /// A store, or atomic operations, at the destination: of 16 bytes in the same way, or of the registers.
    pub to: WarpRequest,
    /// The barrier that is told; none where the thread waits for its groups.
    pub barrier: Option<WarpRequest>,
    /// The 32-bit slot with the blocks of the cluster that it goes to, as a set of 16 bits; none where it names one by its address.
    pub blocks: Slot,
}

impl Bulk {
    /// What a part of it accesses.
    #[must_use]
    pub const fn request(&self, part: BulkPart) -> Option<&WarpRequest> {
        match part {
            BulkPart::From => self.from.as_ref(),
            BulkPart::To => Some(&self.to),
            BulkPart::Begin => self.barrier.as_ref(),
        }
    }
}
