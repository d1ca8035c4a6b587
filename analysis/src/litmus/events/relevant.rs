//! A test without what no way of a thread depends on: accesses of locations whose values decide nothing, and what is computed for them.
//!
//! Whether an execution ends depends on the ways that threads go. What a critical section does to plain data is not seen in them.

use super::{Address, Code, Operand, Step, Threads, bit};
use crate::base::mutant::{Mutant, on};
use crate::litmus::tree::Atom;

/// What ways depend on.
struct Relevant {
    /// Locations, by their numbers, aliases with what they are names of.
    locations: Vec<bool>,
    /// By thread: its registers.
    registers: Vec<Vec<bool>>,
}

impl Threads {
    /// The test without what no way depends on. None: that is nothing, or a register says what is accessed.
    pub(in crate::litmus) fn relevant(&self) -> Option<Self> {
        let mut kept = Relevant {
            locations: vec![false; self.locations.places.len()],
            registers: self.codes.iter().map(|code| vec![false; code.registers.len()]).collect(),
        };
        while self.grow(&mut kept)? {}
        let codes: Vec<Code> = (0..self.codes.len()).map(|thread| self.without(thread, &kept)).collect();
        let less = codes.iter().zip(&self.codes).any(|(new, old)| new.steps.len() < old.steps.len());
        let asked = vec![Vec::new(); codes.len()];
        let mut locations = self.locations.clone();
        locations.initial.retain(|(place, _)| kept.locations[place.location as usize]);
        less.then(|| Self { codes, asked, locations, spots: Vec::new(), finals: Vec::new(), ..self.clone() })
    }

    /// Adds what more is relevant by what is so already; whether there was any.
    fn grow(&self, kept: &mut Relevant) -> Option<bool> {
        let mut more = false;
        for (thread, code) in self.codes.iter().enumerate() {
            for step in &code.steps {
                if let Some(at) = step.at() {
                    let Address::Location(number) = at else { return None };
                    let location = self.locations.places[number].location;
                    let of = |n: &usize| self.locations.places[*n].location == location;
                    let seen = step.register().is_some_and(|r| kept.registers[thread][r]);
                    if seen && !kept.locations[number] {
                        (0..kept.locations.len()).filter(of).for_each(|n| kept.locations[n] = true);
                        more = true;
                    }
                }
                let stored = matches!(step, Step::Store { .. }) && on(Mutant::StoresIrrelevant);
                if self.matters(thread, step, kept) && !stored {
                    for operand in step.operands() {
                        let Operand::Register(r) = operand else { continue };
                        more |= !std::mem::replace(&mut kept.registers[thread][r], true);
                    }
                }
            }
        }
        Some(more)
    }

    /// Whether a step is one that ways depend on.
    fn matters(&self, thread: usize, step: &Step, kept: &Relevant) -> bool {
        match (step.at(), step) {
            (Some(Address::Location(number)), _) => kept.locations[number],
            (_, Step::Move { to, .. } | Step::Compute { to, .. } | Step::Compare { to, .. }) => {
                kept.registers[thread][*to]
            }
            _ => true,
        }
    }

    /// The code of a thread with the steps only that ways depend on.
    fn without(&self, thread: usize, kept: &Relevant) -> Code {
        let code = &self.codes[thread];
        let stays: Vec<bool> = code.steps.iter().map(|step| self.matters(thread, step, kept)).collect();
        let before = |k: usize| stays[..k].iter().filter(|stays| **stays).count();
        let steps = code.steps.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(step, _)| match step {
            Step::Branch { test, to } => Step::Branch { test: *test, to: before(*to) },
            step => step.clone(),
        });
        Code::made(steps.collect(), code.registers.clone(), 0)
    }
}

impl Step {
    /// Where it accesses memory.
    fn at(&self) -> Option<Address> {
        match self {
            Self::Load { at, .. } | Self::Store { at, .. } | Self::Atomic { at, .. } => Some(*at),
            _ => None,
        }
    }

    /// The register that gets what it reads in memory.
    fn register(&self) -> Option<usize> {
        match self {
            Self::Load { to, .. } => Some(*to),
            Self::Atomic { to, .. } => *to,
            _ => None,
        }
    }

    /// The values that it computes, stores, compares or decides with.
    fn operands(&self) -> Vec<Operand> {
        match self {
            Self::Store { value, .. } | Self::Move { value, .. } => vec![*value],
            Self::Compute { left, right, .. } | Self::Compare { left, right, .. } => vec![*left, *right],
            Self::Atomic { value, new, .. } => std::iter::once(*value).chain(*new).collect(),
            Self::Barrier { barrier, quorum, .. } => barrier.iter().chain(quorum).copied().collect(),
            Self::Branch { test, .. } => test.iter().flat_map(|(_, left, right)| [*left, *right]).collect(),
            Self::Load { .. } | Self::Fence { .. } | Self::Device { .. } => Vec::new(),
        }
    }
}

impl Code {
    /// Whether a swap that succeeds here decides where the thread goes next: the step at which the first branch on what it read leads on.
    pub(super) fn after_success(&self, at: usize) -> Option<usize> {
        let Step::Atomic { op: Atom::CasSuccess, to: Some(to), value: Operand::Number(found), .. } = self.steps[at]
        else {
            return None;
        };
        let value = |operand: &Operand| match operand {
            Operand::Number(n) => Some(*n),
            Operand::Register(r) if *r == to => Some(found),
            Operand::Register(_) => None,
        };
        for (k, step) in self.steps.iter().enumerate().skip(at + 1) {
            match step {
                Step::Branch { test: Some((relation, left, right)), to } => {
                    let (left, right) = (value(left)?, value(right)?);
                    return Some(if relation.holds(left, right) { *to } else { k + 1 });
                }
                Step::Branch { test: None, .. } => return None,
                step if step.writes() & bit(to) != 0 || bit(to) == 0 => return None,
                _ => {}
            }
        }
        None
    }
}
