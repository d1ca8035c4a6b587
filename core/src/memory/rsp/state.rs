//! The state of the machine (section 5.1, figure 3) and its ghost (section 6.2). Plain data of a fixed size, so that a search
//! copies it.

use super::assembly::{Event, Location, Operand, Program, Register};
use super::{DEVICES, EVENTS, FIFO, GROUPS, LOCATIONS, REGISTERS, THREADS};
use serde::{Deserialize, Serialize};

/// Whether an entry is to be written to the level below.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Hygiene {
    /// It is not.
    #[default]
    Clean,
    /// It is.
    Dirty,
}

/// Which event wrote a value: 0 for the initial one, otherwise one more than the event. Ghost (`rfsource`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Source(pub u8);

impl From<Event> for Source {
    fn from(event: Event) -> Self {
        Self(event.0.saturating_add(1))
    }
}

impl Source {
    /// The event; none for the initial value.
    #[must_use]
    pub const fn event(self) -> Option<Event> {
        match self.0 {
            0 => None,
            n => Some(Event(n - 1)),
        }
    }
}

/// A location's entry in a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Entry {
    /// Its value.
    pub value: i32,
    /// Who wrote it.
    pub source: Source,
    /// Whether there is one at all.
    pub present: bool,
    /// `hy`
    pub hygiene: Hygiene,
    /// `fr`: whether it may be read.
    pub valid: bool,
}

/// An element of a fifo.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Mark<L = Location, T = u8> {
    /// A location that may have to be flushed.
    Location(L),
    /// `FLUSH`: all that the thread waits for is in front of it.
    Flush(T),
}

/// A synchronisation fifo. The paper's `tail` is where elements leave it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fifo {
    /// The oldest first; above 127 for markers.
    elements: [u8; FIFO],
    length: u8,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { elements: [0; FIFO], length: 0 }
    }
}

const MARKER: u8 = 0x80;

impl Fifo {
    /// Adds an element. [`Program::new`] sees to it that there is room.
    pub fn enqueue(&mut self, mark: Mark) {
        if let Some(place) = self.elements.get_mut(usize::from(self.length)) {
            *place = match mark {
                Mark::Location(at) => at.0,
                Mark::Flush(thread) => MARKER | thread,
            };
            self.length += 1;
        }
    }

    /// The element that leaves next.
    #[must_use]
    pub fn tail(&self) -> Option<Mark> {
        self.bytes().first().map(|e| Self::mark(*e))
    }

    const fn mark(element: u8) -> Mark {
        if element & MARKER != 0 { Mark::Flush(element & !MARKER) } else { Mark::Location(Location(element)) }
    }

    /// Removes the element that leaves next.
    pub fn dequeue(&mut self) {
        if self.length > 0 {
            self.elements.copy_within(1.., 0);
            self.length -= 1;
            self.elements[usize::from(self.length)] = 0;
        }
    }

    /// Forgets what stops no marker: of equal neighbours all but one and, unless there will be more `markers`, what is behind the
    /// last one.
    pub fn trim(&mut self, markers: bool) {
        let (mut kept, mut end) = (0, 0);
        for k in 0..usize::from(self.length) {
            let element = self.elements[k];
            if element & MARKER == 0 && kept > 0 && self.elements[kept - 1] == element {
                continue;
            }
            self.elements[kept] = element;
            kept += 1;
            if markers || element & MARKER != 0 {
                end = kept;
            }
        }
        self.elements[end..usize::from(self.length)].fill(0);
        self.length = end as u8;
    }

    /// What is in it, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Mark> {
        self.bytes().iter().map(|e| Self::mark(*e))
    }

    /// Its elements as they are kept.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.elements[..usize::from(self.length)]
    }

    /// The fifo of such elements.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut fifo = Self::default();
        for (place, byte) in fifo.elements.iter_mut().zip(bytes) {
            *place = *byte;
        }
        fifo.length = u8::try_from(bytes.len().min(FIFO)).unwrap_or(0);
        fifo
    }
}

/// A cache: its entries and its fifo.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cache {
    /// By location.
    pub entries: [Entry; LOCATIONS],
    /// The synchronisation fifo.
    pub fifo: Fifo,
}

impl Cache {
    /// The entry of a location.
    #[must_use]
    pub fn entry(&self, at: Location) -> Entry {
        self.entries[usize::from(at.0)]
    }

    pub(super) fn entry_mut(&mut self, at: Location) -> &mut Entry {
        &mut self.entries[usize::from(at.0)]
    }

    /// `notDirty` of table 2.
    #[must_use]
    pub fn not_dirty(&self, at: Location) -> bool {
        let entry = self.entry(at);
        !entry.present || entry.hygiene == Hygiene::Clean
    }

    /// `C(x) = (v, _, VALID)`
    #[must_use]
    pub fn valid(&self, at: Location) -> Option<Entry> {
        Some(self.entry(at)).filter(|e| e.present && e.valid)
    }

    /// `invalidate` of table 1: an entry that is not there stays away.
    pub(super) fn invalidate(&mut self, at: Location) {
        self.entry_mut(at).valid = false;
    }
}

/// A lock: free, or a thread's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Lock(u8);

impl Lock {
    /// The lock that a thread holds.
    #[must_use]
    pub fn held(thread: usize) -> Self {
        Self(u8::try_from(thread).unwrap_or(u8::MAX).saturating_add(1))
    }

    /// Who holds it.
    #[must_use]
    pub const fn holder(self) -> Option<usize> {
        match self.0 {
            0 => None,
            n => Some(n as usize - 1),
        }
    }

    /// `ready` of table 1: it is free, or the thread's own.
    #[must_use]
    pub fn ready(self, thread: usize) -> bool {
        self.holder().is_none_or(|t| t == thread)
    }

    /// It in a byte.
    #[must_use]
    pub const fn byte(self) -> u8 {
        self.0
    }

    /// The one that [`Lock::byte`] made a byte of.
    #[must_use]
    pub const fn of(byte: u8) -> Self {
        Self(byte)
    }
}

/// Which list of writes an event is in: that of a cache since its last flush (`pmo`), or that of global memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Place(pub u8);

impl Place {
    /// In none: it did not write, or not yet.
    pub const NONE: Self = Self(0);
    /// In that of global memory.
    pub const GLOBAL: Self = Self(u8::MAX);

    /// In that of the L1 cache of a work-group.
    #[must_use]
    pub const fn l1(group: usize) -> Self {
        Self(1 + group as u8)
    }

    /// In that of the L2 cache of a device.
    #[must_use]
    pub const fn l2(device: usize) -> Self {
        Self(0x40 + device as u8)
    }
}

/// What a machine does not know and a proof needs: who read from whom, and in which order writes reach memory (section 6.2). An event is
/// in one list at a time, so that its list and its rank in it say as much as the lists do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ghost {
    /// Where an event read from: 0 for nothing yet, otherwise one more than its [`Source`].
    pub reads: [u8; EVENTS],
    /// The list that an event is in.
    pub place: [Place; EVENTS],
    /// How many events are before it there, of those on its location.
    pub rank: [u8; EVENTS],
}

impl Default for Ghost {
    fn default() -> Self {
        Self { reads: [0; EVENTS], place: [Place::NONE; EVENTS], rank: [0; EVENTS] }
    }
}

impl Ghost {
    /// How many events on a location are in a list.
    fn length(&self, program: &Program, place: Place, at: Location) -> u8 {
        let on = |(event, p): (u8, &Place)| *p == place && program.location_of(Event(event)) == at;
        let count = (0..).zip(&self.place[..program.events().len()]).filter(|e| on(*e)).count();
        u8::try_from(count).unwrap_or(u8::MAX)
    }

    /// An event writes: it is the last in a list.
    pub(super) fn write(&mut self, program: &Program, event: Event, place: Place, at: Location) {
        self.rank[usize::from(event.0)] = self.length(program, place, at);
        self.place[usize::from(event.0)] = place;
    }

    /// An event reads.
    pub(super) const fn read(&mut self, event: Event, source: Source) {
        self.reads[event.0 as usize] = source.0 + 1;
    }

    /// A list is appended to that of the level below.
    pub fn append(&mut self, program: &Program, from: Place, to: Place, at: Location) {
        let before = self.length(program, to, at);
        for k in 0..program.events().len() {
            if self.place[k] == from && program.location_of(Event(k as u8)) == at {
                self.place[k] = to;
                self.rank[k] += before;
            }
        }
    }

    /// Where an event read from; nothing if it did not read.
    #[must_use]
    pub fn source(&self, event: usize) -> Option<Source> {
        self.reads[event].checked_sub(1).map(Source)
    }
}

/// The state of the system, Σ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct System {
    /// How far each thread is.
    pub next: [u8; THREADS],
    /// Markers of each thread that are in fifos: `unflushed` where there are any.
    pub markers: [u8; THREADS],
    /// What the registers hold.
    pub registers: [i32; REGISTERS],
    /// The L1 cache of each work-group.
    pub l1: [Cache; GROUPS],
    /// The rmw lock of each work-group.
    pub rmw: [Lock; GROUPS],
    /// The L2 cache of each device.
    pub l2: [Cache; DEVICES],
    /// The lock file of each device.
    pub lockfile: [[Lock; LOCATIONS]; DEVICES],
    /// Global memory, with its ghost.
    pub global: [(i32, Source); LOCATIONS],
    /// What only proofs look at.
    pub ghost: Ghost,
}

impl System {
    /// All caches are empty, all locks free.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let mut system = Self::default();
        for (cell, initial) in system.global.iter_mut().zip(program.initial()) {
            cell.0 = *initial;
        }
        system
    }

    /// The first L2 cache gets what memory has, of so many locations: clean and valid.
    pub fn fill_l2(&mut self, locations: usize) {
        for (entry, (value, source)) in self.l2[0].entries[..locations].iter_mut().zip(self.global) {
            *entry = Entry { value, source, present: true, hygiene: Hygiene::Clean, valid: true };
        }
    }

    /// What a register holds.
    #[must_use]
    pub const fn register(&self, register: Register) -> i32 {
        self.registers[register.0 as usize]
    }

    /// What an operand is.
    #[must_use]
    pub const fn value(&self, operand: Operand) -> i32 {
        match operand {
            Operand::Number(n) => n,
            Operand::Register(r) => self.register(r),
        }
    }

    pub(super) const fn set(&mut self, register: Register, value: i32) {
        self.registers[register.0 as usize] = value;
    }

    /// Whether a thread has executed all of its code.
    #[must_use]
    pub fn is_through(&self, program: &Program, thread: usize) -> bool {
        usize::from(self.next[thread]) >= program.threads()[thread].code.len()
    }

    /// Whether all threads are through and nothing is left to be flushed: a complete execution (section 6.1).
    #[must_use]
    pub fn is_complete(&self, program: &Program) -> bool {
        let clean = |c: &Cache| c.entries.iter().all(|e| !e.present || e.hygiene == Hygiene::Clean);
        (0..program.threads().len()).all(|t| self.is_through(program, t))
            && self.l1.iter().all(clean)
            && self.l2.iter().all(clean)
    }
}
