//! Observers of several programs' launches: each launch has its own.

use super::{Bounds, Observers};
use crate::base::sorted::SortedMap;
use crate::program::env::ProgEnv;
use crate::verdict::{Event, Sink, Stop, Who};
use std::sync::Arc;

/// Observers of launches that may run at the same time and belong to several programs. Which bytes of device memory were
/// written is common to all; nothing else that one launch tells is carried over to the next.
pub struct PerLaunch<'a> {
    programs: Vec<Arc<ProgEnv>>,
    make: &'a dyn Fn(&Arc<ProgEnv>) -> Observers,
    launches: SortedMap<u32, Observers>,
}

impl<'a> PerLaunch<'a> {
    /// Observers that `make` makes for each launch of one of `programs`, which are numbered as the host numbers them.
    #[must_use]
    pub fn new(programs: Vec<Arc<ProgEnv>>, make: &'a dyn Fn(&Arc<ProgEnv>) -> Observers) -> Self {
        Self { programs, make, launches: SortedMap::new() }
    }

    /// Why a run stopped that came to `stop`: what some observer held back came first.
    #[must_use]
    pub fn settle(&mut self, stop: Stop) -> Stop {
        self.launches.values_mut().fold(stop, |stop, observers| observers.settle(stop))
    }

    /// The observers of each launch, in the order of their starts.
    #[must_use]
    pub const fn launches(&self) -> &SortedMap<u32, Observers> {
        &self.launches
    }
}

impl Sink for PerLaunch<'_> {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        if let Event::Launch { program, .. } = event
            && let Some(env) = self.programs.get(program as usize)
        {
            let mut new = (self.make)(env);
            let other = self.launches.values().find_map(Observers::uninit);
            if let (Some(uninit), Some(other)) = (new.uninit_mut(), other) {
                uninit.share(other);
            }
            let other = self.launches.values().find_map(Observers::get);
            if let (Some(bounds), Some(other)) = (new.get_mut::<Bounds>(), other) {
                bounds.share(other);
            }
            self.launches.insert(who.launch, new);
        }
        if let Event::Remembered | Event::Repeated = event {
            // The whole device's state is everybody's.
            return self.launches.values_mut().try_for_each(|observers| observers.event(who, event));
        }
        self.launches.get_mut(&who.launch).map_or(Ok(()), |observers| observers.event(who, event))
    }
}
