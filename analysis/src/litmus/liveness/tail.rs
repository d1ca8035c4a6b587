//! A test in which every read sees the coherence-last write: how executions go on once memory is as it will stay (D-lasso).

use crate::litmus::events::{Arriving, Code, Operand, Step, Threads, arithmetic, atomic, bit};
use crate::litmus::tree::Atom;
use std::collections::BTreeMap;

/// What a thread and memory are like at some time, as far as that matters for what follows.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) struct State {
    /// Where each thread is: the number of its next step.
    pub(super) pcs: Vec<usize>,
    /// The registers of each thread; those that nobody will read are zero.
    pub(super) registers: Vec<Vec<u64>>,
    /// The coherence-last value of each location.
    pub(super) memory: Vec<u64>,
    /// The threads that have taken a step, as bits.
    pub(super) stepped: u64,
    /// How many have come to each barrier with a quorum.
    pub(super) arrived: Arrived,
    /// The barrier at which each thread waits.
    pub(super) waits: Vec<Option<Arriving>>,
}

/// How many have come to each barrier.
pub(super) type Arrived = BTreeMap<Arriving, u64>;

/// The steps of a test.
pub(super) struct Tail<'a> {
    pub(super) threads: &'a Threads,
}

impl Tail<'_> {
    /// How a test begins.
    pub(super) fn start(&self) -> State {
        let codes = self.threads.codes();
        self.at(State {
            pcs: vec![0; codes.len()],
            registers: self.threads.initial_registers(),
            memory: self.threads.initial_memory(),
            stepped: 0,
            arrived: Arrived::new(),
            waits: vec![None; codes.len()],
        })
    }

    fn code(&self, thread: usize) -> &Code {
        &self.threads.codes()[thread]
    }

    /// Whether a thread has come to its end.
    pub(super) fn done(&self, state: &State, thread: usize) -> bool {
        state.pcs[thread] >= self.code(thread).steps.len() && state.waits[thread].is_none()
    }

    /// Whether a thread can take a step.
    pub(super) fn ready(&self, state: &State, thread: usize) -> bool {
        let open = |barrier: &Arriving| state.arrived.get(barrier).is_some_and(|come| *come >= barrier.quorum);
        !self.done(state, thread) && state.waits[thread].as_ref().is_none_or(open)
    }

    /// Registers that nobody will read tell no states apart.
    fn forget(&self, state: &mut State, thread: usize) {
        let live = self.code(thread).live[state.pcs[thread]];
        for (number, register) in state.registers[thread].iter_mut().enumerate() {
            if bit(number) != 0 && live & bit(number) == 0 {
                *register = 0;
            }
        }
    }

    /// A state without what does not matter.
    pub(super) fn at(&self, mut state: State) -> State {
        (0..state.pcs.len()).for_each(|thread| self.forget(&mut state, thread));
        state
    }

    /// A step of a thread that is ready: what it does up to and with its next access or barrier, and the arithmetic after that up to
    /// a jump back. Nothing where it does what cannot be expressed.
    pub(super) fn step(&self, state: &State, thread: usize) -> Option<State> {
        let mut next = state.clone();
        next.stepped |= 1 << thread;
        next.waits[thread] = None;
        let code = self.code(thread);
        let mut acted = state.waits[thread].is_some();
        while let Some(step) = code.steps.get(next.pcs[thread]) {
            let local = matches!(
                step,
                Step::Move { .. }
                    | Step::Compute { .. }
                    | Step::Compare { .. }
                    | Step::Branch { .. }
                    | Step::Fence { .. }
                    | Step::Device { .. }
            );
            if !local && acted {
                break;
            }
            acted |= !local;
            let from = next.pcs[thread];
            next.pcs[thread] = from + 1;
            self.effect(&mut next, thread, step)?;
            if next.waits[thread].is_some() || next.pcs[thread] <= from {
                break;
            }
        }
        self.forget(&mut next, thread);
        Some(next)
    }

    fn effect(&self, state: &mut State, thread: usize, step: &Step) -> Option<()> {
        let operand = |state: &State, operand: Operand| match operand {
            Operand::Number(n) => n.cast_unsigned(),
            Operand::Register(r) => state.registers[thread][r],
        };
        match step {
            Step::Load { to, at, .. } => {
                let location = self.threads.pointed(*at, &state.registers[thread])?;
                state.registers[thread][*to] = state.memory[location];
            }
            Step::Store { at, value, .. } => {
                let location = self.threads.pointed(*at, &state.registers[thread])?;
                state.memory[location] = operand(state, *value);
            }
            Step::Move { to, value } => state.registers[thread][*to] = operand(state, *value),
            Step::Compute { op, to, left, right } => {
                state.registers[thread][*to] = arithmetic(*op, operand(state, *left), operand(state, *right));
            }
            Step::Compare { relation, to, left, right } => {
                let holds = relation.holds(operand(state, *left).cast_signed(), operand(state, *right).cast_signed());
                state.registers[thread][*to] = u64::from(holds);
            }
            Step::Atomic { op, to, at, value, new, .. } => {
                let location = self.threads.pointed(*at, &state.registers[thread])?;
                let (old, value) = (state.memory[location], operand(state, *value));
                let new = new.map_or(0, |new| operand(state, new));
                if *op != Atom::CasSuccess || old == value {
                    state.memory[location] = atomic(*op, old, value, new);
                }
                if let Some(to) = to {
                    state.registers[thread][*to] = old;
                }
            }
            Step::Fence { .. } | Step::Device { .. } => {}
            Step::Barrier { waits, instance, barrier, quorum, .. } => {
                if let Some(quorum) = quorum {
                    let number = barrier.map(|b| operand(state, b).cast_signed());
                    let quorum = operand(state, *quorum);
                    let barrier = self.threads.arriving(thread, *instance, number, quorum);
                    let come = state.arrived.entry(barrier.clone()).or_default();
                    *come = (*come + 1).min(quorum);
                    if *waits && *come < quorum {
                        state.waits[thread] = Some(barrier);
                    }
                }
            }
            Step::Branch { test, to } => {
                let taken = test.is_none_or(|(relation, left, right)| {
                    relation.holds(operand(state, left).cast_signed(), operand(state, right).cast_signed())
                });
                if taken {
                    state.pcs[thread] = *to;
                }
            }
        }
        Some(())
    }
}
