//! Registers as a memory engine sees them: which an instruction names, and their values while an operation holds them.
//!
//! Follows the report, 4.4.1 and 5.7.1: a register is blocked from the instruction that writes it (or, for a store, reads
//! it) until a memory program releases it, and an instruction that names a blocked register cannot be executed. Slots
//! that hold constants, parameters and special registers are no registers of the program and never block.

use crate::base::{Frame, LaneMask, Lanes32, Lanes64, put_mask};
use crate::program::env::ProgEnv;
use crate::program::instr::{Instr, Op, Slot};
use crate::program::ops::Class;
use crate::program::uses::{Tables, reads, writes};
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
    pub fn of(instr: &Instr, tables: &Tables<'_>, fixed: impl Fn(Class, Slot) -> bool) -> Self {
        let mut uses = Self::default();
        let all = &mut uses.names;
        reads(instr, tables, |class, slot| {
            if !fixed(class, slot) && !all.contains(&(class, slot)) {
                all.push((class, slot));
            }
        });
        writes(instr, tables, |class, slot| {
            if !all.contains(&(class, slot)) {
                all.push((class, slot));
            }
            if !uses.writes.contains(&(class, slot)) {
                uses.writes.push((class, slot));
            }
        });
        uses.waits = match instr.op {
            Op::Ret => Waits::Frame,
            Op::Bar | Op::WarpSync | Op::Syscall(_) => Waits::Operations,
            _ => Waits::Nothing,
        };
        uses
    }

    /// The registers of every instruction of a program, by program address.
    #[must_use]
    pub fn of_program(env: &ProgEnv) -> Vec<Self> {
        let tables = Tables::of(env);
        let mut all = vec![Self::default(); env.code.len()];
        for function in env.functions.values().filter(|f| f.defined) {
            let range = function.start.0 as usize..function.end.0 as usize;
            let Some(code) = env.code.get(range.clone()) else { continue };
            let mut constant: FxHashSet<(Class, Slot)> = function.preloads.iter().map(|p| (p.class, p.slot)).collect();
            for instr in code {
                writes(instr, &tables, |class, slot| {
                    constant.remove(&(class, slot));
                });
            }
            let fixed = |class, slot| constant.contains(&(class, slot));
            for (uses, instr) in all.get_mut(range).unwrap_or_default().iter_mut().zip(code) {
                *uses = Self::of(instr, &tables, fixed);
            }
        }
        all
    }
}

/// The values of some registers in all lanes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Held {
    /// 32-bit registers.
    pub w: SmallVec<[(Slot, Box<Lanes32>); 1]>,
    /// 64-bit registers.
    pub q: SmallVec<[(Slot, Box<Lanes64>); 1]>,
    /// Predicates.
    pub p: SmallVec<[(Slot, LaneMask); 2]>,
}

impl Held {
    /// The values that `registers` have now.
    #[must_use]
    pub fn capture(registers: &[(Class, Slot)], frame: &Frame) -> Self {
        let mut held = Self::default();
        for &(class, slot) in registers {
            match class {
                Class::W => held.w.extend(frame.w.get(slot.index()).map(|v| (slot, Box::new(*v)))),
                Class::Q => held.q.extend(frame.q.get(slot.index()).map(|v| (slot, Box::new(*v)))),
                Class::P => held.p.extend(frame.p.get(slot.index()).map(|v| (slot, *v))),
            }
        }
        held
    }

    /// The values that the same registers have in a frame.
    #[must_use]
    pub fn again(&self, frame: &Frame) -> Self {
        let mut now = self.clone();
        for (slot, value) in &mut now.w {
            if let Some(v) = frame.w.get(slot.index()) {
                **value = *v;
            }
        }
        for (slot, value) in &mut now.q {
            if let Some(v) = frame.q.get(slot.index()) {
                **value = *v;
            }
        }
        for (slot, value) in &mut now.p {
            if let Some(v) = frame.p.get(slot.index()) {
                *value = *v;
            }
        }
        now
    }

    /// Writes the values into a frame, for `lanes`.
    pub fn put(&self, frame: &mut Frame, lanes: LaneMask) {
        let on = |l: usize| lanes >> l & 1 == 1;
        for (slot, value) in &self.w {
            if let Some(to) = frame.w.get_mut(slot.index()) {
                for (l, (to, from)) in to.0.iter_mut().zip(&value.0).enumerate() {
                    *to = if on(l) { *from } else { *to };
                }
            }
        }
        for (slot, value) in &self.q {
            if let Some(to) = frame.q.get_mut(slot.index()) {
                for (l, (to, from)) in to.0.iter_mut().zip(&value.0).enumerate() {
                    *to = if on(l) { *from } else { *to };
                }
            }
        }
        for (slot, value) in &self.p {
            if let Some(to) = frame.p.get_mut(slot.index()) {
                put_mask(to, *value, lanes);
            }
        }
    }

    /// The registers.
    pub fn registers(&self) -> impl Iterator<Item = (Class, Slot)> + '_ {
        let w = self.w.iter().map(|(s, _)| (Class::W, *s));
        let q = self.q.iter().map(|(s, _)| (Class::Q, *s));
        let p = self.p.iter().map(|(s, _)| (Class::P, *s));
        w.chain(q).chain(p)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.w.is_empty() && self.q.is_empty() && self.p.is_empty()
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
