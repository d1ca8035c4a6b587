//! The sets of the models that events of litmus tests are in.

use super::half::Half;
use super::opencl;
use crate::litmus::tree::{Access, Placing, Proxy, PtxAccess, Semantics, VulkanAccess, VulkanScope};
use crate::program::instr::{Order, Scope};

/// The names of the sets, by the bits that stand for them.
pub(super) const TAGS: &[&str] = &[
    "WEAK",
    "RLX",
    "ACQ",
    "REL",
    "ACQ_REL",
    "SC",
    "CTA",
    "GPU",
    "SYS",
    "GEN",
    "TEX",
    "SUR",
    "CON",
    "ALIAS",
    "RMW",
    "ATOM",
    "NONPRIV",
    "SG",
    "WG",
    "QF",
    "DV",
    "AV",
    "VIS",
    "SEMAV",
    "SEMVIS",
    "AVDEVICE",
    "VISDEVICE",
    "SC0",
    "SC1",
    "SC2",
    "SC3",
    "SEMSC0",
    "SEMSC1",
    "SEMSC2",
    "SEMSC3",
];

/// Those that only Vulkan's events are in, from its atomic ones on.
pub const SETS_OF_VULKAN: &[&str] = TAGS.split_at(tag("ATOM").trailing_zeros() as usize).1;

const CLASSES: [&str; 4] = ["SC0", "SC1", "SC2", "SC3"];
const SEMANTICS: [&str; 4] = ["SEMSC0", "SEMSC1", "SEMSC2", "SEMSC3"];

/// Events to be in the sets of these names.
pub(super) fn tags(names: &[&str]) -> u64 {
    names.iter().filter_map(|name| TAGS.iter().position(|tag| tag == name)).fold(0, |all, bit| all | 1 << bit)
}

/// The bit of a name, for constants. A name that there is not does not compile.
const fn tag(name: &str) -> u64 {
    let mut bit = 0;
    loop {
        let (tag, name) = (TAGS[bit].as_bytes(), name.as_bytes());
        let mut same = 0;
        while same < tag.len() && same < name.len() && tag[same] == name[same] {
            same += 1;
        }
        if same == tag.len() && same == name.len() {
            return 1 << bit;
        }
        bit += 1;
    }
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

const fn domain(scope: VulkanScope) -> &'static str {
    match scope {
        VulkanScope::Subgroup => "SG",
        VulkanScope::Workgroup => "WG",
        VulkanScope::QueueFamily => "QF",
        VulkanScope::Device => "DV",
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

/// The sets of a load or a store, be it half of an atomic operation.
pub(super) fn memory(access: Access, half: Half, rmw: bool) -> u64 {
    let halves = tags(&[if rmw { "RMW" } else { "" }]);
    halves
        | match access {
            Access::Ptx(PtxAccess { proxy: path, order, scope: reach }) => {
                tags(&[half.order(order, "RLX"), scope(reach), proxy(path)])
            }
            Access::Vulkan(access) => vulkan(access, half),
            // Its sets are others, so the bits are, too.
            Access::OpenCl(access) => return opencl::memory(access, half, rmw),
        }
}

/// What is atomic is not private, and makes available or visible what it accesses.
fn vulkan(access: VulkanAccess, half: Half) -> u64 {
    let mut all = tags(&[CLASSES[usize::from(access.class & 3)]]);
    if access.non_private() {
        all |= tags(&["NONPRIV"]);
    }
    if let Some(scope) = access.scope() {
        all |= tags(&[domain(scope), if half == Half::Load { "VIS" } else { "AV" }]);
    }
    if access.atomic() {
        all |= tags(&["ATOM", half.order(access.semantics.order, "")]) | about(access.semantics);
    }
    all
}

/// The storage classes of semantics, and what is made available and visible.
fn about(semantics: Semantics) -> u64 {
    let classes =
        (0..4u8).filter(|class| semantics.is_about(*class)).map(|class| tags(&[SEMANTICS[usize::from(class)]]));
    let flags = [(semantics.available, "SEMAV"), (semantics.visible, "SEMVIS")];
    let flags = flags.into_iter().filter(|(set, _)| *set).map(|(_, name)| tags(&[name]));
    classes.chain(flags).fold(0, |all, tag| all | tag)
}

/// Whether the scope of an event of one thread includes the other thread, whichever way round these are.
pub(super) fn reaches(all: u64, one: Placing, other: Placing) -> bool {
    const ALL: u64 = tag("SYS") | tag("DV");
    const LEVELS: [u64; 3] = [tag("GPU") | tag("QF"), tag("CTA") | tag("WG"), tag("SG")];
    let (one, other) = (one.path(), other.path());
    all & ALL != 0 || (0..3).any(|level| all & LEVELS[level] != 0 && one[..=level] == other[..=level])
}

/// The sets of a fence of PTX. One that is sequentially consistent is an acquire and a release, too.
pub(super) fn fence(order: Order, of: Scope) -> u64 {
    let orders = if order == Order::Sc { ["SC", "ACQ_REL"] } else { ["ACQ_REL", ""] };
    tags(&[orders[0], orders[1], scope(Some(of)), "GEN"])
}

/// The sets of a fence of a proxy; none: of aliases.
pub(super) fn proxy_fence(of: Option<Proxy>) -> u64 {
    tags(&[of.map_or("ALIAS", proxy)])
}

/// The sets of a fence of Vulkan, be it a barrier's.
pub(super) fn membar(of: VulkanScope, semantics: Semantics) -> u64 {
    let orders: &[&str] = match semantics.order {
        Order::Acquire => &["ACQ"],
        Order::Release => &["REL"],
        Order::AcqRel => &["ACQ", "REL"],
        _ => &[],
    };
    tags(orders) | tags(&[domain(of)]) | about(semantics)
}

/// The sets of a barrier: PTX's are of a cta.
pub(super) fn barrier(fence: Option<(VulkanScope, Semantics)>) -> u64 {
    fence.map_or_else(|| tags(&["CTA"]), |(scope, semantics)| membar(scope, semantics))
}
