//! How much of a search is left out.

/// What is left out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Grain {
    /// Nothing: every transition of table 2 is a step.
    Every,
    /// What no complete execution needs (D-rsp-reduced).
    #[default]
    Needed,
}
