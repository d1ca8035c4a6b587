//! The accesses of one location that matter for what comes, where a cell of the shadow memory is too small for them.
//!
//! An access is kept until a later one stands for it: one that happened after it, conflicts with as much and is no
//! stronger. What happened before what is decided at the location: program order, synchronisation, and that a write
//! that was observed by a strong read came before whatever follows the read (causality order of the PTX memory model;
//! D-race).

use super::clock::{Clock, FenceOrder, Known, Thread};
use super::sites::AccessSite;
use crate::base::Pc;
use crate::verdict::Reach;
use smallvec::SmallVec;
use std::sync::Arc;

/// An access of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deed {
    pub thread: Thread,
    pub epoch: u32,
    pub pc: Pc,
    pub site: AccessSite,
    /// What it reads or writes, as far as that is known.
    pub value: Option<u64>,
}

/// An access that is kept.
#[derive(Clone, Debug)]
struct Entry {
    did: Deed,
    /// Whether it is the latest write or happened before it: whoever observes that write comes after this, too.
    seen: bool,
    /// Strong reads that came after it by observation, by thread, with their epochs; of each thread the first.
    observers: SmallVec<[(Thread, u32); 2]>,
    /// Whether there were more of them than are kept.
    more_observers: bool,
}

/// Something that a later read can synchronise with: the write of a release pattern.
#[derive(Clone, Debug)]
pub(super) struct Release {
    /// The first warp of its thread's block.
    pub block: u32,
    /// The scope of the pattern's first operation.
    pub reach: Reach,
    /// What it hands on.
    pub known: Arc<Known>,
}

impl Release {
    /// Takes a release into a list: who may synchronise with one depends on its block and reach only.
    pub fn add(all: &mut Vec<Self>, release: &Self) {
        let same = |r: &&mut Self| (r.block, r.reach) == (release.block, release.reach);
        match all.iter_mut().find(same) {
            Some(r) => r.merge(&release.known),
            None => all.push(release.clone()),
        }
    }

    /// Hands on this, too.
    pub fn merge(&mut self, known: &Arc<Known>) {
        if !Arc::ptr_eq(&self.known, known) && !self.known.covers(known) {
            Arc::make_mut(&mut self.known).join(known);
        }
    }
}

/// What an access is compared with where entries had to be left out: those of one instruction.
#[derive(Clone, Copy, Debug)]
struct Dropped {
    pc: Pc,
    site: AccessSite,
    /// The block that all of them are of; 0 when there are several.
    block: u32,
    /// The last epoch of any.
    epoch: u32,
    /// One of them.
    last: Thread,
    /// What they read or wrote, where that is known and the same.
    value: Option<u64>,
}

impl Dropped {
    /// Whether an access could race with one that was left out, in a way that none of `races` shows.
    fn may_race(&self, actor: &Actor<'_>, races: &[Raced]) -> bool {
        let Deed { thread, site, value, .. } = &actor.does;
        let near = self.block == thread.block;
        let ordered = near && self.epoch <= actor.clock.block;
        let writes = [self.site.kind.writes(), site.kind.writes()];
        if !(writes[0] || writes[1]) || ordered || self.site.morally_strong(site, near) {
            return false;
        }
        // Stores of one value may be hidden; another one would show more than they do.
        let shows = |r: &Raced| {
            let alike = writes == [true; 2] && r.value == *value;
            r.pc == self.pc && (!alike || self.value == r.value)
        };
        !races.iter().any(shows)
    }
}

/// A thread's access that is about to happen.
pub(super) struct Actor<'a> {
    pub does: Deed,
    pub clock: &'a Clock,
    pub order: &'a FenceOrder,
    /// Whether the lanes of a warp execute in lockstep, so that one instruction of a warp happens after another.
    pub lockstep: bool,
    /// Whether the access takes effect later: what it observes is told then ([`History::arrive`]).
    pub later: bool,
}

impl Actor<'_> {
    /// Whether an access happened before this one by program order and synchronisation.
    pub fn follows(&self, other: Thread, epoch: u32) -> bool {
        let me = self.does.thread;
        self.lockstep && other.warp == me.warp || self.clock.knows(me, other, epoch, self.order)
    }
}

/// Accesses of one instruction that one access races with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raced {
    /// The thread of one of them: of another block or warp, where there is one.
    pub thread: Thread,
    pub pc: Pc,
    /// What it read or wrote.
    pub value: Option<u64>,
    /// How many there are.
    pub times: u64,
}

impl Raced {
    /// Takes note of an entry. An instruction stands twice where one entry is farthest and another has another value than
    /// what is accessed.
    fn note(all: &mut Vec<Self>, entry: &Entry, actor: &Actor<'_>) {
        let Deed { thread, pc, value, .. } = entry.did;
        let far = |t: Thread| (!t.same_block(actor.does.thread), t.warp != actor.does.thread.warp);
        let differs = |v: Option<u64>| v.is_none() || v != actor.does.value;
        let Some(known) = all.iter_mut().find(|r| r.pc == pc) else {
            return all.push(Self { thread, pc, value, times: 1 });
        };
        known.times += 1;
        if (far(thread), differs(value)) > (far(known.thread), differs(known.value)) {
            (known.thread, known.value) = (thread, value);
        } else if differs(value) && !all.iter().any(|r| r.pc == pc && differs(r.value)) {
            all.push(Self { thread, pc, value, times: 0 });
        }
    }
}

/// What an access found at a location.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// Accesses that it races with, by instruction.
    pub races: Vec<Raced>,
    /// Releases that it observes.
    pub releases: Vec<Release>,
    /// It may race with an access that was not kept.
    pub unknown: bool,
    /// The write of volatile data that it observes and that nothing but the observation orders before it (D-unordered).
    pub unordered: Option<Deed>,
}

/// Observations of a location that are kept before any are looked at again.
const OBSERVED: usize = 32;

/// A strong read that observed a write, on memory that acts later.
#[derive(Clone, Debug)]
struct Observed {
    thread: Thread,
    epoch: u32,
    /// What the write came after at this location, itself among it: that comes before whatever follows the read.
    known: Arc<Known>,
}

/// The accesses of one location.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    entries: Vec<Entry>,
    /// The write that a read would see now.
    latest: Option<Deed>,
    releases: Vec<Release>,
    dropped: Vec<Dropped>,
    observed: Vec<Observed>,
    /// How many of them there may be before those are looked for that say nothing any more.
    most_observed: usize,
    /// Whether there were more of them than are kept.
    more_observed: bool,
}

impl History {
    /// Takes over an access that a cell held; they come in the order in which they happened. At most `kept` are kept.
    pub fn restore(&mut self, did: Deed, kept: usize) {
        self.push(did, kept);
        if did.site.kind.writes() {
            self.latest = Some(did);
        }
    }

    /// Bytes that it takes beside its own.
    pub fn bytes(&self) -> usize {
        let observed = self.observed.capacity() * size_of::<Observed>();
        self.entries.capacity() * size_of::<Entry>() + self.releases.capacity() * size_of::<Release>() + observed
    }

    /// Drops what nobody can race with any more.
    pub fn expire(&mut self, expired: impl Fn(Thread, u32) -> bool) {
        self.entries.retain(|e| !expired(e.did.thread, e.did.epoch));
        self.dropped.retain(|d| d.block == 0 || !expired(d.last, d.epoch));
        self.observed.retain(|o| !expired(o.thread, o.epoch));
    }

    /// Keeps an access, or what matters of it when there are `kept` already.
    fn push(&mut self, did: Deed, kept: usize) {
        let Deed { thread, epoch, pc, site, value } = did;
        if self.entries.len() < kept {
            let (seen, observers) = (site.kind.writes(), SmallVec::new());
            return self.entries.push(Entry { did, seen, observers, more_observers: false });
        }
        match self.dropped.iter_mut().find(|d| (d.pc, d.site) == (pc, site)) {
            Some(all) => {
                all.block = if all.block == thread.block { all.block } else { 0 };
                all.epoch = all.epoch.max(epoch);
                all.last = thread;
                all.value = all.value.filter(|v| Some(*v) == value);
            }
            None => self.dropped.push(Dropped { pc, site, block: thread.block, epoch, last: thread, value }),
        }
    }

    /// An access happens: says what it races with and which releases it observes, and takes note of it. `publish` are
    /// the releases that its write makes visible; at most `kept` accesses are kept.
    pub fn access(&mut self, actor: &Actor<'_>, publish: &[Release], kept: usize) -> Found {
        let mut found = Found::default();
        let Deed { thread: me, site, .. } = &actor.does;
        let kind = site.kind;
        let observed = self.latest.filter(|w| kind.reads() && !actor.later && observes(w, &actor.does));
        if let Some(write) = observed {
            let data = site.takes_data_of(&write.site) && self.releases.is_empty();
            let apart = write.thread != *me && !actor.follows(write.thread, write.epoch);
            found.unordered = (data && apart).then_some(write);
            self.observe(actor, kept);
            found.releases.clone_from(&self.releases);
        }
        let mut unseen = false;
        for entry in &self.entries {
            let Deed { thread, site: other, .. } = &entry.did;
            let conflict = other.kind.writes() || kind.writes();
            let strong = other.morally_strong(site, thread.same_block(*me));
            if conflict && !strong && !happened_before(entry, &self.observed, actor) {
                if entry.more_observers || self.more_observed {
                    unseen = true;
                } else {
                    Raced::note(&mut found.races, entry, actor);
                }
            }
        }
        found.unknown = unseen || self.dropped.iter().any(|d| d.may_race(actor, &found.races));
        self.retire(actor);
        self.push(actor.does, kept);
        if kind.writes() {
            // A read-modify-write hands on the releases of the write that it observed.
            if observed.is_none() {
                self.releases.clear();
            }
            publish.iter().for_each(|release| Release::add(&mut self.releases, release));
            self.latest = Some(actor.does);
        }
        found
    }

    /// The read observes the latest write: that, and all that happened before it at this location, comes before what
    /// follows.
    fn observe(&mut self, actor: &Actor<'_>, kept: usize) {
        for entry in self.entries.iter_mut().filter(|e| e.seen) {
            if happened_before(entry, &self.observed, actor) {
                continue;
            }
            let Deed { thread, epoch, .. } = actor.does;
            if let Err(at) = entry.observers.binary_search_by_key(&thread, |o| o.0)
                && entry.observers.len() < kept
            {
                entry.observers.insert(at, (thread, epoch));
            } else {
                entry.more_observers = true;
            }
        }
    }

    /// A strong read of a thread, issued in an epoch, has observed a write that knows this: it comes before what follows the
    /// read, at this location. At most `kept` of those are kept.
    pub fn arrive(&mut self, thread: Thread, epoch: u32, known: &Arc<Known>, kept: usize) {
        if self.observed.iter().any(|o| o.thread == thread && o.known.covers(known)) {
            return;
        }
        if self.observed.len() >= self.most_observed {
            // Accesses are replaced by later ones of their threads, of which what was observed before says nothing.
            let Self { entries, observed, .. } = self;
            observed.retain(|o| entries.iter().any(|e| o.known.of(e.did.thread) >= e.did.epoch));
            self.most_observed = (2 * self.observed.len()).max(OBSERVED);
        }
        if self.observed.len() < kept {
            self.observed.push(Observed { thread, epoch, known: Arc::clone(known) });
        } else {
            self.more_observed = true;
        }
    }

    /// Drops the accesses that this one stands for.
    fn retire(&mut self, actor: &Actor<'_>) {
        let site = &actor.does.site;
        self.entries.retain_mut(|entry| {
            // What is known by observation on memory that acts later takes long to find out, for each of many entries; one
            // that is kept needlessly goes when its thread comes again.
            let before = happened_before(entry, &[], actor);
            if site.kind.writes() {
                entry.seen = before;
            }
            let near = entry.did.thread.same_block(actor.does.thread);
            !(before && site.stands_for(&entry.did.site, near))
        });
    }
}

/// Whether a read observes a write that it reads from (observation order): they are morally strong, or of one thread.
pub(super) fn observes(write: &Deed, read: &Deed) -> bool {
    write.site.width == read.site.width
        && (write.thread == read.thread || write.site.morally_strong(&read.site, write.thread.same_block(read.thread)))
}

/// Whether an access happened before another at its location.
fn happened_before(entry: &Entry, observed: &[Observed], actor: &Actor<'_>) -> bool {
    let Deed { thread, epoch, .. } = entry.did;
    // Who polls is among those who saw it, mostly.
    actor.follows(thread, epoch)
        || entry.observers.binary_search_by_key(&actor.does.thread, |o| o.0).is_ok()
        || entry.observers.iter().any(|(thread, epoch)| actor.follows(*thread, *epoch))
        || observed.iter().any(|o| o.known.of(thread) >= epoch && actor.follows(o.thread, o.epoch))
}
