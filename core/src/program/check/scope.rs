//! What names stand for in a check.

use crate::program::scope::{self, Meaning};
use crate::ptx::Modifier;
use crate::ptx::tree::StateSpace;

/// A declared name.
pub type Symbol = scope::Symbol<SymbolKind>;
/// All names that are visible now.
pub type Scopes = scope::Scopes<SymbolKind>;

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// A register, or a range of them when `count` is there; `lanes` is 1, 2 or 4.
    Register {
        /// Its type.
        ty: Modifier,
        /// Elements of the vector.
        lanes: u8,
        /// How many registers the range has.
        count: Option<u32>,
    },
    /// A variable in an addressable space.
    Variable {
        /// Where it lies.
        space: StateSpace,
        /// Its element type.
        ty: Modifier,
        /// Its size in bytes; 0 when unknown.
        bytes: u64,
        /// Its alignment in bytes.
        align: u32,
        /// Whether it is an array.
        array: bool,
        /// Whether it is a parameter of the function.
        param: ParamKind,
    },
    /// A label.
    Label,
    /// A function: its index among the checked module's functions.
    Function(u32),
    /// `.branchtargets`.
    BranchTargets,
    /// `.calltargets`: its index.
    CallTargets(u32),
    /// `.callprototype`: its index.
    Prototype(u32),
}

/// Which side of a function a `.param` variable is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamKind {
    /// Not a formal parameter.
    No,
    /// A kernel's or function's parameter: cannot be written.
    Input,
    /// A function's return parameter: cannot be read.
    Return,
}

impl Meaning for SymbolKind {
    fn range(self) -> Option<u32> {
        if let Self::Register { count, .. } = self { count } else { None }
    }
}
