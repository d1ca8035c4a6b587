//! A kernel as a search sees it: where threads do what has no events is noted, and defects and bounds may be ends like others.

use super::{Gap, Kernel, run};
use crate::axiom::{
    End, Execution, Kind, Known, Limits, Model, Program, Question, Rerun, Searched, Trace, Way, search_mixed,
};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// How a thread ended, as its only register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// At its end.
    Done,
    /// By a defect of its own.
    Fault,
    /// In the midst, at a bound.
    Cut,
    /// At a barrier.
    Waits,
}

impl Fate {
    /// It as a register.
    pub const fn number(self) -> u64 {
        self as u64
    }

    /// Whether some thread came to a defect, as far as that is known.
    pub fn some_fault(registers: &[&[Option<u64>]]) -> Option<bool> {
        let fates = || registers.iter().map(|all| all.first().copied().flatten());
        if fates().any(|fate| fate == Some(Self::Fault.number())) {
            return Some(true);
        }
        fates().all(|fate| fate.is_some()).then_some(false)
    }
}

/// A kernel that is searched.
pub(super) struct Watched<'k> {
    kernel: &'k Kernel,
    /// Whether threads tell their fates: defects are ends like others, and who goes around a loop too often stays there.
    fates: bool,
    gap: Mutex<Option<Gap>>,
    bounded: AtomicBool,
}

impl<'k> Watched<'k> {
    /// Whether a thread came to the bound.
    pub fn bounded(&self) -> bool {
        self.bounded.load(Ordering::Relaxed)
    }

    pub const fn new(kernel: &'k Kernel, fates: bool) -> Self {
        Self { kernel, fates, gap: Mutex::new(None), bounded: AtomicBool::new(false) }
    }

    /// Where a thread did first what has no events.
    pub fn gap(&self) -> Option<Gap> {
        self.gap.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Watched<'_> {
    /// The kernel, looked at.
    pub fn program(&self) -> impl Program {
        let run = |thread: usize, known: Known<'_>| self.run(thread, known);
        Rerun { of: self.kernel, tags: self.kernel.tags(), run }
    }

    fn run(&self, thread: usize, known: Known<'_>) -> Trace {
        let run::Ran { mut trace, at, .. } = run::run(self.kernel, thread, known, run::Shown::All);
        if let End::Unsupported(what) = &trace.end {
            let mut gap = self.gap.lock().unwrap_or_else(PoisonError::into_inner);
            gap.get_or_insert_with(|| Gap { thread, at, what: what.clone() });
        }
        if trace.end == End::Bound {
            self.bounded.store(true, Ordering::Relaxed);
        }
        if self.fates {
            let fate = match trace.end {
                End::Done => Some(Fate::Done),
                End::Fault(_) => Some(Fate::Fault),
                End::Bound | End::Spin => Some(Fate::Cut),
                _ => None,
            };
            if fate.is_some() {
                trace.end = End::Done;
            }
            trace.registers = vec![fate.map(Fate::number)];
        }
        trace
    }
}

/// What a thread's reads return in an execution, by positions.
pub(super) fn reads(execution: &Execution, thread: usize) -> Vec<Option<u64>> {
    execution.accesses(thread).iter().map(|event| event.value.filter(|_| event.kind == Kind::Read)).collect()
}

/// The first execution that is wanted.
pub(super) fn first(
    way: Way,
    watched: &Watched<'_>,
    model: &Model,
    question: &Question<'_>,
    limits: Limits,
) -> (Option<Execution>, Searched) {
    let mut witness = None;
    let searched = search_mixed(way, &watched.program(), model, question, limits, &mut |execution| {
        witness = Some(execution.clone());
        ControlFlow::Break(())
    });
    (witness, searched)
}
