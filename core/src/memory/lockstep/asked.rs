//! What agents ask of the pool, as an observer of steps sees it: states do not know it, so that counting makes none of its own.

use super::program::{Program, Request};
use super::step::Step;
use super::system::System;

/// What an agent asked of the pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Asked {
    /// Requests that were sent, those that were sent again after a refusal, too.
    pub requests: u64,
    /// Accesses that needed a mutex which was held or asked for already, so that no request was sent.
    pub hits: u64,
    /// Requests that were refused: wavefronts'.
    pub refusals: u64,
    /// Requests that had to wait in the pool: CPU threads'.
    pub waits: u64,
}

impl Asked {
    /// Adds what was asked later.
    pub const fn add(&mut self, later: Self) {
        self.requests += later.requests;
        self.hits += later.hits;
        self.refusals += later.refusals;
        self.waits += later.waits;
    }

    /// Of so many accesses that needed a mutex, for some of which a request was sent.
    fn needed(accesses: usize, sent: u32) -> Self {
        let (accesses, requests) = (accesses as u64, u64::from(sent));
        Self { requests, hits: accesses.saturating_sub(requests), ..Self::default() }
    }
}

impl System {
    /// What its agent asked of the pool, or was answered, in a step that leads from here to `after`.
    #[must_use]
    pub fn asked(&self, program: &Program, step: Step, after: &Self) -> Asked {
        if !program.has(step) {
            return Asked::default();
        }
        match step {
            Step::Service(w) => {
                let w = usize::from(w);
                let (before, wave) = (&self.waves[w], &after.waves[w]);
                let under = before.gmm.pending_store() != 0;
                let needs = |r: &&Request| r.instruction == before.next && (r.stores() || under);
                let needed = program.waves[w].requests.iter().filter(needs).count();
                Asked::needed(needed, (wave.want & !before.want).count_ones())
            }
            Step::AskAgain(..) => Asked { requests: 1, ..Asked::default() },
            Step::Answer(_, entry) => Asked { refusals: u64::from(!self.is_free(entry)), ..Asked::default() },
            Step::CpuAnswer(_, entry) => Asked { waits: u64::from(!self.is_free(entry)), ..Asked::default() },
            Step::CpuAsk(c) | Step::CpuCommit(c) => {
                let c = usize::from(c);
                let (before, cpu) = (&self.cpus[c], &after.cpus[c]);
                let stores = program.cpus[c].requests.get(usize::from(before.next)).is_some_and(Request::stores);
                // A store that comes under no other asks when it commits.
                let enters = matches!(step, Step::CpuAsk(_)) || stores && !before.asked;
                Asked::needed(usize::from(enters), (cpu.sent & !before.sent).count_ones())
            }
            Step::Load(..) | Step::Retire(..) | Step::CpuRetire(_) => Asked::default(),
        }
    }
}
