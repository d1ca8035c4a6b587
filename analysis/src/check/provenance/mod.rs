//! What addresses are made from, as far as that can be said without following a run (decision D-provenance;
//! `spec-notes/bounds.md`).
//!
//! [`rules`] say what the result of an operation is derived from, [`plan`] what is known of each register before the program
//! runs, [`roots`] which objects that is in a launch. Those who need to know of accesses to some objects only leave out the
//! others by it ([`Needs::quiet`](crate::verdict::Needs::quiet)).

pub(super) mod objects;
pub(super) mod plan;
pub(super) mod roots;
pub(super) mod rules;

pub(super) use roots::{Launched, Resolved};
