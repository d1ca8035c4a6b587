//! The three models as machines over rows, with every interleaving gone through: what axioms and the memories `lsc` and `slsc` are compared
//! with. Here accesses need not be aligned, as in figure 6, whose stores PTX does not have.
//!
//! Memory is bytes. Under LSC the lanes of a row access it one by one, and the next row begins when all have; under SLSC they do in
//! one step; under SC each column is a machine of its own. A store to bytes that another lane of its row was the last to write leaves
//! any of them as they are.

use super::bytes::low;
use super::tree::{Cell, Op, Program, Spot, Test};
use super::wave::Wave;
use crate::base::words;
use crate::litmus::check::Names;
use crate::litmus::events::{arithmetic, atomic};
use crate::litmus::outcome::{Observed, Outcome};
use crate::litmus::tree::{DeclKind, Initial, Litmus, TermKind, Value};
use indexmap::IndexSet;
use std::collections::BTreeSet;

words! {
    /// A memory model of wavefronts.
    pub enum Order {
        /// Each lane by itself.
        Sc = "sc",
        /// Lanes in lockstep, their accesses in no order.
        Lsc = "lsc",
        /// Lanes in lockstep, their accesses at one time.
        Slsc = "slsc",
    }
}

/// What a machine can come to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reached {
    /// What is asked about, at the ends.
    pub outcomes: BTreeSet<Outcome>,
    /// How many states there are.
    pub states: usize,
    /// Whether there is a state that no end can be reached from.
    pub hangs: bool,
    /// Whether there are more states than were to be looked at.
    pub limited: bool,
}

/// A wavefront in a state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Position {
    row: usize,
    registers: Vec<Vec<u64>>,
    /// The blocks that it is in: where each begins, and its lanes.
    blocks: Vec<(usize, Vec<usize>)>,
    /// The lanes that have not accessed memory in this row; none: it has not begun.
    left: Vec<usize>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    memory: Vec<[u8; 8]>,
    /// Which wavefront, from 1, was the last to write each byte, while it is in the row in which it did.
    by: Vec<[u32; 8]>,
    waves: Vec<Position>,
}

/// A test on such a machine.
pub struct Machine {
    order: Order,
    waves: Vec<Wave>,
    locations: IndexSet<String>,
    observed: Observed,
    start: State,
    /// What is observed: a register by wavefront, lane and number, or a location.
    spots: Vec<Result<(usize, usize, usize), usize>>,
}

impl Machine {
    /// A test without errors on the machine of a model.
    #[must_use]
    pub fn new(litmus: &Litmus, program: &Program, order: Order) -> Self {
        let groups = match order {
            Order::Sc => (0..program.columns.len()).map(|k| vec![k]).collect(),
            Order::Lsc | Order::Slsc => program.waves(),
        };
        let mut waves: Vec<Wave> = groups.into_iter().map(|group| Wave::of(program, group)).collect();
        waves.iter_mut().for_each(|wave| wave.begin(litmus, program));
        let names = Names::of(litmus);
        let locations: IndexSet<String> = names.locations.iter().map(|name| (*name).to_owned()).collect();
        let mut memory = vec![[0; 8]; locations.len()];
        for decl in &litmus.init {
            if let DeclKind::Location { name, value: Initial::Number(n) } = &decl.kind
                && let Some(k) = locations.get_index_of(name.name.as_str())
            {
                memory[k] = n.to_le_bytes();
            }
        }
        let observed = Observed::of(litmus);
        let places = observed.places().map(|place| match place {
            TermKind::Register { thread, name } => {
                let column = litmus.thread(*thread).unwrap_or(0);
                let wave = waves.iter().position(|wave| wave.columns.contains(&column)).unwrap_or(0);
                let lane = waves[wave].columns.iter().position(|c| *c == column).unwrap_or(0);
                Ok((wave, lane, waves[wave].names.get_index_of(name.as_str()).unwrap_or(0)))
            }
            TermKind::Location { name, .. } => Err(locations.get_index_of(name.as_str()).unwrap_or(0)),
            TermKind::Number(_) => Err(0),
        });
        let spots = places.collect();
        let begin = |wave: &Wave| {
            let values = wave.initial.iter().map(|lane| lane.iter().map(|data| data.value.unwrap_or(0)).collect());
            Position { row: 0, registers: values.collect(), blocks: Vec::new(), left: Vec::new() }
        };
        let start = State { by: vec![[0; 8]; memory.len()], memory, waves: waves.iter().map(begin).collect() };
        Self { order, waves, locations, observed, start, spots }
    }

    /// What is observed, in the order of the outcomes' values.
    #[must_use]
    pub const fn observed(&self) -> &Observed {
        &self.observed
    }

    /// Goes through all states, up to a number of them.
    #[must_use]
    pub fn reach(&self, most: usize) -> Reached {
        let mut states: IndexSet<State> = IndexSet::new();
        states.insert(self.start.clone());
        let mut before: Vec<Vec<usize>> = vec![Vec::new()];
        let (mut reached, mut ends, mut at) = (Reached::default(), Vec::new(), 0);
        while at < states.len() {
            if states.len() > most {
                reached.limited = true;
                break;
            }
            let state = states[at].clone();
            if (0..self.waves.len()).all(|w| state.waves[w].row >= self.waves[w].rows.len()) {
                reached.outcomes.insert(self.outcome(&state));
                ends.push(at);
            }
            for wave in 0..self.waves.len() {
                for next in self.steps(&state, wave) {
                    let (k, new) = states.insert_full(next);
                    if new {
                        before.push(Vec::new());
                    }
                    before[k].push(at);
                }
            }
            at += 1;
        }
        let mut comes_to_an_end = vec![false; states.len()];
        while let Some(k) = ends.pop() {
            if !std::mem::replace(&mut comes_to_an_end[k], true) {
                ends.extend(before[k].iter().copied());
            }
        }
        reached.states = states.len();
        reached.hangs = !reached.limited && comes_to_an_end.iter().any(|ends| !ends);
        reached
    }

    fn outcome(&self, state: &State) -> Outcome {
        let value = |spot: &Result<(usize, usize, usize), usize>| match spot {
            Ok((wave, lane, register)) => state.waves[*wave].registers[*lane][*register].cast_signed(),
            Err(location) => state.memory.get(*location).map_or(0, |bytes| i64::from_le_bytes(*bytes)),
        };
        Outcome(self.spots.iter().map(value).collect())
    }

    /// The states that a wavefront can bring about in a step.
    fn steps(&self, state: &State, w: usize) -> Vec<State> {
        let (wave, position) = (&self.waves[w], &state.waves[w]);
        let Some(row) = wave.rows.get(position.row) else { return Vec::new() };
        let active = |lane: &usize| position.blocks.last().is_none_or(|(_, lanes)| lanes.contains(lane));
        let cells: Vec<(usize, &Cell)> =
            row.cells.iter().filter(|(lane, _)| active(lane)).map(|(lane, cell)| (*lane, cell)).collect();
        let mut next = state.clone();
        let Some((_, first)) = cells.first().filter(|(_, cell)| cell.kind.spot().is_some()) else {
            self.by_itself(&mut next, w, &cells);
            return vec![next];
        };
        let lanes: Vec<usize> = cells.iter().map(|(lane, _)| *lane).collect();
        let left = if position.left.is_empty() { lanes } else { position.left.clone() };
        let op = |lane: usize| &cells.iter().find(|(l, _)| *l == lane).map_or(*first, |(_, cell)| *cell).kind;
        if self.order == Order::Slsc {
            let mut all = vec![(next, left)];
            let mut done = Vec::new();
            while let Some((state, left)) = all.pop() {
                if left.is_empty() {
                    done.push(self.on(state, w));
                    continue;
                }
                // Atomic operations come in any order; of stores bytes are any lane's in each.
                let atomic = matches!(first.kind, Op::Atomic { .. });
                let which = if atomic { left.clone() } else { left[..1].to_vec() };
                for lane in which {
                    let rest: Vec<usize> = left.iter().copied().filter(|l| *l != lane).collect();
                    all.extend(self.access(&state, (w, lane), op(lane)).into_iter().map(|state| (state, rest.clone())));
                }
            }
            return done;
        }
        let mut all = Vec::new();
        for lane in &left {
            for mut state in self.access(state, (w, *lane), op(*lane)) {
                state.waves[w].left = left.iter().copied().filter(|l| l != lane).collect();
                all.push(if state.waves[w].left.is_empty() { self.on(state, w) } else { state });
            }
        }
        all
    }

    /// A row is complete.
    #[allow(clippy::unused_self, reason = "a step of the machine")]
    fn on(&self, mut state: State, w: usize) -> State {
        let own = w as u32 + 1;
        state.by.iter_mut().flatten().filter(|by| **by == own).for_each(|by| *by = 0);
        state.waves[w].left.clear();
        state.waves[w].row += 1;
        state
    }

    fn value(wave: &Wave, position: &Position, lane: usize, value: &Value) -> u64 {
        match value {
            Value::Number(n, _) => n.cast_unsigned(),
            Value::Register(ident) => position.registers[lane][wave.register(ident)],
        }
    }

    /// A row that accesses no memory.
    fn by_itself(&self, state: &mut State, w: usize, cells: &[(usize, &Cell)]) {
        let (wave, position) = (&self.waves[w], &mut state.waves[w]);
        let at = position.row;
        position.row += 1;
        match &wave.rows[at].cells[0].1.kind {
            Op::If(_) | Op::While(_) => Self::begin(wave, position, at, cells),
            Op::End => {
                let Some((head, lanes)) = position.blocks.pop() else { return };
                if matches!(wave.rows[head].cells[0].1.kind, Op::While(_)) {
                    let again = wave.rows[head].cells.iter().filter(|(lane, _)| lanes.contains(lane));
                    let again: Vec<(usize, &Cell)> = again.map(|(lane, cell)| (*lane, cell)).collect();
                    Self::begin(wave, position, head, &again);
                }
            }
            _ => {
                for (lane, cell) in cells {
                    let read = |value: &Value| Self::value(wave, position, *lane, value);
                    let (to, value) = match &cell.kind {
                        Op::Move { to, value } => (to, read(value)),
                        Op::Compute { op, to, left, right } => (to, arithmetic(*op, read(left), read(right))),
                        _ => continue,
                    };
                    position.registers[*lane][wave.register(to)] = value;
                }
            }
        }
    }

    /// Goes into a block, or by it.
    fn begin(wave: &Wave, position: &mut Position, head: usize, cells: &[(usize, &Cell)]) {
        let holds = |(lane, cell): &&(usize, &Cell)| {
            let (Op::If(test) | Op::While(test)) = &cell.kind else { return false };
            let Test { relation, left, right } = test;
            let value = |value| Self::value(wave, position, *lane, value).cast_signed();
            relation.holds(value(left), value(right))
        };
        let lanes: Vec<usize> = cells.iter().filter(holds).map(|(lane, _)| *lane).collect();
        if lanes.is_empty() {
            position.row = wave.rows[head].end + 1;
        } else {
            position.blocks.push((head, lanes));
            position.row = head + 1;
        }
    }

    /// A lane's access takes effect, in each way in which it can.
    fn access(&self, state: &State, (w, lane): (usize, usize), op: &Op) -> Vec<State> {
        let wave = &self.waves[w];
        let mut next = state.clone();
        let Some(Spot { location, offset, size }) = op.spot() else { return vec![next] };
        let place = self.locations.get_index_of(location.name.as_str()).unwrap_or(0);
        let (offset, bytes) = (*offset as usize, size.bytes());
        let range = offset..offset + bytes as usize;
        let old = range.clone().rev().fold(0, |all, k| all << 8 | u64::from(state.memory[place][k]));
        let read = |value: &Value| Self::value(wave, &state.waves[w], lane, value);
        let stored = match op {
            Op::Store { value, .. } => read(value),
            Op::Atomic { op, value, new, .. } => {
                atomic(*op, old, low(read(value), bytes), low(new.as_ref().map_or(0, read), bytes))
            }
            _ => old,
        };
        if let Some(to) = op.target() {
            next.waves[w].registers[lane][wave.register(to)] = old;
        }
        let mut all = vec![next];
        if matches!(op, Op::Load { .. }) {
            return all;
        }
        let plain = matches!(op, Op::Store { .. });
        for k in range {
            let byte = (stored >> (8 * (k - offset))).to_le_bytes()[0];
            let mine = plain && state.by[place][k] == w as u32 + 1;
            // The byte stays what another lane of the row has made it.
            let stay = if mine && state.memory[place][k] != byte { all.clone() } else { Vec::new() };
            for state in &mut all {
                state.memory[place][k] = byte;
                state.by[place][k] = if plain { w as u32 + 1 } else { 0 };
            }
            all.extend(stay);
        }
        all
    }
}
