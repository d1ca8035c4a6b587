//! Searches by several threads find what one finds (D-threads): the same outcomes, defects, counts, ways and graph, number by
//! number, in every grain, under every control model, on every kind of memory.

use crate::small::{Small, small};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use warpstep::choice::Oracle;
use warpstep::explore::Progress as Promise;
use warpstep::explore::space::{Edge, Fairness, Options, Space, Unit, explore, explore_together};
use warpstep::machine::walk::{Agent, Begun, Grain, Mark, State, Walk};
use warpstep::machine::{Bounds, Config, Context, ControlModel, Host, MemoryModel, Tell};
use warpstep::program::env::ProgEnv;
use warpstep::verdict::{LimitKind, Stop};

/// A kernel around some instructions: `%base` is the address of its memory, `%t` the thread, `%w` its block.
fn kernel(body: &str, control: ControlModel) -> String {
    // Tokens are put into programs for devices that have them.
    let target = if control == ControlModel::Crs { "sm_50" } else { "sm_70" };
    format!(
        ".version 6.3\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 memory)\n{{\n\
         .reg .b64 %base, %rd<4>; .reg .b32 %t, %w, %r<8>; .reg .pred %p<4>; .shared .b32 tile[8];\n\
         ld.param.u64 %base, [memory]; mov.u32 %t, %tid.x; mov.u32 %w, %ctaid.x;\n{body}\nret;\n}}\n"
    )
}

/// Kernels with many schedules: with an end and many contents of memory, a lock that some control models never end, a barrier that
/// some do not come to, an access that some runs make beyond all memory, and a loop that nobody ends.
const BODIES: [(&str, &str); 6] = [
    (
        "updates",
        "ld.global.u32 %r1, [%base]; add.u32 %r1, %r1, %t; add.u32 %r1, %r1, 1; st.global.u32 [%base], %r1;
        atom.global.add.u32 %r2, [%base+4], %r1; st.global.u32 [%base+8], %r2;",
    ),
    (
        "lock",
        "LOOP: atom.global.cas.b32 %r1, [%base], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOP;
        ld.global.u32 %r2, [%base+4]; add.u32 %r2, %r2, 1; st.global.u32 [%base+4], %r2;
        atom.global.exch.b32 %r1, [%base], 0;",
    ),
    ("barrier", "atom.global.add.u32 %r1, [%base], 1; setp.eq.u32 %p1, %r1, 2; @%p1 bra OUT; bar.sync 0; OUT:"),
    (
        "beyond",
        "atom.global.add.u32 %r1, [%base], 1; setp.ne.u32 %p1, %r1, %t; @%p1 bra OUT;
        ld.global.u32 %r2, [%base+1048576]; OUT: st.global.u32 [%base+4], %r1;",
    ),
    (
        "endless",
        "LOOP: atom.global.add.u32 %r1, [%base], 0; st.global.u32 [%base+4], %t; setp.eq.u32 %p1, %r1, 0;
        @%p1 bra LOOP;",
    ),
    (
        "handed",
        "atom.global.exch.b32 %r1, [%base+4], %t; shl.b32 %r2, %t, 2; cvt.u64.u32 %rd1, %r2; add.u64 %rd1, %base, %rd1;
        st.global.u32 [%rd1+16], %r1; ld.global.u32 %r3, [%base+16]; st.global.u32 [%base+12], %r3;",
    ),
];

/// What is compared of a search: all but the bytes that it takes.
#[derive(PartialEq, Debug)]
struct Found {
    limit: Option<LimitKind>,
    counts: [u64; 4],
    outcomes: Vec<(Vec<u8>, u64, String)>,
    stops: Vec<(Stop, String)>,
    /// Of each state its steps, with who makes them, and the way to it.
    graph: Vec<(Vec<(Edge, Unit)>, String)>,
    /// The parts in which a fair run never ends.
    endless: Vec<Vec<u32>>,
}

fn found(space: &Space<Vec<u8>>) -> Found {
    let graph = &space.graph;
    // Ways to the first of many states are enough: each is a step behind another.
    let way = |s: u32| if s < 5_000 { format!("{:?}", graph.path(s)) } else { String::new() };
    let state = |s: u32| (graph.from(s).map(|e| (*e, graph.unit(e))).collect(), way(s));
    let endless = [Fairness::Weak, Fairness::StrongThreads, Fairness::Strong].map(|f| Promise::Fair.endless(graph, f));
    let p = space.progress;
    Found {
        limit: space.limit,
        counts: [p.states, p.transitions, p.schedules, p.deepest],
        outcomes: space.outcomes.iter().map(|(o, r)| (o.clone(), r.count, format!("{:?}", r.path))).collect(),
        stops: space.found.iter().map(|f| (f.stop.clone(), format!("{:?}", f.path))).collect(),
        graph: (0..graph.states() as u32).map(state).collect(),
        endless: endless.into_iter().flatten().map(|c| c.states).collect(),
    }
}

/// How a search is made.
#[derive(Clone, Copy, Default)]
struct How {
    most: Option<u64>,
    preemptions: Option<u32>,
    stepped: bool,
    /// Whether walks leave an agent out.
    lies: bool,
}

impl How {
    fn options<'a>(
        self,
        of: &Small,
        poll: &'a mut dyn FnMut(&warpstep::explore::space::Progress) -> Option<LimitKind>,
    ) -> Options<'a> {
        let Self { most, preemptions, stepped, .. } = self;
        Options { max_states: most, preemptions, stepped, ..Options::states(of.warps(), poll) }
    }

    fn search(self, of: &Small, grain: Grain, threads: usize) -> Space<Vec<u8>> {
        let mut poll = |_: &_| None;
        let mut options = self.options(of, &mut poll);
        let mut address = 0;
        let mut walk = || {
            let mut context = Context::new(Arc::clone(&of.env), of.config.clone()).unwrap();
            let (at, launch) = of.launch(&mut context);
            address = at;
            let walk = context.walk(&[launch], grain).unwrap();
            if self.lies { Box::new(Lying(walk)) } else { walk }
        };
        let mut walks: Vec<Box<dyn Walk>> = (0..threads).map(|_| walk()).collect();
        let outcome = |state: &dyn State| state.bytes(address, of.bytes).unwrap_or(&[]).to_vec();
        match &mut walks[..] {
            [one] => explore(&mut **one, &mut options, &mut |state| outcome(state)),
            walks => explore_together(walks, &mut options, &outcome, &Bounds::default()),
        }
    }
}

/// All programs, by what they are and run on.
fn programs() -> Vec<(String, Small)> {
    let memories = ["flat", "split", "tiny"].map(|name| match name {
        "flat" => (name, MemoryModel::Flat),
        "split" => (name, MemoryModel::Split),
        _ => (name, MemoryModel::preset(name).unwrap_or(MemoryModel::Split)),
    });
    let mut all = Vec::new();
    for (name, body) in BODIES {
        for control in [ControlModel::Crs, ControlModel::Its, ControlModel::Thread, ControlModel::ItsSplit] {
            for (memory, model) in &memories {
                for (blocks, threads) in [(1, 4), (2, 2)] {
                    let config =
                        Config { control: Some(control), memory: model.clone(), warp_size: 2, ..Config::default() };
                    let what = format!("{name} {control:?} {memory} {blocks}x{threads}");
                    all.push((what, small(&kernel(body, control), blocks, threads, config)));
                }
            }
        }
    }
    all
}

#[test]
fn several_threads_find_what_one_finds() {
    let (mut complete, mut sizes) = (0, 0);
    for (what, program) in programs() {
        for grain in [Grain::Visible, Grain::Alike { blocks: true }, Grain::Instruction] {
            let how = How { most: Some(3_000), ..How::default() };
            let one = how.search(&program, grain, 1);
            if one.limit.is_some() {
                continue;
            }
            complete += 1;
            sizes += one.graph.states();
            let one = found(&one);
            // Most of eight wait for a part of the search most of the time, so that agents are given away between any two steps.
            for threads in [2, 3, 8] {
                let several = found(&how.search(&program, grain, threads));
                assert!(several == one, "{what} {grain:?} {threads}: {several:#?}\n{one:#?}");
            }
        }
    }
    assert!(complete > 150 && sizes > 50_000, "{complete} searches with {sizes} states came to their ends");
}

#[test]
fn who_has_stepped_and_who_was_switched_from_belongs_to_states_of_several_threads_too() {
    for (what, program) in programs().into_iter().filter(|(what, _)| what.contains("flat")) {
        for (preemptions, stepped) in [(None, true), (Some(1), false), (Some(2), true)] {
            let how = How { preemptions, stepped, most: Some(5_000), ..How::default() };
            let one = how.search(&program, Grain::Visible, 1);
            if matches!(one.limit, Some(LimitKind::States(_))) {
                continue;
            }
            let several = how.search(&program, Grain::Visible, 2);
            let same = (0..one.graph.states() as u32).all(|s| one.graph.stepped(s) == several.graph.stepped(s));
            assert!(same && found(&several) == found(&one), "{what} {preemptions:?} {stepped}");
        }
    }
}

/// Many states, so that threads take over from each other often and the table grows.
#[test]
fn a_large_space_is_the_same() {
    let config = Config { control: Some(ControlModel::Its), warp_size: 2, ..Config::default() };
    let program = small(&kernel(BODIES[1].1, ControlModel::Its), 1, 14, config);
    let one = found(&How::default().search(&program, Grain::Visible, 1));
    assert!(one.counts[0] > 30_000, "{:?}", one.counts);
    for threads in [2, 3, 8] {
        assert!(found(&How::default().search(&program, Grain::Visible, threads)) == one, "{threads}");
    }
}

#[test]
fn limits_hold() {
    let program = &programs()[1].1;
    for most in [1, 2, 7, 20] {
        let how = How { most: Some(most), ..How::default() };
        let space = how.search(program, Grain::Instruction, 3);
        assert_eq!(space.limit, Some(LimitKind::States(most)));
        // Each thread goes at most one beyond the limit.
        assert!(space.progress.states > most && space.progress.states <= most + 3 * 64, "{}", space.progress.states);
        assert!(!space.standing.is_empty());
        // Who was kept from a step by the limit alone is no cause of a run without end.
        assert_eq!(Promise::Fair.endless(&space.graph, Fairness::Weak), []);
    }
    let mut asked = 0;
    let mut poll = |_: &_| {
        asked += 1;
        (asked > 2).then_some(LimitKind::Interrupted)
    };
    let config = Config { control: Some(ControlModel::Its), warp_size: 1, ..Config::default() };
    let program = small(&kernel(BODIES[1].1, ControlModel::Its), 1, 20, config);
    let mut options = How::default().options(&program, &mut poll);
    let mut walks: Vec<Box<dyn Walk>> = Vec::new();
    for _ in 0..2 {
        let mut context = Context::new(Arc::clone(&program.env), program.config.clone()).unwrap();
        let (_, launch) = program.launch(&mut context);
        walks.push(context.walk(&[launch], Grain::Visible).unwrap());
    }
    let space = explore_together(&mut walks, &mut options, &|state| state.memory_hash(), &Bounds::default());
    assert_eq!(space.limit, Some(LimitKind::Interrupted));
}

/// The comparison tells searches apart that differ in one step.
#[test]
fn a_step_that_is_left_out_is_noticed() {
    let config = Config { control: Some(ControlModel::Thread), warp_size: 4, ..Config::default() };
    let program = small(&kernel(BODIES[0].1, ControlModel::Thread), 1, 3, config);
    let one = found(&How::default().search(&program, Grain::Visible, 1));
    let lying = How { lies: true, ..How::default() };
    assert!(found(&lying.search(&program, Grain::Visible, 2)) != one);
}

/// A walk that leaves out the last of three agents or more.
struct Lying(Box<dyn Walk>);

impl Walk for Lying {
    fn agents(&mut self, out: &mut Vec<Agent>) {
        let before = out.len();
        self.0.agents(out);
        if out.len() > before + 2 {
            out.pop();
        }
    }

    fn advance(&mut self, agent: Agent, oracle: &mut dyn Oracle, tell: Option<Tell<'_>>) -> Result<u32, Stop> {
        self.0.advance(agent, oracle, tell)
    }

    fn begun(&self) -> &Begun {
        self.0.begun()
    }

    fn key(&self) -> u128 {
        self.0.key()
    }

    fn whole(&self) -> Vec<u8> {
        self.0.whole()
    }

    fn mark(&mut self) -> Mark {
        self.0.mark()
    }

    fn back(&mut self, to: Mark) {
        self.0.back(to);
    }

    fn held(&self) -> usize {
        self.0.held()
    }

    fn grows(&self, steps: u64) -> usize {
        self.0.grows(steps)
    }

    fn program(&self) -> Arc<ProgEnv> {
        self.0.program()
    }

    fn state(&mut self) -> &dyn State {
        self.0.state()
    }
}

/// Where bounds end a search while the one graph is made, the limit is told, and what threads found is, with ways that lead there.
#[test]
fn what_was_found_is_told_where_the_graph_is_cut() {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    // More memory is taken than there may be, from some question on.
    fn taken() -> u64 {
        if ASKED.load(Relaxed) > 0 { 1 << 40 } else { 0 }
    }
    let text = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 m)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %m;
    ld.param.u64 %m, [m];
    mov.u32 %r0, %tid.x;
    atom.global.add.u32 %r1, [%m], 1;
    atom.global.add.u32 %r2, [%m+4], %r1;
    setp.eq.u32 %p, %r2, 3;
    @%p trap;
    atom.global.exch.b32 %r3, [%m+8], %r0;
    ret;
}
";
    let config = Config { control: Some(ControlModel::Thread), ..Config::default() };
    let program = small(text, 1, 5, config);
    let all = program.search(Grain::Visible, |walk, outcome| {
        let mut poll = |_: &_| None;
        explore(walk, &mut Options::states(false, &mut poll), outcome)
    });
    assert!(!all.found.is_empty() && all.outcomes.len() > 1 && all.graph.states() > 5_000, "{}", all.graph.states());
    let mut context = Context::new(Arc::clone(&program.env), program.config.clone()).unwrap();
    let (address, launch) = program.launch(&mut context);
    let mut walks: Vec<_> =
        (0..2).map(|_| context.walk(std::slice::from_ref(&launch), Grain::Visible).unwrap()).collect();
    let bounds = Bounds::new(Host { taken: Some(taken), interrupted: None }, None, Some(1 << 30), false);
    let mut poll = |_: &_| None;
    let outcome = |state: &dyn State| state.bytes(address, program.bytes).unwrap_or(&[]).to_vec();
    ASKED.store(1, Relaxed);
    let cut = explore_together(&mut walks, &mut Options::states(false, &mut poll), &outcome, &bounds);
    assert!(cut.limit.is_some() && cut.graph.states() == 0, "{:?}", cut.limit);
    assert_eq!(cut.progress.states, all.progress.states);
    let kinds = |space: &Space<Vec<u8>>| space.found.iter().map(|f| f.stop.identity()).collect::<BTreeSet<_>>();
    assert_eq!(kinds(&cut), kinds(&all));
    let counts =
        |space: &Space<Vec<u8>>| space.outcomes.iter().map(|(o, r)| (o.clone(), r.count)).collect::<BTreeMap<_, _>>();
    assert_eq!(counts(&cut), counts(&all));
    // The ways are those of the walk.
    let ways = cut.found.iter().map(|f| (&f.path, None)).chain(cut.outcomes.iter().map(|(o, r)| (&r.path, Some(o))));
    for (path, ends) in ways {
        let walk = &mut walks[0];
        let start = walk.mark();
        let mut stopped = false;
        for (k, step) in path.iter().enumerate() {
            let mut agents = Vec::new();
            walk.agents(&mut agents);
            let mut odometer = warpstep::explore::Odometer::new();
            stopped = walk.advance(agents[usize::from(step.agent)], &mut odometer, None).is_err();
            assert!(!stopped || k + 1 == path.len());
        }
        assert_eq!(stopped, ends.is_none());
        assert!(ends.is_none_or(|ends| *ends == outcome(walk.state())), "{path:?}");
        walk.back(start);
    }
}
