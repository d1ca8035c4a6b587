//! A race that a run found as a litmus test.
//!
//! What a model calls a race does not go away where other instructions do: fences and flags only take races away. The smallest test that has
//! the race is therefore its two accesses, by two threads.

use crate::base::words;
use crate::program::env::ProgEnv;
use crate::program::instr::{MemOp, Order, Scope};
use crate::verdict::{AccessKind, Bug, Party, Place, Race, Unordered};

words! {
    /// What a litmus test cannot say of a race, or what is not known of it.
    pub enum NotExtracted {
        /// An atomic operation, whose operand a report of a race does not have.
        Atomic = "an atomic operation",
        /// Accesses that overlap partly.
        Sizes = "accesses that overlap partly",
        /// Scopes that litmus tests do not have.
        Scope = "a scope of a cluster",
        /// Accesses to memory of devices.
        Mmio = "an access of memory-mapped devices",
        /// Memory has changed since, or the value is longer than 8 bytes.
        Value = "a value that is not known any more, or longer than 8 bytes",
    }
}

/// An access as an instruction of a litmus test, with its register or value; volatile ones are relaxed (D-race).
fn instruction(party: &Party, place: &Place, env: &ProgEnv) -> Result<String, NotExtracted> {
    let request = env.code.get(place.pc.0 as usize).and_then(|i| env.request(i)).ok_or(NotExtracted::Atomic)?;
    let order = match (request.order, request.scope) {
        (Order::Mmio, _) => return Err(NotExtracted::Mmio),
        (_, Scope::Cluster) => return Err(NotExtracted::Scope),
        (Order::Weak, _) => "weak".to_owned(),
        (Order::Volatile, _) | (_, Scope::Lane) => "relaxed.sys".to_owned(),
        (order, scope) => format!("{}.{}", order.name(), scope.name()),
    };
    match (request.op, party.value) {
        (MemOp::Load, _) => Ok(format!("ld.{order} r0, x")),
        (MemOp::Store, Some(value)) => Ok(format!("st.{order} x, {}", value.cast_signed())),
        (MemOp::Store, None) => Err(NotExtracted::Value),
        _ => Err(NotExtracted::Atomic),
    }
}

/// The smallest litmus test that has a race, as text; what the run came to is its condition. `place` and `other` of the bug are
/// those of the second access and of the first.
///
/// # Errors
/// What of it a litmus test cannot say.
pub fn extract(name: &str, bug: &Bug, race: &Race, env: &ProgEnv) -> Result<String, NotExtracted> {
    let Race { first, second, cause, .. } = race;
    let Some(other) = &bug.other else { return Err(NotExtracted::Value) };
    if *cause == Unordered::Sizes || (first.address, first.bytes) != (second.address, second.bytes) {
        return Err(NotExtracted::Sizes);
    }
    let cells = [instruction(first, other, env)?, instruction(second, &bug.place, env)?];
    let value = |party: &Party| party.value.map(u64::cast_signed).ok_or(NotExtracted::Value);
    // A read that did not see the other's write saw what was there before.
    let (initial, seen) = match (first.kind, second.kind) {
        (AccessKind::Read, _) => (value(first)?, format!("P0:r0 == {}", value(first)?)),
        (_, AccessKind::Read) if value(first)? == value(second)? => (0, format!("P1:r0 == {}", value(second)?)),
        (_, AccessKind::Read) => (value(second)?, format!("P1:r0 == {}", value(second)?)),
        _ => (0, format!("x == {}", value(second)?)),
    };
    let same_block =
        (other.program, &other.entry, other.block) == (bug.place.program, &bug.place.entry, bug.place.block);
    let cta = u32::from(!same_block);
    let [one, two] = cells;
    Ok(format!(
        "PTX {name}\n{{\nx={initial};\n}}\n P0@cta 0,gpu 0 | P1@cta {cta},gpu 0 ;\n {one} | {two} ;\nexists ({seen})\n"
    ))
}
