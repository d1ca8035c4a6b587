//! Special registers (PTX ISA, chapter 10) by name: what they are, their types, and the versions that have them.

use super::env::Special;
use super::forms::Need;
use super::instr::Moving;
use crate::ptx::Modifier;

/// What a special register reads.
#[derive(Clone, Copy, Debug)]
pub enum SpecialReg {
    /// Fixed while a thread runs.
    Fixed(Special),
    /// A vector such as `%tid`: its components, from 0 for x to 3, which is zero.
    Dimensions(fn(u8) -> Special),
    /// Changes while the kernel runs.
    Moving(Moving),
}

/// A special register.
#[derive(Clone, Copy, Debug)]
pub struct SpecialRegister {
    /// What it reads.
    pub reg: SpecialReg,
    /// Its type; that of its components where it is a vector.
    pub ty: Modifier,
    /// The first PTX version and target.
    pub need: Need,
}

impl SpecialRegister {
    /// Whether it has the components x, y, z and w.
    #[must_use]
    pub fn is_vector(self) -> bool {
        matches!(self.reg, SpecialReg::Dimensions(_))
    }
}

/// The special register of a name such as `%tid`; `None` when there is none.
#[must_use]
pub fn special(name: &str) -> Option<SpecialRegister> {
    use Moving as M;
    use Special as S;
    use SpecialReg::{Dimensions, Fixed, Moving as Moves};
    let name = name.strip_prefix('%')?;
    let (reg, ptx, sm) = match name {
        "tid" => (Dimensions(S::Tid), (1, 0), 0),
        "ntid" => (Dimensions(S::Ntid), (1, 0), 0),
        "ctaid" => (Dimensions(S::Ctaid), (1, 0), 0),
        "nctaid" => (Dimensions(S::Nctaid), (1, 0), 0),
        "clusterid" => (Dimensions(S::ClusterId), (7, 8), 90),
        "nclusterid" => (Dimensions(S::NclusterId), (7, 8), 90),
        "cluster_ctaid" => (Dimensions(S::ClusterCtaid), (7, 8), 90),
        "cluster_nctaid" => (Dimensions(S::ClusterNctaid), (7, 8), 90),
        "laneid" => (Fixed(S::LaneId), (1, 0), 0),
        "warpid" => (Fixed(S::WarpId), (1, 3), 0),
        "nwarpid" => (Fixed(S::NwarpId), (2, 0), 20),
        "smid" => (Fixed(S::SmId), (1, 0), 0),
        "nsmid" => (Fixed(S::NsmId), (2, 0), 20),
        "gridid" => (Fixed(S::GridId), (1, 0), 0),
        "lanemask_eq" => (Fixed(S::LanemaskEq), (2, 0), 20),
        "lanemask_le" => (Fixed(S::LanemaskLe), (2, 0), 20),
        "lanemask_lt" => (Fixed(S::LanemaskLt), (2, 0), 20),
        "lanemask_ge" => (Fixed(S::LanemaskGe), (2, 0), 20),
        "lanemask_gt" => (Fixed(S::LanemaskGt), (2, 0), 20),
        "dynamic_smem_size" => (Fixed(S::DynamicSmemSize), (4, 1), 20),
        "total_smem_size" => (Fixed(S::TotalSmemSize), (4, 1), 20),
        "aggr_smem_size" => (Fixed(S::AggrSmemSize), (8, 1), 90),
        "cluster_ctarank" => (Fixed(S::ClusterCtaRank), (7, 8), 90),
        "cluster_nctarank" => (Fixed(S::ClusterNctaRank), (7, 8), 90),
        "is_explicit_cluster" => (Fixed(S::IsExplicitCluster), (7, 8), 90),
        // No shared memory is reserved, no device graph runs.
        "current_graph_exec" => (Fixed(S::Zero), (8, 0), 50),
        "clock" => (Moves(M::Clock), (1, 0), 0),
        "clock_hi" => (Moves(M::ClockHi), (5, 0), 20),
        "clock64" => (Moves(M::Clock64), (2, 0), 20),
        "globaltimer" => (Moves(M::GlobalTimer), (3, 1), 30),
        "globaltimer_lo" => (Moves(M::GlobalTimerLo), (3, 1), 30),
        "globaltimer_hi" => (Moves(M::GlobalTimerHi), (3, 1), 30),
        "reserved_smem_offset_begin" | "reserved_smem_offset_end" | "reserved_smem_offset_cap" => {
            (Fixed(S::Zero), (7, 6), 80)
        }
        _ => numbered(name)?,
    };
    let ty = match reg {
        Fixed(S::IsExplicitCluster) => Modifier::PRED,
        Fixed(S::GridId) => Modifier::U64,
        Moves(register) if is_wide(register) => Modifier::U64,
        _ if name == "current_graph_exec" => Modifier::U64,
        _ => Modifier::U32,
    };
    Some(SpecialRegister { reg, ty, need: Need::new(ptx, sm) })
}

/// `%envreg0` … `%envreg31`, `%pm0` … `%pm7` and the like.
fn numbered(name: &str) -> Option<(SpecialReg, (u16, u16), u16)> {
    let at = name.find(|c: char| c.is_ascii_digit())?;
    let (prefix, number) = name.split_at(at);
    let (digits, wide) = number.strip_suffix("_64").map_or((number, false), |digits| (digits, true));
    let number: u8 = digits.parse().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))?;
    Some(match (prefix, number, wide) {
        ("envreg", ..32, false) => (SpecialReg::Fixed(Special::EnvReg(number)), (2, 1), 0),
        ("pm", ..8, false) => (SpecialReg::Moving(Moving::Pm), (1, 3), 0),
        ("pm", ..8, true) => (SpecialReg::Moving(Moving::Pm64), (4, 0), 50),
        ("reserved_smem_offset_", ..2, false) => (SpecialReg::Fixed(Special::Zero), (7, 6), 80),
        _ => return None,
    })
}

/// Whether a moving register has 64 bits.
pub(super) fn is_wide(register: Moving) -> bool {
    matches!(register, Moving::Clock64 | Moving::GlobalTimer | Moving::Pm64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_exact() {
        assert!(special("%tid").is_some_and(|s| s.is_vector()));
        assert!(special("%envreg31").is_some());
        for bad in ["%envreg32", "%envreg", "%tidx", "tid", "%pm8"] {
            assert!(special(bad).is_none(), "{bad}");
        }
    }
}
