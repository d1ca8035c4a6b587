//! The end of an execution as conditions look at it.

use super::compile::Compiled;
use crate::litmus::Final;
use crate::memory::lockstep::Outcome;

/// An end, with the names of what it holds.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    /// What was executed.
    pub compiled: &'a Compiled,
    /// What the machine holds.
    pub end: Outcome,
}

impl Ended<'_> {
    /// What a location begins with: 0 where nothing else is said.
    fn initial(&self, name: &str) -> i64 {
        self.compiled.initial.iter().find(|(n, _)| n == name).map_or(0, |(_, value)| *value)
    }

    /// The value that one of the machine's stands for where it was found.
    fn value(&self, value: u8, at: u8) -> u64 {
        let stored = usize::from(value).checked_sub(1).and_then(|k| self.compiled.values.get(k));
        let begun = || self.compiled.locations.get(usize::from(at)).map_or(0, |name| self.initial(name));
        stored.copied().unwrap_or_else(begun).cast_unsigned()
    }
}

impl Final for Ended<'_> {
    fn register(&self, thread: usize, name: &str) -> Option<u64> {
        let all = self.compiled.written.iter().enumerate();
        // The last one in program order.
        if let Some((k, last)) = all.rev().find(|(_, w)| w.column == thread && w.name == name) {
            return Some(self.value(self.end.register(k as u8), last.from));
        }
        let given = self.compiled.given.iter().find(|(column, n, _)| *column == thread && n == name);
        given.map(|(_, _, value)| value.cast_unsigned())
    }

    fn location(&self, name: &str) -> Option<u64> {
        match self.compiled.locations.iter().position(|n| n == name) {
            Some(at) => Some(self.value(self.end.location(at as u8), at as u8)),
            None => Some(self.initial(name).cast_unsigned()),
        }
    }
}
