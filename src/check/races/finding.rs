//! What the checker found: each pair of instructions once, with the first of its races.

use super::access::Context;
use super::clock::Thread;
use super::sites::{AccessSite, Site};
use super::{Launch, Watch};
use crate::base::{Pc, lanes_of};
use crate::verdict::{
    AccessKind, AllocKind, Bug, BugKind, Inside, Party, Place, Race, Reach, Stop, Strength, Unordered,
};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::collections::BTreeMap;

/// A race, and how often it happened.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// Its first occurrence.
    pub bug: Bug,
    /// How often it happened, each location of an access counted.
    pub times: u64,
}

/// Volatile data that a thread stores and another one loads, and that nothing orders (D-unordered).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnorderedData {
    /// The store.
    pub store: Pc,
    /// The load.
    pub load: Pc,
    /// Whether the threads are of one block.
    pub near: bool,
    /// How often it happened.
    pub times: u64,
}

/// All findings of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    /// By kind and the two instructions, the lower address first.
    all: IndexMap<(bool, Pc, Pc), Finding, FxBuildHasher>,
    /// Volatile data that is read unordered: the store, the load, whether both are of one block.
    unordered: BTreeMap<(u32, u32, bool), u64>,
    /// Whether the first one stops the run.
    pub stop: bool,
    /// Races that are hidden.
    pub benign: Benign,
}

/// Which races are no defects (`--benign`; D-race-benign).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Benign {
    /// None.
    None,
    /// Lanes of one instruction store the same value to the same bytes.
    #[default]
    Instruction,
    /// Both accesses are stores of the same value to the same bytes.
    SameValue,
}

impl Benign {
    fn hides(self, kind: &BugKind) -> bool {
        let BugKind::Race(race) = kind else { return false };
        match self {
            Self::None => false,
            Self::Instruction => race.same_value && race.cause == Unordered::SameInstruction,
            Self::SameValue => race.same_value,
        }
    }
}

/// An access that a new one conflicts with, unordered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub thread: Thread,
    pub pc: Pc,
    /// What it read or wrote, as far as that is known.
    pub value: Option<u64>,
    /// A byte, or the first byte of a word, that both touch.
    pub byte: u64,
    /// Whether it lies in shared memory.
    pub shared: bool,
    /// For how many accesses alike it stands.
    pub times: u64,
}

impl Findings {
    /// Those to be told.
    pub fn shown(&self) -> impl Iterator<Item = &Finding> {
        self.all.values().filter(|f| !self.benign.hides(&f.bug.kind))
    }

    /// The others.
    pub fn hidden(&self) -> impl Iterator<Item = &Finding> {
        self.all.values().filter(|f| self.benign.hides(&f.bug.kind))
    }

    /// A load observed volatile data of a store that nothing orders before it.
    pub fn unordered(&mut self, store: Pc, load: Pc, near: bool) {
        *self.unordered.entry((store.0, load.0, near)).or_default() += 1;
    }

    /// See [`Races::unordered`](super::Races::unordered).
    pub fn all_unordered(&self) -> impl Iterator<Item = UnorderedData> {
        let one = |((store, load, near), times): (&(u32, u32, bool), &u64)| UnorderedData {
            store: Pc(*store),
            load: Pc(*load),
            near: *near,
            times: *times,
        };
        self.unordered.iter().map(one)
    }

    /// Takes note of a race; `inside` says where it is.
    fn add(&mut self, mut bug: Bug, times: u64, inside: impl FnOnce() -> Option<Inside>) -> Result<(), Stop> {
        if self.stop {
            name(&mut bug.kind, inside());
            let hidden = self.benign.hides(&bug.kind);
            // The block that is stopped knows the calls, too: it completes a place without an entry.
            bug.place.entry.clear();
            return if hidden { Ok(()) } else { Err(Stop::Bug(Box::new(bug))) };
        }
        let first = bug.other.as_ref().map_or(bug.place.pc, |o| o.pc);
        let race = matches!(bug.kind, BugKind::Race(_));
        let key = (race, first.min(bug.place.pc), first.max(bug.place.pc));
        let Some(known) = self.all.get_mut(&key) else {
            name(&mut bug.kind, inside());
            self.all.insert(key, Finding { bug, times });
            return Ok(());
        };
        known.times += times;
        // The occurrence of the widest scope stands for the pair, since what orders that one orders all; and a pair whose
        // values differ once is no benign pair.
        let (BugKind::Race(new), BugKind::Race(old)) = (&mut bug.kind, &mut known.bug.kind) else { return Ok(()) };
        let same = new.same_value && old.same_value;
        let better = new.cause > old.cause || new.cause == old.cause && old.same_value && !new.same_value;
        (new.same_value, old.same_value) = (same, same);
        if better {
            name(&mut bug.kind, inside());
            known.bug = bug;
        }
        Ok(())
    }
}

fn name(kind: &mut BugKind, at: Option<Inside>) {
    match kind {
        BugKind::Race(race) => race.inside = at,
        BugKind::LaneDecides { inside, .. } => *inside = at,
        _ => {}
    }
}

impl Launch {
    /// Where a thread executes an instruction.
    fn place(&self, entry: &str, thread: Thread, pc: Pc) -> Place {
        let number = thread.warp - self.first;
        let warp = number % self.warps;
        Place {
            program: self.program,
            entry: entry.to_owned(),
            pc,
            block: self.shape.block_index((number / self.warps).into()),
            thread: self.shape.thread_index(warp, thread.lane),
            warp,
            lane: thread.lane,
            lanes: 1 << thread.lane,
            calls: Vec::new(),
        }
    }
}

impl Watch {
    fn entry(&self, launch: &Launch) -> String {
        self.env.functions.get_index(launch.shape.entry as usize).map_or_else(String::new, |(name, _)| name.clone())
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
        let Some(Site::Access(other)) = cx.sites.get(conflict.pc.0 as usize).copied() else { return Ok(()) };
        let Some(me) = self.blocks[cx.at].as_ref().map(|b| b.thread(cx.warp, lane)) else { return Ok(()) };
        let start = other.start(conflict.byte);
        let same_instruction = cx.is_twin(me.warp, conflict.thread, conflict.pc, start);
        let party = |site: &AccessSite, address, value| Party {
            kind: site.kind,
            strong: site.strength != Strength::Weak,
            address,
            bytes: site.width,
            value,
        };
        let (first, second) = (party(&other, start, conflict.value), party(site, address, value));
        let near = conflict.thread.same_block(me);
        let cause = match (other.strength, site.strength) {
            (Strength::Strong(_), Strength::Strong(_)) if site.strength.with(other.strength, near) => Unordered::Sizes,
            (Strength::Strong(a), Strength::Strong(b)) if !near && (a == Reach::Block || b == Reach::Block) => {
                Unordered::Scopes
            }
            _ if same_instruction => Unordered::SameInstruction,
            _ if conflict.thread.warp == me.warp => Unordered::SameWarp,
            _ if near => Unordered::SameBlock,
            _ => Unordered::OtherBlock,
        };
        let space = if conflict.shared { AllocKind::Shared } else { AllocKind::Global };
        let race = Race { first, second, space, inside: None, cause, same_value: equal_stores(&first, &second) };
        let entry = self.entry(launch);
        let bug = Bug {
            kind: BugKind::Race(Box::new(race)),
            place: launch.place(&entry, me, cx.pc),
            other: Some(launch.place(&entry, conflict.thread, conflict.pc)),
        };
        self.add(launch, bug, conflict.times, address)
    }

    /// Two lanes of one store write a location in common. In lockstep that is a race; strong stores only leave open
    /// which value stays.
    pub(super) fn lanes_meet(&mut self, cx: &Context<'_>, (first, second): (usize, usize)) -> Result<(), Stop> {
        let Context { launch, access, site, .. } = cx;
        let Some(block) = &self.blocks[cx.at] else { return Ok(()) };
        let (x, y) = (block.thread(cx.warp, first), block.thread(cx.warp, second));
        let map = self.env.addresses();
        let address = access.addresses[second].max(access.addresses[first]);
        let shared = address.wrapping_sub(map.shared) < map.window;
        let [a, b] = [first, second].map(|lane| cx.stored(lane, address));
        if site.strength == Strength::Weak {
            let conflict = Conflict { thread: x, pc: access.pc, value: a, byte: address, shared, times: 1 };
            return self.conflict(cx, second, address, b, &conflict);
        }
        if a == b {
            return Ok(());
        }
        let entry = self.entry(launch);
        let kind = BugKind::LaneDecides { address, bytes: site.width, inside: None, first: a, second: b };
        let mut place = launch.place(&entry, y, access.pc);
        place.lanes = lanes_of(access.lanes).filter(|l| access.addresses[*l] == address).fold(0, |m, l| m | 1 << l);
        let bug = Bug { kind, place, other: Some(launch.place(&entry, x, access.pc)) };
        self.add(launch, bug, 1, address)
    }

    /// Takes note of a race at an address, which is named the first time.
    fn add(&mut self, launch: &Launch, bug: Bug, times: u64, address: u64) -> Result<(), Stop> {
        let Self { findings, env, names, .. } = self;
        findings.add(bug, times, || {
            let map = env.addresses();
            let at = address.wrapping_sub(map.shared);
            if at < map.window {
                return Some(env.functions.get_index(launch.shape.entry as usize)?.1.inside_shared(at));
            }
            Inside::of(names, address)
        })
    }
}

/// Whether both are stores of one value to the same bytes.
fn equal_stores(a: &Party, b: &Party) -> bool {
    let stores = a.kind == AccessKind::Write && b.kind == AccessKind::Write;
    stores && (a.address, a.bytes) == (b.address, b.bytes) && a.value.is_some() && a.value == b.value
}
