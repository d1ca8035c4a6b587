//! Where places lead along the steps of a graph in which agents that are alike are not told apart (D-symmetry).

use crate::base::mutant::{Mutant, on};
use crate::machine::walk::Roles;
use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

/// In place of the number of a way: everybody stays where he is.
const STAY: u32 = u32::MAX;

/// Rows of places, each kept once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Rows {
    all: IndexSet<Box<[u16]>>,
    bytes: usize,
}

impl Rows {
    fn number(&mut self, row: Box<[u16]>) -> u32 {
        let length = row.len();
        let (number, new) = self.all.insert_full(row);
        self.bytes += if new { length * size_of::<u16>() + 40 } else { 0 };
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    fn get(&self, number: u32) -> &[u16] {
        self.all.get_index(number as usize).map_or(&[], |row| row)
    }
}

/// Who is who; empty where everybody is told apart.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Followed {
    /// Where each place leads, by step.
    ways: Rows,
    by_step: Vec<u32>,
    /// The first place of those that nothing tells apart, by state.
    firsts: Rows,
    by_state: Vec<u32>,
}

impl Followed {
    /// Whether everybody is told apart.
    pub const fn is_empty(&self) -> bool {
        self.by_state.is_empty()
    }

    /// Takes note of a step between states with these roles; `after` is none where everybody stays where he is.
    pub fn step(&mut self, edge: u32, before: &Roles, after: Option<&Roles>) {
        let Some(after) = after.filter(|_| !on(Mutant::AlikeUnfollowed)) else {
            put(&mut self.by_step, edge, STAY);
            return;
        };
        let mut way: Box<[u16]> = (0..u16::try_from(before.place.len()).unwrap_or(u16::MAX)).collect();
        for (from, to) in before.place.iter().zip(&after.place) {
            if let Some(place) = way.get_mut(usize::from(*from)) {
                *place = *to;
            }
        }
        put(&mut self.by_step, edge, self.ways.number(way));
    }

    /// Takes note of a state.
    pub fn state(&mut self, state: u32, roles: &Roles) {
        put(&mut self.by_state, state, self.firsts.number(roles.first.clone()));
    }

    /// Where the places of a step's state lead; `None`: everybody stays where he is.
    pub fn way(&self, edge: u32) -> Option<&[u16]> {
        self.by_step.get(edge as usize).filter(|row| **row != STAY).map(|row| self.ways.get(*row))
    }

    /// Whether a state's row is known.
    pub fn has(&self, place: usize) -> bool {
        self.by_state.get(place).is_some_and(|row| *row != STAY)
    }

    /// The number of a state's row of places, each by the first that nothing tells from it.
    pub fn row(&self, state: u32) -> usize {
        self.by_state.get(state as usize).map_or(usize::MAX, |row| *row as usize)
    }

    /// That row.
    pub fn firsts(&self, state: u32) -> &[u16] {
        self.by_state.get(state as usize).map_or(&[], |row| self.firsts.get(*row))
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &[u16]> {
        self.firsts.all.iter().map(|row| &**row)
    }

    /// Bytes that it takes, about.
    pub const fn bytes(&self) -> usize {
        (self.by_step.capacity() + self.by_state.capacity()) * size_of::<u32>() + self.ways.bytes + self.firsts.bytes
    }

    /// Whether it is of a graph with so many states and steps.
    pub fn is_sound(&self, states: usize, steps: usize) -> bool {
        let width = self.firsts.all.iter().chain(&self.ways.all).map(|row| row.len()).max().unwrap_or(0);
        let rows = |rows: &Rows, by: &[u32], most: usize| {
            let within = |row: &[u16]| row.iter().all(|place| usize::from(*place) < width.max(1));
            rows.all.iter().all(|row| within(row))
                && by.len() <= most
                && by.iter().all(|row| *row == STAY || (*row as usize) < rows.all.len())
        };
        rows(&self.ways, &self.by_step, steps) && rows(&self.firsts, &self.by_state, states)
    }
}

/// Which rows of one that is merged into another have come there.
#[derive(Debug, Default)]
pub(super) struct Merged {
    ways: Vec<u32>,
    firsts: Vec<u32>,
}

impl Merged {
    /// Takes over a step's way: its numbers there and here.
    pub fn step(&mut self, to: &mut Followed, (edge, place): (u32, usize), from: &Followed) {
        let Some(&row) = from.by_step.get(place) else { return };
        let row = if row == STAY { STAY } else { moved(&mut self.ways, row, &mut to.ways, &from.ways) };
        put(&mut to.by_step, edge, row);
    }

    /// Takes over a state's row.
    pub fn state(&mut self, to: &mut Followed, (state, place): (u32, usize), from: &Followed) {
        let Some(&row) = from.by_state.get(place).filter(|row| **row != STAY) else { return };
        put(&mut to.by_state, state, moved(&mut self.firsts, row, &mut to.firsts, &from.firsts));
    }
}

/// The number of a row there, which is looked up once.
fn moved(known: &mut Vec<u32>, row: u32, to: &mut Rows, from: &Rows) -> u32 {
    if known.get(row as usize).is_none_or(|there| *there == STAY) {
        put(known, row, to.number(from.get(row).into()));
    }
    known[row as usize]
}

fn put(list: &mut Vec<u32>, at: u32, number: u32) {
    if list.len() <= at as usize {
        list.resize(at as usize + 1, STAY);
    }
    list[at as usize] = number;
}
