//! How a thread goes on once memory stays as it is: it is run on by itself, by values, where an execution has left it.

use super::Kernel;
use crate::axiom::{Event, Kind, Place};
use crate::machine::Alone;
use crate::program::instr::{Instr, MemOp, Op, Space, value};
use crate::program::ops::Class;
use rustc_hash::FxHashMap;

/// Instructions after which it is not looked for a state that repeats any more.
const LONGEST: u32 = 1 << 16;

/// What becomes of the thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Onward {
    /// It goes around a loop for ever: the instructions of a round that access memory, or that go back.
    Spins(Vec<u32>),
    /// It comes to its end, to a barrier, or writes what was not there.
    GoesOn,
    /// That is not known.
    Unknown,
}

/// A byte of memory in the end.
pub(super) type Last<'a> = dyn Fn(Place) -> Option<u8> + 'a;

/// Runs a thread along its events in an execution, and then on, while memory holds what it holds in the end.
pub(super) fn onward(kernel: &Kernel, thread: usize, events: &[Event], last: &Last<'_>) -> Onward {
    let (block, index) = kernel.spot(thread);
    kernel.apart.with(block, index, |on| Replay { kernel, block, on, events, last }.run().unwrap_or(Onward::Unknown))
}

struct Replay<'k, 'm, 'a, 'c> {
    kernel: &'k Kernel,
    block: u64,
    on: &'m mut Alone<'a, 'c>,
    /// Those that are still to be gone along.
    events: &'k [Event],
    last: &'k Last<'k>,
}

/// What an instruction does to others.
enum Effect {
    None,
    /// It reads, or writes what is there already.
    Looks,
    /// It writes something else, or comes to a barrier.
    Acts,
    /// It needs others.
    Unknown,
}

impl Replay<'_, '_, '_, '_> {
    /// None: the machine cannot go on.
    fn run(mut self) -> Option<Onward> {
        let mut seen: FxHashMap<Vec<u64>, usize> = FxHashMap::default();
        let mut looks: Vec<u32> = Vec::new();
        for _ in 0..LONGEST {
            let Some((pc, _)) = self.on.at() else { return Some(Onward::GoesOn) };
            let along = !self.events.is_empty();
            let effect = match self.kernel.env().code.get(pc.0 as usize).cloned() {
                Some(i) => self.execute(pc.0, &i)?,
                None => self.step()?,
            };
            if along {
                continue;
            }
            match effect {
                Effect::None => {}
                Effect::Looks => looks.push(pc.0),
                Effect::Acts => return Some(Onward::GoesOn),
                Effect::Unknown => return Some(Onward::Unknown),
            }
            if self.on.at().is_some_and(|(next, _)| next <= pc)
                && let Some(since) = seen.insert(self.on.snapshot(), looks.len())
            {
                let round = looks.split_off(since);
                return Some(Onward::Spins(if round.is_empty() { vec![pc.0] } else { round }));
            }
        }
        Some(Onward::Unknown)
    }

    fn step(&mut self) -> Option<Effect> {
        self.on.step().ok().map(|()| Effect::None)
    }

    fn execute(&mut self, pc: u32, i: &Instr) -> Option<Effect> {
        let lane = self.on.lane();
        let holds = i.guard.is_none_or(|guard| {
            let p = self.on.regs().and_then(|regs| value(regs, Class::P, guard.pred, lane)).unwrap_or(0);
            (p != 0) != guard.negated
        });
        match i.op {
            Op::Mem | Op::LdGlobal32 | Op::LdShared32 | Op::StGlobal32 | Op::StShared32 if holds => self.access(pc, i),
            Op::Fence { .. } | Op::Bar | Op::WarpSync => {
                self.on.skip();
                if !holds {
                    return Some(Effect::None);
                }
                self.events = self.events.get(1..).unwrap_or(&[]);
                Some(if matches!(i.op, Op::Fence { .. }) { Effect::None } else { Effect::Acts })
            }
            Op::Exchange if self.on.companions() > 1 => Some(Effect::Unknown),
            op if op.copies() || op.is_barrier() => Some(Effect::Unknown),
            Op::Barrier(_) | Op::Image | Op::Matrix | Op::ReadSpecial(_) => Some(Effect::Unknown),
            _ => self.step(),
        }
    }

    fn access(&mut self, pc: u32, i: &Instr) -> Option<Effect> {
        let Some(rq) = self.kernel.env().request(i) else { return self.step() };
        let at = self.on.place(&rq).ok()?;
        if !matches!(at.0, Space::Global | Space::Shared) {
            return self.step();
        }
        let whole = self.kernel.place_at(self.block, at, rq.bytes())?;
        let there = |k: u32| Place { offset: whole.offset + k, bytes: 1, ..whole };
        if self.events.is_empty() {
            for k in 0..whole.bytes {
                self.on.put((at.0, at.1 + u64::from(k)), 1, (self.last)(there(k))?.into());
            }
        } else {
            self.along(pc, at, whole);
        }
        let before: Vec<u64> = self.bytes(at, whole.bytes);
        self.step()?;
        let same = matches!(rq.op, MemOp::Load) || self.bytes(at, whole.bytes) == before;
        Some(if same { Effect::Looks } else { Effect::Acts })
    }

    /// The instruction finds what its events read.
    fn along(&mut self, pc: u32, at: (Space, u64), whole: Place) {
        let mut own: Vec<(Kind, Place)> = Vec::new();
        while let Some((event, rest)) = self.events.split_first() {
            let Some(place) = event.place.filter(|_| event.origin == pc) else { return };
            let inside =
                place.location == whole.location && (whole.offset..whole.offset + whole.bytes).contains(&place.offset);
            if !inside || own.contains(&(event.kind, place)) {
                return;
            }
            own.push((event.kind, place));
            if let Some(value) = event.value.filter(|_| event.kind == Kind::Read) {
                self.on.put((at.0, at.1 + u64::from(place.offset - whole.offset)), place.bytes, value);
            }
            self.events = rest;
        }
    }

    fn bytes(&self, at: (Space, u64), count: u32) -> Vec<u64> {
        (0..u64::from(count)).map(|k| self.on.get((at.0, at.1 + k), 1)).collect()
    }
}
