//! Threads that may change places: where they are alike in what they have done and in what may become of them, a choice that
//! has been looked at need not be looked at where it is the same but for that (D-alike).

use super::choices::{Choices, Interval};
use super::frame::{Frame, INITIAL, Id};
use super::program::Trace;
use super::relation::Relation;

/// The events of a frame with those of threads changed for each other. None: threads that would change places have done different things.
pub(super) fn moved(frame: &Frame, traces: &[Trace], symmetry: &[usize]) -> Option<Vec<usize>> {
    let same = |(thread, other): (usize, &usize)| thread == *other || traces[thread] == traces[*other];
    if !symmetry.iter().enumerate().all(same) {
        return None;
    }
    let mut places: Vec<usize> = (0..frame.len()).collect();
    for (number, (id, _)) in frame.events.iter().enumerate().filter(|(_, (id, _))| id.thread != INITIAL) {
        let thread = u32::try_from(symmetry[id.thread as usize]).ok()?;
        // Who waits at a barrier may have fewer events there.
        places[number] = frame.number(Id { thread, ..*id })?;
    }
    Some(places)
}

/// Whether choices say the same when events change places.
pub(super) fn invariant(choices: &Choices, places: &[usize]) -> bool {
    let relation = |r: &Relation| r.iter().all(|(a, b)| r.contains(places[a], places[b]));
    let interval = |it: &Interval| relation(&it.must) && relation(&it.may);
    interval(&choices.rf) && interval(&choices.co) && interval(&choices.fences) && interval(&choices.meetings)
}
