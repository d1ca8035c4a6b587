//! All observers in one sink.

use super::held::Held;
use super::{Barriers, Coverage, Div0, Liveness, Races, Safety, TraceHash, Uninit};
use crate::program::env::ProgEnv;
use crate::verdict::{Event, Needs, Sink, Stop, Who};
use std::sync::Arc;

/// The observers of a run, each there or not. They see every event in this order, and the first objection stops the run.
#[derive(Default)]
pub struct Observers {
    /// The hash of the trace.
    pub hash: Option<TraceHash>,
    /// Uses of what was never written.
    pub uninit: Option<Uninit>,
    /// Integer divisions by zero.
    pub div0: Option<Div0>,
    /// Barriers and exchanges without all whom they name.
    pub barriers: Option<Barriers>,
    /// The safety property.
    pub safety: Option<Safety>,
    /// The liveness property.
    pub liveness: Option<Liveness>,
    /// Rules that fired.
    pub coverage: Option<Coverage>,
    /// Data races.
    pub races: Option<Races>,
    /// An undefined value that a race may explain.
    held: Held,
}

impl Observers {
    /// Nobody observes.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// With a hash of the trace.
    #[must_use]
    pub fn with_hash(mut self, env: &Arc<ProgEnv>) -> Self {
        self.hash = Some(TraceHash::new(Arc::clone(env)));
        self
    }

    /// With a check for uses of what was never written.
    #[must_use]
    pub fn with_uninit(mut self, env: &Arc<ProgEnv>) -> Self {
        self.uninit = Some(Uninit::new(Arc::clone(env)));
        self
    }

    /// With a check for integer divisions by zero.
    #[must_use]
    pub fn with_div0(mut self, env: &Arc<ProgEnv>) -> Self {
        self.div0 = Some(Div0::new(Arc::clone(env)));
        self
    }

    /// With a check for barriers and exchanges without all whom they name.
    #[must_use]
    pub fn with_barriers(mut self, env: &Arc<ProgEnv>) -> Self {
        self.barriers = Some(Barriers::new(Arc::clone(env)));
        self
    }

    /// With a check of the safety property.
    #[must_use]
    pub fn with_safety(mut self, env: &Arc<ProgEnv>) -> Self {
        self.safety = Some(Safety::new(Arc::clone(env)));
        self
    }

    /// With a check of the liveness property. The machine must look for repeated states
    /// ([`Config::liveness`](crate::machine::Config::liveness)).
    #[must_use]
    pub fn with_liveness(mut self) -> Self {
        self.liveness = Some(Liveness::new());
        self
    }

    /// With a collection of the rules that fire.
    #[must_use]
    pub fn with_coverage(mut self, env: &Arc<ProgEnv>) -> Self {
        self.coverage = Some(Coverage::new(Arc::clone(env)));
        self
    }

    /// With a check for data races, which is given since it has options.
    #[must_use]
    pub fn with_races(mut self, races: Races) -> Self {
        self.races = Some(races);
        self
    }

    /// The check for races, when there is no other.
    #[inline]
    const fn only_races(&self) -> Option<&Races> {
        match self {
            Self {
                hash: None,
                uninit: None,
                div0: None,
                barriers: None,
                safety: None,
                liveness: None,
                coverage: None,
                races,
                held: _,
            } => races.as_ref(),
            _ => None,
        }
    }

    /// Why a run stopped that came to `stop`: an undefined value that was held back for the sake of races came first.
    #[must_use]
    pub fn settle(&mut self, stop: Stop) -> Stop {
        self.held.settle(stop, self.races.as_ref())
    }

    /// Whether there is any: otherwise [`Silent`](crate::verdict::Silent) does the same at no cost.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.hash.is_some()
            || self.uninit.is_some()
            || self.div0.is_some()
            || self.barriers.is_some()
            || self.safety.is_some()
            || self.liveness.is_some()
            || self.coverage.is_some()
            || self.races.is_some()
    }
}

impl Sink for Observers {
    const ON: bool = true;

    fn needs(&self) -> Needs {
        self.only_races().map_or(Needs::ALL, Sink::needs)
    }

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        // The one that is told most, and mostly alone.
        if self.only_races().is_some()
            && let Some(races) = &mut self.races
        {
            return races.event(who, event);
        }
        if let Some(hash) = &mut self.hash {
            hash.event(who, event)?;
        }
        if let Some(coverage) = &mut self.coverage {
            coverage.event(who, event)?;
        }
        if let Some(safety) = &mut self.safety {
            safety.event(who, event)?;
            if let Some(coverage) = &mut self.coverage {
                coverage.also(safety.fired());
            }
        }
        if let Some(liveness) = &mut self.liveness {
            liveness.event(who, event)?;
        }
        if let Some(races) = &mut self.races {
            races.event(who, event)?;
        }
        if let Some(barriers) = &mut self.barriers {
            barriers.event(who, event)?;
        }
        if let Some(div0) = &mut self.div0 {
            div0.event(who, event)?;
        }
        let Self { uninit: Some(uninit), races, held, .. } = self else { return Ok(()) };
        let Some(races) = races else { return uninit.event(who, event) };
        let entry = |k: u32| races.program().functions.get_index(k as usize).map_or_else(String::new, |f| f.0.clone());
        held.event(who, &event, entry, races)?;
        // What follows from an undefined value is undefined as well: nothing new.
        if held.any() {
            return Ok(());
        }
        uninit.event(who, event).or_else(|stop| held.hold(who, stop))
    }
}
