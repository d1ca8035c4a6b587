//! What a search may leave out (D-lsc-reduced).

use super::grain::Grain;
use crate::memory::lockstep::{Ahead, CPUS, Fired, Program, Readings, Step, System, WAVES};

/// What is left out of a search.
pub(super) struct Reduced<'a> {
    pub program: &'a Program,
    pub readings: Readings,
    pub grain: Grain,
}

impl Reduced<'_> {
    /// Who makes a step: wavefronts first, then CPU threads.
    pub fn who(&self, step: Step) -> usize {
        match step {
            Step::Service(k) | Step::Answer(k, _) | Step::AskAgain(k, _) | Step::Load(k, _) | Step::Retire(k, ..) => {
                usize::from(k)
            }
            Step::CpuAsk(k) | Step::CpuAnswer(k, _) | Step::CpuCommit(k) | Step::CpuRetire(k) => {
                self.program.waves().len() + usize::from(k)
            }
        }
    }

    /// Makes a step, if it is possible and tried; otherwise nothing has changed. A request that the pool would refuse or queue has not
    /// arrived yet.
    #[inline]
    pub fn step(&self, system: &mut System, step: Step, fired: &mut Fired) -> bool {
        if self.grain == Grain::Needed
            && let Step::Answer(_, entry) | Step::CpuAnswer(_, entry) = step
            && !system.is_free(entry)
            && !(matches!(step, Step::Answer(..)) && system.is_late(self.program, step))
        {
            return false;
        }
        system.step(self.program, self.readings, step, fired).is_some()
    }

    /// What all agents but one may still do, for each.
    fn others(&self, system: &System) -> [Ahead; WAVES + CPUS] {
        let agents = self.program.waves().len() + self.program.cpus().len();
        let mut others = [Ahead::default(); WAVES + CPUS];
        for k in 0..agents {
            let ahead = system.ahead(self.program, k);
            for (_, other) in others[..agents].iter_mut().enumerate().filter(|(o, _)| *o != k) {
                *other = other.and(ahead);
            }
        }
        others
    }

    /// Takes at once the steps that are independent of all that others may still do. `told` hears of each; `steps` is room.
    pub fn settle(&self, system: &mut System, steps: &mut Vec<Step>, fired: &mut Fired, told: &mut dyn FnMut(Step)) {
        if self.grain == Grain::Every {
            return;
        }
        loop {
            let others = self.others(system);
            steps.clear();
            system.candidates(self.program, steps);
            let taken = steps.iter().find(|step| {
                let own = system.footprint(self.program, **step);
                let silent = own.is_some_and(|own| own.is_apart(others[self.who(**step)]));
                silent && self.step(system, **step, fired)
            });
            let Some(step) = taken else { return };
            told(*step);
        }
    }
}
