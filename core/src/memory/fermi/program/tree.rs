//! What memory programs are made of: conditions and operations (report, 4.4.2, 4.4.3).

use crate::base::phrases;
use crate::verdict::Rule;

phrases! {
    /// A cache level.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
    pub enum Level {
        /// The multiprocessor's L1 cache.
        L1 => ("L1");
        /// The L2 cache of the device.
        L2 => ("L2");
    }
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

/// Their names in programs, and the rules that execute them.
const OPERATIONS: &[(&str, OpExp, Rule)] = {
    use {CacheFn as F, Level::L1, Level::L2, OpExp as O, Rule as R};
    &[
        ("readMem", O::ReadMem, R::OpexpReadMem),
        ("writeMem", O::WriteMem, R::OpexpWriteMem),
        ("atomOp", O::AtomOp, R::OpexpAtomOp),
        ("releaseRegs", O::ReleaseRegs, R::OpexpReleaseRegs),
        ("writeToRegs", O::WriteToRegs, R::OpexpWriteToRegs),
        ("lock", O::Lock, R::OpexpLock),
        ("unlock", O::Unlock, R::OpexpUnlock),
        ("readL1", O::Cache(F::Read, L1), R::OpexpReadL1),
        ("readL2", O::Cache(F::Read, L2), R::OpexpReadL2),
        ("writeL1", O::Cache(F::Write, L1), R::OpexpWriteL1),
        ("writeL2", O::Cache(F::Write, L2), R::OpexpWriteL2),
        ("reserveL1", O::Cache(F::Reserve, L1), R::OpexpReserveL1),
        ("reserveL2", O::Cache(F::Reserve, L2), R::OpexpReserveL2),
        ("updateL1", O::Cache(F::Update, L1), R::OpexpUpdateL1),
        ("updateL2", O::Cache(F::Update, L2), R::OpexpUpdateL2),
        ("evictL1", O::Cache(F::Evict, L1), R::OpexpEvictL1),
        ("evictL2", O::Cache(F::Evict, L2), R::OpexpEvictL2),
        ("discardL1", O::Cache(F::Discard, L1), R::OpexpDiscardL1),
        ("discardL2", O::Cache(F::Discard, L2), R::OpexpDiscardL2),
        ("classifyFirstL1", O::Cache(F::ClassifyFirst, L1), R::OpexpClassifyFirstL1),
        ("classifyFirstL2", O::Cache(F::ClassifyFirst, L2), R::OpexpClassifyFirstL2),
        ("classifyNormalL1", O::Cache(F::ClassifyNormal, L1), R::OpexpClassifyNormalL1),
        ("classifyNormalL2", O::Cache(F::ClassifyNormal, L2), R::OpexpClassifyNormalL2),
        ("cleanL1", O::Cache(F::Clean, L1), R::OpexpCleanL1),
        ("cleanL2", O::Cache(F::Clean, L2), R::OpexpCleanL2),
        ("writeBackL1", O::Cache(F::WriteBack, L1), R::OpexpWriteBackL1),
        ("writeBackL2", O::Cache(F::WriteBack, L2), R::OpexpWriteBackL2),
        ("invalidateOthersL1", O::InvalidateOthersL1, R::OpexpInvalidateOthersL1),
        ("flushL1", O::FlushL1, R::OpexpFlushL1),
    ]
};

impl OpExp {
    /// All operations.
    pub fn all() -> impl Iterator<Item = Self> {
        OPERATIONS.iter().map(|(_, op, _)| *op)
    }

    /// Its name in programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        OPERATIONS.iter().find(|(_, op, _)| *op == self).map_or("", |(name, ..)| name)
    }

    /// The rule that executes it.
    pub(super) fn rule(self) -> Option<Rule> {
        OPERATIONS.iter().find(|(_, op, _)| *op == self).map(|(.., rule)| *rule)
    }

    /// The operation of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        OPERATIONS.iter().find(|(n, ..)| *n == name).map(|(_, op, _)| *op)
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
