//! A schedule: the decisions of a run, launch by launch.

use super::Decision;

/// A part of a launch's schedule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// A decision as it was taken.
    Take(Decision),
    /// So many decisions as the fair oracle takes them.
    Fair(u32),
    /// The fair oracle decides to the launch's end.
    Rest,
}

/// The decisions of a run.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Schedule {
    /// Those of each launch, in order.
    pub launches: Vec<Vec<Part>>,
    /// The count of warp instructions of all launches at which the fair schedule takes over, if it does, once the turn that
    /// has begun by then is over: from there on nobody is asked.
    pub fair_from: Option<u64>,
}

impl Schedule {
    /// How many decisions it fixes, those of the fair oracle left out.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.launches.iter().flatten().filter(|p| matches!(p, Part::Take(_))).count()
    }

    /// How many decisions it covers; [`Part::Rest`] counts for none.
    #[must_use]
    pub fn decisions(&self) -> u64 {
        let one = |part: &Part| match part {
            Part::Take(_) => 1,
            Part::Fair(n) => u64::from(*n),
            Part::Rest => 0,
        };
        self.launches.iter().flatten().map(one).sum()
    }

    /// A launch begins.
    pub(super) fn begin(&mut self) {
        self.launches.push(Vec::new());
    }

    /// Adds a part to the launch that began last; the fair oracle's run together.
    pub(super) fn push(&mut self, part: Part) {
        if self.launches.is_empty() {
            self.begin();
        }
        let Some(parts) = self.launches.last_mut() else { return };
        match (parts.last_mut(), part) {
            (Some(Part::Fair(n)), Part::Fair(more)) if n.checked_add(more).is_some() => *n += more,
            _ => parts.push(part),
        }
    }
}
