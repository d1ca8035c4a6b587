//! The rules of the report, by id (`semantics.md`, section 1).
//!
//! Listed are the rules that the machine has. Each has one home in the code, marked `/// Rule: id`, and an entry in
//! `spec-notes/`; a test compares the three.

macro_rules! rules {
    ($($variant:ident = $id:literal,)*) => {
        /// A rule of the report.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the id says which rule of the report it is")]
        pub enum Rule { $($variant,)* }

        impl Rule {
            /// Every rule.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The rule's id, e.g. `crs.braguard`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
            }
        }
    };
}

rules! {
    ThreadDop = "thread.dop",
    ThreadExecTt = "thread.exec-tt",
    ThreadExecFf = "thread.exec-ff",
    CrsSsy = "crs.ssy",
    CrsPreBrk = "crs.preBrk",
    CrsPreRet = "crs.preRet",
    CrsSync = "crs.sync",
    CrsBrkDiv = "crs.brkdiv",
    CrsRetDiv = "crs.retdiv",
    CrsExitDiv = "crs.exitdiv",
    CrsBrkUni = "crs.brkuni",
    CrsRetUni = "crs.retuni",
    CrsExitUni = "crs.exituni",
    CrsBraUni = "crs.brauni",
    CrsCallUni = "crs.calluni",
    CrsBraGuard = "crs.braguard",
    CrsCallGuard = "crs.callguard",
    CrsBraTarget = "crs.bratarget",
    CrsCallTarget = "crs.calltarget",
    CrsNext = "crs.next",
    CrsUnwind = "crs.unwind",
    CrsUpdExecState = "crs.updExecState",
    RefExecTt = "ref.exec-tt",
    RefExecFf1 = "ref.exec-ff1",
    RefExecFf2 = "ref.exec-ff2",
    RefBranch = "ref.branch",
    RefReset = "ref.reset",
    RefStep = "ref.step",
    RefIdle = "ref.idle",
    WarpBra = "warp.bra",
    WarpComm = "warp.comm",
    WarpMem = "warp.mem",
    BarBarInfo = "bar.barInfo",
    BarPrepBar = "bar.prepBar",
    BarUpdAct = "bar.updAct",
    BarUpdArrCnt = "bar.updArrCnt",
    BarReduce = "bar.reduce",
    BarRemBar = "bar.remBar",
    BarEndBar = "bar.endBar",
    BlockExec = "block.exec",
    BlockEndBar = "block.endBar",
    BlockCompl = "block.compl",
    GridExec = "grid.exec",
    GridCompl = "grid.compl",
    ContextExec = "context.exec",
    ContextIssue = "context.issue",
    ContextCompl = "context.compl",
    OpNop = "op.nop",
    OpYield = "op.yield",
    OpEnd = "op.end",
    OpSeq1 = "op.seq1",
    OpSeq2 = "op.seq2",
    OpSeq3 = "op.seq3",
    OpIfTt = "op.iftt",
    OpIfFf = "op.ifff",
    OpOp1 = "op.op1",
    OpOp2 = "op.op2",
    BexpTrue = "bexp.true",
    BexpFalse = "bexp.false",
    BexpNot = "bexp.not",
    BexpAnd = "bexp.and",
    BexpOr = "bexp.or",
    BexpIsCachedL1 = "bexp.isCachedL1",
    BexpIsCachedL2 = "bexp.isCachedL2",
    OpexpReadMem = "opexp.readMem",
    OpexpWriteMem = "opexp.writeMem",
    OpexpAtomOp = "opexp.atomOp",
    OpexpReleaseRegs = "opexp.releaseRegs",
    OpexpWriteToRegs = "opexp.writeToRegs",
    OpexpLock = "opexp.lock",
    OpexpUnlock = "opexp.unlock",
    OpexpReadL1 = "opexp.readL1",
    OpexpReadL2 = "opexp.readL2",
    OpexpWriteL1 = "opexp.writeL1",
    OpexpWriteL2 = "opexp.writeL2",
    OpexpReserveL1 = "opexp.reserveL1",
    OpexpReserveL2 = "opexp.reserveL2",
    OpexpUpdateL1 = "opexp.updateL1",
    OpexpUpdateL2 = "opexp.updateL2",
    OpexpEvictL1 = "opexp.evictL1",
    OpexpEvictL2 = "opexp.evictL2",
    OpexpDiscardL1 = "opexp.discardL1",
    OpexpDiscardL2 = "opexp.discardL2",
    OpexpClassifyFirstL1 = "opexp.classifyFirstL1",
    OpexpClassifyFirstL2 = "opexp.classifyFirstL2",
    OpexpClassifyNormalL1 = "opexp.classifyNormalL1",
    OpexpClassifyNormalL2 = "opexp.classifyNormalL2",
    CacheReserveUnused = "cache.reserve-unused",
    CacheReserveEvict = "cache.reserve-evict",
    CacheReserveFill = "cache.reserve-fill",
    CacheReserveJoin = "cache.reserve-join",
    CacheReserveWait = "cache.reserve-wait",
    CacheReadValid = "cache.read-valid",
    CacheReadWait = "cache.read-wait",
    CacheWriteHit = "cache.write-hit",
    CacheWriteReserve = "cache.write-reserve",
    CacheWriteWait = "cache.write-wait",
    CacheUpdateFill = "cache.update-fill",
    CacheUpdateKeep = "cache.update-keep",
    CacheEvictClean = "cache.evict-clean",
    CacheEvictAbsent = "cache.evict-absent",
    CacheEvictWait = "cache.evict-wait",
    CacheDiscardClear = "cache.discard-clear",
    CacheDiscardAbsent = "cache.discard-absent",
    CacheDiscardWait = "cache.discard-wait",
    CacheClassify = "cache.classify",
    CachePin = "cache.pin",
    CacheUnpin = "cache.unpin",
}
