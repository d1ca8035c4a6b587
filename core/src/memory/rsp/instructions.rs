//! Table 1: what an instruction does when a thread executes it. `None` is **block**, and nothing has changed.

use super::assembly::{Level, Reach};
use super::hardware::{Cache, Hardware};
use super::state::{Hygiene, Mark};
use crate::base::mutant::{Mutant, on};
use crate::verdict::Rule;

/// A rule that fired.
pub type Fired = Rule;

/// What an update makes of a value that it found: what it stores, nothing where an exchange fails.
pub(in crate::memory) trait Change<H: Hardware>:
    FnOnce(&mut H, H::Value) -> Option<H::Value>
{
}

impl<H: Hardware, F: FnOnce(&mut H, H::Value) -> Option<H::Value>> Change<H> for F {}

/// The check that the paper leaves implicit in every row: a thread with a marker in some fifo is blocked.
#[inline]
pub(in crate::memory) fn may_execute<H: Hardware>(h: &H, thread: H::Thread) -> bool {
    !h.unflushed(thread) || on(Mutant::RspMarkersIgnored)
}

/// `ready` of table 1: a lock is free, or the thread's own.
fn ready<T: PartialEq>(holder: Option<T>, thread: T) -> bool {
    holder.is_none_or(|t| t == thread)
}

/// Gives what is loaded. Rule: rsp.LD
#[inline]
pub(in crate::memory) fn load<H: Hardware>(h: &H, group: H::Group, at: H::Location) -> Option<(H::Value, Fired)> {
    let own = Cache::L1(group);
    let value = if on(Mutant::RspLoadsInvalid) { h.held(own, at) } else { h.valid(own, at) }?;
    Some((value, Rule::RspLd))
}

/// Rule: rsp.ST
#[inline]
pub(in crate::memory) fn store<H: Hardware>(h: &mut H, group: H::Group, at: H::Location, value: H::Value) -> Fired {
    let own = Cache::L1(group);
    enter(h, own, at, value);
    h.wrote(Some(own), at, value);
    Rule::RspSt
}

/// `store` of table 1, into a cache: a new entry where there is none.
#[inline]
pub(super) fn enter<H: Hardware>(h: &mut H, cache: Cache<H::Group, H::Device>, at: H::Location, value: H::Value) {
    h.put(cache, at, value, Hygiene::Dirty);
    if !(on(Mutant::RspStoresUnqueued) && matches!(cache, Cache::L1(_))) {
        h.enqueue(cache, Mark::Location(at));
    }
}

/// A location's entries of all L2 caches become invalid.
#[inline]
pub(super) fn invalidate_l2<H: Hardware>(h: &mut H, own: H::Group, at: H::Location) {
    h.each_device(own, Reach::System, |h, device| h.invalidate(Cache::L2(device), at));
}

/// Rule: rsp.INC-L1
#[inline]
pub(in crate::memory) fn update_l1<H: Hardware>(
    h: &mut H,
    thread: H::Thread,
    at: H::Location,
    change: impl Change<H>,
) -> Option<Fired> {
    let group = h.group_of(thread);
    if !ready(h.rmw(group), thread) && !on(Mutant::RspRmwLockIgnored) {
        return None;
    }
    let found = h.valid(Cache::L1(group), at)?;
    if let Some(new) = change(h, found) {
        store(h, group, at, new);
    }
    Some(Rule::RspIncL1)
}

/// What an update that is not made in the L1 cache asks for: locks are free, or its thread's own, and no cache that it goes past
/// has the location dirty.
#[inline]
fn passes<H: Hardware>(h: &H, thread: H::Thread, at: H::Location, past: &[Cache<H::Group, H::Device>]) -> bool {
    let group = h.group_of(thread);
    let clean = on(Mutant::RspDirtyPassed) || past.iter().all(|cache| h.not_dirty(*cache, at));
    ready(h.rmw(group), thread) && clean && ready(h.locked(h.device_of(group), at), thread)
}

/// Rule: rsp.INC-L2
#[inline]
pub(in crate::memory) fn update_l2<H: Hardware>(
    h: &mut H,
    thread: H::Thread,
    at: H::Location,
    change: impl Change<H>,
) -> Option<Fired> {
    let group = h.group_of(thread);
    let (device, own) = (h.device_of(group), Cache::L1(group));
    if !passes(h, thread, at, &[own]) {
        return None;
    }
    let found = h.valid(Cache::L2(device), at)?;
    if !on(Mutant::RspIncrementKeepsL1) {
        h.invalidate(own, at);
    }
    if let Some(new) = change(h, found) {
        invalidate_l2(h, group, at);
        enter(h, Cache::L2(device), at, new);
        h.wrote(Some(Cache::L2(device)), at, new);
    }
    Some(Rule::RspIncL2)
}

/// An addition of ours, the counterpart for scope ALL (D-rsp-all). Rule: rsp.INC-GL
#[inline]
pub(in crate::memory) fn update_global<H: Hardware>(
    h: &mut H,
    thread: H::Thread,
    at: H::Location,
    change: impl Change<H>,
) -> Option<Fired> {
    let group = h.group_of(thread);
    let (device, own) = (h.device_of(group), Cache::L1(group));
    if !passes(h, thread, at, &[own, Cache::L2(device)]) {
        return None;
    }
    let keeps = on(Mutant::RspGlobalKeepsCaches);
    if !keeps {
        h.invalidate(own, at);
        h.invalidate(Cache::L2(device), at);
    }
    let found = h.global(at);
    if let Some(new) = change(h, found) {
        if !keeps {
            invalidate_l2(h, group, at);
        }
        h.set_global(at, new);
        h.wrote(None, at, new);
    }
    Some(Rule::RspIncGl)
}

/// Puts markers into fifos.
#[inline]
pub(in crate::memory) fn flush<H: Hardware>(h: &mut H, thread: H::Thread, level: Level, reach: Reach) -> Fired {
    let group = h.group_of(thread);
    if level == Level::L1 {
        // Rule: rsp.FLU-L1
        let reach = if on(Mutant::RspFlushesOwn) { Reach::Group } else { reach };
        h.each_group(group, reach, |h, which| {
            h.enqueue(Cache::L1(which), Mark::Flush(thread));
            h.marker_enters(thread);
        });
        return Rule::RspFluL1;
    }
    // Rule: rsp.FLU-L2
    if on(Mutant::RspFlushesNoL2) {
        return Rule::RspFluL2;
    }
    h.each_device(group, reach, |h, which| {
        h.enqueue(Cache::L2(which), Mark::Flush(thread));
        h.marker_enters(thread);
    });
    Rule::RspFluL2
}

/// Invalidates all entries, dirty ones, too, which stay dirty.
#[inline]
pub(in crate::memory) fn invalidate<H: Hardware>(h: &mut H, group: H::Group, level: Level, reach: Reach) -> Fired {
    if level == Level::L1 {
        // Rule: rsp.INV-L1
        let reach = if on(Mutant::RspInvalidatesOwn) { Reach::Group } else { reach };
        h.each_group(group, reach, |h, which| h.invalidate_all(Cache::L1(which)));
        return Rule::RspInvL1;
    }
    // An addition of ours, for scope ALL (D-rsp-all). Rule: rsp.INV-L2
    if !on(Mutant::RspKeepsL2) {
        h.each_device(group, reach, |h, which| h.invalidate_all(Cache::L2(which)));
    }
    Rule::RspInvL2
}

/// Rule: rsp.LK-L2
#[inline]
pub(in crate::memory) fn lock<H: Hardware>(h: &mut H, thread: H::Thread, at: H::Location) -> Option<Fired> {
    let device = h.device_of(h.group_of(thread));
    if !ready(h.locked(device, at), thread) && !on(Mutant::RspLockTaken) {
        return None;
    }
    h.set_locked(device, at, Some(thread));
    Some(Rule::RspLkL2)
}

/// Whoever holds it (D-rsp-unlock). Rule: rsp.UL-L2
#[inline]
pub(in crate::memory) fn unlock<H: Hardware>(h: &mut H, thread: H::Thread, at: H::Location) -> Fired {
    let device = h.device_of(h.group_of(thread));
    if !on(Mutant::RspUnlockIdle) {
        h.set_locked(device, at, None);
    }
    Rule::RspUlL2
}

/// Rule: rsp.LK-rmw
#[inline]
pub(in crate::memory) fn lock_rmw<H: Hardware>(h: &mut H, thread: H::Thread, reach: Reach) -> Option<Fired> {
    let own = h.group_of(thread);
    let reach = if on(Mutant::RspLocksOwnRmw) { Reach::Group } else { reach };
    let mut free = true;
    h.each_group(own, reach, |h, group| free &= ready(h.rmw(group), thread));
    if !free {
        return None;
    }
    h.each_group(own, reach, |h, group| h.set_rmw(group, Some(thread)));
    Some(Rule::RspLkRmw)
}

/// Whoever holds them (D-rsp-unlock). Rule: rsp.UL-rmw
#[inline]
pub(in crate::memory) fn unlock_rmw<H: Hardware>(h: &mut H, group: H::Group, reach: Reach) -> Fired {
    let reach = if on(Mutant::RspUnlocksOwnRmw) { Reach::Group } else { reach };
    h.each_group(group, reach, |h, group| h.set_rmw(group, None));
    Rule::RspUlRmw
}
