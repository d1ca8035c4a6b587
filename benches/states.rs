//! Speed of the search through states: `cargo bench --bench states`.
//!
//! States per second of CPU time on one core, and bytes a state: a spin lock that eight warps of four lanes take, each lane
//! once, with eight registers; every state that the search tells apart is counted once, however often it is reached. Words
//! behind `--` leave rows out that lack one of them: `cargo bench --bench states -- flat crs visible`.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[path = "shared/clock.rs"]
mod clock;

use clock::cpu;
use std::sync::Arc;
use std::time::Instant;
use warpstep::base::SourceMap;
use warpstep::explore::space::{Options, Progress, explore};
use warpstep::launch::build;
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, Context, ControlModel, Launch, MemoryModel};

/// A lane takes the lock, adds one to what the lock guards, gives the lock back and leaves the loop.
const LOCK: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 memory)
{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [memory];
    mov.u32 %r1, 0;
LOOP:
    atom.global.cas.b32 %r2, [%rd1], 0, 1;
    setp.ne.s32 %p1, %r2, 0;
    @%p1 bra NEXT;
    ld.global.u32 %r3, [%rd1+4];
    add.s32 %r4, %r3, 1;
    st.global.u32 [%rd1+4], %r4;
    atom.global.exch.b32 %r2, [%rd1], 0;
    mov.u32 %r1, 1;
NEXT:
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra LOOP;
    ret;
}
";
/// States of a round; a tenth of them with caches.
const STATES: u64 = 1_000_000;

fn main() {
    let start = Instant::now();
    // `cargo bench` adds a flag of its own.
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    println!("spin lock, 8 warps of 4 lanes; one core");
    println!(
        "{:<7} {:<7} {:<12} {:>9} {:>11} {:>12} {:>6}",
        "memory", "control", "steps", "states", "transitions", "states/s", "bytes"
    );
    let mut sources = SourceMap::default();
    let file = sources.add("lock.ptx", LOCK);
    let fermi = MemoryModel::preset("fermi").expect("there is such a device");
    for (name, control) in [("crs", ControlModel::Crs), ("its", ControlModel::Its)] {
        let env = Arc::new(build(&[file], Some(control), &sources).expect("the kernel is well formed"));
        let ways = [
            ("flat", MemoryModel::Flat, "visible", Grain::Visible),
            ("flat", MemoryModel::Flat, "instruction", Grain::Instruction),
            ("split", MemoryModel::Split, "visible", Grain::Visible),
            ("fermi", fermi.clone(), "visible", Grain::Visible),
        ];
        for (memory, model, word, grain) in ways {
            if !asked.iter().all(|of| [memory, name, word].contains(&of.as_str())) {
                continue;
            }
            let most = if memory == "fermi" { STATES / 10 } else { STATES };
            let config =
                Config { control: Some(control), memory: model, warp_size: 4, eager: true, ..Config::default() };
            let round = || {
                let mut context = Context::new(Arc::clone(&env), config.clone()).expect("a context");
                let address = context.alloc("memory", 8).expect("room");
                let params = address.to_le_bytes().to_vec();
                let launch = Launch { entry: "k".into(), grid: [1; 3], block: [32, 1, 1], shared_bytes: 0, params };
                let mut walk = context.walk(&[launch], grain).expect("the launch is right");
                let mut poll = |_: &Progress| None;
                let warps = control == ControlModel::Crs;
                let mut options = Options { max_states: Some(most), ..Options::states(warps, &mut poll) };
                let before = cpu(start);
                let space = explore(&mut *walk, &mut options, &mut |walk| walk.memory_hash());
                (cpu(start) - before, space.progress)
            };
            let rounds = [round(), round(), round()];
            let best = rounds.iter().map(|r| r.0).fold(f64::INFINITY, f64::min);
            let Progress { states, transitions, bytes, .. } = rounds[0].1;
            let rate = states as f64 / best;
            println!(
                "{memory:<7} {name:<7} {word:<12} {states:>9} {transitions:>11} {rate:>12.0} {:>6}",
                bytes / states
            );
        }
    }
}
