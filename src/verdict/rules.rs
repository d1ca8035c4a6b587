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
}
