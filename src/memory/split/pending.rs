//! The operations that have not taken effect: for each instruction, which lanes' elements.

use crate::base::{LANES, LaneMask};
use crate::memory::{Held, Issuer, Movable, OperationName};
use crate::program::env::AddressMap;
use crate::program::instr::WarpRequest;
use crate::verdict::Who;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// The most elements of a lane.
const ELEMENTS: usize = 8;
/// Words of the bitset of operations that an instruction has: bit `32 e + l` is element `e` of lane `l`.
const WORDS: usize = ELEMENTS * LANES / 64;

/// A memory instruction that is not complete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Instruction {
    /// Who executed it.
    pub(super) at: Issuer,
    /// What it does.
    pub(super) request: WarpRequest,
    /// All its lanes: they go on together.
    pub(super) lanes: LaneMask,
    /// The windows of generic addresses.
    pub(super) map: AddressMap,
    /// The address register's values, when the instruction writes it.
    pub(super) address: Held,
}

impl Instruction {
    /// A key by which instructions are told apart: lanes execute one at a time.
    pub(super) fn order(&self) -> (u32, u64, u32, LaneMask) {
        (self.at.who.launch, self.at.who.block, self.at.who.warp, self.lanes)
    }
}

/// An operation that is to take effect now.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    /// The instruction that it is a part of.
    pub(super) instruction: Instruction,
    /// Its lane.
    pub(super) lane: usize,
    /// Its element.
    pub(super) element: usize,
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
        let slot = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(None);
            self.rest.resize(self.rest.len() + WORDS, 0);
        }
        for element in elements.filter(|e| *e < ELEMENTS) {
            self.rest[slot * WORDS + element / 2] |= u64::from(lanes) << (element % 2 * LANES);
            self.live += lanes.count_ones() as usize;
        }
        self.warps.entry(instruction.at.who).or_default().push(u32::try_from(slot).unwrap_or(u32::MAX));
        self.slots[slot] = Some(instruction);
    }

    /// Takes an operation out; the instruction's lanes are free when it was the last one.
    pub(super) fn take(&mut self, number: u32) -> Option<Operation> {
        let number = number as usize;
        let (slot, bit) = (number / (WORDS * 64), number % (WORDS * 64));
        let instruction = self.slots.get(slot)?.clone()?;
        let word = self.rest.get_mut(number / 64).filter(|w| **w >> (number % 64) & 1 == 1)?;
        *word &= !(1 << (number % 64));
        self.live -= 1;
        if self.words(slot).iter().all(|w| *w == 0) {
            self.slots[slot] = None;
            if let Some(list) = self.warps.get_mut(&instruction.at.who) {
                list.retain(|s| *s as usize != slot);
                if list.is_empty() {
                    self.warps.remove(&instruction.at.who);
                }
            }
            // Equal states compare equal, however many slots there once were.
            while self.slots.last().is_some_and(Option::is_none) {
                self.slots.pop();
                self.rest.truncate(self.slots.len() * WORDS);
            }
        }
        Some(Operation { instruction, lane: bit % LANES, element: bit / LANES })
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

    /// The operations by their names: a lane executes one instruction at a time, so its elements are told apart in a warp.
    pub(super) fn list_movable(&self, out: &mut Vec<Movable>) {
        for (slot, instruction) in (0..).zip(&self.slots).filter_map(|(slot, i)| Some((slot, i.as_ref()?))) {
            let Who { block, warp, .. } = instruction.at.who;
            let words = (0u32..).zip(self.words(slot));
            let left = words.flat_map(|(k, word)| (0..64).filter(move |b| word >> b & 1 == 1).map(move |b| 64 * k + b));
            let base = u32::try_from(slot * WORDS * 64).unwrap_or(u32::MAX);
            let movable = |place: u32| Movable {
                number: base + place,
                name: OperationName { block, warp, place },
                lanes: 1 << (place as usize % LANES),
            };
            out.extend(left.map(movable));
        }
        out.sort_unstable_by_key(|m| m.name);
    }

    /// How many operations there are.
    pub(super) const fn len(&self) -> usize {
        self.live
    }

    /// The instructions that are not complete.
    pub(super) fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.slots.iter().flatten()
    }

    /// The instructions that are not complete, with the lanes that have an element left.
    pub(super) fn lanes_left(&self) -> impl Iterator<Item = (&Instruction, LaneMask)> {
        let instructions = self.slots.iter().enumerate().filter_map(|(slot, i)| Some((slot, i.as_ref()?)));
        instructions.map(|(slot, i)| {
            let both = self.words(slot).iter().fold(0, |all, word| all | word);
            let low = |word: u64| LaneMask::try_from(word & u64::from(LaneMask::MAX)).unwrap_or(0);
            (i, low(both) | low(both >> LANES))
        })
    }

    /// Adds what is pending to a hash, however it is numbered.
    pub(super) fn digest(&self, into: &mut impl Hasher) {
        let mut all: Vec<(usize, &Instruction)> =
            self.slots.iter().enumerate().filter_map(|(k, i)| Some((k, i.as_ref()?))).collect();
        all.sort_unstable_by_key(|(_, i)| i.order());
        for (slot, instruction) in all {
            (instruction.at, instruction.lanes, &instruction.address, self.words(slot)).hash(into);
        }
    }
}
