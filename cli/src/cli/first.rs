//! The default schedule of a target, which is run before those of seeds: it tells how long runs are.

use super::target::Common;
use crate::choice::Fair;
use crate::explore::{Ending, Limits, Played, Recorded, Target};
use crate::verdict::{Standing, Stop};

/// How the default schedule came out.
pub(super) struct First {
    /// The run, which nobody observed.
    pub fair: Played,
    /// Limits of runs by seeds.
    pub limits: Limits,
}

impl First {
    /// Runs it.
    pub fn of(target: &Target, common: &Common) -> Self {
        let fair = target.play_fair(common.limits(None));
        let limits = common.limits(Some(fair.clock));
        Self { fair, limits }
    }

    /// Whether a limit ended it.
    pub fn unended(&self) -> bool {
        matches!(self.fair.ending, Ending::Stopped(Stop::Limit(_)))
    }

    /// Where its warps were then.
    pub fn standing(&self) -> Vec<Standing> {
        self.fair.device.context().standing().to_vec()
    }

    /// The same run once more, observed and written down, where it shows a defect or somebody is to look at it.
    pub fn record(&self, target: &Target, common: &Common) -> Option<Recorded> {
        let worth = self.fair.ending.is_defect() || common.observes();
        let steps = self.fair.fair_from.unwrap_or(u64::MAX);
        let limits = Limits { steps, ..self.limits };
        worth.then(|| target.record(Fair, limits, common.stopping(&target.program())))
    }
}
