//! The order of a segment's accesses: strips of later ones come before strips of earlier ones.
//!
//! A strip of an access is executed behind the same strip of those before it, and before the next strip of any. So of two rows of
//! which one is stored, the later one must not lie where a later strip of the earlier one is: it begins at the same address or below,
//! or behind its end. Where the addresses are not known that is checked before anything is done; a segment for which it does not
//! hold is left to the interpreter. A word that is loaded for all lanes is loaded before all strips.

use super::super::each::Access;
use super::super::forms::Way;
use super::builder::Emit;
use crate::base::mutant::{Mutant, on};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

/// Pairs of rows that a segment checks at most.
const PAIRS: usize = 6;

impl Emit<'_, '_> {
    /// The access of an instruction, when it is a row.
    fn row_of(&self, k: usize) -> Option<Access> {
        let row = matches!(self.plan.ways[k], Way::LoadRow | Way::StoreRow);
        self.access(k).filter(|_| row)
    }

    /// The rows from an instruction on, before another one, of which none may come behind parts of that.
    fn rows_before(&self, from: usize, k: usize) -> Vec<(usize, Access)> {
        let Some(later) = self.row_of(k) else { return Vec::new() };
        let rows = (from..k).filter_map(|j| Some((j, self.row_of(j)?)));
        rows.filter(|(_, row)| row.shared == later.shared && !(row.load && later.load)).collect()
    }

    /// Whether an instruction has to be in another segment than those from `from` on.
    pub(super) fn ordered(&self, from: usize, k: usize) -> bool {
        if self.parted(from, k) {
            return true;
        }
        if on(Mutant::NativeOrder) {
            return false;
        }
        let Some(access) = self.access(k) else { return false };
        if self.plan.ways[k] == Way::LoadOne {
            return (from..k).any(|j| self.row_of(j).is_some_and(|row| !row.load && row.shared == access.shared));
        }
        let pairs = (from..=k).map(|k| self.rows_before(from, k).len()).sum::<usize>();
        let known = |row: &Access| {
            let same = (row.class, row.slot) == (access.class, access.slot);
            let apart = access.offset.wrapping_sub(row.offset);
            same && ((1..i64::from(32 * row.bytes)).contains(&apart) || row.bytes != access.bytes)
        };
        pairs > PAIRS || self.rows_before(from, k).iter().any(|(_, row)| known(row))
    }

    /// Checks the order of the rows of a segment.
    pub(super) fn check_order(&mut self, from: usize, to: usize) {
        if on(Mutant::NativeOrder) {
            return;
        }
        for k in from..to {
            let Some(later) = self.row_of(k) else { continue };
            for (j, earlier) in self.rows_before(from, k) {
                self.check_pair((j, earlier), (k, later));
            }
        }
    }

    fn check_pair(&mut self, (j, earlier): (usize, Access), (k, later): (usize, Access)) {
        let rows = |k: usize| self.segment.rows.get(&k).copied();
        let (Some(first), Some(second)) = (rows(j), rows(k)) else { return };
        let same = first == second && earlier.offset == later.offset && earlier.bytes == later.bytes;
        let whole = !self.halves(j, earlier) && !self.halves(k, later);
        // Of one row in halves, the first half of the later one comes before the second half of the earlier one all the same.
        let parts: &[(usize, usize)] = match (whole, same) {
            (true, true) => &[],
            (true, false) => &[(0, 0)],
            (false, true) => &[(1, 0)],
            (false, false) => &[(0, 0), (1, 1), (1, 0)],
        };
        for (a, b) in parts {
            let length = |access: Access| i64::from(access.bytes) * if whole { 32 } else { 16 };
            let (one, two) = ((first[*a], earlier, length(earlier)), (second[*b], later, length(later)));
            let holds =
                if a == b && earlier.bytes == later.bytes { self.not_within(one, two) } else { self.apart(one, two) };
            self.check(holds);
        }
    }

    /// Whether the address of an access is the line of each half.
    fn halves(&self, k: usize, access: Access) -> bool {
        let n = self.plan.function.slots.number(access.class, access.slot);
        n.and_then(|n| self.plan.line(k, n)).is_some_and(|line| line.halves)
    }

    /// How far the later one begins behind the earlier one.
    fn behind(&mut self, earlier: (Value, Access), later: (Value, Access)) -> Value {
        let apart = self.b.ins().isub(later.0, earlier.0);
        self.b.ins().iadd_imm(apart, later.1.offset.wrapping_sub(earlier.1.offset))
    }

    /// The later one does not begin within the earlier one, behind its beginning.
    fn not_within(&mut self, earlier: (Value, Access, i64), later: (Value, Access, i64)) -> Value {
        let behind = self.behind((earlier.0, earlier.1), (later.0, later.1));
        let behind = self.b.ins().iadd_imm(behind, -1);
        self.b.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, behind, earlier.2 - 1)
    }

    /// They have no byte in common.
    fn apart(&mut self, earlier: (Value, Access, i64), later: (Value, Access, i64)) -> Value {
        let behind = self.behind((earlier.0, earlier.1), (later.0, later.1));
        let behind = self.b.ins().iadd_imm(behind, later.2 - 1);
        self.b.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, behind, earlier.2 + later.2 - 1)
    }
}
