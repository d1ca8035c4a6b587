//! What the machine executes: accesses of wavefronts and of CPU threads, without control flow and arithmetic.

use super::coalesce::coalesce;
use super::fired::Fired;
use super::statuses::{Entry, Hash};
use super::step::Step;
use super::{CPUS, LANES, LENGTH, LOCATIONS, REGISTERS, REQUESTS, VALUES, WAVES};
use crate::base::mutant::{Mutant, on};
use crate::verdict::Rule;

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Op {
    /// Loads.
    Load,
    /// Stores.
    Store,
    /// Does both at once: an explicit synchronisation operation, which is treated as a store (section 7).
    Exchange,
}

/// The access of a lane, or of a CPU thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Access {
    /// The location.
    pub at: u8,
    /// The register for what is loaded.
    pub to: u8,
    /// What is stored, below [`VALUES`].
    pub value: u8,
}

/// An instruction: an operation and the accesses of all lanes that are active. One of a CPU thread has one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Instruction {
    /// What all of them do.
    pub op: Op,
    /// The accesses, by lane.
    pub lanes: Vec<Access>,
}

/// A program as it is written.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Source {
    /// The line of each location. Locations start with 0.
    pub lines: Vec<u64>,
    /// Mutexes in the pool.
    pub pool: u32,
    /// The instructions of each wavefront.
    pub waves: Vec<Vec<Instruction>>,
    /// Those of each CPU thread.
    pub cpus: Vec<Vec<Instruction>>,
}

/// What a machine of fixed size has no room for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TooBig {
    /// Locations.
    Locations,
    /// Registers.
    Registers,
    /// Values.
    Values,
    /// Mutexes.
    Mutexes,
    /// Wavefronts, or CPU threads.
    Agents,
    /// Lanes of an instruction, or other than one of a CPU thread's.
    Lanes,
    /// Instructions of a CPU thread, or requests of a wavefront.
    Instructions,
}

/// A request to the memory system: what an instruction does to a line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Request {
    /// What it does.
    pub op: Op,
    /// The mutex of its line.
    pub entry: Entry,
    /// The instruction that it is of.
    pub(super) instruction: u8,
    /// Bits of the locations.
    pub(super) locations: u8,
    lanes: [Access; LANES],
    count: u8,
    /// How many ways there are to choose among stores to the same location.
    pub(super) choices: u8,
}

impl Request {
    /// The accesses that were coalesced.
    pub(super) fn accesses(&self) -> &[Access] {
        &self.lanes[..usize::from(self.count)]
    }

    /// Whether it makes a store pending.
    pub(super) const fn stores(&self) -> bool {
        !matches!(self.op, Op::Load)
    }

    /// The accesses of which the stores take effect: of those to the same location one, by choice (4.3).
    pub(super) fn winners(&self, mut choice: u8) -> impl Iterator<Item = Access> + '_ {
        let all = self.accesses();
        all.iter().enumerate().filter_map(move |(k, access)| {
            if all[..k].iter().any(|a| a.at == access.at) {
                return None;
            }
            let same = || all.iter().filter(|a| a.at == access.at);
            let count = same().count() as u8;
            let pick = choice % count;
            choice /= count;
            same().nth(usize::from(pick)).copied()
        })
    }
}

/// What an agent may still do: bits of the locations that it reads and writes, and of the mutexes that it may ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ahead {
    /// Locations that it reads.
    pub reads: u8,
    /// Locations that it writes.
    pub writes: u8,
    /// Mutexes.
    pub entries: u8,
}

impl Ahead {
    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            reads: self.reads | other.reads,
            writes: self.writes | other.writes,
            entries: self.entries | other.entries,
        }
    }

    /// Whether nothing of one is in the way of the other.
    #[must_use]
    pub const fn is_apart(self, other: Self) -> bool {
        self.reads & other.writes == 0
            && self.writes & (other.reads | other.writes) == 0
            && self.entries & other.entries == 0
    }

    pub(super) const fn of(request: &Request) -> Self {
        let reads = if matches!(request.op, Op::Store) { 0 } else { request.locations };
        let writes = if request.stores() { request.locations } else { 0 };
        Self { reads, writes, entries: 1 << (request.entry.0 % u8::BITS) }
    }
}

/// The requests of an agent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    /// All of them, in program order.
    pub requests: Vec<Request>,
    /// Bits of the requests of each instruction.
    pub(super) of: Vec<u16>,
    /// What an agent may still do that has gone on to each instruction.
    pub(super) ahead: Vec<Ahead>,
}

/// A program that fits the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    pub(super) waves: Vec<Code>,
    pub(super) cpus: Vec<Code>,
    registers: usize,
    locations: usize,
    pool: u32,
}

impl Program {
    /// Coalesces, and gives each line its mutex.
    pub fn new(source: &Source) -> Result<Self, TooBig> {
        if source.lines.len() > LOCATIONS {
            return Err(TooBig::Locations);
        }
        if source.waves.len() > WAVES || source.cpus.len() > CPUS {
            return Err(TooBig::Agents);
        }
        let hash = Hash::new(source.pool);
        if hash.last().0 >= super::FewSlots::ENTRIES {
            return Err(TooBig::Mutexes);
        }
        let code = |wave: bool, code: &Vec<Instruction>| Code::new(source, hash, wave, code);
        let waves = source.waves.iter().map(|c| code(true, c)).collect::<Result<Vec<_>, _>>()?;
        let cpus = source.cpus.iter().map(|c| code(false, c)).collect::<Result<Vec<_>, _>>()?;
        let used = waves.iter().chain(&cpus).flat_map(|c| &c.requests).flat_map(Request::accesses);
        let registers = used.map(|a| usize::from(a.to) + 1).max().unwrap_or(0);
        Ok(Self { waves, cpus, registers, locations: source.lines.len(), pool: hash.last().0 + 1 })
    }

    /// The wavefronts.
    #[must_use]
    pub fn waves(&self) -> &[Code] {
        &self.waves
    }

    /// The CPU threads.
    #[must_use]
    pub fn cpus(&self) -> &[Code] {
        &self.cpus
    }

    /// Whether a step is of an agent and a request that there are.
    pub(super) fn has(&self, step: Step) -> bool {
        match step {
            Step::Load(w, r) | Step::Retire(w, r, _) => {
                self.waves.get(usize::from(w)).is_some_and(|code| usize::from(r) < code.requests.len())
            }
            Step::Service(w) | Step::Answer(w, _) | Step::AskAgain(w, _) => usize::from(w) < self.waves.len(),
            Step::CpuAsk(c) | Step::CpuAnswer(c, _) | Step::CpuCommit(c) | Step::CpuRetire(c) => {
                usize::from(c) < self.cpus.len()
            }
        }
    }

    /// The rules by which it was made.
    #[must_use]
    pub fn fired(&self) -> Fired {
        let mut fired = Fired::default();
        fired.add(Rule::LscHash);
        if !self.waves.is_empty() {
            fired.add(Rule::LscCoalesce);
        }
        fired
    }

    /// Registers that are written.
    #[must_use]
    pub const fn registers(&self) -> usize {
        self.registers
    }

    /// Locations.
    #[must_use]
    pub const fn locations(&self) -> usize {
        self.locations
    }

    /// Mutexes.
    #[must_use]
    pub const fn pool(&self) -> u32 {
        self.pool
    }
}

impl Code {
    fn new(source: &Source, hash: Hash, wave: bool, code: &[Instruction]) -> Result<Self, TooBig> {
        let mut made = Self::default();
        for (number, instruction) in code.iter().enumerate() {
            let lanes = &instruction.lanes;
            if lanes.len() > LANES || !wave && lanes.len() != 1 {
                return Err(TooBig::Lanes);
            }
            if lanes.iter().any(|a| usize::from(a.to) >= REGISTERS) {
                return Err(TooBig::Registers);
            }
            if lanes.iter().any(|a| a.value >= VALUES) {
                return Err(TooBig::Values);
            }
            let line = |a: &Access| source.lines.get(usize::from(a.at)).copied().ok_or(TooBig::Locations);
            let lines = lanes.iter().map(line).collect::<Result<Vec<_>, _>>()?;
            // Each update is a request of its own (D-lsc-atomic).
            let groups = if instruction.op == Op::Exchange || on(Mutant::LscUncoalesced) {
                (0..).zip(&lines).map(|(lane, line)| (*line, 1 << lane)).collect()
            } else {
                coalesce((0..).zip(lines.iter().copied()))
            };
            let first = made.requests.len();
            for (line, mask) in groups {
                let of = lanes.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 != 0).map(|(_, a)| *a);
                let line = if on(Mutant::LscHashOfAsker) && !wave { line + 2 } else { line };
                made.requests.push(Request::new(instruction.op, hash.entry(line), number, of));
            }
            if made.requests.len() > REQUESTS || number >= LENGTH {
                return Err(TooBig::Instructions);
            }
            made.of.push((first..made.requests.len()).map(|k| 1 << k).sum());
        }
        made.ahead = vec![Ahead::default(); made.of.len() + 1];
        for request in made.requests.iter().rev() {
            let at = usize::from(request.instruction);
            made.ahead[..=at].iter_mut().for_each(|a| *a = a.and(Ahead::of(request)));
        }
        Ok(made)
    }
}

impl Request {
    fn new(op: Op, entry: Entry, instruction: usize, of: impl Iterator<Item = Access>) -> Self {
        let mut lanes = [Access::default(); LANES];
        let mut count = 0;
        for (place, access) in lanes.iter_mut().zip(of) {
            *place = access;
            count += 1;
        }
        let all = &lanes[..usize::from(count)];
        let locations = all.iter().fold(0, |bits, a| bits | 1 << a.at);
        let same = |at: usize| all.iter().filter(|a| usize::from(a.at) == at).count().max(1) as u8;
        let choices = if op == Op::Load { 1 } else { (0..LOCATIONS).map(same).product() };
        Self { op, entry, instruction: instruction as u8, locations, lanes, count, choices }
    }
}

#[cfg(test)]
mod tests {
    use super::super::system::{Readings, System};
    use super::*;

    fn store(at: u8, value: u8) -> Instruction {
        Instruction { op: Op::Store, lanes: vec![Access { at, to: 0, value }] }
    }

    fn refused(source: &Source) -> Option<TooBig> {
        Program::new(source).err()
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let one = Source { lines: vec![0], pool: 1, waves: vec![vec![store(0, 1)]], cpus: vec![vec![store(0, 2)]] };
        assert_eq!(refused(&one), None);
        assert_eq!(refused(&Source { lines: vec![0; LOCATIONS + 1], ..one.clone() }), Some(TooBig::Locations));
        assert_eq!(refused(&Source { waves: vec![vec![store(1, 1)]], ..one.clone() }), Some(TooBig::Locations));
        assert_eq!(refused(&Source { waves: vec![vec![store(0, VALUES)]], ..one.clone() }), Some(TooBig::Values));
        assert_eq!(refused(&Source { waves: vec![vec![]; WAVES + 1], ..one.clone() }), Some(TooBig::Agents));
        assert_eq!(refused(&Source { pool: 9, ..one.clone() }), Some(TooBig::Mutexes));
        assert_eq!(
            refused(&Source { cpus: vec![vec![store(0, 1); LENGTH + 1]], ..one.clone() }),
            Some(TooBig::Instructions)
        );
        let none = Instruction { op: Op::Load, lanes: Vec::new() };
        assert_eq!(refused(&Source { cpus: vec![vec![none]], ..one.clone() }), Some(TooBig::Lanes));
        let far = Instruction { op: Op::Load, lanes: vec![Access { at: 0, to: REGISTERS as u8, value: 0 }] };
        assert_eq!(refused(&Source { waves: vec![vec![far]], ..one }), Some(TooBig::Registers));
    }

    #[test]
    fn steps_of_nobody_are_not_possible() {
        let source = Source { lines: vec![0], pool: 1, waves: vec![vec![store(0, 1)]], cpus: vec![vec![store(0, 2)]] };
        let program = Program::new(&source).unwrap();
        let mut system = System::default();
        let nobodys = [
            Step::Service(9),
            Step::Load(0, 99),
            Step::Load(0, 0),
            Step::Retire(0, 0, 7),
            Step::Answer(0, Entry(77)),
            Step::CpuCommit(9),
            Step::CpuAnswer(0, Entry(77)),
            Step::CpuRetire(0),
        ];
        for step in nobodys {
            assert_eq!(system.step(&program, Readings::REPAIRED, step, &mut Fired::default()), None, "{step:?}");
        }
        assert_eq!(system, System::default());
    }
}
