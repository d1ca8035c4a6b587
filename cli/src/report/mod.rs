//! Layer 10: the only place where text is made: messages about sources, launch files, stops and results.
//!
//! Decides nothing: what is an error and what a program did is settled below. Knows nothing of the command line.

mod bug;
mod compare;
pub mod costs;
pub mod data;
pub mod diagnostic;
pub mod document;
pub mod dot;
mod elsewhere;
mod gaps;
pub mod hang;
pub mod hunt;
mod image;
mod internal;
mod kernels;
mod launches;
mod limit;
pub mod litmus;
mod location;
pub mod lockstep_machine;
mod mbarrier;
mod memory;
mod notes;
mod origin;
pub mod parts;
mod problem;
pub mod prove;
mod race;
mod race_words;
mod roots;
pub mod rsp_machine;
pub mod rule_table;
mod rules;
pub mod run;
mod safety;
pub mod sarif;
#[cfg(feature = "schema")]
pub mod schema;
pub mod script;
mod standing;
mod stop;
pub mod suite;
mod suppress;
pub mod terminal;
mod timeline;
mod turns;
mod words;

pub use compare::{Cell, Compared, letter};
pub use diagnostic::{Diagnostic, Label, Severity};
pub use hunt::Models;
pub use internal::{INTERNAL, panicked};
pub use kernels::kernels;
pub use launches::Launches;
pub use limit::{EndedEarly, limit};
pub use memory::{Environment, MemoryShow};
pub use notes::{LostReport, ReliedReport};
pub use problem::{more, problem};
pub use race::RacesReport;
pub use roots::{Roots, Spot};
pub use rules::RuleTrace;
pub use stop::{StopReport, exit_code, worst};
pub use suppress::Suppressed;
pub use terminal::Text;
pub use timeline::Timeline;
pub use turns::{ScriptNames, Turns};
