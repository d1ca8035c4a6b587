//! The program environment φ (report, 5.1.2): what running needs of a program, immutable and shared by reference.
//!
//! It holds the report's instruction, guard, label, function, variable and local environments, already resolved: an
//! instruction knows its slots, its immediates and its targets. Departure: the report gives every register a global
//! address and spills across calls (5.1.3, step 3); here each call has its own frame of slots, so nothing is spilled.

use super::bulk::Bulk;
use super::image::ImageOp;
use super::instr::{Barrier, Exchange, Instr, Op, Slot, Space, WarpRequest};
use super::matrix::Matrix;
use super::ops::Class;
use super::origins::{Object, Room};
use super::registers::Registers;
use crate::base::{FileId, Pc, Span};
use crate::ptx::tree::Loc;
use crate::verdict::{AllocKind, ImageKind, Inside};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// A function's number: its index in [`ProgEnv::functions`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub struct FuncId(pub u32);

/// What an instruction's address was made from, looked up when somebody asks.
#[derive(Clone, Copy, Debug)]
pub struct Root<'a>(Option<(&'a ProgEnv, Pc)>);

impl<'a> Root<'a> {
    /// Nothing that is known.
    pub const NONE: Self = Self(None);

    /// The object that the access must stay in, where the code says so.
    #[must_use]
    #[inline(always)]
    pub fn object(self) -> Option<&'a Object> {
        let (env, pc) = self.0?;
        env.objects.get(*env.owners.get(pc.0 as usize)? as usize)
    }

    /// Where words may lie that the instruction accesses in shared memory.
    #[must_use]
    #[inline(always)]
    pub fn room(self) -> Room {
        let room = |(env, pc): (&ProgEnv, Pc)| env.rooms.get(pc.0 as usize).copied();
        self.0.and_then(room).unwrap_or(Room::ALL)
    }
}

/// The program environment of one or several linked modules.
#[derive(Clone, Debug, Default)]
pub struct ProgEnv {
    /// All instructions; [`Pc`] indexes it.
    pub code: Vec<Instr>,
    /// Where each instruction comes from; as long as `code`.
    pub origin: Vec<Origin>,
    /// The object that the address of each instruction's access was made from, an index in `objects`; as long as `code` where
    /// anything is known.
    pub owners: Vec<u32>,
    /// Variables of shared, local and parameter memory that accesses are known to belong to.
    pub objects: Vec<Object>,
    /// Where the words may lie that each instruction accesses in shared memory; as long as `owners`.
    pub rooms: Vec<Room>,
    /// Memory actions, by `Op::Mem`.
    pub requests: Vec<WarpRequest>,
    /// Barrier instructions.
    pub barriers: Vec<Barrier>,
    /// Warp exchanges.
    pub exchanges: Vec<Exchange>,
    /// Matrix instructions, by `Op::Matrix`.
    pub matrices: Vec<Matrix>,
    /// Bulk copies.
    pub bulks: Vec<Bulk>,
    /// Parts of texture and surface instructions, by `Op::Image`.
    pub images: Vec<ImageOp>,
    /// Branch targets (program addresses) and call targets (function numbers).
    pub tables: Vec<Vec<u32>>,
    /// Opcodes with modifiers that parse but cannot be executed.
    pub unsupported: IndexSet<String, FxBuildHasher>,
    /// The variable of local memory or of the parameters that a request's address names, by the request's index. Other
    /// variables have slots with their addresses.
    pub named: FxHashMap<u32, Within>,
    /// Functions in source order, entries among them.
    pub functions: IndexMap<String, Function, FxBuildHasher>,
    /// `.global` and `.const` variables of module and function scope.
    pub variables: IndexMap<String, GlobalVar, FxBuildHasher>,
    /// `.loc` places that [`Origin::loc`] indexes.
    pub locs: Vec<Loc>,
    /// `.file` names by (file id of the module, index).
    pub files: IndexMap<(u32, u32), String, FxBuildHasher>,
    /// What the program was compiled for.
    pub target: Target,
    /// Whether CRS instructions were injected (step 6).
    pub injected: bool,
    /// From where instructions can be reached, as far as somebody asked.
    pub reachable: super::reachable::Reachable,
}

/// `.target`, `.version`, `.address_size`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// 70 for `sm_70`.
    pub sm: u32,
    /// PTX version: (8, 3) for `.version 8.3`.
    pub version: (u16, u16),
    /// 32 or 64.
    pub address_bits: u32,
}

impl Default for Target {
    fn default() -> Self {
        Self { sm: 50, version: (7, 0), address_bits: 64 }
    }
}

/// Where an instruction comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The module's source.
    pub file: FileId,
    /// The PTX instruction.
    pub span: Span,
    /// Index into [`ProgEnv::locs`], or `u32::MAX`.
    pub loc: u32,
    /// The function it belongs to.
    pub function: FuncId,
    /// A helper of the PTX instruction beside it, or an injected instruction: not counted, not traced.
    pub hidden: bool,
}

/// An entry or a function.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// The name.
    pub name: String,
    /// Whether it is a kernel.
    pub entry: bool,
    /// First instruction; meaningless when `defined` is false.
    pub start: Pc,
    /// One past the last instruction.
    pub end: Pc,
    /// Whether there is a body.
    pub defined: bool,
    /// Return parameters followed by parameters. For an entry, offsets are into the parameter area; for a function,
    /// into its stack frame.
    pub params: Vec<Param>,
    /// How many of `params` are return parameters.
    pub returns: u32,
    /// Size of the parameter area in bytes (entries).
    pub param_bytes: u32,
    /// Size of the stack frame in local memory, in bytes: parameters, locals and the `.param` variables of calls.
    pub frame_bytes: u32,
    /// How many slots of each class the frame has.
    pub slots: Slots,
    /// Slots filled when the function is entered (constants, parameters, special registers).
    pub preloads: Vec<Preload>,
    /// Slots that may be read before they are written, which are zero then (D-undefined).
    pub undefined: Vec<(Class, Slot)>,
    /// Bytes of statically declared shared memory that it or what it calls may use (entries).
    pub shared_bytes: u32,
    /// The shared variables that it or what it calls may use (entries); what is only declared `.extern` is one, above all
    /// others.
    pub shared: Vec<SharedName>,
    /// The `.local` and `.param` variables that it declares, from the start of its stack frame.
    pub locals: Vec<SharedName>,
    /// `.maxntid`, `.reqntid`, `.minnctapersm`.
    pub bounds: Bounds,
    /// Registers by name, for traces and error messages.
    pub registers: Registers,
    /// Where the head stands.
    pub file: FileId,
    /// Where the head stands.
    pub span: Span,
}

impl Function {
    /// Where dynamic shared memory begins, from the start of a block's shared memory.
    #[must_use]
    pub fn dynamic_shared_at(&self) -> u32 {
        self.shared_bytes.checked_next_multiple_of(16).unwrap_or(u32::MAX)
    }

    /// The shared variable of a kernel that a byte of a block's shared memory belongs to.
    #[must_use]
    pub fn inside_shared(&self, at: u64) -> Inside {
        let holds = |v: &&SharedName| at.wrapping_sub(v.offset.into()) < v.bytes.into();
        let (name, start) = self.shared.iter().find(holds).map_or(("", 0), |v| (v.name.as_str(), v.offset));
        Inside { name: name.to_owned(), kind: AllocKind::Shared, offset: at - u64::from(start) }
    }
}

/// A variable of shared or local memory and where it lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedName {
    /// Its name.
    pub name: String,
    /// Its first byte, from the start of a block's shared memory, or of a stack frame.
    pub offset: u32,
    /// Its size in bytes; of dynamic shared memory, which has the size that a launch gives it, all there may be.
    pub bytes: u32,
}

/// Launch bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// `.maxntid`
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`
    pub min_blocks_per_sm: Option<u32>,
    /// `.reqnctapercluster`
    pub cluster: Option<[u32; 3]>,
}

/// How many slots a frame has. 32-bit slots 0 and 1 are `STACK_BASE` and `STACK_TOP`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Slots {
    /// 32-bit slots.
    pub w: u16,
    /// 64-bit slots.
    pub q: u16,
    /// Predicates.
    pub p: u16,
}

impl Slots {
    /// How many slots there are.
    #[must_use]
    pub fn count(self) -> usize {
        usize::from(self.w) + usize::from(self.q) + usize::from(self.p)
    }

    /// The number of a slot when all are numbered, class by class. `None`: the frame does not have it.
    #[must_use]
    pub fn number(self, class: Class, slot: Slot) -> Option<usize> {
        let (before, count) = match class {
            Class::W => (0, self.w),
            Class::Q => (usize::from(self.w), self.q),
            Class::P => (usize::from(self.w) + usize::from(self.q), self.p),
        };
        (slot.0 < count).then_some(before + slot.index())
    }

    /// The slot of a number.
    #[must_use]
    pub fn name(self, number: usize) -> (Class, Slot) {
        let [w, q] = [self.w, self.q].map(usize::from);
        let (class, slot) = match number {
            n if n < w => (Class::W, n),
            n if n < w + q => (Class::Q, n - w),
            n => (Class::P, n - w - q),
        };
        (class, Slot(u16::try_from(slot).unwrap_or(u16::MAX)))
    }
}

/// A parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// The name.
    pub name: String,
    /// The element type as written, e.g. `u64`, `b8`.
    pub ty: String,
    /// Offset in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Whether it was declared as an array (a struct by value).
    pub array: bool,
    /// Whether it is declared `.ptr`.
    pub pointer: bool,
}

/// A slot that is filled when its function is entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Preload {
    /// The file.
    pub class: Class,
    /// The slot.
    pub slot: Slot,
    /// The value.
    pub init: Init,
}

/// Values of preloaded slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Init {
    /// A constant (predicates: 0 or 1).
    Const(u64),
    /// A register fixed while the thread runs.
    Special(Special),
    /// A kernel parameter: `bytes` at `offset` of the parameter area, extended to `ext` bits.
    Param {
        /// Offset in bytes.
        offset: u32,
        /// 1, 2, 4 or 8.
        bytes: u8,
        /// Sign- rather than zero-extended.
        signed: bool,
        /// 16, 32 or 64.
        ext: u8,
    },
    /// The address of a variable of [`ProgEnv::variables`], plus a byte offset.
    Variable {
        /// Index in [`ProgEnv::variables`].
        index: u32,
        /// Byte offset.
        offset: i64,
    },
    /// The code address of a function.
    Function(FuncId),
    /// The code address of an instruction (a label's address).
    Code(Pc),
    /// The address of a variable in the window of its area, plus a byte offset.
    Within {
        /// The variable.
        of: Within,
        /// Byte offset.
        offset: i64,
    },
    /// The shared-window offset of the dynamic shared memory (it follows all static shared variables), plus an offset.
    DynamicShared(i64),
}

/// A variable that lies in a window of the generic address space.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Within {
    /// Which window.
    pub area: Area,
    /// Its first byte, from the start of the area.
    pub first: u32,
    /// Its size in bytes.
    pub bytes: u32,
}

/// Where a variable of a window lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Area {
    /// The block's shared memory.
    Shared,
    /// A thread's local memory, from its start.
    Local,
    /// A function's stack frame, from the thread's `%stackBase`.
    Frame,
    /// The kernel's parameters.
    Param,
}

/// Special registers that do not change while a thread runs (PTX ISA, chapter 10). Dimension 0 is x, 3 reads as zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the special registers of the PTX ISA, chapter 10")]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    WarpId,
    NwarpId,
    /// `WARP_SZ`: the machine's, not the compiler's.
    WarpSize,
    SmId,
    NsmId,
    GridId,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    DynamicSmemSize,
    TotalSmemSize,
    AggrSmemSize,
    EnvReg(u8),
    ClusterId(u8),
    NclusterId(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterCtaRank,
    ClusterNctaRank,
    IsExplicitCluster,
    Zero,
}

/// A `.global` or `.const` variable.
#[derive(Clone, Debug)]
pub struct GlobalVar {
    /// `.const` rather than `.global`.
    pub constant: bool,
    /// Size in bytes.
    pub bytes: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Initial bytes; shorter than `bytes` means zeros follow.
    pub init: Vec<u8>,
    /// Addresses to be written into the initial bytes once they are known.
    pub relocations: Vec<Relocation>,
    /// `.extern` with no definition.
    pub external: bool,
    /// What it names, of a `.texref`, `.samplerref` or `.surfref`.
    pub reference: Option<Reference>,
    /// The declaration.
    pub file: FileId,
    /// The declaration.
    pub span: Span,
}

/// A variable that names a texture, sampler or surface (PTX ISA 5.3).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// Which of them.
    pub kind: ImageKind,
    /// The fields of its initialiser, e.g. `addr_mode_0` and `wrap`: words, or numbers in decimal.
    pub fields: Vec<(String, String)>,
}

/// An address in an initialiser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Offset in the variable.
    pub at: u64,
    /// Bytes written: 1, 4 or 8.
    pub bytes: u8,
    /// Right shift before writing, in bits (`0xFF00(sym)`).
    pub shift: u8,
    /// What the address is of.
    pub of: Init,
}

/// Where the windows of the generic address space lie (PTX ISA 6.4.1.1); ours to choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressMap {
    /// First global address.
    pub global: u64,
    /// First address of the shared window.
    pub shared: u64,
    /// First address of the local window.
    pub local: u64,
    /// First address of the kernel-parameter window.
    pub param: u64,
    /// Code address of instruction 0; instructions lie 16 bytes apart.
    pub code: u64,
    /// Size of the shared, local and parameter windows in bytes.
    pub window: u64,
}

impl AddressMap {
    /// The map for 64-bit (or 32-bit) addresses. A 64-bit global address never fits 32 bits, so that a truncated
    /// pointer is caught.
    #[must_use]
    pub const fn of(address_bits: u32) -> Self {
        if address_bits == 32 {
            let (shared, local, param, code) = (0xf000_0000, 0xf200_0000, 0xf400_0000, 0xf600_0000);
            Self { global: 0x1000_0000, shared, local, param, code, window: 0x0100_0000 }
        } else {
            let (shared, local, param, code) = (0x1_0000_0000, 0x2_0000_0000, 0x3_0000_0000, 0x4_0000_0000);
            Self { global: 0x7f00_0000_0000, shared, local, param, code, window: 0x0100_0000 }
        }
    }

    /// Bytes of address space that a context has for its memory. With 64 bits that is room for four million blocks with 4 GB
    /// between them, and for a thousand contexts (D-gaps, D-vm).
    #[must_use]
    pub const fn memory(address_bits: u32) -> u64 {
        if address_bits == 32 { 1 << 28 } else { 1 << 54 }
    }

    /// Where the window of a state space begins; 0 of one that has none.
    #[must_use]
    pub const fn window_of(&self, space: Space) -> u64 {
        match space {
            Space::Shared => self.shared,
            Space::Local => self.local,
            Space::Param => self.param,
            Space::Global | Space::Const | Space::Generic => 0,
        }
    }

    /// The state space in whose window a generic address lies, and where it is there; none for one of global memory.
    #[must_use]
    pub fn inside(&self, address: u64) -> Option<(Space, u64)> {
        let windows = [(self.shared, Space::Shared), (self.local, Space::Local), (self.param, Space::Param)];
        let mut found = windows.into_iter().map(|(window, space)| (space, address.wrapping_sub(window)));
        found.find(|(_, at)| *at < self.window)
    }

    /// The code address of an instruction.
    #[must_use]
    pub const fn code_of(&self, pc: Pc) -> u64 {
        self.code + pc.0 as u64 * 16
    }
}

impl ProgEnv {
    /// Whether an instruction is a barrier that all lanes of a warp execute together.
    #[must_use]
    pub fn is_aligned_barrier(&self, i: &Instr) -> bool {
        match i.op {
            Op::Bar => self.barriers.get(i.imm as usize).is_none_or(|b| b.aligned),
            Op::ClusterArrive { aligned, .. } | Op::ClusterWait { aligned } => aligned,
            _ => false,
        }
    }

    /// The address map of the program.
    #[must_use]
    pub const fn addresses(&self) -> AddressMap {
        AddressMap::of(self.target.address_bits)
    }

    /// Whether it reads a clock, whose values are too many to go through.
    #[must_use]
    pub fn reads_clocks(&self) -> bool {
        self.code.iter().any(|i| matches!(i.op, Op::ReadSpecial(_)))
    }

    /// The object that an access must stay in, where the code says so.
    #[must_use]
    #[inline(always)]
    pub const fn root(&self, pc: Pc) -> Root<'_> {
        Root(Some((self, pc)))
    }

    /// The CUDA source of an instruction, by `.loc` and `.file` (PTX ISA 11.5): the file's name and the place in it.
    #[must_use]
    pub fn cuda(&self, pc: Pc) -> Option<(&str, &Loc)> {
        let origin = self.origin.get(pc.0 as usize)?;
        let loc = self.locs.get(origin.loc as usize)?;
        Some((self.files.get(&(origin.file.0, loc.file))?, loc))
    }

    /// Where an instruction stands in the source.
    #[must_use]
    pub fn place(&self, pc: Pc) -> Option<(FileId, Span)> {
        self.origin.get(pc.0 as usize).map(|origin| (origin.file, origin.span))
    }

    /// The function that an instruction belongs to.
    #[must_use]
    pub fn function_at(&self, pc: Pc) -> Option<&Function> {
        self.function(self.origin.get(pc.0 as usize)?.function)
    }

    /// The name of the kernel of a number; empty where there is none.
    #[must_use]
    pub fn name_of(&self, kernel: u32) -> String {
        self.functions.get_index(kernel as usize).map_or_else(String::new, |(name, _)| name.clone())
    }

    /// The function of a number.
    #[must_use]
    pub fn function(&self, id: FuncId) -> Option<&Function> {
        self.functions.get_index(id.0 as usize).map(|(_, f)| f)
    }
}
