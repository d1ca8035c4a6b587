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
pub(super) struct Entry {
    pub thread: Thread,
    pub epoch: u32,
    pub pc: Pc,
    pub site: AccessSite,
    /// What it read or wrote, as far as that is known.
    value: Option<u64>,
    /// Whether it is the latest write or happened before it: whoever observes that write comes after this, too.
    seen: bool,
    /// Strong reads that came after it by observation, with their epochs; of each thread the first.
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
    site: AccessSite,
}

/// What an access is compared with when an entry had to be left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dropped {
    /// The block that all of them are of; 0 when there are several.
    pub block: u32,
    /// The last epoch of any.
    pub epoch: u32,
    /// One of them.
    pub last: Thread,
    /// Whether a write is among them.
    pub writes: bool,
    /// What they have in common, when they do.
    pub site: Option<AccessSite>,
}

impl Dropped {
    /// Adds an access to what was left out.
    pub fn add(this: &mut Option<Self>, thread: Thread, epoch: u32, site: AccessSite) {
        let one = Self { block: thread.block, epoch, last: thread, writes: site.kind.writes(), site: Some(site) };
        *this = Some(this.map_or(one, |all| Self {
            block: if all.block == thread.block { all.block } else { 0 },
            epoch: all.epoch.max(epoch),
            last: thread,
            writes: all.writes || one.writes,
            site: all.site.filter(|s| *s == site),
        }));
    }

    /// Whether an access could race with one that was left out.
    pub fn may_race(&self, actor: &Actor<'_>) -> bool {
        let ordered = self.block == actor.thread.block && self.epoch <= actor.clock.block;
        let strong = self.site.is_some_and(|s| s.morally_strong(actor.site, self.block == actor.thread.block));
        (self.writes || actor.site.kind.writes()) && !ordered && !strong
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
}

impl Actor<'_> {
    /// Whether an access happened before this one by program order and synchronisation.
    pub fn follows(&self, other: Thread, epoch: u32) -> bool {
        self.lockstep && other.warp == self.thread.warp || self.clock.knows(self.thread, other, epoch, self.order)
    }
}

/// What an access found at a location.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// Accesses that it races with, and what they read or wrote.
    pub races: Vec<(Thread, Pc, Option<u64>)>,
    /// Releases that it observes.
    pub releases: Vec<Release>,
    /// It may race with an access that was not kept.
    pub unknown: bool,
}

/// The accesses of one location.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    entries: Vec<Entry>,
    latest: Option<Latest>,
    releases: Vec<Release>,
    dropped: Option<Dropped>,
}

impl History {
    /// Takes over an access that a cell held; they come in the order in which they happened.
    pub fn restore(&mut self, thread: Thread, epoch: u32, pc: Pc, site: AccessSite, value: Option<u64>) {
        self.push(thread, epoch, pc, site, value);
        if site.kind.writes() {
            self.latest = Some(Latest { thread, epoch, site });
        }
    }

    /// Takes over what a cell said of readers that were left out.
    pub const fn restore_dropped(&mut self, dropped: Option<Dropped>) {
        self.dropped = dropped;
    }

    /// Bytes that it takes beside its own.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.releases.capacity() * size_of::<Release>()
    }

    /// Drops what nobody can race with any more; whether nothing is left.
    pub fn expire(&mut self, expired: impl Fn(Thread, u32) -> bool) -> bool {
        self.entries.retain(|e| !expired(e.thread, e.epoch));
        let latest = self.latest.is_some_and(|w| !expired(w.thread, w.epoch));
        let dropped = self.dropped.is_some_and(|d| !expired(d.last, d.epoch));
        !latest && !dropped && self.entries.is_empty()
    }

    fn push(&mut self, thread: Thread, epoch: u32, pc: Pc, site: AccessSite, value: Option<u64>) {
        let seen = site.kind.writes();
        let observers = SmallVec::new();
        self.entries.push(Entry { thread, epoch, pc, site, value, seen, observers, more_observers: false });
    }

    /// An access happens: says what it races with and which releases it observes, and takes note of it. `publish` are
    /// the releases that its write makes visible; at most `kept` accesses are kept.
    pub fn access(&mut self, actor: &Actor<'_>, publish: &[Release], kept: usize) -> Found {
        let mut found = Found::default();
        let (kind, me) = (actor.site.kind, actor.thread);
        let observed = self.latest.filter(|w| kind.reads() && observes(w, actor));
        if observed.is_some() {
            self.observe(actor, kept);
            found.releases.clone_from(&self.releases);
        }
        for entry in &self.entries {
            let conflict = entry.site.kind.writes() || kind.writes();
            let strong = entry.site.morally_strong(actor.site, entry.thread.same_block(me));
            if conflict && !strong && !happened_before(entry, actor) {
                if entry.more_observers {
                    found.unknown = true;
                } else {
                    found.races.push((entry.thread, entry.pc, entry.value));
                }
            }
        }
        let dropped = self.dropped.is_some_and(|d| d.may_race(actor));
        found.unknown = (found.unknown || dropped) && found.races.is_empty();
        self.retire(actor);
        self.keep(actor, kept);
        if kind.writes() {
            // A read-modify-write hands on the releases of the write that it observed.
            if observed.is_none() {
                self.releases.clear();
            }
            for release in publish {
                // Who may synchronise with a release depends on its block and reach only.
                let same = |r: &&mut Release| (r.block, r.reach) == (release.block, release.reach);
                match self.releases.iter_mut().find(same) {
                    Some(r) => r.merge(&release.known),
                    None => self.releases.push(release.clone()),
                }
            }
            self.latest = Some(Latest { thread: me, epoch: actor.epoch, site: *actor.site });
        }
        found
    }

    /// The read observes the latest write: that, and all that happened before it at this location, comes before what
    /// follows.
    fn observe(&mut self, actor: &Actor<'_>, kept: usize) {
        for entry in self.entries.iter_mut().filter(|e| e.seen) {
            let known = |(thread, epoch): &(Thread, u32)| actor.follows(*thread, *epoch);
            if actor.follows(entry.thread, entry.epoch) || entry.observers.iter().any(known) {
                continue;
            }
            if entry.observers.len() < kept {
                entry.observers.push((actor.thread, actor.epoch));
            } else {
                entry.more_observers = true;
            }
        }
    }

    /// Drops the accesses that this one stands for.
    fn retire(&mut self, actor: &Actor<'_>) {
        let writes = actor.site.kind.writes();
        self.entries.retain_mut(|entry| {
            let before = happened_before(entry, actor);
            if writes {
                entry.seen = before;
            }
            !(before && actor.site.stands_for(&entry.site))
        });
    }

    fn keep(&mut self, actor: &Actor<'_>, kept: usize) {
        if self.entries.len() < kept {
            self.push(actor.thread, actor.epoch, actor.pc, *actor.site, actor.value);
        } else {
            Dropped::add(&mut self.dropped, actor.thread, actor.epoch, *actor.site);
        }
    }
}

/// Whether a read observes a write that it reads from (observation order): they are morally strong, or of one thread.
fn observes(write: &Latest, actor: &Actor<'_>) -> bool {
    let me = actor.thread;
    write.site.width == actor.site.width
        && (write.thread == me || write.site.morally_strong(actor.site, write.thread.same_block(me)))
}

/// Whether an access happened before another at its location.
fn happened_before(entry: &Entry, actor: &Actor<'_>) -> bool {
    actor.follows(entry.thread, entry.epoch)
        || entry.observers.iter().any(|(thread, epoch)| actor.follows(*thread, *epoch))
}
