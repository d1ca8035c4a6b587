//! The words of instructions: their names, and what may follow after dots.

use super::tree::{Arch, Arith, Proxy, Relation, VulkanScope};
use crate::program::instr::{Order, Scope};

/// Names of PTX's instructions that take words after dots.
pub(super) const ACCESSES: &[(&str, Proxy, Kind)] = &[
    ("ld", Proxy::Generic, Kind::Load),
    ("tld", Proxy::Texture, Kind::Load),
    ("suld", Proxy::Surface, Kind::Load),
    ("cold", Proxy::Constant, Kind::Load),
    ("st", Proxy::Generic, Kind::Store),
    ("sust", Proxy::Surface, Kind::Store),
    ("atom", Proxy::Generic, Kind::Atomic),
    ("suatom", Proxy::Surface, Kind::Atomic),
    ("red", Proxy::Generic, Kind::Reduce),
    ("sured", Proxy::Surface, Kind::Reduce),
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Load,
    Store,
    Atomic,
    Reduce,
}

/// The scopes of PTX's strong accesses.
pub(super) const SCOPES: &[Scope] = &[Scope::Cta, Scope::Gpu, Scope::Sys];
/// The words that only PTX's instructions have.
const OF_PTX: &[&str] =
    &["weak", "relaxed", "acquire", "release", "sc", "cta", "gpu", "sys", "proxy", "sync", "arrive"];

/// The orders of Vulkan's atomic operations and fences.
pub(super) const ORDERS: &[(&str, Order)] =
    &[("acq", Order::Acquire), ("rel", Order::Release), ("acq_rel", Order::AcqRel)];
/// Vulkan's storage classes.
pub(super) const CLASSES: [&str; 4] = ["sc0", "sc1", "sc2", "sc3"];
/// The storage classes that an order of Vulkan is about.
pub(super) const SEMANTICS: [&str; 4] = ["semsc0", "semsc1", "semsc2", "semsc3"];
/// What an order of Vulkan makes available, and what it makes visible.
pub(super) const MAKES: [&str; 2] = ["semav", "semvis"];
/// Other words that only Vulkan's instructions have.
const OF_VULKAN: &[&str] = &["nonpriv", "av", "vis", "atom"];
/// Vulkan's instructions that access memory, fence it or wait.
const VULKAN: &[&str] = &["ld", "st", "rmw", "membar", "cbar", "avdevice", "visdevice"];

/// Instructions that do the same: PTX's name and Vulkan's.
const COUNTERPARTS: &[(&str, &str)] =
    &[("atom", "rmw.atom"), ("red", "rmw.atom"), ("fence", "membar"), ("bar", "cbar"), ("atom", "rmw")];

/// The names of all instructions of a language, for hints.
pub fn instructions(arch: Arch) -> impl Iterator<Item = &'static str> {
    let ptx = ACCESSES.iter().map(|a| a.0).chain(["fence", "bar"]);
    let own: Vec<&str> = match arch {
        Arch::Ptx => ptx.collect(),
        Arch::Vulkan => VULKAN.to_vec(),
        // Its functions are not instructions; `parse` knows them.
        Arch::OpenCl => Vec::new(),
        Arch::Lockstep => {
            let own = ["ld", "st", "atom", "mov", "if", "while", "end"];
            return own.into_iter().chain(Arith::ALL.iter().map(|a| a.name())).collect::<Vec<_>>().into_iter();
        }
    };
    let both = Arith::ALL.iter().map(|a| a.name()).chain(Relation::ALL.iter().map(|r| r.name())).chain(["goto"]);
    own.into_iter().chain(both).collect::<Vec<_>>().into_iter()
}

/// What the instruction of another language is in this one.
pub(super) fn counterpart(arch: Arch, name: &str) -> Option<&'static str> {
    COUNTERPARTS.iter().find_map(|(ptx, vulkan)| match arch {
        Arch::Vulkan => (*ptx == name).then_some(*vulkan),
        Arch::Ptx | Arch::OpenCl | Arch::Lockstep => (*vulkan == name).then_some(*ptx),
    })
}

/// Whether a word is one of the other language's instructions only.
pub(super) fn is_foreign(arch: Arch, word: &str) -> bool {
    let orders = ORDERS.iter().map(|o| o.0).filter(|o| *o != Order::AcqRel.name());
    let scopes = VulkanScope::ALL.iter().map(|s| s.name());
    let others = OF_VULKAN.iter().chain(&CLASSES).chain(&SEMANTICS).chain(&MAKES).copied();
    match arch {
        Arch::Vulkan => OF_PTX.contains(&word),
        Arch::Ptx | Arch::OpenCl | Arch::Lockstep => orders.chain(scopes).chain(others).any(|other| other == word),
    }
}
