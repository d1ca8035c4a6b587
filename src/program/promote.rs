//! Gives common operations forms that the machine executes in its innermost loop. Nothing else changes.

use super::env::ProgEnv;

/// Rewrites the code of an environment. The requests of promoted memory actions stay, for engines that want them.
pub fn promote(_env: &mut ProgEnv) {}
