//! Litmus programs in the hands of a search.

use super::Lowered;
use super::outcome::{Final, Outcome, Outcomes};
use super::tree::Litmus;
use crate::check::RacesOptions;
use crate::explore::checkpoint::{CheckpointError, Kept, Owner, search_on};
use crate::explore::setup_hash;
use crate::explore::space::{Options, Space, explore};
use crate::explore::watched::walk;
use crate::machine::walk::{Grain, State, Walk};
use crate::machine::{Config, Context};
use crate::program::ops::Class;
use crate::verdict::Stop;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// A test on the machine, at its start.
pub struct Board<'a> {
    lowered: &'a Lowered,
    /// Where the locations are.
    context: Context,
    grain: Grain,
    walk: Box<dyn Walk>,
}

/// A final state of a test.
struct Ended<'a> {
    lowered: &'a Lowered,
    context: &'a Context,
    walk: &'a dyn State,
}

impl Final for Ended<'_> {
    fn register(&self, thread: usize, name: &str) -> Option<u64> {
        let spot = self.lowered.threads.get(thread)?;
        let entry = self.lowered.env.functions.get(&self.lowered.launch.entry)?;
        let wanted = self.lowered.register(name);
        let (_, _, slot) = entry.registers.iter().find(|(n, class, _)| *n == wanted && *class == Class::Q)?;
        self.walk.register(spot.block, spot.thread, Class::Q, slot)
    }

    fn location(&self, name: &str) -> Option<u64> {
        let (address, _) = self.context.symbol(self.lowered.variable(name)?)?;
        let bytes = self.walk.bytes(address, 8)?;
        Some(u64::from_le_bytes(*bytes.first_chunk()?))
    }
}

impl<'a> Board<'a> {
    /// Puts a test on the machine; `config` says how it runs.
    ///
    /// # Errors
    /// A stop before anybody has a choice.
    pub fn new(lowered: &'a Lowered, config: Config, grain: Grain) -> Result<Self, Stop> {
        Self::watched(lowered, config, grain, None)
    }

    /// The same, where races are looked for.
    ///
    /// # Errors
    /// As of [`Board::new`].
    pub fn watched(
        lowered: &'a Lowered,
        config: Config,
        grain: Grain,
        races: Option<RacesOptions>,
    ) -> Result<Self, Stop> {
        let config = Config { keep_finished: true, ..lowered.config(config) };
        let context = Context::new(Arc::clone(&lowered.env), config)?;
        let walk = walk(&context, std::slice::from_ref(&lowered.launch), grain, races)?;
        Ok(Self { lowered, context, grain, walk })
    }

    /// Calls a search with the walk, at its start, and what says which outcome a run that came to its end has.
    pub fn searched<T>(
        &mut self,
        litmus: &Litmus,
        search: impl FnOnce(&mut dyn Walk, &mut dyn FnMut(&dyn State) -> Outcome) -> T,
    ) -> T {
        let Self { lowered, context, walk, .. } = self;
        let outcomes = Outcomes::new(litmus);
        let mut outcome = |walk: &dyn State| outcomes.observed().outcome(&Ended { lowered, context, walk });
        search(&mut **walk, &mut outcome)
    }

    /// Explores it.
    pub fn explore(&mut self, litmus: &Litmus, options: &mut Options<'_>) -> Space<Outcome> {
        self.searched(litmus, |walk, outcome| explore(walk, options, outcome))
    }

    /// The same, of a search that is kept: it goes on from what `kept` holds, if anything, and keeps there what it does.
    ///
    /// # Errors
    /// `kept` is of another search.
    pub fn explore_on(
        &mut self,
        litmus: &Litmus,
        options: &mut Options<'_>,
        kept: &mut Kept<'_>,
    ) -> Result<Space<Outcome>, CheckpointError> {
        let grain = self.grain;
        self.searched(litmus, |walk, outcome| search_on(walk, grain, options, outcome, kept))
    }

    /// What a checkpoint of a search of it belongs to; `text` is the test's.
    #[must_use]
    pub fn owner(&self, text: &str) -> Owner {
        let launches = std::slice::from_ref(&self.lowered.launch);
        Owner { program: xxh3_64(text.as_bytes()), setup: setup_hash(launches, &self.context) }
    }
}
