//! The injection of the token stack's instructions on random kernels, run on the machine: under `crs` every thread does
//! what it does alone and under `its`, no property of chapter 6 is violated, and structured code costs as many warp
//! instructions as a post-dominator stack's.
//!
//! `TRIAL_GRAPHS` says how many graphs to try (5,000 when it is not set).

mod generate;
mod post_dominators;
#[path = "../../core/src/program/flow/trial/structured.rs"]
mod structured;

use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;
use warpstep::base::{FileId, LANES, lanes_of};
use warpstep::check::Safety;
use warpstep::machine::{Config, Context, ControlModel, DeviceShape, Launch, MemoryModel, Stats};
use warpstep::program::check::check;
use warpstep::program::env::ProgEnv;
use warpstep::program::instr::Op;
use warpstep::program::{Options, build};
use warpstep::ptx::{parse, tree::Module};
use warpstep::verdict::{Event, Sink, Step, Stop, TokenKind, Who};

/// What a run did.
#[derive(Clone, Default)]
struct Run {
    /// By thread: the visible instructions it passed, hashed, and how many.
    traces: Vec<(u64, u32)>,
    /// By thread: the addresses it passed, when asked for.
    walks: Option<Vec<Vec<u32>>>,
    last: Vec<u32>,
    /// Visible warp instructions.
    steps: u64,
    /// The largest number of diverge tokens that lay next to each other.
    deepest: usize,
    memory: Vec<u8>,
    stats: Stats,
}

/// Watches a run.
struct Watch<'a> {
    env: &'a ProgEnv,
    safety: Safety,
    warp_size: usize,
    run: Run,
}

impl Watch<'_> {
    fn step(&mut self, warp: usize, step: &Step<'_>) {
        let pc = step.pc.0;
        let hidden = self.env.origin.get(pc as usize).is_none_or(|o| o.hidden);
        let again = self.env.code.get(pc as usize).is_some_and(|i| matches!(i.op, Op::Brx | Op::CallIndirect));
        let run = &mut self.run;
        if let Some(tokens) = step.tokens {
            let mut row = 0;
            for token in tokens.stack {
                row = if token.kind == TokenKind::Diverge { row + 1 } else { 0 };
                run.deepest = run.deepest.max(row);
            }
        }
        run.steps += u64::from(!hidden);
        for lane in lanes_of(step.active) {
            let lane = warp * self.warp_size + lane;
            // A lane that an indirect branch or call defers is there again later.
            let repeats = again && run.last[lane] == pc;
            run.last[lane] = pc;
            if repeats {
                continue;
            }
            if let Some(walks) = &mut run.walks {
                walks[lane].push(pc);
            }
            if !hidden {
                let at = self.env.origin[pc as usize].span.start;
                let (hash, count) = &mut run.traces[lane];
                *hash = (*hash ^ u64::from(at)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(5);
                *count += 1;
            }
        }
    }
}

impl Sink for Watch<'_> {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        self.safety.event(who, event)?;
        if let Event::Step(step) = event {
            self.step(who.warp as usize, &step);
        }
        Ok(())
    }
}

fn module(text: &str) -> Module {
    let (module, errors) = parse(text);
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    module
}

fn env(module: &Module, inject: bool, text: &str) -> Arc<ProgEnv> {
    let (env, errors) = build(&[(FileId(0), module, &check(module).0)], &Options { inject, ..Options::default() });
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    Arc::new(env)
}

/// How kernels are run.
#[derive(Clone, Copy)]
struct How {
    threads: u32,
    /// Threads in a warp.
    warp: u32,
    seed: Option<u64>,
    /// The name of a memory's preset.
    memory: &'static str,
    walks: bool,
}

impl How {
    const fn warp_of(threads: u32) -> Self {
        Self { threads, warp: 32, seed: None, memory: "flat", walks: false }
    }
}

/// A context, and the launch of its kernel.
fn context(env: &Arc<ProgEnv>, control: ControlModel, how: How) -> Result<(Context, Launch), Stop> {
    let How { threads, warp: warp_size, seed, .. } = how;
    let memory = MemoryModel::preset(how.memory).unwrap_or_default();
    let device = memory.device().map_or(DeviceShape { processors: 1, ..DeviceShape::default() }, DeviceShape::of);
    let max_steps = Some(1_000_000);
    let config = Config { control: Some(control), warp_size, seed, device, memory, max_steps, ..Config::default() };
    let context = Context::new(Arc::clone(env), config)?;
    let launch =
        Launch { entry: "k".into(), grid: [1; 3], block: [threads, 1, 1], shared_bytes: 0, params: Vec::new() };
    Ok((context, launch))
}

fn state(context: &Context) -> Vec<u8> {
    let (address, bytes) = context.symbol(generate::STATE).unwrap_or_default();
    context.bytes(address, bytes).unwrap_or_default().to_vec()
}

fn run(env: &Arc<ProgEnv>, control: ControlModel, how: How) -> Result<Run, Stop> {
    let (mut context, launch) = context(env, control, how)?;
    let run = Run {
        traces: vec![(0, 0); LANES],
        walks: how.walks.then(|| vec![Vec::new(); LANES]),
        last: vec![u32::MAX; LANES],
        ..Run::default()
    };
    let mut watch = Watch { env, safety: Safety::new(Arc::clone(env)), warp_size: how.warp as usize, run };
    let stats = context.launch_with(&launch, &mut watch, &mut |_| ())?;
    Ok(Run { memory: state(&context), stats, ..watch.run })
}

/// The same with nobody watching, where the machine has shortcuts: its results and counts.
fn unwatched(env: &Arc<ProgEnv>, control: ControlModel, how: How) -> Result<(Vec<u8>, Stats), Stop> {
    let (mut context, launch) = context(env, control, how)?;
    let stats = context.launch(&launch, &mut |_| ())?;
    Ok((state(&context), stats))
}

/// What is wrong with a kernel, and how many tokens of each kind its code pushes.
fn compare(text: &str, how: How) -> Result<[usize; 3], String> {
    let module = module(text);
    let (injected, plain) = (env(&module, true, text), env(&module, false, text));
    let go = |env, control| run(env, control, how).map_err(|stop| format!("{control:?}: {stop:?}"));
    let crs = go(&injected, ControlModel::Crs)?;
    let alone = unwatched(&injected, ControlModel::Crs, how).map_err(|stop| format!("unwatched: {stop:?}"))?;
    if alone != (crs.memory.clone(), crs.stats) {
        return Err("another run when nobody watches".into());
    }
    for control in [ControlModel::Its, ControlModel::Thread] {
        let other = run(&plain, control, How { memory: "flat", ..how }).map_err(|s| format!("{control:?}: {s:?}"))?;
        if other.memory != crs.memory {
            return Err(format!("other memory than under {control:?}"));
        }
        if let Some(lane) = (0..LANES).find(|l| other.traces[*l] != crs.traces[*l]) {
            return Err(format!("thread {lane} goes another way than under {control:?}"));
        }
    }
    if crs.deepest >= how.warp.min(how.threads) as usize {
        return Err(format!("{} diverge tokens next to each other", crs.deepest));
    }
    let count = |op| injected.code.iter().filter(|i| i.op == op).count();
    Ok([count(Op::Ssy), count(Op::PreBrk), count(Op::PreRet)])
}

#[test]
fn threads_do_what_they_would_do_alone() {
    let graphs = std::env::var("TRIAL_GRAPHS").ok().and_then(|n| n.parse().ok()).unwrap_or(5_000u64);
    // Each part has a stream of its own, so that the parts can run side by side and 5,000 graphs are among 100,000.
    let parts = 2;
    let tokens = std::thread::scope(|scope| {
        let part = |p: u64| {
            move || {
                let mut rng = ChaCha8Rng::seed_from_u64(60 + p);
                let mut tokens = [0; 3];
                for case in 0..graphs / parts {
                    let text = generate::graph(&mut rng);
                    let threads = if rng.random_bool(0.1) { 32 } else { rng.random_range(2..8) };
                    let seed = rng.random_bool(0.5).then_some(case);
                    let warp = if rng.random_bool(0.2) { 4 } else { 32 };
                    let memory = if case % 20 == 0 { "fermi" } else { "flat" };
                    let how = How { warp, seed, memory, ..How::warp_of(threads) };
                    match compare(&text, how) {
                        Ok(found) => tokens.iter_mut().zip(found).for_each(|(t, f)| *t += f),
                        Err(why) => {
                            panic!("part {p}, case {case}, {threads} threads, warps of {warp}, {memory}: {why}\n{text}")
                        }
                    }
                }
                tokens
            }
        };
        let threads: Vec<_> = (0..parts).map(|p| scope.spawn(part(p))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).fold([0; 3], |mut all, t| {
            all.iter_mut().zip(t).for_each(|(a, t)| *a += t);
            all
        })
    });
    println!("{graphs} graphs; ssy, preBrk, preRet in their code: {tokens:?}");
    assert!(tokens.iter().all(|t| *t as u64 > graphs / 20), "{tokens:?}");
}

#[test]
fn structured_code_costs_what_post_dominators_say() {
    let programs = std::env::var("TRIAL_GRAPHS").ok().and_then(|n| n.parse().ok()).unwrap_or(5_000u64) / 5;
    let mut rng = ChaCha8Rng::seed_from_u64(70);
    let (mut parted, mut total) = (0, 0);
    for case in 0..programs {
        let text = generate::structured(&mut rng);
        let threads = rng.random_range(2..8);
        let how = How::warp_of(threads);
        compare(&text, how).unwrap_or_else(|why| panic!("case {case}, {threads} threads: {why}\n{text}"));
        let module = module(&text);
        let (injected, plain) = (env(&module, true, &text), env(&module, false, &text));
        let alone = run(&plain, ControlModel::Thread, How { walks: true, ..how }).unwrap();
        let walks = alone.walks.unwrap();
        let expected = post_dominators::instructions(&plain, &walks[..threads as usize]);
        let found = run(&injected, ControlModel::Crs, how).unwrap().steps;
        assert_eq!(found, expected, "case {case}, {threads} threads\n{text}");
        parted += u64::from(found > walks.iter().map(|w| w.len() as u64).max().unwrap_or(0));
        total += found;
    }
    println!("{programs} structured programs, {total} warp instructions");
    assert!(parted > programs / 3, "{parted}");
}
