//! Pipelines of libcu++, as nvcc compiles them (`pipeline.cu`): copies of a thread in groups, copies of a block that barriers in
//! memory tell of, a warp that copies for the others, two buffers with a barrier each.

use super::with_caches;
use warpstep::Kernel;
use warpstep::check::Check;
use warpstep::memory::MemoryModel;

/// Tiles that are copied one after the other: nvcc makes four rounds of a loop one.
const ROUNDS: [usize; 2] = [7, 8];
/// What ends the run of a pipeline that nobody can go on in: by the default schedule, under which a warp spins for long, or at random.
const STEPS: [u64; 2] = [400_000, 12_000];

/// A kernel: its name, the threads of its block, the numbers of a tile, those at the end of the block that sum the tiles up, and whether a
/// tile counts as often as its number.
struct Case {
    entry: &'static str,
    threads: usize,
    tile: usize,
    weighted: bool,
}

const CASES: [Case; 4] = [
    Case { entry: "_Z5twicePfPKfi", threads: 64, tile: 64, weighted: false },
    Case { entry: "_Z6stagesPfPKfi", threads: 128, tile: 128, weighted: true },
    Case { entry: "_Z5rolesPfPKfi", threads: 96, tile: 64, weighted: false },
    Case { entry: "_Z8barriersPfPKfi", threads: 64, tile: 64, weighted: true },
];

impl Case {
    /// Runs a text, under a schedule at random if there is a seed.
    fn run(&self, text: &str, rounds: usize, seed: Option<u64>) -> Result<(), String> {
        self.run_on(MemoryModel::Flat, text, rounds, seed)
    }

    fn run_on(&self, memory: MemoryModel, text: &str, rounds: usize, seed: Option<u64>) -> Result<(), String> {
        let input: Vec<f32> = (0..rounds * self.tile).map(|k| (k * 37 % 101) as f32).collect();
        let weight = |round: usize| if self.weighted { round as f32 + 1.0 } else { 1.0 };
        let sum = |thread: usize| -> f32 {
            (0..rounds).map(|round| input[round * self.tile + self.tile - 1 - thread] * weight(round)).sum()
        };
        let expected: Vec<f32> = (0..self.tile).map(sum).collect();
        let mut output = vec![0f32; self.tile];
        let kernel = Kernel::from_ptx(text).map_err(|e| e.to_string())?;
        let kernel = kernel
            .entry(self.entry)
            .block(u32::try_from(self.threads).unwrap())
            .memory(memory)
            .max_steps(STEPS[usize::from(seed.is_some())]);
        let kernel = [Check::Races, Check::Uninit].into_iter().fold(kernel, Kernel::check);
        let kernel =
            kernel.arg(&mut output[..]).expect(&expected[..]).arg(&input[..]).arg(i32::try_from(rounds).unwrap());
        let kernel = seed.into_iter().fold(kernel, Kernel::seed);
        kernel.run().map(|_| ()).map_err(|e| e.to_string())
    }
}

/// What nvcc made, without the ends of the barriers. The threads of a warp leave a pipeline by `match.any.sync`, which orders no memory,
/// before one of them invalidates the barriers that the others have asked: a race, if one that no GPU shows.
fn text() -> String {
    let kept = include_str!("pipeline.ptx").lines().map(|line| if is_inval(line) { "" } else { line });
    kept.collect::<Vec<_>>().join("\n")
}

fn is_inval(line: &str) -> bool {
    line.trim().starts_with("mbarrier.inval")
}

#[test]
fn pipelines_of_libcudacxx_are_right_and_silent() {
    let text = text();
    for case in CASES {
        for (rounds, seed) in [(5, None), (ROUNDS[0], Some(1)), (ROUNDS[1], Some(2))] {
            case.run(&text, rounds, seed).unwrap_or_else(|e| panic!("{}, seed {seed:?}: {e}", case.entry));
        }
    }
}

#[test]
fn pipelines_are_right_and_silent_on_memory_with_caches() {
    let text = text();
    for case in CASES {
        for memory in with_caches() {
            // Lanes land one by one: by the default schedule who spins for them spins for long.
            let first = if case.entry.contains("twice") { None } else { Some(2) };
            for seed in [first, Some(1)] {
                let ran = case.run_on(memory.clone(), &text, 5, seed);
                ran.unwrap_or_else(|e| panic!("{}, {memory:?}, seed {seed:?}: {e}", case.entry));
            }
        }
    }
}

#[test]
fn who_invalidates_the_barriers_of_a_pipeline_races_with_who_asked_them() {
    for case in CASES {
        let ends = case.run(include_str!("pipeline.ptx"), 7, None);
        let shares = ["_Z6stagesPfPKfi", "_Z5rolesPfPKfi"].contains(&case.entry);
        let raced = ends.is_err_and(|e| e.contains("[race]") && e.contains("mbarrier.inval") && e.contains("_wait"));
        assert_eq!(raced, shares, "{}", case.entry);
    }
}

/// The lines of a kernel that begin with one of these, by number.
fn lines_of<'a>(text: &'a str, entry: &str, words: &[&str]) -> Vec<(usize, &'a str)> {
    let lines = || text.lines().map(str::trim).zip(1..);
    let head = format!(".visible .entry {entry}(");
    let (_, start) = lines().find(|(line, _)| *line == head).expect("the kernel is there");
    let own = lines().skip(start).take_while(|(line, _)| !line.starts_with(".visible"));
    own.filter(|(line, _)| words.iter().any(|word| line.starts_with(word))).map(|(line, at)| (at, line)).collect()
}

#[test]
fn what_is_taken_out_of_a_pipeline_is_found() {
    let text = text();
    let all = ["cp.async.wait", "cp.async.commit", "cp.async.mbarrier", "mbarrier.arrive", "bar.sync", "barrier.sync"];
    let mut missed = Vec::new();
    for case in CASES {
        // Where threads spin, each line takes long: only arrivals are taken out.
        let words = if case.entry.contains("twice") { &all[..] } else { &all[2..4] };
        for (number, line) in lines_of(&text, case.entry, words) {
            let with = |other: &str| {
                let lines = text.lines().zip(1..).map(|(line, at)| if at == number { other } else { line });
                lines.collect::<Vec<_>>().join("\n")
            };
            let (without, trap) = (with(""), with("trap;"));
            // Who spins for long by the default schedule takes long to be compared.
            // Which copies have landed when they are read is the schedule's choice: of a few one finds it. Of groups each does.
            let quick = case.entry.contains("twice");
            let schedules: &[&[Option<u64>]] =
                if quick { &[&[None], &[Some(1)]] } else { &[&[Some(1), Some(2), Some(3), None]] };
            for seeds in schedules {
                let rounds = if quick { &ROUNDS[..] } else { &ROUNDS[..1] };
                let ends = |text: &str, seed| rounds.iter().any(|rounds| case.run(text, *rounds, seed).is_err());
                let found = |text: &str| seeds.iter().any(|seed| ends(text, *seed));
                // What is never executed is missed by nobody.
                if !found(&without) && found(&trap) {
                    missed.push(format!("{}:{number}: {line}, {seeds:?}", case.entry));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
