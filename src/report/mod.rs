//! Layer 8: the only place where text is made: messages about sources, launch files, stops and results.
//!
//! Decides nothing: what is an error and what a program did is settled below. Knows nothing of the command line.

pub mod check;
pub mod diagnostic;

pub use diagnostic::{Diagnostic, Label, Severity};
