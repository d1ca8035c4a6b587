//! The number of a state in which agents that are alike are not told apart (D-symmetry).
//!
//! Each warp, or each lane, is a number made from its kind and its content, each block from its kind, its own content and the sum of
//! what is in it, and the state from the sum of its blocks: a sum is the same in whatever order its parts are. Who waits at a
//! block's barriers, which it notes by their numbers, follows from those who wait: each notes what it waits for.

use super::Agent;
use super::journal::Journal;
use super::pack::whose;
use super::parts::{Known, mix};
use super::store::{At, Content};
use crate::base::LANES;
use crate::machine::alike::{Alike, Within};
use std::cmp::Ordering;

/// Those who may be exchanged in a state, in an order that does not tell who is who: agents that are the same have their places
/// beside each other.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Roles {
    /// The place of each: warp by warp of each slot, or lane by lane of these.
    pub place: Box<[u16]>,
    /// By place: the first of those that nothing tells apart in this state.
    pub first: Box<[u16]>,
    /// Whether blocks are among those who may be exchanged.
    pub blocks: bool,
    /// Whether it is lanes that have places, not warps.
    pub lanes: bool,
    /// Warps of a slot.
    pub warps: u32,
}

impl Journal {
    /// Who is like whom in the current launch.
    pub fn alike(&self) -> Option<&Alike> {
        if self.parts.is_idle() { None } else { self.parts.of(self.head().launch) }
    }

    /// Warps or lanes of a slot.
    fn per(&self, alike: &Alike) -> usize {
        (self.stride as usize - 1) * if alike.level.within == Within::Threads { LANES } else { 1 }
    }

    /// Brings the numbers up to date.
    fn refresh(&self, alike: &Alike, known: &mut Known) {
        let (launch, slots) = (self.head().launch, (self.places() as usize - 1).div_ceil(self.stride as usize));
        if known.launch != Some(launch) {
            *known = Known { launch: Some(launch), ..Known::default() };
        }
        let per = self.per(alike);
        known.valid.resize(slots, false);
        known.blocks.resize(slots, None);
        known.within.resize(slots * per, 0);
        for slot in (0..slots).filter(|slot| !std::mem::replace(&mut known.valid[*slot], true)) {
            let first = 1 + slot as At * self.stride;
            let within = &mut known.within[slot * per..(slot + 1) * per];
            within.fill(0);
            let content = self.content(first);
            let own = self.parts.blocks.get(&content).filter(|_| content != Content::default());
            known.blocks[slot] = own.map(|own| {
                let block = whose(self.bytes(first)).0;
                self.number_within(alike, (first, block), within);
                let sum = within.iter().fold(mix(*own, 1), |sum, number| sum.wrapping_add(*number));
                let kind = if alike.level.blocks { u64::from(alike.block(block)) } else { 1 << 40 | slot as u64 };
                mix(sum, u128::from(kind) << 32)
            });
        }
    }

    /// The numbers of those within a block whose section stands at `first`, warp by warp or lane by lane.
    fn number_within(&self, alike: &Alike, (first, block): (At, u64), numbers: &mut [u128]) {
        for w in 0..self.stride - 1 {
            let content = self.content(first + 1 + w);
            let kinds = alike.within(block, w as usize);
            let kind = |k: usize| u128::from(kinds.get(k).copied().unwrap_or(u32::MAX - w)) << 64;
            if alike.level.within == Within::Threads {
                let lanes = self.parts.lanes.get(&content);
                let here = &mut numbers[w as usize * LANES..][..LANES];
                for (l, number) in here.iter_mut().enumerate() {
                    let of = lanes.and_then(|lanes| lanes.get(l)).copied().unwrap_or(0);
                    *number = mix(of, kind(l));
                }
            } else {
                let kind = if alike.level.within == Within::Warps { kind(0) } else { u128::from(w) << 96 };
                numbers[w as usize] = mix(self.store.hash(content), kind);
            }
        }
    }

    /// The part of the state's number that its blocks make.
    pub fn number_of_blocks(&self) -> u128 {
        let Some(alike) = self.alike() else { return self.number_of_sections() };
        let known = &mut *self.known.borrow_mut();
        self.refresh(alike, known);
        known.blocks.iter().flatten().fold(0, |sum, number| sum.wrapping_add(*number))
    }

    /// What that part is made from, where who is like whom is not told apart: the numbers of those within each block, in order.
    pub fn whole_of_blocks(&self) -> Vec<u8> {
        let Some(alike) = self.alike() else { return Vec::new() };
        let known = &mut *self.known.borrow_mut();
        self.refresh(alike, known);
        let per = self.per(alike);
        let mut blocks = Vec::new();
        for (slot, number) in known.blocks.iter().enumerate().filter_map(|(slot, number)| Some((slot, (*number)?))) {
            let mut numbers = known.within[slot * per..(slot + 1) * per].to_vec();
            numbers.sort_unstable();
            blocks.push((number, numbers));
        }
        blocks.sort_unstable();
        let all = blocks.into_iter().flat_map(|(number, numbers)| std::iter::once(number).chain(numbers));
        all.flat_map(u128::to_le_bytes).collect()
    }

    /// The roles of a launch in which nobody is like anybody, beside others in which some are.
    fn all_apart(&self) -> Roles {
        let slots = (self.places() - 1).div_ceil(self.stride);
        let place: Box<[u16]> = (0..u16::try_from(slots * (self.stride - 1)).unwrap_or(u16::MAX)).collect();
        Roles { first: place.clone(), place, blocks: false, lanes: false, warps: self.stride - 1 }
    }

    /// Those who may be exchanged in the current state. `None`: nobody in any launch.
    pub fn roles(&self) -> Option<Roles> {
        if self.parts.is_idle() {
            return None;
        }
        let Some(alike) = self.alike() else { return Some(self.all_apart()) };
        let known = &mut *self.known.borrow_mut();
        self.refresh(alike, known);
        let per = self.per(alike);
        let count = u16::try_from(known.within.len()).ok()?;
        let Known { blocks, within, order, .. } = known;
        if order.len() != within.len() {
            *order = (0..count).collect();
        }
        let block = |slot: usize| if alike.level.blocks { blocks[slot].unwrap_or(0) } else { slot as u128 };
        // Blocks that are the same stay apart, one behind the other.
        let compared = |a: u16, b: u16| -> Ordering {
            let (a, b) = (usize::from(a), usize::from(b));
            let (one, other) = (a / per, b / per);
            let slots = if one == other { Ordering::Equal } else { (block(one), one).cmp(&(block(other), other)) };
            slots.then_with(|| (within[a], a).cmp(&(within[b], b)))
        };
        // A stable sort, which finds what is in order already.
        order.sort_by(|a, b| compared(*a, *b));
        let mut place = vec![0; within.len()];
        let mut first: Vec<u16> = Vec::with_capacity(within.len());
        for (at, k) in (0..count).zip(&*order) {
            let k = usize::from(*k);
            place[k] = at;
            let before = at.checked_sub(1).map(|at| usize::from(order[usize::from(at)]));
            let same = before.filter(|b| b / per == k / per && within[*b] == within[k]);
            // The block before is the same one, or not.
            let earlier = usize::from(at).checked_sub(per).map(|at| usize::from(order[at]) / per);
            let twin = earlier.is_some_and(|slot| block(slot) == block(k / per));
            first.push(match same {
                Some(_) => first[usize::from(at) - 1],
                None if twin => first[usize::from(at) - per],
                None => at,
            });
        }
        let lanes = alike.level.within == Within::Threads;
        let (place, first) = (place.into(), first.into());
        Some(Roles { place, first, blocks: alike.level.blocks, lanes, warps: self.stride - 1 })
    }
}

impl Roles {
    /// The place of the warp or the lane that an agent steps.
    #[must_use]
    pub fn of(&self, agent: &Agent) -> Option<u16> {
        let Agent::Flow { slot, warp, flow, .. } = *agent else { return None };
        let warp = (slot * self.warps + warp) as usize;
        let at = if self.lanes { warp * LANES + flow.mask.trailing_zeros() as usize } else { warp };
        self.place.get(at).copied()
    }

    /// Puts agents in the order of their places.
    pub(super) fn arrange(&self, agents: &mut [Agent]) {
        agents.sort_by_cached_key(|agent| self.of(agent));
    }
}
