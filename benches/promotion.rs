//! Speed of the search through the states of the machine with remote-scope promotion: `cargo bench --bench promotion`.
//!
//! States per second of CPU time on one core: a mutex that three threads take by compare-exchange, one of them remotely, with what it
//! guards, as in the largest of the public tests. Every transition of the environment is a step (`every`), or what is left after
//! reduction (`needed`); with the ghost state that execution graphs are made from, and without.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[path = "shared/clock.rs"]
mod clock;

use clock::cpu;
use std::time::Instant;
use warpstep::base::FileId;
use warpstep::explore::promotion::{Grain, Options, Space, explore};
use warpstep::litmus::parse;
use warpstep::litmus::rsp_machine::{Scheme, compile};

const MUTEX: &str = "RSP mutex
{ x=0; y=0; z=0; }
  r0 = compare_exchange_WG_N(y, 0, 1);
  if (r0) { store_na(x, 1); store_na(z, 1); store_WG_N(y, 0); }
||
  r0 = compare_exchange_WG_N(y, 0, 1);
  if (r0) { r1 = load_na(x); r2 = load_na(z); }
|||
  r0 = compare_exchange_DV_R(y, 0, 1);
  if (r0) { r1 = load_na(z); store_na(x, 2); store_DV_R(y, 0); }
";

/// The same on two devices, where what is guarded is accessed atomically in part.
const DEVICES: &str = "RSP devices
{ x=0; y=0; z=0; }
  r0 = compare_exchange_DV_N(y, 0, 1);
  if (r0) { store_na(x, 1); store_WG_N(z, 1); store_DV_N(y, 0); }
|||
  r0 = compare_exchange_DV_N(y, 0, 1);
  if (r0) { r1 = load_na(x); r2 = load_DV_R(z); }
||||
  r0 = compare_exchange_ALL_R(y, 0, 1);
  if (r0) { r1 = load_ALL_R(z); store_na(x, 2); store_ALL_R(y, 0); }
";

/// States of a round at most.
const STATES: u64 = 1_000_000;

fn main() {
    let start = Instant::now();
    println!("a mutex of three threads; one core");
    println!("{:<8} {:<7} {:<6} {:>9} {:>9} {:>10}", "program", "grain", "ghost", "states", "steps", "states/s");
    for (name, text) in [("mutex", MUTEX), ("devices", DEVICES)] {
        let (litmus, errors) = parse(FileId(0), text);
        assert_eq!(errors, [], "the program is well formed");
        let test = litmus.rsp.expect("it is one");
        let program = compile(&test, &Scheme::proposed()).expect("there is room for it").program;
        for (word, grain) in [("every", Grain::Every), ("needed", Grain::Needed)] {
            for ghost in [false, true] {
                let search = || -> Space {
                    let all = Options::new(grain);
                    explore(&program, &mut Options { ghost, max_states: Some(STATES), ..all })
                };
                // Small searches are repeated, so that the clock is fine enough.
                let round = || {
                    let (before, mut states, mut space) = (cpu(start), 0, Space::default());
                    while states < STATES / 10 {
                        space = search();
                        states += space.states;
                    }
                    ((cpu(start) - before) / states as f64, space)
                };
                let rounds = [round(), round(), round()];
                let best = rounds.iter().map(|r| r.0).fold(f64::INFINITY, f64::min);
                let Space { states, steps, .. } = &rounds[0].1;
                println!("{name:<8} {word:<7} {ghost:<6} {states:>9} {steps:>9} {:>10.0}", 1.0 / best);
            }
        }
    }
}
