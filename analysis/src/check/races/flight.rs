//! Accesses in flight on memory with caches (D-races-caches).
//!
//! A thread's clock does not change while an access of it is in flight: barriers, fences and acquires wait for it. So
//! accesses are compared when they are issued, in an order in which every access comes after those that happened before it.
//! What depends on when they take effect is which write a strong read observes: memory tells that, by the names that the
//! accesses were given, and only then the read takes over what the write releases. A fence counts from when its
//! condition holds: reads before it have observed what they will by then.

use super::clock::Known;
use super::context::Context;
use super::history::{Deed, Release};
use super::threads::{Block, Moment};
use crate::base::LANES;
use crate::verdict::AccessId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The strong accesses of a launch that others may observe, or that have not observed anything yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Flights {
    /// The last name given, without the launch.
    last: u64,
    /// Strong writes.
    pub writes: FxHashMap<Element, Written>,
    /// The epochs of strong reads that have not found their values.
    pub reads: FxHashMap<Element, u32>,
}

/// One element of a lane's access, as a key: by its number and its address. A name itself does not count for a hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Element(u64, u64);

impl Element {
    pub const fn new(access_id: AccessId, address: u64) -> Self {
        Self(access_id.0, address)
    }
}

/// A strong write.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub did: Deed,
    /// What it makes visible; a read-modify-write hands on what it observed, too.
    pub releases: Vec<Release>,
    /// What happened before it, and itself.
    pub known: Arc<Known>,
}

impl Flights {
    /// A name for an access of a launch, and one for each lane: no other launch gives it.
    pub fn name(&mut self, launch: u32) -> AccessId {
        self.last += LANES as u64;
        AccessId(u64::from(launch) << 40 | self.last)
    }

    /// A lane issues a strong access of an element.
    pub fn depart(
        &mut self,
        block: &Block,
        (warp, lane): (usize, usize),
        access_id: AccessId,
        address: u64,
        cx: &Context<'_>,
        releases: Vec<Release>,
    ) {
        let (thread, epoch) = (block.thread(warp, lane), block.epoch);
        if cx.site.kind.reads() {
            self.reads.insert(Element::new(access_id, address), epoch);
        }
        if cx.site.kind.writes() {
            let known = Arc::new(Moment::now(block, warp, lane).known());
            let did = Deed { thread, epoch, pc: cx.pc, site: *cx.site, value: None };
            self.writes.insert(Element::new(access_id, address), Written { did, releases, known });
        }
    }
}
