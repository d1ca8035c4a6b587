//! Exchanges between the lanes of a warp (PTX ISA: shfl, vote, match, redux, elect, activemask; report, 5.4.2 for votes).
//!
//! `lanes` take part; a lane outside reads as absent. Knows nothing of who waits for whom.

use crate::alu::float;
use crate::base::mutant::{Mutant, on};
use crate::base::{Frame, LANES, LaneMask, lanes_of, put_mask};
use crate::program::instr::{ExchangeKind, Instr, NO_SLOT, Redux, Slot};

/// Executes an exchange for the lanes that take part, of a warp of `size` lanes.
pub(in crate::machine) fn run(kind: ExchangeKind, i: &Instr, lanes: LaneMask, size: u32, regs: &mut Frame) {
    let second = Slot((i.imm >> 16) as u16);
    let write = |regs: &mut Frame, values: [u32; LANES]| {
        if i.d != NO_SLOT {
            lanes_of(lanes).for_each(|l| regs.w[i.d.index()].0[l] = values[l]);
        }
    };
    let predicate = |regs: &mut Frame, slot: Slot, value: LaneMask| {
        if slot != NO_SLOT {
            put_mask(&mut regs.p[slot.index()], value, lanes);
        }
    };
    let all = |yes: bool| u32::from(yes).wrapping_neg();
    match kind {
        ExchangeKind::ShflUp | ExchangeKind::ShflDown | ExchangeKind::ShflBfly | ExchangeKind::ShflIdx => {
            let (values, valid) = shuffle(kind, i, lanes, size, regs);
            write(regs, values);
            predicate(regs, second, valid);
        }
        ExchangeKind::VoteAll | ExchangeKind::VoteAny | ExchangeKind::VoteUni => {
            let votes = regs.p[i.a.index()] & lanes;
            let result = match kind {
                ExchangeKind::VoteAll => votes == lanes,
                ExchangeKind::VoteAny => votes != 0,
                _ => votes == lanes || votes == 0,
            };
            predicate(regs, i.d, all(result));
        }
        ExchangeKind::VoteBallot => {
            let votes = regs.p[i.a.index()] & if on(Mutant::InactiveVotes) { !0 } else { lanes };
            write(regs, [votes; LANES]);
        }
        ExchangeKind::MatchAny32 | ExchangeKind::MatchAny64 => {
            let key = keys(kind == ExchangeKind::MatchAny64, i.a, regs);
            let same = |l: usize| lanes_of(lanes).filter(|&k| key[k] == key[l]).fold(0, |m, k| m | 1 << k);
            write(regs, std::array::from_fn(same));
        }
        ExchangeKind::MatchAll32 | ExchangeKind::MatchAll64 => {
            let key = keys(kind == ExchangeKind::MatchAll64, i.a, regs);
            let first = key[lanes_of(lanes).next().unwrap_or(0)];
            let same = lanes_of(lanes).all(|l| key[l] == first);
            write(regs, [if same { lanes } else { 0 }; LANES]);
            predicate(regs, second, all(same));
        }
        ExchangeKind::Redux(op) => {
            let values = &regs.w[i.a.index()].0;
            let result = lanes_of(lanes).map(|l| values[l]).reduce(|a, b| reduce(op, a, b)).unwrap_or(0);
            let result = if let Redux::MinF { abs: true, .. } | Redux::MaxF { abs: true, .. } = op {
                float::abs_f32(result)
            } else {
                result
            };
            write(regs, [result; LANES]);
        }
        ExchangeKind::Elect => {
            // Which lane is elected is ours to choose: the lowest.
            let lead = lanes & lanes.wrapping_neg();
            write(regs, [lead.trailing_zeros(); LANES]);
            predicate(regs, second, lead);
        }
        ExchangeKind::ActiveMask => write(regs, [lanes; LANES]),
    }
}

fn keys(wide: bool, slot: Slot, regs: &Frame) -> [u64; LANES] {
    if wide { regs.q[slot.index()].0 } else { regs.w[slot.index()].0.map(u64::from) }
}

fn reduce(op: Redux, a: u32, b: u32) -> u32 {
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    match op {
        Redux::Add => a.wrapping_add(b),
        Redux::MinU => a.min(b),
        Redux::MaxU => a.max(b),
        Redux::MinS => sa.min(sb).cast_unsigned(),
        Redux::MaxS => sa.max(sb).cast_unsigned(),
        Redux::And => a & b,
        Redux::Or => a | b,
        Redux::Xor => a ^ b,
        Redux::MinF { abs, nan } | Redux::MaxF { abs, nan } => {
            let (x, y) = if abs { (float::abs_f32(a), float::abs_f32(b)) } else { (a, b) };
            let is_nan = |v: u32| f32::from_bits(v).is_nan();
            if nan && (is_nan(x) || is_nan(y)) {
                0x7fff_ffff
            } else if matches!(op, Redux::MinF { .. }) {
                float::min_f32(x, y)
            } else {
                float::max_f32(x, y)
            }
        }
    }
}

/// `shfl`: the source lane is computed within a segment of the warp (PTX ISA, shfl.sync, the semantics' pseudocode).
/// A source outside the segment gives the lane's own value and a false predicate; a source that takes no part gives the
/// own value, too, where PTX leaves it open (D-shuffle). Lanes that a smaller warp does not have are outside of every segment.
fn shuffle(kind: ExchangeKind, i: &Instr, lanes: LaneMask, size: u32, regs: &Frame) -> ([u32; LANES], LaneMask) {
    let [a, b, c] = [i.a, i.b, i.c].map(|slot| &regs.w[slot.index()].0);
    if (lanes, size) == (!0, 32) && [b, c].iter().all(|x| x.iter().all(|v| *v == x[0])) {
        return by_one(kind, a, b[0], c[0]);
    }
    let Sources { from, inside, absent } = shuffle_sources(kind, i, lanes, size, regs);
    (std::array::from_fn(|l| a[if absent >> l & 1 == 1 { l } else { from[l] % LANES }]), inside)
}

/// The same of all lanes of a whole warp, by one distance in segments of one width.
fn by_one(kind: ExchangeKind, a: &[u32; LANES], by: u32, of: u32) -> ([u32; LANES], LaneMask) {
    let (mut from, mut inside) = ([0; LANES], [0; LANES]);
    for (lane, (from, inside)) in (0..).zip(from.iter_mut().zip(&mut inside)) {
        let (to, is) = source(kind, lane, (by, of), LANES as u32);
        (*from, *inside) = (to, u32::from(is) << lane);
    }
    (from.map(|from| a[from as usize % LANES]), inside.into_iter().fold(0, |all, is| all | is))
}

/// The lane that a lane of a warp of `size` lanes reads, and whether that is inside of its segment: else it reads itself.
#[inline(always)]
fn source(kind: ExchangeKind, lane: u32, (by, of): (u32, u32), size: u32) -> (u32, bool) {
    let (by, clamp, segment) = (by & 0x1f, of & 0x1f, of >> 8 & 0x1f);
    let (min, max) = (lane & segment, (lane & segment) | (clamp & !segment));
    let last = max.min(size.saturating_sub(1));
    let (from, inside) = match kind {
        // In `up` the clamp is a minimum, and before the first lane the distance is negative.
        ExchangeKind::ShflUp => (lane.wrapping_sub(by), lane.wrapping_sub(by).cast_signed() >= max.cast_signed()),
        ExchangeKind::ShflDown => (lane + by, lane + by <= last),
        ExchangeKind::ShflBfly => (lane ^ by, lane ^ by <= last),
        _ => {
            let from = min | (by & !segment & 0x1f);
            (from, from <= last)
        }
    };
    (if inside { from & 31 } else { lane }, inside)
}

/// Whom the lanes of a `shfl` read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sources {
    /// The lane that each lane reads: itself where the source is outside of its segment.
    pub from: [usize; LANES],
    /// The lanes whose source lies inside their segment.
    pub inside: LaneMask,
    /// Those of them whose source takes no part: what they get is undefined, and their own value here (D-shuffle).
    pub absent: LaneMask,
}

/// Whom the `lanes` that execute a `shfl` read, in a warp of `size` lanes. Lanes that take no part read themselves.
#[must_use]
pub fn shuffle_sources(kind: ExchangeKind, i: &Instr, lanes: LaneMask, size: u32, regs: &Frame) -> Sources {
    let (b, c) = (&regs.w[i.b.index()].0, &regs.w[i.c.index()].0);
    let mut all = Sources { from: std::array::from_fn(|l| l), inside: 0, absent: 0 };
    for l in lanes_of(lanes) {
        let (from, inside) = source(kind, l as u32, (b[l], c[l]), size);
        let takes_part = lanes >> from & 1 == 1;
        all.from[l] = from as usize;
        all.inside |= u32::from(inside) << l;
        all.absent |= u32::from(!takes_part) << l;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Lanes32;
    use crate::program::instr::Op;

    /// An independent definition of `shfl` for whole segments: lanes in groups of `width`.
    fn by_hand(kind: ExchangeKind, by: usize, width: usize, l: usize) -> (usize, bool) {
        let base = l / width * width;
        let to = match kind {
            ExchangeKind::ShflUp => l.checked_sub(by).filter(|t| *t >= base),
            ExchangeKind::ShflDown => Some(l + by).filter(|t| *t < base + width),
            ExchangeKind::ShflBfly => Some(l ^ by).filter(|t| *t < base + width),
            _ => Some(base + by % width),
        };
        (to.unwrap_or(l), to.is_some())
    }

    #[test]
    fn shuffles_of_every_width_and_distance() {
        let kinds = [ExchangeKind::ShflUp, ExchangeKind::ShflDown, ExchangeKind::ShflBfly, ExchangeKind::ShflIdx];
        for kind in kinds {
            for width in [1, 2, 4, 8, 16, 32] {
                for by in 0..32 {
                    let mut regs = Frame::default();
                    regs.grow(8, 0, 1);
                    regs.w[2] = Lanes32(std::array::from_fn(|l| 100 + l as u32));
                    regs.w[3] = Lanes32([by as u32; LANES]);
                    // CUDA's headers: the clamp is 0 for up and 31 otherwise, the segment mask is 32 - width.
                    let clamp = if kind == ExchangeKind::ShflUp { 0 } else { 31 };
                    regs.w[4] = Lanes32([(32 - width as u32) << 8 | clamp; LANES]);
                    let mut i = Instr::new(Op::Exchange);
                    (i.d, i.a, i.b, i.c) = (Slot(5), Slot(2), Slot(3), Slot(4));
                    run(kind, &i, !0, 32, &mut regs);
                    for l in 0..LANES {
                        let (from, valid) = by_hand(kind, by, width, l);
                        assert_eq!(regs.w[5].0[l], 100 + from as u32, "{kind:?} by {by} width {width} lane {l}");
                        assert_eq!(regs.p[0] >> l & 1 == 1, valid, "{kind:?} by {by} width {width} lane {l}");
                    }
                }
            }
        }
    }
}
