//! The parts of instructions that are several here.

/// The instructions that a bulk copy is, so that each of them accesses one place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BulkPart {
    /// The source is looked at.
    From,
    /// The destination is looked at.
    To,
    /// The copy begins; its barrier, if it tells one, is looked at.
    Begin,
}
