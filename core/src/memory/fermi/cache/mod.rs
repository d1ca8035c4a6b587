//! Caches (report, 4.2): one set of operations for the L1 caches and the L2 cache.
//!
//! Departures, each a decision of `spec-notes/memory.md`:
//!
//! - D-cache: set-associative. The eligible lines of an address are those of its set; a line may be evicted when it is
//!   neither dirty nor pinned, class `first` before class `normal`; which one of several is the caller's choice.
//! - D-line: a line has valid and dirty masks per byte, and a mask of bytes that are being fetched. An address is cached
//!   when all its bytes are valid or being fetched. `reserve` on a partly valid line starts a fetch, `update` fills invalid
//!   bytes only, `discard` clears the operation's bytes only, a write-back writes dirty bytes.
//! - D-reserve: an operation that waited for room in `reserve` may find, when it tries again, that another operation has
//!   reserved the line. The report's `reserve` is then undefined, and its listings 4.2 and 4.4 are stuck. Here the
//!   operation joins the fetch: it pins the line and goes on.
//!
//! A line that holds nothing is not stored, and the lines of a set are ordered by address: equal caches compare equal.

mod line;
mod ops;
mod sections;
mod silent;

use crate::base::Aside;
use fixedbitset::FixedBitSet;

pub use line::{ByteMask, Bytes, DeviceSpace, EvClass, Line, LineKey, MAX_LINE, OpIdx, bits, runs, span_mask};
pub use ops::{Effect, Flow, Reserve, Room};
pub(super) use sections::Name;

/// The shape of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Geometry {
    /// Number of sets, at least 1.
    pub sets: u32,
    /// Lines of a set, at least 1.
    pub ways: u32,
    /// Bytes of a line: a power of two of at most [`MAX_LINE`].
    pub line: u32,
}

impl Geometry {
    /// All bytes of a line.
    #[must_use]
    pub fn whole(&self) -> ByteMask {
        span_mask(0, self.line as usize)
    }

    /// The base of the line that an address lies in, and its offset there.
    #[must_use]
    pub fn split(&self, address: u64) -> (u64, usize) {
        let offset = address & u64::from(self.line.max(1) - 1);
        (address - offset, usize::try_from(offset).unwrap_or(0))
    }
}

/// A cache: the lines in use.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Cache {
    shape: Geometry,
    /// The lines in use of each set, ascending by key, at most `shape.ways`.
    sets: Vec<Vec<Line>>,
    /// The sets that may have changed since a search asked.
    changed: Aside<FixedBitSet>,
}

impl Cache {
    /// An empty cache. A shape that is impossible is taken for the nearest possible one.
    #[must_use]
    pub fn new(shape: Geometry) -> Self {
        let line = shape.line.clamp(1, 128).next_power_of_two();
        let shape = Geometry { sets: shape.sets.max(1), ways: shape.ways.max(1), line };
        Self { shape, sets: vec![Vec::new(); shape.sets as usize], changed: Aside::default() }
    }

    /// Its shape.
    #[must_use]
    pub const fn shape(&self) -> Geometry {
        self.shape
    }

    /// The lines in use, by set and then by address.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.sets.iter().flatten()
    }

    /// The line of an address.
    #[must_use]
    pub fn line(&self, key: LineKey) -> Option<&Line> {
        let set = self.sets.get(self.set_of(key))?;
        set.binary_search_by(|l| l.key.cmp(&key)).ok().and_then(|at| set.get(at))
    }

    /// The report's `isCached` (4.2.2): all bytes are valid, or are being fetched.
    #[must_use]
    pub fn is_cached(&self, key: LineKey, mask: ByteMask) -> bool {
        self.line(key).is_some_and(|l| l.covers(mask))
    }

    /// Whether some operation pins the line of an address.
    #[must_use]
    pub fn pinned(&self, key: LineKey) -> bool {
        self.line(key).is_some_and(|l| !l.pins.is_empty())
    }

    /// The number of the set of an address (the report's `eligible`).
    #[must_use]
    pub fn set_of(&self, key: LineKey) -> usize {
        let number = key.base / u64::from(self.shape.line);
        usize::try_from(number % u64::from(self.shape.sets)).unwrap_or(0)
    }

    /// The lines in use that compete with an address, its own among them.
    pub fn of_set(&self, key: LineKey) -> impl Iterator<Item = &Line> {
        self.sets.get(self.set_of(key)).into_iter().flatten()
    }

    /// The set of an address, to be changed.
    fn set_mut(&mut self, key: LineKey) -> Option<&mut Vec<Line>> {
        let index = self.set_of(key);
        self.note(index);
        self.sets.get_mut(index)
    }

    fn line_mut(&mut self, key: LineKey) -> Option<&mut Line> {
        let set = self.set_mut(key)?;
        set.binary_search_by(|l| l.key.cmp(&key)).ok().and_then(|at| set.get_mut(at))
    }

    /// Drops a line: its place is unused again.
    fn drop_line(&mut self, key: LineKey) {
        if let Some(set) = self.set_mut(key)
            && let Ok(at) = set.binary_search_by(|l| l.key.cmp(&key))
        {
            set.remove(at);
        }
    }

    /// Takes a place of the set into use.
    fn add_line(&mut self, line: Line) -> Option<&mut Line> {
        let set = self.set_mut(line.key)?;
        let at = set.binary_search_by(|l| l.key.cmp(&line.key)).unwrap_or_else(|at| {
            set.insert(at, line);
            at
        });
        set.get_mut(at)
    }

    /// Drops a line that says nothing any more.
    fn tidy(&mut self, key: LineKey) {
        if self.line(key).is_some_and(|l| l.valid() == 0 && l.fill == 0 && l.pins.is_empty()) {
            self.drop_line(key);
        }
    }
}
