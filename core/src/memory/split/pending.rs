//! The operations that have not taken effect: for each instruction, which lanes' elements.

use crate::base::{LANES, LaneMask, sort};
use crate::memory::{Held, Issuer, Movable, OperationName, snapshot};
use crate::program::instr::WarpRequest;
use crate::verdict::Who;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// The most elements of a lane.
const ELEMENTS: usize = 8;
/// Words of the bitset of operations that an instruction has: bit `32 e + l` is element `e` of lane `l`.
const WORDS: usize = ELEMENTS * LANES / 64;

/// A memory instruction that is not complete.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Instruction {
    /// Who executed it.
    pub(super) at: Issuer,
    /// What it does.
    pub(super) request: WarpRequest,
    /// All its lanes: they go on together.
    pub(super) lanes: LaneMask,
    /// The address register's values, when the instruction writes it.
    pub(super) address: Held,
    /// The lanes that access memory together, as one operation; none where each has its own.
    pub(super) together: LaneMask,
}

impl Instruction {
    /// A key by which instructions are told apart: lanes execute one at a time.
    pub(super) fn order(&self) -> (u32, u64, u32, LaneMask) {
        (self.at.who.launch, self.at.who.block, self.at.who.warp, self.lanes)
    }
}

/// All operations that have not taken effect. Their numbers are stable while their instruction lives.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Pending {
    slots: Vec<Option<Instruction>>,
    /// The operations that are left, [`WORDS`] words for each slot.
    rest: Vec<u64>,
    /// The slots of each warp.
    warps: FxHashMap<Who, SmallVec<[u32; 2]>>,
    live: usize,
}

impl Pending {
    /// Takes in `elements` of `lanes` of an instruction.
    pub(super) fn push(&mut self, instruction: Instruction, lanes: LaneMask, elements: impl Iterator<Item = usize>) {
        let mut words = [0; WORDS];
        for element in elements.filter(|e| *e < ELEMENTS) {
            words[element / 2] |= u64::from(lanes) << (element % 2 * LANES);
        }
        self.enter(instruction, &words);
    }

    /// Takes in the operations of an instruction.
    fn enter(&mut self, instruction: Instruction, words: &[u64]) {
        let slot = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(None);
            self.rest.resize(self.rest.len() + WORDS, 0);
        }
        for (place, word) in self.rest.iter_mut().skip(slot * WORDS).zip(words) {
            *place = *word;
            self.live += word.count_ones() as usize;
        }
        self.warps.entry(instruction.at.who).or_default().push(u32::try_from(slot).unwrap_or(u32::MAX));
        self.slots[slot] = Some(instruction);
    }

    /// Takes an operation out: the instruction that it is a part of, its lane and its element. The instruction's lanes are free
    /// when it was the last one.
    pub(super) fn take(&mut self, number: u32) -> Option<(Instruction, usize, usize)> {
        let number = number as usize;
        let (slot, bit) = (number / (WORDS * 64), number % (WORDS * 64));
        let instruction = self.slots.get(slot)?.clone()?;
        let word = self.rest.get_mut(number / 64).filter(|w| **w >> (number % 64) & 1 == 1)?;
        *word &= !(1 << (number % 64));
        self.live -= 1;
        if self.words(slot).iter().all(|w| *w == 0) {
            if let Some(list) = self.warps.get_mut(&instruction.at.who) {
                list.retain(|s| *s as usize != slot);
                if list.is_empty() {
                    self.warps.remove(&instruction.at.who);
                }
            }
            self.leave(slot);
        }
        Some((instruction, bit % LANES, bit / LANES))
    }

    /// The instruction that an operation is a part of, its lane and its element.
    pub(super) fn look(&self, number: u32) -> Option<(&Instruction, usize, usize)> {
        let number = number as usize;
        let (slot, bit) = (number / (WORDS * 64), number % (WORDS * 64));
        let left = self.rest.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1);
        self.slots.get(slot)?.as_ref().filter(|_| left).map(|instruction| (instruction, bit % LANES, bit / LANES))
    }

    /// The lanes and elements of an instruction that are left, by the warp and the lanes that execute it.
    pub(super) fn left(&self, who: Who, lanes: LaneMask) -> SmallVec<[(usize, usize); 4]> {
        let slots = self.slots_of(who).into_iter().filter(|(_, instruction)| instruction.lanes == lanes);
        let words = slots.flat_map(|(slot, _)| self.words(slot).iter().enumerate());
        let bits = words.flat_map(|(k, word)| (0..64).filter(move |b| word >> b & 1 == 1).map(move |b| 64 * k + b));
        bits.map(|bit| (bit % LANES, bit / LANES)).collect()
    }

    /// Empties a slot.
    fn leave(&mut self, slot: usize) {
        for word in self.rest.iter_mut().skip(slot * WORDS).take(WORDS) {
            self.live -= std::mem::take(word).count_ones() as usize;
        }
        self.slots[slot] = None;
        // Equal states compare equal, however many slots there once were.
        while self.slots.last().is_some_and(Option::is_none) {
            self.slots.pop();
            self.rest.truncate(self.slots.len() * WORDS);
        }
    }

    fn words(&self, slot: usize) -> &[u64] {
        self.rest.get(slot * WORDS..(slot + 1) * WORDS).unwrap_or_default()
    }

    /// The lanes of a warp that have not completed an instruction.
    pub(super) fn held(&self, who: Who) -> LaneMask {
        let slots = self.warps.get(&who).into_iter().flatten();
        slots.filter_map(|s| self.slots.get(*s as usize)?.as_ref()).fold(0, |m, i| m | i.lanes)
    }

    /// The operations, as a bitset over their numbers.
    pub(super) fn ready(&self) -> &[u64] {
        &self.rest
    }

    /// The slots of a warp's instructions, by the instructions' lanes.
    fn slots_of(&self, who: Who) -> SmallVec<[(usize, &Instruction); 2]> {
        let slots = self.warps.get(&who).into_iter().flatten().map(|s| *s as usize);
        let mut all: SmallVec<[_; 2]> = slots.filter_map(|s| Some((s, self.slots.get(s)?.as_ref()?))).collect();
        sort::sort_by_key(&mut all, |(_, i)| i.lanes);
        all
    }

    /// The operations of a warp by their names: a lane executes one instruction at a time, so its elements are told apart.
    pub(super) fn movable(&self, who: Who, out: &mut Vec<Movable>) {
        let first = out.len();
        for (slot, instruction) in self.slots_of(who) {
            let together = instruction.together;
            let words = (0u32..).zip(self.words(slot));
            let left = words.flat_map(|(k, word)| (0..64).filter(move |b| word >> b & 1 == 1).map(move |b| 64 * k + b));
            let name = |place| OperationName { block: who.block, warp: who.warp, place };
            let lanes = |place: u32| if together == 0 { 1 << (place as usize % LANES) } else { together };
            out.extend(left.map(|place| Movable { name: name(place), lanes: lanes(place) }));
        }
        out[first..].sort_unstable();
    }

    /// The number of an operation.
    pub(super) fn number(&self, launch: u32, name: OperationName) -> Option<u32> {
        let OperationName { block, warp, place } = name;
        let at = place as usize;
        let left = |slot: usize| self.words(slot).get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1);
        let (slot, _) = self.slots_of(Who { launch, block, warp }).into_iter().find(|(slot, _)| left(*slot))?;
        u32::try_from(slot * WORDS * 64 + at).ok()
    }

    /// Appends what a warp has in flight, however it is numbered.
    pub(super) fn save(&self, who: Who, out: &mut Vec<u8>) {
        self.slots_of(who).into_iter().for_each(|(slot, i)| snapshot::put(&(i, self.words(slot)), out));
    }

    /// A warp has in flight what was saved.
    pub(super) fn load(&mut self, who: Who, mut from: &[u8]) {
        for slot in self.warps.remove(&who).into_iter().flatten() {
            self.leave(slot as usize);
        }
        while let Some((instruction, words)) = snapshot::take::<(Instruction, SmallVec<[u64; WORDS]>)>(&mut from) {
            self.enter(instruction, &words);
        }
    }

    /// How many operations there are.
    pub(super) const fn len(&self) -> usize {
        self.live
    }

    /// The warps that have instructions which are not complete.
    pub(super) fn warps(&self) -> impl Iterator<Item = &Who> {
        self.warps.keys()
    }

    /// The instructions that are not complete, with the lanes that have an element left.
    pub(super) fn lanes_left(&self) -> impl Iterator<Item = (&Instruction, LaneMask)> {
        let instructions = self.slots.iter().enumerate().filter_map(|(slot, i)| Some((slot, i.as_ref()?)));
        instructions.map(|(slot, i)| {
            let both = self.words(slot).iter().fold(0, |all, word| all | word);
            let low = |word: u64| LaneMask::try_from(word & u64::from(LaneMask::MAX)).unwrap_or(0);
            (i, low(both) | low(both >> LANES) | i.together)
        })
    }
}
