//! Whether agents that are alike are told apart in a search, and what is told of it (D-symmetry).

use super::progress::Progress;
use super::proof::Prove;
use super::space::Options;
use super::watched::watches;
use crate::base::mutant::{Mutant, on};
use crate::machine::Context;
use crate::machine::walk::{Exchanged, Grain, Likeness, Unlike, Walk};

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

impl Prove {
    /// How a search goes that is asked for: agents that are alike are told apart where its states say who they are, blocks where
    /// the scheduler looks at their numbers; and why, where none are exchanged.
    #[must_use]
    pub fn settled(self, options: &Options<'_>, context: &Context) -> (Self, Symmetry) {
        let Grain::Alike { blocks } = self.grain else { return (self, Symmetry::Off) };
        let apart = Self { grain: Grain::Visible, ..self };
        if options.races.is_some() && watches(context.config()) {
            return (apart, Symmetry::Races);
        }
        if options.preemptions.is_some() {
            return (apart, Symmetry::Preemptions);
        }
        let anybody = matches!(self.progress, Progress::Fair | Progress::Unfair) || on(Mutant::AlikeProgress);
        (Self { grain: Grain::Alike { blocks: blocks && anybody }, ..self }, Symmetry::Off)
    }
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
