//! Litmus programs in the hands of a search.

use super::Lowered;
use super::condition::Final;
use super::outcome::{Outcome, Outcomes};
use super::tree::Litmus;
use crate::base::Pc;
use crate::explore::space::{Options, Space, explore};
use crate::machine::walk::{Grain, State, Walk};
use crate::machine::{Config, Context};
use crate::program::ops::Class;
use crate::verdict::Stop;
use std::sync::Arc;

/// A test on the machine, at its start.
pub struct Board<'a> {
    lowered: &'a Lowered,
    /// Where the locations are.
    context: Context,
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
        let config = Config { keep_finished: true, ..lowered.config(config) };
        let context = Context::new(Arc::clone(&lowered.env), config)?;
        let walk = context.walk(std::slice::from_ref(&lowered.launch), grain)?;
        Ok(Self { lowered, context, walk })
    }

    /// Explores it.
    pub fn explore(&mut self, litmus: &Litmus, options: &mut Options<'_>) -> Space<Outcome> {
        let Self { lowered, context, walk } = self;
        let outcomes = Outcomes::new(litmus);
        explore(&mut **walk, &lowered.env, options, &mut |walk| {
            outcomes.observed().outcome(&Ended { lowered, context, walk })
        })
    }

    /// The walk, at the start.
    pub fn walk(&mut self) -> &mut dyn Walk {
        &mut *self.walk
    }

    /// The address of an instruction of the program, for a report.
    #[must_use]
    pub fn spot(&self, pc: Pc) -> Option<crate::base::Span> {
        self.lowered.env.origin.get(pc.0 as usize).map(|o| o.span)
    }
}
