//! Strips of which no lane runs are passed by, in code for some lanes.

use super::builder::{Emit, LANES_OF_STRIP};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use std::collections::BTreeMap;

/// A strip that is passed by where none of its lanes run.
pub(super) struct Passed {
    /// Where it is, and where what follows is.
    none: Block,
    behind: Block,
    /// The bits of predicates that the strips before it make.
    before: BTreeMap<usize, Value>,
}

impl Emit<'_, '_> {
    /// Before a strip.
    pub(super) fn pass(&mut self, s: usize, bits: &BTreeMap<usize, Value>) -> Option<Passed> {
        if !self.who.some || self.plan.function.entry {
            return None;
        }
        let lanes = self.b.ins().band_imm(self.who.mask, LANES_OF_STRIP << (4 * s));
        let (own, none, behind) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.ins().brif(lanes, own, &[], none, &[]);
        self.b.switch_to_block(own);
        Some(Passed { none, behind, before: bits.clone() })
    }

    /// Behind a strip: what its lanes have made of predicates is none where it was passed by.
    pub(super) fn passed(&mut self, strip: Passed, bits: &mut BTreeMap<usize, Value>) {
        let Passed { none, behind, before } = strip;
        let values: Vec<BlockArg> = bits.values().copied().map(BlockArg::Value).collect();
        self.b.ins().jump(behind, &values);
        self.b.switch_to_block(none);
        let zero = self.b.ins().iconst(types::I32, 0);
        let values: Vec<BlockArg> =
            bits.keys().map(|k| BlockArg::Value(before.get(k).copied().unwrap_or(zero))).collect();
        self.b.ins().jump(behind, &values);
        self.b.switch_to_block(behind);
        for value in bits.values_mut() {
            *value = self.b.append_block_param(behind, types::I32);
        }
    }
}
