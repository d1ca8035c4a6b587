//! One run, observed and written down: what is told of a defect, and what a schedule is saved from.

use super::{Places, Played, ScheduleFile, Target, Way};
use crate::check::{Observers, TraceHash};
use crate::choice::{Oracle, Recorder, Schedule};
use crate::machine::Heard;
use crate::verdict::{Event, Sink, Who};

/// Warp instructions of all launches that a run may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// By the oracle under test; the turn that has begun by then goes on to its end.
    pub steps: u64,
    /// And then by the fair, deterministic schedule, looking for a state that repeats: only such a schedule proves that a
    /// run never ends.
    pub fair_steps: u64,
}

impl Limits {
    /// For runs of a target whose default schedule took `clock` warp instructions: ten times as many, and a million at
    /// least, so that only what spins reaches it.
    #[must_use]
    pub fn of(clock: u64) -> Self {
        let steps = clock.saturating_mul(10).max(1_000_000);
        Self { steps, fair_steps: steps }
    }

    /// For one run of many, of at most `max_steps`, when the default schedule took `clock` warp instructions, if that is
    /// known.
    #[must_use]
    pub fn of_run(clock: Option<u64>, max_steps: Option<u64>) -> Self {
        match (max_steps, clock) {
            // A proof that a run never ends needs some turns, however short the run.
            (Some(steps), _) => Self { steps, fair_steps: Self::of(steps).steps },
            (None, Some(clock)) => Self::of(clock),
            // The default schedule is fair from the start. That its state repeats is looked for late, which costs time,
            // and not so late that who waits for the proof notices.
            (None, None) => Self { steps: 1 << 20, fair_steps: 1 << 27 },
        }
    }

    /// For a run by a schedule, which goes as far as the schedule does: of at most `max_steps` where that was said of a run.
    #[must_use]
    pub fn of_schedule(schedule: &Schedule, max_steps: Option<u64>) -> Self {
        Self { steps: schedule.fair_from.unwrap_or(u64::MAX), ..Self::of_run(None, max_steps) }
    }
}

/// An observed run.
pub struct Recorded {
    /// What it left.
    pub played: Played,
    /// Its decisions.
    pub schedule: Schedule,
    /// The hash of its trace.
    pub trace: u64,
    /// How many times another warp went on than the one before.
    pub switches: u64,
}

impl Recorded {
    /// A run that left `played`, by the decisions of `schedule`.
    #[must_use]
    pub fn new(played: Played, schedule: Schedule, trace: u64, switches: u64) -> Self {
        let schedule = Schedule { fair_from: played.fair_from, ..schedule };
        Self { played, schedule, trace, switches }
    }

    /// The schedule as a file keeps it; `target` is what was run, which words of a command line name, and `found` what it
    /// shows.
    #[must_use]
    pub fn file(&self, target: &Target, named: Vec<String>, found: String) -> ScheduleFile {
        ScheduleFile {
            target: named,
            ptx: target.ptx_hash(),
            setup: target.setup_hash(),
            found,
            trace: self.trace,
            schedule: self.schedule.clone(),
            places: Places::default(),
        }
    }
}

impl Target {
    /// Runs all launches under observers, if there are any.
    pub fn watch(&self, oracle: &mut dyn Oracle, limits: Limits, observers: &mut Observers) -> Played {
        watched(|way| self.run(way), oracle, limits, observers)
    }

    /// The same once and no more: nothing is copied to begin with.
    #[must_use]
    pub fn watch_once(self, oracle: &mut dyn Oracle, limits: Limits, observers: &mut Observers) -> Played {
        watched(|way| self.run_once(way), oracle, limits, observers)
    }

    /// Runs all launches under observers, and writes down what `oracle` decides. The trace is hashed, and where the run
    /// never ends the tokens that are never popped are named, whether `observers` were asked to or not.
    pub fn record(&self, oracle: impl Oracle, limits: Limits, observers: Observers) -> Recorded {
        let mut recorder = Recorder::new(oracle);
        let (mut played, trace, switches) = self.observe(&mut recorder, limits, observers, &mut |_, _| ());
        self.explain(&mut played);
        Recorded::new(played, recorder.schedule, trace, switches)
    }

    /// Runs all launches under observers; gives the hash of the trace, and how many times another warp went on than the
    /// one before. `also` is told of everything first.
    pub fn observe(
        &self,
        oracle: &mut dyn Oracle,
        limits: Limits,
        observers: Observers,
        also: &mut dyn FnMut(Who, &Event<'_>),
    ) -> (Played, u64, u64) {
        let mut observers = observers.with_hash(&self.program()).with_liveness();
        let (mut last, mut switches) = (None, 0);
        let mut tell = |who: Who, event: Event<'_>| {
            if matches!(event, Event::Step(_)) {
                switches += u64::from(last.is_some_and(|last| last != who));
                last = Some(who);
            }
            also(who, &event);
            observers.event(who, event)
        };
        let mut played = self.run(Way { oracle, tell: Some(&mut tell), limits });
        played.settle(&mut observers);
        (played, observers.get().map_or(0, TraceHash::value), switches)
    }
}

/// A run under observers, if there are any.
fn watched(
    run: impl FnOnce(Way<'_>) -> Played,
    oracle: &mut dyn Oracle,
    limits: Limits,
    observers: &mut Observers,
) -> Played {
    if !observers.any() {
        return run(Way { oracle, tell: None, limits });
    }
    let mut tell = Heard(&mut *observers);
    let mut played = run(Way { oracle, tell: Some(&mut tell), limits });
    played.settle(observers);
    played
}
