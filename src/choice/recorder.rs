//! Recording a schedule and replaying it.

use super::{Decision, Menu, Oracle, Pick};
use crate::verdict::Stop;
use std::num::NonZeroU32;

/// Writes down what another oracle decides.
#[derive(Clone, Debug)]
pub struct Recorder<O> {
    inner: O,
    /// The decisions so far.
    pub schedule: Vec<Decision>,
}

impl<O: Oracle> Recorder<O> {
    /// Records the decisions of `inner`.
    pub const fn new(inner: O) -> Self {
        Self { inner, schedule: Vec::new() }
    }
}

impl<O: Oracle> Oracle for Recorder<O> {
    fn launch(&mut self, number: u32) -> Result<(), Stop> {
        self.inner.launch(number)
    }

    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let pick = self.inner.choose(menu)?;
        self.schedule.push(Decision {
            site: menu.site,
            arity: menu.arity(),
            pick: pick.index,
            lease: pick.lease.get(),
        });
        Ok(pick)
    }
}

/// Decides as a schedule says, and refuses where it does not fit.
#[derive(Clone, Debug)]
pub struct Replay {
    schedule: Vec<Decision>,
    next: usize,
}

impl Replay {
    /// Replays a schedule from its start.
    #[must_use]
    pub const fn new(schedule: Vec<Decision>) -> Self {
        Self { schedule, next: 0 }
    }
}

impl Oracle for Replay {
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let found = format!("{:?} among {}", menu.site, menu.arity());
        let diverged = |expected: String| Stop::Diverged { decision: self.next as u64, expected, found: found.clone() };
        let Some(d) = self.schedule.get(self.next) else { return Err(diverged("the end of the run".into())) };
        let fits = d.site == menu.site && d.arity == menu.arity() && menu.offers(d.pick);
        let Some(lease) = NonZeroU32::new(d.lease).filter(|_| fits) else {
            return Err(diverged(format!("{:?} among {}, alternative {}", d.site, d.arity, d.pick)));
        };
        let index = d.pick;
        self.next += 1;
        Ok(Pick { index, lease })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Seeded, Site};
    use super::*;

    #[test]
    fn a_recorded_schedule_replays_and_a_wrong_one_is_refused() {
        let ready = [0b111];
        let menu = Menu { site: Site::Warp, ready: &ready, last: None };
        let mut recorder = Recorder::new(Seeded::new(3));
        let picks: Vec<_> = (0..9).map(|_| recorder.choose(menu).unwrap()).collect();
        let mut replay = Replay::new(recorder.schedule);
        for pick in picks {
            assert_eq!(replay.choose(menu).unwrap(), pick);
        }
        assert!(matches!(replay.choose(menu), Err(Stop::Diverged { decision: 9, .. })));
    }
}
