//! What a thread that waits may yet write, whatever it reads: it is run on under every assumption.

use super::frame::overlap;
use super::program::{End, Kind, Place, Trace};
use rustc_hash::FxHashMap;

/// The most runs for one answer; beyond, a thread may write anything.
const RUNS: u32 = 64;

/// A thread, what its reads returned, and what it assumes.
pub(super) type Knowledge = (usize, Vec<Option<u64>>, Vec<(u32, u64)>);

/// The places that threads may yet write to, by what is known of them. None: anywhere.
#[derive(Default)]
pub(super) struct Futures {
    found: FxHashMap<Knowledge, Option<Vec<Place>>>,
}

impl Futures {
    /// Whether a thread that has made so many events may yet write to a place. `run` runs it with what is known, and with assumptions.
    pub(super) fn may_write(
        &mut self,
        knowledge: Knowledge,
        events: usize,
        place: Place,
        run: &dyn Fn(&Knowledge) -> Trace,
    ) -> bool {
        let found = self.found.entry(knowledge).or_insert_with_key(|knowledge| {
            let (mut places, mut left) = (Vec::new(), RUNS);
            onwards(&mut knowledge.clone(), events, run, &mut places, &mut left).then_some(places)
        });
        found.as_ref().is_none_or(|places| places.iter().any(|other| overlap(*other, place)))
    }
}

/// Collects the places that a thread writes to on every way from where it is; whether these are all.
fn onwards(
    knowledge: &mut Knowledge,
    events: usize,
    run: &dyn Fn(&Knowledge) -> Trace,
    places: &mut Vec<Place>,
    left: &mut u32,
) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    let trace = run(knowledge);
    for event in trace.events.iter().skip(events).filter(|event| event.kind == Kind::Write) {
        let Some(place) = event.place else { return false };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    match &trace.end {
        End::Stalled(stall) => {
            !stall.options.is_empty()
                && stall.options.iter().all(|option| {
                    knowledge.2.push((stall.decision, *option));
                    let all = onwards(knowledge, trace.events.len(), run, places, left);
                    knowledge.2.pop();
                    all
                })
        }
        End::Unsupported(_) => false,
        _ => true,
    }
}
