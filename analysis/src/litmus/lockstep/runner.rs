//! A wavefront, run from its start with what its reads returned: rows one after another, each lane that is not masked with an event, or
//! several where its access is in parts.
//!
//! A block has the lanes of which its condition holds; the others wait at its end, as under `crs`, where the two ways of a
//! branch come together.

use super::bytes::{low, part};
use super::tree::{Cell, Op, Spot, Test};
use super::wave::{Data, Layout, RMW, Row, Wave};
use crate::axiom::{End, Event, Kind, Known, Place, Position, Sources, Stall, Trace, Whole};
use crate::litmus::events::{arithmetic, atomic};
use crate::litmus::tree::{Ident, Value};
use smallvec::SmallVec;

/// Both lists, ascending.
fn union(one: &Sources, two: &Sources) -> Sources {
    let mut all = one.clone();
    all.extend(two.iter().copied());
    all.sort_unstable();
    all.dedup();
    all
}

/// A block that a wavefront is in.
struct Block {
    /// The row that it begins with, by its place among the wavefront's.
    row: usize,
    /// The lanes that go through it.
    lanes: Vec<usize>,
    /// The registers when this round began, the number of events then, and how many rounds there were. None of `if`.
    round: Option<(Vec<Vec<Data>>, usize, u32)>,
}

/// A run of a wavefront.
pub(super) struct Runner<'a> {
    all: &'a Layout,
    wave: &'a Wave,
    known: Known<'a>,
    registers: Vec<Vec<Data>>,
    events: Vec<Event>,
    /// How many accesses there were, none of them in parts.
    accesses: Position,
    /// How many instructions accessed memory.
    instructions: u32,
    /// Reads that later events depend on being done at all.
    ctrl: Sources,
    decisions: u32,
    blocks: Vec<Block>,
}

impl<'a> Runner<'a> {
    pub(super) fn new(all: &'a Layout, wave: &'a Wave, known: Known<'a>) -> Self {
        Self {
            all,
            wave,
            known,
            registers: wave.initial.clone(),
            events: Vec::new(),
            accesses: 0,
            instructions: 0,
            ctrl: Sources::new(),
            decisions: 0,
            blocks: Vec::new(),
        }
    }

    /// Runs it as far as it goes.
    pub(super) fn run(mut self) -> Trace {
        let mut at = 0;
        let end = loop {
            let Some(row) = self.wave.rows.get(at) else { break End::Done };
            match self.row(at, row) {
                Ok(next) => at = next,
                Err(end) => break end,
            }
        };
        let done = end == End::Done;
        let asked = self.wave.asked.iter();
        let registers = asked.map(|(lane, register)| self.registers[*lane][*register].value.filter(|_| done));
        Trace { registers: registers.collect(), events: self.events, end }
    }

    /// A row; answers which one is next.
    fn row(&mut self, at: usize, row: &'a Row) -> Result<usize, End> {
        let active = |lane: usize| self.blocks.last().is_none_or(|block| block.lanes.contains(&lane));
        let cells: Vec<(usize, &Cell)> =
            row.cells.iter().filter(|(lane, _)| active(*lane)).map(|(lane, cell)| (*lane, cell)).collect();
        match &row.cells[0].1.kind {
            Op::If(_) | Op::While(_) => return self.begin(at, row, &cells, None),
            Op::End => return self.end(at),
            _ => {}
        }
        let accesses = self.events.len();
        for (lane, cell) in cells {
            self.cell(lane, &cell.kind, self.all.origin(row.number, self.wave.columns[lane]));
        }
        self.instructions += u32::from(self.events.len() > accesses);
        Ok(at + 1)
    }

    /// Goes into a block, or by it; `before`: the rounds that there were.
    fn begin(
        &mut self,
        at: usize,
        row: &Row,
        cells: &[(usize, &Cell)],
        before: Option<(Vec<Vec<Data>>, usize, u32)>,
    ) -> Result<usize, End> {
        let mut lanes = Vec::new();
        let mut open = Sources::new();
        for (lane, cell) in cells {
            let (Op::If(test) | Op::While(test)) = &cell.kind else { continue };
            let Test { relation, left, right } = test;
            let (left, right) = (self.value(*lane, left), self.value(*lane, right));
            let from = union(&left.from, &right.from);
            match left.value.zip(right.value) {
                Some((a, b)) if relation.holds(a.cast_signed(), b.cast_signed()) => lanes.push(*lane),
                Some(_) => {}
                None => open = union(&open, &from),
            }
            self.ctrl = union(&self.ctrl, &from);
        }
        let decision = self.decisions;
        if !open.is_empty() {
            let (at, options) = (u32::try_from(row.number).unwrap_or(u32::MAX), SmallVec::new());
            return Err(End::Stalled(Stall { on: open, control: true, at, decision, options }));
        }
        self.decisions += 1;
        if lanes.is_empty() {
            return Ok(row.end + 1);
        }
        let repeats = matches!(row.cells[0].1.kind, Op::While(_));
        let mut rounds = 1;
        if let Some((then, events, times)) = before {
            rounds = times + 1;
            // Lanes that left the loop are another state, so that nothing would be the same.
            let same =
                lanes.len() == cells.len() && then.iter().zip(&self.registers).all(|(then, now)| equal(then, now));
            if same && self.events[events..].iter().all(|event| event.kind == Kind::Read) {
                return Err(End::Spin);
            }
            if rounds > self.known.bound {
                return Err(End::Bound);
            }
        }
        let round = repeats.then(|| (self.registers.clone(), self.events.len(), rounds));
        self.blocks.push(Block { row: at, lanes, round });
        Ok(at + 1)
    }

    /// At the end of a block: the next round of a loop.
    fn end(&mut self, at: usize) -> Result<usize, End> {
        let Some(Block { row, lanes, round }) = self.blocks.pop() else { return Ok(at + 1) };
        let Some(round) = round else { return Ok(at + 1) };
        let head = &self.wave.rows[row];
        let cells: Vec<(usize, &Cell)> =
            head.cells.iter().filter(|(lane, _)| lanes.contains(lane)).map(|(lane, cell)| (*lane, cell)).collect();
        self.begin(row, head, &cells, Some(round))
    }

    fn value(&self, lane: usize, value: &Value) -> Data {
        match value {
            Value::Number(n, _) => Data::constant(n.cast_unsigned()),
            Value::Register(ident) => self.registers[lane][self.wave.register(ident)].clone(),
        }
    }

    fn set(&mut self, lane: usize, to: &Ident, data: Data) {
        let register = self.wave.register(to);
        self.registers[lane][register] = data;
    }

    /// What a lane does in a row.
    fn cell(&mut self, lane: usize, op: &Op, origin: u32) {
        match op {
            Op::Load { to, from } => {
                let read = self.read(from, 0, origin);
                self.set(lane, to, read);
            }
            Op::Store { to, value } => {
                let data = self.value(lane, value);
                self.write(to, (0, origin), &data, None);
            }
            Op::Atomic { op, to, at, value, new } => {
                let first = Position::try_from(self.events.len()).unwrap_or(Position::MAX);
                let old = self.read(at, RMW, origin);
                let operand = self.value(lane, value);
                let new = new.as_ref().map_or_else(|| Data::constant(0), |new| self.value(lane, new));
                let both = old.value.zip(operand.value).zip(new.value);
                let bytes = at.size.bytes();
                let cut = |n: u64| low(n, bytes);
                let stored = both.map(|((old, value), new)| atomic(*op, old, cut(value), cut(new)));
                let from = union(&union(&old.from, &operand.from), &new.from);
                self.write(at, (RMW, origin), &Data { value: stored, from }, Some(first));
                self.set(lane, to, old);
            }
            Op::Move { to, value } => {
                let data = self.value(lane, value);
                self.set(lane, to, data);
            }
            Op::Compute { op, to, left, right } => {
                let (left, right) = (self.value(lane, left), self.value(lane, right));
                let value = left.value.zip(right.value).map(|(a, b)| arithmetic(*op, a, b));
                self.set(lane, to, Data { value, from: union(&left.from, &right.from) });
            }
            Op::If(_) | Op::While(_) | Op::End => {}
        }
    }

    /// An event for each part of an access: `value` says what one from a byte on is.
    fn access(&mut self, spot: &Spot, mut event: impl FnMut(&Self, Position, (u32, u32)) -> Event) {
        let place = self.all.place(spot);
        let parts = self.all.parts(place);
        let whole = Whole { position: self.accesses, place };
        let several = parts.len() > 1;
        for (offset, bytes) in parts {
            let position = Position::try_from(self.events.len()).unwrap_or(Position::MAX);
            let one = event(self, position, (offset - place.offset, bytes));
            self.events.push(Event {
                place: Some(Place { offset, bytes, ..place }),
                whole: several.then_some(whole),
                instruction: Some(self.instructions),
                ctrl: self.ctrl.clone(),
                ..one
            });
        }
        self.accesses += 1;
    }

    fn read(&mut self, spot: &Spot, tags: u64, origin: u32) -> Data {
        let mut data = Data::constant(0);
        self.access(spot, |run, position, (first, _)| {
            let value = run.known.reads.get(position as usize).copied().flatten();
            data.value = data.value.zip(value).map(|(all, value)| all | value << (8 * first));
            data.from.push(position);
            Event { tags, value, origin, ..Event::new(Kind::Read) }
        });
        data
    }

    fn write(&mut self, spot: &Spot, (tags, origin): (u64, u32), data: &Data, rmw: Option<Position>) {
        let mut count = 0;
        self.access(spot, |_, _, (first, bytes)| {
            let value = data.value.map(|value| part(value, first, bytes));
            let rmw = rmw.map(|read| read + count);
            count += 1;
            Event { tags, value, rmw, origin, data: data.from.clone(), ..Event::new(Kind::Write) }
        });
    }
}

/// Whether registers are the same, as far as that is known.
fn equal(then: &[Data], now: &[Data]) -> bool {
    then.iter().zip(now).all(|(then, now)| then == now || now.value.is_some() && now.value == then.value)
}
