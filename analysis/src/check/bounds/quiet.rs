//! Where accesses are all right without a look at each: inside of the one object that their address can be derived from.

use super::ground::Ground;
use crate::check::provenance::plan::{AccessSite, Plan, Site};
use crate::program::instr::MemOp;
use crate::verdict::Extent;
use std::sync::Arc;

/// Of each instruction, the addresses at which its accesses are right and nothing is carried through memory.
pub(super) fn extents(plan: &Plan, ground: &Ground) -> Arc<[Extent]> {
    // A store of numbers matters where addresses were.
    let makes = plan.sites.iter().any(|site| matches!(site, Site::Malloc));
    let holds = makes || plan.accesses.iter().any(|a| a.stores) || !ground.device.words.borrow().is_empty();
    let quiet = |access: &AccessSite| {
        let carries = access.loads || access.stores || access.request.op != MemOp::Load && holds;
        let object = access.base.filter(|_| !carries).and_then(|base| ground.root(base)?.object());
        object.map_or_else(Extent::default, |(_, extent)| extent)
    };
    let extent = |site: &Site| match site {
        Site::Access(number) => plan.accesses.get(*number as usize).map_or_else(Extent::default, quiet),
        _ => Extent::default(),
    };
    plan.sites.iter().map(extent).collect()
}
