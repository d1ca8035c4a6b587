//! Whether agents that are alike are told apart in a search, and what is told of it (D-symmetry).

use crate::machine::walk::{Exchanged, Likeness, Unlike, Walk};

/// Which agents a search did not tell apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Symmetry {
    /// It was not asked to do so.
    #[default]
    Off,
    /// Those that are alike.
    Exchanged(Exchanged),
    /// Nobody is like anybody.
    Nobody(Unlike),
    /// Which thread came before which counts in states that races are looked for in.
    Races,
    /// Which warp stepped last counts where switches do.
    Preemptions,
}

impl Symmetry {
    /// What a walk exchanges, where nothing kept it from doing so.
    #[must_use]
    pub fn of(self, walk: &dyn Walk) -> Self {
        match walk.likeness() {
            Some(Likeness::Exchanged(exchanged)) => Self::Exchanged(exchanged),
            Some(Likeness::Nobody(why)) => Self::Nobody(why),
            None => self,
        }
    }
}
