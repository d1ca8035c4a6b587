//! What the silent rules of 4.6 need of a cache: what may be evicted or written back, and doing so.

use super::ops::victims;
use super::{ByteMask, Bytes, Cache, DeviceSpace, Geometry, LineKey, bits};
use crate::base::mutant::{Mutant, on};

impl Cache {
    /// The lines that a silent eviction may take (`canEvict`, D-cache), by set and then by address.
    pub fn evictable(&self) -> impl Iterator<Item = LineKey> {
        self.sets.iter().flat_map(|set| victims(set))
    }

    /// The lines that have dirty bytes, by set and then by address.
    pub fn dirty(&self) -> impl Iterator<Item = LineKey> {
        self.lines().filter(|l| l.dirty != 0).map(|l| l.key)
    }

    /// The dirty bytes of a line: what a write-back writes.
    #[must_use]
    pub fn dirty_bytes(&self, key: LineKey) -> Bytes {
        let shape = self.shape;
        self.line(key).map_or(Bytes::NONE, |l| {
            if on(Mutant::WholeLineWriteBack) {
                return whole(l.bytes.clone(), shape);
            }
            let mut some = l.bytes.only(l.dirty);
            some.rewritten(&l.bytes);
            some
        })
    }

    /// Marks bytes of a line as no newer than the next level's (D-clean): as written back.
    pub fn clean(&mut self, key: LineKey, mask: ByteMask) {
        if let Some(line) = self.line_mut(key) {
            line.dirty &= !mask;
            line.bytes.set_fresh(mask, false);
        }
    }

    /// Whether the side condition of the rule `flush` holds: no global line is dirty. The report's rule resets pinned
    /// lines, too, which leaves the operations that pinned them stuck; here it waits for them (D-flush).
    #[must_use]
    pub fn can_flush(&self) -> bool {
        self.lines().filter(|l| l.key.space == DeviceSpace::Global).all(|l| l.dirty == 0 && l.pins.is_empty())
    }

    /// Drops every global line that is neither dirty nor pinned; local lines stay.
    pub fn flush(&mut self) {
        self.drop_lines(|l| l.key.space == DeviceSpace::Global && l.evictable());
    }

    /// Drops lines, dirty, pinned or not: their memory is gone. Tells whether there were any.
    pub fn forget(&mut self, gone: impl Fn(LineKey) -> bool) -> bool {
        self.drop_lines(|l| gone(l.key))
    }

    /// What the cache and memory behind it hold together is the host's view: overwrites valid bytes and makes them
    /// clean, where the host writes memory behind the cache's back.
    pub fn overwrite(&mut self, key: LineKey, from: &Bytes) {
        if let Some(line) = self.line_mut(key) {
            let mask = from.mask() & line.valid();
            line.bytes.copy(from, mask);
            line.dirty &= !mask;
        }
    }

    /// Tells whether any was dropped.
    fn drop_lines(&mut self, gone: impl Fn(&super::Line) -> bool) -> bool {
        let mut any = false;
        for k in 0..self.sets.len() {
            if self.sets[k].iter().any(&gone) {
                self.note(k);
                self.sets[k].retain(|l| !gone(l));
                any = true;
            }
        }
        any
    }
}

/// All bytes of a line, invalid ones as whatever they hold: a mutant's write-back.
fn whole(mut bytes: Bytes, shape: Geometry) -> Bytes {
    for at in bits(shape.whole() & !bytes.mask()) {
        bytes.set(at, 0);
    }
    bytes
}
