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

/// An access that is kept.
#[derive(Clone, Debug)]
struct Entry {
    thread: Thread,
    epoch: u32,
    pc: Pc,
    site: AccessSite,
    /// What it read or wrote, as far as that is known.
    value: Option<u64>,
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

/// The write that a read would see now.
#[derive(Clone, Copy, Debug)]
struct Latest {
    thread: Thread,
    epoch: u32,
    pc: Pc,
    site: AccessSite,
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
        let near = self.block == actor.thread.block;
        let ordered = near && self.epoch <= actor.clock.block;
        let writes = [self.site.kind.writes(), actor.site.kind.writes()];
        if !(writes[0] || writes[1]) || ordered || self.site.morally_strong(actor.site, near) {
            return false;
        }
        // Stores of one value may be hidden; another one would show more than they do.
        let shows = |r: &Raced| {
            let alike = writes == [true; 2] && r.value == actor.value;
            r.pc == self.pc && (!alike || self.value == r.value)
        };
        !races.iter().any(shows)
    }
}

/// A thread's access that is about to happen.
pub(super) struct Actor<'a> {
    pub thread: Thread,
    pub clock: &'a Clock,
    pub epoch: u32,
    pub pc: Pc,
    pub site: &'a AccessSite,
    pub order: &'a FenceOrder,
    /// What it reads or writes.
    pub value: Option<u64>,
    /// Whether the lanes of a warp execute in lockstep, so that one instruction of a warp happens after another.
    pub lockstep: bool,
    /// Whether the access takes effect later: what it observes is told then ([`History::arrive`]).
    pub later: bool,
}

impl Actor<'_> {
    /// Whether an access happened before this one by program order and synchronisation.
    pub fn follows(&self, other: Thread, epoch: u32) -> bool {
        self.lockstep && other.warp == self.thread.warp || self.clock.knows(self.thread, other, epoch, self.order)
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
        let (thread, pc, value) = (entry.thread, entry.pc, entry.value);
        let far = |t: Thread| (!t.same_block(actor.thread), t.warp != actor.thread.warp);
        let differs = |v: Option<u64>| v.is_none() || v != actor.value;
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
    /// The write of volatile data that it observes and that nothing but the observation orders before it: its thread,
    /// epoch and instruction (D-unordered).
    pub unordered: Option<(Thread, u32, Pc)>,
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
    latest: Option<Latest>,
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
    pub fn restore(&mut self, thread: Thread, epoch: u32, pc: Pc, site: AccessSite, value: Option<u64>, kept: usize) {
        let seen = site.kind.writes();
        let observers = SmallVec::new();
        self.push(Entry { thread, epoch, pc, site, value, seen, observers, more_observers: false }, kept);
        if site.kind.writes() {
            self.latest = Some(Latest { thread, epoch, pc, site });
        }
    }

    /// Bytes that it takes beside its own.
    pub fn bytes(&self) -> usize {
        let observed = self.observed.capacity() * size_of::<Observed>();
        self.entries.capacity() * size_of::<Entry>() + self.releases.capacity() * size_of::<Release>() + observed
    }

    /// Drops what nobody can race with any more; whether nothing is left.
    pub fn expire(&mut self, expired: impl Fn(Thread, u32) -> bool) -> bool {
        self.entries.retain(|e| !expired(e.thread, e.epoch));
        let latest = self.latest.is_some_and(|w| !expired(w.thread, w.epoch));
        self.dropped.retain(|d| d.block == 0 || !expired(d.last, d.epoch));
        self.observed.retain(|o| !expired(o.thread, o.epoch));
        !latest && self.dropped.is_empty() && self.entries.is_empty()
    }

    /// Keeps an access, or what matters of it when there are `kept` already.
    fn push(&mut self, entry: Entry, kept: usize) {
        if self.entries.len() < kept {
            return self.entries.push(entry);
        }
        let Entry { thread, epoch, pc, site, value, .. } = entry;
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
        let (kind, me) = (actor.site.kind, actor.thread);
        let observed = self.latest.filter(|w| kind.reads() && !actor.later && observes(w, actor));
        if let Some(write) = observed {
            let data = actor.site.takes_data_of(&write.site) && self.releases.is_empty();
            let apart = write.thread != me && !actor.follows(write.thread, write.epoch);
            found.unordered = (data && apart).then_some((write.thread, write.epoch, write.pc));
            self.observe(actor, kept);
            found.releases.clone_from(&self.releases);
        }
        let mut unseen = false;
        for entry in &self.entries {
            let conflict = entry.site.kind.writes() || kind.writes();
            let strong = entry.site.morally_strong(actor.site, entry.thread.same_block(me));
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
        self.keep(actor, kept);
        if kind.writes() {
            // A read-modify-write hands on the releases of the write that it observed.
            if observed.is_none() {
                self.releases.clear();
            }
            publish.iter().for_each(|release| Release::add(&mut self.releases, release));
            self.latest = Some(Latest { thread: me, epoch: actor.epoch, pc: actor.pc, site: *actor.site });
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
            if let Err(at) = entry.observers.binary_search_by_key(&actor.thread, |o| o.0)
                && entry.observers.len() < kept
            {
                entry.observers.insert(at, (actor.thread, actor.epoch));
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
            observed.retain(|o| entries.iter().any(|e| o.known.of(e.thread) >= e.epoch));
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
        let writes = actor.site.kind.writes();
        self.entries.retain_mut(|entry| {
            // What is known by observation on memory that acts later takes long to find out, for each of many entries; one
            // that is kept needlessly goes when its thread comes again.
            let before = happened_before(entry, &[], actor);
            if writes {
                entry.seen = before;
            }
            !(before && actor.site.stands_for(&entry.site))
        });
    }

    fn keep(&mut self, actor: &Actor<'_>, kept: usize) {
        let Actor { thread, epoch, pc, site, value, .. } = *actor;
        let (seen, observers) = (site.kind.writes(), SmallVec::new());
        self.push(Entry { thread, epoch, pc, site: *site, value, seen, observers, more_observers: false }, kept);
    }
}

/// Whether a read observes a write that it reads from (observation order): they are morally strong, or of one thread.
fn observes(write: &Latest, actor: &Actor<'_>) -> bool {
    let me = actor.thread;
    write.site.width == actor.site.width
        && (write.thread == me || write.site.morally_strong(actor.site, write.thread.same_block(me)))
}

/// Whether an access happened before another at its location.
fn happened_before(entry: &Entry, observed: &[Observed], actor: &Actor<'_>) -> bool {
    // Who polls is among those who saw it, mostly.
    actor.follows(entry.thread, entry.epoch)
        || entry.observers.binary_search_by_key(&actor.thread, |o| o.0).is_ok()
        || entry.observers.iter().any(|(thread, epoch)| actor.follows(*thread, *epoch))
        || observed.iter().any(|o| o.known.of(entry.thread) >= entry.epoch && actor.follows(o.thread, o.epoch))
}
