//! Recording a schedule and replaying it.

use super::{Fair, Menu, Oracle, Part, Pick, Schedule};
use crate::verdict::Stop;
use std::num::NonZeroU32;

/// Writes down what another oracle decides.
#[derive(Clone, Debug)]
pub struct Recorder<O> {
    inner: O,
    /// The decisions so far.
    pub schedule: Schedule,
}

impl<O: Oracle> Recorder<O> {
    /// Records the decisions of `inner`.
    pub fn new(inner: O) -> Self {
        Self { inner, schedule: Schedule::default() }
    }

    /// The oracle that decided, and its decisions.
    #[must_use]
    pub fn into_parts(self) -> (O, Schedule) {
        (self.inner, self.schedule)
    }
}

impl<O: Oracle> Oracle for Recorder<O> {
    fn launch(&mut self, number: u32) -> Result<(), Stop> {
        self.schedule.begin();
        self.inner.launch(number)
    }

    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let pick = self.inner.choose(menu)?;
        self.schedule.push(Part::Take(menu.decided(pick)));
        Ok(pick)
    }
}

/// Decides as a schedule says, and refuses where it does not fit.
#[derive(Clone, Debug)]
pub struct Replay {
    schedule: Schedule,
    launch: usize,
    next: usize,
    /// Decisions of the part at `next` that were taken.
    used: u32,
    /// Decisions so far.
    decisions: u64,
    /// Whether the fair oracle goes on where the schedule does not fit.
    lenient: bool,
    /// Where it did not fit.
    diverged: Option<Stop>,
}

impl Replay {
    /// Replays a schedule from its start.
    #[must_use]
    pub const fn new(schedule: Schedule) -> Self {
        Self { schedule, launch: 0, next: 0, used: 0, decisions: 0, lenient: false, diverged: None }
    }

    /// Goes on by the fair oracle from where the schedule does not fit or ends.
    #[must_use]
    pub fn lenient(self) -> Self {
        Self { lenient: true, ..self }
    }

    /// Where the schedule did not fit, if the fair oracle went on.
    #[must_use]
    pub const fn diverged(&self) -> Option<&Stop> {
        self.diverged.as_ref()
    }

    /// The run is over.
    ///
    /// # Errors
    /// [`Stop::Diverged`]: the schedule has more decisions.
    pub fn finish(&mut self) -> Result<(), Stop> {
        match self.current() {
            Some(Part::Take(d)) => self.misfit(d.what.to_string(), "the end of the launch".to_owned()),
            Some(Part::Fair(_)) => self.misfit("a decision of the default schedule".to_owned(), "the end".to_owned()),
            Some(Part::Rest) | None => Ok(()),
        }
    }

    fn current(&self) -> Option<Part> {
        self.schedule.launches.get(self.launch)?.get(self.next).copied()
    }

    /// The schedule does not fit: the run stops, or the fair oracle goes on.
    fn misfit(&mut self, expected: String, found: String) -> Result<(), Stop> {
        let stop = Stop::Diverged { decision: self.decisions, expected, found };
        if !self.lenient {
            return Err(stop);
        }
        self.diverged.get_or_insert(stop);
        Ok(())
    }

    /// What the schedule says about a menu; `None`: the fair oracle decides.
    fn take(&mut self, menu: Menu<'_>) -> Result<Option<Pick>, Stop> {
        if self.diverged.is_some() {
            return Ok(None);
        }
        match self.current() {
            Some(Part::Rest) => Ok(None),
            Some(Part::Fair(n)) => {
                self.used += 1;
                if self.used >= n {
                    (self.next, self.used) = (self.next + 1, 0);
                }
                Ok(None)
            }
            Some(Part::Take(d)) => {
                let (Some(index), Some(lease)) = (menu.find(d.what), NonZeroU32::new(d.lease)) else {
                    self.misfit(d.what.to_string(), offered(&menu))?;
                    return Ok(None);
                };
                self.next += 1;
                Ok(Some(Pick { index, lease }))
            }
            None => {
                self.misfit("the end of the launch".to_owned(), offered(&menu))?;
                Ok(None)
            }
        }
    }
}

/// What a menu offers, in words: not more than a few of its alternatives.
fn offered(menu: &Menu<'_>) -> String {
    const SHOWN: usize = 4;
    let names: Vec<String> = menu.offered().take(SHOWN).map(|index| menu.name(index).to_string()).collect();
    let more = menu.arity() as usize - names.len();
    names.join(", ") + &if more == 0 { String::new() } else { format!(" and {more} more") }
}

impl Oracle for Replay {
    fn launch(&mut self, number: u32) -> Result<(), Stop> {
        if number > 0 && self.diverged.is_none() {
            self.finish()?;
        }
        (self.launch, self.next, self.used) = (number as usize, 0, 0);
        Ok(())
    }

    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let taken = self.take(menu)?;
        self.decisions += 1;
        taken.map_or_else(|| Fair.choose(menu), Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Seeded, Site};
    use super::*;

    const READY: [u64; 1] = [0b111];
    const MENU: Menu<'_> = Menu::of(Site::Warp, &READY);

    fn recorded(decisions: u32) -> (Vec<Pick>, Schedule) {
        let mut recorder = Recorder::new(Seeded::new(3));
        recorder.launch(0).unwrap();
        let picks = (0..decisions).map(|_| recorder.choose(MENU).unwrap()).collect();
        (picks, recorder.schedule)
    }

    #[test]
    fn a_recorded_schedule_replays_and_a_wrong_one_is_refused() {
        let (picks, schedule) = recorded(9);
        let mut replay = Replay::new(schedule.clone());
        for pick in picks {
            assert!(replay.finish().is_err());
            assert_eq!(replay.choose(MENU).unwrap(), pick);
        }
        assert_eq!(replay.finish(), Ok(()));
        assert!(matches!(replay.choose(MENU), Err(Stop::Diverged { decision: 9, .. })));
        for menu in [Menu { site: Site::Group, ..MENU }, Menu { ready: &[0b1011_0000], ..MENU }] {
            let stop = Replay::new(schedule.clone()).choose(menu);
            assert!(matches!(stop, Err(Stop::Diverged { decision: 0, .. })), "{menu:?}");
        }
    }

    #[test]
    fn a_lenient_replay_goes_on_and_knows_where() {
        let (picks, schedule) = recorded(2);
        let mut replay = Replay::new(schedule).lenient();
        assert_eq!(replay.choose(MENU), Ok(picks[0]));
        let group = Menu { site: Site::Group, ..MENU };
        assert_eq!(replay.choose(group), Fair.choose(group));
        assert_eq!(replay.choose(MENU), Fair.choose(MENU));
        assert!(matches!(replay.diverged(), Some(Stop::Diverged { decision: 1, .. })));
    }

    #[test]
    fn parts_of_the_fair_oracle_count_decisions() {
        let (picks, recorded) = recorded(1);
        let mut schedule = Schedule::default();
        schedule.push(Part::Fair(1));
        schedule.push(Part::Fair(1));
        schedule.push(recorded.launches[0][0]);
        schedule.push(Part::Rest);
        assert_eq!((schedule.launches[0].len(), schedule.taken(), schedule.decisions()), (3, 1, 3));
        let mut replay = Replay::new(schedule);
        let fair = Fair.choose(MENU);
        let all: Vec<_> = (0..5).map(|_| replay.choose(MENU)).collect();
        assert_eq!(all, [fair.clone(), fair.clone(), Ok(picks[0]), fair.clone(), fair]);
        assert_eq!(replay.finish(), Ok(()));
    }
}
