//! Random graphs and random structured programs.

use super::structured::{Emit, Structured};
use crate::program::flow::graph::index;
use crate::program::instr::{Guard, Instr, Op, Slot};
use chacha20::ChaCha8Rng;
use indexmap::IndexMap;
use rand::RngExt;

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

/// Structured code as instructions. Branches name labels until all are placed.
#[derive(Default)]
struct Labelled {
    program: Program,
    labels: IndexMap<usize, u32>,
}

impl Emit for Labelled {
    fn mark(&mut self, number: u32) {
        self.program.push(Op::Nop, None, number);
    }

    fn here(&mut self, label: usize) {
        self.labels.insert(label, index(self.program.code.len()));
    }

    // What a lane decides is random: whether the test is negated makes no difference.
    fn branch_if(&mut self, _: &mut ChaCha8Rng, _: bool, label: usize) {
        self.program.push(Op::Bra, IF, index(label));
    }

    fn branch(&mut self, label: usize) {
        self.program.push(Op::Bra, None, index(label));
    }
}

/// A random structured program; now and then branches to branches go where those go.
pub(super) fn structured_program(rng: &mut ChaCha8Rng, loose: bool) -> Program {
    let mut made = Labelled::default();
    Structured::make(rng, &mut made, loose);
    let Labelled { mut program, labels } = made;
    program.push(Op::Ret, None, 0);
    for instr in program.code.iter_mut().filter(|i| i.op == Op::Bra) {
        instr.imm = labels[&(instr.imm as usize)];
    }
    let thread = rng.random_bool(0.5);
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
