//! Caches and device memory as what the rules act on.

use super::caches::{At, Caches, Entry, Group, Thread, UNIT, Unit, Value, below, set_below};
use crate::memory::flat::Arena;
use crate::memory::rsp::{CacheAt, CacheOf, Hardware, Hygiene, Mark, MarkOf, Reach};
use crate::verdict::AccessId;

/// The conditions of the rules on these caches, over device memory. What rules would change, they do not: a rule that answers
/// here would fire.
pub(super) struct Probe<'a> {
    pub caches: &'a Caches,
    pub arena: &'a Arena,
}

/// The rules on these caches.
pub(super) struct View<'a> {
    pub caches: &'a mut Caches,
    pub arena: &'a mut Arena,
}

/// What both ask.
macro_rules! asked {
    () => {
        type Location = At;
        type Group = Group;
        type Device = ();
        type Thread = Thread;
        type Value = Value;

        fn group_of(&self, thread: Thread) -> Group {
            thread.group()
        }

        fn device_of(&self, _: Group) {}

        fn each_group(&mut self, own: Group, reach: Reach, mut act: impl FnMut(&mut Self, Group)) {
            if reach == Reach::Group {
                return act(self, own);
            }
            let all: Vec<Group> = self.caches.l1.keys().copied().collect();
            all.into_iter().for_each(|group| act(self, group));
        }

        fn each_device(&mut self, _: Group, _: Reach, mut act: impl FnMut(&mut Self, ())) {
            act(self, ());
        }

        fn unflushed(&self, thread: Thread) -> bool {
            self.caches.markers.contains_key(&thread)
        }

        fn not_dirty(&self, cache: CacheOf<Self>, at: At) -> bool {
            match cache {
                CacheAt::L1(group) => self.caches.entry(group, at.unit).is_none_or(|e| e.dirty & at.mask == 0),
                CacheAt::L2(()) => true,
            }
        }

        fn held(&self, cache: CacheOf<Self>, at: At) -> Option<Value> {
            match cache {
                CacheAt::L1(group) => self.caches.entry(group, at.unit).map(Entry::value),
                CacheAt::L2(()) => Some(self.global(at)),
            }
        }

        fn valid(&self, cache: CacheOf<Self>, at: At) -> Option<Value> {
            match cache {
                CacheAt::L1(group) => {
                    let entry = self.caches.entry(group, at.unit)?;
                    (entry.valid & at.mask == at.mask).then(|| entry.value())
                }
                CacheAt::L2(()) => Some(self.global(at)),
            }
        }

        fn global(&self, at: At) -> Value {
            Value { bytes: below(self.arena, at.unit), by: self.caches.writers(at.unit) }
        }

        fn tail(&self, cache: CacheOf<Self>) -> Option<MarkOf<Self>> {
            let CacheAt::L1(group) = cache else { return None };
            self.caches.l1.get(&group)?.fifo.front().copied()
        }

        fn rmw(&self, group: Group) -> Option<Thread> {
            self.caches.l1.get(&group)?.rmw
        }

        fn locked(&self, (): (), at: At) -> Option<Thread> {
            self.caches.locks.get(&at.unit).copied()
        }
    };
}

impl Hardware for Probe<'_> {
    asked!();

    fn marker_enters(&mut self, _: Thread) {}

    fn marker_leaves(&mut self, _: Thread) {}

    fn put(&mut self, _: CacheOf<Self>, _: At, _: Value, _: Hygiene) {}

    fn clean(&mut self, _: CacheOf<Self>, _: At) {}

    fn evict(&mut self, _: CacheOf<Self>, _: At) -> bool {
        false
    }

    fn invalidate(&mut self, _: CacheOf<Self>, _: At) {}

    fn invalidate_all(&mut self, _: CacheOf<Self>) {}

    fn set_global(&mut self, _: At, _: Value) {}

    fn enqueue(&mut self, _: CacheOf<Self>, _: MarkOf<Self>) {}

    fn dequeue(&mut self, _: CacheOf<Self>) {}

    fn set_rmw(&mut self, _: Group, _: Option<Thread>) {}

    fn set_locked(&mut self, (): (), _: At, _: Option<Thread>) {}
}

impl Hardware for View<'_> {
    asked!();

    fn marker_enters(&mut self, thread: Thread) {
        *self.caches.markers.entry(thread).or_default() += 1;
    }

    fn marker_leaves(&mut self, thread: Thread) {
        self.caches.marker_gone(thread);
    }

    fn put(&mut self, cache: CacheOf<Self>, at: At, value: Value, hygiene: Hygiene) {
        match cache {
            CacheAt::L1(group) => self.caches.change(group, at.unit, |entry| {
                entry.take_over(at.mask, &value);
                entry.valid |= at.mask;
                match hygiene {
                    Hygiene::Clean => entry.dirty &= !at.mask,
                    Hygiene::Dirty => entry.dirty |= at.mask,
                }
            }),
            // What the L2 cache gets is flushed from it at once.
            CacheAt::L2(()) => self.set_global(at, value),
        }
    }

    fn clean(&mut self, cache: CacheOf<Self>, at: At) {
        if let CacheAt::L1(group) = cache {
            self.caches.change(group, at.unit, |entry| {
                entry.dirty &= !at.mask;
                entry.forget(0);
            });
        }
    }

    /// Nothing needs it (D-rsp-reduced).
    fn evict(&mut self, _: CacheOf<Self>, _: At) -> bool {
        false
    }

    fn invalidate(&mut self, cache: CacheOf<Self>, at: At) {
        if let CacheAt::L1(group) = cache
            && self.caches.entry(group, at.unit).is_some()
        {
            self.caches.change(group, at.unit, |entry| entry.forget(at.mask));
        }
    }

    fn invalidate_all(&mut self, cache: CacheOf<Self>) {
        let CacheAt::L1(group) = cache else { return };
        let entries = self.caches.l1.get(&group).into_iter().flat_map(|l1| &l1.entries);
        let units: Vec<Unit> = entries.filter(|(_, e)| e.valid != 0).map(|(unit, _)| *unit).collect();
        units.into_iter().for_each(|unit| self.invalidate(cache, At { unit, mask: !0 }));
    }

    fn set_global(&mut self, at: At, value: Value) {
        set_below(self.arena, at, &value.bytes);
        self.caches.belong(at, &value.by);
        // Copies elsewhere may be older from now on.
        self.caches.touch(at.unit);
    }

    /// A location that is already behind the last marker need not be there again (D-rsp-ptx-fifo).
    fn enqueue(&mut self, cache: CacheOf<Self>, mark: MarkOf<Self>) {
        let CacheAt::L1(group) = cache else { return };
        let Some(l1) = self.caches.l1.get_mut(&group) else { return };
        self.caches.queued.push(group);
        if let Mark::Location(at) = mark {
            let mut recent = l1.fifo.iter_mut().rev().map_while(|m| match m {
                Mark::Location(at) => Some(at),
                Mark::Flush(_) => None,
            });
            if let Some(same) = recent.find(|same| same.unit == at.unit) {
                same.mask |= at.mask;
                return;
            }
        }
        l1.fifo.push_back(mark);
    }

    fn dequeue(&mut self, cache: CacheOf<Self>) {
        if let CacheAt::L1(group) = cache
            && let Some(l1) = self.caches.l1.get_mut(&group)
        {
            l1.fifo.pop_front();
        }
    }

    fn wrote(&mut self, to: Option<CacheOf<Self>>, at: At, value: Value) {
        // All its bytes are one access's.
        let access_id = value.by[at.mask.trailing_zeros() as usize % UNIT];
        match to {
            Some(CacheAt::L1(group)) if access_id != AccessId::NONE => {
                self.caches.change(group, at.unit, |entry| entry.since.push((access_id, at.mask)));
            }
            Some(CacheAt::L1(_)) => {}
            _ => self.caches.arrive(at, access_id, self.arena),
        }
    }

    fn moved(&mut self, from: CacheOf<Self>, _: Option<CacheOf<Self>>, at: At) {
        if let CacheAt::L1(group) = from {
            self.caches.arrive_all(group, at.unit, self.arena);
        }
    }

    fn set_rmw(&mut self, group: Group, holder: Option<Thread>) {
        self.caches.unlocked |= holder.is_none();
        if let Some(l1) = self.caches.l1.get_mut(&group) {
            l1.rmw = holder;
        }
    }

    fn set_locked(&mut self, (): (), at: At, holder: Option<Thread>) {
        self.caches.unlocked |= holder.is_none();
        match holder {
            Some(thread) => _ = self.caches.locks.insert(at.unit, thread),
            None => _ = self.caches.locks.remove(&at.unit),
        }
        self.caches.touch(at.unit);
    }
}
