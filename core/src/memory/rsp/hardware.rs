//! What tables 1 and 2 act on, whatever it is made of: the rules are written once, over this trait. The abstract machine
//! ([`System`](super::System)) has locations by number and values of 32 bits; the memory of PTX kernels has bytes with masks.

use super::assembly::Reach;
use super::state::{Hygiene, Mark};

/// A cache: of which work-group, or of which device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cache<G, D> {
    /// The L1 cache of a work-group.
    L1(G),
    /// The L2 cache of a device.
    L2(D),
}

/// A cache of some hardware.
pub type CacheOf<H> = Cache<<H as Hardware>::Group, <H as Hardware>::Device>;
/// An element of a fifo of some hardware.
pub type MarkOf<H> = Mark<<H as Hardware>::Location, <H as Hardware>::Thread>;

/// The state Σ of section 5.1, as the rules see it.
pub trait Hardware {
    /// A location.
    type Location: Copy;
    /// A work-group.
    type Group: Copy + PartialEq;
    /// A device.
    type Device: Copy;
    /// A thread.
    type Thread: Copy + PartialEq;
    /// What a location holds.
    type Value: Copy;

    /// The work-group of a thread.
    fn group_of(&self, thread: Self::Thread) -> Self::Group;

    /// The device of a work-group.
    fn device_of(&self, group: Self::Group) -> Self::Device;

    /// For each work-group that somebody of `own` reaches, in a fixed order.
    fn each_group(&mut self, own: Self::Group, reach: Reach, act: impl FnMut(&mut Self, Self::Group));

    /// For each device that somebody of `own` reaches, in a fixed order.
    fn each_device(&mut self, own: Self::Group, reach: Reach, act: impl FnMut(&mut Self, Self::Device));

    /// `unflushed`: whether a marker of the thread is in some fifo.
    fn unflushed(&self, thread: Self::Thread) -> bool;

    /// A marker of a thread entered a fifo.
    fn marker_enters(&mut self, thread: Self::Thread);

    /// A marker of a thread left a fifo.
    fn marker_leaves(&mut self, thread: Self::Thread);

    /// `notDirty` of table 2.
    fn not_dirty(&self, cache: CacheOf<Self>, at: Self::Location) -> bool;

    /// The value of an entry, valid or not.
    fn held(&self, cache: CacheOf<Self>, at: Self::Location) -> Option<Self::Value>;

    /// `C(x) = (v, _, VALID)`
    fn valid(&self, cache: CacheOf<Self>, at: Self::Location) -> Option<Self::Value>;

    /// The entry is valid from now on; a new one where there is none.
    fn put(&mut self, cache: CacheOf<Self>, at: Self::Location, value: Self::Value, hygiene: Hygiene);

    /// The entry is clean from now on.
    fn clean(&mut self, cache: CacheOf<Self>, at: Self::Location);

    /// Removes an entry that is there and clean; whether there was one.
    fn evict(&mut self, cache: CacheOf<Self>, at: Self::Location) -> bool;

    /// `invalidate` of table 1: an entry that is not there stays away.
    fn invalidate(&mut self, cache: CacheOf<Self>, at: Self::Location);

    /// The same for all entries.
    fn invalidate_all(&mut self, cache: CacheOf<Self>);

    /// What global memory has.
    fn global(&self, at: Self::Location) -> Self::Value;

    /// Global memory has it from now on.
    fn set_global(&mut self, at: Self::Location, value: Self::Value);

    /// Adds an element to a fifo.
    fn enqueue(&mut self, cache: CacheOf<Self>, mark: MarkOf<Self>);

    /// The element that leaves a fifo next.
    fn tail(&self, cache: CacheOf<Self>) -> Option<MarkOf<Self>>;

    /// Removes it.
    fn dequeue(&mut self, cache: CacheOf<Self>);

    /// Who holds the rmw lock of a work-group.
    fn rmw(&self, group: Self::Group) -> Option<Self::Thread>;

    /// Somebody holds it from now on, or nobody.
    fn set_rmw(&mut self, group: Self::Group, holder: Option<Self::Thread>);

    /// Who holds a location's lock in a lock file.
    fn locked(&self, device: Self::Device, at: Self::Location) -> Option<Self::Thread>;

    /// Somebody holds it from now on, or nobody.
    fn set_locked(&mut self, device: Self::Device, at: Self::Location, holder: Option<Self::Thread>);

    /// Ghost: an instruction wrote a value into a cache, or into global memory.
    fn wrote(&mut self, _to: Option<CacheOf<Self>>, _at: Self::Location, _value: Self::Value) {}

    /// Ghost: what was written to a cache is in the level below from now on, which for an L2 cache is global memory.
    fn moved(&mut self, _from: CacheOf<Self>, _to: Option<CacheOf<Self>>, _at: Self::Location) {}
}
