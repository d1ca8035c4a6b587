//! Many files, several at a time. What comes out does not depend on how many: files are told in order, one that lacked memory
//! beside others is tested again alone, and with `--fail-fast` only those before the first that did not pass count.

use super::case::{Settings, Testing};
use crate::cli::bounds::{bounds, usual_memory};
use crate::cli::output;
use crate::cli::target::Common;
use crate::launch::Suppressions;
use crate::machine::{Bounds, Stopwatch};
use crate::report::suite::{Case, Ended, Status};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// Bytes of a worker's stack: as much as the main thread of a command has, which reads files by recursion.
const STACK: usize = 8 << 20;

/// How often files of results are written before the end, for who ends the process with no word.
const KEEP: Duration = Duration::from_secs(10);

/// Files to be tested.
pub(super) struct Work<'a> {
    pub files: &'a [PathBuf],
    pub common: &'a Common,
    pub settings: &'a Settings<'a>,
    pub jobs: usize,
    pub fail_fast: bool,
    /// Told of each file, in order.
    pub tell: &'a (dyn Fn(&Case) + Sync),
    /// Keeps what is known so far.
    pub keep: &'a (dyn Fn(&[Case], Ended) + Sync),
}

/// What came of the files.
pub(super) struct Done {
    pub cases: Vec<Case>,
    pub ended: Ended,
    /// The suppressions as each file left them.
    pub used: Vec<Suppressions>,
}

/// What workers share.
struct Shared {
    next: usize,
    cases: Vec<Option<Case>>,
    /// How many were told.
    told: usize,
    /// Those that lacked memory beside others.
    again: Vec<usize>,
    /// The first file that did not pass and was to be the last.
    last: Option<usize>,
    used: Vec<Suppressions>,
    kept: Stopwatch,
}

impl Work<'_> {
    /// Tests them.
    pub fn run(&self) -> Done {
        let shared = Mutex::new(Shared {
            next: 0,
            cases: self.files.iter().map(|_| None).collect(),
            told: 0,
            again: Vec::new(),
            last: None,
            used: Vec::new(),
            kept: Stopwatch::start(Some(KEEP)),
        });
        // The memory of all that are tested at a time, counted from here.
        let together = (self.jobs > 1).then(|| self.bounds(None));
        std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                let work = || self.take(&shared, together.as_ref());
                let started = Builder::new().stack_size(STACK).spawn_scoped(scope, work);
                // Where there are no more threads, there are fewer.
                if started.is_err() {
                    self.take(&shared, together.as_ref());
                }
            }
        });
        self.alone(&shared);
        let mut shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = shared.last {
            shared.cases.iter_mut().skip(last + 1).for_each(|case| *case = None);
        }
        self.tell_more(&mut shared, true);
        let Shared { cases, last, used, .. } = shared;
        let cases: Vec<Case> = cases.into_iter().flatten().collect();
        let left = cases.iter().any(|case| case.status == Status::NotRun);
        let ended = match last {
            _ if left && output::interrupted().load(Ordering::Relaxed) => Ended::Interrupted,
            Some(_) if left => Ended::FailFast,
            _ => Ended::Done,
        };
        Done { cases, ended, used }
    }

    /// Bounds of what is tested from now on.
    fn bounds(&self, time: Option<Duration>) -> Bounds {
        bounds(time, self.common.max_memory.unwrap_or_else(usual_memory), false)
    }

    /// Tests one file after the other.
    fn take(&self, shared: &Mutex<Shared>, together: Option<&Bounds>) {
        // Not in the condition: what is locked there stays so throughout the loop's body.
        let next = || self.next(&mut lock(shared));
        while let Some(k) = next() {
            let time = self.common.timeout;
            let bounds = together.map_or_else(|| self.bounds(time), |all| all.beside(time));
            let (case, used) = self.test(&self.files[k], bounds);
            let mut shared = lock(shared);
            if together.is_some() && case.lacked_memory() {
                shared.again.push(k);
                continue;
            }
            self.note(k, case, used, &mut shared);
        }
    }

    /// The file that is tested next, if any.
    fn next(&self, shared: &mut Shared) -> Option<usize> {
        let end = shared.last.unwrap_or(self.files.len());
        if output::interrupted().load(Ordering::Relaxed) || shared.next >= end {
            return None;
        }
        shared.next += 1;
        Some(shared.next - 1)
    }

    /// Tests those again that lacked memory beside others.
    fn alone(&self, shared: &Mutex<Shared>) {
        let mut again = std::mem::take(&mut lock(shared).again);
        again.sort_unstable();
        for k in again {
            let over = lock(shared).last.is_some_and(|last| k > last);
            if over || output::interrupted().load(Ordering::Relaxed) {
                continue;
            }
            let work = || self.test(&self.files[k], self.bounds(self.common.timeout));
            // A thread of its own for the same stack.
            let tested = std::thread::scope(|scope| {
                let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, work);
                thread.ok().and_then(|thread| thread.join().ok())
            });
            let (case, used) = tested.unwrap_or_else(|| (Testing::panicked(&self.files[k], self.settings), None));
            self.note(k, case, used, &mut lock(shared));
        }
    }

    /// Tests a file. An error of ours there loses nothing of the others.
    fn test(&self, path: &Path, bounds: Bounds) -> (Case, Option<Suppressions>) {
        let watch = Stopwatch::start(Some(Duration::MAX));
        let mut common = self.common.clone();
        common.bounds = bounds;
        let tested = catch_unwind(AssertUnwindSafe(|| Testing::new(path, common, self.settings).run()));
        let (mut case, used) = tested.unwrap_or_else(|_| (Testing::panicked(path, self.settings), None));
        case.elapsed = watch.elapsed();
        (case, used)
    }

    /// Takes note of what came of a file.
    fn note(&self, k: usize, case: Case, used: Option<Suppressions>, shared: &mut Shared) {
        if self.fail_fast && case.exit.0 != 0 {
            shared.last = Some(shared.last.map_or(k, |last| last.min(k)));
        }
        shared.cases[k] = Some(case);
        shared.used.extend(used);
        self.tell_more(shared, false);
        if shared.kept.is_up() {
            let known =
                shared.cases.iter().enumerate().map(|(k, case)| case.clone().unwrap_or_else(|| self.not_run(k)));
            // Who reads it before the end sees that there is more to come.
            (self.keep)(&known.collect::<Vec<_>>(), Ended::Interrupted);
            shared.kept = Stopwatch::start(Some(KEEP));
        }
    }

    /// Tells those that come next; `all`: at the end, also those that were not run.
    fn tell_more(&self, shared: &mut Shared, all: bool) {
        while let Some(case) = shared.cases.get_mut(shared.told) {
            // What others came to meanwhile does not count behind the last.
            let behind = shared.last.is_some_and(|last| shared.told > last);
            if !all && (case.is_none() || behind) {
                break;
            }
            let case = case.get_or_insert_with(|| self.not_run(shared.told));
            (self.tell)(case);
            shared.told += 1;
        }
    }

    fn not_run(&self, k: usize) -> Case {
        Case::not_run(self.settings.roots.relative(&self.files[k].display().to_string()))
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
