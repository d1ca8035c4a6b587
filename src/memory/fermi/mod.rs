//! The memory environment of the report, chapter 4: caches, memory programs and what runs them.

pub mod cache;
pub mod program;
