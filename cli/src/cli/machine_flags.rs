//! Machines besides the usual one.

use clap::ValueEnum;

/// Machines that run programs that are not PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Machine {
    /// Remote-scope promotion, for programs for OpenCL.
    Rsp,
    /// The mutex mechanism of lockstep sequential consistency, for tests for wavefronts.
    LscMutex,
}

impl Machine {
    /// Its name on the command line.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Rsp => "rsp",
            Self::LscMutex => "lsc-mutex",
        }
    }
}
