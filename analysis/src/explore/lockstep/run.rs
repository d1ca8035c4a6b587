//! One fair run of the machine, always the same one, in which what agents ask of the pool is counted (D-lsc-cpu-hits).

use super::grain::Grain;
use super::reduce::Reduced;
use crate::memory::lockstep::{Asked, Fired, Outcome, Program, Readings, Step, System};

/// A run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ran {
    /// What each agent asked for: wavefronts first, then CPU threads.
    pub asked: Vec<Asked>,
    /// Steps of all of them.
    pub steps: u64,
    /// What it came to; nothing where it did not end within the steps that it was given.
    pub end: Option<Outcome>,
}

/// Which of an agent's steps comes first. Stores retire when nothing else can be done, so that as much as possible is done under them, but
/// before a refused request is sent again: what is above that is done finitely often, so that nothing waits for ever.
const fn patience(step: Step) -> u8 {
    match step {
        Step::Load(..) | Step::Answer(..) | Step::CpuAnswer(..) => 0,
        Step::Service(_) | Step::CpuCommit(_) => 1,
        Step::CpuAsk(_) => 2,
        Step::Retire(..) | Step::CpuRetire(_) => 3,
        Step::AskAgain(..) => 4,
    }
}

/// Runs a program: the agents take turns, a step each.
#[must_use]
pub fn run(program: &Program, readings: Readings, most: u64) -> Ran {
    let reduced = Reduced { program, readings, grain: Grain::Every };
    let agents = program.waves().len() + program.cpus().len();
    let mut ran = Ran { asked: vec![Asked::default(); agents], steps: 0, end: None };
    let (mut system, mut candidates, mut fired) = (System::default(), Vec::new(), Fired::default());
    let mut goes_on = true;
    while goes_on && ran.steps < most {
        goes_on = false;
        for (agent, asked) in ran.asked.iter_mut().enumerate() {
            candidates.clear();
            system.candidates(program, &mut candidates);
            candidates.retain(|step| reduced.who(*step) == agent);
            candidates.sort_by_key(|step| patience(*step));
            let before = system;
            let Some(step) = candidates.iter().find(|step| reduced.step(&mut system, **step, &mut fired)) else {
                continue;
            };
            asked.add(before.asked(program, *step, &system));
            ran.steps += 1;
            goes_on = true;
        }
    }
    ran.end = system.is_complete(program).then(|| system.outcome());
    ran
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::lockstep::{Access, Instruction, Op, Source};

    const STEPS: u64 = 1000;

    fn load(at: u8, to: u8) -> Instruction {
        Instruction { op: Op::Load, lanes: vec![Access { at, to, value: 0 }] }
    }

    fn store(at: u8) -> Instruction {
        Instruction { op: Op::Store, lanes: vec![Access { at, to: 0, value: 1 }] }
    }

    fn ran(waves: Vec<Vec<Instruction>>, cpus: Vec<Vec<Instruction>>) -> Ran {
        let source = Source { lines: vec![0, 1], pool: 2, waves, cpus };
        run(&Program::new(&source).unwrap(), Readings::REPAIRED, STEPS)
    }

    const fn asked(requests: u64, hits: u64, refusals: u64, waits: u64) -> Asked {
        Asked { requests, hits, refusals, waits }
    }

    /// The registers and how it was come to them.
    fn told<const N: usize>(ran: &Ran) -> (u64, Option<[u8; N]>) {
        (ran.steps, ran.end.map(|end| std::array::from_fn(|k| end.register(k as u8))))
    }

    /// The first store and the first load ask, each for its mutex, which the second ones find in the vector: commit, answer, ask, answer, commit;
    /// ask, commit, ask, commit; two stores retire.
    #[test]
    fn mutexes_are_used_again() {
        let ran = ran(vec![], vec![vec![store(0), load(1, 0), store(0), load(1, 1)]]);
        assert_eq!(ran.asked, [asked(2, 2, 0, 0)]);
        assert_eq!(told(&ran), (11, Some([0, 0])));
    }

    /// A load under no store needs no mutex.
    #[test]
    fn loads_alone_ask_for_nothing() {
        let ran = ran(vec![vec![load(0, 0)]], vec![vec![load(0, 1), load(0, 1)]]);
        assert_eq!(ran.asked, [Asked::default(); 2]);
    }

    /// Figure 7: each has the mutex of its store when it asks for that of its load, which the other one has.
    #[test]
    fn threads_wait_and_wavefronts_are_refused() {
        let code = || vec![vec![store(0), load(1, 0)], vec![store(1), load(0, 1)]];
        let cpus = ran(vec![], code());
        assert_eq!(cpus.asked, [asked(2, 0, 0, 1); 2]);
        // When C0's store retires, C1 has its mutex and loads what C0 stored; C0 waits for no mutex then, and C1's store retires last.
        assert_eq!(told(&cpus), (12, Some([0, 1])));
        // What wavefronts are refused they need no more when their stores have retired.
        let waves = ran(code(), vec![]);
        assert_eq!(waves.asked, [asked(2, 0, 1, 0); 2]);
        assert_eq!(told(&waves), (12, Some([1, 1])));
    }

    /// W0 is first at the pool; C0's request waits for it, and serves both of its stores.
    #[test]
    fn a_wavefront_and_a_thread_want_the_same() {
        let ran = ran(vec![vec![store(0)]], vec![vec![store(0), store(0)]]);
        assert_eq!(ran.asked, [asked(1, 0, 0, 0), asked(1, 1, 0, 1)]);
    }

    /// Two wavefronts each hold a mutex that the other one is refused: their stores retire, so that it comes to an end.
    #[test]
    fn refused_wavefronts_retire_what_they_can() {
        let both = || Instruction { op: Op::Store, lanes: vec![store(0).lanes[0], store(1).lanes[0]] };
        let ran = ran(vec![vec![both()], vec![both()]], vec![]);
        assert!(ran.end.is_some() && ran.asked.iter().all(|a| a.hits == 0), "{ran:?}");
        assert_eq!(ran.asked[0].requests - ran.asked[0].refusals, 2);
        assert_eq!(ran.asked[1].requests - ran.asked[1].refusals, 2);
        assert!(ran.asked[1].refusals > 0);
    }
}
