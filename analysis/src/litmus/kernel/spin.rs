//! Rounds of loops that change nothing.
//!
//! Rule: D-spin

use crate::axiom::{Event, Kind};
use crate::base::sort;
use crate::program::env::{Function, ProgEnv};
use crate::program::instr::{Instr, Op, Slot};
use crate::program::ops::Class;
use crate::program::uses::{reads, writes};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// Bits of sets of registers that are looked at in a function; in one with more, every round counts.
const MOST: usize = 1 << 28;

/// The heads of loops, each with the registers that matter there.
#[derive(Default)]
pub(super) struct Heads {
    live: FxHashMap<u32, Vec<(Class, Slot)>>,
}

impl Heads {
    /// Those of all functions.
    pub fn of(env: &ProgEnv) -> Self {
        let mut all = Self::default();
        for function in env.functions.values().filter(|function| function.defined) {
            all.add(env, function);
        }
        all
    }

    /// The registers that matter where a loop begins; none where none does.
    pub fn at(&self, pc: u32) -> Option<&[(Class, Slot)]> {
        self.live.get(&pc).map(Vec::as_slice)
    }

    /// Registers matter that some way from there reads before it writes them (A. Appel, "Modern Compiler Implementation", 10.1).
    /// An instruction under a guard may not write.
    fn add(&mut self, env: &ProgEnv, function: &Function) {
        let (start, end) = (function.start.0, function.end.0);
        let code = env.code.get(start as usize..end as usize).unwrap_or_default();
        let inside = |(i, pc): (&Instr, u32)| targets(env, i).into_iter().filter(move |to| (start..=pc).contains(to));
        let mut heads: Vec<u32> = code.iter().zip(start..).flat_map(inside).collect();
        sort::sort(&mut heads);
        heads.dedup();
        let slots = &function.slots;
        let counts = [slots.w, slots.q, slots.p].map(usize::from);
        let number = |class: Class, slot: Slot| counts[..class as usize].iter().sum::<usize>() + slot.index();
        let count = counts.iter().sum::<usize>();
        if heads.is_empty() || count * code.len() > MOST {
            return;
        }
        let mut live = vec![FixedBitSet::with_capacity(count); code.len() + 1];
        let mut again = true;
        while again {
            again = false;
            for (k, i) in code.iter().enumerate().rev() {
                let mut here = if falls_through(i) { live[k + 1].clone() } else { FixedBitSet::with_capacity(count) };
                for to in targets(env, i) {
                    if let Some(there) = to.checked_sub(start).and_then(|to| live.get(to as usize)) {
                        here.union_with(there);
                    }
                }
                if i.guard.is_none() {
                    writes(i, env, |class, slot| here.set(number(class, slot), false));
                }
                reads(i, env, |class, slot| here.insert(number(class, slot)));
                if here != live[k] {
                    live[k] = here;
                    again = true;
                }
            }
        }
        let classes = [Class::W, Class::Q, Class::P];
        let all = classes.into_iter().flat_map(|class| (0..counts[class as usize]).map(move |slot| (class, slot)));
        let all: Vec<(Class, Slot)> =
            all.filter_map(|(class, slot)| Some((class, Slot(u16::try_from(slot).ok()?)))).collect();
        for head in heads {
            let live = &live[(head - start) as usize];
            self.live.insert(
                head,
                all.iter().copied().filter(|(class, slot)| live.contains(number(*class, *slot))).collect(),
            );
        }
    }
}

/// Where an instruction may lead besides to the next one.
fn targets(env: &ProgEnv, i: &Instr) -> Vec<u32> {
    match i.op {
        Op::Bra | Op::Break => vec![i.imm],
        Op::Brx => env.tables.get(i.imm as usize).cloned().unwrap_or_default(),
        _ => Vec::new(),
    }
}

const fn falls_through(i: &Instr) -> bool {
    i.guard.is_some() || !matches!(i.op, Op::Bra | Op::Break | Op::Brx | Op::Ret | Op::Exit)
}

/// What a thread was like when it came to the head of a loop.
struct Visit {
    registers: Vec<Option<u64>>,
    /// How many events it had.
    events: usize,
    /// How often it had written local memory.
    stores: u32,
}

/// The last visit of each head, by where it is and the depth of calls.
#[derive(Default)]
pub(super) struct Visits {
    last: FxHashMap<(u32, usize), Visit>,
    /// How often the thread has written local memory.
    pub stores: u32,
}

impl Visits {
    /// A thread is at the head of a loop.
    pub fn note(&mut self, at: (u32, usize), registers: Vec<Option<u64>>, events: usize) {
        self.last.insert(at, Visit { registers, events, stores: self.stores });
    }

    /// Calls deeper than this have ended.
    pub fn leave(&mut self, depth: usize) {
        self.last.retain(|(_, at), _| *at <= depth);
    }

    /// Whether a thread that comes to the head of a loop has only read since it was there last, and is as it was.
    pub fn spins(&self, at: (u32, usize), registers: &[Option<u64>], events: &[Event]) -> bool {
        self.last.get(&at).is_some_and(|before| {
            before.stores == self.stores
                && registers.iter().all(Option::is_some)
                && before.registers == registers
                && events[before.events..].iter().all(|event| matches!(event.kind, Kind::Read | Kind::Fence))
        })
    }
}
