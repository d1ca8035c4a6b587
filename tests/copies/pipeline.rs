//! Pipelines of libcu++, as nvcc compiles them (`pipeline.cu`): copies of a thread in groups, copies of a block that barriers in
//! memory tell of, a warp that copies for the others, two buffers with a barrier each.

use warpstep::Kernel;
use warpstep::check::Check;

/// Tiles that are copied one after the other.
const ROUNDS: usize = 6;

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
    fn run(&self, text: &str, seed: Option<u64>) -> Result<(), String> {
        let input: Vec<f32> = (0..ROUNDS * self.tile).map(|k| (k * 37 % 101) as f32).collect();
        let weight = |round: usize| if self.weighted { round as f32 + 1.0 } else { 1.0 };
        let sum = |thread: usize| -> f32 {
            (0..ROUNDS).map(|round| input[round * self.tile + self.tile - 1 - thread] * weight(round)).sum()
        };
        let expected: Vec<f32> = (0..self.tile).map(sum).collect();
        let mut output = vec![0f32; self.tile];
        let kernel = Kernel::from_ptx(text).map_err(|e| e.to_string())?;
        let kernel = kernel.entry(self.entry).block(u32::try_from(self.threads).unwrap()).max_steps(200_000);
        let kernel =
            [Check::Races, Check::Uninit, Check::Bounds, Check::Barriers].into_iter().fold(kernel, Kernel::check);
        let kernel =
            kernel.arg(&mut output[..]).arg(&input[..]).arg(i32::try_from(ROUNDS).unwrap()).expect(&expected[..]);
        match seed {
            None => kernel.run().map(|_| ()).map_err(|e| e.to_string()),
            Some(seed) => {
                let hunted = kernel.hunt(seed..seed + 1).map_err(|e| e.to_string())?;
                if hunted.findings.is_empty() { Ok(()) } else { Err(format!("{:?}", hunted.findings)) }
            }
        }
    }
}

#[test]
fn pipelines_of_libcudacxx_are_right_and_silent() {
    let text = include_str!("pipeline.ptx");
    for case in CASES {
        for seed in [None, Some(1), Some(2), Some(3)] {
            case.run(text, seed).unwrap_or_else(|e| panic!("{}, seed {seed:?}: {e}", case.entry));
        }
    }
}

/// The lines of a kernel that begin with one of these, by number.
fn lines_of<'a>(text: &'a str, entry: &str, words: &'a [&str]) -> Vec<(usize, &'a str)> {
    let lines = || text.lines().map(str::trim).zip(1..);
    let head = format!(".visible .entry {entry}(");
    let (_, start) = lines().find(|(line, _)| *line == head).expect("the kernel is there");
    let own = lines().skip(start).take_while(|(line, _)| !line.starts_with(".visible"));
    own.filter(|(line, _)| words.iter().any(|word| line.starts_with(word))).map(|(line, at)| (at, line)).collect()
}

#[test]
fn what_is_taken_out_of_a_pipeline_is_found() {
    let text = include_str!("pipeline.ptx");
    let words =
        ["cp.async.wait", "cp.async.commit", "cp.async.mbarrier", "mbarrier.arrive", "bar.sync", "barrier.sync"];
    for case in CASES {
        for (number, line) in lines_of(text, case.entry, &words) {
            let kept: Vec<&str> = text.lines().zip(1..).map(|(l, at)| if at == number { "" } else { l }).collect();
            let ends = [None, Some(1)].map(|seed| case.run(&kept.join("\n"), seed));
            let shown = ends.map(|end| {
                end.map_or_else(
                    |e| e.lines().next().unwrap_or("").chars().take(110).collect(),
                    |()| "SILENT".to_owned(),
                )
            });
            println!("{}:{number}: {line}: {shown:?}", case.entry);
        }
    }
}
