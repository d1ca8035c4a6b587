//! A thread, run from its start with what its reads returned.

use super::code::{Address, Code, Operand, Step, bit};
use super::locations::{Locations, pointed};
use crate::axiom::{Arrival, End, Event, Kind, Known, Place, Position, Sources, Stall, Trace};
use crate::litmus::tree::{Arith, Atom, Relation};
use smallvec::smallvec;

/// A value, and the reads that it depends on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Data {
    pub(super) value: Option<u64>,
    pub(super) from: Sources,
}

impl Data {
    /// A value that depends on nothing.
    pub(super) fn constant(value: u64) -> Self {
        Self { value: Some(value), from: Sources::new() }
    }

    /// What two values come to.
    fn with(&self, other: &Self, op: impl FnOnce(u64, u64) -> u64) -> Self {
        let value = self.value.zip(other.value).map(|(a, b)| op(a, b));
        Self { value, from: union(&self.from, &other.from) }
    }
}

/// Both lists, ascending.
fn union(one: &Sources, two: &Sources) -> Sources {
    let mut all = one.clone();
    all.extend(two.iter().copied());
    all.sort_unstable();
    all.dedup();
    all
}

/// What a thread was like when it came to the head of a loop.
struct Visit {
    registers: Vec<Data>,
    /// How often each register had been written.
    writes: Vec<u32>,
    /// How many events it had.
    events: usize,
    /// How many times it has been here.
    times: u32,
}

/// A run of a thread.
pub(super) struct Runner<'a> {
    code: &'a Code,
    locations: &'a Locations,
    known: Known<'a>,
    registers: Vec<Data>,
    /// How often each register was written.
    writes: Vec<u32>,
    events: Vec<Event>,
    /// Reads that later events depend on being done at all.
    ctrl: Sources,
    /// How many decisions it came by.
    decisions: u32,
    visits: Vec<Option<Visit>>,
    pc: usize,
}

/// The result of arithmetic: two's complement; a division by zero gives all ones, as the machine's does.
pub(in crate::litmus) fn arithmetic(op: Arith, a: u64, b: u64) -> u64 {
    match op {
        Arith::Add => a.wrapping_add(b),
        Arith::Sub => a.wrapping_sub(b),
        Arith::Mul => a.wrapping_mul(b),
        Arith::Div if b == 0 => u64::MAX,
        Arith::Div => a.cast_signed().wrapping_div(b.cast_signed()).cast_unsigned(),
    }
}

/// What an atomic operation leaves in memory; `new` is what a compare-and-swap stores.
pub(in crate::litmus) fn atomic(op: Atom, old: u64, value: u64, new: u64) -> u64 {
    match op {
        Atom::Add => arithmetic(Arith::Add, old, value),
        Atom::Sub => arithmetic(Arith::Sub, old, value),
        Atom::Mul => arithmetic(Arith::Mul, old, value),
        Atom::Div => arithmetic(Arith::Div, old, value),
        Atom::And => old & value,
        Atom::Or => old | value,
        Atom::Xor => old ^ value,
        Atom::Cas | Atom::CasSuccess => {
            if old == value {
                new
            } else {
                old
            }
        }
        Atom::Exch => value,
    }
}

impl<'a> Runner<'a> {
    pub(super) fn new(code: &'a Code, locations: &'a Locations, initial: &[Data], known: Known<'a>) -> Self {
        let visits = code.heads.iter().map(|_| None).collect();
        let (events, ctrl) = (Vec::new(), Sources::new());
        let (registers, writes) = (initial.to_vec(), vec![0; initial.len()]);
        Self { code, locations, known, registers, writes, events, ctrl, decisions: 0, visits, pc: 0 }
    }

    /// Runs it as far as it goes, for the registers of some numbers; answers also how many events it had when the round began in which it
    /// only read, if it ends in one.
    pub(super) fn run(mut self, asked: &[usize]) -> (Trace, Option<usize>) {
        let end = loop {
            if self.code.heads[self.pc]
                && let Some(end) = self.visit()
            {
                break end;
            }
            let Some(step) = self.code.steps.get(self.pc) else { break End::Done };
            self.pc += 1;
            if let Err(end) = self.step(step) {
                break end;
            }
        };
        let done = end == End::Done;
        let spins = (end == End::Spin).then(|| self.visits[self.pc].as_ref().map(|visit| visit.events)).flatten();
        let registers = asked.iter().map(|r| self.registers[*r].value.filter(|_| done)).collect();
        (Trace { events: self.events, end, registers }, spins)
    }

    /// Runs it as far as it goes; answers where it is after each instruction that has events, the start included: the number of events,
    /// the next step and the registers.
    pub(super) fn stops(mut self) -> Vec<(usize, usize, Vec<u64>)> {
        let mut all = Vec::new();
        loop {
            let registers = self.registers.iter().map(|data| data.value.unwrap_or(0)).collect();
            let stop = (self.events.len(), self.pc, registers);
            // What a thread does by itself belongs to what it did last.
            if all.last().is_some_and(|last: &(usize, usize, Vec<u64>)| last.0 == stop.0) {
                all.pop();
            }
            all.push(stop);
            let ends = self.code.heads[self.pc] && self.visit().is_some();
            let Some(step) = self.code.steps.get(self.pc).filter(|_| !ends) else { return all };
            self.pc += 1;
            if self.step(step).is_err() {
                return all;
            }
        }
    }

    /// At the head of a loop: whether this ends the run.
    fn visit(&mut self) -> Option<End> {
        let live = self.code.live[self.pc];
        let mut times = 1;
        if let Some(before) = &self.visits[self.pc] {
            times = before.times + 1;
            let same = |r: usize| {
                let matters = live & bit(r) != 0 || bit(r) == 0;
                let (now, then) = (self.registers[r].value, before.registers[r].value);
                !matters || self.writes[r] == before.writes[r] || now.is_some() && now == then
            };
            let round = &self.events[before.events..];
            let harmless = round.iter().all(|e| matches!(e.kind, Kind::Read | Kind::Fence));
            if harmless && (0..self.registers.len()).all(same) {
                return Some(End::Spin);
            }
            if times > self.known.bound {
                return Some(End::Bound);
            }
        }
        let (registers, writes) = (self.registers.clone(), self.writes.clone());
        self.visits[self.pc] = Some(Visit { registers, writes, events: self.events.len(), times });
        None
    }

    fn operand(&self, operand: Operand) -> Data {
        match operand {
            Operand::Number(n) => Data::constant(n.cast_unsigned()),
            Operand::Register(r) => self.registers[r].clone(),
        }
    }

    /// Where an instruction accesses memory, and the reads that this depends on. No place: not known yet.
    fn place(&self, at: Address) -> Result<(Option<Place>, Sources), End> {
        match at {
            Address::Location(location) => Ok((Some(self.locations.places[location]), Sources::new())),
            Address::Register(r) => {
                let Data { value, from } = &self.registers[r];
                let Some(value) = value else { return Ok((None, from.clone())) };
                let place = pointed(*value).and_then(|location| self.locations.places.get(location));
                match place {
                    Some(place) => Ok((Some(*place), from.clone())),
                    None => {
                        Err(End::Unsupported(format!("`{}` holds no address of a location", self.code.registers[r])))
                    }
                }
            }
        }
    }

    /// The step that it is at.
    fn at(&self) -> u32 {
        u32::try_from(self.pc - 1).unwrap_or(u32::MAX)
    }

    /// The next event's position.
    fn position(&self) -> Position {
        Position::try_from(self.events.len()).unwrap_or(Position::MAX)
    }

    fn event(&mut self, event: Event) {
        let origin = self.at();
        self.events.push(Event { ctrl: self.ctrl.clone(), origin, ..event });
    }

    /// A read; answers what it returns.
    fn read(&mut self, tags: u64, place: Option<Place>, addr: &Sources) -> Data {
        let position = self.position();
        let value = self.known.reads.get(position as usize).copied().flatten();
        self.event(Event { tags, place, value, addr: addr.clone(), ..Event::new(Kind::Read) });
        Data { value, from: smallvec![position] }
    }

    fn write(&mut self, tags: u64, place: Option<Place>, addr: Sources, data: Data, rmw: Option<Position>) {
        let Data { value, from } = data;
        self.event(Event { tags, place, value, rmw, addr, data: from, ..Event::new(Kind::Write) });
    }

    /// Which way a thread goes: as it is known, or as is assumed.
    fn decide(&mut self, known: Option<bool>, on: &Sources, control: bool) -> Result<bool, End> {
        let decision = self.decisions;
        self.decisions += 1;
        let assumed = self.known.assumption(decision).map(|option| option != 0);
        match (known, assumed) {
            (Some(known), Some(assumed)) if known != assumed => Err(End::Contradiction),
            (Some(way), _) | (None, Some(way)) => Ok(way),
            (None, None) => {
                Err(End::Stalled(Stall { on: on.clone(), control, at: self.at(), decision, options: smallvec![1, 0] }))
            }
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), End> {
        match step {
            Step::Load { tags, to, at } => {
                let (place, addr) = self.place(*at)?;
                let read = self.read(*tags, place, &addr);
                self.set(*to, read);
            }
            Step::Store { tags, at, value } => {
                let (place, addr) = self.place(*at)?;
                let value = self.operand(*value);
                self.write(*tags, place, addr, value, None);
            }
            Step::Move { to, value } => self.set(*to, self.operand(*value)),
            Step::Compute { op, to, left, right } => {
                let result = self.operand(*left).with(&self.operand(*right), |a, b| arithmetic(*op, a, b));
                self.set(*to, result);
            }
            Step::Compare { relation, to, left, right } => {
                let holds = |a: u64, b: u64| u64::from(relation.holds(a.cast_signed(), b.cast_signed()));
                let result = self.operand(*left).with(&self.operand(*right), holds);
                self.set(*to, result);
            }
            Step::Atomic { load, store, op, to, at, value, new } => {
                let (place, addr) = self.place(*at)?;
                let position = self.position();
                let mut old = self.read(*load, place, &addr);
                let (value, new) = (self.operand(*value), new.map_or(Data::constant(0), |new| self.operand(new)));
                if *op == Atom::CasSuccess {
                    let swaps = old.value.zip(value.value).map(|(old, value)| old == value);
                    let on = union(&old.from, &value.from);
                    if self.decide(swaps, &on, false)? {
                        // One that succeeds has read what it compares with.
                        old.value = old.value.or(value.value);
                        self.write(*store, place, addr, new, Some(position));
                        if let Some(written) = self.events.last_mut() {
                            written.ctrl = union(&written.ctrl, &on);
                        }
                    }
                    self.returned(*to, old);
                    return Ok(());
                }
                let pair = value.with(&new, |_, _| 0);
                let operands = value.value.zip(new.value);
                let stored = match op {
                    // What an exchange leaves does not depend on what was there.
                    Atom::Exch => value,
                    _ => {
                        let result = old.value.zip(operands).map(|(old, (value, new))| atomic(*op, old, value, new));
                        Data { value: result, from: union(&old.from, &pair.from) }
                    }
                };
                self.write(*store, place, addr, stored, Some(position));
                self.returned(*to, old);
            }
            Step::Device { tags } => self.event(Event { tags: *tags, ..Event::new(Kind::Other) }),
            Step::Fence { tags } => self.event(Event { tags: *tags, ..Event::new(Kind::Fence) }),
            Step::Barrier { tags, waits, instance, barrier, quorum } => {
                self.barrier(
                    *tags,
                    *waits,
                    *instance,
                    barrier.map(|b| self.operand(b)),
                    quorum.map(|q| self.operand(q)),
                )?;
            }
            Step::Branch { test, to } => self.branch(test.as_ref(), *to)?,
        }
        Ok(())
    }

    fn returned(&mut self, to: Option<usize>, old: Data) {
        if let Some(to) = to {
            self.set(to, old);
        }
    }

    fn set(&mut self, register: usize, data: Data) {
        self.registers[register] = data;
        self.writes[register] = self.writes[register].wrapping_add(1);
    }

    fn barrier(
        &mut self,
        tags: u64,
        waits: bool,
        instance: i64,
        barrier: Option<Data>,
        quorum: Option<Data>,
    ) -> Result<(), End> {
        if let Some(Data { value: None, from }) = &quorum {
            return Err(End::Stalled(Stall {
                on: from.clone(),
                control: true,
                at: self.at(),
                decision: self.decisions,
                options: smallvec![],
            }));
        }
        let number = match &barrier {
            // Barriers without a number are told apart by their instance.
            None => Some(i64::MIN),
            Some(data) => data.value.map(u64::cast_signed),
        };
        let arrival = Arrival { barrier: number.map(|n| (instance, n)), quorum: quorum.and_then(|q| q.value), waits };
        let addr = barrier.map_or(Sources::new(), |b| b.from);
        self.event(Event { tags, arrival: Some(arrival), addr, ..Event::new(Kind::Barrier) });
        Ok(())
    }

    fn branch(&mut self, test: Option<&(Relation, Operand, Operand)>, to: usize) -> Result<(), End> {
        let Some((relation, left, right)) = test else {
            self.pc = to;
            return Ok(());
        };
        let (left, right) = (self.operand(*left), self.operand(*right));
        let from = union(&left.from, &right.from);
        let taken = left.value.zip(right.value).map(|(a, b)| relation.holds(a.cast_signed(), b.cast_signed()));
        let way = self.decide(taken, &from, true)?;
        self.ctrl = union(&self.ctrl, &from);
        if way {
            self.pc = to;
        }
        Ok(())
    }
}
