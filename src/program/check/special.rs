//! Special registers (PTX ISA, chapter 10): their types and the versions that have them.

use crate::ptx::Modifier;

/// A special register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Special {
    /// Its type.
    pub ty: Modifier,
    /// Whether it has the components x, y, z and w.
    pub vector: bool,
    /// First PTX version.
    pub ptx: (u16, u16),
    /// First target.
    pub sm: u16,
}

/// The special register of a name such as `%tid`; `None` when there is none.
#[must_use]
pub fn special(name: &str) -> Option<Special> {
    let name = name.strip_prefix('%')?;
    let of = |ty, vector, ptx, sm| Some(Special { ty, vector, ptx, sm });
    let (u32_, u64_) = (Modifier::U32, Modifier::U64);
    match name {
        "tid" | "ntid" | "ctaid" | "nctaid" => of(u32_, true, (1, 0), 0),
        "laneid" | "smid" | "clock" => of(u32_, false, (1, 0), 0),
        "warpid" => of(u32_, false, (1, 3), 0),
        "nwarpid" | "nsmid" => of(u32_, false, (2, 0), 20),
        "gridid" => of(u64_, false, (1, 0), 0),
        "lanemask_eq" | "lanemask_le" | "lanemask_lt" | "lanemask_ge" | "lanemask_gt" => of(u32_, false, (2, 0), 20),
        "clock_hi" => of(u32_, false, (5, 0), 20),
        "clock64" => of(u64_, false, (2, 0), 20),
        "globaltimer" => of(u64_, false, (3, 1), 30),
        "globaltimer_lo" | "globaltimer_hi" => of(u32_, false, (3, 1), 30),
        "dynamic_smem_size" | "total_smem_size" => of(u32_, false, (4, 1), 20),
        "aggr_smem_size" => of(u32_, false, (8, 1), 90),
        "clusterid" | "nclusterid" | "cluster_ctaid" | "cluster_nctaid" => of(u32_, true, (7, 8), 90),
        "cluster_ctarank" | "cluster_nctarank" => of(u32_, false, (7, 8), 90),
        "is_explicit_cluster" => of(Modifier::PRED, false, (7, 8), 90),
        "current_graph_exec" => of(u64_, false, (8, 0), 50),
        "reserved_smem_offset_begin" | "reserved_smem_offset_end" | "reserved_smem_offset_cap" => {
            of(u32_, false, (7, 6), 80)
        }
        _ => numbered(name),
    }
}

/// `%envreg0` … `%envreg31`, `%pm0` … `%pm7` and the like.
fn numbered(name: &str) -> Option<Special> {
    let (name, wide) = name.strip_suffix("_64").map_or((name, false), |n| (n, true));
    let ty = if wide { Modifier::U64 } else { Modifier::U32 };
    let of = |vector, ptx, sm| Some(Special { ty, vector, ptx, sm });
    let number = |prefix: &str| -> Option<u32> {
        let digits = name.strip_prefix(prefix)?;
        (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
    };
    if number("envreg").is_some_and(|n| n < 32) && !wide {
        of(false, (2, 1), 0)
    } else if number("pm").is_some_and(|n| n < 8) {
        of(false, if wide { (4, 0) } else { (1, 3) }, if wide { 50 } else { 0 })
    } else if number("reserved_smem_offset_").is_some_and(|n| n < 2) && !wide {
        of(false, (7, 6), 80)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_exact() {
        assert!(special("%tid").is_some_and(|s| s.vector));
        assert!(special("%envreg31").is_some());
        for bad in ["%envreg32", "%envreg", "%tidx", "tid", "%pm8"] {
            assert!(special(bad).is_none(), "{bad}");
        }
    }
}
