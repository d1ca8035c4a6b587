//! Tests for wavefronts, after Puthoor, Lipasti, "Systems-on-Chip with Strong Ordering" (TACO 2021): a row is one instruction of each
//! wavefront, whose lanes execute it in lockstep. Read by [`parse`](super::parse()), written by [`print()`]; what axioms are asked
//! about is [`Waves`], and [`machine`] goes through all that the three models' own machines do.

mod bytes;
mod check;

mod print;
mod runner;
mod tree;
mod waves;

pub(super) use check::check;
pub use print::print;
pub use tree::{Cell, Column, FIRST, LANES, LOCATION, Op, Program, Size, Spot, Test};
pub use waves::Waves;

use super::tree::{Placing, Thread};

impl Program {
    /// The columns as threads, without their code, which is in rows.
    #[must_use]
    pub fn threads(&self) -> Vec<Thread> {
        let thread = |(column, span): &(Column, crate::base::Span)| Thread {
            number: column.number(),
            place: Placing::Lockstep(*column),
            span: *span,
            code: Vec::new(),
        };
        self.columns.iter().map(thread).collect()
    }
}
