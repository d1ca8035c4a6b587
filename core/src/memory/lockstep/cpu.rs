//! What a CPU thread does (6.2, 6.3): instructions commit in program order, stores into a store buffer, which retires the oldest first.
//!
//! What a load returns is what memory has when it commits: one that was executed before is executed again if its line was invalidated
//! meanwhile (2.1).

use super::fired::Fired;
use super::pool::{Answer, Asker};
use super::program::{Ahead, Code, Op, Program};
use super::statuses::Entry;
use super::system::{Cpu, Readings, System, bit, bits};
use crate::base::mutant::{Mutant, on};
use crate::verdict::Rule;

impl Cpu {
    /// What it may still do.
    pub(super) fn ahead(&self, code: &Code) -> Ahead {
        let rest = code.ahead[usize::from(self.next)];
        bits(u16::from(self.buffer)).fold(rest, |a, p| a.and(Ahead::of(&code.requests[usize::from(p)])))
    }

    /// The position of the youngest store in the store buffer.
    const fn youngest(&self) -> Option<usize> {
        if self.buffer == 0 { None } else { Some((u8::BITS - 1 - self.buffer.leading_zeros()) as usize) }
    }

    /// An access enters the fifo of requests.
    fn want(&mut self, entry: Entry, store: bool, fired: &mut Fired) {
        fired.add(Rule::LscCpuRequest);
        if self.cmm.want(entry, store) {
            self.sent |= bit(entry);
        }
    }
}

impl System {
    /// Under pending stores the head of the ROB asks for its mutex.
    pub(super) fn cpu_ask(&mut self, program: &Program, readings: Readings, k: usize, fired: &mut Fired) -> Option<()> {
        let (code, cpu) = (&program.cpus[k], &mut self.cpus[k]);
        let request = code.requests.get(usize::from(cpu.next))?;
        let youngest = code.requests.get(cpu.youngest()?)?;
        if cpu.asked || readings.ask && !cpu.cmm.holds(youngest.entry) && !on(Mutant::LscAskBeside) {
            return None;
        }
        cpu.want(request.entry, request.stores(), fired);
        cpu.asked = true;
        Some(())
    }

    /// A request arrives at the pool.
    pub(super) fn cpu_answer(&mut self, readings: Readings, k: u8, entry: Entry, fired: &mut Fired) -> Option<()> {
        let cpu = &mut self.cpus[usize::from(k)];
        if cpu.sent & bit(entry) == 0 {
            return None;
        }
        cpu.sent &= !bit(entry);
        if self.pool.ask(entry, Asker::Core(k)) == Answer::Granted {
            fired.add(Rule::LscPoolGrant);
            if self.cpu_acquired(readings, k, entry, fired) {
                self.give_back(readings, entry, fired);
            }
        } else {
            fired.add(Rule::LscPoolQueue);
        }
        Some(())
    }

    /// A mutex is a core's from now on; whether it is given back at once.
    pub(super) fn cpu_acquired(&mut self, readings: Readings, k: u8, entry: Entry, fired: &mut Fired) -> bool {
        fired.add(Rule::LscCpuAcquire);
        let cmm = &mut self.cpus[usize::from(k)].cmm;
        let late = cmm.acquired(entry);
        if late && !readings.late {
            cmm.acquired_for_nobody(entry);
            return false;
        }
        late
    }

    /// The head of the ROB commits: under pending stores only if the youngest of them and it itself have their mutexes.
    pub(super) fn cpu_commit(&mut self, program: &Program, k: usize, fired: &mut Fired) -> Option<()> {
        let (code, cpu) = (&program.cpus[k], &mut self.cpus[k]);
        let request = code.requests.get(usize::from(cpu.next))?;
        if let Some(youngest) = cpu.youngest() {
            let store = code.requests.get(youngest)?;
            let held = cpu.cmm.holds(request.entry) || on(Mutant::LscCommitUnheld);
            if !(cpu.asked && held && cpu.cmm.holds(store.entry)) {
                return None;
            }
        }
        if request.op == Op::Load {
            // Rule: lsc.cpu.load
            fired.add(Rule::LscCpuLoad);
            let access = request.accesses().first()?;
            let of = |p: u8| code.requests[usize::from(p)].accesses().first().filter(|a| a.at == access.at);
            let forwarded = bits(u16::from(cpu.buffer)).filter_map(of).last().filter(|_| !on(Mutant::LscNoForward));
            cpu.next += 1;
            cpu.asked = false;
            let value = forwarded.map_or_else(|| self.read(access.at), |a| a.value);
            self.set(access.to, value);
        } else {
            // Rule: lsc.cpu.store
            fired.add(Rule::LscCpuStore);
            if on(Mutant::LscUnbuffered) {
                cpu.next += 1;
                self.perform(request, 0);
                return Some(());
            }
            if !cpu.asked {
                cpu.want(request.entry, true, fired);
            }
            cpu.buffer |= 1 << cpu.next;
            cpu.next += 1;
            cpu.asked = false;
        }
        Some(())
    }

    /// The oldest store in the store buffer reaches memory. Rule: lsc.cpu.retire
    pub(super) fn cpu_retire(
        &mut self,
        program: &Program,
        readings: Readings,
        k: usize,
        fired: &mut Fired,
    ) -> Option<()> {
        let (code, cpu) = (&program.cpus[k], &mut self.cpus[k]);
        let oldest = bits(u16::from(cpu.buffer)).next()?;
        let request = &code.requests[usize::from(oldest)];
        if readings.carry && !cpu.cmm.holds(request.entry) && !on(Mutant::LscRetireUnheld) {
            return None;
        }
        fired.add(Rule::LscCpuRetire);
        cpu.buffer &= !(1 << oldest);
        let mut given = 0;
        cpu.cmm.store_retired(|entry| given |= bit(entry));
        if given != 0 {
            fired.add(Rule::LscCpuRelease);
        }
        self.perform(request, 0);
        self.give_back_all(readings, given, fired);
        Some(())
    }
}
