//! Random mutations of the examples' PTX, for a while: `cargo run --release --example fuzz -- parse 60` (or `run`).
//!
//! The bodies are those of the targets in `fuzz/`; this loop needs no nightly compiler. A finding is a panic, which prints
//! the seed that repeats it: `-- run 60 SEED`.

use std::time::{Duration, Instant};
use warpstep::base::{FileId, SourceMap};
use warpstep::launch::build;
use warpstep::machine::{Config, Context, Launch};
use warpstep::ptx;

/// A small generator whose stream is fixed: xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound.max(1)
    }
}

/// The PTX of all examples that are not large.
fn corpus() -> Vec<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-examples");
    let folders = std::fs::read_dir(root).into_iter().flatten().flatten().map(|e| e.path());
    let files = folders.flat_map(|f| std::fs::read_dir(f).into_iter().flatten().flatten().map(|e| e.path()));
    let mut files: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "ptx")).collect();
    files.sort();
    files.iter().filter_map(|f| std::fs::read_to_string(f).ok()).filter(|t| t.len() < 40_000).collect()
}

/// Swaps, drops or doubles a few words.
fn mutate(text: &str, random: &mut Random) -> String {
    let mut words: Vec<&str> = text.split_inclusive([' ', '\t', '\n', ',', '.', ';']).collect();
    for _ in 0..=random.below(3) {
        let (a, b) = (random.below(words.len()), random.below(words.len()));
        match random.below(4) {
            0 => words.swap(a, b),
            1 => {
                words.remove(a);
            }
            2 => words.insert(a, words[b]),
            _ => words[a] = words[b],
        }
    }
    words.concat()
}

/// Nothing may panic, and what parses must print and parse to the same.
fn parse(text: &str) {
    let (module, errors) = ptx::parse(text);
    if errors.is_empty() {
        let printed = ptx::print(&module);
        let (again, errors) = ptx::parse(&printed);
        assert!(errors.is_empty(), "the printed module does not parse: {errors:?}");
        assert_eq!(ptx::print(&again), printed);
    }
}

/// A program that checks must run to an end of some kind within its limits.
fn run(text: &str) -> bool {
    let mut sources = SourceMap::default();
    let file: FileId = sources.add("fuzz.ptx", text);
    let Ok(env) = build(&[file], None, &sources) else { return false };
    let entries: Vec<(String, u32)> =
        env.functions.values().filter(|f| f.entry && f.defined).map(|f| (f.name.clone(), f.param_bytes)).collect();
    let config = Config { max_steps: Some(20_000), max_memory: Some(64 << 20), ..Config::default() };
    let Ok(mut context) = Context::new(env, config) else { return false };
    let Ok(buffer) = context.alloc("buffer", 1 << 16) else { return false };
    for (entry, bytes) in entries {
        // Every 8 bytes of parameters point into the buffer; a smaller parameter sees the low half.
        let params: Vec<u8> = buffer.to_le_bytes().into_iter().cycle().take(bytes as usize).collect();
        let launch = Launch { entry, grid: [2, 1, 1], block: [64, 1, 1], shared_bytes: 1024, params };
        let fits = context.env().functions.get(&launch.entry).is_some_and(|f| f.shared_bytes < 48 << 10);
        if fits {
            // Any verdict will do; a panic will not.
            let _ = context.launch(&launch, &mut |_| ());
        }
    }
    true
}

#[expect(clippy::disallowed_methods, reason = "how long to go on; no result depends on it")]
fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "parse".into());
    let seconds = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(60);
    let fixed: Option<u64> = arguments.next().and_then(|s| s.parse().ok());
    let (corpus, start) = (corpus(), Instant::now());
    let (mut tried, mut ran) = (0u64, 0u64);
    for seed in fixed.map_or(1..u64::MAX, |s| s..s + 1) {
        if start.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let text = mutate(&corpus[random.below(corpus.len())], &mut random);
        let outcome = std::panic::catch_unwind(|| {
            if what == "run" {
                return run(&text);
            }
            parse(&text);
            true
        });
        match outcome {
            Ok(did) => ran += u64::from(did),
            Err(_) => {
                eprintln!("finding: cargo run --release --example fuzz -- {what} {seconds} {seed}");
                std::process::exit(101);
            }
        }
        tried += 1;
    }
    println!("{what}: {tried} mutations, {ran} of them went all the way, no finding");
}
