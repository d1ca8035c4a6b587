//! Random graphs and random structured programs.

use crate::program::flow::graph::index;
use crate::program::instr::{Guard, Instr, Op, Slot};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A function's code and the tables of its `brx`.
#[derive(Default)]
pub(in crate::program::flow) struct Program {
    pub code: Vec<Instr>,
    pub tables: Vec<Vec<u32>>,
}

/// A guard.
pub(super) const IF: Option<Guard> = Some(Guard { pred: Slot(0), negated: false });

impl Program {
    fn push(&mut self, op: Op, guard: Option<Guard>, imm: u32) -> usize {
        self.code.push(Instr { guard, imm, ..Instr::new(op) });
        self.code.len() - 1
    }
}

/// A random graph: every block marks, then returns, goes on, or branches in two or three ways. `(taken)` ways come first.
pub(in crate::program::flow) fn random_program(rng: &mut ChaCha8Rng, blocks: usize) -> Program {
    let mut program = Program::default();
    let mut order: Vec<usize> = (1..blocks).collect();
    for i in (1..order.len()).rev() {
        if rng.random_bool(0.3) {
            order.swap(i, rng.random_range(0..=i));
        }
    }
    order.insert(0, 0);
    let mut starts = vec![0; blocks];
    let shared_table = rng.random_bool(0.3);
    for (at, &b) in order.iter().enumerate() {
        starts[b] = program.code.len();
        program.push(Op::Nop, None, index(b));
        if rng.random_bool(0.05) {
            program.push(Op::Exit, IF, 0);
        }
        let target = |rng: &mut ChaCha8Rng| {
            let near = rng.random_range(b + 1..=b + 4).min(blocks - 1);
            index(if rng.random_bool(0.5) { near } else { rng.random_range(0..blocks) })
        };
        let falls = order.get(at + 1).is_some();
        match rng.random_range(0..20) {
            _ if b + 1 == blocks => _ = program.push(Op::Ret, None, 0),
            0 => _ = program.push(if rng.random_bool(0.5) { Op::Ret } else { Op::Trap }, None, 0),
            1..=4 => {
                let to = target(rng);
                program.push(Op::Bra, None, to);
            }
            5..=8 if falls => {}
            9..=12 => {
                let table: Vec<u32> = (0..rng.random_range(1..4)).map(|_| target(rng)).collect();
                let guard = if rng.random_bool(0.3) && falls { IF } else { None };
                if !shared_table || program.tables.is_empty() {
                    program.tables.push(table);
                }
                let name = index(program.tables.len() - 1);
                program.push(Op::Brx, guard, name);
            }
            _ => {
                let to = target(rng);
                program.push(Op::Bra, IF, to);
                if !falls || rng.random_bool(0.2) {
                    let to = target(rng);
                    program.push(Op::Bra, None, to);
                }
            }
        }
    }
    for instr in program.code.iter_mut().filter(|i| i.op == Op::Bra) {
        instr.imm = index(starts[instr.imm as usize]);
    }
    for target in program.tables.iter_mut().flatten() {
        *target = index(starts[*target as usize]);
    }
    program
}

/// Structured programs, with the jumps that compilers make of them.
pub(super) struct Structured<'a> {
    rng: &'a mut ChaCha8Rng,
    program: Program,
    labels: Vec<u32>,
    /// Labels behind and at the head of the loops around.
    loops: Vec<(usize, usize)>,
    marks: u32,
    /// Whether there is `while (a || b)`, and `break` and `continue` in the same loop.
    loose: bool,
}

impl Structured<'_> {
    fn mark(&mut self) {
        self.marks += 1;
        self.program.push(Op::Nop, None, self.marks);
    }

    fn label(&mut self) -> usize {
        self.labels.push(u32::MAX);
        self.labels.len() - 1
    }

    fn here(&mut self, label: usize) {
        self.labels[label] = index(self.program.code.len());
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
            self.here(middle);
            return self.condition(depth - 1, or, yes, no, yes_follows);
        }
        self.mark();
        let (jump, other) = if yes_follows { (no, yes) } else { (yes, no) };
        self.program.push(Op::Bra, IF, index(jump));
        if self.rng.random_bool(0.2) {
            self.program.push(Op::Bra, None, index(other));
        }
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..self.rng.random_range(1..4) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        let kind = if depth == 0 { 0 } else { self.rng.random_range(0..10) };
        match (kind, self.loops.last().copied()) {
            (1..=3, _) => {
                let (yes, no, end) = (self.label(), self.label(), self.label());
                self.condition(2, true, yes, no, true);
                self.here(yes);
                self.block(depth - 1);
                if self.rng.random_bool(0.5) {
                    self.program.push(Op::Bra, None, index(end));
                    self.here(no);
                    self.block(depth - 1);
                } else {
                    self.here(no);
                }
                self.here(end);
            }
            (4 | 5, _) => {
                let (head, body, end) = (self.label(), self.label(), self.label());
                self.here(head);
                self.condition(1, self.loose, body, end, true);
                self.here(body);
                self.loops.push((end, head));
                self.block(depth - 1);
                self.loops.pop();
                self.program.push(Op::Bra, None, index(head));
                self.here(end);
            }
            (6, _) => {
                let (head, test, end) = (self.label(), self.label(), self.label());
                self.here(head);
                self.loops.push((end, test));
                self.block(depth - 1);
                self.loops.pop();
                self.here(test);
                self.condition(1, true, head, end, false);
                self.here(end);
            }
            (7 | 8, Some((end, next))) => {
                // Outside of loose programs a loop has either kind, by the parity of its label.
                let breaks = if self.loose { kind == 7 } else { end % 2 == 0 };
                let to = if breaks { end } else { next };
                let (yes, no) = (self.label(), self.label());
                self.condition(1, true, yes, no, true);
                self.here(yes);
                if self.rng.random_bool(0.5) {
                    self.mark();
                }
                self.program.push(Op::Bra, None, index(to));
                self.here(no);
            }
            _ => self.mark(),
        }
    }

    pub(super) fn make(rng: &mut ChaCha8Rng, loose: bool) -> Program {
        let program = Program::default();
        let mut maker = Structured { rng, program, labels: vec![], loops: vec![], marks: 0, loose };
        maker.block(3);
        maker.program.push(Op::Ret, None, 0);
        let (labels, thread) = (std::mem::take(&mut maker.labels), maker.rng.random_bool(0.5));
        let mut program = maker.program;
        for i in 0..program.code.len() {
            if program.code[i].op == Op::Bra {
                program.code[i].imm = labels[program.code[i].imm as usize];
            }
        }
        for i in 0..program.code.len() {
            for _ in 0..8 {
                let next = program.code[program.code[i].imm as usize];
                if thread && program.code[i].op == Op::Bra && next.op == Op::Bra && next.guard.is_none() {
                    program.code[i].imm = next.imm;
                }
            }
        }
        program
    }
}
