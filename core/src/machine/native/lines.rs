//! Registers that native code holds as numbers of lines: from the frame and back.

use super::plan::{Held, Plan};
use crate::base::mutant::{Mutant, on};
use crate::base::{Frame, LaneMask};
use crate::program::instr::Slot;
use crate::program::ops::Class;

/// The numbers of a warp's lines: of the lanes that ran last, and of others that have parted from them natively. The frame holds the
/// rest.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// The instruction, from the kernel's start, before which the lanes are that ran last, and these. `None`: they run, or all is in
    /// the frame.
    pub(super) at: Option<(u32, LaneMask)>,
    pub(super) values: Vec<u64>,
    /// Before which instruction other lanes are. No lane is in two of them.
    parked: Vec<(u32, LaneMask)>,
    /// The values of these, one after the other.
    copies: Vec<u64>,
    /// Room for those of lanes that are looked at meanwhile.
    spare: Vec<u64>,
}

/// Lanes of a half.
const HALF: usize = 16;

/// Room makes no difference.
impl PartialEq for Lines {
    fn eq(&self, other: &Self) -> bool {
        let Self { at, values, parked, copies, spare: _ } = self;
        (at, values, parked, copies) == (&other.at, &other.values, &other.parked, &other.copies)
    }
}

impl Eq for Lines {}

impl Lines {
    /// Makes `values` those of lanes before an instruction, which run then. False: the values of some register do not lie on the line
    /// that they should, which is so where an assumption about its address did not hold; the frame has everything then.
    #[inline(always)]
    pub(super) fn ready(&mut self, plan: &Plan, k: u32, mask: LaneMask, frame: &mut Frame) -> bool {
        if self.at == Some((k, mask)) {
            self.at = None;
            return true;
        }
        self.park();
        self.gather(plan, k, mask, frame)
    }

    /// Takes the values of lanes that wait before an instruction, while others run. False: see [`Lines::ready`].
    pub(super) fn aside(&mut self, plan: &Plan, k: u32, mask: LaneMask, frame: &mut Frame, to: &mut [u64]) -> bool {
        std::mem::swap(&mut self.values, &mut self.spare);
        let found = self.gather(plan, k, mask, frame);
        if found {
            to.copy_from_slice(&self.values);
        }
        std::mem::swap(&mut self.values, &mut self.spare);
        found
    }

    /// Makes `values` those of lanes that are parked, or that the frame has.
    fn gather(&mut self, plan: &Plan, k: u32, mask: LaneMask, frame: &mut Frame) -> bool {
        self.values.resize(plan.scalars, 0);
        if !self.parked.is_empty() && self.resumed(plan, k, mask, frame) {
            return true;
        }
        self.give(plan, frame);
        let alike = |slot: &Slot| [0, mask].contains(&(frame.p[slot.index()] & mask)) || on(Mutant::NativeAlike);
        (!plan.verify || plan.ones[k as usize].iter().all(alike))
            && take(&plan.held[k as usize], frame, mask, &mut self.values, plan.verify)
    }

    /// The lanes that ran last wait, and others may go on.
    fn park(&mut self) {
        let Some((at, mask)) = self.at.take() else { return };
        self.parked.push((at, mask));
        self.copies.extend_from_slice(&self.values);
    }

    /// Lanes wait before an instruction, with the numbers that they have.
    pub(super) fn wait(&mut self, at: u32, mask: LaneMask, numbers: &[u64]) {
        self.parked.push((at, mask));
        self.copies.extend_from_slice(numbers);
    }

    /// Takes the values of lanes from those that are parked, if they are those of all of these lanes. What is no line any more where
    /// they go on, the frame has then.
    fn resumed(&mut self, plan: &Plan, k: u32, mask: LaneMask, frame: &mut Frame) -> bool {
        let Some((needed, vectors)) = plan.places_before(k) else { return false };
        let size = plan.scalars;
        let (mut first, mut found) = (None, 0);
        for (index, (at, lanes)) in self.parked.iter().enumerate().filter(|(_, (_, lanes))| lanes & mask != 0) {
            let own = &self.copies[index * size..][..size];
            match first {
                _ if plan.places_before(*at).is_none_or(|(held, _)| needed & !held != 0) => return false,
                None => first = Some(own),
                // Lanes that meet have their own numbers of one line.
                Some(first) if !alike(needed, first, own) => return false,
                Some(_) => {}
            }
            found |= lanes;
        }
        let Some(first) = first.filter(|_| mask & !found == 0) else { return false };
        self.values.copy_from_slice(first);
        for index in (0..self.parked.len()).rev() {
            let (at, lanes) = self.parked[index];
            if lanes & mask == 0 {
                continue;
            }
            let ends = plan.places_before(at).map_or(0, |(held, _)| held & vectors);
            if ends != 0 {
                let own = &self.copies[index * size..][..size];
                let held = plan.held[at as usize].iter().filter(|h| ends >> h.at & 1 == 1);
                held.for_each(|h| put(h, frame, lanes & mask, own));
            }
            self.parked[index].1 &= !mask;
            if self.parked[index].1 == 0 {
                self.parked.swap_remove(index);
                let last = self.parked.len() * size;
                if index * size < last {
                    self.copies.copy_within(last..last + size, index * size);
                }
                self.copies.truncate(last);
            }
        }
        true
    }

    /// Writes all that is held to the frame.
    pub(super) fn give(&mut self, plan: &Plan, frame: &mut Frame) {
        self.park();
        let values = self.copies.chunks_exact(plan.scalars.max(1));
        for ((at, mask), values) in self.parked.iter().zip(values) {
            for held in plan.held.get(*at as usize).into_iter().flatten() {
                put(held, frame, *mask, values);
            }
        }
        self.parked.clear();
        self.copies.clear();
    }
}

/// Whether values are the same at some places.
fn alike(places: u128, one: &[u64], other: &[u64]) -> bool {
    let mut rest = places;
    while rest != 0 {
        let k = rest.trailing_zeros() as usize;
        if one.get(k) != other.get(k) {
            return false;
        }
        rest &= rest - 1;
    }
    true
}

/// Takes the numbers of lines from the frame. False: the values of some register do not lie on the line that they should.
fn take(held: &[Held], frame: &Frame, mask: LaneMask, values: &mut [u64], check: bool) -> bool {
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

/// Writes the numbers of a line to the frame, for the lanes that have them.
fn put(h: &Held, frame: &mut Frame, mask: LaneMask, values: &[u64]) {
    let (at, stride) = (h.at as usize, h.line.stride);
    let second = if h.line.halves { values[at + 1] } else { values[at].wrapping_add(stride.wrapping_mul(HALF as u64)) };
    for (g, first) in [values[at], second].into_iter().enumerate() {
        let lanes = mask >> (g * HALF) & 0xffff;
        match h.class {
            Class::Q => put_wide(&mut frame.q[h.slot.index()].0.as_chunks_mut().0[g], lanes, first, stride),
            _ => put_words(&mut frame.w[h.slot.index()].0.as_chunks_mut().0[g], lanes, first as u32, stride as u32),
        }
    }
}

/// Writes a line to a half of a row, some lanes at a time: that becomes vector instructions.
fn put_words(half: &mut [u32; HALF], lanes: LaneMask, first: u32, stride: u32) {
    let mut values: [u32; 4] = std::array::from_fn(|lane| first.wrapping_add(stride.wrapping_mul(lane as u32)));
    let step = stride.wrapping_mul(4);
    for (g, part) in half.as_chunks_mut().0.iter_mut().enumerate() {
        if lanes == 0xffff {
            *part = values;
        } else {
            for (lane, x) in part.iter_mut().enumerate() {
                let own = (lanes >> (4 * g + lane) & 1).wrapping_neg();
                *x = values[lane] & own | *x & !own;
            }
        }
        values = values.map(|x| x.wrapping_add(step));
    }
}

/// The same for registers twice as wide.
fn put_wide(half: &mut [u64; HALF], lanes: LaneMask, first: u64, stride: u64) {
    let mut values = [first, first.wrapping_add(stride)];
    let step = stride.wrapping_mul(2);
    for (g, part) in half.as_chunks_mut().0.iter_mut().enumerate() {
        if lanes == 0xffff {
            *part = values;
        } else {
            for (lane, x) in part.iter_mut().enumerate() {
                let own = u64::from(lanes >> (2 * g + lane) & 1).wrapping_neg();
                *x = values[lane] & own | *x & !own;
            }
        }
        values = values.map(|x| x.wrapping_add(step));
    }
}
