//! What instructions need that warpstep does not have.

/// Instructions by their first words, the longer ones first, and what they need.
const GAPS: &[(&str, &str)] = &[
    ("wgmma", "matrix products of four warps that go on beside them (sm_90a)"),
    ("tcgen05", "tensor memory and its matrix products (sm_100a)"),
    ("mma", "matrix products of sm_100 and later"),
    ("ldmatrix", "matrices of sm_100 and later"),
    ("stmatrix", "matrices of sm_100 and later"),
    ("multimem", "multicast objects, which a host makes of the memory of several GPUs"),
    ("tensormap", "tensor maps"),
    ("cp.async.bulk.tensor", "tensor maps"),
    ("cp.async.bulk.prefetch.tensor", "tensor maps"),
    ("cp.reduce.async.bulk.tensor", "tensor maps"),
    ("cp.async.bulk", "copies of some bytes of each 16 (sm_100)"),
    ("st.async", "stores to other devices (sm_100)"),
    ("clusterlaunchcontrol", "clusters that take over the work of others (sm_100)"),
    ("tex", "textures of depth, of several samples, or levels that .grad blends"),
    ("tld4", "textures of depth"),
    ("txq", "textures of several samples"),
];

/// What an instruction needs, where that is known: the thing, to stand after "needs".
pub fn needs(what: &str) -> Option<&'static str> {
    let of = |first: &str| what.strip_prefix(first).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    GAPS.iter().find(|(first, _)| of(first)).map(|row| row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_the_longer_ones_win() {
        assert_eq!(needs("cp.async.bulk.tensor.2d.shared::cta.global"), Some("tensor maps"));
        assert_eq!(needs("texture"), None);
        assert_eq!(needs("tld4.r.2d.v4.f32.f32"), Some("textures of depth"));
        for (index, (first, _)) in GAPS.iter().enumerate() {
            assert!(needs(first) == Some(GAPS[index].1), "{first} is hidden by another row");
        }
    }
}
