//! Layer 5: the memory environment η behind one trait.
//!
//! A request is the report's warp memory action (5.4): it names register slots and does not carry values. [`flat::Flat`]
//! completes it in `issue`; an engine with caches turns it into operations and completes it in `perform`. Knows nothing
//! of scheduling, of convergence or of barriers.

pub mod copies;
mod delayed;
mod engine;
mod environment;
pub mod fermi;
pub mod flat;
mod local;
pub mod lockstep;
pub mod mutexed;
mod promoted;
mod registers;
pub mod rsp;
mod snapshot;
pub mod split;

pub use copies::WithCopies;
pub use delayed::{Accesses, Delayed};
pub use engine::Memory;
pub use environment::Environment;
pub use fermi::FermiModel;
pub use local::LocalMemory;
pub use registers::{Held, Uses, Waits};
pub use snapshot::{Part, Snapshot};

use crate::base::{Frame, LaneMask, LaneTables, Lanes32, Pc};
use crate::choice::Oracle;
use crate::program::env::{AddressMap, Root};
use crate::program::instr::{CacheOp, MemOp, Slot, Space, WarpRequest};
use crate::verdict::{BugKind, LimitKind, Stop, Who};
use fermi::model::DeviceModel;
use fermi::program::{ProgramSet, preset};
use mutexed::mechanism::Mechanism;
use rsp::SchemeName;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A memory engine by name, with what it is made from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum MemoryModel {
    /// Every access takes effect at once.
    #[default]
    Flat,
    /// The same lane by lane and element by element: an instruction's accesses are not atomic together.
    Split,
    /// Lockstep sequential consistency: as `Split`, and bytes that several lanes store to keep any of these values.
    Lsc,
    /// Strictly lockstep sequential consistency: instructions take effect as a whole, bytes as with `Lsc`.
    Slsc,
    /// The report's chapter 4: caches and memory programs.
    Fermi(Arc<DeviceModel>, Arc<ProgramSet>),
    /// The mutex mechanism of lockstep sequential consistency.
    Mutexed(Mechanism),
    /// The hardware of remote-scope promotion, for which accesses are compiled by a scheme.
    Rsp(SchemeName),
}

impl MemoryModel {
    /// Those that a command is told by name.
    pub const NAMES: [&'static str; 6] = ["flat", "fermi", "rsp", "lsc", "slsc", "lsc-mutex"];

    /// Those that `compare` goes through: what every kernel may meet.
    pub const COMPARED: [&'static str; 2] = ["flat", "fermi"];

    /// Whether marks of remote accesses mean something to it (D-rsp-ptx-remote).
    #[must_use]
    pub const fn has_remote(&self) -> bool {
        matches!(self, Self::Rsp(_))
    }

    /// The engine of a name: `flat`, `rsp` with the proposed scheme, `lsc`, `slsc`, `lsc-mutex`, or a preset device with its memory
    /// programs.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        match name {
            "flat" => Some(Self::Flat),
            "lsc-mutex" => Some(Self::Mutexed(Mechanism::default())),
            "lsc" => Some(Self::Lsc),
            "slsc" => Some(Self::Slsc),
            "rsp" => Some(Self::Rsp(SchemeName::Proposed)),
            _ => Self::of(DeviceModel::preset(name)?),
        }
    }

    /// The engine of a device, with the memory programs that it names.
    #[must_use]
    pub fn of(model: DeviceModel) -> Option<Self> {
        let programs = preset(&model.programs)?;
        Some(Self::Fermi(Arc::new(model), Arc::new(programs)))
    }

    /// The same engine with the accesses of an instruction split into its lanes', or whole. `None`: it has no such mode.
    #[must_use]
    pub fn with_lanes_split(self, split: bool) -> Option<Self> {
        match (self, split) {
            (Self::Flat | Self::Split, true) => Some(Self::Split),
            (Self::Flat | Self::Split, false) => Some(Self::Flat),
            (Self::Fermi(..) | Self::Lsc | Self::Slsc | Self::Mutexed(_) | Self::Rsp(_), _) => None,
        }
    }

    /// The hardware, where the engine has a description of it.
    #[must_use]
    pub fn device(&self) -> Option<&DeviceModel> {
        if let Self::Fermi(device, _) = self { Some(device) } else { None }
    }

    /// The memory in a word, and whether the lanes of an instruction access it together (`whole`) or one by one (`split`);
    /// `None`: it has operations of its own.
    #[must_use]
    pub const fn words(&self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Flat => ("flat", Some("whole")),
            Self::Split => ("flat", Some("split")),
            Self::Lsc => ("lsc", None),
            Self::Slsc => ("slsc", None),
            Self::Fermi(..) => ("fermi", None),
            Self::Mutexed(_) => ("lsc-mutex", None),
            Self::Rsp(SchemeName::Proposed) => ("rsp", None),
            Self::Rsp(SchemeName::Original) => ("rsp-original", None),
        }
    }

    /// All that decides how it behaves, to be hashed: what a schedule was made with is compared by it.
    #[must_use]
    pub fn described(&self) -> String {
        match self {
            Self::Flat => "flat".to_owned(),
            Self::Split => "flat, lanes split".to_owned(),
            Self::Lsc => "lsc".to_owned(),
            Self::Slsc => "slsc".to_owned(),
            Self::Fermi(device, programs) => format!("{device:?} {:?}", programs.programs()),
            Self::Mutexed(mechanism) => format!("lsc-mutex, {mechanism:?}"),
            Self::Rsp(scheme) => format!("rsp, {}", scheme.name()),
        }
    }
}

/// Who issues a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Issuer {
    /// The warp.
    pub who: Who,
    /// The instruction.
    pub pc: Pc,
    /// Depth of the call stack, which says in which frame the registers are.
    pub depth: u32,
    /// The streaming multiprocessor that the warp's block is on.
    pub sm: u32,
}

/// The lanes that execute an instruction, their registers and the memories near them.
#[derive(Debug)]
pub struct Active<'a, 'n> {
    /// Whose they are.
    pub at: Issuer,
    /// One bit a lane.
    pub mask: LaneMask,
    /// All ones or zero per lane.
    pub lanes: &'a Lanes32,
    /// The registers of their function.
    pub regs: &'a mut Frame,
    /// What they reach beside device memory.
    pub near: &'a mut Near<'n>,
}

/// The memories that belong to the issuing warp's block and launch.
#[derive(Debug)]
pub struct Near<'a> {
    /// The block's shared memory.
    pub shared: &'a mut [u8],
    /// The warp's local memory.
    pub local: &'a mut LocalMemory,
    /// The kernel's parameters.
    pub param: &'a [u8],
    /// The windows of the generic address space.
    pub map: &'a AddressMap,
    /// The variable that the instruction's address was made from, where the code says so (D-roots).
    pub root: Root<'a>,
    /// The registers that the instruction names and that can be blocked; none where memory is immediate.
    pub uses: Option<&'a Uses>,
}

/// What a run carries along that is not state: observers, the oracle, caches.
pub struct Cx<'a, S> {
    /// The observer.
    pub sink: S,
    /// Who decides.
    pub oracle: &'a mut dyn Oracle,
    /// Where accesses of a site went last.
    pub hints: SiteHints,
    /// Tables for vectorised loops.
    pub tables: LaneTables,
    /// Receives what the device prints.
    pub out: &'a mut dyn FnMut(&[u8]),
}

/// A block of memory that accesses of one site hit last, so that the next one need not search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hint {
    /// Address of its first byte.
    pub address: u64,
    /// Size in bytes; 0 matches nothing.
    pub len: u64,
    /// Where it begins in the vector of all bytes.
    pub at: usize,
    /// What may be done there: a set of the bits of [`Hint::READ`] and the others.
    pub allowed: u8,
}

impl Hint {
    /// Global reads.
    pub const READ: u8 = 1;
    /// Global writes and atomics.
    pub const WRITE: u8 = 2;
    /// Reads of constant memory.
    pub const CONST: u8 = 4;
}

/// Hints by instruction. A cache: never part of the state, and no result depends on it.
#[derive(Clone, Debug, Default)]
pub struct SiteHints([Hint; 16], u32);

impl SiteHints {
    /// The hint of an instruction.
    #[inline(always)]
    pub fn at(&mut self, pc: Pc) -> &mut Hint {
        &mut self.0[pc.0 as usize & 15]
    }

    /// Forgets everything: memory was freed.
    pub fn clear(&mut self) {
        self.0 = Default::default();
        self.1 = self.1.wrapping_add(1);
    }

    /// How often everything was forgotten.
    pub const fn forgotten(&self) -> u32 {
        self.1
    }
}

/// Why a request failed; the machine adds the place.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// The program broke a rule: what, and the lanes that did (the first one is reported).
    Bug(BugKind, LaneMask),
    /// A budget ended.
    Limit(LimitKind),
    /// An observer stopped the run.
    Stop(Stop),
    /// A memory program is stuck.
    Program(ProgramFault),
}

/// What becomes of a request: it was carried out, or taken in; or why it failed.
pub type Taken = Result<(), Box<Fault>>;

/// What becomes of an action: it was done, or why it could not be.
pub type Acted = Result<(), Box<Trouble>>;

impl From<Stop> for Box<Fault> {
    fn from(stop: Stop) -> Self {
        Self::new(Fault::Stop(stop))
    }
}

/// A memory program to none of whose steps a rule applies (report, 4.4.2: ⊥).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramFault {
    /// The operation that it serves, e.g. `ld.global.ca`.
    pub program: String,
    /// Its file.
    pub file: String,
    /// Line in the file, from 1; 0 when there is no program.
    pub line: u32,
    /// Why.
    pub cause: &'static str,
}

/// Why an operation could not go on, and whose it is.
#[derive(Clone, PartialEq, Debug)]
pub struct Trouble {
    /// The warp and the instruction that issued it.
    pub at: Issuer,
    /// Its lanes.
    pub lanes: LaneMask,
    /// Why.
    pub fault: Fault,
}

/// Where an engine finds what belongs to warps and blocks when it acts later than their requests.
pub trait Stores {
    /// The registers of a warp at a depth of its call stack.
    fn frame(&mut self, who: Who, depth: u32) -> Option<&mut Frame>;

    /// The shared memory of a block.
    fn shared(&mut self, launch: u32, block: u64) -> Option<&mut [u8]>;

    /// The local memory of a warp.
    fn local(&mut self, who: Who) -> Option<&mut LocalMemory>;

    /// The kernel's parameters in a launch.
    fn param(&mut self, launch: u32) -> Option<&[u8]>;
}

/// An operation that can go on, for a search; ordered by its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Movable {
    /// Its name.
    pub name: OperationName,
    /// The lanes that issued it.
    pub lanes: LaneMask,
}

/// What an operation is called in every state that is equal to this one, whereas its number ([`Memory::operation`]) depends
/// on which operations came and went before. One that makes no step for ever keeps its name
/// from some point on: others of its warp that end before it are replaced behind it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct OperationName {
    /// Its block.
    pub block: u64,
    /// Its warp.
    pub warp: u32,
    /// Its place among its warp's.
    pub place: u32,
}

/// A plain 32-bit access: only the operands that differ.
#[derive(Clone, Copy, Debug)]
pub struct Plain32 {
    /// Load or store.
    pub op: MemOp,
    /// Global or shared.
    pub space: Space,
    /// The address's 64-bit slot.
    pub a: Slot,
    /// Data or destination.
    pub d: Slot,
    /// Byte offset.
    pub offset: i32,
    /// The cache operator.
    pub cache: CacheOp,
}

impl Plain32 {
    /// The access as the request that it was.
    pub(crate) fn request(self) -> WarpRequest {
        WarpRequest::word(self.op, self.space, (self.a, self.offset), self.d, self.cache)
    }
}

#[cfg(test)]
mod tests {
    use super::MemoryModel;

    #[test]
    fn every_name_is_of_a_memory_that_says_so() {
        for name in MemoryModel::NAMES {
            assert_eq!(MemoryModel::preset(name).map(|memory| memory.words().0), Some(name));
        }
    }
}
