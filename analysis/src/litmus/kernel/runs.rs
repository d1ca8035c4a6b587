//! Runs of threads for the search for hangs: what is known of one thread is known of those that are like it, and what no way depends on
//! is left out.
//!
//! Both are found as the search goes. It begins with no location, and with all threads alike. Where a way, an address or a value that matters turns
//! out to depend on a location that is left out, that location is taken in; where threads that are taken to be alike do
//! different things with the same knowledge, they are told apart; and the search begins anew. What it looked at to its end was right for all that it leaves out:
//! each run that it saw was one of every thread alike.

use super::Kernel;
use super::run::{Ran, Shown, left_out, run};
use crate::axiom::{Event, Known, Place, Trace};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most runs that are kept; all are forgotten when there are more.
const MOST: usize = 1 << 14;

/// What runs are about.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// The locations whose accesses are events; none: all.
    pub kept: Option<BTreeSet<u32>>,
    /// By thread: which threads it is like, by number.
    pub classes: Vec<usize>,
}

impl View {
    /// All threads are alike; `apart`: no location matters.
    pub fn first(threads: usize, apart: bool) -> Self {
        Self { kept: apart.then(BTreeSet::new), classes: vec![0; threads] }
    }
}

/// The class of a thread, what its reads returned, and what it assumes.
type Key = (usize, Vec<Option<u64>>, Vec<(u32, u64)>);

/// Runs that were made.
pub(super) struct Runs<'k> {
    kernel: &'k Kernel,
    view: View,
    made: Mutex<FxHashMap<Key, Arc<Ran>>>,
    /// What has to be looked at instead.
    better: Mutex<Option<View>>,
    /// What is accessed of locations that are left out.
    left: Mutex<BTreeSet<Place>>,
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'k> Runs<'k> {
    pub fn new(kernel: &'k Kernel, view: View) -> Self {
        Self { kernel, view, made: Mutex::default(), better: Mutex::default(), left: Mutex::default() }
    }

    /// What runs are about.
    pub const fn view(&self) -> &View {
        &self.view
    }

    /// What has to be looked at instead, if what was taken to be so is not.
    pub fn better(&self) -> Option<View> {
        lock(&self.better).clone()
    }

    /// Whether accesses of locations that are left out overlap in part.
    pub fn mixed(&self) -> bool {
        let left = lock(&self.left);
        let end = |place: &Place| place.offset.saturating_add(place.bytes);
        let part = |a: &Place, b: &Place| {
            a.location == b.location
                && a.offset < end(b)
                && b.offset < end(a)
                && (a.offset, a.bytes) != (b.offset, b.bytes)
        };
        left.iter().any(|a| left.iter().any(|b| part(a, b)))
    }

    /// Runs a thread. `new` is called with the runs that are made for it, by thread.
    pub fn run(&self, thread: usize, known: Known<'_>, new: &dyn Fn(usize, &Ran)) -> Arc<Ran> {
        let class = self.view.classes[thread];
        let key = (class, known.reads.to_vec(), known.assumed.to_vec());
        if let Some(ran) = lock(&self.made).get(&key) {
            return Arc::clone(ran);
        }
        let shown = self.view.kept.as_ref().map_or(Shown::All, Shown::Only);
        let made = |thread: usize| {
            let ran = run(self.kernel, thread, known, shown);
            lock(&self.left).extend(ran.left.iter().copied());
            new(thread, &ran);
            ran
        };
        let own = made(thread);
        self.look(&own.trace);
        let mut others: Vec<Trace> = vec![own.trace.clone()];
        let mut classes = self.view.classes.clone();
        let fresh = classes.iter().max().map_or(0, |most| most + 1);
        for other in (0..classes.len()).filter(|other| self.view.classes[*other] == class && *other != thread) {
            let trace = made(other).trace;
            let kind = others.iter().position(|known| *known == trace).unwrap_or_else(|| {
                others.push(trace);
                others.len() - 1
            });
            if kind > 0 {
                classes[other] = fresh + kind - 1;
            }
        }
        if others.len() > 1 {
            self.improve(|view| view.classes = classes);
        }
        let own = Arc::new(own);
        let mut made = lock(&self.made);
        if made.len() >= MOST {
            made.clear();
        }
        made.insert(key, Arc::clone(&own));
        own
    }

    fn improve(&self, change: impl FnOnce(&mut View)) {
        change(lock(&self.better).get_or_insert_with(|| self.view.clone()));
    }

    /// Takes in the locations that something in a run depends on.
    fn look(&self, trace: &Trace) {
        let waits = match &trace.end {
            crate::axiom::End::Stalled(stall) => &stall.on[..],
            _ => &[],
        };
        let of = |event: &'_ Event| [&event.ctrl, &event.addr, &event.data].map(Clone::clone);
        let events = trace.events.iter().flat_map(of).flatten();
        let more: Vec<u32> = events.chain(waits.iter().copied()).filter_map(left_out).collect();
        if !more.is_empty() {
            self.improve(|view| {
                if let Some(kept) = &mut view.kept {
                    kept.extend(more);
                }
            });
        }
    }
}
