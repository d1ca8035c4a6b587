//! How much of a search is left out.

/// What is left out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Grain {
    /// Nothing: requests travel, are refused and sent again, wait in the pool.
    Every,
    /// What no outcome needs (D-lsc-reduced).
    #[default]
    Needed,
}
