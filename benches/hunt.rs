//! Hunting speed: `cargo bench --bench hunt`.
//!
//! Schedules per second of CPU time on one core, of a kernel of 64 threads that executes 200 instructions, checks off: the
//! best of five rounds for each strategy and control model.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[path = "shared/clock.rs"]
mod clock;

use clock::cpu;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use warpstep::base::SourceMap;
use warpstep::choice::Strategy;
use warpstep::explore::{Hunt, Limits, Measure, Target};
use warpstep::launch::{Arg, Buffer, Data, KernelLaunch, Scalar, Spec, build};
use warpstep::machine::{Config, ControlModel, Stopwatch};

/// Instructions of the kernel.
const LENGTH: usize = 200;
/// Seeds of a round.
const SEEDS: u64 = 5000;

/// Arithmetic with a load, a store and an atomic operation every twenty instructions.
fn kernel() -> String {
    let mut text = String::from(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry work(.param .u64 data)\n{\n\
         .reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [data];\nmov.u32 %r1, %tid.x;\n\
         mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n",
    );
    for k in 4..LENGTH - 1 {
        let line = match k % 20 {
            0 => "ld.global.u32 %r2, [%rd3];".to_owned(),
            7 => "st.global.u32 [%rd3], %r2;".to_owned(),
            14 => "atom.global.add.u32 %r3, [%rd3], 1;".to_owned(),
            _ => format!("mad.lo.s32 %r2, %r2, %r1, {k};"),
        };
        let _ = writeln!(text, "{line}");
    }
    text.push_str("ret;\n}\n");
    text
}

fn target(control: ControlModel) -> Target {
    let mut sources = SourceMap::default();
    let file = sources.add("work.ptx", kernel());
    let env = build(&[file], Some(control), &sources).expect("the kernel is well formed");
    let ty = Scalar::named("u32").expect("a type");
    let mut spec = Spec::default();
    spec.buffers.insert("data".into(), Buffer { ty, init: Data::Zeros, len: Some(64), at: None });
    let args = vec![(Arg::Buffer { name: "data".into(), offset: 0 }, None)];
    spec.launches.push(KernelLaunch { entry: None, grid: [1; 3], block: [64, 1, 1], shared: 0, args, at: None });
    let config = Config { control: Some(control), eager: true, liveness: true, ..Config::default() };
    Target::new(spec, env, sources, config).expect("the launch is right")
}

fn main() {
    let never = AtomicBool::new(false);
    let start = Instant::now();
    let limits = Limits::of(0);
    println!("schedules per second on one core; {LENGTH} instructions, 64 threads");
    for (name, control) in [("crs", ControlModel::Crs), ("its", ControlModel::Its), ("thread", ControlModel::Thread)] {
        let target = target(control);
        let steps = Measure::of(&target, limits).steps;
        // Where each lane is scheduled for itself, a schedule takes 32 times as many steps.
        let count = if control == ControlModel::Thread { SEEDS / 50 } else { SEEDS };
        for (word, strategy) in [
            ("random", Strategy::Random),
            ("pct", Strategy::Pct { depth: 3, steps }),
            ("round-robin", Strategy::RoundRobin),
        ] {
            let round = |k: u64| {
                let before = cpu(start);
                let seeds = k * count..(k + 1) * count;
                let (time, progress) = (Stopwatch::start(None), &|_, _| ());
                let (watchers, keep_going, jobs, interrupted) = (None, true, 1, &never);
                let hunt = Hunt {
                    target: &target,
                    strategy,
                    seeds,
                    limits,
                    watchers,
                    keep_going,
                    jobs,
                    time,
                    interrupted,
                    progress,
                };
                assert!(hunt.run().findings.is_empty());
                cpu(start) - before
            };
            let best = (0..5).map(round).fold(f64::INFINITY, f64::min);
            println!("{name:<7} {word:<12} {:>9.0}", count as f64 / best);
        }
    }
}
