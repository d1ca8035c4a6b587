//! What one of several threads of a search notes: the states that it saw first and the steps that it made.
//!
//! Numbers of states and steps have the thread's own in their lowest bits. The steps of a state are in the order of its agents;
//! those of a state that was taken over, or of which only some agents were, are a chain of their own.

use super::book::{Book, Done};
use super::followed::Followed;
use super::graph::{Edge, NONE};
use super::job::Job;
use super::left::Unit;
use super::named::Named;
use super::slots::Slots;
use super::team::Team;
use crate::machine::walk::Roles;
use std::sync::RwLockReadGuard;

/// A state that a thread saw first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    /// Its number by halves.
    low: u64,
    high: u64,
    /// Its first step and its last.
    pub first: u32,
    last: u32,
}

impl Own {
    /// A state with a number.
    pub const fn new(number: u128) -> Self {
        Self { low: number as u64, high: (number >> 64) as u64, first: NONE, last: NONE }
    }

    /// Its number.
    pub const fn number(&self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }

    /// More steps of it; gives which was the last before.
    pub const fn join(&mut self, first: u32, last: u32) -> u32 {
        let before = std::mem::replace(&mut self.last, last);
        if before == NONE {
            self.first = first;
        }
        before
    }
}

/// The steps of a state from one of its agents on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    pub state: u32,
    pub agent: u32,
    pub first: u32,
    pub last: u32,
    /// The number of its roles among those of the thread.
    pub roles: usize,
}

/// What a thread has noted.
#[derive(Default)]
pub(super) struct Notes {
    pub seen: Vec<Own>,
    pub edges: Vec<Edge>,
    pub named: Named,
    /// The blocks that have stepped before its states, where states tell.
    pub stepped: Vec<u64>,
    /// Who is who in its states and along its steps.
    pub followed: Followed,
    /// Roles of states that were taken over, in the order of their chains.
    pub adopted: Followed,
    /// States that were taken over; the last one is that of the current part.
    pub chains: Vec<Chain>,
}

/// The notes of a thread under way, and the table while it looks things up.
pub(super) struct Ledger<'t> {
    pub team: &'t Team,
    pub notes: Notes,
    worker: u32,
    table: Option<RwLockReadGuard<'t, Slots>>,
    states: u64,
    told: Done,
}

impl<'t> Ledger<'t> {
    /// Of a thread that has seen nothing yet; the first one has seen the first state.
    pub fn new(team: &'t Team, worker: u32) -> Self {
        let seen = if worker == 0 { vec![Own::new(team.first)] } else { Vec::new() };
        let notes = Notes { seen, ..Notes::default() };
        Self { team, notes, worker, table: None, states: 0, told: Done::default() }
    }

    fn number(&self, place: usize) -> u32 {
        u32::try_from(place).unwrap_or(NONE >> self.team.bits) << self.team.bits | self.worker
    }

    /// The table may grow.
    pub fn release(&mut self) {
        self.table = None;
    }

    fn place(&self, number: u32) -> usize {
        (number >> self.team.bits) as usize
    }

    /// The chain of a state that was taken over for the current part.
    fn taken(&self, state: u32) -> bool {
        self.notes.chains.last().is_some_and(|chain| chain.state == state)
    }
}

impl Book for Ledger<'_> {
    const ALONE: bool = false;

    fn state(&mut self, number: u128) -> (u32, bool) {
        let fresh = self.number(self.notes.seen.len());
        let team = self.team;
        let table = self.table.get_or_insert_with(|| team.table());
        let (id, new) = table.find_or_insert(number, fresh);
        if new {
            self.notes.seen.push(Own::new(number));
            self.states = self.team.one_more(self.notes.seen.len() as u64);
        }
        (id, new)
    }

    fn edge(&mut self, from: u32, unit: Unit, agent: usize, nth: u32, to: u32) -> u32 {
        let id = self.number(self.notes.edges.len());
        let narrow = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        let unit = self.notes.named.number(unit);
        self.notes.edges.push(Edge::new(to, unit, narrow(agent), narrow(nth as usize)));
        let place = self.place(from);
        let (first, last) = match self.notes.chains.last_mut().filter(|chain| chain.state == from) {
            Some(Chain { first, last, .. }) => (first, last),
            None => {
                let Own { first, last, .. } = &mut self.notes.seen[place];
                (first, last)
            }
        };
        let before = std::mem::replace(last, id);
        if before == NONE {
            *first = id;
        } else {
            let place = self.place(before);
            self.notes.edges[place].set_next(id);
        }
        id
    }

    fn reached(&mut self, _: u32, _: u32, _: u32) {}

    fn set_stepped(&mut self, state: u32, blocks: u64) {
        let place = self.place(state);
        self.notes.stepped.resize(place + 1, 0);
        self.notes.stepped[place] = blocks;
    }

    fn roles(&mut self, state: u32, roles: &Roles) {
        if self.taken(state) {
            let chain = u32::try_from(self.notes.chains.len() - 1).unwrap_or(NONE);
            self.notes.adopted.state(chain, roles);
        } else {
            let place = self.place(state);
            self.notes.followed.state(u32::try_from(place).unwrap_or(NONE), roles);
        }
    }

    fn follow(&mut self, edge: u32, before: &Roles, after: Option<&Roles>) {
        let place = self.place(edge);
        self.notes.followed.step(u32::try_from(place).unwrap_or(NONE), before, after);
    }

    fn known(&mut self, number: u128) -> Option<u32> {
        let team = self.team;
        self.table.get_or_insert_with(|| team.table()).find(number)
    }

    fn known_of(&mut self, numbers: &[u128], found: &mut Vec<Option<u32>>) {
        let team = self.team;
        self.table.get_or_insert_with(|| team.table()).find_all(numbers, found);
    }

    fn states(&self) -> u64 {
        self.states
    }

    fn own(&self) -> u64 {
        self.notes.seen.len() as u64
    }

    /// Those of the graph that is made of it, too, without the table, which all share.
    fn bytes(&self) -> usize {
        let lists = self.notes.seen.capacity() * size_of::<Own>() + self.notes.edges.capacity() * size_of::<Edge>();
        let followed = self.notes.followed.bytes()
            + self.notes.adopted.bytes()
            + self.notes.chains.capacity() * size_of::<Chain>();
        2 * (lists + if self.notes.followed.is_empty() && self.notes.adopted.is_empty() { 0 } else { followed })
    }

    fn grows(&self, steps: u64) -> usize {
        let more = usize::try_from(steps).unwrap_or(usize::MAX).saturating_mul(self.team.count());
        self.table.as_ref().map_or(0, |table| table.grows(self.team.seen(), more))
    }

    fn pause(&mut self, done: Done) -> Done {
        let before = std::mem::replace(&mut self.told, done);
        if self.team.note(self.worker, (before, done)) {
            self.table = None;
            self.team.let_grow();
        }
        self.team.done()
    }

    fn is_wanted(&self) -> bool {
        self.team.is_wanted()
    }

    fn give(&mut self, job: Job) {
        self.team.give(job);
    }

    fn begin(&mut self, job: &Job) {
        let (state, agent, roles) = (job.state, job.agents.start, self.notes.chains.len());
        self.notes.chains.push(Chain { state, agent, first: NONE, last: NONE, roles });
    }
}
