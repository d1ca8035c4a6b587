//! The state of the machine, its steps, and what of the paper's text is taken how.

use super::cmm::{Cmm, FewCounts, ShortFifo};
use super::fired::Fired;
use super::gmm::Gmm;
use super::pool::{FewSlots, Pool, Slots};
use super::program::{Ahead, Op, Program, Request};
use super::statuses::{Entry, FewStatuses};
use super::step::Step;
use super::{CPUS, WAVES};
use crate::verdict::Rule;

/// How the text is read where what it says does not do what it claims (spec-notes/lockstep-mechanism.md).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Readings {
    /// A store reaches memory only with its mutex (D-lsc-carry). Otherwise its miss is serviced beside the request for the mutex.
    pub carry: bool,
    /// A store is pending from when it is issued to the L1 cache (D-lsc-issued). Otherwise from when it reaches the manager.
    pub issued: bool,
    /// Stores of different instructions of a wavefront retire in program order (D-lsc-order). Otherwise in any.
    pub in_order: bool,
    /// Loads return before the wavefront's next instruction is serviced (D-lsc-loads). Otherwise when they like.
    pub loads: bool,
    /// The head of a ROB asks for its mutex when the youngest pending store has its own (D-lsc-ask). Otherwise beside it.
    pub ask: bool,
    /// A mutex that comes when nobody wants it any more is given back (D-lsc-late). Otherwise a CPU core keeps it.
    pub late: bool,
}

impl Readings {
    /// The mechanism that is lockstep sequentially consistent.
    pub const REPAIRED: Self = Self { carry: true, issued: true, in_order: true, loads: true, ask: true, late: true };
}

/// A wavefront.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wave {
    /// The next instruction to be serviced.
    pub(super) next: u8,
    /// Bits of the mutexes that it waits for.
    pub(super) want: u8,
    /// Bits of the requests that were serviced and neither issued, if stores, nor returned, if loads.
    pub(super) open: u16,
    /// Bits of the stores that were issued and have not retired.
    pub(super) pending: u16,
    pub(super) gmm: Gmm<FewStatuses>,
}

/// A CPU thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cpu {
    /// The instruction at the head of the ROB.
    pub(super) next: u8,
    /// Bits of the instructions whose stores are in the store buffer.
    pub(super) buffer: u8,
    /// Whether the head has asked for its mutex.
    pub(super) asked: bool,
    /// Bits of the mutexes that requests are on their way for.
    pub(super) sent: u8,
    pub(super) cmm: Cmm<FewStatuses, FewCounts, ShortFifo>,
}

/// The state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct System {
    /// What registers hold, four bits each.
    pub(super) registers: u64,
    /// What memory holds, four bits a location. Caches agree with it (D-lsc-coherent).
    pub(super) memory: u32,
    pub(super) pool: Pool<FewSlots>,
    pub(super) waves: [Wave; WAVES],
    pub(super) cpus: [Cpu; CPUS],
}

/// What registers and memory hold at an end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Outcome {
    /// The registers, four bits each, the first lowest.
    pub registers: u64,
    /// The locations, likewise.
    pub memory: u32,
}

impl Outcome {
    /// A register.
    #[must_use]
    pub const fn register(self, register: u8) -> u8 {
        (self.registers >> (register * 4) & 0xf) as u8
    }

    /// A location.
    #[must_use]
    pub const fn location(self, at: u8) -> u8 {
        (self.memory >> (at * 4) & 0xf) as u8
    }
}

pub(super) const fn bit(entry: Entry) -> u8 {
    1 << (entry.0 % u8::BITS)
}

/// The numbers of the bits of a word.
pub(super) fn bits(mut word: u16) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let at = (word != 0).then(|| word.trailing_zeros() as u8);
        word &= word.wrapping_sub(1);
        at
    })
}

impl System {
    /// A state in words, for a table of states.
    #[must_use]
    pub fn words(&self) -> [u64; 3 + 2 * WAVES + 3 * CPUS + 2] {
        let mut words = [0; 3 + 2 * WAVES + 3 * CPUS + 2];
        let (taken, queues) = self.pool.slots().bits();
        let queue = |from: usize| queues[from..from + 4].iter().fold(0, |all, q| all << 16 | u64::from(*q));
        words[..4].copy_from_slice(&[
            self.registers,
            u64::from(self.memory) << 8 | u64::from(taken),
            queue(0),
            queue(4),
        ]);
        let mut rest = words[4..].iter_mut();
        let mut put = |word: u64| rest.next().map(|place| *place = word);
        for w in &self.waves {
            put(u64::from(w.next) | u64::from(w.want) << 8 | u64::from(w.open) << 16 | u64::from(w.pending) << 32);
            put(w.gmm.bits());
        }
        for c in &self.cpus {
            let flags = u64::from(c.asked) << 16 | u64::from(c.sent) << 24;
            put(u64::from(c.next) | u64::from(c.buffer) << 8 | flags);
            let [first, second] = c.cmm.bits();
            put(first);
            put(second);
        }
        words
    }

    /// What registers and memory hold.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        Outcome { registers: self.registers, memory: self.memory }
    }

    /// Whether every agent is through, and no store pending.
    #[must_use]
    pub fn is_complete(&self, program: &Program) -> bool {
        let wave = |(w, code): (&Wave, &super::program::Code)| {
            usize::from(w.next) == code.of.len() && w.open == 0 && w.pending == 0 && w.want == 0
        };
        let cpu = |(c, code): (&Cpu, &super::program::Code)| usize::from(c.next) == code.of.len() && c.buffer == 0;
        self.waves.iter().zip(&program.waves).all(wave) && self.cpus.iter().zip(&program.cpus).all(cpu)
    }

    pub(super) const fn read(&self, at: u8) -> u8 {
        (self.memory >> (at * 4) & 0xf) as u8
    }

    pub(super) const fn write(&mut self, at: u8, value: u8) {
        self.memory = self.memory & !(0xf << (at * 4)) | (value as u32) << (at * 4);
    }

    pub(super) const fn set(&mut self, register: u8, value: u8) {
        self.registers = self.registers & !(0xf << (register * 4)) | (value as u64) << (register * 4);
    }

    /// A store reaches memory, with whatever of it wins; an update finds what it replaces.
    pub(super) fn perform(&mut self, request: &Request, choice: u8) {
        for access in request.winners(choice) {
            if request.op == Op::Exchange {
                self.set(access.to, self.read(access.at));
            }
            self.write(access.at, access.value);
        }
    }

    /// A mutex is given back: a CPU core that waits for it has it from then on.
    pub(super) fn give_back(&mut self, readings: Readings, entry: Entry, fired: &mut Fired) {
        fired.add(Rule::LscPoolRelease);
        while let Some(core) = self.pool.release(entry) {
            if !self.cpu_acquired(readings, core, entry, fired) {
                break;
            }
        }
    }

    /// The mutexes of a set are given back.
    pub(super) fn give_back_all(&mut self, readings: Readings, entries: u8, fired: &mut Fired) {
        for entry in bits(u16::from(entries)) {
            self.give_back(readings, Entry(u32::from(entry)), fired);
        }
    }

    /// Makes a step. `None`: it is not possible now, and nothing has changed.
    pub fn step(&mut self, program: &Program, readings: Readings, step: Step, fired: &mut Fired) -> Option<()> {
        if !program.has(step) {
            return None;
        }
        match step {
            Step::Service(wave) => self.service(program, readings, usize::from(wave), fired),
            Step::Answer(wave, entry) => self.answer(program, readings, usize::from(wave), entry, fired),
            Step::AskAgain(wave, entry) => self.ask_again(usize::from(wave), entry),
            Step::Load(wave, request) => self.load(program, usize::from(wave), request, fired),
            Step::Retire(wave, request, choice) => {
                self.retire(program, readings, usize::from(wave), (request, choice), fired)
            }
            Step::CpuAsk(cpu) => self.cpu_ask(program, readings, usize::from(cpu), fired),
            Step::CpuAnswer(cpu, entry) => self.cpu_answer(readings, cpu, entry, fired),
            Step::CpuCommit(cpu) => self.cpu_commit(program, usize::from(cpu), fired),
            Step::CpuRetire(cpu) => self.cpu_retire(program, readings, usize::from(cpu), fired),
        }
    }

    /// The steps that may be possible, in a fixed order.
    pub fn candidates(&self, program: &Program, out: &mut Vec<Step>) {
        for (k, code) in program.waves.iter().enumerate() {
            let (wave, k) = (&self.waves[k], k as u8);
            out.push(Step::Service(k));
            for entry in bits(u16::from(wave.want)).map(|e| Entry(u32::from(e))) {
                out.push(Step::Answer(k, entry));
                out.push(Step::AskAgain(k, entry));
            }
            let request = |r: u8| &code.requests[usize::from(r)];
            out.extend(bits(wave.open).filter(|r| !request(*r).stores()).map(|r| Step::Load(k, r)));
            for r in bits(wave.pending) {
                out.extend((0..request(r).choices).map(|choice| Step::Retire(k, r, choice)));
            }
        }
        for k in 0..program.cpus.len() {
            let (cpu, k) = (&self.cpus[k], k as u8);
            out.push(Step::CpuAsk(k));
            out.extend(bits(u16::from(cpu.sent)).map(|e| Step::CpuAnswer(k, Entry(u32::from(e)))));
            out.push(Step::CpuCommit(k));
            out.push(Step::CpuRetire(k));
        }
    }

    /// What an agent may still do: wavefronts first, then CPU threads.
    #[must_use]
    pub fn ahead(&self, program: &Program, agent: usize) -> Ahead {
        match agent.checked_sub(program.waves.len()) {
            None => self.waves[agent].ahead(&program.waves[agent]),
            Some(cpu) => self.cpus[cpu].ahead(&program.cpus[cpu]),
        }
    }

    /// Whether the pool would grant a mutex.
    #[must_use]
    pub fn is_free(&self, entry: Entry) -> bool {
        !self.pool.slots().is_taken(entry)
    }

    /// Whether the answer to a request matters to nobody: no access is left that wants the mutex.
    #[must_use]
    pub fn is_late(&self, program: &Program, step: Step) -> bool {
        match step {
            Step::Answer(wave, _) => self.waves[usize::from(wave)].wants_nothing(&program.waves[usize::from(wave)]),
            Step::CpuAnswer(cpu, entry) => self.cpus[usize::from(cpu)].cmm.wants_nothing(entry),
            _ => false,
        }
    }

    /// What of it others can notice, if they ever do what it touches. Nothing where it is one of several ways to go on.
    #[must_use]
    pub fn footprint(&self, program: &Program, step: Step) -> Option<Ahead> {
        let none = Ahead::default();
        let of_wave = |w: u8, r: u8| Ahead::of(&program.waves[usize::from(w)].requests[usize::from(r)]);
        let of_cpu = |c: u8, at: u8| program.cpus[usize::from(c)].requests.get(usize::from(at)).map(Ahead::of);
        match step {
            // A store that comes under pending stores keeps mutexes that would be given back between them.
            Step::Service(w) => {
                let (wave, code) = (&self.waves[usize::from(w)], &program.waves[usize::from(w)]);
                let stores = code.requests.iter().any(|r| r.instruction == wave.next && r.stores());
                (!stores || wave.gmm.pending_store() == 0).then_some(none)
            }
            // So does a request for what is held.
            Step::CpuAsk(c) => {
                let (cpu, code) = (&self.cpus[usize::from(c)], &program.cpus[usize::from(c)]);
                let request = code.requests.get(usize::from(cpu.next))?;
                (!cpu.cmm.holds(request.entry)).then_some(none)
            }
            Step::AskAgain(..) => Some(none),
            Step::Answer(_, entry) | Step::CpuAnswer(_, entry) => {
                Some(Ahead { entries: if self.is_late(program, step) { 0 } else { bit(entry) }, ..none })
            }
            Step::Load(w, r) => Some(Ahead { entries: 0, ..of_wave(w, r) }),
            Step::Retire(w, r, _) => {
                let (wave, code) = (&self.waves[usize::from(w)], &program.waves[usize::from(w)]);
                let own = code.requests[usize::from(r)];
                let same = |o: u8| o != r && code.requests[usize::from(o)].locations & own.locations != 0;
                let one_of_several = own.choices > 1 || bits(wave.pending | wave.open).any(same);
                (!one_of_several).then_some(Ahead { entries: 0, ..Ahead::of(&own) })
            }
            Step::CpuCommit(c) => of_cpu(c, self.cpus[usize::from(c)].next)
                .map(|a| if a.writes != 0 { none } else { Ahead { entries: 0, ..a } }),
            Step::CpuRetire(c) => {
                let oldest = bits(u16::from(self.cpus[usize::from(c)].buffer)).next()?;
                of_cpu(c, oldest).map(|a| Ahead { entries: 0, ..a })
            }
        }
    }
}
