//! Machines besides the usual one, and how programs are compiled for them.

use clap::ValueEnum;

/// Machines that run programs that are not PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Machine {
    Rsp,
}

/// The columns of table 3 of the paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum SchemeName {
    Original,
    Proposed,
}
