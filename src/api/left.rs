//! What a run left, for the caller's own code that judges it.

use super::argument::Element;
use crate::launch::Device;
use std::sync::Arc;

/// The caller's own code that judges results.
pub(super) type Verdict = Arc<dyn Fn(&Left<'_>) -> Result<(), String> + Send + Sync>;

/// The memory that a run left, for [`Kernel::expect_that`](super::Kernel::expect_that).
pub struct Left<'a>(pub(super) &'a Device);

impl Left<'_> {
    /// The bytes of an argument's memory, by the name that messages call it by, or of a `.global` or `.const` variable.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.contents(name).map(|(_, bytes)| bytes)
    }

    /// The same as elements; `None` also where it has other elements.
    #[must_use]
    pub fn elements<T: Element>(&self, name: &str) -> Option<Vec<T>> {
        let (ty, bytes) = self.0.contents(name)?;
        (ty == T::TYPE).then(|| bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
    }
}
