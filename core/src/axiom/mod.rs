//! Layer 7: memory models as axioms: relations between events, the cat language in which models are written, and which
//! executions of a program a model allows. Events come as data ([`Program`]); nothing is known of PTX or of litmus files.

pub mod cat;
mod evaluate;
mod model;
mod program;
mod relation;

pub use evaluate::{Bases, Evaluation, Finding, Value, Witness};
pub use model::{Axiom, Claim, Group, Model, Node, NodeId, Role};
pub use program::{Arrival, End, Event, Kind, Known, Place, Position, Program, Sources, Stall, Trace};
pub use relation::{Relation, Set};
