//! Hunting: many schedules of one target, one for each seed, on all cores.

use super::{Ending, Limits, Signature, Target, Way};
use crate::check::Observers;
use crate::choice::{Fair, Menu, Oracle, Pick, Site, Strategy};
use crate::machine::Stopwatch;
use crate::verdict::{LimitKind, Stop};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
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
        for finding in later.findings {
            match self.findings.iter_mut().find(|f| f.signature == finding.signature) {
                Some(known) => known.times += finding.times,
                None => self.findings.push(finding),
            }
        }
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

/// What the threads of a hunt share.
struct Shared {
    next: AtomicU64,
    /// The smallest seed with a defect.
    first: AtomicU64,
    /// Whether a thread stopped because the time was up.
    late: AtomicBool,
    /// The smallest seed whose run the bounds of the hunt ended, and which.
    cut: Mutex<Option<(u64, LimitKind)>>,
    done: AtomicU64,
    /// The seeds that reached a limit.
    limited: Mutex<Vec<u64>>,
    defects: AtomicU64,
    findings: Mutex<Vec<Finding>>,
    /// What no seed can help: a gap of ours, or an error.
    ours: Mutex<Option<Stop>>,
}

impl Hunt<'_> {
    /// Hunts. The defect that is reported first is the one of the smallest seed, on any number of threads.
    #[must_use]
    pub fn run(&self) -> Hunted {
        let shared = Shared {
            next: AtomicU64::new(self.seeds.start),
            first: AtomicU64::new(u64::MAX),
            late: AtomicBool::new(false),
            cut: Mutex::new(None),
            done: AtomicU64::new(0),
            limited: Mutex::new(Vec::new()),
            defects: AtomicU64::new(0),
            findings: Mutex::new(Vec::new()),
            ours: Mutex::new(None),
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads() {
                scope.spawn(|| self.work(&shared));
            }
            self.work(&shared);
        });
        let cut = *lock(&shared.cut);
        let end = shared.next.load(Ordering::Relaxed).min(self.seeds.end);
        let end = cut.map_or(end, |(seed, _)| end.min(seed));
        let mut findings = std::mem::take(&mut *lock(&shared.findings));
        findings.sort_by_key(|f| f.seed);
        if !self.keep_going {
            // Larger seeds may have found others meanwhile; how many depends on the number of threads.
            findings.truncate(1);
            findings.iter_mut().for_each(|f| f.times = 1);
        }
        let ours = lock(&shared.ours).take();
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
            None if shared.late.load(Ordering::Relaxed) => Ended::Time,
            None => Ended::Interrupted,
        };
        let end = findings.first().filter(|_| found).map_or(end, |f| f.seed + 1);
        let limited = lock(&shared.limited).iter().filter(|seed| **seed < end).count() as u64;
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
            for old in found {
                let finding = Finding { times, ..old };
                match hunted.findings.iter_mut().find(|f| f.signature == finding.signature) {
                    Some(known) => *known = Finding { times: known.times + times, ..finding },
                    None => hunted.findings.push(finding),
                }
            }
        }
        hunted.findings.sort_by_key(|f| f.seed);
        shown
    }

    /// Runs one seed after the other. A seed that was taken is run to its end, so that those before it are all done.
    fn work(&self, shared: &Shared) {
        loop {
            if self.interrupted.load(Ordering::Relaxed) {
                return;
            }
            if lock(&shared.cut).is_some() {
                return;
            }
            if self.time.is_up() {
                shared.late.store(true, Ordering::Relaxed);
                return;
            }
            let beyond = if self.keep_going { u64::MAX } else { shared.first.load(Ordering::Relaxed) };
            let seed = shared.next.fetch_add(1, Ordering::Relaxed);
            if seed >= self.seeds.end.min(beyond) {
                // Not run: it is not counted among those that were.
                shared.next.fetch_sub(1, Ordering::Relaxed);
                return;
            }
            self.one(seed, shared);
            let done = shared.done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.progress)(done, shared.defects.load(Ordering::Relaxed));
        }
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

    fn one(&self, seed: u64, shared: &Shared) {
        let mut oracle = self.strategy.oracle(seed);
        let mut observers = self.watchers.map_or_else(Observers::none, |make| make());
        let played = self.target.watch(&mut *oracle, self.limits, &mut observers);
        let Some(signature) = Signature::of(&played) else {
            match played.ending {
                Ending::Stopped(stop) if stop.is_ours() || matches!(stop, Stop::Unsupported(..)) => {
                    let mut ours = lock(&shared.ours);
                    if !ours.as_ref().is_some_and(Stop::is_ours) {
                        *ours = Some(stop);
                    }
                    shared.first.fetch_min(seed, Ordering::Relaxed);
                }
                Ending::Stopped(Stop::Limit(limit)) if self.cuts(limit) => {
                    let mut cut = lock(&shared.cut);
                    *cut = cut.filter(|(earlier, _)| *earlier < seed).or(Some((seed, limit)));
                }
                Ending::Stopped(_) => lock(&shared.limited).push(seed),
                _ => {}
            }
            return;
        };
        shared.first.fetch_min(seed, Ordering::Relaxed);
        shared.defects.fetch_add(1, Ordering::Relaxed);
        let mut findings = lock(&shared.findings);
        let known = findings.iter_mut().find(|f| f.signature == signature);
        let new = Finding { seed, times: 1, signature, ending: played.ending };
        match known {
            Some(known) if known.seed < seed => known.times += 1,
            Some(known) => *known = Finding { times: known.times + 1, ..new },
            None => findings.push(new),
        }
    }
}

/// A thread that panics has found a bug of ours, and takes the hunt with it: what it held is as good as it was.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
        struct Count {
            inner: Box<dyn Oracle>,
            steps: u64,
        }
        impl Oracle for Count {
            fn launch(&mut self, number: u32) -> Result<(), Stop> {
                self.inner.launch(number)
            }

            fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
                self.steps += u64::from(matches!(menu.site, Site::Warp | Site::Group));
                self.inner.choose(menu)
            }
        }
        let warp_size = u64::from(target.start().context().config().warp_size.max(1));
        let size = |dims: [u32; 3]| dims.iter().map(|n| u64::from(*n)).product::<u64>();
        let warps = target.launches().iter().map(|l| size(l.grid) * size(l.block).div_ceil(warp_size)).max();
        let depth_one = Strategy::Pct { depth: 1, steps: limits.steps };
        let mut count = Count { inner: depth_one.oracle(0), steps: 0 };
        let Limits { steps, fair_steps } = limits;
        target.run(Way { oracle: &mut count, tell: None, steps, fair_steps });
        Self { warps: warps.unwrap_or(1), steps: count.steps.max(1) }
    }
}

impl Target {
    /// Runs all launches by the default schedule, for at most `most` warp instructions, and then looks for a state that
    /// repeats.
    #[must_use]
    pub fn play_fair(&self, limits: Limits) -> super::Played {
        let Limits { steps, fair_steps } = limits;
        self.run(Way { oracle: &mut Fair, tell: None, steps, fair_steps })
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
