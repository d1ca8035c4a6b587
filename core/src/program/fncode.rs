//! The code of one function between lowering and layout.

use super::env::{Origin, Preload, Slots};
use super::instr::Instr;

/// One function's instructions. Branch targets, the return addresses of `PreRet` and code addresses in `preloads` are
/// indices into `code`; requests, barriers and exchanges already index the environment's tables.
#[derive(Clone, Debug, Default)]
pub struct FnCode {
    /// The instructions.
    pub code: Vec<Instr>,
    /// Where each comes from; as long as `code`.
    pub origin: Vec<Origin>,
    /// Targets of `Op::Brx`, as indices into `code`; the instruction's `imm` indexes this list.
    pub tables: Vec<Vec<u32>>,
    /// Function numbers that an `Op::CallIndirect` may reach; the instruction's `imm` indexes this list, or is `u32::MAX`.
    pub calls: Vec<Vec<u32>>,
    /// How many slots of each class the frame has.
    pub slots: Slots,
    /// Slots filled on entry; `Init::Code` holds an index into `code`, and in `Init::Within` a shared variable's place is its
    /// number.
    pub preloads: Vec<Preload>,
}
