//! What the result of a data operation is derived from (`spec-notes/bounds.md`, D-provenance).

use super::objects::{Id, LOST, NONE, both};
use crate::program::ops::{AluOp, IntOp};

/// Masks below this leave the low bits of an address: an alignment, no address.
const SMALL: u64 = 4096;

/// What a result is derived from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) enum Rule {
    /// From nothing: it is a number.
    Number,
    /// From so many first sources, where they agree.
    Sources(usize),
    /// The same of two; their difference is a number when both are of one object.
    Difference,
    /// From the third source: the others are factors.
    Addend,
    /// As [`Rule::Sources`] of two; a small mask makes a number.
    Mask,
    /// From the source that a predicate chooses.
    Select,
    /// From the source that is the result.
    Choose,
}

/// The rule of an operation.
pub(in crate::check) fn rule(op: AluOp) -> Rule {
    use IntOp as I;
    let AluOp::Int(op) = op else { return Rule::Number };
    match op {
        I::MovW | I::MovQ | I::TruncQW | I::Hi32 | I::HalfOfQ | I::Lo16 | I::Hi16 | I::Zx16 | I::Sx16W | I::Sx16Q => {
            Rule::Sources(1)
        }
        I::ZextWQ | I::SextWQ | I::Zx16Q | I::Lo16OfQ | I::CvtWW | I::CvtWQ | I::CvtQW | I::CvtQQ => Rule::Sources(1),
        I::Shl32 | I::Shl64 | I::ShrU32 | I::ShrU64 | I::ShrS32 | I::ShrS64 => Rule::Sources(1),
        I::Neg32 | I::Neg64 | I::Not32 | I::Not64 | I::BfeU32 | I::BfeU64 | I::BfeS32 | I::BfeS64 => Rule::Sources(1),
        I::Add32 | I::Add64 | I::AddSatS32 | I::AddCc32 | I::AddCc64 | I::Addc32 | I::Addc64 => Rule::Sources(2),
        I::AddcCc32 | I::AddcCc64 | I::Or32 | I::Or64 | I::Bfi32 | I::Bfi64 => Rule::Sources(2),
        I::Pack16x2 | I::Pack32x2 | I::ShfLClamp | I::ShfLWrap | I::ShfRClamp | I::ShfRWrap => Rule::Sources(2),
        I::Prmt | I::PrmtF4e | I::PrmtB4e | I::PrmtRc8 | I::PrmtEcl | I::PrmtEcr | I::PrmtRc16 => Rule::Sources(2),
        I::Lop3 => Rule::Sources(3),
        I::Pack16x4 => Rule::Sources(4),
        I::Sub32 | I::Sub64 | I::SubSatS32 | I::SubCc32 | I::SubCc64 | I::Subc32 | I::Subc64 | I::SubcCc32 => {
            Rule::Difference
        }
        I::SubcCc64 | I::Xor32 | I::Xor64 => Rule::Difference,
        I::MadLo32 | I::MadLo64 | I::MadWideU16 | I::MadWideS16 | I::MadWideU32 | I::MadWideS32 => Rule::Addend,
        I::MadHiU32 | I::MadHiS32 | I::MadHiU64 | I::MadHiS64 | I::Mad24LoU32 | I::Mad24LoS32 => Rule::Addend,
        I::MadLoCc32 | I::MadLoCc64 | I::MadHiCcU32 | I::MadHiCcS32 | I::MadHiCcU64 | I::MadHiCcS64 => Rule::Addend,
        I::MadcLo32 | I::MadcLo64 | I::MadcHiU32 | I::MadcHiS32 | I::MadcHiU64 | I::MadcHiS64 => Rule::Addend,
        I::MadcLoCc32 | I::MadcLoCc64 | I::MadcHiCcU32 | I::MadcHiCcS32 | I::MadcHiCcU64 | I::MadcHiCcS64 => {
            Rule::Addend
        }
        I::And32 | I::And64 => Rule::Mask,
        I::SelW | I::SelQ => Rule::Select,
        I::MinU32 | I::MinS32 | I::MinU64 | I::MinS64 | I::MaxU32 | I::MaxS32 | I::MaxU64 | I::MaxS64 => Rule::Choose,
        _ => Rule::Number,
    }
}

impl Rule {
    /// Whether the result may be derived from a source.
    pub const fn uses(self, source: usize) -> bool {
        match self {
            Self::Number => false,
            Self::Sources(n) => source < n,
            Self::Difference | Self::Mask | Self::Select | Self::Choose => source < 2,
            Self::Addend => source == 2,
        }
    }

    /// What a result is derived from; `value` gives a source's value, `result` the result's.
    pub fn apply(self, of: [Id; 4], value: impl Fn(usize) -> u64, result: impl Fn() -> u64) -> Id {
        match self {
            Self::Number => NONE,
            Self::Sources(n) => of.iter().take(n).fold(NONE, |all, id| both(all, *id)),
            Self::Difference if of[0] == of[1] && of[0] != LOST => NONE,
            Self::Difference => both(of[0], of[1]),
            Self::Addend => of[2],
            Self::Mask if of[0] == NONE && of[1] == NONE => NONE,
            Self::Mask if (of[0] == NONE && value(0) < SMALL) || (of[1] == NONE && value(1) < SMALL) => NONE,
            Self::Mask => both(of[0], of[1]),
            Self::Select => of[usize::from(value(2) == 0)],
            Self::Choose if of[0] == of[1] => of[0],
            Self::Choose => of[usize::from(result() != value(0))],
        }
    }

    /// Whether what a result is derived from depends on its sources' origins alone, where these are numbers that stand for
    /// the same in every lane.
    pub fn known(self, of: [Id; 4], constant: impl Fn(usize) -> Option<u64>) -> Option<Id> {
        let [a, b, ..] = of;
        match self {
            Self::Mask if a != b => {
                let (mask, pointer) = if a == NONE { (constant(0), b) } else { (constant(1), a) };
                match mask {
                    _ if a != NONE && b != NONE => Some(LOST),
                    Some(mask) if mask < SMALL => Some(NONE),
                    Some(_) => Some(pointer),
                    None => None,
                }
            }
            Self::Select | Self::Choose => (a == b).then_some(a),
            rule => Some(rule.apply(of, |_| 0, || 0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_the_table() {
        let apply =
            |op: IntOp, of: [Id; 4], values: [u64; 3], result| rule(AluOp::Int(op)).apply(of, |k| values[k], || result);
        assert_eq!(apply(IntOp::Add64, [5, 0, 0, 0], [0; 3], 0), 5);
        assert_eq!(apply(IntOp::Add64, [5, 6, 0, 0], [0; 3], 0), LOST);
        assert_eq!(apply(IntOp::Sub64, [5, 5, 0, 0], [0; 3], 0), NONE);
        assert_eq!(apply(IntOp::Sub64, [5, 6, 0, 0], [0; 3], 0), LOST);
        assert_eq!(apply(IntOp::Xor64, [LOST, LOST, 0, 0], [0; 3], 0), LOST);
        assert_eq!(apply(IntOp::MadWideU32, [6, 0, 5, 0], [0; 3], 0), 5);
        assert_eq!(apply(IntOp::MulWideU32, [5, 0, 0, 0], [0; 3], 0), NONE);
        assert_eq!(apply(IntOp::And64, [5, 0, 0, 0], [0, 15, 0], 0), NONE);
        assert_eq!(apply(IntOp::And64, [5, 0, 0, 0], [0, !15, 0], 0), 5);
        assert_eq!(apply(IntOp::SelQ, [5, 6, 0, 0], [0, 0, 1], 0), 5);
        assert_eq!(apply(IntOp::SelQ, [5, 6, 0, 0], [0, 0, 0], 0), 6);
        assert_eq!(apply(IntOp::MinU64, [5, 6, 0, 0], [8, 7, 0], 7), 6);
    }

    #[test]
    fn what_is_known_beforehand_is_what_comes_out() {
        for op in IntOp::ALL {
            let rule = rule(AluOp::Int(*op));
            for of in [[5, 0, 0, 0], [0, 5, 0, 0], [5, 5, 0, 0], [5, 6, 0, 0], [0, 0, 5, 0], [0; 4]] {
                if let Some(known) = rule.known(of, |_| Some(77)) {
                    assert_eq!(rule.apply(of, |_| 77, || 77), known, "{op:?} of {of:?}");
                }
            }
        }
    }
}
