//! The sets of the models that events of litmus tests are in.

use crate::litmus::tree::{Access, Proxy};
use crate::program::instr::{Order, Scope};

/// The names of the sets, by the bits that stand for them.
pub(super) const TAGS: &[&str] = &[
    "WEAK", "RLX", "ACQ", "REL", "ACQ_REL", "SC", "CTA", "GPU", "SYS", "GEN", "TEX", "SUR", "CON", "ALIAS", "RMW",
];

/// Events to be in the sets of these names.
pub(super) fn tags(names: &[&str]) -> u64 {
    names.iter().filter_map(|name| TAGS.iter().position(|tag| tag == name)).fold(0, |all, bit| all | 1 << bit)
}

/// Whether tags have a name among them.
pub(super) fn has(all: u64, name: &str) -> bool {
    all & tags(&[name]) != 0
}

const fn scope(scope: Option<Scope>) -> &'static str {
    match scope {
        Some(Scope::Cta | Scope::Cluster) => "CTA",
        Some(Scope::Gpu) => "GPU",
        Some(Scope::Sys) => "SYS",
        Some(Scope::Lane) | None => "",
    }
}

const fn proxy(proxy: Proxy) -> &'static str {
    match proxy {
        Proxy::Generic => "GEN",
        Proxy::Constant => "CON",
        Proxy::Texture => "TEX",
        Proxy::Surface => "SUR",
    }
}

/// What a memory instruction does to memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Load,
    Store,
}

/// The sets of a load or a store, be it half of an atomic operation: there the load is an acquire only where the operation is one,
/// the store a release likewise; otherwise they are relaxed.
pub(super) fn memory(access: Access, half: Half, atomic: bool) -> u64 {
    let order = match (access.order, half) {
        (Order::Weak, _) => "WEAK",
        (Order::Acquire | Order::AcqRel, Half::Load) => "ACQ",
        (Order::Release | Order::AcqRel, Half::Store) => "REL",
        _ => "RLX",
    };
    tags(&[order, scope(access.scope), proxy(access.proxy), if atomic { "RMW" } else { "" }])
}

/// The sets of a fence. A fence that is sequentially consistent is an acquire and a release, too.
pub(super) fn fence(order: Order, of: Scope) -> u64 {
    let orders = if order == Order::Sc { ["SC", "ACQ_REL"] } else { ["ACQ_REL", ""] };
    tags(&[orders[0], orders[1], scope(Some(of)), "GEN"])
}

/// The sets of a fence of a proxy; none: of aliases.
pub(super) fn proxy_fence(of: Option<Proxy>) -> u64 {
    tags(&[of.map_or("ALIAS", proxy)])
}

/// The sets of a barrier of a cta.
pub(super) fn barrier() -> u64 {
    tags(&["CTA"])
}
