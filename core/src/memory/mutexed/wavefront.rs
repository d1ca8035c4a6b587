//! What a warp has in flight: the instruction that it waits for, stores behind it, and its mutexes.

use crate::base::LaneMask;
use crate::base::mutant::{Mutant, on};
use crate::memory::lockstep::{Entry, Gmm, Hash, ManyStatuses, Pool, Slots, Status, Statuses, Wanted};
use crate::memory::{Held, Issuer};
use crate::program::instr::{MemOp, WarpRequest};
use crate::verdict::{AccessId, Who};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Accesses that are performed together: those of an instruction to one line, or all of its accesses of shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Part {
    /// The line: an address divided by its size. Of no account in shared memory.
    pub line: u64,
    /// The lanes.
    pub lanes: LaneMask,
}

impl Part {
    /// Its first lane, which no other part of an instruction has.
    pub const fn lead(&self) -> u32 {
        self.lanes.trailing_zeros() & 31
    }
}

/// A memory instruction that is not complete.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Instruction {
    /// Who executed it.
    pub at: Issuer,
    /// What it does.
    pub request: WarpRequest,
    /// What is left of it.
    pub parts: SmallVec<[Part; 2]>,
    /// The registers that it reads, where its warp goes on and may overwrite them.
    pub held: Held,
    /// What an observer calls it.
    #[serde(skip)]
    pub access_id: AccessId,
}

impl Instruction {
    /// Whether it writes memory; an atomic operation does (section 7).
    pub const fn writes(&self) -> bool {
        !matches!(self.request.op, MemOp::Load)
    }

    /// Whether its warp waits for what it brings.
    pub const fn returns(&self) -> bool {
        matches!(self.request.op, MemOp::Load | MemOp::Atom(..))
    }
}

/// A step that a wavefront can make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doing {
    /// It asks the pool for a mutex.
    Ask(Entry),
    /// A part of the instruction that it waits for is performed.
    Perform(Part),
    /// The accesses of shared memory are performed.
    Shared(Part),
    /// A part of the oldest store retires.
    Retire(Part),
}

/// Where the numbers of the parts of stores begin.
const STORES: u32 = 32;

/// As many stores may be pending, by line, when another is issued (D-lsc-ptx-full).
const PENDING: u16 = 64;

/// A warp with something in flight.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Wavefront {
    /// The warp.
    pub who: Who,
    /// Its mutexes.
    pub gmm: Gmm<ManyStatuses>,
    /// The instruction that it waits for: it asks for mutexes, or loads.
    pub current: Option<Instruction>,
    /// The part of that in shared memory.
    pub shared: Option<Instruction>,
    /// Stores that have been issued, the oldest first.
    pub stores: VecDeque<Instruction>,
    /// Whether the youngest of them are the current instruction's.
    pub begun: bool,
    /// Mutexes that the pool has refused and nobody has given back since.
    pub refused: SmallVec<[Entry; 2]>,
}

impl Wavefront {
    /// One without anything in flight.
    pub fn new(who: Who) -> Self {
        let (gmm, stores) = (Gmm::default(), VecDeque::new());
        Self { who, gmm, current: None, shared: None, stores, begun: false, refused: SmallVec::new() }
    }

    /// Whether nothing is in flight.
    pub fn idle(&self) -> bool {
        self.current.is_none() && self.shared.is_none() && self.stores.is_empty()
    }

    /// How many steps are left, requests for mutexes not counted.
    pub fn left(&self) -> usize {
        self.instructions().map(|i| i.parts.len()).sum()
    }

    /// All its instructions, the oldest first.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.stores.iter().chain(&self.current).chain(&self.shared)
    }

    /// The mutexes that it has, in the order of their numbers.
    pub fn mutexes(&self) -> impl Iterator<Item = Entry> + '_ {
        self.gmm.vector().iter().filter(|(_, status)| *status == Status::Acquired).map(|(entry, _)| entry)
    }

    /// Whether the warp waits: for mutexes, or for what it reads.
    pub fn waits(&self) -> bool {
        self.current.is_some() || self.shared.is_some() || self.stores.iter().any(Instruction::returns)
    }

    /// Whether it waits for a mutex.
    fn asks_for(&self, entry: Entry) -> bool {
        self.gmm.vector().get(entry) == Status::Requested
    }

    /// The mutexes that the current instruction waits for, each with the first part that needs it. They are asked for in any order, each
    /// by itself (6.4).
    fn lacks(&self, hash: Hash) -> impl Iterator<Item = (Entry, Part)> + '_ {
        let parts = self.current.iter().flat_map(|current| &current.parts).map(move |p| (hash.entry(p.line), *p));
        let before = move |entry: Entry, part: Part| {
            let mut all = self.current.iter().flat_map(|current| &current.parts);
            all.find(|p| hash.entry(p.line) == entry).is_some_and(|p| p.lead() == part.lead())
        };
        parts.filter(move |(entry, part)| self.asks_for(*entry) && before(*entry, *part))
    }

    /// Whether the current instruction waits for mutexes.
    pub fn lacks_any(&self, hash: Hash) -> bool {
        self.lacks(hash).next().is_some()
    }

    /// Whether a store of the warp to a line has not retired: a younger load of it waits in the first cache (6.4).
    fn stores_to(&self, line: u64) -> bool {
        let pending = self.stores.iter().flat_map(|store| &store.parts).any(|part| part.line == line);
        pending && !on(Mutant::LscPtxNoBlock)
    }

    /// The step of a number, if it can be made; whether the pool will grant a request is not asked.
    pub fn doing(&self, number: u32, hash: Hash) -> Option<Doing> {
        self.steps(hash).find(|(n, _)| *n == number).map(|(_, doing)| doing)
    }

    /// The steps that can be made, with their numbers: a part of the current instruction has its first lane's, one of the oldest
    /// store 32 more.
    pub fn steps(&self, hash: Hash) -> impl Iterator<Item = (u32, Doing)> + '_ {
        let asks = self.lacks(hash).map(|(entry, part)| (part.lead(), Doing::Ask(entry)));
        let free = self.gmm.pending_store() == 0 || on(Mutant::LscPtxNoMutex);
        let loads = self.current.iter().filter(|current| !current.writes()).flat_map(|current| &current.parts);
        let loads = loads.filter(move |part| free || self.gmm.holds(hash.entry(part.line)));
        let loads = loads.filter(|part| !self.stores_to(part.line)).map(|part| (part.lead(), Doing::Perform(*part)));
        let calm = self.stores.is_empty() || on(Mutant::LscPtxSharedAtOnce);
        let shared = self.shared.iter().filter(move |_| calm).flat_map(|i| &i.parts);
        let shared = shared.map(|part| (part.lead(), Doing::Shared(*part)));
        let retiring = if on(Mutant::LscPtxUnordered) { self.stores.back() } else { self.stores.front() };
        let stores = retiring.into_iter().flat_map(|store| &store.parts);
        let stores = stores.map(|part| (STORES + part.lead(), Doing::Retire(*part)));
        asks.chain(loads).chain(shared).chain(stores)
    }

    /// Some steps as a bitset.
    fn word(&self, hash: Hash, some: impl Fn(&Doing) -> bool) -> u64 {
        self.steps(hash).filter(|(_, doing)| some(doing)).fold(0, |word, (n, _)| word | 1 << n)
    }

    /// The steps that can be made and do something, as a bitset: a request only where the pool will grant it.
    pub fn movable<S: Slots>(&self, hash: Hash, pool: &Pool<S>) -> u64 {
        self.word(hash, |doing| !matches!(doing, Doing::Ask(entry) if pool.slots().is_taken(*entry)))
    }

    /// The steps that a run offers, as a bitset: a request that was refused only when its mutex has been given back.
    pub fn offers(&self, hash: Hash) -> u64 {
        self.word(hash, |doing| !matches!(doing, Doing::Ask(entry) if self.refused.contains(entry)))
    }

    /// The current instruction is serviced: it wants mutexes, where it writes or goes before pending stores (section 5). `told` hears of
    /// each part whether it has to ask.
    pub fn want(&mut self, hash: Hash, mut told: impl FnMut(Entry, Wanted)) {
        let Some(current) = &self.current else { return };
        if !current.writes() && self.gmm.pending_store() == 0 || on(Mutant::LscPtxNoMutex) {
            return;
        }
        for part in &current.parts {
            let entry = hash.entry(part.line);
            told(entry, self.gmm.want(entry));
        }
    }

    /// Stores that have their mutexes are issued, where not too many are pending; tells whether any was.
    pub fn issue(&mut self, hash: Hash) -> bool {
        if self.gmm.pending_store() > PENDING {
            return false;
        }
        let Some(current) = self.current.as_mut().filter(|current| current.writes()) else { return false };
        let held = |part: &Part| self.gmm.holds(hash.entry(part.line)) || on(Mutant::LscPtxNoMutex);
        let (issued, rest): (SmallVec<[Part; 2]>, _) = current.parts.iter().copied().partition(held);
        if issued.is_empty() {
            return false;
        }
        current.parts = rest;
        issued.iter().for_each(|_| self.gmm.store_issued());
        match self.stores.back_mut().filter(|_| self.begun) {
            Some(youngest) => youngest.parts.extend(issued),
            None => self.stores.push_back(Instruction { parts: issued, ..current.clone() }),
        }
        self.begun = true;
        true
    }

    /// What is complete goes; tells whether anything did.
    pub fn clear(&mut self) -> bool {
        let complete = |i: &mut Instruction| i.parts.is_empty();
        let before = self.stores.len();
        let last = self.stores.back().is_some_and(|store| store.parts.is_empty());
        self.stores.retain(|store| !store.parts.is_empty());
        let mut any = self.stores.len() != before;
        any |= self.shared.take_if(complete).is_some();
        any |= self.current.take_if(complete).is_some();
        self.begun &= !last && self.current.is_some();
        any
    }

    /// No store is pending: a load needs no mutexes any more.
    pub fn let_go(&mut self, hash: Hash) {
        let Some(current) = self.current.as_ref().filter(|current| !current.writes()) else { return };
        for part in &current.parts {
            let entry = hash.entry(part.line);
            if self.gmm.vector().get(entry) == Status::Requested {
                self.gmm.refused(entry);
                self.gmm.give_up();
            }
        }
        self.refused.clear();
    }

    /// The lanes that have something in flight.
    pub fn lanes(&self, number: u32, hash: Hash) -> LaneMask {
        match self.doing(number, hash) {
            Some(Doing::Perform(part) | Doing::Shared(part) | Doing::Retire(part)) => part.lanes,
            Some(Doing::Ask(entry)) => {
                let parts = self.current.iter().flat_map(|current| &current.parts);
                parts.filter(|p| hash.entry(p.line) == entry).fold(0, |lanes, p| lanes | p.lanes)
            }
            None => 0,
        }
    }
}

/// Takes a part out of what is left.
pub(super) fn take(instruction: &mut Instruction, part: Part) {
    instruction.parts.retain(|p| p.lead() != part.lead());
}
