//! Memory programs as syntax (report, 4.4.2 to 4.4.4) and the files that hold them.

use super::OpKey;
use crate::base::Span;

/// A cache level.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Level {
    /// The multiprocessor's L1 cache.
    L1,
    /// The L2 cache of the device.
    L2,
}

/// What is done to a cache.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the operations of 4.4.3, and two more (D-clean)")]
pub enum CacheFn {
    Read,
    Write,
    Reserve,
    Update,
    Evict,
    Discard,
    ClassifyFirst,
    ClassifyNormal,
    Clean,
    WriteBack,
}

/// Operational expressions (4.4.3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the operations of 4.4.3, and two more (D-others, D-fence)")]
pub enum OpExp {
    ReadMem,
    WriteMem,
    AtomOp,
    ReleaseRegs,
    WriteToRegs,
    Lock,
    Unlock,
    Cache(CacheFn, Level),
    InvalidateOthersL1,
    FlushL1,
}

/// Their names.
pub(super) const OPERATIONS: &[(&str, OpExp)] = &[
    ("readMem", OpExp::ReadMem),
    ("writeMem", OpExp::WriteMem),
    ("atomOp", OpExp::AtomOp),
    ("releaseRegs", OpExp::ReleaseRegs),
    ("writeToRegs", OpExp::WriteToRegs),
    ("lock", OpExp::Lock),
    ("unlock", OpExp::Unlock),
    ("readL1", OpExp::Cache(CacheFn::Read, Level::L1)),
    ("readL2", OpExp::Cache(CacheFn::Read, Level::L2)),
    ("writeL1", OpExp::Cache(CacheFn::Write, Level::L1)),
    ("writeL2", OpExp::Cache(CacheFn::Write, Level::L2)),
    ("reserveL1", OpExp::Cache(CacheFn::Reserve, Level::L1)),
    ("reserveL2", OpExp::Cache(CacheFn::Reserve, Level::L2)),
    ("updateL1", OpExp::Cache(CacheFn::Update, Level::L1)),
    ("updateL2", OpExp::Cache(CacheFn::Update, Level::L2)),
    ("evictL1", OpExp::Cache(CacheFn::Evict, Level::L1)),
    ("evictL2", OpExp::Cache(CacheFn::Evict, Level::L2)),
    ("discardL1", OpExp::Cache(CacheFn::Discard, Level::L1)),
    ("discardL2", OpExp::Cache(CacheFn::Discard, Level::L2)),
    ("classifyFirstL1", OpExp::Cache(CacheFn::ClassifyFirst, Level::L1)),
    ("classifyFirstL2", OpExp::Cache(CacheFn::ClassifyFirst, Level::L2)),
    ("classifyNormalL1", OpExp::Cache(CacheFn::ClassifyNormal, Level::L1)),
    ("classifyNormalL2", OpExp::Cache(CacheFn::ClassifyNormal, Level::L2)),
    ("cleanL1", OpExp::Cache(CacheFn::Clean, Level::L1)),
    ("cleanL2", OpExp::Cache(CacheFn::Clean, Level::L2)),
    ("writeBackL1", OpExp::Cache(CacheFn::WriteBack, Level::L1)),
    ("writeBackL2", OpExp::Cache(CacheFn::WriteBack, Level::L2)),
    ("invalidateOthersL1", OpExp::InvalidateOthersL1),
    ("flushL1", OpExp::FlushL1),
];

impl OpExp {
    /// All operations.
    pub fn all() -> impl Iterator<Item = Self> {
        OPERATIONS.iter().map(|(_, op)| *op)
    }

    /// Its name in programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        OPERATIONS.iter().find(|(_, op)| *op == self).map_or("", |(name, _)| name)
    }

    /// The operation of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        OPERATIONS.iter().find(|(n, _)| *n == name).map(|(_, op)| *op)
    }
}

/// Boolean expressions (4.4.2).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the expressions of 4.4.2")]
pub enum BExp {
    Const(bool),
    IsCached(Level),
    Not(Box<BExp>),
    And(Box<BExp>, Box<BExp>),
    Or(Box<BExp>, Box<BExp>),
}

/// A statement (4.4.4), with its place in the file. The report's sequential composition is a list here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// The statements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StmtKind {
    /// `;`
    Nop,
    /// `yield;`
    Yield,
    /// `end;`
    End,
    /// An operation.
    Op(OpExp),
    /// `if (…) { … } else { … }`
    If {
        /// The condition.
        cond: BExp,
        /// Its place.
        cond_span: Span,
        /// Executed when it holds.
        then: Vec<Stmt>,
        /// Executed when it does not; `None`: no `else`.
        otherwise: Option<Vec<Stmt>>,
    },
}

/// A memory program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemProgram {
    /// The operations that it serves, each with the place of its name.
    pub serves: Vec<(OpKey, Span)>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// The word `program` and the names after it.
    pub head: Span,
}

/// A file of memory programs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MempFile {
    /// `use NAME;`: the preset that serves what the files of this folder do not.
    pub base: Option<(String, Span)>,
    /// The programs.
    pub programs: Vec<MemProgram>,
}
