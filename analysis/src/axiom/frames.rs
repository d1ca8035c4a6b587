//! Frames that were made already: many nodes of a search have the same events.

use super::bounds::Bounds;
use super::program::{End, Event, Trace};
use rustc_hash::{FxHashMap, FxHasher};
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Bytes of relations that are kept about; all are forgotten when there are more.
const MOST: usize = 64 << 20;

/// The bounds on the events of some traces.
type Shared<'m> = Rc<RefCell<Bounds<'m>>>;

/// Bounds by the shape of all threads' traces.
#[derive(Default)]
pub(super) struct Frames<'m> {
    known: FxHashMap<u64, Vec<(Vec<Trace>, Shared<'m>)>>,
    bytes: usize,
}

impl<'m> Frames<'m> {
    /// The bounds on the events of traces; `make` makes them where there are none yet. `places`: how many have initial writes.
    pub(super) fn of(&mut self, traces: &[Trace], places: usize, make: impl FnOnce() -> Bounds<'m>) -> Shared<'m> {
        let key = hash(traces, places);
        let same = |(known, bounds): &&(Vec<Trace>, Shared<'m>)| {
            bounds.borrow().frame.initial() == places && known.iter().zip(traces).all(|(a, b)| same_shape(a, b))
        };
        if let Some((_, bounds)) = self.known.get(&key).and_then(|list| list.iter().find(same)) {
            return Rc::clone(bounds);
        }
        let bounds = make();
        let (len, nodes) = (bounds.frame.len(), bounds.model.nodes.len());
        // There may be more places now.
        let key = hash(traces, bounds.frame.initial());
        self.bytes += 2 * nodes * len * len.div_ceil(64) * 8;
        if self.bytes > MOST {
            self.known.clear();
            self.bytes = 0;
        }
        let bounds = Rc::new(RefCell::new(bounds));
        self.known.entry(key).or_default().push((traces.to_vec(), Rc::clone(&bounds)));
        bounds
    }
}

fn hash(traces: &[Trace], places: usize) -> u64 {
    let mut hasher = FxHasher::default();
    places.hash(&mut hasher);
    for trace in traces {
        (trace.events.len(), std::mem::discriminant(&trace.end)).hash(&mut hasher);
        if let End::Stalled(stall) = &trace.end {
            (stall.at, stall.decision).hash(&mut hasher);
        }
        for event in &trace.events {
            (event.tags, event.place, event.origin).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Whether two runs of a thread have the same events but for values, and end alike.
pub(super) fn same_shape(one: &Trace, two: &Trace) -> bool {
    let alike = |a: &Event, b: &Event| {
        (a.kind, a.tags, a.place, a.whole, a.arrival) == (b.kind, b.tags, b.place, b.whole, b.arrival)
            && (a.rmw, a.origin) == (b.rmw, b.origin)
            && (&a.addr, &a.data, &a.ctrl) == (&b.addr, &b.data, &b.ctrl)
    };
    one.end == two.end
        && one.events.len() == two.events.len()
        && one.events.iter().zip(&two.events).all(|(a, b)| alike(a, b))
}
