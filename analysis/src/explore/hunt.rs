//! Hunting: many schedules of one target, one for each seed, on all cores.

use super::{Ending, Limits, Played, Signature, Target, Way};
use crate::base::sort;
use crate::check::Observers;
use crate::choice::{Fair, Menu, Observed, Site, Strategy};
use crate::machine::Stopwatch;
use crate::verdict::{LimitKind, Stop};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Makes the observers of a run.
pub type Watchers<'a> = &'a (dyn Fn() -> Observers + Sync);

/// What to hunt for.
pub struct Hunt<'a> {
    /// What is run.
    pub target: &'a Target,
    /// The schedules.
    pub strategy: Strategy,
    /// The seeds.
    pub seeds: Range<u64>,
    /// Limits of each run.
    pub limits: Limits,
    /// The observers of each run; none is faster.
    pub watchers: Option<Watchers<'a>>,
    /// Whether it goes on after a defect, to find others.
    pub keep_going: bool,
    /// Threads of this computer.
    pub jobs: usize,
    /// The time that it may take.
    pub time: Stopwatch,
    /// Set by somebody else when it should stop.
    pub interrupted: &'a AtomicBool,
    /// Told after each run: how many are done, and how many of those showed a defect.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
}

/// A defect that was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The smallest seed that shows it.
    pub seed: u64,
    /// How many seeds showed it.
    pub times: u64,
    /// What tells it from others.
    pub signature: Signature,
    /// How the run of that seed ended.
    pub ending: Ending,
}

/// Why a hunt ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Ended {
    /// All seeds were run, or the first defect was found.
    Done,
    /// The time was up.
    Time,
    /// It was asked to stop.
    Interrupted,
    /// There is no more memory.
    Memory(LimitKind),
    /// The program needs what warpstep cannot do.
    Unsupported(Stop),
    /// A run showed an error of warpstep: what else the hunt found is not to be trusted.
    Internal(Stop),
}

/// What a hunt came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Hunted {
    /// Why it ended.
    pub ended: Ended,
    /// The seeds from the first on of which all were run.
    pub done: Range<u64>,
    /// How many of them reached a limit: nothing is known of those.
    pub limited: u64,
    /// The distinct defects, by their smallest seeds.
    pub findings: Vec<Finding>,
}

impl Hunted {
    /// What a checkpoint keeps; `options` must be the same when the hunt goes on.
    #[must_use]
    pub fn state(&self, options: String) -> HuntState {
        let found = self.findings.iter().map(|f| (f.seed, f.times)).collect();
        HuntState { options, from: self.done.start, next: self.done.end, limited: self.limited, found }
    }

    /// What this part of a hunt and the next one come to.
    #[must_use]
    pub fn and(mut self, later: Self) -> Self {
        later.findings.into_iter().for_each(|finding| add(&mut self.findings, finding));
        Self {
            ended: later.ended,
            done: self.done.start..later.done.end,
            limited: self.limited + later.limited,
            ..self
        }
    }
}

impl HuntState {
    /// Whether its numbers can be those of a hunt from `first` on.
    #[must_use]
    pub fn is_sound(&self, first: u64) -> bool {
        let Some(done) = self.next.checked_sub(self.from) else { return false };
        let times = self.found.iter().try_fold(0u64, |sum, (_, times)| sum.checked_add(*times));
        let in_order = self.found.is_sorted_by(|a, b| a.0 < b.0);
        let within = self.found.iter().all(|(seed, times)| (self.from..self.next).contains(seed) && *times > 0);
        self.from == first && self.limited <= done && times.is_some_and(|n| n <= done) && in_order && within
    }
}

/// Adds what was found to what is known.
fn add(known: &mut Vec<Finding>, new: Finding) {
    match known.iter_mut().find(|f| f.signature == new.signature) {
        Some(known) if known.seed < new.seed => known.times += new.times,
        Some(known) => *known = Finding { times: known.times + new.times, ..new },
        None => known.push(new),
    }
}

/// What the threads of a hunt share.
#[derive(Default)]
struct Shared {
    next: u64,
    /// The smallest seed with a defect.
    first: Option<u64>,
    /// Whether a thread stopped because the time was up.
    late: bool,
    /// The smallest seed whose run the bounds of the hunt ended, and which.
    cut: Option<(u64, LimitKind)>,
    done: u64,
    /// The seeds that reached a limit.
    limited: Vec<u64>,
    defects: u64,
    findings: Vec<Finding>,
    /// What no seed can help: a gap of ours, or an error.
    ours: Option<Stop>,
}

impl Hunt<'_> {
    /// Hunts. The defect that is reported first is the one of the smallest seed, on any number of threads.
    #[must_use]
    pub fn run(&self) -> Hunted {
        let shared = Mutex::new(Shared { next: self.seeds.start, ..Shared::default() });
        std::thread::scope(|scope| {
            for _ in 1..self.threads() {
                scope.spawn(|| self.work(&shared));
            }
            self.work(&shared);
        });
        let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Shared { next, late, cut, limited, mut findings, ours, .. } = shared;
        let end = next.min(self.seeds.end);
        let end = cut.map_or(end, |(seed, _)| end.min(seed));
        sort::sort_by_key(&mut findings, |f| f.seed);
        if !self.keep_going {
            // Larger seeds may have found others meanwhile; how many depends on the number of threads.
            findings.truncate(1);
            findings.iter_mut().for_each(|f| f.times = 1);
        }
        let found = !self.keep_going && !findings.is_empty();
        let ended = match ours {
            Some(stop) if stop.is_ours() => Ended::Internal(stop),
            Some(stop) => Ended::Unsupported(stop),
            None if found || end >= self.seeds.end => Ended::Done,
            None if let Some((_, limit)) = cut => match limit {
                LimitKind::Time(_) => Ended::Time,
                LimitKind::Interrupted => Ended::Interrupted,
                memory => Ended::Memory(memory),
            },
            None if late => Ended::Time,
            None => Ended::Interrupted,
        };
        let end = findings.first().filter(|_| found).map_or(end, |f| f.seed + 1);
        let limited = limited.iter().filter(|seed| **seed < end).count() as u64;
        Hunted { ended, done: self.seeds.start..end, limited, findings }
    }

    /// Hunts in parts of some time, and tells `keep` after each what all of them come to.
    pub fn run_in_parts(&self, every: Duration, keep: &mut dyn FnMut(&Hunted)) -> Hunted {
        let start = self.seeds.start;
        let mut all = Hunted { ended: Ended::Done, done: start..start, limited: 0, findings: Vec::new() };
        loop {
            let (done, seen) = (all.done.end - start, all.findings.iter().map(|f| f.times).sum::<u64>());
            let progress = |more, defects| (self.progress)(done + more, seen + defects);
            let time = self.time.or(Stopwatch::start(Some(every)));
            let part = Hunt { seeds: all.done.end..self.seeds.end, time, progress: &progress, ..*self };
            all = all.and(part.run());
            keep(&all);
            if all.ended != Ended::Time || self.time.is_up() {
                return all;
            }
        }
    }

    /// Adds what an earlier part of the hunt found: the smallest seed of each defect is run again to know it, and how many
    /// showed it. Tells whether each still shows one.
    pub fn recall(&self, earlier: &[(u64, u64)], hunted: &mut Hunted) -> bool {
        let mut shown = true;
        for &(seed, times) in earlier {
            let again =
                Hunt { seeds: seed..seed + 1, jobs: 1, time: Stopwatch::start(None), progress: &|_, _| (), ..*self };
            let found = again.run().findings;
            shown &= !found.is_empty() || self.interrupted.load(Ordering::Relaxed);
            found.into_iter().for_each(|old| add(&mut hunted.findings, Finding { times, ..old }));
        }
        sort::sort_by_key(&mut hunted.findings, |f| f.seed);
        shown
    }

    /// Runs one seed after the other. A seed that was taken is run to its end, so that those before it are all done.
    fn work(&self, shared: &Mutex<Shared>) {
        // A thread that panics has found a bug of ours, and takes the hunt with it: what it held is as good as it was.
        let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
        // Not in the condition: what is locked there stays so throughout the loop's body.
        let next = || self.next(&mut lock());
        while let Some(seed) = next() {
            let mut oracle = self.strategy.oracle(seed);
            let mut observers = self.watchers.map_or_else(Observers::none, |make| make());
            let played = self.target.watch(&mut *oracle, self.limits, &mut observers);
            // A copy of the device goes when nothing is locked any more.
            let (signature, ending) = (Signature::of(&played), played.ending);
            let (done, defects) = self.note(seed, signature, ending, &mut lock());
            (self.progress)(done, defects);
        }
    }

    /// The seed that a thread runs next, if any.
    fn next(&self, shared: &mut Shared) -> Option<u64> {
        if self.interrupted.load(Ordering::Relaxed) || shared.cut.is_some() {
            return None;
        }
        shared.late |= self.time.is_up();
        let end = shared.first.filter(|_| !self.keep_going).map_or(self.seeds.end, |first| first.min(self.seeds.end));
        if shared.late || shared.next >= end {
            return None;
        }
        shared.next += 1;
        Some(shared.next - 1)
    }

    /// How many runs go on at a time: each has a copy of the device, and all share the memory.
    fn threads(&self) -> usize {
        let copy = self.target.start().bytes().max(1);
        let room = self.target.bounds().spare().map_or(u64::MAX, |spare| spare / copy);
        self.jobs.min(usize::try_from(room).unwrap_or(usize::MAX)).max(1)
    }

    /// Whether a limit is the hunt's, and not one of the run that reached it.
    fn cuts(&self, limit: LimitKind) -> bool {
        let bounds = self.target.bounds();
        matches!(limit, LimitKind::Taken { .. } | LimitKind::Host { .. }) || bounds.up() == Some(limit)
    }

    /// Takes note of what the run of a seed came to. Gives how many are done by now, and how many of them showed a defect.
    fn note(&self, seed: u64, signature: Option<Signature>, ending: Ending, shared: &mut Shared) -> (u64, u64) {
        let first = Some(shared.first.map_or(seed, |first| first.min(seed)));
        match (signature, ending) {
            (Some(signature), ending) => {
                (shared.first, shared.defects) = (first, shared.defects + 1);
                add(&mut shared.findings, Finding { seed, times: 1, signature, ending });
            }
            (None, Ending::Stopped(stop)) if stop.is_ours() || matches!(stop, Stop::Unsupported(..)) => {
                shared.first = first;
                if !shared.ours.as_ref().is_some_and(Stop::is_ours) {
                    shared.ours = Some(stop);
                }
            }
            (None, Ending::Stopped(Stop::Limit(limit))) if self.cuts(limit) => {
                shared.cut = shared.cut.filter(|(earlier, _)| *earlier < seed).or(Some((seed, limit)));
            }
            (None, Ending::Stopped(_)) => shared.limited.push(seed),
            (None, _) => {}
        }
        shared.done += 1;
        (shared.done, shared.defects)
    }
}

/// How many parties and decisions a target's runs have, for the bound of [`Pct`](crate::choice::Pct).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measure {
    /// Warps of the largest launch.
    pub warps: u64,
    /// Decisions about warps and groups of lanes, of all launches.
    pub steps: u64,
}

impl Measure {
    /// Measures a target by one run with a decision at each instruction.
    #[must_use]
    pub fn of(target: &Target, limits: Limits) -> Self {
        let warp_size = u64::from(target.start().context().config().warp_size.max(1));
        let size = |dims: [u32; 3]| dims.iter().map(|n| u64::from(*n)).product::<u64>();
        let warps = target.launches().iter().map(|l| size(l.grid) * size(l.block).div_ceil(warp_size)).max();
        let depth_one = Strategy::Pct { depth: 1, steps: limits.steps };
        let mut steps = 0;
        let count = |menu: &Menu<'_>, _| steps += u64::from(matches!(menu.site, Site::Warp | Site::Group));
        let mut oracle = depth_one.oracle(0);
        target.run(Way { oracle: &mut Observed::new(&mut *oracle, count), tell: None, limits });
        Self { warps: warps.unwrap_or(1), steps: steps.max(1) }
    }
}

impl Target {
    /// Runs all launches by the default schedule, for at most `most` warp instructions, and then looks for a state that
    /// repeats.
    #[must_use]
    pub fn play_fair(&self, limits: Limits) -> Played {
        self.run(Way { oracle: &mut Fair, tell: None, limits })
    }
}

/// What a hunt has done, for a checkpoint: the seeds that were run, those of them that reached a limit, and the smallest
/// seed of each defect with how many showed it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct HuntState {
    /// Strategy, limits and checks as words: a hunt goes on only with the same.
    pub options: String,
    /// The first seed.
    pub from: u64,
    /// The seed to go on with.
    pub next: u64,
    /// How many seeds reached a limit.
    pub limited: u64,
    /// Smallest seeds of distinct defects, and how many showed each.
    pub found: Vec<(u64, u64)>,
}
