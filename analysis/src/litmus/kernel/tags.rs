//! The sets of PTX's models that events of kernels are in.

use crate::program::instr::{Order, Scope};

macro_rules! tags {
    ($($name:ident $text:literal)*) => {
        #[expect(clippy::upper_case_acronyms, non_camel_case_types, reason = "named as in the models")]
        enum Number { $($name,)* }
        /// Their names, by bits.
        pub(super) const NAMES: &[&str] = &[$($text,)*];
        $(pub(super) const $name: u64 = 1 << Number::$name as u64;)*
    };
}

tags! {
    R "R" W "W" M "M" F "F"
    WEAK "WEAK" RLX "RLX" ACQ "ACQ" REL "REL" ACQ_REL "ACQ_REL" SC "SC"
    CTA "CTA" GPU "GPU" SYS "SYS"
    GEN "GEN" ALIAS "ALIAS" RMW "RMW"
}

/// How far an operation reaches. One that names no scope is of the system's (`volatile`, `mmio`); a cluster is one block.
const fn scope(scope: Scope) -> u64 {
    match scope {
        Scope::Cta | Scope::Cluster => CTA,
        Scope::Gpu => GPU,
        Scope::Sys | Scope::Lane => SYS,
    }
}

/// Of a read or of a write, with the order and scope of its instruction. `volatile` and `mmio` are relaxed (D-race).
pub(super) const fn access(write: bool, order: Order, reach: Scope) -> u64 {
    let strength = match (order, write) {
        (Order::Weak, _) => return WEAK | M | GEN | if write { W } else { R },
        (Order::Acquire | Order::AcqRel | Order::Sc, false) => ACQ,
        (Order::Release | Order::AcqRel | Order::Sc, true) => REL,
        _ => RLX,
    };
    strength | scope(reach) | M | GEN | if write { W } else { R }
}

/// Of a fence. One between aliases is nothing else. `fence.acquire` and `fence.release` are in sets that the published models do not
/// order by: a model has to know them (D-axiom-fences).
pub(super) const fn fence(order: Order, reach: Scope) -> u64 {
    let order = match order {
        // It is an acquire and a release, too.
        Order::Sc => SC | ACQ_REL,
        Order::Acquire => ACQ,
        Order::Release => REL,
        Order::Relaxed => return F | ALIAS,
        _ => ACQ_REL,
    };
    F | GEN | order | scope(reach)
}
