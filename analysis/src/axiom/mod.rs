//! Layer 7: memory models as axioms: relations between events, the cat language in which models are written, and which
//! executions of a program a model allows. Events come as data ([`Program`]); nothing is known of PTX or of litmus files.

mod bounds;
mod candidates;
pub mod cat;
mod choices;
mod coming;
mod cone;
mod evaluate;
mod execution;
mod forget;
mod frame;
mod frames;
mod future;
mod hope;
mod leaf;
mod model;
mod partition;
mod program;
mod question;
mod relation;
mod sat;
mod search;
mod split;
mod sweep;
mod symmetry;
mod uniform;
mod unwanted;
mod way;

pub use evaluate::chain::Link;
pub use evaluate::{Bases, Evaluation, Finding, Value, Witness};
pub use execution::{Chosen, Execution};
pub(crate) use forget::forgets;
pub use frame::{INITIAL, Id};
pub use model::{Axiom, Claim, Group, Model, Node, NodeId, Role};
pub use program::{Arrival, End, Event, Kind, Known, Place, Position, Program, Rerun, Sources, Stall, Trace, Whole};
pub use question::{Limits, Question, Searched, Wanted};
pub use relation::{Relation, Set};
pub use search::search;
pub use split::search_mixed;
pub use way::{Way, search_by};
