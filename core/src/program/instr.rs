//! What a program environment's instructions look like: resolved, fixed-size, nothing looked up by name while running.
//!
//! One PTX instruction becomes one [`Instr`], or a few: *hidden* helpers (a negated predicate, a pack of a vector, a parameter's copy) stand
//! before or after the one that carries the PTX instruction's name in traces. Helpers write only temporaries: no guard need apply to them.

pub use super::exchange::{Exchange, ExchangeKind, Redux};
pub use super::parts::BulkPart;

use super::ops::{AtomOp, AtomTy, Class, FloatOp, IntOp};
use crate::base::{Frame, words};
use crate::verdict::{AccessKind, AllocKind};
use serde::{Deserialize, Serialize};

/// A register slot of a warp: an index into the file of its class (32-bit, 64-bit or predicate) of the current frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Slot(pub u16);

impl Slot {
    /// The slot as an index.
    #[must_use]
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A lane's value of a slot; none where a frame has no such slot.
#[must_use]
pub fn value(regs: &Frame, class: Class, slot: Slot, lane: usize) -> Option<u64> {
    match class {
        Class::W => regs.w.get(slot.index()).map(|v| v.0[lane].into()),
        Class::Q => regs.q.get(slot.index()).map(|v| v.0[lane]),
        Class::P => regs.p.get(slot.index()).map(|v| (v >> lane & 1).into()),
    }
}

/// 32-bit slot 0 of every frame: the thread's `%stackBase`, a byte offset into its local memory (report, 5.1.3 step 3).
pub const STACK_BASE: Slot = Slot(0);
/// 32-bit slot 1 of every frame: the byte offset just past the frame, where a callee's frame (or `alloca`) begins.
pub const STACK_TOP: Slot = Slot(1);
/// The destination `_`.
pub const NO_SLOT: Slot = Slot(u16::MAX);

/// A guard: lanes whose predicate equals `negated` sit the instruction out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Guard {
    /// The predicate slot.
    pub pred: Slot,
    /// `@!p`
    pub negated: bool,
}

/// A decoded instruction. What `d a b c e imm` mean is fixed by the operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instr {
    /// The operation.
    pub op: Op,
    /// The same for the innermost loop, where it has a case of its own; set by [`Instr::new`] and by `promote`.
    pub hot: HotOp,
    /// The guard.
    pub guard: Option<Guard>,
    /// Destination slot.
    pub d: Slot,
    /// First source slot.
    pub a: Slot,
    /// Second source slot.
    pub b: Slot,
    /// Third source slot.
    pub c: Slot,
    /// Fourth source slot, or the slot of a second (predicate) destination.
    pub e: Slot,
    /// Mode word, immediate, branch target or index into a table, as the operation says.
    pub imm: u32,
}

impl Instr {
    /// An instruction with no guard and all slots zero.
    #[must_use]
    pub const fn new(op: Op) -> Self {
        let zero = Slot(0);
        // Data operations without a case in the loop are as good: `promote` decides on them.
        let hot = if op.is_data() { HotOp::Other } else { HotOp::of(op) };
        Self { op, hot, guard: None, d: zero, a: zero, b: zero, c: zero, e: zero, imm: 0 }
    }
}

impl From<Op> for Instr {
    fn from(op: Op) -> Self {
        Self::new(op)
    }
}

/// The operations. Targets are program addresses in `imm` (function-local indices until layout).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Integer and bitwise data operations; operands by the operation's shape: sources `a b c e`, a mode in `imm`,
    /// a carry-out's predicate slot in `e` when there are fewer than four sources, else in `imm`.
    Int(IntOp),
    /// Floating-point data operations, conversions and approximations; operands as for [`Op::Int`].
    Float(FloatOp),
    /// A memory action: `imm` indexes `ProgEnv::requests`.
    Mem,
    /// A plain 32-bit load of global memory to `d`, 64-bit address in `a`, byte offset in `imm`, cache operator
    /// ([`CacheOp::index`]) in `b`; made by `promote`.
    LdGlobal32,
    /// The store of `d`; see [`Op::LdGlobal32`].
    StGlobal32,
    /// The same of shared memory; see [`Op::LdGlobal32`].
    LdShared32,
    /// The store of `d`; see [`Op::LdGlobal32`].
    StShared32,

    /// `bra`: `imm` is the target, the guard is the condition.
    Bra,
    /// `brx.idx`: index in 32-bit slot `a`, targets in table `imm` of `ProgEnv::tables`.
    Brx,
    /// `call` of a known function: `imm` is its number.
    Call,
    /// `call` through a 64-bit code address in `a`; table `imm` holds the allowed functions' numbers, `u32::MAX`: any.
    CallIndirect,
    /// `ret` of a function that was called.
    Ret,
    /// `exit`, and `ret` of an entry (step 5).
    Exit,

    /// `ssy`: pushes a sync token with address `imm` (report, 5.4.1).
    Ssy,
    /// `preBrk`: pushes a break token with address `imm`.
    PreBrk,
    /// `preRet`: pushes a call token with address `imm`.
    PreRet,
    /// `sync`.
    Sync,
    /// `break`.
    Break,

    /// Barriers: `imm` indexes `ProgEnv::barriers`; identifier in 32-bit slot `a`, thread count in 32-bit slot `b` when
    /// the entry has one, predicate in `c`, result in `d`.
    Bar,
    /// `barrier.cluster.arrive`: the lanes arrive at the barrier of their cluster, which is one block (D-cluster).
    ClusterArrive {
        /// What they did before is ordered before what is behind the waits of others: not for `.relaxed`.
        releases: bool,
        /// All lanes of the warp execute it together.
        aligned: bool,
    },
    /// `barrier.cluster.wait`: the lanes wait until all threads have arrived with them.
    ClusterWait {
        /// All lanes of the warp execute it together.
        aligned: bool,
    },
    /// `bar.warp.sync`: member mask in 32-bit slot `a`.
    WarpSync,
    /// `vote`, `match`, `redux`, `shfl`, `elect`, `activemask`; see [`Exchange`].
    Exchange,
    /// What must hold of the 64-bit slots `a` and `b` of an `mbarrier`, else it is a defect.
    Barrier(BarrierCheck),
    /// What all lanes of a warp do together to matrices: `imm` indexes `ProgEnv::matrices`.
    Matrix,

    /// A part of a texture or surface instruction: `imm` indexes `ProgEnv::images`.
    Image,

    /// The source of asynchronous copies is looked at: `imm` indexes `ProgEnv::requests`, where it is a load; the bytes that a
    /// lane takes from it are in 32-bit slot `b`, all where there is none. The copies themselves follow.
    CopyFrom,
    /// Asynchronous copies are begun: `imm` indexes `ProgEnv::requests`, where the destination is a store and their source
    /// comes before it; `b` as for [`Op::CopyFrom`].
    CopyTo,
    /// A part of a bulk copy: `imm` indexes `ProgEnv::bulks`, its size is in 32-bit slot `b`. The parts follow each other.
    Bulk(BulkPart),
    /// What the lanes have begun to copy becomes a group.
    CopyCommit,
    /// The lanes arrive at a barrier in shared memory once what they have begun to copy has landed: `imm` indexes `ProgEnv::requests`.
    CopyArrive,
    /// The lanes wait for their copies: for all groups but the `imm` newest, `u32::MAX`: for all copies.
    CopyWait,
    /// What the lanes have begun to copy in bulk becomes a group.
    BulkCommit,
    /// The lanes wait for their bulk copies, for all groups but the `imm` newest.
    BulkWait {
        /// Until they have read, though they may not have written.
        read: bool,
    },

    /// `membar` and `fence`.
    Fence {
        /// How far it reaches.
        scope: Scope,
        /// Its ordering.
        order: Order,
    },
    /// `fence.proxy.async`: bulk copies are ordered with other accesses here, but the check for races asks for it.
    ProxyFence,
    /// `nanosleep`: nanoseconds in 32-bit slot `a`.
    Nanosleep,
    /// Reads a register that changes while the kernel runs into `d` (a 64-bit slot for the 64-bit ones).
    ReadSpecial(Moving),
    /// `alloca`: size in bytes in 64-bit `a`, alignment in `imm`, offset in the local window to 64-bit `d`.
    Alloca,
    /// `stacksave`: the top of the stack to 64-bit `d`.
    StackSave,
    /// `stackrestore`: from 64-bit `a`.
    StackRestore,
    /// A function of the CUDA device runtime; its parameters lie at [`STACK_TOP`] as in any call, the result first.
    Syscall(Syscall),
    /// `trap`.
    Trap,
    /// `brkpt`.
    Brkpt,
    /// Does nothing: hints such as `prefetch`, `pmevent`, `griddepcontrol`.
    Nop,
    /// Parses and checks, but cannot be executed: `imm` indexes `ProgEnv::unsupported`.
    Unsupported,
}

impl Op {
    /// Whether it only computes registers.
    #[must_use]
    #[inline(always)]
    pub const fn is_data(self) -> bool {
        matches!(self, Self::Int(_) | Self::Float(_))
    }

    /// Whether, beside data operations, a memory program writes its results to the registers (report, listing 4.6): not
    /// those that write the top of the stack, which is no register of the program.
    #[must_use]
    pub const fn is_taken_over(self) -> bool {
        matches!(self, Self::Exchange | Self::Matrix | Self::Image | Self::ReadSpecial(_) | Self::StackSave)
    }

    /// Whether it only computes registers or accesses memory: what a guard does to it is to leave lanes out.
    #[must_use]
    #[inline(always)]
    pub const fn is_plain(self) -> bool {
        matches!(
            self,
            Self::Int(_)
                | Self::Float(_)
                | Self::Mem
                | Self::LdGlobal32
                | Self::StGlobal32
                | Self::LdShared32
                | Self::StShared32
        )
    }
}

/// Makes [`HotOp`] of the operations that have a case of their own.
macro_rules! hot_ops {
    (control { $($control:ident)* } integer { $($int:ident)* } float { $($float:ident)* }) => {
        /// What the machine's innermost loop dispatches on: the commonest operations have a case of their own.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        #[expect(missing_docs, reason = "each is the Op, IntOp or FloatOp of the same name")]
        pub enum HotOp {
            /// No case of its own: see [`Instr::op`].
            #[default]
            Other,
            $($control,)*
            $($int,)*
            $($float,)*
        }

        impl HotOp {
            /// The case of an operation.
            #[must_use]
            pub const fn of(op: Op) -> Self {
                match op {
                    $(Op::$control => Self::$control,)*
                    $(Op::Int(IntOp::$int) => Self::$int,)*
                    $(Op::Float(FloatOp::$float) => Self::$float,)*
                    _ => Self::Other,
                }
            }
        }
    };
}

hot_ops! {
    control {
        Bra Ssy Sync Bar LdGlobal32 LdShared32 StGlobal32 StShared32
    }
    integer {
        MovW MovQ Add32 Add64 Sub32 Sub64 MulLo32 MadLo32 MulWideS32 MulWideU32 And32 Or32 Xor32 And64 Shl32 Shl64
        ShrU32 ShrS32 SelW SelQ NotP AndP OrP XorP EqW NeW LtS32 LeS32 GtS32 GeS32 LtU32 LeU32 GtU32 GeU32 ZextWQ
        SextWQ TruncQW
    }
    float {
        AddF32 SubF32 MulF32 FmaF32 DivF32 NegF32 AbsF32 AddF64 SubF64 MulF64 FmaF64 LtF32 LeF32 GtF32 GeF32 EqF32
        NeuF32 F32OfS32 RsqrtF32
    }
}

words! {
    /// State spaces as the machine knows them.
    #[derive(Serialize, Deserialize)]
    pub enum Space {
        /// Device memory.
        Global = "global",
        /// The block's shared memory: addresses are offsets in its window.
        Shared = "shared",
        /// The thread's local memory: addresses are offsets in its window.
        Local = "local",
        /// Constant memory.
        Const = "const",
        /// Kernel parameters: addresses are offsets in the parameter area.
        Param = "param",
        /// Decided by the address, lane by lane (PTX ISA 6.4.1.1).
        Generic = "generic",
    }
}

impl Space {
    /// What a variable of it is; one that has no space of its own lies in global memory.
    #[must_use]
    pub const fn kind(self) -> AllocKind {
        match self {
            Self::Global | Self::Generic => AllocKind::Global,
            Self::Shared => AllocKind::Shared,
            Self::Local => AllocKind::Local,
            Self::Const => AllocKind::Const,
            Self::Param => AllocKind::Param,
        }
    }
}

words! {
    /// Memory orderings (the `.sem` qualifiers of the PTX ISA, chapter 8).
    #[derive(Serialize, Deserialize)]
    #[expect(missing_docs, reason = "the qualifiers of the PTX ISA")]
    pub enum Order {
        Weak = "weak",
        Volatile = "volatile",
        Relaxed = "relaxed",
        Acquire = "acquire",
        Release = "release",
        AcqRel = "acq_rel",
        Sc = "sc",
        Mmio = "mmio",
    }
}

words! {
    /// Scopes (PTX ISA 8.5). `Lane` stands for "none given".
    #[derive(Serialize, Deserialize)]
    #[expect(missing_docs, reason = "the qualifiers of the PTX ISA")]
    pub enum Scope {
        Lane = "",
        Cta = "cta",
        Cluster = "cluster",
        Gpu = "gpu",
        Sys = "sys",
    }
}

words! {
    /// Cache operators (PTX ISA, "Cache Operators").
    #[derive(Serialize, Deserialize)]
    #[expect(missing_docs, reason = "the operators of the PTX ISA; Default is none given")]
    pub enum CacheOp {
        Default = "",
        Ca = "ca",
        Cg = "cg",
        Cs = "cs",
        Lu = "lu",
        Cv = "cv",
        Wb = "wb",
        Wt = "wt",
        Nc = "nc",
    }
}

impl CacheOp {
    /// A number for the operator, to be kept in an instruction's field.
    #[must_use]
    pub const fn index(self) -> u16 {
        self as u16
    }

    /// The operator of a number that [`CacheOp::index`] gave.
    #[must_use]
    #[inline(always)]
    pub const fn of_index(index: u16) -> Self {
        if (index as usize) < Self::ALL.len() { Self::ALL[index as usize] } else { Self::Default }
    }
}

/// What a memory action does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum MemOp {
    /// `ld`, `ldu`
    Load,
    /// `st`
    Store,
    /// `atom`: the old value goes to `regs[0]`, operands come from `regs[1]` and `regs[2]`.
    Atom(AtomOp, AtomTy),
    /// `red`: the operand comes from `regs[1]`.
    Red(AtomOp, AtomTy),
}

impl MemOp {
    /// What observers call such an access.
    #[must_use]
    pub const fn kind(self) -> AccessKind {
        match self {
            Self::Load => AccessKind::Read,
            Self::Store => AccessKind::Write,
            Self::Atom(..) | Self::Red(..) => AccessKind::Atomic,
        }
    }
}

/// The report's warp memory action, register-relative: names slots, so that an immediate engine reads them in place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct WarpRequest {
    /// What it does.
    pub op: MemOp,
    /// Where.
    pub space: Space,
    /// Bytes per element: 1, 2, 4, 8 or 16 (16: `.b128`, two consecutive 64-bit slots per element).
    pub width: u8,
    /// Elements per lane: 1, 2, 4 or 8.
    pub elems: u8,
    /// Whether the data registers are 64-bit slots.
    pub wide: bool,
    /// Whether a load extends the sign to the register's width (`ext` bits), else zeros.
    pub signed: bool,
    /// Bits of the destination registers that a load fills: 16, 32 or 64.
    pub ext: u8,
    /// The base address's slot.
    pub addr: Slot,
    /// Whether that is a 64-bit slot; a 32-bit one is zero-extended.
    pub addr_wide: bool,
    /// Added to the base address, in bytes.
    pub offset: i64,
    /// Data registers: destinations of a load, sources of a store, see [`MemOp`] for atomics; [`NO_SLOT`] is `_`.
    pub regs: [Slot; 8],
    /// The cache operator.
    pub cache: CacheOp,
    /// The ordering.
    pub order: Order,
    /// The scope.
    pub scope: Scope,
    /// Whether it is marked as remote (D-rsp-ptx-remote).
    pub remote: bool,
}

impl WarpRequest {
    /// A plain load of a 32-bit word, whose address is in a 64-bit slot.
    pub const PLAIN: Self = Self {
        op: MemOp::Load,
        space: Space::Global,
        width: 4,
        elems: 1,
        wide: false,
        signed: false,
        ext: 32,
        addr: Slot(0),
        addr_wide: true,
        offset: 0,
        regs: [NO_SLOT; 8],
        cache: CacheOp::Default,
        order: Order::Weak,
        scope: Scope::Lane,
        remote: false,
    };

    /// A plain access of a 32-bit word, whose address is in a 64-bit slot.
    #[must_use]
    pub fn word(op: MemOp, space: Space, (addr, offset): (Slot, i32), data: Slot, cache: CacheOp) -> Self {
        let mut regs = Self::PLAIN.regs;
        regs[0] = data;
        Self { op, space, addr, offset: offset.into(), regs, cache, ..Self::PLAIN }
    }

    /// Bytes that a lane accesses.
    #[must_use]
    pub const fn bytes(&self) -> u32 {
        self.width as u32 * self.elems as u32
    }

    /// The class of the data registers; a pair of 64-bit slots holds 16 bytes.
    #[must_use]
    pub const fn class(&self) -> Class {
        if self.wide || self.width == 16 { Class::Q } else { Class::W }
    }

    /// The class of the address register.
    #[must_use]
    pub const fn address_class(&self) -> Class {
        if self.addr_wide { Class::Q } else { Class::W }
    }

    /// The slots of an element of an atomic operation: result, operand, second operand if any. A vector has results in the first
    /// half of the data registers and operands in the second.
    #[must_use]
    pub fn atomic_slots(&self, element: usize) -> [Slot; 3] {
        match (self.elems, self.regs.len() / 2) {
            (0 | 1, _) => [self.regs[0], self.regs[1], self.regs[2]],
            (_, half) => [self.regs[element % half], self.regs[half + element % half], NO_SLOT],
        }
    }
}

/// Registers that change while a kernel runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the special registers of the PTX ISA, chapter 10")]
pub enum Moving {
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
    Pm,
    Pm64,
}

words! {
    /// Functions of the device runtime that kernels call.
    #[expect(missing_docs, reason = "named as in CUDA")]
    pub enum Syscall {
        Vprintf = "vprintf",
        Malloc = "malloc",
        Free = "free",
        AssertFail = "__assertfail",
    }
}

/// What a barrier instruction does on arrival.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BarrierKind {
    /// `bar.sync`: waits.
    Sync,
    /// `bar.arrive`: does not wait.
    Arrive,
    /// `bar.red`: waits and reduces; `And` and `Or` give a predicate in `d`, `Popc` a 32-bit value.
    Red(BarrierRed),
}

/// Barrier reductions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the operations of bar.red")]
pub enum BarrierRed {
    And,
    Or,
    Popc,
}

/// What is asked of operands and words of `mbarrier` (D-mbarrier): a word is what lies in memory where the barrier is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BarrierCheck {
    /// `a` is an offset in the window of shared memory.
    Shared,
    /// The word `a` is no barrier yet, and `b` a count of arrivals.
    New,
    /// The word `a` is a barrier.
    Valid,
    /// The word `a` is a barrier on which the operation `b` ([`crate::alu::mbarrier::perform`]) could be done.
    Performed,
    /// The word `a` is a barrier, `b` a state of one.
    State,
    /// The word `a` is a barrier, `b` a parity.
    Parity,
    /// `a` is the state of a barrier.
    Counted,
}

impl BarrierCheck {
    /// Whether it looks at `b`, too.
    #[must_use]
    pub const fn has_second(self) -> bool {
        matches!(self, Self::New | Self::Performed | Self::State | Self::Parity)
    }
}

/// A barrier instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Barrier {
    /// What it does.
    pub kind: BarrierKind,
    /// `.aligned` (always so for `bar`): all threads of the warp execute it together.
    pub aligned: bool,
    /// Whether slot `b` holds an explicit thread count.
    pub counted: bool,
    /// The barrier's number where the program gives a constant; otherwise each lane's is in slot `a`.
    pub id: Option<u8>,
}

impl Barrier {
    /// The number of a barrier that the whole warp waits at, without a count or a reduction: the common `bar.sync 0`.
    #[inline(always)]
    #[must_use]
    pub fn plain(&self) -> Option<u8> {
        self.id.filter(|_| self.aligned && !self.counted && self.kind == BarrierKind::Sync)
    }
}
