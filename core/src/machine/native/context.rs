//! What native code and the machine hand each other: structures of fixed layout.

use crate::base::{Frame, LaneMask, Lanes32, Lanes64};
use crate::memory::LocalMemory;
use crate::verdict::Row;
use std::ffi::c_void;

/// Why native code came back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(super) enum Exit {
    /// The next block does not fit into what is left of the fuel.
    Fuel = 0,
    /// A check fails: nothing has been done of the segment that begins here.
    Check = 1,
    /// The instruction here is one that the interpreter executes.
    Outside = 2,
    /// Not all lanes take the branch here: those of [`Context::taken`] do.
    Diverge = 3,
    /// A `sync` whose token was pushed before native code was entered.
    Sync = 4,
    /// A barrier.
    Barrier = 5,
    /// The lanes end.
    End = 6,
    /// An access by way of the machine failed; what it says is with the host.
    Fault = 7,
    /// Lanes break: those of [`Context::taken`].
    Break = 8,
    /// Lanes may have met others: it is to be seen who runs.
    Meet = 9,
    /// The lanes call a function.
    Call = 10,
    /// They return from one.
    Return = 11,
    /// They have called or returned, and go on elsewhere.
    Moved = 12,
}

impl Exit {
    /// The exit of a number.
    pub const fn of(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Fuel,
            1 => Self::Check,
            2 => Self::Outside,
            3 => Self::Diverge,
            4 => Self::Sync,
            5 => Self::Barrier,
            6 => Self::End,
            7 => Self::Fault,
            8 => Self::Break,
            9 => Self::Meet,
            10 => Self::Call,
            11 => Self::Return,
            12 => Self::Moved,
            _ => return None,
        })
    }
}

/// Where the accesses of an instruction, or of several from one address, may go without being looked up: into the block of
/// memory that they went to last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub(super) struct Site {
    /// Address of the block's first byte.
    pub address: u64,
    /// At how many words of the access's alignment an access may begin, from there on.
    pub count: u64,
    /// What makes an address one of this computer's memory.
    pub shift: u64,
}

impl Site {
    /// One where nothing may go.
    pub const NONE: Self = Self { address: 0, count: 0, shift: 0 };
}

/// Executes the instruction at an address for some lanes, on the warp's frame; 0: it did.
pub(super) type Plain = unsafe extern "C" fn(*mut Context, *mut Common, u32, LaneMask) -> u32;
/// The lanes that run call, or return, at an address; what is left of the fuel as [`Context::left`]. 0: they do not; 1: those that run
/// then go on at [`Context::entry`]; 2: they go on elsewhere.
pub(super) type Transfer = unsafe extern "C" fn(*mut Context, *mut Common, u32, i64) -> u32;
/// Looks up where `bytes` at an address are, for a site whose accesses are multiples of a unit; 0: not in one block, or they may not be accessed so.
pub(super) type Locate = unsafe extern "C" fn(*mut Common, u32, u64, u64, u32) -> u32;

/// What native code works on, of one warp.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Context {
    /// The frame's 32-bit slots.
    pub w: *mut Lanes32,
    /// Its 64-bit slots.
    pub q: *mut Lanes64,
    /// Its predicates.
    pub p: *mut LaneMask,
    /// Values of registers that lie on lines.
    pub scalars: *mut u64,
    /// The frame, and the local memory of the warp's threads: for what is called back for.
    pub frame: *mut Frame,
    pub local: *mut LocalMemory,
    /// Where the frame of a function begins in local memory that is called; null for a kernel.
    pub stack: *mut Lanes32,
    /// Fuel that is left, times 2³², plus the instructions executed that are not counted.
    pub left: i64,
    /// The entry to begin at, by number.
    pub entry: u32,
    /// The address of that entry.
    pub from: u32,
    /// Where it came back.
    pub pc: u32,
    /// Why, as the number of an [`Exit`].
    pub exit: u32,
    /// The lanes that take the branch.
    pub taken: LaneMask,
    /// Tokens that were pushed in native code and are still there.
    pub tokens: u32,
    /// The warp's number in the block.
    pub warp: u32,
    /// Thread instructions that were fewer than if all lanes had executed each instruction: those of lanes that had parted, and have
    /// met again.
    pub fewer: u64,
    /// Fuel when the control model was last told who had run, as [`Context::left`].
    pub told: i64,
    /// Instructions that there may be while lanes wait for others, from when all of the warp's are together.
    pub patience: u32,
    /// Not zero: the warp's lanes have parted natively, in the code for all of them, and have not met. Then so much fuel was given to
    /// those who went on, when all of the fuel that was left was [`Context::told`].
    pub given: u32,
    /// Instructions that nobody had been told of then.
    pub own: u32,
    /// Not zero: lanes are ready in the functions that called this one.
    pub beyond: u32,
    /// The context of the warp that runs next, when this one waits at a barrier or has ended; null: none.
    pub next: *mut Self,
}

/// How a warp came back.
#[derive(Clone, Copy)]
pub(super) struct Back {
    pub exit: Exit,
    pub pc: u32,
    /// Fuel that is left.
    pub left: u32,
    /// Instructions that were executed and are not counted.
    pub hidden: u32,
    pub taken: LaneMask,
    pub tokens: u32,
    /// See [`Context::fewer`].
    pub fewer: u64,
    /// Fuel that was left when the control model was last told who had run, and the patience there is when all are together.
    pub told: u32,
    pub patience: u32,
    /// See [`Context::given`], and [`Context::own`].
    pub given: u32,
    pub own: u32,
}

impl Back {
    /// As if native code had been entered with what was given to lanes when they parted.
    pub const fn of_given(self) -> Self {
        Self { left: self.given - (self.told - self.left), ..self }
    }
}

/// Lanes that have parted at a branch.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Parting {
    /// Fuel when those that run began to, as [`Context::left`].
    pub left: i64,
    /// All of them, and those that take the branch.
    pub mask: LaneMask,
    pub taken: LaneMask,
    /// Tokens that were pushed natively, and not popped, between the parting before and this one.
    pub tokens: u32,
    /// The branch, from the kernel's start: written when native code is left.
    pub branch: u32,
    /// Not zero: the others run, and those that take the branch have come to where they meet. Written when native code is left.
    pub second: u32,
}

impl Parting {
    /// Those that run.
    pub const fn runs(&self) -> LaneMask {
        if self.second == 0 { self.taken } else { self.mask & !self.taken }
    }
}

/// Places at which lanes may wait, at most.
pub(super) const PLACES: usize = u64::BITS as usize;
/// Runs of groups that are noted at most, before the control model is told.
pub(super) const RUNS: usize = 256;

/// Who waits where, and who has run.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Groups {
    /// Places at which lanes wait, as a set.
    pub places: u64,
    /// Fuel when those who run began to, as [`Context::left`].
    pub since: i64,
    /// Those who run.
    pub mask: LaneMask,
    /// How many runs have been noted.
    pub count: u32,
    /// By place: who waits there; nobody where none does.
    pub waiting: [LaneMask; PLACES],
    /// Who ran before those who run, in order; room for those who run.
    pub runs: [LaneMask; RUNS + 1],
    /// Of which warp.
    pub whose: [u32; RUNS + 1],
}

/// What the warps that run have in common.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Common {
    /// The block's shared memory.
    pub shared: *mut u8,
    /// Sites by number.
    pub sites: *mut Site,
    /// The code for some lanes, null if there is none, and its sites.
    pub some: *const c_void,
    pub others: *mut Site,
    /// All ones or zero per lane, by who runs.
    pub lanes: *mut Lanes32,
    /// Lanes that have parted natively, by level, how many of these were open where native code was left, and the numbers of lines
    /// that they had before.
    pub partings: *mut Parting,
    pub parted: *mut u32,
    pub kept: *mut u64,
    /// Groups of lanes, and by place the numbers of lines that those have who wait there.
    pub groups: *mut Groups,
    pub numbers: *mut u64,
    /// Room for the accesses of a segment that are told, and the function that takes note of so many of them; 0: not of all. It
    /// is called as [`Plain`], with their number.
    pub rows: *mut Row,
    pub note: Plain,
    /// For whom the functions below are.
    pub host: *mut c_void,
    /// See [`Plain`].
    pub plain: Plain,
    /// See [`Locate`].
    pub locate: Locate,
    /// See [`Transfer`], and the code that runs, for that.
    pub transfer: Transfer,
    pub code: *const c_void,
    /// What that gave last.
    pub found: u32,
    /// The lanes that run.
    pub mask: LaneMask,
    /// The lanes meet others at this address or behind it: no block may reach it.
    pub watch: u32,
    /// Segments until one is left without need, where that is compiled in: for tests.
    pub trip: u32,
    /// Whether the code for some lanes runs: its sites are in use.
    pub part: u32,
    /// [`Context::patience`] of warps of whose lanes none has waited.
    pub patience: u32,
}
