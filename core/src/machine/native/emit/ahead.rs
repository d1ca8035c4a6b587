//! Rows that warps of later blocks are likely to access are brought near.
//!
//! A turn that has begun goes on in the next block, so that of each block another warp comes first, and neighbouring rows of a large
//! array are not accessed one after the other: the processor does not foresee them. Where it is wrong it costs nothing but time.

use super::super::forms::Way;
use super::builder::Emit;
use cranelift_codegen::ir::{InstBuilder, Value};

/// Rows of a segment for which that is done.
const ROWS: usize = 4;

impl Emit<'_, '_> {
    /// Has rows brought near that lie as far behind those of a segment as a later block does behind this one, when the kernel comes by
    /// here once.
    pub(super) fn fetch_ahead(&mut self, from: usize, to: usize) {
        if self.who.some || self.plan.ahead == 0 || self.plan.comes_again(from) {
            return;
        }
        let mut done: Vec<(Value, i64)> = Vec::new();
        for k in (from..to).filter(|k| matches!(self.plan.ways[*k], Way::LoadRow | Way::StoreRow)) {
            let (Some(access), Some([place, _])) = (self.access(k), self.segment.rows.get(&k).copied()) else {
                continue;
            };
            let at = access.offset + i64::from(self.plan.ahead * access.bytes);
            let new = done.iter().all(|(other, other_at)| *other != place || at.abs_diff(*other_at) >= 64);
            if access.shared || !new || done.len() >= ROWS {
                continue;
            }
            done.push((place, at));
            let there = self.b.ins().iadd_imm(place, at);
            self.b.ins().call(self.helpers.fetch, &[there]);
        }
    }
}
