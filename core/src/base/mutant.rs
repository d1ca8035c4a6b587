//! Deliberate errors, for tests only: a semantics whose tests do not notice these would be a toy.
//!
//! A mutant is a small change of one rule. The code asks [`on`] where the change would be; without the feature `mutants`
//! the answer is a constant, so nothing of it is left in the program. `tests/mutants.rs` has for each the smallest program
//! that tells it apart.

use super::words;

words! {
    /// A deliberate error, by the name that `--mutant` takes.
    pub enum Mutant {
        /// Blocks that run ahead are right whatever those before them have changed (D-ahead).
        AheadMeets = "ahead-meets",
        /// Warps that run in any order are right whatever they have in common (D-ahead).
        AheadApart = "ahead-apart",
        /// They are right whatever they began with (D-ahead).
        AheadBegins = "ahead-begins",
        /// What they read is not noted where accesses are noted by their bytes (D-ahead).
        AheadReads = "ahead-reads",
        /// Of stores of one instruction to the same bytes the last one takes all of them (D-lsc-bytes).
        LscWholeStores = "lsc-whole-stores",
        /// Under LSC the lanes of an instruction access memory in one step.
        LscTogether = "lsc-together",
        /// Under SLSC the lanes of an instruction access memory one by one.
        SlscApart = "slsc-apart",
        /// Axioms of wavefronts have the program order of each lane only.
        LanesUnordered = "lanes-unordered",
        /// `discard` clears the whole line, not the operation's bytes (D-line).
        LineWideDiscard = "line-wide-discard",
        /// `reserve` does not pin the line.
        UnpinnedFill = "unpinned-fill",
        /// A write-back writes the whole line, not the dirty bytes (D-line).
        WholeLineWriteBack = "whole-line-write-back",
        /// `update` overwrites bytes that were written meanwhile.
        UpdateOverwrites = "update-overwrites",
        /// `update` brings in what the operation has and leaves the rest of the line to be fetched by nobody (D-line).
        UpdateLeavesRest = "update-leaves-rest",
        /// `invalidateOthersL1` leaves the other multiprocessors' lines as they are (D-others).
        OthersKeepLines = "others-keep-lines",
        /// Dirty lines are evicted.
        EvictDirty = "evict-dirty",
        /// Pinned lines are evicted.
        EvictPinned = "evict-pinned",
        /// A write leaves the line clean.
        WriteStaysClean = "write-stays-clean",
        /// `read` does not let go of the line.
        ReadKeepsPin = "read-keeps-pin",
        /// A set holds one line more than it has.
        SetOverflows = "set-overflows",
        /// Lines of class `first` are evicted no sooner than others.
        ClassIgnored = "class-ignored",
        /// `read` does not wait for bytes that are being fetched.
        ReadNeverWaits = "read-never-waits",
        /// An operation that waited in `reserve` is stuck when the line is cached meanwhile (D-reserve: the report's rule).
        ReserveNeverJoins = "reserve-never-joins",
        /// An operation that has to wait goes on instead (`op.op2`).
        WaitGoesOn = "wait-goes-on",
        /// `yield` does not end the micro step (`op.yield`).
        YieldGoesOn = "yield-goes-on",
        /// `end` is passed by (`op.end`).
        EndGoesOn = "end-goes-on",
        /// Both parts of an `if` are the `else` part (`op.iftt`).
        AlwaysElse = "always-else",
        /// `lock` does not look whether a bank is locked.
        LockIgnored = "lock-ignored",
        /// `atomOp` leaves the operand as it is.
        AtomOpIdle = "atom-op-idle",
        /// An operation may go only when every other one is below it: a maximum, where the report's quasi-order has none (4.6).
        HighestPrioMaximum = "highest-prio-maximum",
        /// A fence does not wait for earlier operations (`mm.updMemBar`).
        FenceAtOnce = "fence-at-once",
        /// An acquire leaves L1 as it is (D-strong).
        AcquireKeepsLines = "acquire-keeps-lines",
        /// Registers do not block (D-ready, `mm.regLookup`).
        NothingBlocks = "nothing-blocks",
        /// Volatile operations of a thread are not ordered (D-prio).
        VolatileUnordered = "volatile-unordered",
        /// A thread's operations on the same bytes are not ordered although they should be (D-prio).
        SameBytesUnordered = "same-bytes-unordered",
        /// Of several lanes that write one location the last one wins (`mm.memOp`).
        LastLaneWins = "last-lane-wins",
        /// Caches survive to the next dependent launch (D-flush).
        NoFlush = "no-flush",
        /// A write-back from L2 writes nothing (`m.wbL2`).
        WriteBackLost = "write-back-lost",
        /// A write-back from L1 writes nothing (`m.wbL1`).
        WriteBackL1Lost = "write-back-l1-lost",
        /// No line is evicted silently (`m.evictL1`, `m.evictL2`) and no cache flushed (`m.flush`).
        NeverEvicts = "never-evicts",
        /// Barriers do not wait for earlier operations of their threads.
        BarrierDoesNotWait = "barrier-does-not-wait",
        /// The patent's first mistake (report, 5.4.1): a uniform break, return or exit leaves the disable mask alone.
        UniformStaysEnabled = "uniform-stays-enabled",
        /// The patent's second mistake (report, 5.4.1): a sync flag instead of a `sync` instruction, so a sync token leads to
        /// the flagged instruction, which pops another token.
        SyncFlag = "sync-flag",
        /// A divergent indirect call pushes a frame for the lanes that it defers, too (D-callframe).
        DoubleFrame = "double-frame",
        /// Popping a sync token activates lanes that are disabled.
        SyncWakesDisabled = "sync-wakes-disabled",
        /// Popping a break token enables lanes that returned.
        BreakWakesReturned = "break-wakes-returned",
        /// A call token holds the lanes that call, not all that are active.
        CallTokenOfCallers = "call-token-of-callers",
        /// The lanes that do not take a branch go on at the branch itself.
        DivergeToSelf = "diverge-to-self",
        /// The lanes that an indirect branch defers go on behind it.
        DeferredPassBy = "deferred-pass-by",
        /// A divergent exit leaves the lanes enabled.
        ExitStaysEnabled = "exit-stays-enabled",
        /// `unwind` takes the topmost token even if it activates nobody.
        UnwindOnce = "unwind-once",
        /// A lane whose guard does not hold executes the instruction nevertheless.
        GuardIgnored = "guard-ignored",
        /// An inactive lane takes part in votes and shuffles.
        InactiveVotes = "inactive-votes",
        /// Under `crs`, a barrier counts the lanes that arrive, not their warp (5.5.1).
        BarrierCountsLanes = "barrier-counts-lanes",
        /// Threads that have exited hold up a barrier of all threads (D-bar-exit).
        BarrierAwaitsExited = "barrier-awaits-exited",
        /// A barrier that has ended keeps its count.
        BarrierNeverReset = "barrier-never-reset",
        /// Lanes do not wait for the other members of a `.sync` instruction's mask (D-its).
        MembersNotAwaited = "members-not-awaited",
        /// The second block of a grid is the first one again.
        BlockIssuedTwice = "block-issued-twice",
        /// A block is complete when one of its warps is.
        BlockEndsEarly = "block-ends-early",
        /// The blocks of an aborted grid keep their room.
        AbortKeepsRoom = "abort-keeps-room",
        /// An aborted grid goes on.
        AbortIdle = "abort-idle",
        /// The registers and memories of an aborted grid are gone while operations of it are in flight.
        AbortForgets = "abort-forgets",
        /// A grid that is started sees what those before it wrote only if none is left (D-flush).
        FlushWhenAlone = "flush-when-alone",
        /// The memory of a destroyed context can still be used.
        DestroyKeepsMemory = "destroy-keeps-memory",
        /// The memory of every context begins at the same address (D-vm).
        ContextsShareAddresses = "contexts-share-addresses",
        /// What accesses of one context found is believed in another.
        HintsOutliveContext = "hints-outlive-context",
        /// As many grids execute at the same time as there are (D-grids).
        GridsUnlimited = "grids-unlimited",
        /// A grid is complete when one of its blocks is.
        GridEndsEarly = "grid-ends-early",
        /// A block's index has its x and y exchanged.
        BlockTransposed = "block-transposed",
        /// A reduction takes in a false predicate for lanes that did not arrive.
        ReduceCountsAbsent = "reduce-counts-absent",
        /// A read that has several sources loses the first of them.
        SourceLost = "source-lost",
        /// No read waits for a write that comes later (load buffering).
        NoLaterSource = "no-later-source",
        /// No write is taken to be to come, whoever may go on.
        NothingComes = "nothing-comes",
        /// One thread spins for ever at most (D-lasso).
        OneSpins = "one-spins",
        /// What is stored to a location that ways depend on is taken not to matter.
        StoresIrrelevant = "stores-irrelevant",
        /// What must not be in `r; s` is pushed through `s` the wrong way round.
        SequenceBackwards = "sequence-backwards",
        /// The bounds of `r \ s` take what `s` has for certain for what it may have, and the reverse.
        DifferenceOneSided = "difference-one-sided",
        /// Where the first order of writes and fences is not allowed, no other is tried.
        FirstOrderOnly = "first-order-only",
        /// Other writes may come after the one that is taken for the last one.
        LastIsOverwritten = "last-is-overwritten",
        /// What satisfies the formula of the way `sat` is not asked whether it comes out of thin air (D-thin-air).
        GroundsUnasked = "grounds-unasked",
        /// The formula of the way `sat` has no values that depend on themselves alone.
        ConstantsUntried = "constants-untried",
        /// Of executions that read alike the way `sat` finds one, whichever writes are the last ones.
        LastWritesAlike = "last-writes-alike",
        /// Acquire operations learn from releases whose scope they do not include (D-race-sync).
        AcquireAnyScope = "acquire-any-scope",
        /// Sequentially consistent fences learn nothing from those before them (D-race-sync).
        FenceOrderForgotten = "fence-order-forgotten",
        /// A search for races takes states for one that differ in what happened before what (D-race-search).
        HistoriesMerged = "histories-merged",
        /// A line that is filled has nobody's writes (D-races-caches).
        WriterForgotten = "writer-forgotten",
        /// Nobody is told that a write came to the L2 (D-extract).
        ArrivalUntold = "arrival-untold",
        /// Whose write a read returned has no part in the search for a cycle (D-extract).
        SourceUnlooked = "source-unlooked",
        /// A search for races goes past a sequentially consistent fence as if nobody noticed (D-race-search).
        FencesUnnoticed = "fences-unnoticed",
        /// A thread goes on while markers of its own are in fifos (`unflushed`, `rsp.FLU-L1`).
        RspMarkersIgnored = "rsp-markers-ignored",
        /// A load takes what was invalidated (`rsp.LD`).
        RspLoadsInvalid = "rsp-loads-invalid",
        /// A store does not enter the fifo (`rsp.ST`).
        RspStoresUnqueued = "rsp-stores-unqueued",
        /// An increment in the L1 cache does not look at the rmw lock (`rsp.INC-L1`).
        RspRmwLockIgnored = "rsp-rmw-lock-ignored",
        /// An increment in the L2 cache does not wait until the L1 cache has flushed the location (`rsp.INC-L2`).
        RspDirtyPassed = "rsp-dirty-passed",
        /// An increment in the L2 cache leaves the entry of the L1 cache valid (`rsp.INC-L2`).
        RspIncrementKeepsL1 = "rsp-increment-keeps-l1",
        /// Markers enter the fifo of the own L1 cache only (`rsp.FLU-L1`).
        RspFlushesOwn = "rsp-flushes-own",
        /// Only the own L1 cache is invalidated (`rsp.INV-L1`).
        RspInvalidatesOwn = "rsp-invalidates-own",
        /// The environment does not look into the lock file (`rsp.LK-L2`).
        RspLockFileIgnored = "rsp-lock-file-ignored",
        /// A fetch overwrites what is dirty (`rsp.env.FETCH-L1`).
        RspFetchOverDirty = "rsp-fetch-over-dirty",
        /// A location leaves the fifo of an L1 cache while it is dirty (`rsp.env.DEQLOC-L1`).
        RspDequeuesDirty = "rsp-dequeues-dirty",
        /// A location leaves the fifo of an L2 cache while it is dirty (`rsp.env.DEQLOC-L2`).
        RspDequeuesDirtyL2 = "rsp-dequeues-dirty-l2",
        /// An update of global memory leaves the entries of caches valid (`rsp.INC-GL`).
        RspGlobalKeepsCaches = "rsp-global-keeps-caches",
        /// No marker enters the fifo of an L2 cache (`rsp.FLU-L2`).
        RspFlushesNoL2 = "rsp-flushes-no-l2",
        /// L2 caches stay valid (`rsp.INV-L2`).
        RspKeepsL2 = "rsp-keeps-l2",
        /// The lock of a location is taken from whoever holds it (`rsp.LK-L2`).
        RspLockTaken = "rsp-lock-taken",
        /// The lock of a location is not freed (`rsp.UL-L2`).
        RspUnlockIdle = "rsp-unlock-idle",
        /// Only the rmw lock of the own work-group is taken (`rsp.LK-rmw`).
        RspLocksOwnRmw = "rsp-locks-own-rmw",
        /// Only the rmw lock of the own work-group is freed (`rsp.UL-rmw`).
        RspUnlocksOwnRmw = "rsp-unlocks-own-rmw",
        /// A dirty entry of an L1 cache is removed (`rsp.env.EVICT-L1`).
        RspEvictsDirty = "rsp-evicts-dirty",
        /// A dirty entry of an L2 cache is removed (`rsp.env.EVICT-L2`).
        RspEvictsDirtyL2 = "rsp-evicts-dirty-l2",
        /// What is flushed from an L1 cache does not come to the L2 cache (`rsp.env.FLUSH-L1`).
        RspFlushLost = "rsp-flush-lost",
        /// What is flushed from an L2 cache does not come to global memory (`rsp.env.FLUSH-L2`).
        RspFlushL2Lost = "rsp-flush-l2-lost",
        /// A fetch overwrites a dirty entry of an L2 cache (`rsp.env.FETCH-L2`).
        RspFetchL2OverDirty = "rsp-fetch-l2-over-dirty",
        /// No marker leaves the fifo of an L1 cache (`rsp.env.DEQMARKER-L1`).
        RspMarkerStays = "rsp-marker-stays",
        /// No marker leaves the fifo of an L2 cache (`rsp.env.DEQMARKER-L2`).
        RspMarkerStaysL2 = "rsp-marker-stays-l2",
        /// A search forgets that something could be fetched before a step after which it cannot (D-rsp-reduced).
        RspFetchesForgotten = "rsp-fetches-forgotten",
        /// A search executes invalidations as soon as a thread comes to them (D-rsp-reduced).
        RspInvalidatesEarly = "rsp-invalidates-early",
        /// A search flushes at once what others still read or write (D-rsp-reduced).
        RspFlushesEarly = "rsp-flushes-early",
        /// A wavefront's next instruction asks for mutexes while an older one waits for its own (`lsc.gpu.service`).
        LscOutOfOrder = "lsc-out-of-order",
        /// A wavefront gives back its mutexes with the first store that retires (`lsc.gpu.release`).
        LscReleaseEarly = "lsc-release-early",
        /// Wavefronts' stores are issued without their mutexes (`lsc.gpu.store`).
        LscStoresUnheld = "lsc-stores-unheld",
        /// Wavefronts' loads return without their mutexes (`lsc.gpu.load`).
        LscLoadsUnheld = "lsc-loads-unheld",
        /// The L1 cache does not block a load under a pending store to the same location (`lsc.gpu.load`).
        LscNoBlock = "lsc-no-block",
        /// A wavefront's stores retire in any order (`lsc.store.retire`).
        LscRetireAnyOrder = "lsc-retire-any-order",
        /// A wavefront takes a refusal for a grant (`lsc.gpu.refused`).
        LscRefusalGrants = "lsc-refusal-grants",
        /// A mutex that a wavefront got stays pending (`lsc.gpu.acquire`).
        LscAcquiredPending = "lsc-acquired-pending",
        /// A wavefront asks for no mutex (`lsc.gpu.request`).
        LscUnasked = "lsc-unasked",
        /// The pool grants what somebody has (`lsc.pool.nack`).
        LscGrantsTaken = "lsc-grants-taken",
        /// A mutex that was granted stays available (`lsc.pool.grant`).
        LscGrantUnmarked = "lsc-grant-unmarked",
        /// A CPU core's request is dropped where it should wait (`lsc.pool.queue`).
        LscQueueDrops = "lsc-queue-drops",
        /// A mutex that goes to the core that waits becomes available, too (`lsc.pool.release`).
        LscHandedOverFree = "lsc-handed-over-free",
        /// A line's mutex depends on who asks (`lsc.hash`).
        LscHashOfAsker = "lsc-hash-of-asker",
        /// Each lane's access is a request of its own (`lsc.coalesce`).
        LscUncoalesced = "lsc-uncoalesced",
        /// The head of a ROB commits without its mutex (`lsc.cpu.load`).
        LscCommitUnheld = "lsc-commit-unheld",
        /// A store reaches memory when it commits, past the store buffer (`lsc.cpu.store`).
        LscUnbuffered = "lsc-unbuffered",
        /// A load does not see the own store buffer (`lsc.cpu.load`).
        LscNoForward = "lsc-no-forward",
        /// A CPU thread's stores retire without their mutexes (`lsc.cpu.retire`).
        LscRetireUnheld = "lsc-retire-unheld",
        /// The head of a ROB asks for its mutex beside the stores before it (D-lsc-ask).
        LscAskBeside = "lsc-ask-beside",
        /// A request is not counted (`lsc.cpu.request`).
        LscRequestUncounted = "lsc-request-uncounted",
        /// A mutex that comes late is kept (`lsc.cpu.acquire`).
        LscLateKept = "lsc-late-kept",
        /// Requests of loads stay in the fifo (`lsc.cpu.release`).
        LscLoadsStay = "lsc-loads-stay",
        /// A warp's accesses are issued without mutexes (`lsc.ptx.issue`).
        LscPtxNoMutex = "lsc-ptx-no-mutex",
        /// A load does not wait for a pending store of its warp to the same line (`lsc.ptx.load`).
        LscPtxNoBlock = "lsc-ptx-no-block",
        /// The youngest store of a warp retires first (`lsc.ptx.retire`).
        LscPtxUnordered = "lsc-ptx-unordered",
        /// Shared memory is accessed though older stores are pending (`lsc.ptx.shared`).
        LscPtxSharedAtOnce = "lsc-ptx-shared-at-once",
        /// A barrier does not wait for stores (`lsc.ptx.wait`).
        LscPtxBarrierAtOnce = "lsc-ptx-barrier-at-once",
        /// Nobody fetches what nobody asks for (D-rsp-ptx-environment).
        RspPtxNeverFetchesEarly = "rsp-ptx-never-fetches-early",
        /// What is valid is fetched again only while somebody is about to read it (D-rsp-ptx-environment).
        RspPtxKeepsOldValues = "rsp-ptx-keeps-old-values",
        /// A block ends while its cache is dirty (D-rsp-ptx-end).
        RspPtxEndsDirty = "rsp-ptx-ends-dirty",
        /// The mark of remote accesses is not looked at (D-rsp-ptx-remote).
        RspPtxRemoteIgnored = "rsp-ptx-remote-ignored",
        /// A fence of a wider scope than the block does nothing (D-rsp-ptx-fence).
        RspPtxFenceIgnored = "rsp-ptx-fence-ignored",
        /// A wait for groups of copies waits for nobody (D-async).
        CopyWaitIgnored = "copy-wait-ignored",
        /// A wait for groups leaves out one group more (D-async).
        CopyWaitYounger = "copy-wait-younger",
        /// An arrival of copies does not wait for them (D-async).
        CopyArrivesEarly = "copy-arrives-early",
        /// Nobody waits at the barrier of a cluster (D-cluster).
        ClusterNeverWaits = "cluster-never-waits",
        /// A search does not tell apart who has arrived at the barrier of a cluster (D-cluster).
        ClusterOutOfState = "cluster-out-of-state",
        /// A relaxed arrival at the barrier of a cluster orders as any other (D-cluster).
        ClusterRelaxedReleases = "cluster-relaxed-releases",
        /// Bytes beyond a copy's source are left as they are (D-async).
        CopyKeepsRest = "copy-keeps-rest",
        /// Groups of bulk copies have other copies, too (D-bulk).
        BulkGroupsMixed = "bulk-groups-mixed",
        /// Who waits for bulk copies to have read waits for nobody (D-bulk).
        BulkReadIgnored = "bulk-read-ignored",
        /// A bulk copy completes no transactions (D-bulk).
        BulkTellsNobody = "bulk-tells-nobody",
        /// A copy lands before what its thread did before it (D-copy-caches).
        CopyOvertakes = "copy-overtakes",
        /// A copy by way of the L1 cache goes past it (D-copy-caches).
        CopyPassesL1 = "copy-passes-l1",
        /// A copy past the L1 cache reads there (D-copy-caches).
        CopyNeverPassesL1 = "copy-never-passes-l1",
        /// What a copy writes stays as it was in its multiprocessor's L1 cache (D-copy-caches).
        CopyKeepsL1 = "copy-keeps-l1",
        /// A copy tells a barrier whose bank an atomic operation has locked (D-copy-caches).
        CopyLocksIgnored = "copy-locks-ignored",
        /// A copy past the L1 cache does not wait for what that has dirty (D-copy-caches).
        CopyPassesDirty = "copy-passes-dirty",
        /// A copy writes a line whose mutex a warp has (D-copy-caches).
        CopyNeedsNoMutex = "copy-needs-no-mutex",
        /// Registers of callers are dead (D-live).
        DeadCallers = "dead-callers",
        /// A write that a guard may hold back ends the life of a register (D-live).
        DeadGuarded = "dead-guarded",
        /// Only the first target of an indirect branch keeps registers alive (D-live).
        DeadTargets = "dead-targets",
        /// Registers of lanes that wait for a token are dead (D-live).
        DeadDeferred = "dead-deferred",
        /// Registers of threads that have ended are dead, whoever reads them (D-live).
        DeadEnded = "dead-ended",
        /// Where a stack frame begins is dead (D-live).
        DeadBase = "dead-base",
        /// Lanes that meet have the same in all registers (affine).
        AffineMeet = "affine-meet",
        /// What lanes compute where they may meet at any time is the same in all (affine).
        AffineTime = "affine-time",
        /// Numbers of 32 bits never wrap around within a warp (affine).
        AffineWrap = "affine-wrap",
        /// Nothing is carried over from the low bits (affine).
        AffineCarry = "affine-carry",
        /// Low bits that carry over are compared like others (D-affine).
        AffineOrder = "affine-order",
        /// A guard leaves no lane out (affine).
        AffineGuard = "affine-guard",
        /// A register with one writer has its value everywhere (affine).
        AffineOnce = "affine-once",
        /// A load gives the same whenever it is executed (affine).
        AffineLoad = "affine-load",
        /// Both halves of a warp begin with the same low bits (affine).
        AffineHalves = "affine-halves",
        /// Lanes come back from a call together (affine).
        AffineCall = "affine-call",
        /// NaNs leave native code as the processor makes them (native).
        NativeNan = "native-nan",
        /// Native code stores to all lanes of a row (native).
        NativeRow = "native-row",
        /// Loads may come before stores of a segment (native).
        NativeOrder = "native-order",
        /// Widened numbers are never looked at (native).
        NativeWrap = "native-wrap",
        /// The lines of both halves begin with the same number (native).
        NativeLift = "native-lift",
        /// Strips read numbers as they are behind the segment (native).
        NativeRead = "native-read",
        /// Tokens that were pushed natively are forgotten (native).
        NativeTokens = "native-tokens",
        /// Injected instructions count natively (native).
        NativeHidden = "native-hidden",
        /// Predicates of lanes that do not run are overwritten (native).
        NativePredicates = "native-predicates",
        /// A comparison of a line is that of its first lane (native).
        NativeEnds = "native-ends",
        /// Predicates are read before strips make them (native).
        NativeLate = "native-late",
        /// Where a check fails, the fuel of the block is gone (native).
        NativeFuel = "native-fuel",
        /// Lines stay out of the frame where they become vectors (native).
        NativeMeet = "native-meet",
        /// A shift takes the low bits of its amount (native).
        NativeShift = "native-shift",
        /// Lanes take their turns from the last of four to the first (native).
        NativeLanes = "native-lanes",
        /// The addresses of the last four lanes are not looked at (native).
        NativeLast = "native-last",
        /// Lanes that sit out store as well (native).
        NativeIdle = "native-idle",
        /// Accesses lane by lane are made between others (native).
        NativeApart = "native-apart",
        /// NaNs of 64 bits are those that the processor makes (native).
        NativeNan64 = "native-nan64",
        /// Lanes that have met go on where those did that parted, if native code is not entered here (native).
        NativeNowhere = "native-nowhere",
        /// What all lanes have executed does not count where they part (native).
        NativeImpatient = "native-impatient",
        /// Lanes that run write the stack frames of others, too (native).
        NativeFrame = "native-frame",
        /// Who runs when all are together counts as if others waited (native).
        NativeTogether = "native-together",
        /// Lanes that have called or returned go on with the lease that they had before (native).
        NativeLease = "native-lease",
        /// Lanes find the constants of a function that others were in (native).
        NativeFilled = "native-filled",
        /// Nobody looks whether results of 64 bits are NaNs (native).
        NativeNans = "native-nans",
        /// Lanes that part natively find the numbers that those before them have left (native).
        NativeSides = "native-sides",
        /// What lanes that part natively leave of a predicate is the others', too (native).
        NativeMerge = "native-merge",
        /// Lanes that have parted natively count as many as all (native).
        NativeFewer = "native-fewer",
        /// Operands are not flushed by native code (native).
        NativeFlush = "native-flush",
        /// A step to a side is always one towards zero (native).
        NativeSide = "native-side",
        /// Only the lower one of two halves is computed (native).
        NativeHalf = "native-half",
        /// Predicates that an assumption says are alike are not looked at (native).
        NativeAlike = "native-alike",
        /// What native code does not look at is assumed nevertheless (native).
        NativeUnseen = "native-unseen",
        /// Numbers that are divided are never looked at (native).
        NativeNegative = "native-negative",
        /// Rows are told of all lanes, whoever runs (native).
        NativeTold = "native-told",
        /// Sites lead to where accesses have to be told (native).
        NativeQuiet = "native-quiet",
        /// Nobody is told who waits at a barrier (native).
        NativeArrive = "native-arrive",
        /// Lanes go past those that wait before them (native).
        NativePass = "native-pass",
        /// It is not noted who has run before others (native).
        NativeRuns = "native-runs",
        /// Where a turn does not last for a block, one instruction more is counted than its pieces execute.
        NativePieces = "native-pieces",
        /// What a function is filled with is dead behind its last use (D-live).
        DeadFilled = "dead-filled",
        /// Threads of a warp are exchanged also where they meet others of it (D-symmetry).
        AlikeMeeting = "alike-meeting",
        /// Threads are alike whatever values follow from their indices (D-symmetry).
        AlikeValues = "alike-values",
        /// Threads are alike whichever way they go by their indices (D-symmetry).
        AlikeGuards = "alike-guards",
        /// What is not known of a register that an index is in is no matter (D-symmetry).
        AlikeUnknown = "alike-unknown",
        /// Who is who is not followed along a cycle of states (D-symmetry).
        AlikeUnfollowed = "alike-unfollowed",
        /// Blocks are exchanged although the scheduler looks at their numbers (D-symmetry).
        AlikeProgress = "alike-progress",
        /// Lanes of a warp go on at once also where others can come to (D-search-apart).
        LanesNeverMeet = "lanes-never-meet",
    }
}

/// Whether an error was asked for.
#[cfg(not(feature = "mutants"))]
#[inline(always)]
#[must_use]
pub const fn on(_: Mutant) -> bool {
    false
}

#[cfg(feature = "mutants")]
mod selected {
    use super::Mutant;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// One more than the index of the selected mutant; 0 for none.
    static SELECTED: AtomicUsize = AtomicUsize::new(0);

    /// Whether an error was asked for.
    #[must_use]
    pub fn on(mutant: Mutant) -> bool {
        SELECTED.load(Ordering::Relaxed) == mutant as usize + 1
    }

    /// Asks for an error in everything that this process does from now on, or for none.
    pub fn select(mutant: Option<Mutant>) {
        SELECTED.store(mutant.map_or(0, |m| m as usize + 1), Ordering::Relaxed);
    }
}

#[cfg(feature = "mutants")]
pub use selected::{on, select};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct() {
        for (i, mutant) in Mutant::ALL.iter().enumerate() {
            assert_eq!(Mutant::named(mutant.name()), Some(*mutant));
            assert_eq!(Mutant::ALL.iter().position(|m| m.name() == mutant.name()), Some(i));
        }
        assert_eq!(Mutant::named("none"), None);
    }
}
