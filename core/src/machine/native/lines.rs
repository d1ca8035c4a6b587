//! Registers that native code holds as numbers of lines: from the frame and back.

use super::plan::Held;
use crate::base::{Frame, LaneMask};
use crate::program::ops::Class;

/// The numbers of a warp's lines, and for which instruction they hold; the frame holds the rest.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lines {
    /// The instruction, from the kernel's start, before which the warp is, and its lanes. `None`: all is in the frame.
    pub(super) at: Option<(u32, LaneMask)>,
    pub(super) values: Vec<u64>,
}

/// Lanes of a half.
const HALF: usize = 16;

/// Takes the numbers of lines from the frame. False: the values of some register do not lie on the line that they should, which
/// is so where an assumption about its address did not hold.
pub(super) fn take(held: &[Held], frame: &Frame, mask: LaneMask, values: &mut [u64], check: bool) -> bool {
    let lead = [mask.trailing_zeros() as usize % 32, (mask >> HALF).trailing_zeros().min(15) as usize + HALF];
    let low = (mask & 0xffff).trailing_zeros().min(15) as usize;
    for h in held {
        let at = h.at as usize;
        let leads = if h.line.halves { [low, lead[1]] } else { [lead[0]; 2] };
        for (half, lane) in leads.into_iter().enumerate().take(1 + usize::from(h.line.halves)) {
            let behind = if h.line.halves { lane % HALF } else { lane } as u64;
            let back = h.line.stride.wrapping_mul(behind);
            values[at + half] = match h.class {
                Class::Q => frame.q[h.slot.index()].0[lane].wrapping_sub(back),
                _ => u64::from(frame.w[h.slot.index()].0[lane].wrapping_sub(back as u32)),
            };
        }
        if check && !lies(h, frame, mask, values) {
            return false;
        }
    }
    true
}

/// Whether the values of the lanes lie on the line.
fn lies(h: &Held, frame: &Frame, mask: LaneMask, values: &[u64]) -> bool {
    (0..32).filter(|lane| mask >> lane & 1 == 1).all(|lane| {
        let value = on_line(h, values, lane);
        match h.class {
            Class::Q => frame.q[h.slot.index()].0[lane] == value,
            _ => frame.w[h.slot.index()].0[lane] == value as u32,
        }
    }) && starts(h, mask, values)
}

/// Whether what is known of the low bits of the first lanes' values is so.
fn starts(h: &Held, mask: LaneMask, values: &[u64]) -> bool {
    let (at, known) = (h.at as usize, h.line.base.known);
    let low = if known >= 64 { u64::MAX } else { (1 << known) - 1 };
    let is = |half: usize| values[at + half] & low == h.line.base.low;
    if h.line.halves { (mask & 0xffff == 0 || is(0)) && (mask >> HALF == 0 || is(1)) } else { is(0) }
}

/// The value of a lane.
fn on_line(h: &Held, values: &[u64], lane: usize) -> u64 {
    let at = h.at as usize;
    if h.line.halves {
        values[at + lane / HALF].wrapping_add(h.line.stride.wrapping_mul((lane % HALF) as u64))
    } else {
        values[at].wrapping_add(h.line.stride.wrapping_mul(lane as u64))
    }
}

/// Writes the numbers of lines to the frame, for the lanes that have them.
pub(super) fn give(held: &[Held], frame: &mut Frame, mask: LaneMask, values: &[u64]) {
    for h in held {
        let at = h.at as usize;
        let bases = [values[at], if h.line.halves { values[at + 1] } else { values[at] }];
        let from = [0, if h.line.halves { 0 } else { HALF as u64 }];
        match h.class {
            Class::Q => {
                let (halves, _) = frame.q[h.slot.index()].0.as_chunks_mut::<HALF>();
                for (g, slot) in halves.iter_mut().enumerate() {
                    let first = bases[g].wrapping_add(h.line.stride.wrapping_mul(from[g]));
                    let lanes = mask >> (g * HALF) & 0xffff;
                    let mut value = first;
                    for (lane, x) in slot.iter_mut().enumerate() {
                        *x = if lanes >> lane & 1 == 1 { value } else { *x };
                        value = value.wrapping_add(h.line.stride);
                    }
                }
            }
            _ => {
                let (halves, _) = frame.w[h.slot.index()].0.as_chunks_mut::<HALF>();
                let stride = h.line.stride as u32;
                for (g, slot) in halves.iter_mut().enumerate() {
                    let first = (bases[g] as u32).wrapping_add(stride.wrapping_mul(from[g] as u32));
                    let lanes = mask >> (g * HALF) & 0xffff;
                    if lanes == 0xffff {
                        for (lane, x) in slot.iter_mut().enumerate() {
                            *x = first.wrapping_add(stride.wrapping_mul(lane as u32));
                        }
                        continue;
                    }
                    for (lane, x) in slot.iter_mut().enumerate() {
                        let own = (lanes >> lane & 1).wrapping_neg();
                        *x = first.wrapping_add(stride.wrapping_mul(lane as u32)) & own | *x & !own;
                    }
                }
            }
        }
    }
}
