//! What follows from the index of a thread: registers whose value its index alone decides, wherever the thread may be.
//!
//! A forward analysis over the entry, for the lanes of a warp at once. Of each register, before each instruction that a lane
//! may come to, it is known that its value is a constant of that lane, and whether an index is in it; or that it has any
//! value, and no index is in it but by the ways that the thread went, which is no matter: the value is part of the state; or
//! that an index is in it and the value is not known, which makes the thread unlike all others if it is read. Guards that are
//! known are taken as they come out, so that a thread is judged by the code that it executes.

use super::level::{Level, Within};
use crate::base::mutant::{Mutant, on};
use crate::base::{Frame, LANES, LaneMask, LaneTables, expand, lanes_of};
use crate::machine::grid::loaded::{Loaded, Where};
use crate::machine::thread::dispatch::data_op;
use crate::program::alive::Alive;
use crate::program::env::{Function, Init, ProgEnv, Slots, Special};
use crate::program::instr::{Instr, Op, Slot, value};
use crate::program::ops::Class;
use crate::program::uses::{reads, writes};
use pulp::Scalar;
use std::collections::BTreeSet;

/// What is known of a register, by lanes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Known {
    /// Its value is a constant.
    constant: LaneMask,
    /// An index is in that constant.
    index: LaneMask,
    /// An index is in it, and the value is not known.
    mixed: LaneMask,
}

/// What is known before an instruction.
#[derive(Clone)]
struct Before {
    /// The lanes that may come there.
    reached: LaneMask,
    /// Values of what is constant.
    frame: Frame,
    /// By number of the slot.
    known: Vec<Known>,
}

/// Registers that follow from the index where an instruction is about to be executed, by lanes, with their values: a state
/// need not have them.
#[derive(Clone, Debug, Default)]
pub struct Steady {
    start: u32,
    at: Vec<Vec<Follow>>,
}

/// A register that follows from the index.
#[derive(Clone, Debug)]
pub struct Follow {
    pub class: Class,
    pub slot: Slot,
    /// In which lanes it does.
    pub lanes: LaneMask,
    /// Its values there.
    pub values: Box<[u64; LANES]>,
}

/// The analysis of a warp.
pub struct Follows<'a> {
    env: &'a ProgEnv,
    entry: &'a Function,
    code: &'a [Instr],
    slots: Slots,
    before: Vec<Option<Before>>,
    tables: LaneTables,
}

/// What a thread does, as a number; `None`: an index is in what it reads, and the value is not known.
pub type Deeds = Option<u128>;

impl<'a> Follows<'a> {
    /// What follows from the indices of a warp's threads that `level` exchanges. `None`: the entry's ways are not known.
    pub fn of(env: &'a ProgEnv, loaded: &Loaded, level: Level, at: Where) -> Option<Self> {
        let entry = env.function(loaded.entry)?;
        let code = env.code.get(entry.start.0 as usize..entry.end.0 as usize)?;
        let before = vec![None; code.len()];
        let mut new = Self { env, entry, code, slots: entry.slots, before, tables: LaneTables::default() };
        new.flow(new.first(loaded, level, at))?;
        Some(new)
    }

    /// What is known before the first instruction: what is preloaded.
    fn first(&self, loaded: &Loaded, level: Level, at: Where) -> Before {
        let mut frame = Frame::default();
        let Slots { w, q, p } = self.slots;
        frame.grow(w.max(2).into(), q.into(), p.into());
        loaded.fill(self.env, &self.entry.preloads, &mut frame, !0, at);
        let mut known = vec![Known::default(); self.slots.count()];
        for preload in &self.entry.preloads {
            let Some(number) = self.slots.number(preload.class, preload.slot) else { continue };
            known[number] = match preload.init {
                // Which multiprocessor a block is on is decided when it is issued.
                Init::Special(Special::SmId) => Known { mixed: if level.blocks { !0 } else { 0 }, ..Known::default() },
                Init::Special(s) if is_index(s, level) => Known { constant: !0, index: !0, mixed: 0 },
                _ => Known { constant: !0, ..Known::default() },
            };
        }
        Before { reached: loaded.populated(at.warp), frame, known }
    }

    /// Goes through the code until nothing more is learned.
    fn flow(&mut self, first: Before) -> Option<()> {
        let mut work = BTreeSet::new();
        self.meet(0, first, &mut work)?;
        while let Some(at) = work.pop_first() {
            let Some(here) = self.before[at].clone() else { continue };
            let i = self.code[at];
            let (does, passes) = self.guarded(&i, &here);
            let mut after = here;
            self.execute(&i, does, does & passes, &mut after);
            let on = |lanes: LaneMask| Before { reached: lanes, ..after.clone() };
            let mut behind = passes;
            match i.op {
                Op::Bra | Op::Break => self.meet(self.inside(i.imm)?, on(does), &mut work)?,
                Op::Brx => {
                    for target in self.env.tables.get(i.imm as usize)? {
                        self.meet(self.inside(*target)?, on(does), &mut work)?;
                    }
                }
                Op::Exit | Op::Ret | Op::Trap => {}
                _ => behind |= does,
            }
            if behind != 0 {
                self.meet(at + 1, on(behind), &mut work)?;
            }
        }
        Some(())
    }

    fn inside(&self, pc: u32) -> Option<usize> {
        pc.checked_sub(self.entry.start.0).map(|k| k as usize).filter(|k| *k < self.code.len())
    }

    /// The lanes that may execute an instruction, and those that may sit it out.
    fn guarded(&self, i: &Instr, here: &Before) -> (LaneMask, LaneMask) {
        let Some(guard) = i.guard else { return (here.reached, 0) };
        let constant = self.slots.number(Class::P, guard.pred).map_or(0, |n| here.known[n].constant);
        let holds = here.frame.p.get(guard.pred.index()).copied().unwrap_or(0);
        let holds = if guard.negated { !holds } else { holds };
        (here.reached & (!constant | holds), here.reached & (!constant | !holds))
    }

    /// What lanes do to what is known; of `perhaps` it is not known whether they do it.
    fn execute(&self, i: &Instr, does: LaneMask, perhaps: LaneMask, after: &mut Before) {
        let (constant, index) = self.read(i, after);
        let constant = if i.op.is_data() { does & constant } else { 0 };
        let old = (perhaps != 0).then(|| after.frame.clone());
        if constant != 0 {
            let lanes = expand(constant, &self.tables);
            data_op(Scalar::new(), i, &mut after.frame, constant, &lanes, &self.tables);
        }
        writes(i, self.env, |class, slot| {
            let Some(number) = self.slots.number(class, slot) else { return };
            let new = Known { constant, index: constant & index, mixed: 0 };
            let was = after.known[number];
            let keep = |old: LaneMask, new: LaneMask| old & !does | new & does;
            let known = Known {
                constant: keep(was.constant, new.constant),
                index: keep(was.index, new.index),
                mixed: keep(was.mixed, new.mixed),
            };
            after.known[number] = match &old {
                None => known,
                Some(old) => {
                    let other = Known {
                        constant: was.constant & perhaps,
                        index: was.index & perhaps,
                        mixed: was.mixed & perhaps,
                    };
                    joined(known, other, perhaps, differ(&after.frame, old, class, slot))
                }
            };
        });
    }

    /// The lanes in which all that an instruction reads is constant, and those in which an index is in some of it.
    fn read(&self, i: &Instr, at: &Before) -> (LaneMask, LaneMask) {
        let (mut constant, mut index) = (!0, 0);
        self.operands(i, |number| {
            constant &= at.known[number].constant;
            index |= at.known[number].index | at.known[number].mixed;
        });
        (constant, index)
    }

    /// The numbers of the slots that an instruction reads besides its guard.
    fn operands(&self, i: &Instr, mut see: impl FnMut(usize)) {
        reads(&Instr { guard: None, ..*i }, self.env, |class, slot| {
            self.slots.number(class, slot).into_iter().for_each(&mut see)
        });
    }

    /// Lanes come to an instruction with what they know.
    fn meet(&mut self, at: usize, new: Before, work: &mut BTreeSet<usize>) -> Option<()> {
        let lanes = new.reached;
        if lanes == 0 {
            return Some(());
        }
        let place = self.before.get_mut(at)?;
        let Some(here) = place else {
            *place = Some(new);
            work.insert(at);
            return Some(());
        };
        let (fresh, again) = (lanes & !here.reached, lanes & here.reached);
        let mut changed = fresh != 0;
        for number in 0..here.known.len() {
            let (class, slot) = self.slots.name(number);
            let (old, of) = (here.known[number], new.known[number]);
            let part = |k: Known, lanes| Known {
                constant: k.constant & lanes,
                index: k.index & lanes,
                mixed: k.mixed & lanes,
            };
            let unequal =
                if again & old.constant & of.constant == 0 { 0 } else { differ(&here.frame, &new.frame, class, slot) };
            let mut known = joined(part(old, again), part(of, again), again, unequal);
            let rest = (part(old, here.reached & !again), part(of, fresh));
            known.constant |= rest.0.constant | rest.1.constant;
            known.index |= rest.0.index | rest.1.index;
            known.mixed |= rest.0.mixed | rest.1.mixed;
            take(&mut here.frame, &new.frame, class, slot, fresh & of.constant);
            changed |= known != part(old, here.reached);
            here.known[number] = known;
        }
        here.reached |= lanes;
        if changed {
            work.insert(at);
        }
        Some(())
    }

    /// What each lane does, as far as a register that is alive has to do with it.
    pub fn deeds(&self, alive: &Alive) -> [Deeds; LANES] {
        let mut deeds = [Some(0u128); LANES];
        for (at, here) in (0u32..).zip(&self.before) {
            let Some(here) = here else { continue };
            let i = &self.code[at as usize];
            let mut feed = |lanes: LaneMask, what: u64, of: &dyn Fn(usize) -> u64| {
                for l in lanes_of(lanes) {
                    deeds[l] = deeds[l].map(|d| mix(mix(mix(d, u64::from(at)), what), of(l)));
                }
            };
            if !on(Mutant::AlikeGuards) {
                feed(here.reached, 0, &|_| 0);
            }
            self.alive(alive, at, |number| feed(here.known[number].index & here.reached, 1 + number as u64, &|_| 0));
            if !on(Mutant::AlikeGuards)
                && let Some((guard, number)) = i.guard.and_then(|g| Some((g, self.slots.number(Class::P, g.pred)?)))
            {
                let holds = |l| value(&here.frame, Class::P, guard.pred, l).unwrap_or(0);
                feed(here.known[number].index & here.reached, 1 << 32, &holds);
            }
            let (constant, _) = self.read(i, here);
            let shows = if i.op.is_data() { here.reached & !constant } else { here.reached };
            self.operands(i, |number| {
                let (class, slot) = self.slots.name(number);
                let of = |l| value(&here.frame, class, slot, l).unwrap_or(0);
                let shows = if on(Mutant::AlikeValues) { 0 } else { shows };
                feed(here.known[number].index & shows, 1 << 33 | number as u64, &of);
            });
            for l in lanes_of(self.unknown(alive, at, here)) {
                deeds[l] = None;
            }
        }
        deeds
    }

    /// The lanes with a register, alive or read, that an index is in, and whose value is not known.
    fn unknown(&self, alive: &Alive, at: u32, here: &Before) -> LaneMask {
        let mut unknown = 0;
        self.alive(alive, at, |number| unknown |= here.known[number].mixed);
        reads(&self.code[at as usize], self.env, |class, slot| {
            unknown |= self.slots.number(class, slot).map_or(0, |number| here.known[number].mixed);
        });
        if on(Mutant::AlikeUnknown) { 0 } else { unknown & here.reached }
    }

    /// The registers that are alive before an instruction.
    fn alive(&self, alive: &Alive, at: u32, mut see: impl FnMut(usize)) {
        match alive.before(self.entry.start.0 + at) {
            Some(some) => some.iter().filter_map(|(class, slot)| self.slots.number(*class, *slot)).for_each(see),
            None => (0..self.slots.count()).for_each(&mut see),
        }
    }

    /// The registers that follow from the index, where they are alive.
    pub fn steady(&self, alive: &Alive) -> Steady {
        let given = |class, slot| self.entry.preloads.iter().any(|p| (p.class, p.slot) == (class, slot));
        let mut steady = Steady { start: self.entry.start.0, at: vec![Vec::new(); self.code.len()] };
        for (at, here) in (0u32..).zip(&self.before) {
            let Some(here) = here else { continue };
            self.alive(alive, at, |number| {
                let (class, slot) = self.slots.name(number);
                let lanes = here.known[number].index & here.reached;
                if lanes != 0 && !given(class, slot) {
                    let values = std::array::from_fn(|l| value(&here.frame, class, slot, l).unwrap_or(0));
                    steady.at[at as usize].push(Follow { class, slot, lanes, values: Box::new(values) });
                }
            });
        }
        steady
    }
}

impl Steady {
    /// The registers that follow from the index before an instruction.
    pub fn before(&self, pc: u32) -> &[Follow] {
        let at = pc.checked_sub(self.start).and_then(|k| self.at.get(k as usize));
        at.map_or(&[], |all| &all[..])
    }
}

/// Whether a special register tells those apart that are to be exchanged.
const fn is_index(special: Special, level: Level) -> bool {
    match special {
        Special::Ctaid(_) | Special::ClusterId(_) => level.blocks,
        Special::Tid(_) | Special::WarpId => !matches!(level.within, Within::Nobody),
        Special::LaneId
        | Special::LanemaskEq
        | Special::LanemaskLe
        | Special::LanemaskLt
        | Special::LanemaskGe
        | Special::LanemaskGt => matches!(level.within, Within::Threads),
        _ => false,
    }
}

/// What is known of a register to which lanes come in two ways; `differ`: where its values do.
const fn joined(a: Known, b: Known, lanes: LaneMask, differ: LaneMask) -> Known {
    let same = lanes & a.constant & b.constant & !differ;
    let index = a.index | b.index | a.mixed | b.mixed;
    let beyond = Known { constant: a.constant & !lanes, index: a.index & !lanes, mixed: a.mixed & !lanes };
    Known {
        constant: same | beyond.constant,
        index: same & index | beyond.index,
        mixed: lanes & !same & index | beyond.mixed,
    }
}

/// The lanes in which a slot's values differ.
fn differ(a: &Frame, b: &Frame, class: Class, slot: Slot) -> LaneMask {
    let lanes = 0..LANES;
    let unequal = lanes.filter(|l| value(a, class, slot, *l) != value(b, class, slot, *l));
    unequal.fold(0, |m, l| m | 1 << l)
}

/// Takes over the values of some lanes.
fn take(to: &mut Frame, from: &Frame, class: Class, slot: Slot, lanes: LaneMask) {
    for l in lanes_of(lanes) {
        put_value(to, class, slot, l, value(from, class, slot, l).unwrap_or(0));
    }
}

/// Gives a lane's slot a value.
pub fn put_value(frame: &mut Frame, class: Class, slot: Slot, lane: usize, value: u64) {
    match class {
        Class::W => frame.w[slot.index()].0[lane] = value as u32,
        Class::Q => frame.q[slot.index()].0[lane] = value,
        Class::P => {
            let mask = &mut frame.p[slot.index()];
            *mask = *mask & !(1 << lane) | (value as u32 & 1) << lane;
        }
    }
}

/// One more number of a sequence.
pub fn mix(sum: u128, next: u64) -> u128 {
    const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let mixed = (sum ^ u128::from(next) ^ 1 << 100).wrapping_mul(ODD);
    mixed ^ mixed >> 67
}
