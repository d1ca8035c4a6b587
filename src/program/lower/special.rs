//! Special registers (PTX ISA, chapter 10) by name.

use crate::program::env::Special;
use crate::program::instr::Moving;

/// A special register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::program) enum SpecialReg {
    /// Fixed while a thread runs.
    Fixed(Special),
    /// A vector such as `%tid`; the x component is given.
    Dimensions(Special),
    /// Changes while the kernel runs.
    Moving(Moving),
}

/// The register of a name with its percent sign.
pub(in crate::program) fn special(name: &str) -> Option<SpecialReg> {
    use SpecialReg::{Dimensions, Fixed, Moving as Moves};
    let name = name.strip_prefix('%')?;
    Some(match name {
        "tid" => Dimensions(Special::Tid(0)),
        "ntid" => Dimensions(Special::Ntid(0)),
        "ctaid" => Dimensions(Special::Ctaid(0)),
        "nctaid" => Dimensions(Special::Nctaid(0)),
        "clusterid" => Dimensions(Special::ClusterId(0)),
        "nclusterid" => Dimensions(Special::NclusterId(0)),
        "cluster_ctaid" => Dimensions(Special::ClusterCtaid(0)),
        "cluster_nctaid" => Dimensions(Special::ClusterNctaid(0)),
        "laneid" => Fixed(Special::LaneId),
        "warpid" => Fixed(Special::WarpId),
        "nwarpid" => Fixed(Special::NwarpId),
        "smid" => Fixed(Special::SmId),
        "nsmid" => Fixed(Special::NsmId),
        "gridid" => Fixed(Special::GridId),
        "lanemask_eq" => Fixed(Special::LanemaskEq),
        "lanemask_le" => Fixed(Special::LanemaskLe),
        "lanemask_lt" => Fixed(Special::LanemaskLt),
        "lanemask_ge" => Fixed(Special::LanemaskGe),
        "lanemask_gt" => Fixed(Special::LanemaskGt),
        "dynamic_smem_size" => Fixed(Special::DynamicSmemSize),
        "total_smem_size" => Fixed(Special::TotalSmemSize),
        "aggr_smem_size" => Fixed(Special::AggrSmemSize),
        "cluster_ctarank" => Fixed(Special::ClusterCtaRank),
        "cluster_nctarank" => Fixed(Special::ClusterNctaRank),
        "is_explicit_cluster" => Fixed(Special::IsExplicitCluster),
        // No shared memory is reserved, no device graph runs.
        "current_graph_exec" => Fixed(Special::Zero),
        "clock" => Moves(Moving::Clock),
        "clock_hi" => Moves(Moving::ClockHi),
        "clock64" => Moves(Moving::Clock64),
        "globaltimer" => Moves(Moving::GlobalTimer),
        "globaltimer_lo" => Moves(Moving::GlobalTimerLo),
        "globaltimer_hi" => Moves(Moving::GlobalTimerHi),
        _ => return numbered(name),
    })
}

/// `%envreg3`, `%pm0`, `%pm0_64`, `%reserved_smem_offset_begin`.
fn numbered(name: &str) -> Option<SpecialReg> {
    if name.starts_with("reserved_smem_offset_") {
        return Some(SpecialReg::Fixed(Special::Zero));
    }
    if let Some(digits) = name.strip_prefix("envreg") {
        return digits.parse().ok().filter(|n| *n < 32).map(|n| SpecialReg::Fixed(Special::EnvReg(n)));
    }
    let digits = name.strip_prefix("pm")?;
    let (digits, wide) = digits.strip_suffix("_64").map_or((digits, false), |d| (d, true));
    let number: u8 = digits.parse().ok()?;
    (number < 8).then_some(SpecialReg::Moving(if wide { Moving::Pm64 } else { Moving::Pm }))
}

/// Whether a moving register has 64 bits.
pub(in crate::program) fn is_wide(register: Moving) -> bool {
    matches!(register, Moving::Clock64 | Moving::GlobalTimer | Moving::Pm64)
}

/// A component of a vector: 0 for x to 3, which is zero.
pub(in crate::program) fn component(vector: Special, index: u8) -> Special {
    match vector {
        Special::Tid(_) => Special::Tid(index),
        Special::Ntid(_) => Special::Ntid(index),
        Special::Ctaid(_) => Special::Ctaid(index),
        Special::Nctaid(_) => Special::Nctaid(index),
        Special::ClusterId(_) => Special::ClusterId(index),
        Special::NclusterId(_) => Special::NclusterId(index),
        Special::ClusterCtaid(_) => Special::ClusterCtaid(index),
        Special::ClusterNctaid(_) => Special::ClusterNctaid(index),
        other => other,
    }
}
