//! The names of instructions.

use super::tree::{Arith, Proxy, Relation};

/// Names of instructions that take words after dots.
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

/// The names of all instructions, for hints.
pub fn instructions() -> impl Iterator<Item = &'static str> {
    let accesses = ACCESSES.iter().map(|a| a.0);
    let others = Arith::ALL.iter().map(|a| a.name()).chain(Relation::ALL.iter().map(|r| r.name()));
    accesses.chain(others).chain(["fence", "bar", "goto"])
}
