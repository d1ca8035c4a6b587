//! The memory environment of the report, chapter 4: caches, memory programs and what runs them.

pub mod cache;
mod copies;
mod engine;
mod environment;
mod issue;
pub mod model;
mod operation;
pub mod program;
mod reads;
mod seam;
mod shown;
mod silent;
mod snapshot;
mod view;
mod writers;

pub use engine::{Fermi, FermiModel};
