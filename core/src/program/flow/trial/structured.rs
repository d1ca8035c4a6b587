//! Random structured code, with the jumps that compilers make of it: `if`, `||` and `&&`, `while`, `do`, `break`,
//! `continue`, nested.
//!
//! Its one home: the trials make instructions of it, and `tests/injection`, which includes this file, PTX text.

use chacha20::ChaCha8Rng;
use rand::RngExt;

/// Who writes the code down. Labels are numbers.
pub trait Emit {
    /// A block's body; bodies are numbered from 1.
    fn mark(&mut self, number: u32);
    /// A label stands here.
    fn here(&mut self, label: usize);
    /// Lanes decide, and those go to the label for which the test is so.
    fn branch_if(&mut self, rng: &mut ChaCha8Rng, so: bool, label: usize);
    /// All lanes go to the label.
    fn branch(&mut self, label: usize);
}

/// A loop around the statement at hand.
#[derive(Clone, Copy)]
struct Loop {
    /// The label behind it.
    end: usize,
    /// The label where its next round begins.
    next: usize,
    /// Whether it is left by jumps, else gone on with: a loop with both has two ways into its head, which is no region of
    /// either.
    breaks: bool,
}

/// A program being made.
pub struct Structured<'a, E> {
    rng: &'a mut ChaCha8Rng,
    emit: &'a mut E,
    labels: usize,
    marks: u32,
    loops: Vec<Loop>,
    /// Whether there is `while (a || b)`, and `break` and `continue` in the same loop.
    loose: bool,
}

impl<'a, E: Emit> Structured<'a, E> {
    /// Writes a program down, but for the return at its end; gives the number of its labels.
    pub fn make(rng: &'a mut ChaCha8Rng, emit: &'a mut E, loose: bool) -> usize {
        let mut maker = Self { rng, emit, labels: 0, marks: 0, loops: Vec::new(), loose };
        maker.block(3);
        maker.labels
    }

    fn mark(&mut self) {
        self.marks += 1;
        self.emit.mark(self.marks);
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels - 1
    }

    /// A test; `or` says whether it may contain `||`.
    fn condition(&mut self, depth: u32, or: bool, yes: usize, no: usize, yes_follows: bool) {
        if depth > 0 && self.rng.random_bool(0.3) {
            let middle = self.label();
            if or && self.rng.random_bool(0.5) {
                self.condition(depth - 1, or, yes, middle, false);
            } else {
                self.condition(depth - 1, or, middle, no, true);
            }
            self.emit.here(middle);
            return self.condition(depth - 1, or, yes, no, yes_follows);
        }
        self.mark();
        let (jump, other) = if yes_follows { (no, yes) } else { (yes, no) };
        self.emit.branch_if(self.rng, !yes_follows, jump);
        if self.rng.random_bool(0.2) {
            self.emit.branch(other);
        }
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..self.rng.random_range(1..4) {
            self.statement(depth);
        }
    }

    fn body(&mut self, depth: u32, end: usize, next: usize) {
        let breaks = self.rng.random_bool(0.5);
        self.loops.push(Loop { end, next, breaks });
        self.block(depth - 1);
        self.loops.pop();
    }

    fn statement(&mut self, depth: u32) {
        let kind = if depth == 0 { 0 } else { self.rng.random_range(0..10) };
        match (kind, self.loops.last().copied()) {
            (1..=3, _) => {
                let (yes, no, end) = (self.label(), self.label(), self.label());
                self.condition(2, true, yes, no, true);
                self.emit.here(yes);
                self.block(depth - 1);
                if self.rng.random_bool(0.5) {
                    self.emit.branch(end);
                    self.emit.here(no);
                    self.block(depth - 1);
                } else {
                    self.emit.here(no);
                }
                self.emit.here(end);
            }
            (4 | 5, _) => {
                let (head, body, end) = (self.label(), self.label(), self.label());
                self.emit.here(head);
                self.condition(1, self.loose, body, end, true);
                self.emit.here(body);
                self.body(depth, end, head);
                self.emit.branch(head);
                self.emit.here(end);
            }
            (6, _) => {
                let (head, test, end) = (self.label(), self.label(), self.label());
                self.emit.here(head);
                self.body(depth, end, test);
                self.emit.here(test);
                self.condition(1, true, head, end, false);
                self.emit.here(end);
            }
            (7 | 8, Some(around)) => {
                let breaks = if self.loose { kind == 7 } else { around.breaks };
                let (yes, no) = (self.label(), self.label());
                self.condition(1, true, yes, no, true);
                self.emit.here(yes);
                if self.rng.random_bool(0.5) {
                    self.mark();
                }
                self.emit.branch(if breaks { around.end } else { around.next });
                self.emit.here(no);
            }
            _ => self.mark(),
        }
    }
}
