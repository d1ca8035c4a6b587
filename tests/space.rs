//! Searches agree: through every state, through every schedule, and with every instruction a step of its own.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::choice::Seeded;
use warpstep::explore::space::{Fairness, Options, Search, Space, cycles, explore};
use warpstep::launch::build;
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, Context, ControlModel, Launch};
use warpstep::program::env::ProgEnv;
use warpstep::verdict::{Silent, Stop};

/// A small program: one kernel `k` with the address of `bytes` bytes of zeroed memory as its parameter.
struct Small {
    env: Arc<ProgEnv>,
    blocks: u32,
    threads: u32,
    bytes: u64,
    config: Config,
}

fn small(text: &str, blocks: u32, threads: u32, config: Config) -> Small {
    let mut sources = SourceMap::default();
    let id = sources.add("small.ptx", text);
    let env = build(&[id], None, &sources).unwrap_or_else(|p| panic!("{p:?}\n{text}"));
    Small { env: Arc::new(env), blocks, threads, bytes: 64, config }
}

impl Small {
    /// Makes its memory; gives the address, and the launch.
    fn launch(&self, context: &mut Context) -> (u64, Launch) {
        let address = context.alloc("memory", self.bytes).unwrap();
        let params = address.to_le_bytes().to_vec();
        let (grid, block) = ([self.blocks, 1, 1], [self.threads, 1, 1]);
        (address, Launch { entry: "k".into(), grid, block, shared_bytes: 0, params })
    }

    fn space(&self, search: Search, grain: Grain) -> Space<Vec<u8>> {
        let mut context = Context::new(Arc::clone(&self.env), self.config.clone()).unwrap();
        let (address, launch) = self.launch(&mut context);
        let mut walk = context.walk(&[launch], grain).unwrap();
        let warps = self.config.control == Some(ControlModel::Crs);
        let mut poll = |_: &_| None;
        let mut options = match search {
            Search::States => Options::states(warps, &mut poll),
            Search::Schedules => Options::schedules(warps, &mut poll),
            Search::Matched => Options::matched(warps, &mut poll),
        };
        (options.audit, options.max_states) = (true, Some(100_000));
        let bytes = self.bytes;
        explore(&mut *walk, &self.env, &mut options, &mut |walk| walk.bytes(address, bytes).unwrap_or(&[]).to_vec())
    }
}

type Summary = (Vec<Vec<u8>>, Vec<String>, bool);

fn summary(space: &Space<Vec<u8>>) -> Summary {
    let mut outcomes: Vec<_> = space.outcomes.keys().cloned().collect();
    outcomes.sort();
    let mut found: Vec<_> = space.found.iter().map(|f| format!("{:?}", f.stop.identity())).collect();
    found.sort();
    assert_eq!(space.limit, None);
    assert_eq!(space.progress.collisions, 0);
    (outcomes, found, !cycles(&space.graph, Fairness::Weak, &mut |_, _| ()).is_empty())
}

const LOCK: &str = "
.version 8.0
.target sm_60
.address_size 64
.entry k(.param .u64 m) {
    .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p;
    ld.param.u64 %rd0, [m];
L:  atom.global.cas.b32 %r0, [%rd0], 0, 1;
    setp.ne.u32 %p, %r0, 0;
    @%p bra L;
    ld.global.u32 %r1, [%rd0+4];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd0+4], %r1;
    st.global.u32 [%rd0], 0;
    ret;
}";

/// States that the searches of the lock saw, by control model and threads of a warp. Warps of one thread differ in nothing.
const COUNTS: &str = "{(\"Crs\", 1): [174, 24, 24, 24], (\"Crs\", 2): [8, 2, 2, 2], (\"Its\", 1): [174, 24, 24, 24], \
    (\"Its\", 2): [43, 24, 24], (\"ItsSplit\", 1): [174, 24, 24, 24], (\"ItsSplit\", 2): [174, 76, 76], \
    (\"Thread\", 1): [174, 24, 24, 24], (\"Thread\", 2): [174, 24, 24, 24]}";

/// The searches: without any reduction, through all states, by steps that do not commute, through all schedules.
const SEARCHES: [(Search, Grain); 4] = [
    (Search::States, Grain::Instruction),
    (Search::States, Grain::Visible),
    (Search::Matched, Grain::Visible),
    (Search::Schedules, Grain::Visible),
];

/// What each search should find, and how many states they saw.
///
/// Groups of lanes of one warp that may meet commute with nobody, and three threads that spin have too many schedules to go
/// through in a test: of such programs the states only.
fn agreed(program: &Small, what: &str) -> (Summary, Vec<u64>) {
    let joins = [ControlModel::Its, ControlModel::ItsSplit].map(Some).contains(&program.config.control);
    let meet = joins && program.config.warp_size > 1;
    let many = meet || program.threads > 2 && what.contains(".cas");
    let searches = if many { &SEARCHES[..3] } else { &SEARCHES[..] };
    let found: Vec<_> = searches.iter().map(|(search, grain)| program.space(*search, *grain)).collect();
    let reference = summary(&found[0]);
    for (other, search) in found.iter().zip(searches).skip(1) {
        assert_eq!(reference, summary(other), "{search:?}, {what}");
    }
    let states: Vec<u64> = found.iter().map(|f| f.progress.states).collect();
    assert!(states.is_sorted_by(|a, b| a >= b), "{states:?} {what}");
    (reference, states)
}

#[test]
fn a_spin_lock_by_every_search() {
    let mut counts = BTreeMap::new();
    for control in [ControlModel::Crs, ControlModel::Its, ControlModel::ItsSplit, ControlModel::Thread] {
        for warp_size in [1, 2] {
            let config = Config { control: Some(control), warp_size, ..Config::default() };
            let ((outcomes, found, endless), states) =
                agreed(&small(LOCK, 1, 2, config), &format!("{control:?}, warps of {warp_size}"));
            assert_eq!(found, [] as [String; 0]);
            // Under the report's stack one lane of a warp waits for the other, which waits for it.
            let deadlock = control == ControlModel::Crs && warp_size == 2;
            assert_eq!((outcomes.len(), endless), if deadlock { (0, true) } else { (1, false) });
            counts.insert((format!("{control:?}"), warp_size), states);
        }
    }
    assert_eq!(format!("{counts:?}"), COUNTS);
}

/// A random program of a few accesses a thread, with what each read left in memory of its own.
fn random(seed: u64) -> (String, u32, u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut below = |n: u32| rng.next_u32() % n;
    let threads = 2 + below(4) / 3;
    let warp_size = [1, 1, 2][below(3) as usize];
    let barrier = below(4) == 0;
    let shared = below(4) == 0;
    let mut text = String::from(
        ".version 8.0\n.target sm_60\n.address_size 64\n.entry k(.param .u64 m) {\n.shared .align 4 .b8 s[8];\n\
         .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<4>;\nld.param.u64 %rd0, [m];\nmov.u32 %r0, %tid.x;\n\
         mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd0, %rd1;\nmov.u32 %r5, 0;\n",
    );
    for thread in 0..threads - 1 {
        let _ = writeln!(text, "setp.eq.u32 %p{thread}, %r0, {thread};\n@%p{thread} bra T{thread};");
    }
    for thread in (0..threads).rev() {
        let _ = writeln!(text, "T{thread}:");
        for k in 0..1 + below(2) {
            let (space, address) = if shared {
                ("shared", format!("[s+{}]", 4 * below(2)))
            } else {
                ("global", format!("[%rd0+{}]", 4 * below(2)))
            };
            let value = 1 + below(3);
            let _ = match below(6) {
                0 | 1 => writeln!(text, "ld.{space}.u32 %r1, {address};\nmad.lo.u32 %r5, %r5, 5, %r1;"),
                2 => writeln!(text, "st.{space}.u32 {address}, {value};"),
                3 => writeln!(text, "atom.{space}.add.u32 %r1, {address}, {value};\nmad.lo.u32 %r5, %r5, 5, %r1;"),
                4 => writeln!(
                    text,
                    "ld.{space}.u32 %r1, {address};\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 bra S{thread}_{k};\n\
                     st.{space}.u32 {address}, {value};\nS{thread}_{k}:"
                ),
                // Somebody else may let it out, or nobody.
                _ => writeln!(
                    text,
                    "W{thread}_{k}:\natom.{space}.cas.b32 %r1, {address}, {value}, 0;\nsetp.ne.u32 %p3, %r1, {value};\n\
                     @%p3 bra W{thread}_{k};"
                ),
            };
        }
        if barrier && below(4) != 0 {
            let _ = writeln!(text, "bar.sync 0;");
        }
        let _ = writeln!(text, "bra.uni END;");
    }
    text.push_str("END:\nst.global.u32 [%rd1+16], %r5;\nret;\n}\n");
    (text, threads, warp_size)
}

#[test]
fn random_programs_by_every_search() {
    let (mut endless, mut stuck, mut several) = (0, 0, 0);
    for seed in 0..300 {
        let (text, threads, warp_size) = random(seed);
        let control = [ControlModel::Crs, ControlModel::Its, ControlModel::Thread][(seed % 3) as usize];
        let config = Config { control: Some(control), warp_size, ..Config::default() };
        let program = small(&text, 1, threads, config);
        let ((outcomes, found, never), _) =
            agreed(&program, &format!("seed {seed}, {control:?} of {warp_size}:\n{text}"));
        endless += usize::from(never);
        stuck += usize::from(!found.is_empty());
        several += usize::from(outcomes.len() > 1);
    }
    // The programs are worth it: some of each kind.
    assert!(endless > 30 && several > 60, "{endless} {stuck} {several}");
}

#[test]
fn runs_by_seed_lie_within_what_a_search_finds() {
    let mut seeds = 0;
    for program in 0..40 {
        let (text, threads, warp_size) = random(program);
        let config = Config {
            control: Some(ControlModel::Its),
            warp_size,
            max_steps: Some(2_000),
            eager: true,
            ..Config::default()
        };
        let program = small(&text, 1, threads, config);
        let (outcomes, found, endless) = summary(&program.space(Search::States, Grain::Visible));
        for seed in 0..250 {
            let mut context = Context::new(Arc::clone(&program.env), program.config.clone()).unwrap();
            let (address, launch) = program.launch(&mut context);
            let ended = context.launch_by(&launch, Silent, &mut Seeded::new(seed), &mut |_| ());
            seeds += 1;
            match ended {
                Ok(_) => {
                    let memory = context.bytes(address, program.bytes).unwrap().to_vec();
                    assert!(outcomes.contains(&memory), "seed {seed}: {memory:?}\n{text}");
                }
                Err(Stop::Limit(_)) => assert!(endless, "seed {seed} goes on and on\n{text}"),
                Err(stop) => assert!(found.contains(&format!("{:?}", stop.identity())), "{stop:?}\n{text}"),
            }
        }
    }
    assert_eq!(seeds, 10_000);
}
