//! The engine's state as a hash that does not depend on how operations are numbered.
//!
//! A number is the lowest that was free, which depends on the order in which other operations came and went. Here
//! operations are named by their warp and their place among the warp's, and pins by those names.

use super::cache::{Cache, OpIdx};
use super::engine::Fermi;
use super::operation::{Body, Operation, Target};
use crate::verdict::Who;
use rustc_hash::FxHashMap;
use std::hash::{Hash, Hasher};

impl Fermi {
    /// Adds the state to a hash.
    pub(super) fn hash_state(&self, mut into: &mut dyn Hasher) {
        let into = &mut into;
        let mut warps: Vec<&Who> = self.queues.keys().collect();
        warps.sort_unstable_by_key(|w| (w.launch, w.block, w.warp));
        let mut names: FxHashMap<u32, u32> = FxHashMap::default();
        for who in warps {
            let Some(queue) = self.queues.get(who) else { continue };
            (who, queue.held).hash(into);
            for k in &queue.operations {
                let name = u32::try_from(names.len()).unwrap_or(u32::MAX);
                names.insert(*k, name);
                if let Some(operation) = self.operations.get(*k) {
                    hash_operation(operation, into);
                }
            }
            for b in &queue.board {
                (names.get(&b.operation), b.depth, b.class, b.slot, b.lanes).hash(into);
            }
        }
        let rename = |op: OpIdx| OpIdx(names.get(&op.0).copied().unwrap_or(u32::MAX));
        let mut hash_cache = |cache: &Cache| {
            let mut cache = cache.clone();
            cache.rename(rename);
            cache.hash(into);
        };
        hash_cache(&self.env.l2);
        for sm in &self.env.sms {
            hash_cache(&sm.l1);
        }
        for sm in &self.env.sms {
            sm.locked.hash(into);
        }
        self.env.arena.hash_state(into);
    }
}

fn hash_operation(operation: &Operation, into: &mut impl Hasher) {
    (operation.issuer, operation.lanes, operation.parts.as_slice(), operation.rank).hash(into);
    match &operation.body {
        Body::Program { id, at, sigma } => (id, at, sigma).hash(into),
        Body::Fence { holds, wide, discards } => (holds, wide, discards).hash(into),
    }
    if let Target::Held(held) = &operation.target {
        for (slot, value) in &held.w {
            (slot, value).hash(into);
        }
        for (slot, value) in &held.q {
            (slot, value).hash(into);
        }
        held.p.hash(into);
    }
}
