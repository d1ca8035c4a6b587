//! The sets of OpenCL's models that events are in, by herd's names.

use super::half::Half;
use crate::litmus::rsp::{Access, MemoryOrder, MemoryScope, Region};
use crate::litmus::tree::{Litmus, OpenClAccess};

/// The names of the sets, by the bits that stand for them.
pub(super) const TAGS: &[&str] = &[
    "A",
    "G",
    "L",
    "nonatomicloc",
    "remote",
    "rmw",
    "I",
    "memory_order_relaxed",
    "memory_order_acquire",
    "memory_order_release",
    "memory_order_acq_rel",
    "memory_order_seq_cst",
    "memory_scope_work_group",
    "memory_scope_device",
    "memory_scope_all_svm_devices",
];

/// The bit of a set.
fn tag(name: &str) -> u64 {
    TAGS.iter().position(|tag| *tag == name).map_or(0, |bit| 1 << bit)
}

fn when(holds: bool, name: &str) -> u64 {
    if holds { tag(name) } else { 0 }
}

/// The sets of whatever accesses a location.
fn location(atomic: bool, region: Region) -> u64 {
    let region = match region {
        Region::Global => "G",
        Region::Local => "L",
    };
    tag(region) | when(!atomic, "nonatomicloc")
}

/// The sets of a load or a store. An atomic operation that reads and writes has those of its write, its read those that it has if nothing
/// is written: only a compare-exchange may do so, and has another order then (D-rsp-update).
pub(super) fn memory(access: OpenClAccess, half: Half, rmw: bool) -> u64 {
    let OpenClAccess { access, failure, atomic, region } = access;
    let all = location(atomic, region) | when(rmw && half == Half::Store, "rmw");
    let Access::Atomic { order, scope, remote } = access else { return all };
    let order: MemoryOrder = if half == Half::Load { failure.unwrap_or(order) } else { order };
    all | tag("A") | tag(order.name()) | tag(MemoryScope::constant(scope)) | when(remote, "remote")
}

/// The sets of the initial write of each location.
pub(super) fn initial(litmus: &Litmus) -> Vec<u64> {
    let Some(test) = &litmus.rsp else { return Vec::new() };
    test.locations.iter().map(|l| tag("I") | location(l.atomic, l.region)).collect()
}
