//! The events of litmus tests, as axiomatic models see them ([`crate::axiom`]).

mod code;
mod half;
mod locations;
mod opencl;
mod quiet;
mod relevant;
mod symmetry;
mod tags;
mod thread;

use super::check::Names;
use super::outcome::Observed;
use super::tree::{Arch, DeclKind, Initial, Litmus, Placing, StmtKind, TermKind, VulkanScope};
use crate::axiom::{End, Event, Known, Place, Program, Rerun, Stall, Trace};
pub(super) use code::{Address, Code, Operand, Step, bit};
use locations::{Locations, address, locations, pointed};
pub use tags::SETS_OF_VULKAN;
use thread::{Data, Runner};
pub(super) use thread::{arithmetic, atomic};

/// The threads of a litmus test as an axiomatic model meets them.
#[derive(Clone, Debug)]
pub struct Threads {
    locations: Locations,
    codes: Vec<Code>,
    /// The registers of each thread at the start.
    initial: Vec<Vec<Data>>,
    /// The registers of each thread that are asked about.
    asked: Vec<Vec<usize>>,
    /// Where each thread is.
    homes: Vec<Placing>,
    /// Pairs of threads of which the first comes before the other by the host's doing.
    ssw: Vec<(usize, usize)>,
    /// What the test is written for.
    arch: Arch,
    /// Of OpenCL: the sets of each location's initial write.
    initial_tags: Vec<u64>,
    /// Numbers that the test's text has.
    constants: Vec<u64>,
    /// What is asked about, in the order of [`Observed`]: a register by thread and index, or an index of the last values.
    spots: Vec<Spot>,
    /// The places whose last values are asked about.
    pub finals: Vec<Place>,
}

/// Where something is that is asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spot {
    /// A register: its thread's position and its index among those asked about.
    Register(usize, usize),
    /// The index of a last value.
    Last(usize),
}

impl Threads {
    /// The threads of a test without errors.
    #[must_use]
    pub fn of(litmus: &Litmus) -> Self {
        let names = Names::of(litmus);
        let locations = locations(litmus, &names);
        let observed = Observed::of(litmus);
        let mut asked: Vec<Vec<&str>> = vec![Vec::new(); litmus.threads.len()];
        let mut finals: Vec<Place> = Vec::new();
        let mut spots = Vec::new();
        for place in observed.places() {
            spots.push(match place {
                TermKind::Register { thread, name } => {
                    let thread = litmus.thread(*thread).unwrap_or(0);
                    asked[thread].push(name);
                    Spot::Register(thread, asked[thread].len() - 1)
                }
                TermKind::Location { name, .. } => {
                    let number = names.locations.get_index_of(name.as_str()).unwrap_or(0);
                    finals.push(locations.places[number]);
                    Spot::Last(finals.len() - 1)
                }
                TermKind::Number(_) => continue,
            });
        }
        let codes: Vec<Code> = (0..litmus.threads.len()).map(|k| Code::of(litmus, &names, k, &asked[k])).collect();
        let initial =
            codes.iter().zip(&litmus.threads).map(|(code, t)| registers(litmus, &names, t.number, code)).collect();
        let numbers = |code: &Code, wanted: &[&str]| {
            wanted.iter().filter_map(|name| code.registers.iter().position(|r| r == name)).collect()
        };
        Self {
            asked: codes.iter().zip(&asked).map(|(code, wanted)| numbers(code, wanted)).collect(),
            codes,
            initial,
            homes: litmus.threads.iter().map(|t| t.place).collect(),
            ssw: litmus
                .ssw
                .iter()
                .filter_map(|pair| Some((litmus.thread(pair.kind.0)?, litmus.thread(pair.kind.1)?)))
                .collect(),
            arch: litmus.arch,
            constants: constants(litmus),
            initial_tags: opencl::initial(litmus),
            locations,
            spots,
            finals,
        }
    }

    /// The values of what is asked about, in the order of [`Observed`], as far as they are known.
    pub fn observe<'v>(
        &'v self,
        registers: &'v [&'v [Option<u64>]],
        finals: &'v [Option<u64>],
    ) -> impl Iterator<Item = Option<i64>> + 'v {
        self.spots.iter().map(move |spot| {
            let bits = match spot {
                Spot::Register(thread, index) => registers[*thread].get(*index).copied().flatten(),
                Spot::Last(index) => finals.get(*index).copied().flatten(),
            };
            bits.map(u64::cast_signed)
        })
    }

    /// The same threads, which stop where they would go on beyond the bound, or go around a loop for nothing.
    pub(super) fn stopping(&self) -> impl Program {
        let run = |thread: usize, known: Known<'_>| {
            let mut trace = self.run(thread, known);
            if matches!(trace.end, End::Bound | End::Spin) {
                trace.end = End::Done;
            }
            trace
        };
        Rerun { of: self, tags: self.tags(), run }
    }

    /// The code of each thread.
    pub(super) fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// The registers of each thread at the start.
    pub(super) fn initial_registers(&self) -> Vec<Vec<u64>> {
        self.initial.iter().map(|all| all.iter().map(|data| data.value.unwrap_or(0)).collect()).collect()
    }

    /// What each location begins with; those of aliases are not used.
    pub(super) fn initial_memory(&self) -> Vec<u64> {
        let mut memory = vec![0; self.locations.places.len()];
        for (place, value) in &self.locations.initial {
            memory[place.location as usize] = *value;
        }
        memory
    }

    /// Whether a place is of the location with a number.
    #[allow(clippy::unused_self, reason = "how places are numbered is known here")]
    pub(super) fn is_at(&self, location: usize, place: Place) -> bool {
        place.location as usize == location
    }

    /// The number of the location that an address is of.
    pub(super) fn pointed(&self, at: Address, registers: &[u64]) -> Option<usize> {
        let number = match at {
            Address::Location(number) => number,
            Address::Register(r) => pointed(registers[r])?,
        };
        self.locations.places.get(number).map(|place| place.location as usize)
    }

    /// The barrier that a thread comes to.
    pub(super) fn arriving(&self, thread: usize, instance: i64, number: Option<i64>, quorum: u64) -> Arriving {
        Arriving { instance, number, group: self.homes[thread].group(), quorum }
    }

    /// Whether all accesses of each location are morally strong towards each other, so that coherence orders them; and whether they are all
    /// of one location. None: what is accessed is not known, or some are not.
    pub(super) fn ordered(&self) -> Option<bool> {
        let mut all = Vec::new();
        for (thread, code) in self.codes.iter().enumerate() {
            for step in &code.steps {
                let (tags, at) = match step {
                    Step::Load { tags, at, .. } | Step::Store { tags, at, .. } => (*tags, *at),
                    Step::Atomic { load, store, at, .. } => (load & store, *at),
                    _ => continue,
                };
                let Address::Location(number) = at else { return None };
                all.push((thread, tags, self.locations.places[number]));
            }
        }
        let strong = |one: &(usize, u64, Place), other: &(usize, u64, Place)| {
            let (a, b) = (self.homes[one.0], self.homes[other.0]);
            let atomic = match self.arch {
                Arch::Ptx => !tags::has(one.1, "WEAK"),
                Arch::Vulkan => tags::has(one.1, "ATOM"),
                // There it would take a scope that reaches far enough, on one side at least: never asked, since liveness is not.
                Arch::OpenCl | Arch::Lockstep => false,
            };
            one.2.location != other.2.location || one.2 == other.2 && atomic && tags::reaches(one.1, a, b)
        };
        let one_location = all.iter().all(|(.., place)| place.location == all[0].2.location);
        all.iter().all(|one| all.iter().all(|other| strong(one, other))).then_some(one_location)
    }

    /// Whether coherence respects the order in which each thread writes a location. Vulkan's says nothing of writes that are not atomic.
    pub(super) fn coherence_counts(&self) -> bool {
        let tags = |step: &Step| match step {
            Step::Load { tags, .. } | Step::Store { tags, .. } => Some(*tags),
            Step::Atomic { load, store, .. } => Some(load & store),
            _ => None,
        };
        match self.arch {
            Arch::Ptx => true,
            Arch::Vulkan => self.codes.iter().flat_map(|c| &c.steps).filter_map(tags).all(|t| tags::has(t, "ATOM")),
            Arch::OpenCl | Arch::Lockstep => false,
        }
    }

    /// Whether all accesses are of one location and morally strong towards each other: then coherence orders them all.
    pub(super) fn coherent(&self) -> bool {
        let barrier = |code: &Code| code.steps.iter().any(|step| matches!(step, Step::Barrier { .. }));
        self.ordered() == Some(true) && !self.codes.iter().any(barrier)
    }

    /// Runs a thread as [`Program::run`] does; answers also how many events it had when the round began in which it only read, if
    /// it ends in one.
    pub(super) fn spun(&self, thread: usize, known: Known<'_>) -> (Trace, Option<usize>) {
        Runner::new(&self.codes[thread], &self.locations, &self.initial[thread], known).run(&self.asked[thread])
    }

    /// Where a thread can be stopped: numbers of events, with the next step and the registers then. Reads are as `known` has them.
    pub(super) fn stops(&self, thread: usize, known: Known<'_>) -> Vec<(usize, usize, Vec<u64>)> {
        Runner::new(&self.codes[thread], &self.locations, &self.initial[thread], known).stops()
    }

    /// The name of the location that a value is the address of.
    #[must_use]
    pub fn address_of(&self, value: u64) -> Option<&str> {
        self.locations.names.get(pointed(value)?).map(String::as_str)
    }

    /// The name of a location that events access at this address.
    #[must_use]
    pub fn location(&self, place: Place) -> &str {
        self.locations.places.iter().position(|p| *p == place).map_or("?", |k| &self.locations.names[k])
    }
}

/// The registers of a thread at the start: zero where nothing else is said.
fn registers(litmus: &Litmus, names: &Names<'_>, thread: u32, code: &Code) -> Vec<Data> {
    let mut all = vec![Data::constant(0); code.registers.len()];
    for decl in &litmus.init {
        if let DeclKind::Register { thread: of, name, value, .. } = &decl.kind
            && *of == thread
            && let Some(number) = code.registers.iter().position(|r| *r == name.name)
        {
            all[number] = Data::constant(match value {
                Initial::Number(n) => n.cast_unsigned(),
                Initial::Of(of) => names.locations.get_index_of(of.name.as_str()).map_or(0, address),
            });
        }
    }
    all
}

/// The numbers that a test's text has, zero and one among them: what a value may be that depends on itself alone (D-thin-air).
fn constants(litmus: &Litmus) -> Vec<u64> {
    let mut all = vec![0, 1];
    for term in litmus.terms() {
        if let TermKind::Number(n) = term.kind {
            all.push(n.cast_unsigned());
        }
    }
    for stmt in litmus.threads.iter().flat_map(|t| &t.code) {
        if let StmtKind::Instruction(instruction) = &stmt.kind {
            all.extend(instruction.numbers().map(i64::cast_unsigned));
        }
    }
    for decl in &litmus.init {
        if let DeclKind::Location { value: Initial::Number(n), .. } = &decl.kind {
            all.push(n.cast_unsigned());
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// A barrier with a quorum that threads come to.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) struct Arriving {
    instance: i64,
    number: Option<i64>,
    group: [u32; 2],
    pub(super) quorum: u64,
}

impl Program for Threads {
    fn threads(&self) -> usize {
        self.codes.len()
    }

    fn run(&self, thread: usize, known: Known<'_>) -> Trace {
        self.spun(thread, known).0
    }

    fn tags(&self) -> &[&'static str] {
        if self.arch == Arch::OpenCl { opencl::TAGS } else { tags::TAGS }
    }

    fn initial(&self) -> Vec<(Place, u64)> {
        self.locations.initial.clone()
    }

    fn initial_tags(&self, place: Place) -> u64 {
        match self.arch {
            Arch::OpenCl => self.initial_tags.get(place.location as usize).copied().unwrap_or(0),
            Arch::Ptx => tags::tags(&["WEAK", "GEN"]),
            Arch::Vulkan | Arch::Lockstep => 0,
        }
    }

    fn may_write(&self, thread: usize, stall: &Stall, place: Place) -> bool {
        let written = self.codes[thread].written.get(stall.at as usize).copied().unwrap_or(u64::MAX);
        // Aliases are locations of their own here.
        let mut places = self.locations.places.iter().enumerate().filter(|(_, p)| p.location == place.location);
        places.any(|(number, _)| number >= 64 || written & bit(number) != 0)
    }

    fn constants(&self) -> Vec<u64> {
        self.constants.clone()
    }

    fn related(&self, relation: &str, one: (Option<usize>, &Event), two: (Option<usize>, &Event)) -> bool {
        let (Some(a), Some(b)) = (one.0, two.0) else { return false };
        let (home, other) = (self.homes[a], self.homes[b]);
        match relation {
            "sr" => tags::reaches(one.1.tags, home, other) && tags::reaches(two.1.tags, home, other),
            "scta" | "swg" | "wg" | "meets" => home.group() == other.group(),
            "wi" => a == b,
            "dev" => home.path()[0] == other.path()[0],
            "ssg" => VulkanScope::Subgroup.holds(home, other),
            "sqf" => VulkanScope::QueueFamily.holds(home, other),
            "ssw" => self.ssw.contains(&(a, b)),
            _ => false,
        }
    }
}
