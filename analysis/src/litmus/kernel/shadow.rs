//! What of a thread's registers and local memory depends on which reads, and what of it is not known.
//!
//! Dependencies are those of the code, whatever is known: they are the same in every run that goes the same way.

use crate::axiom::{Position, Sources};
use crate::program::instr::Slot;
use crate::program::ops::Class;
use rustc_hash::FxHashMap;

/// What a value depends on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Taint {
    /// Whether the value is not known; then it depends on a read.
    pub unknown: bool,
    /// The reads that it depends on.
    pub from: Sources,
}

impl Taint {
    /// A value that a read gave.
    pub fn read(at: Position, known: bool) -> Self {
        Self { unknown: !known, from: Sources::from_slice(&[at]) }
    }

    /// What depends on this value depends on another one, too.
    pub fn join(&mut self, other: &Self) {
        self.unknown |= other.unknown;
        unite(&mut self.from, &other.from);
    }

    fn is_clean(&self) -> bool {
        !self.unknown && self.from.is_empty()
    }
}

/// Adds sources to a set of them.
pub(super) fn unite(to: &mut Sources, more: &[Position]) {
    for source in more {
        if let Err(at) = to.binary_search(source) {
            to.insert(at, *source);
        }
    }
}

type Registers = FxHashMap<(Class, Slot), Taint>;

/// Taints of all that is a thread's own; what has none is known and depends on nothing.
#[derive(Default)]
pub(super) struct Shadow {
    /// Of registers, by the depth of calls.
    frames: Vec<Registers>,
    /// Of bytes of local memory.
    local: FxHashMap<u64, Taint>,
}

impl Shadow {
    /// What a register of the innermost call depends on.
    pub fn of(&self, class: Class, slot: Slot) -> Taint {
        let found = self.frames.last().and_then(|frame| frame.get(&(class, slot)));
        found.cloned().unwrap_or_default()
    }

    /// A register was written.
    pub fn set(&mut self, class: Class, slot: Slot, taint: Taint) {
        let Some(frame) = self.frames.last_mut() else { return };
        if taint.is_clean() {
            frame.remove(&(class, slot));
        } else {
            frame.insert((class, slot), taint);
        }
    }

    /// How deep calls are, from 1 in the entry.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// A function is entered, whose registers are given by its caller's; nothing of an earlier call is left.
    pub fn enter(&mut self, given: &[(Class, Slot, Taint)]) {
        self.frames.push(Registers::default());
        for (class, slot, taint) in given {
            self.set(*class, *slot, taint.clone());
        }
    }

    /// A function is left.
    pub fn leave(&mut self) {
        self.frames.pop();
    }

    /// What bytes of local memory depend on.
    pub fn local(&self, at: u64, bytes: u32) -> Taint {
        let mut all = Taint::default();
        if !self.local.is_empty() {
            (0..u64::from(bytes)).filter_map(|k| self.local.get(&(at + k))).for_each(|byte| all.join(byte));
        }
        all
    }

    /// Bytes of local memory were written.
    pub fn set_local(&mut self, at: u64, bytes: u32, taint: &Taint) {
        for byte in (0..u64::from(bytes)).map(|k| at + k) {
            if taint.is_clean() {
                self.local.remove(&byte);
            } else {
                self.local.insert(byte, taint.clone());
            }
        }
    }
}
