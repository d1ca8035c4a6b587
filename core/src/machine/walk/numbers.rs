//! The number of a state in which agents that are alike are not told apart (D-symmetry).
//!
//! Each warp, or each lane, is a number made from its kind and its content, each block from its kind, its own content and the sum of
//! what is in it, and the state from the sum of its blocks: a sum is the same in whatever order its parts are. Who waits at a
//! block's barriers, which it notes by their numbers, follows from those who wait: each notes what it waits for.

use super::Agent;
use super::journal::Journal;
use super::pack::whose;
use super::parts::mix;
use super::store::{At, Content};
use crate::base::LANES;
use crate::machine::alike::{Alike, Level, Within};
use rustc_hash::FxHashMap;

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

/// A resident block, or none, in its slot.
struct Slot {
    /// The place of its own section.
    first: At,
    block: u64,
    /// A number for it.
    of: u128,
}

impl Journal {
    fn slots(&self) -> impl Iterator<Item = Option<Slot>> {
        let starts = (1..self.places()).step_by(self.stride as usize);
        starts.map(|first| {
            let content = self.content(first);
            if content == Content::default() {
                return None;
            }
            let of = *self.parts.blocks.get(&content)?;
            Some(Slot { first, block: whose(self.bytes(first)).0, of })
        })
    }

    /// Who is like whom in the current launch.
    pub fn alike(&self) -> Option<&Alike> {
        if self.parts.is_idle() { None } else { self.parts.of(self.head().launch) }
    }

    /// The numbers of those within a block, warp by warp or lane by lane, one after the other.
    fn within(&self, alike: &Alike, slot: &Slot, see: &mut dyn FnMut(u128)) {
        for w in 0..self.stride - 1 {
            let content = self.content(slot.first + 1 + w);
            let kinds = alike.within(slot.block, w as usize);
            let kind = |k: usize| u128::from(kinds.get(k).copied().unwrap_or(u32::MAX - w)) << 64;
            if alike.level.within == Within::Threads {
                let lanes = self.parts.lanes.get(&content);
                for l in 0..LANES {
                    let of = lanes.and_then(|lanes| lanes.get(l)).copied().unwrap_or(0);
                    see(mix(of, kind(l)));
                }
            } else {
                let kind = if alike.level.within == Within::Warps { kind(0) } else { u128::from(w) << 96 };
                see(mix(self.store.hash(content), kind));
            }
        }
    }

    /// The number of a block, in which who is like whom is not told apart.
    fn block_number(&self, alike: &Alike, slot: &Slot, k: u64) -> u128 {
        let mut sum = mix(slot.of, 1);
        self.within(alike, slot, &mut |number| sum = sum.wrapping_add(number));
        let kind = if alike.level.blocks { u64::from(alike.block(slot.block)) } else { 1 << 40 | k };
        mix(sum, u128::from(kind) << 32)
    }

    /// The part of the state's number that its blocks make.
    pub fn number_of_blocks(&self) -> u128 {
        let Some(alike) = self.alike() else { return self.number_of_sections() };
        let numbers =
            (0..).zip(self.slots()).map(|(k, slot)| slot.map_or(0, |slot| self.block_number(alike, &slot, k)));
        numbers.fold(0, u128::wrapping_add)
    }

    /// What that part is made from, where who is like whom is not told apart: the numbers of those within each block, in order.
    pub fn whole_of_blocks(&self) -> Vec<u8> {
        let Some(alike) = self.alike() else { return Vec::new() };
        let mut blocks = Vec::new();
        for (k, slot) in (0u64..).zip(self.slots()) {
            let Some(slot) = slot else { continue };
            let mut numbers = vec![slot.of];
            self.within(alike, &slot, &mut |number| numbers.push(number));
            numbers[1..].sort_unstable();
            let kind = if alike.level.blocks { u64::from(alike.block(slot.block)) } else { 1 << 40 | k };
            blocks.push((kind, numbers));
        }
        blocks.sort_unstable();
        let bytes = |(kind, numbers): (u64, Vec<u128>)| {
            kind.to_le_bytes().into_iter().chain(numbers.into_iter().flat_map(u128::to_le_bytes))
        };
        blocks.into_iter().flat_map(bytes).collect()
    }

    /// Those who may be exchanged in the current state. `None`: nobody.
    pub fn roles(&self) -> Option<Roles> {
        let alike = self.alike()?;
        let per = (self.stride as usize - 1) * if alike.level.within == Within::Threads { LANES } else { 1 };
        // What says who is who: the block and what is within it; then, for an order, the slot and the place within it.
        let mut keys: Vec<(u128, u128, u16, u16)> = Vec::new();
        for (k, slot) in (0u64..).zip(self.slots()) {
            let number = slot.as_ref().map_or(0, |slot| self.block_number(alike, slot, k));
            let block = if alike.level.blocks { number } else { k.into() };
            let at = u16::try_from(k).ok()?;
            let before = keys.len();
            if let Some(slot) = &slot {
                self.within(alike, slot, &mut |number| keys.push((block, number, at, 0)));
            }
            keys.resize(before + per, (block, 0, at, 0));
            (0..).zip(&mut keys[before..]).for_each(|(n, key)| key.3 = n);
        }
        Roles::sorted(&keys, alike.level, self.stride - 1)
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

    fn sorted(keys: &[(u128, u128, u16, u16)], level: Level, warps: u32) -> Option<Self> {
        let count = u16::try_from(keys.len()).ok()?;
        let mut order: Vec<u16> = (0..count).collect();
        let key = |k: u16| {
            let (block, number, slot, within) = keys[usize::from(k)];
            (block, slot, number, within)
        };
        order.sort_unstable_by_key(|k| key(*k));
        let mut place = vec![0; keys.len()];
        let mut first: Vec<u16> = Vec::with_capacity(keys.len());
        let mut known: FxHashMap<(u128, u128), u16> = FxHashMap::default();
        for (at, k) in (0..count).zip(&order) {
            place[usize::from(*k)] = at;
            let (block, number, ..) = keys[usize::from(*k)];
            first.push(*known.entry((block, number)).or_insert(at));
        }
        let lanes = level.within == Within::Threads;
        Some(Self { place: place.into(), first: first.into(), blocks: level.blocks, lanes, warps })
    }
}
