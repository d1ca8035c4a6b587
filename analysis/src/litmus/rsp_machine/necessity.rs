//! Which instructions of a scheme are necessary: what goes wrong without each (section 5.4 says why each is there).

use super::compile::compile;
use super::sweep::{Op, Placing, Shape, conditional, programs};
use super::verify::{Verdict, Violation, verify};
use crate::explore::promotion::{Grain, Options, explore};
use crate::litmus::rsp::Home;
use crate::memory::rsp::{Row, Scheme, Step, Width};

/// What goes wrong with a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It has an execution that the axioms do not allow, though it is not racy.
    Unsound(Box<Violation>),
    /// It can be left waiting for ever; in so many states.
    Stuck(u64),
}

/// An instruction of a scheme, and the smallest program found with which it is missed; none: it was not, in anything tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Needed {
    /// The row.
    pub row: Row,
    /// Its place in the row.
    pub position: usize,
    /// The instruction.
    pub step: Step,
    /// What goes wrong without it.
    pub missed: Option<(Shape, Fault)>,
    /// How many programs were tried.
    pub tried: u64,
}

/// Programs to try, from the smallest.
pub struct Corpus<'a> {
    /// How threads are placed in programs without a condition.
    pub placings: &'a [Placing],
    /// The homes of the two threads in programs with one.
    pub conditionals: &'a [[Home; 2]],
    /// The operations on a location.
    pub ops: &'a dyn Fn(u8) -> Vec<Op>,
    /// Of programs with so many operations at most it is asked whether they can be left waiting, which takes long.
    pub waits: usize,
}

impl Corpus<'_> {
    fn each(&self, each: &mut dyn FnMut(&Shape)) {
        let ops: Vec<Op> = (0..2).flat_map(self.ops).collect();
        self.placings.iter().for_each(|placing| programs(placing, &ops, each));
        self.conditionals.iter().for_each(|homes| conditional(*homes, self.ops, each));
    }
}

/// What goes wrong with a program under a scheme. Whether it can be left waiting is asked of programs of up to `waits` operations.
#[must_use]
pub fn fault(shape: &Shape, scheme: &Scheme, waits: usize) -> Option<Fault> {
    let compiled = compile(&shape.test(), scheme).ok()?;
    for atomic in shape.atomics() {
        if let Verdict::Unsound(violation) = verify(&compiled, &atomic, None) {
            return Some(Fault::Unsound(violation));
        }
    }
    let count: usize = shape.threads.iter().map(|(_, ops)| ops.len()).sum();
    if count > waits {
        return None;
    }
    let options = &mut Options { stuck: true, ..Options::new(Grain::Every) };
    Some(explore(&compiled.program, options).stuck.0).filter(|states| *states != 0).map(Fault::Stuck)
}

/// The rows of a table: each instruction of a scheme but the accesses themselves, in the rows that `of` picks.
#[must_use]
pub fn necessity(scheme: &Scheme, of: &dyn Fn(Row) -> bool, corpus: &Corpus<'_>) -> Vec<Needed> {
    let mut table = Vec::new();
    for (row, steps) in scheme.rows().filter(|(row, _)| of(*row)) {
        for (position, step) in steps.iter().enumerate().filter(|(_, step)| **step != Step::Access) {
            let without = scheme.without(row, position);
            let mut needed = Needed { row, position, step: *step, missed: None, tried: 0 };
            corpus.each(&mut |shape| {
                if needed.missed.is_some() || !shape.uses(row) {
                    return;
                }
                needed.tried += 1;
                needed.missed = fault(shape, &without, corpus.waits).map(|fault| (shape.clone(), fault));
            });
            table.push(needed);
        }
    }
    table
}

impl Shape {
    /// Whether an operation of it is compiled by a row.
    #[must_use]
    pub fn uses(&self, row: Row) -> bool {
        let ops = self.threads.iter().flat_map(|(_, ops)| ops);
        ops.into_iter().any(|op| op.kind == row.kind && Width::from(op.access()) == row.width)
    }
}
