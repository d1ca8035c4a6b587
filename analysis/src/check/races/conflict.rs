//! A conflict becomes a finding: what the two accesses are, where, and why nothing orders them.

use super::clock::Thread;
use super::context::Context;
use super::finding::Conflict;
use super::history::Raced;
use super::launch::Launch;
use super::sites::{AccessSite, access_at};
use super::watch::Watch;
use crate::base::{Pc, lanes_of};
use crate::program::instr::Space;
use crate::verdict::{
    AccessKind, AllocKind, Bug, BugKind, Inside, Party, Place, Race, Reach, Stop, Strength, Unordered,
};

impl Watch {
    /// Where a thread executes an instruction.
    fn place(&self, launch: &Launch, thread: Thread, pc: Pc) -> Place {
        let number = thread.warp - launch.first;
        let at = ((number / launch.warps).into(), number % launch.warps, thread.lane);
        launch.shape.place((launch.program, self.env.name_of(launch.shape.entry)), pc, at)
    }

    /// A lane's access, one element of it at `address`, races with an earlier one.
    pub(super) fn conflict(
        &mut self,
        cx: &Context<'_>,
        lane: usize,
        address: u64,
        value: Option<u64>,
        conflict: &Conflict,
    ) -> Result<(), Stop> {
        let Context { launch, site, .. } = cx;
        let Raced { thread, pc, value: theirs, times } = conflict.raced;
        let Some(other) = access_at(cx.sites, pc) else { return Ok(()) };
        let Some(me) = self.blocks[cx.at].as_ref().map(|b| b.thread(cx.warp, lane)) else { return Ok(()) };
        let start = other.start(conflict.byte);
        let same_instruction = cx.is_twin(me.warp, thread, pc, start);
        let (first, second) = (other.party(start, theirs), site.party(address, value));
        let near = thread.same_block(me);
        let apart = || cause(other, site, same_instruction, thread.warp == me.warp, near);
        let cause = conflict.with_copy.unwrap_or_else(apart);
        let space = if conflict.shared { AllocKind::Shared } else { AllocKind::Global };
        let race = Race { first, second, space, inside: None, cause, same_value: equal_stores(&first, &second) };
        let bug = Bug {
            kind: BugKind::Race(Box::new(race)),
            place: self.place(launch, me, cx.pc),
            other: Some(self.place(launch, thread, pc)),
        };
        self.add(launch, bug, times, address)
    }

    /// Two lanes of one store write a location in common. In lockstep that is a race; strong stores only leave open
    /// which value stays.
    pub(super) fn lanes_meet(&mut self, cx: &Context<'_>, (first, second): (usize, usize)) -> Result<(), Stop> {
        let Context { launch, access, site, .. } = cx;
        let Some(block) = &self.blocks[cx.at] else { return Ok(()) };
        let (x, y) = (block.thread(cx.warp, first), block.thread(cx.warp, second));
        let address = access.addresses[second].max(access.addresses[first]);
        let shared = matches!(self.env.addresses().inside(address), Some((Space::Shared, _)));
        let [a, b] = [first, second].map(|lane| cx.stored(lane, address));
        if site.strength == Strength::Weak {
            let raced = Raced { thread: x, pc: access.pc, value: a, times: 1 };
            let conflict = Conflict { raced, byte: address, shared, with_copy: None };
            return self.conflict(cx, second, address, b, &conflict);
        }
        if a == b {
            return Ok(());
        }
        let kind = BugKind::LaneDecides { address, bytes: site.width, inside: None, first: a, second: b };
        let mut place = self.place(launch, y, access.pc);
        place.lanes = lanes_of(access.lanes).filter(|l| access.addresses[*l] == address).fold(0, |m, l| m | 1 << l);
        let bug = Bug { kind, place, other: Some(self.place(launch, x, access.pc)) };
        self.add(launch, bug, 1, address)
    }

    /// Takes note of a race at an address, which is named the first time.
    fn add(&mut self, launch: &Launch, bug: Bug, times: u64, address: u64) -> Result<(), Stop> {
        let Self { findings, env, names, .. } = self;
        findings.add(bug, times, || {
            if let Some((Space::Shared, at)) = env.addresses().inside(address) {
                return Some(env.functions.get_index(launch.shape.entry as usize)?.1.inside_shared(at));
            }
            Inside::of(names, address)
        })
    }
}

/// Why two accesses are a race: of lanes of one instruction, threads of one warp, or of one block (`near`), or neither.
pub(super) fn cause(
    other: &AccessSite,
    site: &AccessSite,
    same_instruction: bool,
    same_warp: bool,
    near: bool,
) -> Unordered {
    match (other.strength, site.strength) {
        (Strength::Strong(_), Strength::Strong(_)) if site.strength.with(other.strength, near) => Unordered::Sizes,
        (Strength::Strong(a), Strength::Strong(b)) if !near && (a == Reach::Block || b == Reach::Block) => {
            Unordered::Scopes
        }
        _ if same_instruction => Unordered::SameInstruction,
        _ if same_warp => Unordered::SameWarp,
        _ if near => Unordered::SameBlock,
        _ => Unordered::OtherBlock,
    }
}

/// Whether both are stores of one value to the same bytes.
fn equal_stores(a: &Party, b: &Party) -> bool {
    let stores = a.kind == AccessKind::Write && b.kind == AccessKind::Write;
    stores && (a.address, a.bytes) == (b.address, b.bytes) && a.value.is_some() && a.value == b.value
}
