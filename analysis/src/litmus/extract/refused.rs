//! What has no litmus test.

use crate::program::ops::AtomOp;

/// What a litmus test cannot say of a run, or what is not known of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotExtracted {
    /// An atomic operation that litmus tests do not have, or not with this type.
    Atomic(AtomOp),
    /// Accesses that overlap partly.
    Sizes,
    /// A scope of a cluster.
    Scope,
    /// A fence that only acquires, only releases, or is between aliases.
    Fence,
    /// The barrier of a cluster.
    Cluster,
    /// Accesses to memory of devices.
    Mmio,
    /// A value that is longer than 8 bytes, or an access that did not take effect when it was told, as of an asynchronous copy.
    Value,
    /// More deeds than a test has.
    Long,
    /// An error of ours: the test that was made, which is wrong.
    Wrong(String),
}
