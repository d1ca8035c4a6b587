//! Why a value is not defined: the step at which it ought to have been.

use crate::base::Pc;
use crate::program::instr::Slot;
use crate::program::ops::Class;

/// Why a value is not defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// A register that was not written when an instruction used it.
    Register { by: Pc, class: Class, slot: Slot },
    /// A byte of memory that was not written when an instruction read it; in the generic address space.
    Memory { address: u64, read: Pc },
    /// A shuffle whose source lane takes no part.
    Absent { shuffle: Pc },
}
