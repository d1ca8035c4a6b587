//! All observers in one sink.

use super::held::Held;
use super::{Check, Coverage, Liveness, Races, RacesOptions, Safety, TraceHash, Uninit};
use crate::base::sorted::SortedSet;
use crate::program::env::ProgEnv;
use crate::verdict::{Event, Needs, Row, Rule, Sink, Stop, Who};
use std::any::Any;
use std::sync::Arc;

/// An observer among others.
trait Observer: Any {
    fn tell(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop>;
    /// Whether it does not need all; only then it is asked what it needs.
    fn frugal(&self) -> bool;
    fn needed(&self) -> Needs;
    fn note(&mut self, who: Who, rows: &[Row]) -> usize;
}

impl<S: Sink + Any> Observer for S {
    fn tell(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        self.event(who, event)
    }

    fn frugal(&self) -> bool {
        S::FRUGAL
    }

    fn needed(&self) -> Needs {
        self.needs()
    }

    fn note(&mut self, who: Who, rows: &[Row]) -> usize {
        self.rows(who, rows)
    }
}

/// The observers of a run. They see every event in their order, and the first objection stops the run.
#[derive(Default)]
pub struct Observers {
    list: Vec<Box<dyn Observer>>,
    /// Uses of what was never written. It is told last, since a race may explain what it finds.
    uninit: Option<Uninit>,
    /// An undefined value that a race may explain.
    held: Held,
}

impl Observers {
    /// Nobody observes.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The observers of checks, in the order of [`Check::ALL`].
    #[must_use]
    pub fn of(checks: &[Check], program: &Arc<ProgEnv>, races: RacesOptions) -> Self {
        let asked = Check::ALL.iter().filter(|check| checks.contains(check));
        asked.fold(Self::none(), |observers, check| check.join(observers, program, races))
    }

    /// With a check.
    #[must_use]
    pub fn check(self, check: Check, program: &Arc<ProgEnv>) -> Self {
        check.join(self, program, RacesOptions::default())
    }

    /// With one more.
    #[must_use]
    pub fn with(mut self, observer: impl Sink + Any) -> Self {
        self.list.push(Box::new(observer));
        self
    }

    /// With a check for uses of what was never written.
    #[must_use]
    pub fn with_uninit(mut self, env: &Arc<ProgEnv>) -> Self {
        self.uninit = Some(Uninit::new(Arc::clone(env)));
        self
    }

    /// With a hash of the trace, which has the event that another one objects to.
    #[must_use]
    pub fn with_hash(mut self, env: &Arc<ProgEnv>) -> Self {
        self.list.insert(0, Box::new(TraceHash::new(Arc::clone(env))));
        self
    }

    /// With a check of the liveness property, if there is none. The machine must look for repeated states
    /// ([`Config::liveness`](crate::machine::Config::liveness)).
    #[must_use]
    pub fn with_liveness(self) -> Self {
        if self.get::<Liveness>().is_some() { self } else { self.with(Liveness::new()) }
    }

    /// With a collection of the rules that fire.
    #[must_use]
    pub fn with_coverage(mut self, env: &Arc<ProgEnv>) -> Self {
        self.list.insert(0, Box::new(Coverage::new(Arc::clone(env))));
        self
    }

    /// The observer of a type, if there is one.
    #[must_use]
    pub fn get<O: Any>(&self) -> Option<&O> {
        self.list.iter().find_map(|observer| (&**observer as &dyn Any).downcast_ref())
    }

    /// The same, to be changed.
    pub fn get_mut<O: Any>(&mut self) -> Option<&mut O> {
        self.list.iter_mut().find_map(|observer| (&mut **observer as &mut dyn Any).downcast_mut())
    }

    /// The check for uses of what was never written, if it is there.
    #[must_use]
    pub const fn uninit(&self) -> Option<&Uninit> {
        self.uninit.as_ref()
    }

    /// The same, to be changed.
    pub const fn uninit_mut(&mut self) -> Option<&mut Uninit> {
        self.uninit.as_mut()
    }

    /// The rules that fired, as a collection of them and the check of the safety property saw it.
    #[must_use]
    pub fn fired(&self) -> SortedSet<Rule> {
        let all = self.get().map(Coverage::fired).into_iter().chain(self.get().map(Safety::fired));
        all.flatten().copied().collect()
    }

    /// Why a run stopped that came to `stop`: an undefined value that was held back for the sake of races came first.
    #[must_use]
    pub fn settle(&mut self, stop: Stop) -> Stop {
        let mut held = std::mem::take(&mut self.held);
        let stop = held.settle(stop, self.get());
        self.held = held;
        stop
    }

    /// Whether there is any: otherwise [`Silent`](crate::verdict::Silent) does the same at no cost.
    #[must_use]
    pub const fn any(&self) -> bool {
        !self.list.is_empty() || self.uninit.is_some()
    }
}

impl Sink for Observers {
    const ON: bool = true;

    fn needs(&self) -> Needs {
        // Where one needs all, the others are told all, and must not rely on less.
        if self.uninit.is_some() || !self.list.iter().all(|observer| observer.frugal()) {
            return Needs::all();
        }
        self.list.iter().map(|observer| observer.needed()).reduce(Needs::and).unwrap_or_else(Needs::all)
    }

    fn rows(&mut self, who: Who, rows: &[Row]) -> usize {
        if let [only] = &mut self.list[..] {
            return only.note(who, rows);
        }
        // Each access by all of them, so that none has seen one that is told once more behind others.
        let all = |row: &&Row| self.list.iter_mut().all(|observer| observer.note(who, std::slice::from_ref(*row)) == 1);
        rows.iter().take_while(all).count()
    }

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        for observer in &mut self.list {
            observer.tell(who, event)?;
        }
        let Self { list, uninit: Some(uninit), held } = self else { return Ok(()) };
        let Some(races) = list.iter().find_map(|o| (&**o as &dyn Any).downcast_ref::<Races>()) else {
            return uninit.event(who, event);
        };
        held.event(who, &event, races)?;
        // What follows from an undefined value is undefined as well: nothing new.
        if held.any() {
            return Ok(());
        }
        uninit.event(who, event).or_else(|stop| held.hold(who, stop, races))
    }
}
