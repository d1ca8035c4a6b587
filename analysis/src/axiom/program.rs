//! Programs as an axiomatic model meets them: threads that turn what their reads return into events.
//!
//! A thread is a function: from the values of its reads, as far as they are known, to its events. It is run again from its
//! start whenever more is known. A value that depends on a read whose value is not known yet is itself not known; a thread goes
//! on past it as long as neither its way nor an address depends on it. So nothing of instruction sets is known here: litmus tests and PTX
//! kernels come in by [`Program`] alike.

use crate::verdict;
use smallvec::SmallVec;

/// The number of an event within its thread.
pub type Position = u32;

/// What an event does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// It reads a location.
    Read,
    /// It writes a location.
    Write,
    /// A fence.
    Fence,
    /// It arrives at a barrier, or waits there.
    Barrier,
    /// Something else that models order (`avdevice`, `visdevice`).
    Other,
}

/// Bytes of memory: an allocation, and where in it. Locations that overlap are those whose bytes do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Place {
    /// The physical location: what aliases have in common.
    pub location: u32,
    /// The virtual address by which it is accessed.
    pub address: u32,
    /// The first byte within the location.
    pub offset: u32,
    /// How many bytes.
    pub bytes: u32,
}

/// An access that is there in parts, since others overlap it in part: each part is an event of its own (D-axiom-mixed).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Whole {
    /// Its position among the accesses of its thread, were none in parts.
    pub position: Position,
    /// All that it accesses.
    pub place: Place,
}

/// A barrier that an event arrives at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Arrival {
    /// Which barrier; events meet at equal ones only. None: it depends on what is not known.
    pub barrier: Option<(i64, i64)>,
    /// How many threads meet, where the instruction says so. Where that depends on what is not known, a thread stalls.
    pub quorum: Option<u64>,
    /// Whether the thread goes on only once all have come; otherwise it only arrives.
    pub waits: bool,
}

/// Events of one thread that one depends on: ascending positions.
pub type Sources = SmallVec<[Position; 4]>;

/// An event as its thread makes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// What it does.
    pub kind: Kind,
    /// The sets of the model that it is in, by the bits of [`Program::tags`].
    pub tags: u64,
    /// What it accesses. None of fences and barriers, and where an address depends on what is not known.
    pub place: Option<Place>,
    /// The access that it is a part of.
    pub whole: Option<Whole>,
    /// What it writes, or what it is known to read. None: not known yet.
    pub value: Option<u64>,
    /// The barrier that it arrives at.
    pub arrival: Option<Arrival>,
    /// Of a write: the read that it is one atomic operation with.
    pub rmw: Option<Position>,
    /// Reads that its address depends on.
    pub addr: Sources,
    /// Reads that what it writes depends on.
    pub data: Sources,
    /// Reads that it depends on whether it is done at all.
    pub ctrl: Sources,
    /// The instruction that it is of: an index that the program understands.
    pub origin: u32,
    /// Where threads execute instructions in lockstep, so that several events are of one: which one, counted as they are executed.
    /// Events of one instruction are in no program order.
    pub instruction: Option<u32>,
}

impl Event {
    /// An event of a kind with nothing else.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        let none = Sources::new;
        let (addr, data, ctrl) = (none(), none(), none());
        Self {
            kind,
            tags: 0,
            place: None,
            whole: None,
            value: None,
            arrival: None,
            rmw: None,
            addr,
            data,
            ctrl,
            origin: 0,
            instruction: None,
        }
    }

    /// All that the access accesses that it is, or is a part of.
    #[must_use]
    pub fn extent(&self) -> Option<Place> {
        self.whole.map(|whole| whole.place).or(self.place)
    }
}

/// How far a thread has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// To its end.
    Done,
    /// Its way depends on reads whose values are not known.
    Stalled(Stall),
    /// It would go around a loop more often than is looked at.
    Bound,
    /// It went around a loop in which it only read, and begins again as it began: without this round it would have come as far.
    Spin,
    /// What it was told to assume is not so.
    Contradiction,
    /// It did what this cannot express; a text that says what.
    Unsupported(String),
    /// To a defect of the program's: what it is called.
    Fault(verdict::Kind),
}

/// Why a thread does not go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stall {
    /// The reads that it waits for.
    pub on: Sources,
    /// Whether all that would follow depends on these reads. Then there is nothing that they could read from among it (D-thin-air), and
    /// nothing needs to be assumed.
    pub control: bool,
    /// Where in its code it is, by a number that its program understands.
    pub at: u32,
    /// How many such decisions it came by before.
    pub decision: u32,
    /// What it could assume instead, so that it goes on; the assumption is checked once the reads are known.
    pub options: SmallVec<[u64; 2]>,
}

/// A thread, run as far as it goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// Its events in program order.
    pub events: Vec<Event>,
    /// How far it came.
    pub end: End,
    /// The registers that are asked about, by the program's numbers: their values at the end. None: not known.
    pub registers: Vec<Option<u64>>,
}

impl Known<'_> {
    /// What is assumed at a decision.
    #[must_use]
    pub fn assumption(&self, decision: u32) -> Option<u64> {
        self.assumed.iter().find(|(other, _)| *other == decision).map(|(_, option)| *option)
    }
}

/// What a thread is run with.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// What each read returned, by its position. Positions beyond the end, and those of other events: not known.
    pub reads: &'a [Option<u64>],
    /// What it assumes at decisions where it would stall: the decision's number and the option, ascending.
    pub assumed: &'a [(u32, u64)],
    /// How often the body of a loop is gone through at most.
    pub bound: u32,
}

/// A program of several threads.
pub trait Program: Sync {
    /// How many threads there are.
    fn threads(&self) -> usize;

    /// Runs a thread from its start.
    fn run(&self, thread: usize, known: Known<'_>) -> Trace;

    /// The names of the sets that the bits of [`Event::tags`] stand for, lowest first, at most 64.
    fn tags(&self) -> &[&'static str];

    /// Memory at the start: what each place holds that a read may find there. Each is an initial write.
    fn initial(&self) -> Vec<(Place, u64)>;

    /// What a place holds at the start. There is an initial write of each place that some thread accesses.
    fn initial_value(&self, place: Place) -> Option<u64> {
        self.initial().into_iter().find(|(at, _)| *at == place).map(|(_, value)| value)
    }

    /// The sets that initial writes are in, besides `W`, `M` and `IW`.
    fn initial_tags(&self, place: Place) -> u64;

    /// Whether a thread that has stalled may yet write to a place.
    fn may_write(&self, thread: usize, stall: &Stall, place: Place) -> bool {
        let _ = (thread, stall, place);
        true
    }

    /// Values that are tried where values would depend on themselves alone (D-thin-air).
    fn constants(&self) -> Vec<u64> {
        vec![0, 1]
    }

    /// Whether accesses may be there in parts ([`Event::whole`]).
    fn in_parts(&self) -> bool {
        false
    }

    /// The static relations between events that models name besides the usual ones (`sr`, `scta`, `ssg` …): whether two events are
    /// related. An event is its thread and what that made; threads of initial writes are `None`. The relation `meets` is asked of
    /// arrivals at one barrier: whether the threads are in the scope of both.
    fn related(&self, relation: &str, one: (Option<usize>, &Event), two: (Option<usize>, &Event)) -> bool;
}

/// A program whose threads run in another way; the rest is as it was.
pub struct Rerun<'a, F> {
    /// The program.
    pub of: &'a dyn Program,
    /// The names of its sets, with those that the other way adds.
    pub tags: &'a [&'static str],
    /// Runs a thread from its start.
    pub run: F,
}

impl<F: Fn(usize, Known<'_>) -> Trace + Sync> Program for Rerun<'_, F> {
    fn threads(&self) -> usize {
        self.of.threads()
    }

    fn run(&self, thread: usize, known: Known<'_>) -> Trace {
        (self.run)(thread, known)
    }

    fn tags(&self) -> &[&'static str] {
        self.tags
    }

    fn initial(&self) -> Vec<(Place, u64)> {
        self.of.initial()
    }

    fn initial_value(&self, place: Place) -> Option<u64> {
        self.of.initial_value(place)
    }

    fn initial_tags(&self, place: Place) -> u64 {
        self.of.initial_tags(place)
    }

    fn may_write(&self, thread: usize, stall: &Stall, place: Place) -> bool {
        self.of.may_write(thread, stall, place)
    }

    fn constants(&self) -> Vec<u64> {
        self.of.constants()
    }

    fn related(&self, relation: &str, one: (Option<usize>, &Event), two: (Option<usize>, &Event)) -> bool {
        self.of.related(relation, one, two)
    }
}
