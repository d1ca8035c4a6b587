//! Table 2: what the environment does. Any thread may trigger it (D-rsp-trigger): of the work-group whose L1 cache it is about,
//! of the device whose L2 cache it is about. `None`: its condition does not hold, and nothing has changed.

use super::hardware::{Cache, CacheOf, Hardware};
use super::instructions::{Fired, enter, invalidate_l2};
use super::state::{Hygiene, Mark};
use crate::base::mutant::{Mutant, on};
use crate::verdict::Rule;

/// Whether a thread of a work-group could trigger what a location's lock in the lock file is about.
#[inline]
pub(in crate::memory) fn may_trigger<H: Hardware>(h: &H, group: H::Group, at: H::Location) -> bool {
    let holder = h.locked(h.device_of(group), at);
    holder.is_none_or(|t| h.group_of(t) == group) || on(Mutant::RspLockFileIgnored)
}

/// Rule: rsp.env.EVICT-L1
#[inline]
pub(super) fn evict_l1<H: Hardware>(h: &mut H, group: H::Group, at: H::Location) -> Option<Fired> {
    h.evict(Cache::L1(group), at).then_some(Rule::RspEnvEvictL1)
}

/// Its lock is free or held by a thread of the device, which may trigger it: there are no others. Rule: rsp.env.EVICT-L2
#[inline]
pub(super) fn evict_l2<H: Hardware>(h: &mut H, device: H::Device, at: H::Location) -> Option<Fired> {
    h.evict(Cache::L2(device), at).then_some(Rule::RspEnvEvictL2)
}

/// Entries that are not there stay away (D-rsp-absent). Rule: rsp.env.FLUSH-L1
#[inline]
pub(in crate::memory) fn flush_l1<H: Hardware>(h: &mut H, group: H::Group, at: H::Location) -> Option<Fired> {
    let from = Cache::L1(group);
    if h.not_dirty(from, at) || !may_trigger(h, group, at) {
        return None;
    }
    let value = h.held(from, at)?;
    let to = Cache::L2(h.device_of(group));
    invalidate_l2(h, group, at);
    if !on(Mutant::RspFlushLost) {
        enter(h, to, at, value);
    }
    h.clean(from, at);
    h.moved(from, Some(to), at);
    Some(Rule::RspEnvFlushL1)
}

/// Rule: rsp.env.FLUSH-L2
#[inline]
pub(super) fn flush_l2<H: Hardware>(h: &mut H, device: H::Device, at: H::Location) -> Option<Fired> {
    let from = Cache::L2(device);
    if h.not_dirty(from, at) {
        return None;
    }
    let value = h.held(from, at)?;
    if !on(Mutant::RspFlushL2Lost) {
        h.set_global(at, value);
    }
    h.clean(from, at);
    h.moved(from, None, at);
    Some(Rule::RspEnvFlushL2)
}

/// What is fetched is clean, also where the entry of the L2 cache is dirty. Rule: rsp.env.FETCH-L1
#[inline]
pub(in crate::memory) fn fetch_l1<H: Hardware>(h: &mut H, group: H::Group, at: H::Location) -> Option<Fired> {
    let dirty = !h.not_dirty(Cache::L1(group), at) && !on(Mutant::RspFetchOverDirty);
    if dirty || !may_trigger(h, group, at) {
        return None;
    }
    let below = h.valid(Cache::L2(h.device_of(group)), at)?;
    h.put(Cache::L1(group), at, below, Hygiene::Clean);
    Some(Rule::RspEnvFetchL1)
}

/// Rule: rsp.env.FETCH-L2
#[inline]
pub(super) fn fetch_l2<H: Hardware>(h: &mut H, device: H::Device, at: H::Location) -> Option<Fired> {
    if !h.not_dirty(Cache::L2(device), at) && !on(Mutant::RspFetchL2OverDirty) {
        return None;
    }
    let below = h.global(at);
    h.put(Cache::L2(device), at, below, Hygiene::Clean);
    Some(Rule::RspEnvFetchL2)
}

/// A location that is not dirty leaves a fifo.
#[inline]
pub(in crate::memory) fn dequeue_location<H: Hardware>(h: &mut H, cache: CacheOf<H>) -> Option<Fired> {
    let Some(Mark::Location(at)) = h.tail(cache) else { return None };
    let early = if matches!(cache, Cache::L1(_)) { Mutant::RspDequeuesDirty } else { Mutant::RspDequeuesDirtyL2 };
    if !h.not_dirty(cache, at) && !on(early) {
        return None;
    }
    h.dequeue(cache);
    // Rule: rsp.env.DEQLOC-L1, rsp.env.DEQLOC-L2
    Some(if matches!(cache, Cache::L1(_)) { Rule::RspEnvDeqLocL1 } else { Rule::RspEnvDeqLocL2 })
}

/// A marker leaves a fifo.
#[inline]
pub(in crate::memory) fn dequeue_marker<H: Hardware>(h: &mut H, cache: CacheOf<H>) -> Option<Fired> {
    let Some(Mark::Flush(thread)) = h.tail(cache) else { return None };
    if on(if matches!(cache, Cache::L1(_)) { Mutant::RspMarkerStays } else { Mutant::RspMarkerStaysL2 }) {
        return None;
    }
    h.dequeue(cache);
    h.marker_leaves(thread);
    // Rule: rsp.env.DEQMARKER-L1, rsp.env.DEQMARKER-L2
    Some(if matches!(cache, Cache::L1(_)) { Rule::RspEnvDeqMarkerL1 } else { Rule::RspEnvDeqMarkerL2 })
}
