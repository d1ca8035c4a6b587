//! Programs of OpenCL with remote-scope promotion as syntax: devices have work-groups, these have threads, and a thread is a list of
//! statements (section 2.2 of the paper).

use super::access::{Access, Home, MemoryOrder, Region};
use crate::base::{Placed, Span, sort, words};
use crate::litmus::tree::{Arith, Atom, Cond, Condition, Ident, Relation, Term, Value};

words! {
    /// How a program is written; the word that it begins with.
    #[derive(Default)]
    pub enum Form {
        /// `store_DV(x, 1) ||| r0 = load_WG_R(x)`: section 2.2 of the paper.
        #[default]
        Lists = "RSP",
        /// Functions in OpenCL C and a `scopeTree`: herd's litmus tests.
        OpenCl = "OpenCL",
    }
}

/// A location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Its name, at its first mention.
    pub name: Ident,
    /// What it begins with.
    pub initial: i64,
    /// Whether it is an atomic location: its writes are in one order (`mo`), and plain reads of it need not see a visible write.
    pub atomic: bool,
    /// Where it is.
    pub region: Region,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its number: 0 for `P0`.
    pub number: u32,
    /// Where it is.
    pub home: Home,
    /// The place of its head; of its code, where it has none.
    pub span: Span,
    /// What it does.
    pub code: Vec<Stmt>,
}

/// A statement and its place.
pub type Stmt = Placed<Statement>;

/// Statements. A call within a condition is a statement of its own before it, whose result is in a register without a name of the text's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// `r = load_DV(x)`, `r = *x`.
    Load {
        /// How.
        access: Access,
        /// The register.
        to: Ident,
        /// The location.
        from: Ident,
    },
    /// `store_DV(x, 1)`, `*x = 1`.
    Store {
        /// How.
        access: Access,
        /// The location.
        at: Ident,
        /// What is stored.
        value: Value,
    },
    /// `r = fetch_inc_DV(x)`, `atomic_fetch_add_explicit(x, 1, …)`: atomic, and it always stores.
    Update {
        /// How.
        access: Access,
        /// Which operation: one that does not compare.
        op: Atom,
        /// The register that gets what was there before.
        to: Option<Ident>,
        /// The location.
        at: Ident,
        /// The operand.
        value: Value,
    },
    /// `r = atomic_compare_exchange_strong_explicit(x, zero, 1, …)`: an update where it finds what is expected; otherwise a load.
    CompareExchange {
        /// How, where it succeeds.
        access: Access,
        /// What it orders where it fails.
        failure: MemoryOrder,
        /// The register that gets 1 where it succeeds and 0 where it fails.
        to: Option<Ident>,
        /// The location.
        at: Ident,
        /// What is expected there.
        expected: Expected,
        /// What is stored where it succeeds.
        new: Value,
    },
    /// `r = 1`.
    Assign {
        /// The register.
        to: Ident,
        /// The value.
        value: Value,
    },
    /// `r = a + b`, `r = a == b`.
    Compute {
        /// The operation.
        op: Operation,
        /// The register.
        to: Ident,
        /// The left operand.
        left: Value,
        /// The right operand.
        right: Value,
    },
    /// `if (a == b) { … } else { … }`.
    If {
        /// How the operands are compared.
        relation: Relation,
        /// The left operand.
        left: Value,
        /// The right operand.
        right: Value,
        /// What is done where it holds.
        then: Vec<Stmt>,
        /// What is done otherwise.
        otherwise: Vec<Stmt>,
    },
}

/// What a compare-exchange compares with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expected {
    /// What a plain load of a location returns. A failing one does not store there (D-rsp-expected).
    At(Ident),
    /// A value.
    Value(Value),
}

/// What is computed of two values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    /// Arithmetic.
    Arith(Arith),
    /// 1 where it holds, otherwise 0.
    Is(Relation),
}

/// A program and what is asked of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Test {
    /// How it is written.
    pub form: Form,
    /// Its name.
    pub name: String,
    /// What stands between the name and the initial state.
    pub about: String,
    /// Its locations, in the order of their first mention.
    pub locations: Vec<Location>,
    /// Its threads, in the order of the text.
    pub threads: Vec<Thread>,
    /// `locations [..]`: what an outcome shows besides what the condition mentions.
    pub shown: Vec<Term>,
    /// `filter c`: executions that do not satisfy it are left out.
    pub filter: Option<Cond>,
    /// What is asked; nothing where only races or all outcomes are looked at.
    pub condition: Option<Condition>,
}

impl Test {
    /// Its threads as a list of devices, these of work-groups, these of positions in [`Test::threads`].
    #[must_use]
    pub fn lists(&self) -> Vec<Vec<Vec<usize>>> {
        let mut order: Vec<usize> = (0..self.threads.len()).collect();
        sort::sort_by_key(&mut order, |k| self.threads[*k].home);
        let mut devices: Vec<Vec<Vec<usize>>> = Vec::new();
        let mut last: Option<Home> = None;
        for k in order {
            let home = self.threads[k].home;
            if last.is_none_or(|last| last.device != home.device) {
                devices.push(Vec::new());
            }
            if let Some(device) = devices.last_mut() {
                if last != Some(home) {
                    device.push(Vec::new());
                }
                if let Some(group) = device.last_mut() {
                    group.push(k);
                }
            }
            last = Some(home);
        }
        devices
    }

    /// A location by its name.
    #[must_use]
    pub fn location(&self, name: &str) -> Option<&Location> {
        self.locations.iter().find(|location| location.name.name == name)
    }
}

impl Statement {
    /// The location that it accesses, and how; not what a compare-exchange loads what it expects from.
    #[must_use]
    pub const fn address(&self) -> Option<(&Ident, Access)> {
        match self {
            Self::Load { access, from: at, .. }
            | Self::Store { access, at, .. }
            | Self::Update { access, at, .. }
            | Self::CompareExchange { access, at, .. } => Some((at, *access)),
            Self::Assign { .. } | Self::Compute { .. } | Self::If { .. } => None,
        }
    }
}
