//! What a context needs of an engine besides the steps of its warps: to be made.

use super::Memory;

/// A memory environment that can be a context's.
pub trait Environment: Memory + Clone + PartialEq + Eq + std::fmt::Debug + Send + Sync {
    /// What the device's description says about memory.
    type Model: Clone + PartialEq + Eq + std::fmt::Debug + Send + Sync;

    /// Empty memory whose first address is `base`; `cap` limits its size in bytes.
    fn create(model: &Self::Model, base: u64, cap: Option<u64>) -> Self;
}
