//! What a thread knows of the others: vector clocks, made small by how kernels synchronise.
//!
//! Time is counted per block: an *epoch* ends whenever some thread of the block releases (a barrier, a fence, a
//! release). So one number stamps the accesses of all lanes of an instruction, and one number says "everything that any
//! thread of my block did before the last barrier". A clock is the point-wise maximum of what it knows of its whole
//! block, of its whole warp, and of a sorted list for everything else, which most kernels never need.

use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::sync::Arc;

/// A thread of the run: numbers that no other thread has, also over launches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) struct Thread {
    /// Its warp's number in the run, from 1.
    pub warp: u32,
    /// Its lane.
    pub lane: u32,
    /// The number of its block's first warp.
    pub block: u32,
}

impl Thread {
    /// Whether two threads are of one block.
    pub const fn same_block(self, other: Self) -> bool {
        self.block == other.block
    }
}

/// All threads of a block, all of a warp, or one: what an entry of [`Known`] is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) enum Group {
    /// The block whose first warp this is.
    Block(u32),
    /// A warp.
    Warp(u32),
    /// A lane of a warp.
    Thread(u32, u32),
}

impl Group {
    /// The groups that a thread belongs to.
    const fn of(thread: Thread) -> [Self; 3] {
        [Self::Block(thread.block), Self::Warp(thread.warp), Self::Thread(thread.warp, thread.lane)]
    }
}

/// What can be handed from thread to thread: the epoch up to which each group's accesses have happened.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Known {
    /// By ascending group, each once.
    groups: Vec<(Group, u32)>,
    /// The place in the order of fences up to which all fences are known ([`FenceOrder`]).
    fences: u32,
}

impl Known {
    /// Takes note that a group's accesses up to `epoch` have happened.
    pub fn add(&mut self, group: Group, epoch: u32) {
        if epoch == 0 {
            return;
        }
        match self.groups.binary_search_by_key(&group, |g| g.0) {
            Ok(at) => self.groups[at].1 = self.groups[at].1.max(epoch),
            Err(at) => self.groups.insert(at, (group, epoch)),
        }
    }

    /// Takes note of all fences up to a place in their order.
    pub fn know_fences(&mut self, fences: u32) {
        self.fences = self.fences.max(fences);
    }

    /// Takes over what another one knows.
    pub fn join(&mut self, other: &Self) {
        self.fences = self.fences.max(other.fences);
        // Two runs in order are merged at once; of two epochs of a group the later one comes first and stays.
        self.groups.extend_from_slice(&other.groups);
        self.groups.sort_by_key(|(group, epoch)| (*group, Reverse(*epoch)));
        self.groups.dedup_by_key(|(group, _)| *group);
    }

    /// Whether it knows everything that another one does.
    pub fn covers(&self, other: &Self) -> bool {
        self.fences >= other.fences && other.groups.iter().all(|(group, epoch)| self.get(*group) >= *epoch)
    }

    fn get(&self, group: Group) -> u32 {
        self.groups.binary_search_by_key(&group, |g| g.0).map_or(0, |at| self.groups[at].1)
    }

    /// The epoch up to which a thread's accesses have happened, 0 when none.
    pub fn of(&self, thread: Thread) -> u32 {
        Group::of(thread).into_iter().map(|group| self.get(group)).max().unwrap_or(0)
    }
}

/// What a thread knows of the others. Its own accesses, which are in program order, go without saying.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Clock {
    /// Up to here everything that its block did has happened.
    pub block: u32,
    /// Up to here everything that its warp did has happened.
    pub warp: u32,
    /// The place in the order of fences up to which all fences are known.
    pub fences: u32,
    /// Everything else.
    pub rest: Option<Arc<Known>>,
}

impl Clock {
    /// Takes over what another thread has released.
    pub fn join(&mut self, known: &Arc<Known>, me: Thread) {
        self.block = self.block.max(known.get(Group::Block(me.block)));
        self.warp = self.warp.max(known.get(Group::Warp(me.warp)));
        self.fences = self.fences.max(known.fences);
        match &mut self.rest {
            Some(rest) if Arc::ptr_eq(rest, known) || rest.covers(known) => {}
            Some(rest) => Arc::make_mut(rest).join(known),
            none => *none = Some(Arc::clone(known)),
        }
    }

    /// Whether an access of `other` in an epoch happened before what `me` does now.
    pub fn knows(&self, me: Thread, other: Thread, epoch: u32, order: &FenceOrder) -> bool {
        me.warp == other.warp && (me.lane == other.lane || epoch <= self.warp)
            || me.block == other.block && epoch <= self.block
            || self.rest.as_ref().is_some_and(|rest| epoch <= rest.of(other))
            || self.fences > 0 && epoch <= order.of(other, self.fences)
    }

    /// What it hands on when it belongs to `me` at an epoch; `group` is what acts: the thread, or more where lanes act
    /// as one.
    pub fn released(&self, me: Thread, group: Group, epoch: u32) -> Known {
        let mut known = self.rest.as_ref().map_or_else(Known::default, |rest| (**rest).clone());
        known.fences = known.fences.max(self.fences);
        known.add(Group::Block(me.block), self.block);
        known.add(Group::Warp(me.warp), self.warp);
        known.add(group, epoch);
        known
    }
}

/// The order of sequentially consistent fences (Fence-SC): each knows what all fences before it knew. Kept as a history
/// for each group, since handing everything from fence to fence would take time in the square of their number.
#[derive(Clone, Debug, Default)]
pub(super) struct FenceOrder {
    /// The number of fences so far.
    count: u32,
    /// For each group the epochs that fences made known, with the number of the fence; both ascend.
    history: FxHashMap<Group, Vec<(u32, u32)>>,
}

impl FenceOrder {
    /// The place of a fence that comes now: after all that were [added](Self::add).
    pub const fn now(&self) -> u32 {
        self.count
    }

    /// A fence of which this is known.
    pub fn add(&mut self, known: &Known) {
        self.count += 1;
        for (group, epoch) in &known.groups {
            let history = self.history.entry(*group).or_default();
            if history.last().is_none_or(|last| last.1 < *epoch) {
                history.push((self.count, *epoch));
            }
        }
    }

    /// The epoch of a thread that the first `fences` fences made known.
    fn of(&self, thread: Thread, fences: u32) -> u32 {
        let one = |group: Group| {
            let history = self.history.get(&group)?;
            let after = history.partition_point(|(fence, _)| *fence <= fences);
            Some(history.get(after.checked_sub(1)?)?.1)
        };
        Group::of(thread).into_iter().filter_map(one).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn thread(warp: u32, lane: u32) -> Thread {
        Thread { warp, lane, block: (warp - 1) / 2 * 2 + 1 }
    }

    #[test]
    fn a_clock_knows_blocks_warps_and_threads() {
        let order = FenceOrder::default();
        let (me, mate, near, far) = (thread(1, 0), thread(1, 1), thread(2, 0), thread(3, 0));
        let mut clock = Clock { block: 2, warp: 4, ..Clock::default() };
        assert!(clock.knows(me, me, 9, &order));
        assert!(clock.knows(me, mate, 4, &order) && !clock.knows(me, mate, 5, &order));
        assert!(clock.knows(me, near, 2, &order) && !clock.knows(me, near, 3, &order));
        assert!(!clock.knows(me, far, 1, &order));
        // What the far thread releases, with what it had from `near`.
        let mut theirs = Clock::default();
        theirs.join(&Arc::new(clock.released(near, Group::Thread(2, 0), 7)), far);
        let released = Arc::new(theirs.released(far, Group::Thread(3, 0), 5));
        clock.join(&released, me);
        assert!(clock.knows(me, far, 5, &order) && !clock.knows(me, far, 6, &order));
        assert!(clock.knows(me, near, 7, &order) && !clock.knows(me, mate, 5, &order));
    }

    #[test]
    fn joining_takes_the_later_epoch_of_each() {
        let mut a = Known::default();
        let mut b = Known::default();
        for (group, x, y) in [(Group::Warp(1), 3, 5), (Group::Warp(2), 4, 0), (Group::Block(1), 0, 2)] {
            a.add(group, x);
            b.add(group, y);
        }
        let before = a.clone();
        a.join(&b);
        assert!(a.covers(&b) && a.covers(&before) && !before.covers(&b));
        assert_eq!((a.get(Group::Warp(1)), a.get(Group::Warp(2)), a.get(Group::Block(1))), (5, 4, 2));
    }

    #[test]
    fn a_fence_knows_the_fences_before_it() {
        let mut order = FenceOrder::default();
        let (a, b) = (thread(1, 0), thread(3, 0));
        order.add(&Clock::default().released(a, Group::Thread(1, 0), 3));
        let early = Clock { fences: order.now(), ..Clock::default() };
        order.add(&Clock::default().released(a, Group::Thread(1, 0), 6));
        let late = Clock { fences: order.now(), ..Clock::default() };
        assert!(early.knows(b, a, 3, &order) && !early.knows(b, a, 4, &order));
        assert!(late.knows(b, a, 6, &order) && !late.knows(b, a, 7, &order));
    }
}
