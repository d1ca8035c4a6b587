//! Machines besides the usual one.

use clap::ValueEnum;

/// Machines that run programs that are not PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Machine {
    Rsp,
}
