//! What names stand for in lowering: registers have slots, variables places.

use crate::program::env::FuncId;
use crate::program::instr::Slot;
use crate::program::ops::Class;
use crate::program::scope::Meaning;
use crate::program::special::SpecialReg;

/// A register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::program) struct Reg {
    /// Its slot; the first one of a vector or of a 128-bit register.
    pub(in crate::program) slot: Slot,
    /// The class of its slots.
    pub(in crate::program) class: Class,
    /// 1, 8, 16, 32, 64 or 128 bits of a component.
    pub(in crate::program) bits: u8,
    /// Components; 1 for a scalar.
    pub(in crate::program) lanes: u8,
}

impl Reg {
    /// A component of a vector register.
    pub(in crate::program) fn component(self, index: u8) -> Option<Self> {
        let step = if self.bits == 128 { 2 } else { 1 };
        let slot = Slot(self.slot.0.checked_add(u16::from(index) * step)?);
        (index < self.lanes).then_some(Self { slot, lanes: 1, ..self })
    }

    /// Its width as conversions see it.
    pub(in crate::program) const fn width(self) -> u32 {
        match self.bits {
            0..=16 => 16,
            17..=32 => 32,
            _ => 64,
        }
    }

    /// The components of a vector register.
    pub(in crate::program) fn components(self) -> impl Iterator<Item = Self> {
        (0..self.lanes).filter_map(move |index| self.component(index))
    }
}

/// Where a variable lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::program) enum Base {
    /// `.global` or `.const`: an index in `ProgEnv::variables`.
    Variable(u32),
    /// `.shared`: an index in the list of shared variables.
    Shared(u32),
    /// `.extern .shared x[]`.
    DynamicShared,
    /// An offset in the function's stack frame.
    Frame(u32),
    /// An offset in local memory: `.local` at module scope.
    Local(u32),
    /// An offset in the parameter area of the entry.
    Param(u32),
}

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::program) struct Place {
    /// Where it lies.
    pub(in crate::program) base: Base,
    /// Size in bytes.
    pub(in crate::program) bytes: u32,
    /// Size of an element in bytes.
    pub(in crate::program) element: u32,
    /// Alignment in bytes.
    pub(in crate::program) align: u32,
    /// `.const`.
    pub(in crate::program) constant: bool,
}

/// What a name means.
#[derive(Clone, Copy, Debug)]
pub(in crate::program) enum Sym {
    /// Nothing yet.
    None,
    /// A register.
    Reg(Reg),
    /// A range of registers, which get their slots when they are first used: a frame holds no register that its function
    /// does not name.
    Range(Range),
    /// A label: its number in the function.
    Label(u32),
    /// A special register.
    Special(SpecialReg),
    /// A variable.
    Place(Place),
    /// A function.
    Function(FuncId),
    /// A `.callprototype`: an index in the function's list.
    Prototype(u32),
    /// A `.branchtargets` or `.calltargets` list: an index in the function's list.
    Targets(u32),
}

/// A range of registers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::program) struct Range {
    /// How many.
    pub(in crate::program) count: u32,
    /// Bits of a component.
    pub(in crate::program) bits: u8,
    /// Components.
    pub(in crate::program) lanes: u8,
}

impl Meaning for Sym {
    fn range(self) -> Option<u32> {
        if let Self::Range(range) = self { Some(range.count) } else { None }
    }
}

/// What a name that stands for an instruction's place is needed for.
#[derive(Clone, Copy)]
pub(in crate::program) enum Fix {
    /// The `imm` of an instruction.
    Target(usize),
    /// A preload.
    Preload(usize),
    /// An entry of a table of `brx`.
    Table(usize, usize),
}
