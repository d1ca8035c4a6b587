//! Threads that may change places: where two threads are alike in what they have done and in what may become of them, a choice for
//! one of them that has been looked at need not be looked at for the other.

use super::choices::{Choices, Interval};
use super::frame::Frame;
use super::program::Trace;
use super::relation::Relation;

/// The events of a frame with those of two threads changed for each other. None: the threads have done different things.
pub(super) fn swap(frame: &Frame, traces: &[Trace], one: usize, other: usize) -> Option<Vec<usize>> {
    if traces[one] != traces[other] {
        return None;
    }
    let of = |thread: usize| (0..frame.events.len()).filter(move |n| frame.events[*n].0.thread as usize == thread);
    let mut places: Vec<usize> = (0..frame.len()).collect();
    let (first, second): (Vec<usize>, Vec<usize>) = (of(one).collect(), of(other).collect());
    if first.len() != second.len() {
        return None;
    }
    for (a, b) in first.into_iter().zip(second) {
        places.swap(a, b);
    }
    Some(places)
}

/// Whether choices say the same when events change places.
pub(super) fn invariant(choices: &Choices, places: &[usize]) -> bool {
    let relation = |r: &Relation| r.iter().all(|(a, b)| r.contains(places[a], places[b]));
    let interval = |it: &Interval| relation(&it.must) && relation(&it.may);
    interval(&choices.rf) && interval(&choices.co) && interval(&choices.fences) && interval(&choices.meetings)
}
