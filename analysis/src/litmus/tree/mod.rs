//! Litmus programs as syntax: everything that a file says, also what only axiomatic models tell apart (proxies, aliases,
//! scopes, availability, the instances of barriers). One tree serves PTX and Vulkan.
//!
//! The syntax is that of Dat3M's litmus tests, whose frame is herd's.

mod access;
mod condition;
mod instruction;

pub use access::{Access, Arch, OpenClAccess, Placing, Proxy, PtxAccess, Reach, Semantics, VulkanAccess, VulkanScope};
pub(super) use condition::COMPARISONS;
pub use condition::{Cond, Condition, Expectation, Quantifier, Term, TermKind};
pub use instruction::{Arith, Atom, Ident, Instruction, Relation, Value};

use super::{lockstep, rsp};
use crate::base::{Placed, Span};

/// A litmus file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Litmus {
    /// What it is written for.
    pub arch: Arch,
    /// The test's name.
    pub name: String,
    /// What stands between the name and the initial state.
    pub about: String,
    /// The initial state.
    pub init: Vec<Decl>,
    /// `ssw 0 1` of Vulkan: what the first of two threads does comes, by the host's doing, before the other one; their numbers.
    pub ssw: Vec<Placed<(u32, u32)>>,
    /// Of a test for OpenCL: the program as it is written. Its threads here are what it comes to.
    pub rsp: Option<Box<rsp::Test>>,
    /// Of a test for wavefronts: the rows of its columns. Its threads here are the columns, without code.
    pub lockstep: Option<Box<lockstep::Program>>,
    /// The threads, in the order of their columns.
    pub threads: Vec<Thread>,
    /// `locations [..]`: what an outcome shows besides what the condition mentions.
    pub locations: Vec<Term>,
    /// `filter c`: executions that do not satisfy it are left out.
    pub filter: Option<Cond>,
    /// What is asked. Absent in a file with errors, and in tests that are about races only: those for Vulkan that end with a filter,
    /// and those for OpenCL that end with none, either.
    pub condition: Option<Condition>,
}

impl Litmus {
    /// What it looks at, in the order of its text: `locations`, `filter`, the condition.
    #[must_use]
    pub fn terms(&self) -> Vec<&Term> {
        let mut terms = self.locations.iter().collect();
        let conds = self.filter.iter().chain(self.condition.as_ref().map(|c| &c.cond));
        conds.for_each(|cond| cond.terms(&mut terms));
        terms
    }

    /// The position of the thread with a number.
    #[must_use]
    pub fn thread(&self, number: u32) -> Option<usize> {
        self.threads.iter().position(|t| t.number == number)
    }
}

/// What the thread of a number is called: `P0`, `W0.1`, `C0`.
#[must_use]
pub fn thread_name(number: u32) -> String {
    lockstep::Column::of(number).map_or_else(|| format!("P{number}"), |column| column.to_string())
}

/// A declaration of the initial state.
pub type Decl = Placed<DeclKind>;

/// The declarations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeclKind {
    /// `x=0`, or `y=x`: the value that `x` begins with.
    Location {
        /// The location.
        name: Ident,
        /// Its value.
        value: Initial,
    },
    /// `P0:r0=0`, or `P0:r0=&x`: an address, also written `P0:r0=x`.
    Register {
        /// The thread's number.
        thread: u32,
        /// The place of `P0`.
        at: Span,
        /// The register.
        name: Ident,
        /// Its value.
        value: Initial,
    },
    /// `y @ surface aliases x`, in Vulkan `y aliases x`: another virtual address of the same memory.
    Alias {
        /// The new address.
        name: Ident,
        /// Its proxy; Vulkan has only the generic one.
        proxy: Proxy,
        /// The location, or an alias of it.
        of: Ident,
    },
}

/// An initial value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Initial {
    /// A number.
    Number(i64),
    /// A location: its initial value for a location, its address for a register.
    Of(Ident),
}

/// A thread of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its number: 0 for `P0`.
    pub number: u32,
    /// Which threads it is together with.
    pub place: Placing,
    /// The place of its head.
    pub span: Span,
    /// Its instructions and labels; empty cells are not kept.
    pub code: Vec<Stmt>,
}

impl Thread {
    /// The instructions and their places.
    pub fn instructions(&self) -> impl Iterator<Item = (&Instruction, Span)> {
        self.code.iter().filter_map(|s| match &s.kind {
            StmtKind::Instruction(i) => Some((i, s.span)),
            StmtKind::Label(_) => None,
        })
    }
}

/// A cell that is not empty.
pub type Stmt = Placed<StmtKind>;

/// What a cell holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StmtKind {
    /// `LC00:`
    Label(String),
    /// An instruction.
    Instruction(Instruction),
}
