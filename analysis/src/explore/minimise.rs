//! Makes a schedule that shows a defect as short as it gets, by trial: delta debugging (Zeller and Hildebrandt, 2002) over
//! its decisions.
//!
//! A decision that is left out is taken as the fair oracle takes it, so that what remains are the points at which a run must
//! differ from the default schedule. Each trial is run, and kept when the defect is the same and less remains; what remains
//! is what the run did, not what was proposed.

use super::{Limits, Played, Signature, Target};
use crate::base::sort;
use crate::check::Observers;
use crate::choice::{Alternative, Decision, Fair, Guided, Menu, Oracle, Part, Schedule};
use crate::machine::Stopwatch;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// What to minimise.
pub struct Minimise<'a> {
    /// What is run.
    pub target: &'a Target,
    /// The observers of each run; none is faster.
    pub watchers: Option<super::Watchers<'a>>,
    /// Limits of each run.
    pub limits: Limits,
    /// The time that it may take.
    pub time: Stopwatch,
    /// Set by somebody else when it should stop.
    pub interrupted: &'a AtomicBool,
    /// Told after each trial: how many there were, and how many decisions are left.
    pub progress: &'a dyn Fn(u64, usize),
}

/// What is left of a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Minimised {
    /// The schedule.
    pub schedule: Schedule,
    /// Whether nothing more can go: without any one of its decisions, or with one held as long as by default, the defect
    /// does not show. Otherwise the time was up.
    pub complete: bool,
    /// Runs that were tried.
    pub trials: u64,
}

/// A plan that shows the defect, and its trials.
struct Search<'a> {
    job: &'a Minimise<'a>,
    wanted: Signature,
    best: Schedule,
    trials: u64,
    /// What was taken anywhere in the schedule, at each site: other alternatives to try.
    alternatives: Vec<Alternative>,
}

/// How many alternatives are tried in place of one.
const ALTERNATIVES: usize = 64;

/// Decisions, those held other than by default, and for how long in all: what is made smaller.
type Weight = (usize, usize, u64);

impl Minimise<'_> {
    /// Minimises a schedule. `None`: it shows no defect.
    #[must_use]
    pub fn run(&self, schedule: &Schedule) -> Option<Minimised> {
        let (played, did) = self.play(schedule);
        let mut alternatives: Vec<_> = schedule.launches.iter().flatten().filter_map(taken).map(|d| d.what).collect();
        sort::sort(&mut alternatives);
        alternatives.dedup();
        // Of thousands of warps some must do.
        alternatives.truncate(ALTERNATIVES);
        let wanted = Signature::of(&played)?;
        let mut search = Search { job: self, wanted, best: did, trials: 1, alternatives };
        let complete = search.all().is_some();
        let Search { best, trials, .. } = search;
        Some(Minimised { schedule: best, complete, trials })
    }

    /// Follows a plan; gives what was done.
    fn play(&self, plan: &Schedule) -> (Played, Schedule) {
        let mut oracle = Guided::new(plan.clone());
        let limits = Limits { steps: plan.fair_from.unwrap_or(self.limits.steps), ..self.limits };
        let mut observers = self.watchers.map_or_else(Observers::none, |make| make());
        let played = self.target.watch(&mut oracle, limits, &mut observers);
        let did = Schedule { fair_from: played.fair_from, ..oracle.did() };
        (played, did)
    }
}

impl Search<'_> {
    /// Tries everything. `None`: the time is up.
    fn all(&mut self) -> Option<()> {
        self.earlier()?;
        self.prefix()?;
        self.merge()?;
        let mut chunk = self.best.taken().div_ceil(2);
        while chunk > 1 {
            self.sweep(chunk)?;
            self.gather(2 * chunk)?;
            chunk = chunk.div_ceil(2);
        }
        loop {
            let before = weight(&self.best);
            self.sweep(1)?;
            self.merge()?;
            let mut chunk = self.best.taken();
            while chunk > 2 {
                self.gather(chunk)?;
                chunk = chunk.div_ceil(2);
            }
            self.hold()?;
            self.others()?;
            self.shorten()?;
            if weight(&self.best) == before {
                break;
            }
        }
        self.earlier()
    }

    /// Tries a plan; keeps what it did when the defect is the same and `better` says so. `None`: the time is up.
    fn attempt(&mut self, plan: &Schedule, better: impl Fn(&Schedule, &Schedule) -> bool) -> Option<bool> {
        if self.job.interrupted.load(Ordering::Relaxed) || self.job.time.is_up() {
            return None;
        }
        let (played, did) = self.job.play(plan);
        self.trials += 1;
        let kept = Signature::of(&played).as_ref() == Some(&self.wanted) && better(&did, &self.best);
        if kept {
            self.best = did;
        }
        (self.job.progress)(self.trials, self.best.taken());
        Some(kept)
    }

    fn lighter(&mut self, plan: &Schedule) -> Option<bool> {
        self.attempt(plan, |did, best| weight(did) < weight(best))
    }

    /// The fair schedule takes over as early as it may, where it has to for a proof that the run never ends.
    fn earlier(&mut self) -> Option<()> {
        let Some(mut high) = self.best.fair_from else { return Some(()) };
        let mut low = 0;
        while low < high {
            let middle = low + (high - low) / 2;
            let plan = Schedule { fair_from: Some(middle), ..self.best.clone() };
            // Turns are whole: several counts are one point.
            let no_later = |did: &Schedule, best: &Schedule| did.fair_from <= best.fair_from;
            if self.attempt(&plan, no_later)? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(())
    }

    /// Leaves everything to the default schedule from some decision on, as early as bisection finds.
    fn prefix(&mut self) -> Option<()> {
        let (mut low, mut high) = (0, self.best.taken());
        while low < high {
            let middle = low + (high - low) / 2;
            let plan = edited(&self.best, |k, d| Some(if k < middle { Part::Take(d) } else { Part::Fair(1) }));
            if self.lighter(&plan)? {
                high = middle.min(self.best.taken());
            } else {
                low = middle + 1;
            }
        }
        Some(())
    }

    /// Decisions for the same alternative in a row become one that is held longer.
    fn merge(&mut self) -> Option<()> {
        let all = merged(&self.best, |_| true);
        if self.lighter(&all)? {
            return Some(());
        }
        let mut k = 0;
        while k + 1 < self.best.taken() {
            let plan = merged(&self.best, |at| at == k);
            if plan == self.best || !self.lighter(&plan)? {
                k += 1;
            }
        }
        Some(())
    }

    /// Of `chunk` decisions at a time, those for the same alternative become one, where the first of them was or the last:
    /// warps that took turns run one after the other.
    fn gather(&mut self, chunk: usize) -> Option<()> {
        let mut at = 0;
        while at + 1 < self.best.taken() {
            let mut gone = false;
            for last in [false, true] {
                let plan = gathered(&self.best, at..at + chunk, last);
                gone = gone || plan != self.best && self.lighter(&plan)?;
            }
            if !gone {
                at += chunk.div_ceil(2);
            }
        }
        Some(())
    }

    /// Takes `chunk` decisions at a time out, or leaves them to the default schedule.
    fn sweep(&mut self, chunk: usize) -> Option<()> {
        let mut at = 0;
        while at < self.best.taken() {
            let inside = |k: usize| k >= at && k < at + chunk;
            let gone = edited(&self.best, |k, d| (!inside(k)).then_some(Part::Take(d)));
            let fair = edited(&self.best, |k, d| Some(if inside(k) { Part::Fair(1) } else { Part::Take(d) }));
            if !self.lighter(&gone)? && !self.lighter(&fair)? {
                at += chunk;
            }
        }
        Some(())
    }

    /// A decision is held as long as by default, where that is enough.
    fn hold(&mut self) -> Option<()> {
        let mut at = 0;
        while let Some(now) = nth(&self.best, at) {
            let plan = replaced(&self.best, at, Decision { lease: usual(&now), ..now });
            if plan == self.best || !self.lighter(&plan)? {
                at += 1;
            }
        }
        Some(())
    }

    /// Another alternative held as long as by default, in place of one that is held shorter.
    fn others(&mut self) -> Option<()> {
        let mut at = 0;
        while let Some(now) = nth(&self.best, at) {
            at += 1;
            if now.lease == usual(&now) {
                continue;
            }
            let others = self.alternatives.iter().filter(|a| a.site() == now.what.site() && **a != now.what);
            for what in others.copied().collect::<Vec<_>>() {
                let plan = replaced(&self.best, at - 1, Decision { what, lease: usual(&now) });
                if self.lighter(&plan)? {
                    break;
                }
            }
        }
        Some(())
    }

    /// A decision is held for as few instructions as halving and then counting down finds.
    fn shorten(&mut self) -> Option<()> {
        let mut at = 0;
        let mut step = u32::MAX;
        while let Some(now) = nth(&self.best, at) {
            step = if now.lease == usual(&now) { 0 } else { step.min(now.lease / 2) };
            if step == 0 {
                (at, step) = (at + 1, u32::MAX);
                continue;
            }
            let plan = replaced(&self.best, at, Decision { lease: now.lease - step, ..now });
            if !self.lighter(&plan)? {
                step /= 2;
            }
        }
        Some(())
    }
}

/// For how long the fair oracle would hold a decision about the same thing.
fn usual(d: &Decision) -> u32 {
    Fair.choose(Menu::of(d.what.site(), &[0b11])).map_or(1, |pick| pick.lease.get())
}

fn weight(schedule: &Schedule) -> Weight {
    let taken = || schedule.launches.iter().flatten().filter_map(taken);
    let timed = || taken().filter(|d| d.lease != usual(d));
    (taken().count(), timed().count(), timed().map(|d| u64::from(d.lease)).sum())
}

const fn taken(part: &Part) -> Option<&Decision> {
    if let Part::Take(d) = part { Some(d) } else { None }
}

fn nth(schedule: &Schedule, k: usize) -> Option<Decision> {
    schedule.launches.iter().flatten().filter_map(taken).nth(k).copied()
}

/// A schedule whose decisions, counted over all launches, are added by `add` to the parts before them.
fn rebuilt(schedule: &Schedule, mut add: impl FnMut(usize, Decision, &mut Vec<Part>)) -> Schedule {
    let mut k = 0;
    let launches = schedule.launches.iter().map(|parts| {
        let mut out = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Part::Take(d) => {
                    add(k, *d, &mut out);
                    k += 1;
                }
                part => out.push(*part),
            }
        }
        out
    });
    Schedule { launches: launches.collect(), fair_from: schedule.fair_from }
}

/// A schedule in which something else may stand for each decision; nothing: the next one comes in its place.
fn edited(schedule: &Schedule, mut edit: impl FnMut(usize, Decision) -> Option<Part>) -> Schedule {
    rebuilt(schedule, |k, d, out| out.extend(edit(k, d)))
}

/// A schedule with another decision at a place.
fn replaced(schedule: &Schedule, at: usize, other: Decision) -> Schedule {
    edited(schedule, |k, d| Some(Part::Take(if k == at { other } else { d })))
}

/// A schedule in which those of some decisions that are for the same alternative are one, where the first of them was, or
/// the last.
fn gathered(schedule: &Schedule, which: Range<usize>, last: bool) -> Schedule {
    /// An alternative, held for as long as all decisions for it together, and how many there are.
    struct Held(Decision, usize);
    let mut held: Vec<Held> = Vec::new();
    let all = schedule.launches.iter().flatten().filter_map(taken).copied();
    for d in all.skip(which.start).take(which.len()) {
        match held.iter_mut().find(|h| h.0.what == d.what) {
            Some(Held(all, count)) => {
                all.lease = all.lease.saturating_add(d.lease);
                *count += 1;
            }
            None => held.push(Held(d, 1)),
        }
    }
    let mut seen = vec![0; held.len()];
    edited(schedule, |k, d| {
        let known = held.iter().position(|h| h.0.what == d.what).filter(|_| which.contains(&k));
        let Some(at) = known else { return Some(Part::Take(d)) };
        seen[at] += 1;
        let Held(all, count) = held[at];
        (seen[at] == if last { count } else { 1 }).then_some(Part::Take(all))
    })
}

/// A schedule in which decision k and the next one are one, for all k that are asked for and where they are for the same
/// alternative; what the default schedule decides between the two comes after.
fn merged(schedule: &Schedule, wanted: impl Fn(usize) -> bool) -> Schedule {
    rebuilt(schedule, |k, d, out| match out.iter_mut().rev().find(|part| matches!(part, Part::Take(_))) {
        Some(Part::Take(last)) if last.what == d.what && k > 0 && wanted(k - 1) => {
            last.lease = last.lease.saturating_add(d.lease);
        }
        _ => out.push(Part::Take(d)),
    })
}
