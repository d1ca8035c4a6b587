//! The mutex mechanism (spec-notes/lockstep-mechanism.md): figure 7, that its outcomes are lockstep sequentially consistent, by brute force,
//! that it ends, and what of the paper's text does not do that. `LSC_FULL=1` takes whole sweeps, `LSC_FULL=3` one in three.

mod model;
mod shapes;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use shapes::{Agents, Shape, all, exchange, load, program, random, store};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpstep::explore::lockstep::{Grain, Options, Search, Space};
use warpstep::memory::lockstep::{Entry, Fired, Op, Outcome, Program, Readings, Source, Step, System};

/// Each location has a line of its own; so they share a mutex only in a pool of one.
const LINES: &[u64] = &[0, 1];

/// Every how many-th program is looked at.
fn stride(usual: usize) -> usize {
    stride_of(usual, 1)
}

/// The same where a whole sweep leaves out some, too.
fn stride_of(usual: usize, whole: usize) -> usize {
    let full = std::env::var("LSC_FULL").ok().map(|n| n.parse().unwrap_or(1));
    full.map_or(usual, |n: usize| usual.min(n * whole))
}

fn explore(search: &mut Search, source: &Source, readings: Readings, grain: Grain, fair: bool) -> Space {
    let program = Program::new(source).unwrap();
    search.explore(&program, &mut Options { fair, ..Options::new(readings, grain) })
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

/// Figure 7 as the paper tells it: C0's load beats C1's store to the mutex, and passes C0's own store.
#[test]
fn figure_7_is_walked_as_the_paper_tells_it() {
    let program = Program::new(&store_buffering(0, 2)).unwrap();
    let (a, b) = (Entry(0), Entry(1));
    let mut system = System::default();
    let mut possible = |step| system.step(&program, Readings::REPAIRED, step, &mut Fired::default()).is_some();
    assert!(possible(Step::CpuCommit(0)));
    // Under a pending store without a mutex nothing commits, and nothing asks yet.
    assert!(!possible(Step::CpuCommit(0)) && !possible(Step::CpuAsk(0)) && !possible(Step::CpuRetire(0)));
    assert!(possible(Step::CpuAnswer(0, a)) && possible(Step::CpuAsk(0)) && !possible(Step::CpuCommit(0)));
    // MuReq-LdB beats MuReq-StB, and the load passes the store.
    assert!(possible(Step::CpuCommit(1)));
    assert!(possible(Step::CpuAnswer(0, b)) && possible(Step::CpuAnswer(1, b)) && possible(Step::CpuCommit(0)));
    assert!(!possible(Step::CpuRetire(1)) && !possible(Step::CpuAsk(1)) && !possible(Step::CpuCommit(1)));
    // StA retires, MuRel-LdB lets StB have its mutex.
    assert!(possible(Step::CpuRetire(0)) && possible(Step::CpuRetire(1)) && possible(Step::CpuCommit(1)));
    assert!(system.is_complete(&program));
    assert_eq!([0, 1].map(|r| system.outcome().register(r)), [0, 1]);
}

/// What came of a sweep.
#[derive(Default, Debug)]
struct Sum {
    programs: u64,
    runs: u64,
    stand_for: u64,
    states: u64,
    unreduced: u64,
    of_model: u64,
    as_many: u64,
    /// Programs with an outcome that is not lockstep sequentially consistent, and the mutexes in the pool.
    wrong: Vec<(Agents, u32)>,
    /// Programs that can be left waiting for ever.
    stuck: Vec<(Agents, u32)>,
    /// Programs whose outcomes differ when nothing is left out of the search.
    missed: Vec<(Agents, u32)>,
}

impl Sum {
    fn join(&mut self, other: Self) {
        self.programs += other.programs;
        self.runs += other.runs;
        self.stand_for += other.stand_for;
        self.states += other.states;
        self.unreduced += other.unreduced;
        self.of_model += other.of_model;
        self.as_many += other.as_many;
        self.wrong.extend(other.wrong);
        self.stuck.extend(other.stuck);
        self.missed.extend(other.missed);
    }

    fn tell(&self, what: &str) {
        let Self { programs, runs, stand_for, states, unreduced, of_model, as_many, .. } = self;
        println!(
            "{programs} {what}, which stand for {stand_for}: {states} states of the mechanism, {unreduced} with all steps, {of_model} of the \
             model; of {runs} searches {as_many} with the same outcomes, {} with others, {} stuck, {} missed",
            self.wrong.len(),
            self.stuck.len(),
            self.missed.len()
        );
    }

    fn is_right(&self) {
        assert_eq!((self.wrong.first(), self.stuck.first(), self.missed.first()), (None, None, None));
        assert!(self.programs > 0 && self.as_many > 0);
    }

    /// Looks at a program under both pools; with all steps, too, and for runs that never end, if that is asked for.
    fn look(&mut self, search: &mut Search, agents: &Agents, readings: Readings, whole: bool) {
        let [waves, cpus] = [&agents.0, &agents.1].map(|all| all.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let source = |pool| program(&waves, &cpus, LINES, pool);
        let (allowed, states) = model::outcomes(&source(1));
        self.of_model += states as u64;
        for pool in POOLS {
            self.runs += 1;
            let space = explore(search, &source(pool), readings, Grain::Needed, false);
            self.states += space.states;
            let found = outcomes(&space);
            self.as_many += u64::from(found == allowed);
            if found.iter().any(|o| allowed.binary_search(o).is_err()) {
                self.wrong.push((agents.clone(), pool));
            }
            let mut waits = space.stuck.0 != 0;
            if whole {
                let space = explore(search, &source(pool), readings, Grain::Every, true);
                self.unreduced += space.states;
                waits |= space.stuck.0 != 0 || space.endless.0 != 0;
                if outcomes(&space) != found {
                    self.missed.push((agents.clone(), pool));
                }
            }
            if waits {
                self.stuck.push((agents.clone(), pool));
            }
        }
        self.programs += 1;
    }
}

/// Mutexes in the pool: one for each location, or one for all, which is then shared falsely.
const POOLS: [u32; 2] = [2, 1];

/// Looks at programs on all cores, in turns; at every so many-th with all steps.
fn sweep(readings: Readings, programs: &[(Agents, u64)], whole: usize) -> Sum {
    let (next, sum) = (AtomicUsize::new(0), Mutex::new(Sum::default()));
    let work = || {
        let (mut own, mut search) = (Sum::default(), Search::default());
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            let Some((agents, count)) = programs.get(k) else { break };
            own.look(&mut search, agents, readings, k % whole == 0);
            own.stand_for += count;
        }
        sum.lock().unwrap().join(own);
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..cores).for_each(|_| _ = scope.spawn(work)));
    let mut sum = sum.into_inner().unwrap();
    [&mut sum.wrong, &mut sum.stuck, &mut sum.missed].into_iter().for_each(|all| all.sort());
    sum
}

fn every(ops: &[Op], agents: [usize; 2], stride: usize) -> Vec<(Agents, u64)> {
    let (mut seen, mut programs) = (0, Vec::new());
    all(ops, agents, &mut |agents, count| {
        seen += 1;
        if seen % stride == 0 {
            programs.push((agents.clone(), count));
        }
    });
    programs
}

const PLAIN: [Op; 2] = [Op::Load, Op::Store];
const ALL: [Op; 3] = [Op::Load, Op::Store, Op::Exchange];

#[test]
fn all_small_programs_are_lockstep_sequentially_consistent() {
    let sum = sweep(Readings::REPAIRED, &every(&PLAIN, [2, 1], stride(101)), stride(19));
    sum.tell("programs of two loads or stores each");
    sum.is_right();
    let sum = sweep(Readings::REPAIRED, &every(&ALL, [2, 1], stride_of(3911, 13)), 53);
    sum.tell("programs of two loads, stores or exchanges each");
    sum.is_right();
    let two_cores = every(&PLAIN, [1, 2], stride(101));
    let sum = sweep(Readings::REPAIRED, &two_cores, stride(19));
    sum.tell("programs of two loads or stores each, with two CPU threads");
    sum.is_right();
    // Two of which can wait for each other unless they ask in order.
    let sum = sweep(Readings { ask: false, ..Readings::REPAIRED }, &two_cores, usize::MAX);
    sum.tell("of the same without order");
    assert!(sum.wrong.is_empty() && !sum.stuck.is_empty());
}

#[test]
fn random_programs_are_lockstep_sequentially_consistent() {
    let mut stream = ChaCha8Rng::seed_from_u64(16);
    let mut next = |below: u32| stream.next_u32() % below;
    let programs: Vec<_> = (0..100_000).map(|_| (random(&mut next), 1)).step_by(stride(500)).collect();
    let sum = sweep(Readings::REPAIRED, &programs, 1009);
    sum.tell("random programs of three instructions each");
    sum.is_right();
}

/// A sweep that cannot fail proves nothing: the same programs show what is wrong with the text.
#[test]
fn the_same_sweep_finds_what_the_text_does_not_do() {
    let right = Readings::REPAIRED;
    let programs = every(&PLAIN, [2, 1], stride_of(53, 7));
    for (name, readings, [wrong, stuck]) in [
        ("a store retires without its mutex", Readings { carry: false, ..right }, [true, false]),
        ("stores are pending before they are issued", Readings { issued: false, ..right }, [false, true]),
        ("stores retire in any order", Readings { in_order: false, ..right }, [true, false]),
        ("loads return in any order", Readings { loads: false, ..right }, [true, false]),
        ("a mutex that comes late is kept", Readings { late: false, ..right }, [false, true]),
    ] {
        let sum = sweep(readings, &programs, usize::MAX);
        sum.tell(&format!("programs where {name}"));
        assert_eq!([!sum.wrong.is_empty(), !sum.stuck.is_empty()], [wrong, stuck], "{name}");
    }
}

/// Whether a program has an outcome that is not lockstep sequentially consistent, and whether it can wait for ever: in both grains.
fn judged(source: &Source, readings: Readings) -> [bool; 2] {
    let (allowed, _) = model::outcomes(source);
    let mut search = Search::default();
    let [whole, needed] = [Grain::Every, Grain::Needed].map(|grain| {
        let space = explore(&mut search, source, readings, grain, true);
        [outcomes(&space).iter().any(|o| !allowed.contains(o)), space.stuck.0 + space.endless.0 != 0]
    });
    assert_eq!(whole, needed, "{source:?}");
    whole
}

#[test]
fn the_text_is_repaired_where_it_does_not_do_what_it_claims() {
    let right = Readings::REPAIRED;
    let (x, y): (&[u8], &[u8]) = (&[0], &[1]);
    let gpu = |waves: &[&[Shape]]| program(waves, &[], LINES, 2);
    let writer: [Shape; 2] = [store(x), store(y)];
    let reader: [Shape; 2] = [load(y), load(x)];
    let passing = gpu(&[&writer, &reader]);
    let cases = [
        // D-lsc-carry: figure 7 with CPU threads; wavefronts need a third agent that sees the store that has no mutex.
        (store_buffering(0, 2), Readings { carry: false, ..right }, [true, false]),
        (store_buffering(2, 2), Readings { carry: false, ..right }, [false, false]),
        (
            gpu(&[&[store(x), load(y)], &[store(y)], &[load(y), load(x)]]),
            Readings { carry: false, ..right },
            [true, false],
        ),
        // D-lsc-issued: each has what the other is refused, in one instruction or in two.
        (gpu(&[&[store(&[0, 1])], &[store(&[0, 1])]]), Readings { issued: false, ..right }, [false, true]),
        (gpu(&[&writer, &[store(y), store(x)]]), Readings { issued: false, ..right }, [false, true]),
        // D-lsc-order and D-lsc-loads: message passing, by its writer and by its reader.
        (passing.clone(), Readings { in_order: false, ..right }, [true, false]),
        (passing, Readings { loads: false, ..right }, [true, false]),
        // D-lsc-ask: figure 7, each core with the mutex of its load.
        (store_buffering(0, 2), Readings { ask: false, ..right }, [false, true]),
        // D-lsc-late: the store has retired when the load's mutex comes.
        (program(&[&[store(y)]], &[&[store(x), load(y)]], LINES, 2), Readings { late: false, ..right }, [false, true]),
    ];
    for (source, readings, found) in cases {
        assert_eq!(judged(&source, readings), found, "{readings:?}: {source:?}");
        assert_eq!(judged(&source, right), [false, false], "{source:?}");
    }
}

#[test]
fn lanes_in_lockstep_share_an_order_of_their_own() {
    // Figure 4: loads crosswise, then stores, and a wavefront that loads both.
    let figure4 = |waves: &[&[Shape]]| registers::<2>(&mechanism(&program(waves, &[], LINES, 2), Readings::REPAIRED));
    assert_eq!(figure4(&[&[load(&[1, 0]), store(&[0, 1])]]), [[0, 0]]);
    let both = mechanism(&program(&[&[store(&[0, 1])], &[load(&[0, 1])]], &[], LINES, 2), Readings::REPAIRED);
    assert_eq!(registers(&both), [[0, 0], [0, 2], [1, 0], [1, 2]]);
    // Figure 5(a): what one lane stored the other loads.
    let figure5 = program(&[&[store(&[0, 1]), load(&[2, 0])]], &[], &[0, 1, 2], 2);
    assert_eq!(registers(&mechanism(&figure5, Readings::REPAIRED)), [[0, 1]]);
    // Stores of one instruction to one location: any of them, and nobody sees two.
    let overlap = program(&[&[store(&[0, 0])]], &[&[load(&[0]), load(&[0])]], LINES, 2);
    assert_eq!(registers(&mechanism(&overlap, Readings::REPAIRED)), [[0, 0], [0, 1], [0, 2], [1, 1], [2, 2]]);
}

/// Exchanges are stores to the mechanism, and nothing comes between what one finds and what it stores.
#[test]
fn exchanges_are_atomic() {
    let source = program(&[&[exchange(&[0, 0])]], &[&[exchange(&[0])]], LINES, 2);
    let found = mechanism(&source, Readings::REPAIRED);
    // Each finds 0 or what another has stored, no two the same; between those of one instruction their mutex is kept.
    assert_eq!(registers(&found), [[0, 1, 2], [2, 0, 1], [2, 3, 0], [3, 1, 0]]);
    // They are fences, too: nobody passes one but behind a mutex.
    let source = program(&[&[exchange(&[0]), load(&[1])]], &[&[exchange(&[1]), load(&[0])]], LINES, 2);
    let ends = registers::<4>(&mechanism(&source, Readings::REPAIRED));
    assert!(!ends.is_empty() && ends.iter().all(|r| r[1] != 0 || r[3] != 0), "{ends:?}");
}

/// With a lane each, lockstep sequential consistency is sequential consistency.
#[test]
fn wavefronts_of_one_lane_are_threads() {
    let one: Vec<Shape> = ALL.iter().flat_map(|op| [0, 1].map(|at| Shape(*op, vec![at]))).collect();
    let pairs = || one.iter().flat_map(|a| one.iter().map(move |b| [a.clone(), b.clone()]));
    let (mut seen, mut programs, mut same) = (0, 0, 0);
    for first in pairs() {
        for second in pairs() {
            for cpu in pairs() {
                seen += 1;
                if seen % stride(101) != 0 {
                    continue;
                }
                let source = program(&[&first, &second], &[&cpu], LINES, 2);
                let sc = model::interleavings(&source);
                assert_eq!(model::outcomes(&source).0, sc, "{source:?}");
                let found = mechanism(&source, Readings::REPAIRED);
                assert!(!found.is_empty() && found.iter().all(|o| sc.binary_search(o).is_ok()), "{source:?}");
                programs += 1;
                same += u64::from(found == sc);
            }
        }
    }
    println!("{programs} programs of one lane each, {same} with all outcomes that are sequentially consistent");
    // Lanes as threads of their own could do more: figure 4.
    let lanes = program(&[&[load(&[1, 0]), store(&[0, 1])]], &[], LINES, 2);
    let threads = program(&[], &[&[load(&[1]), store(&[0])], &[load(&[0]), store(&[1])]], LINES, 2);
    assert_eq!(registers::<2>(&model::outcomes(&lanes).0), [[0, 0]]);
    assert_eq!(registers::<2>(&model::interleavings(&threads)), [[0, 0], [0, 1], [2, 0]]);
}
