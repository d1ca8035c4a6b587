//! Agents that nothing tells apart are exchanged in states (D-symmetry), and nothing is lost by it: searches find the same with and
//! without, for programs in which something tells alike agents apart that a careless analysis overlooks, and for random ones.

use crate::reference::Found;
use crate::small::{Small, small};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use std::fmt::Write;
use std::sync::Arc;
use warpstep::explore::space::{Fairness, Options, Space, cycles_until, explore};
use warpstep::explore::{Progress, Prove};
use warpstep::machine::walk::{Exchanged, Grain, Likeness};
use warpstep::machine::{Config, Context, ControlModel};

const ALIKE: Grain = Grain::Alike { blocks: true };

/// A program: what tells its threads apart, its body, its shape, and how it runs. `%t` is the thread, `%b` the block, `%m` the
/// memory; `%r`, `%rd`, `%p` are free.
struct Case {
    name: &'static str,
    /// Before the body.
    prelude: &'static str,
    body: &'static str,
    blocks: u32,
    threads: u32,
    warp_size: u32,
    control: ControlModel,
}

const CASE: Case =
    Case { name: "", prelude: "", body: "", blocks: 1, threads: 2, warp_size: 1, control: ControlModel::Its };

/// Only the first thread to come goes on: whichever it is, the state is the same until it does something that tells it apart.
const fn first(case: Case) -> Case {
    let prelude = "atom.global.exch.b32 %r1, [%m], 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra E; ld.global.u32 %r2, [%m+32];";
    Case { prelude, ..case }
}

fn cases() -> Vec<Case> {
    use ControlModel::Thread;
    vec![
        Case { name: "a value", body: "st.global.u32 [%m+4], %t;", ..first(CASE) },
        Case { name: "a block's value", body: "st.global.u32 [%m+4], %b;", blocks: 2, threads: 1, ..first(CASE) },
        Case {
            name: "an address",
            body: "mul.wide.u32 %rd0, %t, 4; add.u64 %rd0, %m, %rd0; st.global.u32 [%rd0+4], 1;",
            ..first(CASE)
        },
        Case {
            name: "the operand of an atomic operation",
            body: "add.u32 %r0, %t, 1; atom.global.exch.b32 %r1, [%m+4], %r0;",
            ..first(CASE)
        },
        Case {
            name: "the way that it goes",
            body: "setp.eq.u32 %p0, %t, 0; @%p0 bra A; st.global.u32 [%m+4], 1; bra E; A: st.global.u32 [%m+4], 2;",
            ..first(CASE)
        },
        Case {
            name: "what it sits out",
            body: "setp.eq.u32 %p0, %t, 0; @%p0 st.global.u32 [%m+4], 1;",
            ..first(CASE)
        },
        Case {
            name: "a value that is not known",
            body: "mov.u32 %r0, 5; setp.eq.u32 %p0, %r2, 0; @%p0 mov.u32 %r0, %t; st.global.u32 [%m+4], %r0;",
            ..first(CASE)
        },
        Case {
            name: "the lanes that run together",
            body: "activemask.b32 %r0; st.global.u32 [%m+4], %r0;",
            warp_size: 2,
            control: Thread,
            ..first(CASE)
        },
        Case {
            name: "which lane it is",
            body: "mov.u32 %r0, %laneid; st.global.u32 [%m+4], %r0;",
            warp_size: 2,
            control: Thread,
            ..first(CASE)
        },
        // The first goes round until the other one, which waits for its turn, lets it out: no scheduler that is fair keeps it in.
        Case {
            name: "who goes round",
            body: "atom.global.exch.b32 %r0, [%m], 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra S;
             L: ld.global.u32 %r1, [%m+8]; ld.global.u32 %r1, [%m+12]; ld.global.u32 %r1, [%m+16];
             ld.global.u32 %r1, [%m+20]; ld.global.u32 %r1, [%m+24]; ld.global.u32 %r1, [%m+28]; ld.global.u32 %r1, [%m+4];
             setp.eq.u32 %p0, %r1, 0; @%p0 bra L; bra E; S: st.global.u32 [%m+4], 1; E:",
            ..CASE
        },
        // Each lets the other one in for ever.
        Case {
            name: "taking turns",
            body: "L: atom.global.xor.b32 %r0, [%m], 1; atom.global.xor.b32 %r0, [%m], 3; and.b32 %r0, %r0, 4;
             setp.eq.u32 %p0, %r0, 0; @%p0 bra L;",
            threads: 3,
            ..CASE
        },
    ]
}

impl Case {
    fn program(&self) -> Small {
        let end = if self.prelude.is_empty() { "" } else { "E:" };
        let text = kernel("", &[self.prelude, self.body, end].join("\n"));
        let config = Config { control: Some(self.control), warp_size: self.warp_size, ..Config::default() };
        small(&text, self.blocks, self.threads, config)
    }

    /// Whether searches find the same with and without.
    fn agrees(&self) -> Result<[usize; 2], String> {
        let states = same(&self.program(), &ALL).map_err(|different| format!("{}: {different}", self.name))?;
        states.ok_or_else(|| format!("{}: too many states", self.name))
    }
}

fn kernel(before: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_60\n.address_size 64\n.entry k(.param .u64 p) {{\n{before}.reg .b64 %m, %rd<4>; \
         .reg .b32 %t, %b, %r<6>; .reg .pred %p<3>;\nld.param.u64 %m, [p]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;\n{body}\n\
         ret;\n}}\n"
    )
}

fn endless(space: &Space<Vec<u8>>, fairness: Fairness) -> bool {
    !cycles_until(&space.graph, fairness, &mut |_, _| (), &|| None).0.is_empty()
}

/// Compares what searches find; gives how many states there are with everybody told apart, and without. `None`: there are too
/// many with everybody told apart.
fn same(program: &Small, how: &[Fairness]) -> Result<Option<[usize; 2]>, String> {
    let mut poll = |_: &_| None;
    let mut options = Options { audit: true, max_states: Some(MOST), ..Options::states(program.warps(), &mut poll) };
    let spaces = [Grain::Visible, ALIKE]
        .map(|grain| program.search(grain, |walk, outcome| explore(walk, &mut options, outcome)));
    let [apart, alike] = spaces.each_ref().map(Found::of);
    if apart.is_none() {
        return Ok(None);
    }
    if apart != alike {
        return Err(format!("{apart:?} and {alike:?}"));
    }
    for fairness in how {
        let [one, other] = spaces.each_ref().map(|space| endless(space, *fairness));
        if one != other {
            return Err(format!("{fairness:?}: {one} and {other}"));
        }
    }
    Ok(Some(spaces.map(|space| space.graph.states())))
}

/// States of a search at most.
const MOST: u64 = 4_000;

const ALL: [Fairness; 3] = [Fairness::Weak, Fairness::StrongThreads, Fairness::Strong];

#[test]
fn what_tells_threads_apart_is_not_lost() {
    for case in cases() {
        case.agrees().unwrap_or_else(|different| panic!("{different}"));
    }
}

/// Who is exchanged in a program's launch.
fn exchanged(program: &Small) -> Option<Exchanged> {
    program.search(ALIKE, |walk, _| match walk.likeness() {
        Some(Likeness::Exchanged(exchanged)) => Some(exchanged),
        _ => None,
    })
}

/// A lock that each thread takes once.
const LOCK: &str = "L: atom.global.cas.b32 %r0, [%m], 0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra L;
    ld.volatile.global.u32 %r1, [%m+4]; add.u32 %r1, %r1, 1; st.volatile.global.u32 [%m+4], %r1;
    atom.global.exch.b32 %r0, [%m], 0;";

/// States of a lock are how many have gone through, and where its holder is: whoever it is.
#[test]
fn a_lock_has_as_many_states_as_its_threads_have_turns() {
    let shapes = [
        (1, 8, 1, ControlModel::Crs),
        (1, 8, 1, ControlModel::Its),
        (8, 1, 1, ControlModel::Crs),
        (1, 8, 4, ControlModel::Thread),
    ];
    for (blocks, threads, warp_size, control) in shapes {
        let config = Config { control: Some(control), warp_size, ..Config::default() };
        let program = small(&kernel("", LOCK), blocks, threads, config);
        assert_eq!(same(&program, &ALL), Ok(Some([3328, 33])), "{blocks} {threads} {warp_size} {control:?}");
        let of = exchanged(&program).unwrap();
        let all = [of.blocks, of.warps, of.threads].concat();
        assert_eq!(all, [8], "{control:?}");
    }
}

/// Guards give kinds, within which agents are exchanged.
#[test]
fn kinds_are_told_apart_by_what_follows_from_the_index() {
    let of = |threads, body: &str| {
        let config = Config { control: Some(ControlModel::Its), warp_size: 1, ..Config::default() };
        exchanged(&small(&kernel("", body), 1, threads, config)).map(|e| e.warps)
    };
    let add = "atom.global.add.u32 %r0, [%m], 1;";
    assert_eq!(of(8, add), Some(vec![8]));
    assert_eq!(of(8, &format!("setp.eq.u32 %p0, %t, 0; @%p0 {add}")), Some(vec![7]));
    assert_eq!(of(8, &format!("setp.lt.u32 %p0, %t, 3; @%p0 {add}")), Some(vec![5, 3]));
    assert_eq!(of(8, "and.b32 %r0, %t, 1; atom.global.add.u32 %r1, [%m], %r0;"), Some(vec![4, 4]));
    // The index is read again and again, and comes to the same.
    let rounds = "mov.u32 %r2, 0; add.u32 %r3, %t, 4; L: atom.global.add.u32 %r0, [%m], 1; setp.lt.u32 %p0, %r3, 6;
        @%p0 atom.global.add.u32 %r0, [%m+4], 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 2; @%p1 bra L;";
    assert_eq!(of(4, rounds), Some(vec![2, 2]));
    assert_eq!(of(2, "st.global.u32 [%m], %t;"), None);
    // Lanes of more warps than have places are not exchanged; the warps are.
    let config = Config { control: Some(ControlModel::Thread), warp_size: 1, ..Config::default() };
    let many = exchanged(&small(&kernel("", ""), 3, 1024, config)).unwrap();
    assert_eq!((many.warps, many.threads), (vec![1024], vec![]));
    // How often it goes round is in the index: a value of its own in each round.
    assert_eq!(
        of(2, &format!("mov.u32 %r2, %t; L: {add} add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 5; @%p0 bra L;")),
        None
    );
}

/// A random program of threads that do the same but for what an index leads to here and there; and its shape.
fn random(seed: u64) -> Small {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut below = |n: u32| rng.next_u32() % n;
    let (blocks, threads, warp_size) =
        [(1, 2, 1), (1, 3, 1), (1, 4, 2), (2, 1, 1), (3, 1, 1), (2, 2, 1), (2, 2, 2), (1, 3, 4)][below(8) as usize];
    let control =
        [ControlModel::Crs, ControlModel::Its, ControlModel::ItsSplit, ControlModel::Thread][below(4) as usize];
    let shared = below(5) == 0;
    let space = if shared { "shared" } else { "global" };
    let address = |k: u32| if shared { format!("[s+{}]", 4 * k) } else { format!("[%m+{}]", 4 * k) };
    let mut leaks = below(3);
    let mut body = String::from("mov.u32 %r3, 0; mov.u32 %r4, 7;\n");
    for k in 0..2 + below(2) {
        let at = address(below(2));
        // Sometimes the index decides about a guard, an operand, or a register that is read later.
        let leak = leaks > 0 && below(2) == 0;
        leaks -= u32::from(leak);
        let index = ["%t", "%b", "%r5"][below(3) as usize];
        let value = if leak && below(2) == 0 { index.to_owned() } else { (1 + below(2)).to_string() };
        let guard = if leak && value.len() == 1 {
            let _ = writeln!(body, "add.u32 %r5, %t, %b; setp.eq.u32 %p0, {index}, {};", below(2));
            "@%p0 "
        } else {
            let _ = writeln!(body, "add.u32 %r5, %t, {};", below(2));
            ""
        };
        let _ = match below(8) {
            0 => writeln!(body, "ld.{space}.u32 %r0, {at}; mad.lo.u32 %r3, %r3, 3, %r0;"),
            1 => writeln!(body, "{guard}st.{space}.u32 {at}, {value};"),
            2 | 3 => writeln!(body, "{guard}atom.{space}.add.u32 %r0, {at}, {value}; mad.lo.u32 %r3, %r3, 3, %r0;"),
            4 => writeln!(body, "ld.{space}.u32 %r0, {at}; setp.eq.u32 %p1, %r0, 0; @%p1 mov.u32 %r4, {value};"),
            5 => writeln!(
                body,
                "W{k}: atom.{space}.cas.b32 %r0, {at}, {value}, 0; setp.ne.u32 %p1, %r0, {value}; @%p1 bra W{k};"
            ),
            6 if control != ControlModel::Thread || below(2) == 0 => writeln!(body, "{guard}bar.sync 0;"),
            _ => writeln!(
                body,
                "L{k}: atom.{space}.exch.b32 %r0, {at}, 1; setp.ne.u32 %p1, %r0, 0; @%p1 bra L{k}; st.{space}.u32 {at}, 0;"
            ),
        };
    }
    if below(3) == 0 {
        body.push_str("activemask.b32 %r0; mad.lo.u32 %r4, %r4, 5, %r0;\n");
    }
    body.push_str("mad.lo.u32 %r3, %r3, 11, %r4; atom.global.max.u32 %r0, [%m+8], %r3;\n");
    let text = kernel(if shared { ".shared .align 4 .b8 s[8];\n" } else { "" }, &body);
    small(&text, blocks, threads, Config { control: Some(control), warp_size, ..Config::default() })
}

/// Searches of random programs, with and without; gives how many were exchanged of blocks, warps and threads, and how many
/// could run for ever, and of how many there were too many states.
fn compare(seeds: std::ops::Range<u64>) -> Result<[usize; 5], String> {
    let mut counts = [0; 5];
    for seed in seeds {
        let program = random(seed);
        if same(&program, &ALL).map_err(|different| format!("seed {seed}: {different}"))?.is_none() {
            counts[4] += 1;
            continue;
        }
        if let Some(of) = exchanged(&program) {
            let any = [&of.blocks, &of.warps, &of.threads].map(|kinds| usize::from(!kinds.is_empty()));
            counts.iter_mut().zip(any).for_each(|(sum, n)| *sum += n);
        }
        counts[3] += usize::from(endless(&program.space(ALIKE, None, program.warps()), Fairness::Weak));
    }
    Ok(counts)
}

#[test]
fn random_programs_with_and_without() {
    let all = std::env::var_os("ALIKE_FULL").is_some();
    let seeds = if all { 4_000 } else { 200 };
    let counts = compare(0..seeds).unwrap_or_else(|different| panic!("{different}"));
    println!("blocks, warps, threads exchanged, endless, and too large: {counts:?}");
    // The programs are worth it: some of each kind.
    let few = usize::try_from(seeds).unwrap() / 20;
    assert!(counts[..4].iter().all(|n| *n > few) && counts[4] < 3 * few, "{counts:?}");
}

/// Launches in which some are alike and launches in which nobody is, one after the other.
#[test]
fn launches_are_looked_at_one_by_one() {
    let spin = "L: ld.global.u32 %r0, [%m]; setp.eq.u32 %p0, %r0, 0; @%p0 bra L; atom.global.add.u32 %r0, [%m+4], 1;";
    let set = "setp.eq.u32 %p0, %t, 1; @%p0 st.global.u32 [%m], 1; setp.eq.u32 %p0, %t, 1; @%p0 bra E;";
    let stays = "setp.eq.u32 %p0, %t, 1; @%p0 bra E;";
    for (body, ends) in [(format!("{set} {spin} E:"), true), (format!("{stays} {spin} E:"), false)] {
        let config = Config { control: Some(ControlModel::Its), warp_size: 1, ..Config::default() };
        let program = small(&kernel("", &body), 1, 4, config);
        let found = [Grain::Visible, ALIKE].map(|grain| {
            let mut context = Context::new(Arc::clone(&program.env), program.config.clone()).unwrap();
            let (address, many) = program.launch(&mut context);
            // Two threads differ; of four three are alike.
            let two = warpstep::machine::Launch { block: [2, 1, 1], ..many.clone() };
            let mut walk = context.walk(&[two.clone(), many, two], grain).unwrap();
            let mut poll = |_: &_| None;
            let mut options = Options { audit: true, ..Options::states(false, &mut poll) };
            let space = explore(&mut *walk, &mut options, &mut |state| state.bytes(address, 8).unwrap().to_vec());
            assert_eq!(ALL.map(|fairness| endless(&space, fairness)), [!ends; 3], "{grain:?}");
            (Found::of(&space).unwrap(), space.graph.states())
        });
        assert_eq!(found[0].0, found[1].0);
        assert!(!ends || found[0].1 > found[1].1, "{} {}", found[0].1, found[1].1);
    }
}

/// Progress models that look at numbers of blocks tell blocks apart; switches and races tell everybody.
#[test]
fn what_looks_at_numbers_tells_apart() {
    let mut poll = |_: &_| None;
    let program = small(&kernel("", LOCK), 2, 1, Config::default());
    let context = Context::new(program.env, Config::default()).unwrap();
    let options = Options::states(true, &mut poll);
    let settled = |progress, options: &Options<'_>| {
        let how = Prove { progress, fairness: Fairness::Weak, grain: ALIKE };
        how.settled(options, &context).0.grain
    };
    assert_eq!(settled(Progress::Fair, &options), ALIKE);
    for progress in [Progress::Hsa, Progress::Obe, Progress::HsaObe, Progress::Lobe] {
        assert_eq!(settled(progress, &options), Grain::Alike { blocks: false });
    }
    assert_eq!(settled(Progress::Fair, &Options { preemptions: Some(2), ..options }), Grain::Visible);
}

/// Whether two blocks that take a lock end under a scheduler that promises progress to the lowest block only.
fn ends_under_hsa() -> bool {
    let program = small(&kernel("", LOCK), 2, 1, Config { control: Some(ControlModel::Crs), ..Config::default() });
    let mut poll = |_: &_| None;
    let mut options = Options::states(true, &mut poll);
    let how = Prove { progress: Progress::Hsa, fairness: Fairness::Weak, grain: ALIKE };
    let context = Context::new(Arc::clone(&program.env), program.config.clone()).unwrap();
    let (how, _) = how.settled(&options, &context);
    let space = program.search(how.grain, |walk, outcome| explore(walk, &mut options, outcome));
    how.progress.endless(&space.graph, how.fairness).is_empty()
}

#[test]
fn the_lowest_block_waits_for_one_that_is_promised_nothing() {
    assert!(!ends_under_hsa());
}

/// Each condition left out loses something of one of the programs.
#[cfg(feature = "mutants")]
pub fn mutants_are_noticed() {
    use warpstep::base::mutant::{Mutant, select};
    let careless = [
        Mutant::AlikeMeeting,
        Mutant::AlikeValues,
        Mutant::AlikeGuards,
        Mutant::AlikeUnknown,
        Mutant::AlikeUnfollowed,
        Mutant::AlikeProgress,
    ];
    for mutant in careless {
        select(Some(mutant));
        let noticed: Vec<&str> = cases().iter().filter(|case| case.agrees().is_err()).map(|case| case.name).collect();
        let noticed = !noticed.is_empty() || ends_under_hsa();
        select(None);
        assert!(noticed, "{mutant:?}");
    }
}
