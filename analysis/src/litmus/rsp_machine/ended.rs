//! The end of an execution as conditions look at it.

use super::compile::Compiled;
use crate::explore::promotion::End;
use crate::litmus::Final;
use crate::litmus::rsp::Test;

/// An end, with the names of what it holds.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    /// What was executed.
    pub compiled: &'a Compiled,
    /// What that was made of.
    pub test: &'a Test,
    /// How it ended.
    pub end: &'a End,
}

fn bits(value: i32) -> u64 {
    i64::from(value).cast_unsigned()
}

impl Final for Ended<'_> {
    fn register(&self, thread: usize, name: &str) -> Option<u64> {
        let known = self.compiled.registers.iter().find(|(t, n, _)| *t == thread && n == name);
        known.and_then(|(_, _, register)| self.end.registers.get(usize::from(register.0))).copied().map(bits)
    }

    fn location(&self, name: &str) -> Option<u64> {
        let at = self.test.locations.iter().position(|l| l.name.name == name)?;
        self.end.memory.get(at).copied().map(bits)
    }
}
