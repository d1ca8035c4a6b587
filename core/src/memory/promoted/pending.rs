//! The instructions that are under way, lane by lane.

use super::caches::{At, Thread};
use crate::base::{LANES, LaneMask, lanes_of, sort};
use crate::memory::rsp::Row;
use crate::memory::{Issuer, snapshot};
use crate::program::instr::{Order, Scope, WarpRequest};
use crate::verdict::{AccessId, Who};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// What an instruction does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Does {
    /// It accesses global memory: as a row of table 3 has it.
    Access(Box<WarpRequest>, Row),
    /// It is a fence.
    Fence(Scope, Order),
}

/// A lane that is not through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Lane {
    pub lane: u8,
    /// How many of its steps are done.
    pub done: u8,
    /// What it accesses; nothing in a fence.
    pub at: At,
    pub address: u64,
}

/// A memory instruction that is not complete.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Instruction {
    /// Who executed it.
    pub at: Issuer,
    pub does: Does,
    /// All its lanes: they go on together.
    pub lanes: LaneMask,
    /// What an observer calls the first lane's access.
    #[serde(skip)]
    pub access_id: AccessId,
    /// Those that are not through, in ascending order.
    pub left: SmallVec<[Lane; 1]>,
}

impl Instruction {
    pub fn thread(&self, lane: u8) -> Thread {
        Thread { who: self.at.who, lane }
    }
}

/// All of them, by slots, which are stable while their instructions live.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Pending {
    slots: Vec<Option<Instruction>>,
    warps: FxHashMap<Who, SmallVec<[u32; 2]>>,
    /// How many lanes are not through.
    lanes: usize,
}

impl Pending {
    /// Takes an instruction in; gives its slot.
    pub fn enter(&mut self, instruction: Instruction) -> usize {
        let slot = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        self.lanes += instruction.left.len();
        self.warps.entry(instruction.at.who).or_default().push(u32::try_from(slot).unwrap_or(u32::MAX));
        self.slots[slot] = Some(instruction);
        slot
    }

    pub fn get(&self, slot: usize) -> Option<&Instruction> {
        self.slots.get(slot)?.as_ref()
    }

    /// A lane's part of an instruction.
    pub fn lane(&self, slot: usize, lane: usize) -> Option<(&Instruction, Lane)> {
        let instruction = self.get(slot)?;
        Some((instruction, *instruction.left.iter().find(|l| usize::from(l.lane) == lane)?))
    }

    /// A lane has made a step; `last`: that was its last one. Tells whether the instruction is complete, and so not here any more.
    pub fn advance(&mut self, slot: usize, lane: usize, last: bool) -> bool {
        let Some(Some(instruction)) = self.slots.get_mut(slot) else { return false };
        let Some(k) = instruction.left.iter().position(|l| usize::from(l.lane) == lane) else { return false };
        if !last {
            instruction.left[k].done += 1;
            return false;
        }
        instruction.left.remove(k);
        self.lanes -= 1;
        let complete = instruction.left.is_empty();
        if complete {
            let who = instruction.at.who;
            self.leave(who, slot);
        }
        complete
    }

    fn leave(&mut self, who: Who, slot: usize) {
        if let Some(list) = self.warps.get_mut(&who) {
            list.retain(|s| *s as usize != slot);
            if list.is_empty() {
                self.warps.remove(&who);
            }
        }
        if let Some(place) = self.slots.get_mut(slot) {
            self.lanes -= place.take().map_or(0, |i| i.left.len());
        }
        // Equal states compare equal, however many slots there once were.
        while self.slots.last().is_some_and(Option::is_none) {
            self.slots.pop();
        }
    }

    /// The slots of a warp's instructions, by the instructions' lanes.
    pub fn of(&self, who: Who) -> SmallVec<[(usize, &Instruction); 2]> {
        let slots = self.warps.get(&who).into_iter().flatten().map(|s| *s as usize);
        let mut all: SmallVec<[_; 2]> = slots.filter_map(|s| Some((s, self.get(s)?))).collect();
        sort::sort_by_key(&mut all, |(_, i)| i.lanes);
        all
    }

    /// The lanes of a warp that have not completed an instruction.
    pub fn held(&self, who: Who) -> LaneMask {
        let slots = self.warps.get(&who).into_iter().flatten();
        slots.filter_map(|s| self.get(*s as usize)).fold(0, |m, i| m | i.lanes)
    }

    pub const fn len(&self) -> usize {
        self.lanes
    }

    pub fn warps(&self) -> impl Iterator<Item = &Who> {
        self.warps.keys()
    }

    /// All instructions, by who issued them.
    pub fn all(&self) -> Vec<(usize, &Instruction)> {
        let mut all: Vec<_> = self.slots.iter().enumerate().filter_map(|(s, i)| Some((s, i.as_ref()?))).collect();
        sort::sort_by_key(&mut all, |(_, i)| (i.at.who, i.lanes));
        all
    }

    /// Appends what a warp has in flight, however it is numbered.
    pub fn save(&self, who: Who, out: &mut Vec<u8>) {
        self.of(who).into_iter().for_each(|(_, instruction)| snapshot::put(instruction, out));
    }

    /// A warp has in flight what was saved. Gives the slots that it had and has.
    pub fn load(&mut self, who: Who, mut from: &[u8]) {
        for slot in self.warps.get(&who).cloned().into_iter().flatten() {
            self.leave(who, slot as usize);
        }
        while let Some(instruction) = snapshot::take::<Instruction>(&mut from) {
            self.enter(instruction);
        }
    }
}

/// Lanes as a mask.
pub(super) fn mask(left: &[Lane]) -> LaneMask {
    left.iter().fold(0, |m, l| m | 1 << (usize::from(l.lane) % LANES))
}

/// The first lane of a mask.
pub(super) fn first(lanes: LaneMask) -> u8 {
    lanes_of(lanes).next().and_then(|l| u8::try_from(l).ok()).unwrap_or(0)
}
