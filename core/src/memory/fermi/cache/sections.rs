//! Sets of a cache as sections of a state.

use super::{Cache, Line, OpIdx};
use crate::base::sort;
use crate::memory::snapshot::{put, take};
use crate::verdict::Who;
use smallvec::SmallVec;

/// An operation that pins a line, as a section names it: its warp, and its place in the warp's queue.
pub(in crate::memory::fermi) type Name = (Who, u32);

impl Cache {
    /// A set may have changed.
    pub(super) fn note(&mut self, set: usize) {
        self.changed.0.grow_and_insert(set);
    }

    /// What pins the line of an address is named otherwise.
    pub(in crate::memory::fermi) fn renamed(&mut self, key: super::LineKey) {
        self.note(self.set_of(key));
    }

    /// The sets that may have changed since this was called last.
    pub(in crate::memory::fermi) fn take_changed(&mut self, mut see: impl FnMut(u32)) {
        self.changed.0.ones().for_each(|set| see(u32::try_from(set).unwrap_or(u32::MAX)));
        self.changed.0.clear();
    }

    /// Appends a set; `name`: of an operation.
    pub(in crate::memory::fermi) fn save(&self, set: u32, name: impl Fn(OpIdx) -> Name, out: &mut Vec<u8>) {
        for line in self.sets.get(set as usize).into_iter().flatten() {
            let mut pins: SmallVec<[Name; 4]> = line.pins.iter().map(|pin| name(*pin)).collect();
            sort::sort(&mut pins);
            put(&(line, pins), out);
        }
    }

    /// A set becomes what was saved; `number`: of an operation.
    pub(in crate::memory::fermi) fn load(&mut self, set: u32, number: impl Fn(Name) -> OpIdx, mut from: &[u8]) {
        let Some(lines) = self.sets.get_mut(set as usize) else { return };
        lines.clear();
        while let Some((mut line, pins)) = take::<(Line, SmallVec<[Name; 4]>)>(&mut from) {
            line.pins = pins.into_iter().map(&number).collect();
            sort::sort(&mut line.pins);
            lines.push(line);
        }
    }
}
