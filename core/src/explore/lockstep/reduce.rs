//! What a search may leave out (D-lsc-reduced).

use super::search::Grain;
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

    /// Makes a step, if it is possible and tried. A request that the pool would refuse or queue has not arrived yet.
    pub fn step(&self, system: &System, step: Step, fired: &mut Fired) -> Option<System> {
        if self.grain == Grain::Needed
            && let Step::Answer(_, entry) | Step::CpuAnswer(_, entry) = step
            && !system.is_free(entry)
            && !(matches!(step, Step::Answer(..)) && system.is_late(self.program, step))
        {
            return None;
        }
        let mut after = *system;
        after.step(self.program, self.readings, step, fired)?;
        Some(after)
    }

    /// Takes at once the steps that are independent of all that others may still do. `told` hears of each; `steps` is room.
    pub fn settle(&self, system: &mut System, steps: &mut Vec<Step>, fired: &mut Fired, told: &mut dyn FnMut(Step)) {
        if self.grain == Grain::Every {
            return;
        }
        loop {
            let agents = self.program.waves().len() + self.program.cpus().len();
            let mut ahead = [Ahead::default(); WAVES + CPUS];
            (0..agents).for_each(|k| ahead[k] = system.ahead(self.program, k));
            let others = |who: usize| {
                let all = ahead[..agents].iter().enumerate().filter(|(k, _)| *k != who);
                all.fold(Ahead::default(), |sum, (_, a)| sum.and(*a))
            };
            steps.clear();
            system.candidates(self.program, steps);
            let taken = steps.iter().find_map(|step| {
                let own = system.footprint(self.program, *step)?;
                if !own.is_apart(others(self.who(*step))) {
                    return None;
                }
                self.step(system, *step, fired).map(|after| (*step, after))
            });
            let Some((step, after)) = taken else { return };
            *system = after;
            told(step);
        }
    }
}
