//! All observers in one sink.

use super::held::Held;
use super::{Barriers, Bounds, Coverage, Div0, Liveness, Races, Safety, TraceHash, Uninit};
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
    /// Accesses outside of the object that their address was made from.
    pub bounds: Option<Bounds>,
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

    /// With a check for accesses outside of the object that their address was made from.
    #[must_use]
    pub fn with_bounds(mut self, env: &Arc<ProgEnv>) -> Self {
        self.bounds = Some(Bounds::new(Arc::clone(env)));
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

    /// The checks for races and for bounds, when there is no other.
    #[inline]
    const fn frugal(&self) -> bool {
        matches!(
            self,
            Self {
                hash: None,
                uninit: None,
                div0: None,
                barriers: None,
                safety: None,
                liveness: None,
                coverage: None,
                bounds: _,
                races: _,
                held: _,
            }
        )
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
            || self.bounds.is_some()
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
        match (self.frugal(), &self.bounds, &self.races) {
            (true, Some(bounds), None) => bounds.needs(),
            (true, None, Some(races)) => races.needs(),
            (true, Some(bounds), Some(races)) => bounds.needs().and(races.needs()),
            _ => Needs::all(),
        }
    }

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        // The two that are told most, and mostly alone.
        if self.frugal() {
            if let Some(bounds) = &mut self.bounds {
                bounds.event(who, event)?;
            }
            return self.races.as_mut().map_or(Ok(()), |races| races.event(who, event));
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
        if let Some(bounds) = &mut self.bounds {
            bounds.event(who, event)?;
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
