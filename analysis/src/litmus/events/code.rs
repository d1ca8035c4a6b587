//! The code of a thread with its names resolved.

use super::half::Half;
use super::tags;
use crate::litmus::check::Names;
use crate::litmus::tree::{Arith, Atom, Ident, Instruction, Litmus, Relation, StmtKind, Value};
use indexmap::{IndexMap, IndexSet};

/// A number, or the number of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::litmus) enum Operand {
    Number(i64),
    Register(usize),
}

/// Where an instruction accesses memory: a location, or where a register points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::litmus) enum Address {
    Location(usize),
    Register(usize),
}

/// What a step does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::litmus) enum Step {
    Load {
        tags: u64,
        to: usize,
        at: Address,
    },
    Store {
        tags: u64,
        at: Address,
        value: Operand,
    },
    Move {
        to: usize,
        value: Operand,
    },
    Compute {
        op: Arith,
        to: usize,
        left: Operand,
        right: Operand,
    },
    Compare {
        relation: Relation,
        to: usize,
        left: Operand,
        right: Operand,
    },
    Atomic {
        load: u64,
        store: u64,
        op: Atom,
        to: Option<usize>,
        at: Address,
        value: Operand,
        new: Option<Operand>,
    },
    Fence {
        tags: u64,
    },
    /// `avdevice`, `visdevice`.
    Device {
        tags: u64,
    },
    Barrier {
        tags: u64,
        waits: bool,
        instance: i64,
        barrier: Option<Operand>,
        quorum: Option<Operand>,
    },
    Branch {
        test: Option<(Relation, Operand, Operand)>,
        to: usize,
    },
}

/// A thread's code.
#[derive(Clone, Debug, Default)]
pub(in crate::litmus) struct Code {
    /// Its steps, and which of its instructions each is.
    pub(in crate::litmus) steps: Vec<Step>,
    /// Its registers.
    pub(super) registers: Vec<String>,
    /// Before each step: the registers whose values matter from there on, as bits of their numbers (those beyond 63 always do).
    pub(in crate::litmus) live: Vec<u64>,
    /// From each step on: the locations that may be written, as bits of their numbers; all where a register says where.
    pub(super) written: Vec<u64>,
    /// The steps that some jump goes back to.
    pub(super) heads: Vec<bool>,
}

/// The bit of a register; none beyond the 64th.
pub(in crate::litmus) fn bit(register: usize) -> u64 {
    u32::try_from(register).ok().and_then(|r| 1u64.checked_shl(r)).unwrap_or(0)
}

struct Resolver<'a> {
    names: &'a Names<'a>,
    thread: usize,
    registers: IndexSet<&'a str>,
    labels: IndexMap<&'a str, usize>,
}

impl<'a> Resolver<'a> {
    fn register(&self, ident: &Ident) -> usize {
        self.registers.get_index_of(ident.name.as_str()).unwrap_or(usize::MAX)
    }

    fn operand(&self, value: &Value) -> Operand {
        match value {
            Value::Number(n, _) => Operand::Number(*n),
            Value::Register(ident) => Operand::Register(self.register(ident)),
        }
    }

    fn address(&self, ident: &Ident) -> Address {
        if self.names.is_pointer(self.thread, &ident.name) {
            return Address::Register(self.register(ident));
        }
        Address::Location(self.names.locations.get_index_of(ident.name.as_str()).unwrap_or(usize::MAX))
    }

    fn label(&self, ident: &Ident) -> usize {
        self.labels.get(ident.name.as_str()).copied().unwrap_or(usize::MAX)
    }

    fn step(&self, instruction: &'a Instruction) -> Step {
        use Instruction as I;
        let operand = |value: &Option<Value>| value.as_ref().map(|v| self.operand(v));
        match instruction {
            I::Load { access, to, from } => Step::Load {
                tags: tags::memory(*access, Half::Load, false),
                to: self.register(to),
                at: self.address(from),
            },
            I::Store { access, to, value } => Step::Store {
                tags: tags::memory(*access, Half::Store, false),
                at: self.address(to),
                value: self.operand(value),
            },
            I::Move { to, value } => Step::Move { to: self.register(to), value: self.operand(value) },
            I::Compute { op, to, left, right } => {
                Step::Compute { op: *op, to: self.register(to), left: self.operand(left), right: self.operand(right) }
            }
            I::Compare { relation, to, left, right } => Step::Compare {
                relation: *relation,
                to: self.register(to),
                left: self.operand(left),
                right: self.operand(right),
            },
            I::Atomic { access, op, to, at, value, new } => Step::Atomic {
                load: tags::memory(*access, Half::Load, true),
                store: tags::memory(*access, Half::Store, true),
                op: *op,
                to: to.as_ref().map(|to| self.register(to)),
                at: self.address(at),
                value: self.operand(value),
                new: operand(new),
            },
            I::Fence { order, scope } => Step::Fence { tags: tags::fence(*order, *scope) },
            I::ProxyFence(proxy) => Step::Fence { tags: tags::proxy_fence(*proxy) },
            I::Membar { scope, semantics } => Step::Fence { tags: tags::membar(*scope, *semantics) },
            I::AvDevice => Step::Device { tags: tags::tags(&["AVDEVICE"]) },
            I::VisDevice => Step::Device { tags: tags::tags(&["VISDEVICE"]) },
            I::Barrier { waits, instance, barrier, quorum, fence } => Step::Barrier {
                tags: tags::barrier(*fence),
                waits: *waits,
                instance: *instance,
                barrier: operand(barrier),
                quorum: operand(quorum),
            },
            I::Goto(to) => Step::Branch { test: None, to: self.label(to) },
            I::Branch { relation, left, right, to } => {
                Step::Branch { test: Some((*relation, self.operand(left), self.operand(right))), to: self.label(to) }
            }
        }
    }
}

impl Step {
    /// The registers that it reads.
    fn reads(&self) -> u64 {
        let operand = |value: &Operand| if let Operand::Register(r) = value { bit(*r) } else { 0 };
        let address = |at: &Address| if let Address::Register(r) = at { bit(*r) } else { 0 };
        let some = |value: &Option<Operand>| value.as_ref().map_or(0, operand);
        match self {
            Self::Load { at, .. } => address(at),
            Self::Store { at, value, .. } => address(at) | operand(value),
            Self::Move { value, .. } => operand(value),
            Self::Compute { left, right, .. } | Self::Compare { left, right, .. } => operand(left) | operand(right),
            Self::Atomic { at, value, new, .. } => address(at) | operand(value) | some(new),
            Self::Fence { .. } | Self::Device { .. } => 0,
            Self::Barrier { barrier, quorum, .. } => some(barrier) | some(quorum),
            Self::Branch { test, .. } => test.as_ref().map_or(0, |(_, left, right)| operand(left) | operand(right)),
        }
    }

    /// The register that it writes.
    pub(super) fn writes(&self) -> u64 {
        match self {
            Self::Load { to, .. } | Self::Move { to, .. } | Self::Compute { to, .. } | Self::Compare { to, .. } => {
                bit(*to)
            }
            Self::Atomic { to: Some(to), .. } => bit(*to),
            _ => 0,
        }
    }
}

impl Code {
    /// The code of the thread at a position; registers of `asked` matter at its end.
    pub(super) fn of(litmus: &Litmus, names: &Names<'_>, thread: usize, asked: &[&str]) -> Self {
        let mut labels = IndexMap::new();
        let mut count = 0;
        for stmt in &litmus.threads[thread].code {
            match &stmt.kind {
                StmtKind::Label(name) => drop(labels.insert(name.as_str(), count)),
                StmtKind::Instruction(_) => count += 1,
            }
        }
        let registers = names.registers[thread].iter().copied().chain(asked.iter().copied()).collect();
        let resolver = Resolver { names, thread, registers, labels };
        let steps: Vec<Step> = litmus.threads[thread].instructions().map(|(i, _)| resolver.step(i)).collect();
        let at_end =
            asked.iter().filter_map(|name| resolver.registers.get_index_of(*name)).fold(0, |all, r| all | bit(r));
        let registers = resolver.registers.iter().map(|r| (*r).to_owned()).collect();
        Self::made(steps, registers, at_end)
    }

    /// The code that has these steps; registers of `at_end` matter at its end.
    pub(super) fn made(steps: Vec<Step>, registers: Vec<String>, at_end: u64) -> Self {
        let live = live(&steps, at_end);
        let written = written(&steps);
        let mut heads = vec![false; steps.len() + 1];
        for (k, step) in steps.iter().enumerate() {
            if let Step::Branch { to, .. } = step
                && *to <= k
            {
                heads[*to] = true;
            }
        }
        Self { steps, registers, live, written, heads }
    }
}

/// The registers that matter before each step and at the end.
fn live(steps: &[Step], at_end: u64) -> Vec<u64> {
    let mut live = vec![0; steps.len() + 1];
    live[steps.len()] = at_end;
    loop {
        let before = live.clone();
        for (k, step) in steps.iter().enumerate().rev() {
            let next = match step {
                Step::Branch { test: None, to } => live[*to],
                Step::Branch { to, .. } => live[*to] | live[k + 1],
                _ => live[k + 1],
            };
            live[k] = step.reads() | (next & !step.writes());
        }
        if live == before {
            return live;
        }
    }
}

/// The locations that may be written from each step on.
fn written(steps: &[Step]) -> Vec<u64> {
    let mut all = vec![0; steps.len() + 1];
    let of = |step: &Step| match step {
        Step::Store { at: Address::Location(n), .. } | Step::Atomic { at: Address::Location(n), .. } if *n < 64 => {
            bit(*n)
        }
        Step::Store { .. } | Step::Atomic { .. } => u64::MAX,
        _ => 0,
    };
    loop {
        let before = all.clone();
        for (k, step) in steps.iter().enumerate().rev() {
            let next = match step {
                Step::Branch { test: None, to } => all[*to],
                Step::Branch { to, .. } => all[*to] | all[k + 1],
                _ => all[k + 1],
            };
            all[k] |= of(step) | next;
        }
        if all == before {
            return all;
        }
    }
}
