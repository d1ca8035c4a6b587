//! Layer 10: the only place where text is made: messages about sources, launch files, stops and results.
//!
//! Decides nothing: what is an error and what a program did is settled below. Knows nothing of the command line.

mod bug;
pub mod check;
mod compare;
mod count;
pub mod data;
pub mod diagnostic;
pub mod document;
pub mod dot;
mod elsewhere;
pub mod hang;
pub mod hunt;
mod internal;
pub mod litmus;
mod location;
mod lost;
pub mod lower;
mod memory;
pub mod memp;
mod origin;
pub mod parts;
mod problem;
pub mod prove;
mod race;
mod relied;
pub mod rule_table;
mod rules;
pub mod run;
mod safety;
pub mod sarif;
mod schedule;
mod standing;
mod stop;
mod suppress;
pub mod syntax;
pub mod terminal;
mod timeline;
mod turns;

pub use compare::{Cell, Compared, letter};
pub use diagnostic::{Diagnostic, Label, Severity};
pub use hunt::Models;
pub use internal::{INTERNAL, panicked};
pub use lost::LostReport;
pub use memory::{Environment, MemoryShow};
pub use problem::{more, problem};
pub use race::RacesReport;
pub use relied::ReliedReport;
pub use rules::RuleTrace;
pub use schedule::{checkpoint_refused, refused};
pub use standing::EndedEarly;
pub use stop::{StopReport, exit_code, limit};
pub use suppress::Suppressed;
pub use terminal::Text;
pub use timeline::Timeline;
pub use turns::Turns;
