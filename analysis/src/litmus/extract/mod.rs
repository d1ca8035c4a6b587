//! What a run found, as a litmus test: a race, or a read of what had been overwritten (D-extract).
//!
//! What a run did is written down ([`Deeds`](crate::check::deeds::Deeds)). What has to be in the test are the two accesses of a race ([`raced`]), or the
//! deeds of the shortest cycle that no order of accesses explains ([`cycle::shortest`]). What synchronises their threads is taken in, and left out again
//! one by one where a model says the same without it ([`extract`]).

mod cycle;
mod refused;
mod slice;
mod write;

use super::decided::Property;
use super::parse::parse;
use super::tree::Litmus;
use super::{Decided, decide_until};
use crate::axiom::{Limits, Model, Way};
use crate::base::FileId;
use crate::base::sorted::SortedSet;
use crate::check::deeds::{Deed, Done, What};
use crate::verdict::{Bug, Party, Place, Race};
pub use refused::NotExtracted;
use slice::Slice;
use write::Naming;

/// What a model says of what a run came to; none: a limit was reached, or it is not expressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judged {
    /// Whether the model allows it.
    pub allowed: Option<bool>,
    /// Whether some execution that comes to it has a data race.
    pub racy: Option<bool>,
}

impl Judged {
    /// Asks a model about the condition of a test; stops as at a limit once `up` says so.
    #[must_use]
    pub fn of(litmus: &Litmus, model: &Model, (way, limits): (Way, Limits), up: &dyn Fn() -> bool) -> Self {
        let answer = |decided: Decided| {
            let cut = decided.searched.limited || decided.searched.unsupported.is_some();
            decided.witness.map_or(if cut { None } else { Some(false) }, |_| Some(true))
        };
        let allowed = answer(decide_until(litmus, model, Property::Safety, way, limits, up));
        if allowed == Some(false) {
            return Self { allowed, racy: allowed };
        }
        // Of the executions only those are looked at that come to what the run did.
        let filter = litmus.condition.as_ref().map(|asked| asked.cond.clone());
        let filtered = Litmus { filter, ..litmus.clone() };
        Self { allowed, racy: answer(decide_until(&filtered, model, Property::Drf, way, limits, up)) }
    }
}

/// The deeds of the shortest cycle that no order of a launch's accesses explains; none: the launch did what an interleaving of its threads does.
#[must_use]
pub fn unexplained(done: &Done) -> Option<SortedSet<u32>> {
    cycle::shortest(done)
}

/// The two accesses of a race: `place` and `other` of the bug are those of the second one and of the first. None: they were not written down.
#[must_use]
pub fn raced(done: &Done, bug: &Bug, race: &Race) -> Option<[u32; 2]> {
    let is = |k: usize, deed: &Deed, party: &Party, place: &Place| {
        let [grid, block] = [done.shape.grid, done.shape.block].map(|all| all.map(u64::from));
        let linear = |at: [u32; 3], of: [u64; 3]| {
            let [x, y, z] = at.map(u64::from);
            x + of[0] * (y + of[1] * z)
        };
        let thread = linear(place.block, grid) * u64::from(done.shape.threads()) + linear(place.thread, block);
        let here = deed.touch().is_some_and(|touch| touch.spot.address == party.address);
        (deed.thread == thread && deed.pc == place.pc && here).then(|| u32::try_from(k).unwrap_or(u32::MAX))
    };
    let last = |before: usize, party: &Party, place: &Place| {
        let deeds = done.deeds.iter().enumerate().take(before);
        deeds.rev().find_map(|(k, deed)| is(k, deed, party, place))
    };
    let second = last(done.deeds.len(), &race.second, &bug.place)?;
    let first = last(second as usize, &race.first, bug.other.as_ref()?)?;
    Some([first, second])
}

/// Whether all is known of some deeds: they have taken effect.
#[must_use]
pub fn complete(done: &Done, deeds: &[u32]) -> bool {
    deeds.iter().filter_map(|k| done.deeds.get(*k as usize)?.touch()).all(|touch| {
        let read = !touch.reads() || touch.read.is_some();
        read && (!touch.writes() || touch.wrote.is_some() && touch.arrived.is_some())
    })
}

/// The smallest test of deeds that have to stay, with what synchronises their threads as far as `judge`, which says what a model makes of a test,
/// needs it to say the same.
///
/// # Errors
/// What of it a litmus test cannot say.
pub fn extract(
    name: &str,
    done: &Done,
    stays: SortedSet<u32>,
    judge: &dyn Fn(&Litmus) -> Judged,
) -> Result<Litmus, NotExtracted> {
    let circular = |deeds: &SortedSet<u32>| cycle::shortest(&slice::only(done, deeds)).is_some();
    let is_cycle = circular(&stays);
    let threads: SortedSet<u64> = stays.iter().filter_map(|k| Some(done.deeds.get(*k as usize)?.thread)).collect();
    if done.deeds.iter().any(|deed| deed.what == What::Cluster && threads.contains(&deed.thread)) {
        return Err(NotExtracted::Cluster);
    }
    let mut slice = Slice::of(done, stays);
    if slice.deeds().len() > slice::MOST {
        return Err(NotExtracted::Long);
    }
    let mut best = test(name, done, &slice.deeds())?;
    let said = judge(&best);
    let mut again = said.allowed.is_some() && said.racy.is_some();
    let same = |deeds: &SortedSet<u32>| test(name, done, deeds).ok().filter(|smaller| judge(smaller) == said);
    while again {
        again = false;
        for group in 0..slice.groups() {
            if slice.leave_out(group, true) {
                continue;
            }
            match same(&slice.deeds()) {
                Some(smaller) => (best, again) = (smaller, true),
                None => _ = slice.leave_out(group, false),
            }
        }
        // What others hand on may make a cycle without a write and its read that the shortest one goes through.
        for pair in slice.handed_on().into_iter().filter(|_| is_cycle) {
            let less = slice.without(pair);
            let deeds = less.deeds();
            if circular(&deeds)
                && let Some(smaller) = same(&deeds)
            {
                (slice, best, again) = (less, smaller, true);
                break;
            }
        }
    }
    Ok(best)
}

/// The test of some deeds, read again.
fn test(name: &str, done: &Done, deeds: &SortedSet<u32>) -> Result<Litmus, NotExtracted> {
    let mut wrong = String::new();
    for naming in [Naming::Buffers, Naming::Letters] {
        wrong = write::write(name, done, deeds, naming)?;
        let (litmus, errors) = parse(FileId::default(), &wrong);
        if errors.is_empty() {
            return Ok(litmus);
        }
    }
    Err(NotExtracted::Wrong(wrong))
}
