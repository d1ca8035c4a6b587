//! The mutex mechanism of lockstep sequential consistency as memory for kernels (`--memory lsc-mutex`): what small kernels can show
//! under it, found by searches that agree and by seeds, beside flat memory that lanes access one by one; the results of real
//! kernels; and what its counters count, by hand.

mod mechanism;

use crate::ends::{Begin, End, Ends, ends, searched};
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::check::{Costs, Counters, Observers};
use warpstep::launch::{bench, build};
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, Context, ControlModel, Launch, MemoryModel};
use warpstep::memory::mutexed::mechanism::Mechanism;
use warpstep::program::env::ProgEnv;

/// Words of the memory whose address is the kernel's parameter: eight lines.
const WORDS: u64 = 128;

fn mutexes() -> MemoryModel {
    MemoryModel::preset("lsc-mutex").unwrap()
}

/// A kernel with some threads, and the words by which its ends are told apart.
struct Case {
    env: Arc<ProgEnv>,
    threads: u32,
    warp_size: u32,
    show: &'static [usize],
}

impl Case {
    /// `%m` is the address of the memory, `%t` the thread; a line has 64 bytes.
    fn new(body: &str, threads: u32, warp_size: u32, show: &'static [usize]) -> Self {
        let text = format!(
            ".version 8.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 p) {{\n.reg .b32 %t, %b, %a, %c, %d;\n\
             .reg .b64 %m, %o, %v, %w;\n.reg .pred %q;\nld.param.u64 %m, [p];\nmov.u32 %t, %tid.x;\n{body}\nexit;\n}}\n"
        );
        let mut sources = SourceMap::default();
        let file = sources.add("k.ptx", text.clone());
        let env = build(&[file], Some(ControlModel::Crs), &sources).unwrap_or_else(|p| panic!("{p:?}\n{text}"));
        Self { env: Arc::new(env), threads, warp_size, show }
    }

    fn config(&self, memory: MemoryModel) -> Config {
        Config { memory, warp_size: self.warp_size, control: Some(ControlModel::Crs), ..Config::default() }
    }

    /// A context with memory, whose address is given, and the launch.
    fn context(&self, config: Config) -> (Context, u64, Launch) {
        let mut context = Context::new(Arc::clone(&self.env), config).unwrap();
        let address = context.alloc("memory", 4 * WORDS).unwrap();
        let params = address.to_le_bytes().to_vec();
        let launch = Launch { entry: "k".into(), grid: [1; 3], block: [self.threads, 1, 1], shared_bytes: 0, params };
        (context, address, launch)
    }

    fn end(&self, bytes: &[u8]) -> Vec<u32> {
        let word = |k: &usize| u32::from_le_bytes(bytes[4 * k..4 * k + 4].try_into().unwrap());
        self.show.iter().map(word).collect()
    }

    /// All ends, those of some seeds among them.
    fn ends(&self, memory: &MemoryModel) -> Ends {
        let all = self.of_walks(memory, &mut |walk, end| ends(walk, true, end));
        for seed in 0..50 {
            let config = Config { seed: Some(seed), ..self.config(memory.clone()) };
            let (mut context, address, launch) = self.context(config);
            context.launch(&launch, &mut |_| ()).unwrap();
            let end = self.end(context.bytes(address, 4 * WORDS).unwrap());
            assert!(all.contains(&end), "seed {seed}: {end:?}");
        }
        all
    }

    /// What a search finds.
    fn searched(&self, memory: &MemoryModel) -> Ends {
        self.of_walks(memory, &mut |walk, end| searched(walk, (true, Grain::Visible), end))
    }

    /// What `find` finds, which is given how walks begin and what the end of a run is.
    fn of_walks(&self, memory: &MemoryModel, find: &mut dyn FnMut(Begin<'_, '_>, End<'_>) -> Ends) -> Ends {
        let (context, address, launch) = self.context(self.config(memory.clone()));
        let walk = |grain: Grain| context.walk(std::slice::from_ref(&launch), grain).unwrap();
        find(&walk, &mut |state| self.end(state.bytes(address, 4 * WORDS).unwrap()))
    }

    /// The ends under the mechanism, which are none that flat memory with lanes one by one does not have.
    fn inside(&self) -> Ends {
        let (ours, split) = (self.ends(&mutexes()), self.ends(&MemoryModel::Split));
        assert!(ours.is_subset(&split), "{ours:?} {split:?}");
        ours
    }

    /// The ends under the mechanism, which are those of flat memory with lanes one by one.
    fn equal(&self) -> Ends {
        let ours = self.inside();
        assert_eq!(ours, self.ends(&MemoryModel::Split));
        ours
    }

    /// What a run counts, and the words at its end.
    fn counted(&self, mechanism: Mechanism) -> Counters {
        let (mut context, _, launch) = self.context(self.config(MemoryModel::Mutexed(mechanism)));
        let mut observers = Observers::none().with(Costs::default());
        context.launch_with(&launch, &mut observers, &mut |_| ()).unwrap();
        *observers.get::<Costs>().unwrap().counters()
    }
}

fn set<const N: usize, const M: usize>(all: [[u32; N]; M]) -> Ends {
    all.iter().map(|end| end.to_vec()).collect()
}

/// Two threads, each a warp: what the first does, what the second does. X is word 0, Y word 16 and Z word 32, each in a line of its
/// own; each thread's results go to words 48 and 49, or 64 and 65.
fn two(first: &str, second: &str, show: &'static [usize]) -> Case {
    let result = "st.global.v2.u32 [%o+192], {%a, %b};\n";
    let body = format!(
        "mad.wide.u32 %o, %t, 64, %m;\nmov.u32 %a, 0;\nmov.u32 %b, 0;\nsetp.eq.u32 %q, %t, 1;\n@%q bra SECOND;\n\
         {first}\n{result}exit;\nSECOND: {second}\n{result}"
    );
    Case::new(&body, 2, 1, show)
}

const READS: &[usize] = &[48, 64];

/// Figure 7.
fn store_buffering() -> Case {
    let first = "st.global.u32 [%m], 1;\nld.global.u32 %a, [%m+64];";
    two(first, "st.global.u32 [%m+64], 1;\nld.global.u32 %a, [%m];", READS)
}

#[test]
fn store_buffering_shows_what_sequential_consistency_does() {
    assert_eq!(store_buffering().equal(), set([[0, 1], [1, 0], [1, 1]]));
}

fn message_passing() -> Case {
    let first = "st.global.u32 [%m], 1;\nst.global.u32 [%m+64], 1;";
    two(first, "ld.global.u32 %a, [%m+64];\nld.global.u32 %b, [%m];", &[64, 65])
}

#[test]
fn messages_are_passed_in_order() {
    assert_eq!(message_passing().equal(), set([[0, 0], [0, 1], [1, 1]]));
}

#[test]
fn loads_are_not_overtaken_by_stores() {
    let case = two(
        "ld.global.u32 %a, [%m];\nst.global.u32 [%m+64], 1;",
        "ld.global.u32 %a, [%m+64];\nst.global.u32 [%m], 1;",
        READS,
    );
    assert_eq!(case.equal(), set([[0, 0], [0, 1], [1, 0]]));
}

#[test]
fn stores_of_two_warps_to_two_lines_are_in_one_order() {
    let case = two(
        "st.global.u32 [%m], 1;\nst.global.u32 [%m+64], 2;",
        "st.global.u32 [%m+64], 1;\nst.global.u32 [%m], 2;",
        &[0, 16],
    );
    assert_eq!(case.equal(), set([[1, 2], [2, 1], [2, 2]]));
}

/// All variables share a line: a false sharing of mutexes that the lines' own owners have.
#[test]
fn one_line_is_one_mutex() {
    let case = two(
        "st.global.u32 [%m], 1;\nld.global.u32 %a, [%m+4];",
        "st.global.u32 [%m+4], 1;\nld.global.u32 %a, [%m];",
        READS,
    );
    assert_eq!(case.inside(), set([[0, 1], [1, 0], [1, 1]]));
}

#[test]
fn atomic_operations_are_writes() {
    let case = two(
        "atom.global.add.u32 %a, [%m], 1;\nld.global.u32 %b, [%m+64];",
        "atom.global.add.u32 %a, [%m+64], 1;\nred.global.add.u32 [%m], 1;\nld.global.u32 %b, [%m];",
        &[0, 48, 49, 65],
    );
    let ends = case.equal();
    assert!(ends.iter().all(|end| end[0] == 2), "{ends:?}");
    assert!(ends.contains(&vec![2, 0, 0, 2]) && !ends.contains(&vec![2, 1, 0, 2]), "{ends:?}");
}

/// Figure 4: wavefront 0 loads both and stores both, wavefront 1 loads both.
#[test]
fn lanes_of_an_instruction_are_not_ordered_but_instructions_are() {
    let body = "and.b32 %b, %t, 1;\nxor.b32 %c, %b, 1;\nmad.wide.u32 %v, %b, 64, %m;\nmad.wide.u32 %w, %c, 64, %m;\n\
                mad.wide.u32 %o, %t, 4, %m;\nsetp.gt.u32 %q, %t, 1;\n@%q bra SECOND;\n\
                ld.global.u32 %a, [%w];\nst.global.u32 [%v], 1;\nst.global.u32 [%o+192], %a;\nexit;\n\
                SECOND: ld.global.u32 %a, [%v];\nst.global.u32 [%o+256], %a;";
    let case = Case::new(body, 4, 2, &[48, 49, 66, 67]);
    assert_eq!(case.equal(), set([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 1]]));
}

/// Figure 5(a).
#[test]
fn a_lane_sees_what_another_stored_before() {
    let body = "mad.wide.u32 %v, %t, 64, %m;\nmad.wide.u32 %o, %t, 4, %m;\nadd.u32 %c, %t, 1;\nst.global.u32 [%v], %c;\n\
                sub.u32 %b, 2, %t;\nsub.u32 %b, %b, %t;\nmad.wide.u32 %w, %b, 64, %m;\nld.global.u32 %a, [%w];\n\
                st.global.u32 [%o+192], %a;";
    assert_eq!(Case::new(body, 2, 2, &[0, 16, 48, 49]).equal(), set([[1, 2, 0, 1]]));
}

/// Each warp's instruction stores to both lines: a mutex each in hand would be a deadlock.
#[test]
fn warps_that_want_the_same_two_mutexes_do_not_block_each_other() {
    let body = "and.b32 %b, %t, 1;\nshr.u32 %c, %t, 1;\nxor.b32 %b, %b, %c;\nmad.wide.u32 %v, %b, 64, %m;\n\
                add.u32 %a, %c, 1;\nst.global.u32 [%v], %a;\nst.global.u32 [%v+4], %a;";
    let case = Case::new(body, 4, 2, &[0, 1, 16, 17]);
    let ends = case.inside();
    assert!(ends.contains(&vec![1; 4]) && ends.contains(&vec![2; 4]), "{ends:?}");
}

fn both_memories() -> Case {
    let first = ".shared .align 4 .u32 s;\nst.global.u32 [%m], 1;\nld.shared.u32 %a, [s];";
    two(first, "st.shared.u32 [s], 1;\nld.global.u32 %a, [%m];", READS)
}

#[test]
fn shared_and_global_memory_are_in_one_order() {
    assert_eq!(both_memories().equal(), set([[0, 1], [1, 0], [1, 1]]));
}

fn barrier() -> Case {
    two("st.global.u32 [%m], 1;\nbar.sync 0;", "bar.sync 0;\nld.global.u32 %a, [%m];", &[64])
}

#[test]
fn a_barrier_waits_for_stores() {
    assert_eq!(barrier().equal(), set([[1]]));
}

/// A load of what the warp has just stored.
fn own_store() -> Case {
    two("st.global.u32 [%m], 1;\nld.global.u32 %a, [%m];", "", &[48])
}

#[test]
fn a_load_waits_for_the_own_store() {
    assert_eq!(own_store().equal(), set([[1]]));
}

/// Generic addresses of shared and of global memory in one instruction.
#[test]
fn an_instruction_may_access_both_memories() {
    let body = ".shared .align 4 .u32 s;\ncvta.shared.u64 %v, s;\nsetp.eq.u32 %q, %t, 1;\nselp.b64 %w, %v, %m, %q;\n\
                add.u32 %c, %t, 5;\nst.u32 [%w], %c;\nmad.wide.u32 %o, %t, 4, %m;\nld.u32 %a, [%w];\nst.global.u32 [%o+192], %a;";
    assert_eq!(Case::new(body, 2, 2, &[0, 48, 49]).equal(), set([[5, 5, 6]]));
}

/// What a kernel of the bench counts, by the default schedule or by a seed. Its results are right, and no mutex is kept.
fn of_the_bench(name: &str, shift: u32, seed: Option<u64>) -> Counters {
    let (env, _) = bench::Suite::Nine.program().unwrap();
    let config = Config { memory: mutexes(), seed, eager: seed.is_some(), ..Config::default() };
    let mut case = bench::Case::new(name, shift, &env, config).unwrap().unwrap();
    let mut observers = Observers::none().with(Costs::default());
    case.run(&mut observers).unwrap();
    assert!(case.correct(), "{name} {seed:?}");
    let counters = *observers.get::<Costs>().unwrap().counters();
    assert_eq!(counters.mutex_requests - counters.mutex_refusals, counters.mutex_releases, "{name} {seed:?}");
    counters
}

/// The nine kernels of the bench ask for mutexes where they write. The default schedule lets a store retire before the next warp has
/// its turn, so that nobody is refused any.
#[test]
fn the_kernels_of_the_bench_have_the_results_of_flat_memory() {
    for name in bench::KERNELS {
        let counters = of_the_bench(name, 10, None);
        assert!(counters.mutex_requests > 0 && counters.stores + counters.atomics > 0, "{name}");
        assert_eq!(counters.mutex_refusals, 0, "{name}");
    }
}

/// By seed a warp meets mutexes that others have, is refused them, and asks again.
#[test]
fn other_schedules_refuse_what_the_default_one_does_not() {
    let [default, by_seed] = [None, Some(1)].map(|seed| of_the_bench("hist", 14, seed));
    assert_eq!((default.mutex_refusals, default.mutex_releases), (0, by_seed.mutex_releases));
    println!("hist by seed 1: {} requests, {} refused", by_seed.mutex_requests, by_seed.mutex_refusals);
    assert!(by_seed.mutex_refusals > 0);
}

/// One warp stores to three lines in one instruction.
#[test]
fn a_mutex_is_asked_for_each_line() {
    let body = "mad.wide.u32 %o, %t, 32, %m;\nst.global.u32 [%o], 1;";
    let counters = Case::new(body, 6, 32, &[]).counted(Mechanism::default());
    assert_eq!((counters.mutex_requests, counters.mutex_hits, counters.mutex_refusals), (3, 0, 0));
    assert_eq!((counters.stores, counters.mutex_releases, counters.loads), (3, 3, 0));
}

/// The second store finds the mutex of the first, which has not retired. The load asks for another; before the second load no store
/// is pending any more.
#[test]
fn a_mutex_that_is_held_is_a_hit() {
    let body =
        "st.global.u32 [%m], 1;\nst.global.u32 [%m+4], 1;\nld.global.u32 %a, [%m+64];\nld.global.u32 %a, [%m+8];";
    let counters = Case::new(body, 1, 32, &[]).counted(Mechanism::default());
    assert_eq!((counters.mutex_requests, counters.mutex_hits, counters.mutex_releases), (2, 1, 2));
    assert_eq!((counters.stores, counters.loads), (2, 2));
    // Without a pending store nobody asks.
    let counters = Case::new("ld.global.u32 %a, [%m];", 1, 32, &[]).counted(Mechanism::default());
    assert_eq!((counters.mutex_requests, counters.mutex_hits, counters.loads), (0, 0, 1));
}

/// Two warps on one entry: the first has it for two stores. The second is refused, once, and asks again when it is given back.
#[test]
fn a_mutex_that_another_warp_has_is_refused() {
    let body = "mad.wide.u32 %o, %t, 64, %m;\nst.global.u32 [%o], 1;\nst.global.u32 [%o+4], 1;";
    let case = Case::new(body, 2, 1, &[]);
    let counters = case.counted(Mechanism { entries: 1, ..Mechanism::default() });
    assert_eq!((counters.mutex_requests, counters.mutex_refusals, counters.mutex_releases), (3, 1, 2));
    let counters = case.counted(Mechanism::default());
    assert_eq!((counters.mutex_requests, counters.mutex_refusals, counters.mutex_releases), (2, 0, 2));
}

/// The stores of a warp that stores for ever are left so far behind, not farther: a search comes to its end, and finds none of a run.
#[test]
fn a_warp_waits_when_too_many_of_its_stores_are_pending() {
    let case = Case::new("L: st.global.u32 [%m], 1;\nbra L;", 1, 32, &[]);
    for grain in [Grain::Instruction, Grain::Visible] {
        let ends = case.of_walks(&mutexes(), &mut |walk, end| searched(walk, (true, grain), end));
        assert_eq!(ends, Ends::new(), "{grain:?}");
    }
}

/// A warp reads 81 lines of one set of its cache, of which 64 stay.
#[test]
fn seventeen_evictions_carry_one_hash() {
    let body = "mov.u64 %o, %m;\nmov.u32 %c, 0;\nL: ld.global.u32 %a, [%o];\nadd.u64 %o, %o, 256;\nadd.u32 %c, %c, 1;\n\
                setp.lt.u32 %q, %c, 81;\n@%q bra L;";
    let case = Case::new(body, 1, 32, &[]);
    let (mut context, _, mut launch) = case.context(case.config(mutexes()));
    let address = context.alloc("more", 81 * 256).unwrap();
    launch.params = address.to_le_bytes().to_vec();
    let mut observers = Observers::none().with(Costs::default());
    context.launch_with(&launch, &mut observers, &mut |_| ()).unwrap();
    let counters = observers.get::<Costs>().unwrap().counters();
    assert_eq!((counters.loads, counters.evictions, counters.rehashes), (81, 17, 1));
}

#[cfg(feature = "mutants")]
pub mod mutants {
    use super::{Case, Ends, barrier, both_memories, message_passing, mutexes, own_store, set, store_buffering};
    use warpstep::base::mutant::{Mutant, select};

    /// Each deliberate error shows an end that is not there without it.
    pub fn are_noticed() {
        let sc = || set([[0, 1], [1, 0], [1, 1]]);
        let all: [(Mutant, Case, Ends); 5] = [
            (Mutant::LscPtxNoMutex, store_buffering(), sc()),
            (Mutant::LscPtxNoBlock, own_store(), set([[1]])),
            (Mutant::LscPtxUnordered, message_passing(), set([[0, 0], [0, 1], [1, 1]])),
            (Mutant::LscPtxSharedAtOnce, both_memories(), sc()),
            (Mutant::LscPtxBarrierAtOnce, barrier(), set([[1]])),
        ];
        for (mutant, case, right) in all {
            select(None);
            assert_eq!(case.searched(&mutexes()), right);
            select(Some(mutant));
            let wrong = case.searched(&mutexes());
            select(None);
            assert!(!wrong.is_subset(&right), "nothing tells {} apart: {wrong:?}", mutant.name());
        }
    }
}
