//! What one program can come to under one model, in terms that mean the same under all of them.
//!
//! Addresses of instructions depend on the control model (CRS injection adds some), numbers of states on everything. What
//! is compared is what a user sees: contents of buffers and variables, what was printed, kinds of defects and their places
//! in the source, classes of runs that never end.

use super::proof::{Proof, Prove, Proved, Shown};
use super::record::Recorded;
use super::space::Options;
use super::target::{Ending, Target};
use super::{Limits, Measure};
use crate::base::{Span, sort};
use crate::check::Observers;
use crate::choice::Strategy;
use crate::launch::Scalar;
use crate::program::env::ProgEnv;
use crate::verdict::{Kind, LimitKind, Stop, StuckKind};

/// Instructions after which a run by a seed is taken to spin, where ten times those of an ordinary run are fewer.
const SPINS: u64 = 100_000;

/// Ends of one kind, as expected or not, that are kept: each is a copy of all buffers.
const ENDS: usize = 32;

/// A buffer or variable at the end of a run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Content {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub ty: Scalar,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What a run can come to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Fate {
    /// All launches end.
    Ends {
        /// Whether the launch file's expectations are met.
        expected: bool,
        /// All buffers, then all variables.
        contents: Vec<Content>,
        /// What the device printed.
        output: Vec<u8>,
    },
    /// The run stops at a defect of this kind at these places of the source; or never ends, and reads there what it waits for.
    Stops(Kind, Vec<Span>),
}

impl Fate {
    /// Whether a run that ends does so as expected. `None`: it does not end.
    #[must_use]
    pub const fn is_expected(&self) -> Option<bool> {
        match self {
            Self::Ends { expected, .. } => Some(*expected),
            Self::Stops(..) => None,
        }
    }
}

/// A fate, and a run that meets it.
pub struct Seen {
    /// The fate.
    pub fate: Fate,
    /// The run.
    pub recorded: Recorded,
}

/// All that is known of what a target can come to.
pub struct Fates {
    /// What was seen, each once.
    pub seen: Vec<Seen>,
    /// What kept the search from going through all states. `None`: what was not seen cannot happen.
    pub limit: Option<LimitKind>,
    /// States of the search.
    pub states: u64,
    /// Runs by seeds, when the search met a limit.
    pub runs: u64,
    /// Ends that were not kept, since there are too many others.
    pub more: u64,
}

impl Fates {
    fn add(&mut self, fate: Option<Fate>, recorded: Recorded) {
        let Some(fate) = fate.filter(|fate| self.seen.iter().all(|s| s.fate != *fate)) else { return };
        let like = |s: &&Seen| s.fate.is_expected().is_some() && s.fate.is_expected() == fate.is_expected();
        if self.seen.iter().filter(like).count() < ENDS {
            self.seen.push(Seen { fate, recorded });
        } else {
            self.more += 1;
        }
    }
}

impl Target {
    /// What the target can come to: all of it where the search goes through all states within the bounds of `options`;
    /// otherwise what it finds within them, and what `seeds` random schedules find as long as there is `more` time.
    ///
    /// # Errors
    /// As [`Target::prove`].
    pub fn fates(
        &self,
        how: Prove,
        options: &mut Options<'_>,
        seeds: u64,
        more: &mut dyn FnMut() -> bool,
        observers: &dyn Fn() -> Observers,
    ) -> Result<Fates, Stop> {
        let mut fates = match self.prove(how, options, observers) {
            Ok(proof) => self.proved(proof),
            // Seeds go where no search can.
            Err(Stop::Limit(limit @ LimitKind::Parts { .. })) => {
                Fates { seen: Vec::new(), limit: Some(limit), states: 0, runs: 0, more: 0 }
            }
            Err(stop) => return Err(stop),
        };
        if fates.limit.is_some() {
            let long = |steps: u64| Limits { steps, fair_steps: steps };
            let limits = long(Measure::of(self, long(SPINS)).steps.saturating_mul(10).max(SPINS));
            for seed in (0..seeds).take_while(|_| more()) {
                let recorded = self.record(Strategy::Random.oracle(seed), limits, observers());
                if let Ending::Stopped(stop) = &recorded.played.ending
                    && stop.is_ours()
                {
                    return Err(stop.clone());
                }
                fates.add(self.fate(&recorded), recorded);
                fates.runs += 1;
            }
        }
        Ok(fates)
    }

    /// What a search found.
    fn proved(&self, proof: Proof) -> Fates {
        let limit = match proof.proved {
            Proved::Limit(limit) => proof.limit.or(Some(limit)),
            _ => proof.limit,
        };
        let mut fates = Fates { seen: Vec::new(), limit, states: proof.counts.states, runs: 0, more: 0 };
        for Shown { recorded, .. } in proof.outcomes.into_iter().chain(proof.defects) {
            fates.add(self.fate(&recorded), recorded);
        }
        for endless in proof.endless {
            fates.add(Some(stops(&endless.stop, &self.program())), endless.shown.recorded);
        }
        fates
    }

    /// What a run came to. `None`: it met a limit.
    fn fate(&self, recorded: &Recorded) -> Option<Fate> {
        let played = &recorded.played;
        match &played.ending {
            Ending::Stopped(stop) if stop.kind().is_defect() => Some(stops(stop, &self.program())),
            Ending::Stopped(_) => None,
            ending => {
                let content = |name: &str| {
                    let (ty, bytes) = played.device.contents(name)?;
                    Some(Content { name: name.to_owned(), ty, bytes: bytes.to_vec() })
                };
                let expected = *ending == Ending::Expected;
                let contents = played.device.names().filter_map(content).collect();
                Some(Fate::Ends { expected, contents, output: played.output.clone() })
            }
        }
    }
}

fn stops(stop: &Stop, env: &ProgEnv) -> Fate {
    let span = |place: &crate::verdict::Place| env.place(place.pc).map(|(_, span)| span);
    let places = match stop {
        Stop::Stuck(stuck) if let StuckKind::Endless { hang, .. } = &**stuck => {
            let readers = hang.reads.iter().flat_map(|read| &read.readers);
            if hang.reads.is_empty() { hang.spinners.iter().map(|s| &s.place).collect() } else { readers.collect() }
        }
        _ => stop.places(),
    };
    let mut spans: Vec<Span> = places.into_iter().filter_map(span).collect();
    sort::sort_by_key(&mut spans, |s| (s.start, s.end));
    spans.dedup();
    Fate::Stops(stop.kind(), spans)
}
