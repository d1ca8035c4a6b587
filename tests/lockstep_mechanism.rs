//! The mutex mechanism (spec-notes/lockstep-mechanism.md): figure 7, that its outcomes are lockstep sequentially consistent, by brute force,
//! that it ends, and what of the paper's text does not do that. `LSC_FULL=1` leaves no program of a sweep out.

mod model;
mod shapes;

use shapes::{Shape, Trio, all, exchange, load, program, random, store};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpstep::explore::lockstep::{Grain, Options, Search, Space};
use warpstep::memory::lockstep::{Op, Outcome, Program, Readings, Source};

/// Each location has a line of its own; so they share a mutex only in a pool of one.
const LINES: &[u64] = &[0, 1];

/// Every how many-th program is looked at.
fn stride(usual: usize) -> usize {
    if std::env::var_os("LSC_FULL").is_some() { 1 } else { usual }
}

fn explore(search: &mut Search, source: &Source, readings: Readings, grain: Grain, fair: bool) -> Space {
    let program = Program::new(source).unwrap();
    search.explore(&program, &mut Options { readings, grain, fair, max_states: None, poll: &mut |_| None })
}

fn outcomes(space: &Space) -> Vec<Outcome> {
    space.ends.keys().copied().collect()
}

/// What comes of the mechanism in the grain that a sweep uses.
fn mechanism(source: &Source, readings: Readings) -> Vec<Outcome> {
    outcomes(&explore(&mut Search::default(), source, readings, Grain::Needed, false))
}

/// The registers of the outcomes, sorted.
fn registers<const N: usize>(outcomes: &[Outcome]) -> Vec<[u8; N]> {
    let mut all: Vec<_> = outcomes.iter().map(|o| std::array::from_fn(|k| o.register(k as u8))).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Figure 7: two threads that each store and load what the other stores.
fn store_buffering(gpu: usize, pool: u32) -> Source {
    let (one, other) = ([store(&[0]), load(&[1])], [store(&[1]), load(&[0])]);
    let both: [&[Shape]; 2] = [&one, &other];
    program(&both[..gpu], &both[gpu..], LINES, pool)
}

#[test]
fn figure_7_has_its_outcomes() {
    for gpu in 0..=2 {
        // With a mutex for each location; with one for both; the second value that is stored is 2.
        for pool in [2, 1] {
            for grain in [Grain::Every, Grain::Needed] {
                let source = store_buffering(gpu, pool);
                let space = explore(&mut Search::default(), &source, Readings::REPAIRED, grain, grain == Grain::Every);
                assert_eq!(registers(&outcomes(&space)), [[0, 1], [2, 0], [2, 1]], "{gpu} wavefronts");
                assert_eq!(
                    (space.stuck.0, space.endless.0),
                    (0, 0),
                    "{gpu} {pool} {grain:?} {:?} {:?}",
                    space.stuck.1,
                    space.endless.1
                );
            }
        }
    }
}

/// What came of a sweep.
#[derive(Default, Debug)]
struct Sum {
    programs: u64,
    stand_for: u64,
    states: u64,
    of_model: u64,
    as_many: u64,
    wrong: Vec<(Trio, u32)>,
    stuck: Vec<(Trio, u32)>,
}

impl Sum {
    fn join(&mut self, other: Self) {
        self.programs += other.programs;
        self.stand_for += other.stand_for;
        self.states += other.states;
        self.of_model += other.of_model;
        self.as_many += other.as_many;
        self.wrong.extend(other.wrong);
        self.stuck.extend(other.stuck);
    }

    fn look(&mut self, search: &mut Search, trio: &Trio, readings: Readings) {
        let ([one, other], cpu) = trio;
        let source = |pool| program(&[one, other], &[cpu], LINES, pool);
        let (allowed, states) = model::outcomes(&source(1));
        self.of_model += states as u64;
        for pool in [2, 1] {
            let space = explore(search, &source(pool), readings, Grain::Needed, false);
            self.states += space.states;
            let found = outcomes(&space);
            self.as_many += u64::from(found == allowed);
            if found.is_empty() || found.iter().any(|o| allowed.binary_search(o).is_err()) {
                self.wrong.push((trio.clone(), pool));
            }
            if space.stuck.0 != 0 {
                self.stuck.push((trio.clone(), pool));
            }
        }
        self.programs += 1;
    }
}

/// Looks at programs on all cores, in turns.
fn sweep(readings: Readings, programs: &[(Trio, u64)]) -> Sum {
    let (next, sum) = (AtomicUsize::new(0), Mutex::new(Sum::default()));
    let work = || {
        let (mut own, mut search) = (Sum::default(), Search::default());
        while let Some((trio, count)) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            own.look(&mut search, trio, readings);
            own.stand_for += count;
        }
        sum.lock().unwrap().join(own);
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..cores).for_each(|_| _ = scope.spawn(work)));
    let mut sum = sum.into_inner().unwrap();
    sum.wrong.sort();
    sum.stuck.sort();
    sum
}

fn every(ops: &[Op], stride: usize) -> Vec<(Trio, u64)> {
    let (mut seen, mut programs) = (0, Vec::new());
    all(ops, &mut |trio, count| {
        seen += 1;
        if seen % stride == 0 {
            programs.push((trio.clone(), count));
        }
    });
    programs
}

#[test]
fn all_small_programs_are_lockstep_sequentially_consistent() {
    let start = std::time::Instant::now();
    let programs = every(&[Op::Load, Op::Store], stride(101));
    let sum = sweep(Readings::REPAIRED, &programs);
    println!(
        "{} programs for {}, {} states, {} of the model, {} with the same outcomes, {:?} wrong {:?} stuck {:?}",
        sum.programs,
        sum.stand_for,
        sum.states,
        sum.of_model,
        sum.as_many,
        sum.wrong.first(),
        sum.stuck.first(),
        start.elapsed()
    );
    assert_eq!((sum.wrong.first(), sum.stuck.first()), (None, None));
}
