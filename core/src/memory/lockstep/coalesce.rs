//! Coalescing (2.1, 4.3): the accesses of an instruction of a wavefront to a line are one request.

/// The lanes of an instruction that touch each line, in the order of the first of them.
pub type LineMasks = Vec<(u64, u32)>;

/// The requests of an instruction, from the line that each active lane touches: one for each line. Rule: lsc.coalesce
#[must_use]
pub fn coalesce(lanes: impl IntoIterator<Item = (u8, u64)>) -> LineMasks {
    let mut requests = LineMasks::new();
    for (lane, line) in lanes {
        let bit = 1_u32.checked_shl(u32::from(lane)).unwrap_or(0);
        match requests.iter_mut().find(|(other, _)| *other == line) {
            Some((_, mask)) => *mask |= bit,
            None => requests.push((line, bit)),
        }
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_on_a_line_are_one_request() {
        assert_eq!(coalesce([(0, 7), (1, 3), (4, 7)]), [(7, 0b1_0001), (3, 0b10)]);
        assert_eq!(coalesce([]), []);
    }
}
