//! Litmus programs for PTX as syntax: everything that a file says, also what only axiomatic models tell apart (proxies,
//! aliases, scopes, the instances of barriers).
//!
//! The syntax is that of Dat3M's litmus tests for PTX, whose frame is herd's.

use crate::base::{Placed, Span, words};
use crate::program::instr::{Order, Scope};

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Its place.
    pub span: Span,
}

/// A litmus file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Litmus {
    /// The test's name.
    pub name: String,
    /// What stands between the name and the initial state.
    pub about: String,
    /// The initial state.
    pub init: Vec<Decl>,
    /// The threads, in the order of their columns.
    pub threads: Vec<Thread>,
    /// `locations [..]`: what an outcome shows besides what the condition mentions.
    pub locations: Vec<Term>,
    /// `filter c`: executions that do not satisfy it are left out.
    pub filter: Option<Cond>,
    /// What is asked. Absent only in a file with errors.
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
    /// `y @ surface aliases x`: another virtual address of the same memory, for a proxy.
    Alias {
        /// The new address.
        name: Ident,
        /// Its proxy.
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

words! {
    /// Proxies (PTX ISA 8.6): the paths on which memory is accessed.
    #[expect(missing_docs, reason = "the proxies of the litmus format")]
    pub enum Proxy {
        Generic = "generic",
        Constant = "constant",
        Texture = "texture",
        Surface = "surface",
    }
}

/// The qualifiers of a memory operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// The path to memory.
    pub proxy: Proxy,
    /// How strong.
    pub order: Order,
    /// For whom; none when weak.
    pub scope: Option<Scope>,
}

/// A thread of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its number: 0 for `P0`.
    pub number: u32,
    /// The cta that it belongs to, of those of its GPU.
    pub cta: u32,
    /// The GPU.
    pub gpu: u32,
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

/// A number or a register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A number.
    Number(i64, Span),
    /// A register of the thread.
    Register(Ident),
}

impl Value {
    /// Its place.
    #[must_use]
    pub const fn span(&self) -> Span {
        match self {
            Self::Number(_, span) => *span,
            Self::Register(ident) => ident.span,
        }
    }
}

/// Instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the operands, named for what they are")]
pub enum Instruction {
    /// `ld.weak r, x`; also `tld`, `suld`, `cold`. The address is a location or a register that holds one.
    Load { access: Access, to: Ident, from: Ident },
    /// `st.weak x, 1`; also `sust`.
    Store { access: Access, to: Ident, value: Value },
    /// `ld r, 1`: a move.
    Move { to: Ident, value: Value },
    /// `add r, 1, r`.
    Compute { op: Arith, to: Ident, left: Value, right: Value },
    /// `atom.relaxed.gpu.add r, x, 1`, `red.relaxed.gpu.add x, 1`; also `suatom`, `sured`. A `cas` has a third operand:
    /// what is compared comes first, then what is stored.
    Atomic { access: Access, op: Atom, to: Option<Ident>, at: Ident, value: Value, new: Option<Value> },
    /// `fence.sc.gpu`.
    Fence { order: Order, scope: Scope },
    /// `fence.proxy.surface`; none for `fence.proxy.alias`.
    ProxyFence(Option<Proxy>),
    /// `bar.cta.sync 1, 1, 2`. The instance tells barriers of the source apart, the barrier is the number in hardware.
    Barrier { waits: bool, instance: i64, barrier: Option<Value>, quorum: Option<Value> },
    /// `goto LC00`.
    Goto(Ident),
    /// `beq r0, 0, LC00`.
    Branch { relation: Relation, left: Value, right: Value, to: Ident },
}

impl Instruction {
    /// The registers and numbers that it reads, addresses left out.
    fn values(&self) -> impl Iterator<Item = &Value> {
        let list: [Option<&Value>; 2] = match self {
            Self::Store { value, .. } | Self::Move { value, .. } => [Some(value), None],
            Self::Compute { left, right, .. } | Self::Branch { left, right, .. } => [Some(left), Some(right)],
            Self::Atomic { value, new, .. } => [Some(value), new.as_ref()],
            Self::Barrier { barrier, quorum, .. } => [barrier.as_ref(), quorum.as_ref()],
            Self::Load { .. } | Self::Fence { .. } | Self::ProxyFence(_) | Self::Goto(_) => [None, None],
        };
        list.into_iter().flatten()
    }

    /// The numbers that it has among its values.
    pub fn numbers(&self) -> impl Iterator<Item = i64> {
        self.values().filter_map(|value| match value {
            Value::Number(n, _) => Some(*n),
            Value::Register(_) => None,
        })
    }

    /// The registers that it reads, addresses left out.
    pub fn reads(&self) -> impl Iterator<Item = &Ident> {
        self.values().filter_map(|value| match value {
            Value::Register(ident) => Some(ident),
            Value::Number(..) => None,
        })
    }

    /// The register that it writes.
    #[must_use]
    pub const fn target(&self) -> Option<&Ident> {
        match self {
            Self::Load { to, .. } | Self::Move { to, .. } | Self::Compute { to, .. } => Some(to),
            Self::Atomic { to, .. } => to.as_ref(),
            _ => None,
        }
    }

    /// The address that it accesses and how.
    #[must_use]
    pub const fn address(&self) -> Option<(&Ident, Access)> {
        match self {
            Self::Load { access, from: at, .. }
            | Self::Store { access, to: at, .. }
            | Self::Atomic { access, at, .. } => Some((at, *access)),
            _ => None,
        }
    }

    /// The label that it goes to.
    #[must_use]
    pub const fn label(&self) -> Option<&Ident> {
        match self {
            Self::Goto(to) | Self::Branch { to, .. } => Some(to),
            _ => None,
        }
    }
}

words! {
    /// Arithmetic on 64-bit integers.
    #[expect(missing_docs, reason = "the operations of the litmus format")]
    pub enum Arith {
        Add = "add",
        Sub = "sub",
        Mul = "mul",
        Div = "div",
    }
}

words! {
    /// Atomic operations.
    #[expect(missing_docs, reason = "the operations of the litmus format")]
    pub enum Atom {
        Add = "add",
        Sub = "sub",
        Mul = "mul",
        Div = "div",
        And = "and",
        Or = "or",
        Xor = "xor",
        Cas = "cas",
        Exch = "exch",
    }
}

words! {
    /// Comparisons, of signed numbers, by the names of their branches.
    #[expect(missing_docs, reason = "the usual six")]
    pub enum Relation {
        Eq = "beq",
        Ne = "bne",
        Lt = "blt",
        Gt = "bgt",
        Le = "ble",
        Ge = "bge",
    }
}

/// How comparisons are written in conditions; the first of two for one is printed.
pub(super) const COMPARISONS: &[(&str, Relation)] = &[
    ("=", Relation::Eq),
    ("==", Relation::Eq),
    ("!=", Relation::Ne),
    ("<", Relation::Lt),
    ("<=", Relation::Le),
    (">", Relation::Gt),
    (">=", Relation::Ge),
];

impl Relation {
    /// Whether two numbers stand in this relation.
    #[must_use]
    pub const fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Self::Eq => left == right,
            Self::Ne => left != right,
            Self::Lt => left < right,
            Self::Le => left <= right,
            Self::Gt => left > right,
            Self::Ge => left >= right,
        }
    }
}

/// What a condition compares, and what an outcome shows.
pub type Term = Placed<TermKind>;

/// The terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TermKind {
    /// `P0:r0` or `0:r0`.
    Register {
        /// The thread's number.
        thread: u32,
        /// The register.
        name: String,
    },
    /// `x`, `[x]` or `x[n]`: the value of a location.
    Location {
        /// Its name.
        name: String,
        /// The element; 0 when not given.
        element: u64,
    },
    /// A number.
    Number(i64),
}

/// A condition on a final state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cond {
    /// `P0:r0 == 1`
    Compare(Term, Relation, Term),
    /// `~c`
    Not(Box<Cond>),
    /// `c /\ d /\ …`, at least two.
    And(Vec<Cond>),
    /// `c \/ d \/ …`, at least two.
    Or(Vec<Cond>),
}

impl Cond {
    /// Adds its terms, in the order of the text.
    fn terms<'a>(&'a self, all: &mut Vec<&'a Term>) {
        match self {
            Self::Compare(left, _, right) => all.extend([left, right]),
            Self::Not(inner) => inner.terms(all),
            Self::And(list) | Self::Or(list) => list.iter().for_each(|cond| cond.terms(all)),
        }
    }
}

words! {
    /// What is asked of the executions.
    pub enum Quantifier {
        /// Some execution satisfies the condition.
        Exists = "exists",
        /// None does.
        NotExists = "~exists",
        /// All do.
        Forall = "forall",
        /// `final c with …`: only what is expected of models by name says which of these is asked.
        Final = "final",
    }
}

/// The question of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// How the condition is meant.
    pub quantifier: Quantifier,
    /// The condition.
    pub cond: Cond,
    /// After `final c with`: `tso: exists;`.
    pub expected: Vec<Expectation>,
    /// The place of quantifier and condition.
    pub span: Span,
}

/// What is expected of a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expectation {
    /// The model; `default` for all others.
    pub model: Ident,
    /// `exists`; otherwise `~exists`.
    pub exists: bool,
}
