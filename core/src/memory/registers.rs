//! Registers as a memory engine sees them: which an instruction names, and their values while an operation holds them.
//!
//! Follows the report, 4.4.1 and 5.7.1: a register is blocked from the instruction that writes it (or, for a store, reads
//! it) until a memory program releases it, and an instruction that names a blocked register cannot be executed. Slots
//! that hold constants, parameters and special registers are no registers of the program and never block.

use crate::base::{Frame, LaneMask, Lanes32, Lanes64, lanes_of, put_mask};
use crate::program::env::ProgEnv;
use crate::program::instr::{BulkPart, Instr, Op, Slot};
use crate::program::ops::Class;
use crate::program::uses::{reads, writes};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// What an instruction waits for besides its registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Waits {
    /// Nothing.
    #[default]
    Nothing,
    /// Operations that hold registers of the current frame: the frame goes away (`ret`).
    Frame,
    /// Every earlier operation of the executing threads, as after `membar.cta`: barriers order memory among their
    /// participants (PTX ISA, `bar`), and the device runtime looks at memory.
    Operations,
    /// The asynchronous copies of the executing threads: of all groups but so many of the newest; `None`: all, in groups or not.
    Copies(Option<u8>),
    /// The bulk copies of the executing threads, of all groups but so many of the newest.
    Bulk {
        /// How many groups.
        newest: u8,
        /// Until they have read, though they may not have written.
        read: bool,
    },
    /// Room for asynchronous copies: a warp has no more than so many in flight.
    Room,
}

/// The registers that an instruction names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Uses {
    /// What it reads or writes, each register once.
    pub names: SmallVec<[(Class, Slot); 4]>,
    /// What it writes.
    pub writes: SmallVec<[(Class, Slot); 2]>,
    /// What it waits for besides.
    pub waits: Waits,
}

impl Uses {
    /// The registers of one instruction; `fixed` says which slots are no registers.
    #[must_use]
    pub fn of(instr: &Instr, env: &ProgEnv, fixed: impl Fn(Class, Slot) -> bool) -> Self {
        let mut uses = Self::default();
        let all = &mut uses.names;
        reads(instr, env, |class, slot| {
            if !fixed(class, slot) && !all.contains(&(class, slot)) {
                all.push((class, slot));
            }
        });
        writes(instr, env, |class, slot| {
            if !all.contains(&(class, slot)) {
                all.push((class, slot));
            }
            if !uses.writes.contains(&(class, slot)) {
                uses.writes.push((class, slot));
            }
        });
        uses.waits = match instr.op {
            Op::Ret => Waits::Frame,
            Op::CopyTo | Op::CopyArrive | Op::Bulk(BulkPart::Begin) => Waits::Room,
            Op::BulkWait { read } => Waits::Bulk { newest: u8::try_from(instr.imm).unwrap_or(u8::MAX), read },
            Op::CopyWait => Waits::Copies(u8::try_from(instr.imm).ok()),
            Op::Bar | Op::WarpSync | Op::Syscall(_) | Op::ClusterArrive { releases: true, .. } => Waits::Operations,
            _ => Waits::Nothing,
        };
        uses
    }

    /// The registers of every instruction of a program, by program address.
    #[must_use]
    pub fn of_program(env: &ProgEnv) -> Vec<Self> {
        let mut all = vec![Self::default(); env.code.len()];
        for function in env.functions.values().filter(|f| f.defined) {
            let range = function.start.0 as usize..function.end.0 as usize;
            let Some(code) = env.code.get(range.clone()) else { continue };
            let mut constant: FxHashSet<(Class, Slot)> = function.preloads.iter().map(|p| (p.class, p.slot)).collect();
            for instr in code {
                writes(instr, env, |class, slot| {
                    constant.remove(&(class, slot));
                });
            }
            let fixed = |class, slot| constant.contains(&(class, slot));
            for (uses, instr) in all.get_mut(range).unwrap_or_default().iter_mut().zip(code) {
                *uses = Self::of(instr, env, fixed);
            }
        }
        all
    }
}

/// The value of a register in all lanes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
enum Value {
    W(Box<Lanes32>),
    Q(Box<Lanes64>),
    P(LaneMask),
}

impl Value {
    /// That of a frame's register, if it has this one.
    fn of(frame: &Frame, class: Class, slot: Slot) -> Option<Self> {
        Some(match class {
            Class::W => Self::W(Box::new(*frame.w.get(slot.index())?)),
            Class::Q => Self::Q(Box::new(*frame.q.get(slot.index())?)),
            Class::P => Self::P(*frame.p.get(slot.index())?),
        })
    }

    const fn class(&self) -> Class {
        match self {
            Self::W(_) => Class::W,
            Self::Q(_) => Class::Q,
            Self::P(_) => Class::P,
        }
    }
}

/// The values of some registers.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Held(SmallVec<[(Slot, Value); 1]>);

impl Held {
    /// The values that `registers` have now.
    #[must_use]
    pub fn capture(registers: &[(Class, Slot)], frame: &Frame) -> Self {
        let one = |&(class, slot): &_| Some((slot, Value::of(frame, class, slot)?));
        Self(registers.iter().filter_map(one).collect())
    }

    /// The values that the same registers have in a frame.
    #[must_use]
    pub fn again(&self, frame: &Frame) -> Self {
        let now = |(slot, old): &(Slot, Value)| Value::of(frame, old.class(), *slot).unwrap_or_else(|| old.clone());
        Self(self.0.iter().map(|held| (held.0, now(held))).collect())
    }

    /// Writes the values into a frame, for `lanes`.
    pub fn put(&self, frame: &mut Frame, lanes: LaneMask) {
        for (slot, value) in &self.0 {
            let at = slot.index();
            match value {
                Value::W(from) => {
                    frame.w.get_mut(at).into_iter().for_each(|to| lanes_of(lanes).for_each(|l| to.0[l] = from.0[l]));
                }
                Value::Q(from) => {
                    frame.q.get_mut(at).into_iter().for_each(|to| lanes_of(lanes).for_each(|l| to.0[l] = from.0[l]));
                }
                Value::P(from) => frame.p.get_mut(at).into_iter().for_each(|to| put_mask(to, *from, lanes)),
            }
        }
    }

    /// The values of some lanes; those of others become zeros, so that they tell no states apart.
    #[must_use]
    pub fn of_lanes(mut self, lanes: LaneMask) -> Self {
        let others = || lanes_of(!lanes);
        for (_, value) in &mut self.0 {
            match value {
                Value::W(row) => others().for_each(|l| row.0[l] = 0),
                Value::Q(row) => others().for_each(|l| row.0[l] = 0),
                Value::P(mask) => *mask &= lanes,
            }
        }
        self
    }

    /// The registers.
    pub fn registers(&self) -> impl Iterator<Item = (Class, Slot)> + '_ {
        self.0.iter().map(|(slot, value)| (value.class(), *slot))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_and_put_back_lane_by_lane() {
        let mut frame = Frame::default();
        frame.grow(3, 2, 2);
        let registers = [(Class::W, Slot(2)), (Class::Q, Slot(1)), (Class::P, Slot(0)), (Class::W, Slot(9))];
        let old = Held::capture(&registers, &frame);
        assert_eq!(old.registers().count(), 3);
        frame.w[2].0.fill(7);
        frame.q[1].0.fill(8);
        frame.p[0] = !0;
        let new = old.again(&frame);
        old.put(&mut frame, 0b01);
        assert_eq!((frame.w[2].0[0], frame.w[2].0[1]), (0, 7));
        assert_eq!((frame.q[1].0[0], frame.q[1].0[1]), (0, 8));
        assert_eq!(frame.p[0], !1);
        new.put(&mut frame, 0b11);
        assert_eq!((frame.w[2].0[0], frame.q[1].0[0], frame.p[0]), (7, 8, !0));
    }
}
