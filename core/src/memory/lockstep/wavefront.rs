//! What a wavefront does (6.4): its instructions are serviced in order, ask for mutexes, and go to the memory system.

use super::fired::Fired;
use super::gmm::Wanted;
use super::pool::{Answer, Asker};
use super::program::{Ahead, Code, Program};
use super::statuses::{Entry, Status, Statuses};
use super::system::{Readings, System, Wave, bit, bits};
use crate::base::mutant::{Mutant, on};
use crate::verdict::Rule;

impl Wave {
    /// What it may still do.
    pub(super) fn ahead(&self, code: &Code) -> Ahead {
        let rest = code.ahead[usize::from(self.next)];
        let want = Ahead { entries: self.want, ..Ahead::default() };
        bits(self.open | self.pending).fold(rest.and(want), |a, r| a.and(Ahead::of(&code.requests[usize::from(r)])))
    }

    /// A store goes to the L1 cache, which writes through. Rule: lsc.gpu.store
    fn issue(&mut self, readings: Readings, request: u8, fired: &mut Fired) {
        fired.add(Rule::LscGpuStore);
        self.open &= !(1 << request);
        self.pending |= 1 << request;
        if readings.issued || !readings.carry {
            self.gmm.store_issued();
        }
    }

    /// Requests that are not loads, of those that were serviced and wait for a mutex.
    fn issue_held(&mut self, readings: Readings, code: &Code, fired: &mut Fired) {
        for r in bits(self.open) {
            let request = &code.requests[usize::from(r)];
            if request.stores() && (!readings.carry || self.gmm.holds(request.entry) || on(Mutant::LscStoresUnheld)) {
                self.issue(readings, r, fired);
            }
        }
    }

    /// Under no pending store there is no use for mutexes: those that came are given back, and loads wait for none (D-lsc-cancel).
    /// The answer is what to give back.
    fn let_go(&mut self, code: &Code) -> u8 {
        if self.gmm.pending_store() != 0 {
            return 0;
        }
        let mut given = 0;
        self.gmm.release_all(|entry| given |= bit(entry));
        let needed = |entry: u8| {
            let of = |r: u8| &code.requests[usize::from(r)];
            bits(self.open).any(|r| of(r).stores() && bit(of(r).entry) == 1 << entry)
        };
        for entry in bits(u16::from(self.want)) {
            let of_loads = self.of_loads(code);
            if of_loads && !needed(entry) && self.gmm.vector().get(Entry(u32::from(entry))) == Status::Invalid {
                self.want &= !(1 << entry);
                self.gmm.give_up();
            }
        }
        given
    }

    /// Whether it waits for mutexes that nothing needs any more.
    pub(super) fn wants_nothing(&self, code: &Code) -> bool {
        self.gmm.pending_store() == 0 && self.of_loads(code)
    }

    /// Whether the instruction that was serviced last loads.
    fn of_loads(&self, code: &Code) -> bool {
        let last = code.requests.iter().find(|r| r.instruction + 1 == self.next);
        last.is_some_and(|r| !r.stores())
    }
}

impl System {
    /// A wavefront's next instruction reaches the manager: its stores and, under pending stores, its loads ask for mutexes.
    pub(super) fn service(&mut self, program: &Program, readings: Readings, k: usize, fired: &mut Fired) -> Option<()> {
        let (code, wave) = (&program.waves[k], &mut self.waves[k]);
        let requests = *code.of.get(usize::from(wave.next))?;
        let of = |r: u8| &code.requests[usize::from(r)];
        let loads_left = readings.loads && bits(wave.open).any(|r| !of(r).stores());
        if loads_left || !wave.gmm.may_service() {
            return None;
        }
        fired.add(Rule::LscGpuService);
        wave.next += 1;
        wave.open |= requests;
        let under_stores = wave.gmm.pending_store() != 0;
        for r in bits(requests) {
            let request = of(r);
            if !request.stores() && !under_stores {
                continue;
            }
            if request.stores() && readings.carry && !readings.issued {
                wave.gmm.store_issued();
            }
            if wave.gmm.want(request.entry) == Wanted::Asks {
                fired.add(Rule::LscGpuRequest);
                wave.want |= bit(request.entry);
            }
        }
        wave.issue_held(readings, code, fired);
        Some(())
    }

    /// The pool grants or refuses what a wavefront asked for.
    pub(super) fn answer(
        &mut self,
        program: &Program,
        readings: Readings,
        k: usize,
        entry: Entry,
        fired: &mut Fired,
    ) -> Option<()> {
        let (code, wave) = (&program.waves[k], &mut self.waves[k]);
        if wave.want & bit(entry) == 0 || wave.gmm.vector().get(entry) != Status::Requested {
            return None;
        }
        let given = if self.pool.ask(entry, Asker::Wavefront) == Answer::Granted {
            fired.add(Rule::LscPoolGrant);
            fired.add(Rule::LscGpuAcquire);
            wave.gmm.acquired(entry);
            wave.want &= !bit(entry);
            wave.issue_held(readings, code, fired);
            wave.let_go(code)
        } else {
            fired.add(Rule::LscPoolNack);
            fired.add(Rule::LscGpuRefused);
            wave.gmm.refused(entry);
            wave.let_go(code)
        };
        self.give_back_all(readings, given, fired);
        Some(())
    }

    /// A wavefront sends a request again that was refused.
    pub(super) fn ask_again(&mut self, k: usize, entry: Entry) -> Option<()> {
        let wave = &mut self.waves[k];
        if wave.want & bit(entry) == 0 || wave.gmm.vector().get(entry) != Status::Invalid {
            return None;
        }
        wave.gmm.ask_again(entry);
        Some(())
    }

    /// A load returns what memory has: under pending stores only with its mutex, and never past a store of the same wavefront to the
    /// same location, for which the L1 cache blocks it. Rule: lsc.gpu.load
    pub(super) fn load(&mut self, program: &Program, k: usize, r: u8, fired: &mut Fired) -> Option<()> {
        let (code, wave) = (&program.waves[k], &mut self.waves[k]);
        let request = &code.requests[usize::from(r)];
        let free = wave.gmm.pending_store() == 0 || wave.gmm.holds(request.entry) || on(Mutant::LscLoadsUnheld);
        let over = |p: u8| code.requests[usize::from(p)].locations & request.locations != 0;
        let blocked = bits(wave.pending).any(over) && !on(Mutant::LscNoBlock);
        if !free || blocked || wave.open >> r & 1 == 0 {
            return None;
        }
        wave.open &= !(1 << r);
        fired.add(Rule::LscGpuLoad);
        for access in request.accesses() {
            let value = self.read(access.at);
            self.set(access.to, value);
        }
        Some(())
    }

    /// A store reaches memory, in the order of instructions: it is visible to everybody from then on. Rule: lsc.store.retire
    pub(super) fn retire(
        &mut self,
        program: &Program,
        readings: Readings,
        k: usize,
        (r, choice): (u8, u8),
        fired: &mut Fired,
    ) -> Option<()> {
        let (code, wave) = (&program.waves[k], &mut self.waves[k]);
        let request = &code.requests[usize::from(r)];
        let before = |p: u8| {
            let other = &code.requests[usize::from(p)];
            let any = readings.in_order && !on(Mutant::LscRetireAnyOrder);
            other.instruction < request.instruction && (any || other.locations & request.locations != 0)
        };
        if wave.pending >> r & 1 == 0 || bits(wave.pending).any(before) {
            return None;
        }
        fired.add(Rule::LscStoreRetire);
        wave.pending &= !(1 << r);
        let mut given = 0;
        wave.gmm.store_retired(|entry| given |= bit(entry));
        given |= wave.let_go(code);
        if given != 0 {
            fired.add(Rule::LscGpuRelease);
        }
        self.perform(request, choice);
        self.give_back_all(readings, given, fired);
        Some(())
    }
}
