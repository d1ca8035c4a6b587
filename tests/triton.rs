//! Kernels that Triton compiled for sm_80 (`tests/triton/kernels.py`): matrix instructions, copies that are in flight over the
//! iterations of a loop, reductions over warps, atomics. Each is right within a stated bound, against a reference of its own in `f64`,
//! and no check has an objection; with any of its waits, barriers and commits taken out something is found, but for those that
//! are listed as redundant, each with what makes it so.

#[path = "triton/attention.rs"]
mod attention;
#[path = "triton/products.rs"]
mod products;
#[path = "triton/rows.rs"]
mod rows;

use chacha20::ChaCha8Rng;
use half::{bf16, f16};
use rand::{RngExt, SeedableRng};
use std::path::Path;
use warpstep::check::Check;
use warpstep::{Argument, Kernel};

/// What Triton's launcher gives every kernel behind its own arguments: memory that these kernels have no need of.
const SCRATCH: usize = 2;

/// Why a line can be taken out. Each is looked at in the text, too, so that the list does not have what is only not found.
#[derive(Clone, Copy, Debug)]
enum Why {
    /// A commit: its copies are then of the next group, which the wait that follows waits for as well.
    Joins,
    /// The same wait stands beside it, at this line: without both, something is found.
    Twice(usize),
    /// All ways there come from these lines, which do the same, and nothing happens on them that it would be for: no copy and no
    /// commit before a wait; around a barrier, as far as the next one, no write of shared memory either.
    Again(&'static [usize]),
}

/// Lines that can be taken out, by number.
type Redundant<'a> = &'a [(usize, Why)];

/// A kernel of Triton: its name, and what runs its text (under a schedule at random if there is a seed) and compares its results.
struct Case {
    name: &'static str,
    run: fn(&str, Option<u64>) -> Result<(), String>,
}

impl Case {
    fn text(&self) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/triton").join(self.name).with_extension("ptx");
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// The kernel is right and nothing is found; without each line that synchronises, but for those listed, something is, in a run
    /// by the default schedule and in one at random.
    fn holds(&self, redundant: Redundant<'_>) {
        let text = self.text();
        for seed in [None, Some(1)] {
            (self.run)(&text, seed).unwrap_or_else(|e| panic!("{}, seed {seed:?}:\n{e}", self.name));
        }
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let found = |out: &[usize], seed| {
            let kept = lines.iter().zip(1..).map(|(line, number)| if out.contains(&number) { "" } else { line });
            (self.run)(&kept.collect::<Vec<_>>().join("\n"), seed)
        };
        let mut wrong = Vec::new();
        for (number, line) in (1..).zip(&lines).filter(|(_, line)| synchronises(line)) {
            let listed = redundant.iter().any(|(listed, _)| *listed == number);
            for seed in [None, Some(1)] {
                let end = found(&[number], seed);
                if end.is_ok() != listed || end.as_ref().is_err_and(|error| !is_finding(error)) {
                    wrong.push(format!("{}:{number}: {line}, seed {seed:?}: {end:?}", self.name));
                }
            }
        }
        for (number, why) in redundant {
            let right = match *why {
                Why::Joins => joins(&lines, *number),
                Why::Twice(other) => {
                    let same = number.abs_diff(other) == 1 && lines[other - 1] == lines[number - 1];
                    same && found(&[*number, other], None).is_err_and(|error| is_finding(&error))
                }
                Why::Again(before) => again(&lines, *number, before, redundant),
            };
            if !synchronises(lines[number - 1]) || !right {
                wrong.push(format!("{}:{number}: {}: not {why:?}", self.name, lines[number - 1]));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// Whether the commit after this one is of a group that the next wait waits for: one that leaves out no more than the commits
/// between that and itself.
fn joins(lines: &[&str], number: usize) -> bool {
    let mut commits = 0;
    for line in &lines[number..] {
        if let Some(newest) = line.strip_prefix("cp.async.wait_group") {
            let newest: usize = newest.trim_matches([' ', '\t', ';']).parse().unwrap();
            return lines[number - 1].starts_with("cp.async.commit_group") && commits > newest;
        }
        commits += usize::from(line.starts_with("cp.async.commit_group"));
    }
    false
}

/// The lines that are executed between two, or from the first of them on as far as a branch back that leads to the second.
fn way(lines: &[&str], from: usize, to: usize) -> Vec<usize> {
    if from < to {
        return (from + 1..to).collect();
    }
    let label = |line: &str| {
        let name = line.split_once("bra")?.1.trim_matches([' ', '\t', ';']);
        (1..to).find(|at| lines[at - 1].strip_suffix(':') == Some(name))
    };
    let (branch, back) = (from + 1..).find_map(|at| Some((at, label(lines[at - 1])?))).unwrap();
    (from + 1..branch).chain(back..to).collect()
}

/// Whether nothing happens on the ways to a line that it would be for.
fn again(lines: &[&str], number: usize, before: &[usize], redundant: Redundant<'_>) -> bool {
    let line = lines[number - 1];
    let mut ways: Vec<usize> = before.iter().flat_map(|from| way(lines, *from, number)).collect();
    let mut matters = vec!["cp.async.ca", "cp.async.cg", "cp.async.commit"];
    if line.starts_with("bar.sync") {
        let next = (number + 1..).find(|at| lines[at - 1].starts_with("bar.sync")).unwrap();
        ways.extend(number + 1..next);
        // What a wait is for is there for others behind a barrier only.
        matters.extend(["cp.async.wait", "st.", "stmatrix", "atom", "red"]);
    }
    // Waits that are listed are for nothing themselves.
    ways.retain(|at| redundant.iter().all(|(listed, _)| listed != at));
    let does = |at: usize| lines[at - 1].split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
    let same = before.iter().all(|from| lines[from - 1] == line);
    same && ways.iter().all(|at| !matters.iter().any(|word| does(*at).starts_with(word)))
}

fn synchronises(line: &str) -> bool {
    ["cp.async.wait", "cp.async.commit", "bar.sync", "barrier.sync"].iter().any(|word| line.trim().starts_with(word))
}

/// Whether it is what a missing line leads to, and not that the text could not be run.
fn is_finding(error: &str) -> bool {
    ["[race]", "[uninit", "[barrier", "wrong result"].iter().any(|sort| error.starts_with(sort))
}

/// The kernel with its first line's threads and shared memory, and all checks.
fn kernel<'a>(text: &str, grid: (u32, u32, u32), seed: Option<u64>) -> Result<Kernel<'a>, String> {
    let numbers: Vec<u32> = text.split('\n').next().unwrap().split(' ').filter_map(|word| word.parse().ok()).collect();
    let [shared, threads] = numbers[..] else { panic!("{numbers:?}") };
    let kernel = Kernel::from_ptx(text).map_err(|e| e.to_string())?.grid(grid).block(threads).shared(shared);
    let kernel = [Check::Races, Check::Bounds, Check::Uninit, Check::Barriers].into_iter().fold(kernel, Kernel::check);
    Ok(if let Some(seed) = seed { kernel.seed(seed) } else { kernel })
}

/// Runs it, with what Triton's launcher gives behind the arguments.
fn run(kernel: Kernel<'_>) -> Result<(), String> {
    let kernel = (0..SCRATCH).fold(kernel, |kernel, _| kernel.arg(Argument::null()));
    kernel.run().map(|_| ()).map_err(|e| e.to_string())
}

/// Numbers of a seed, of which none is close to the ends of what `f16` can hold.
fn random<T>(seed: u64, count: usize, make: fn(f64) -> T) -> Vec<T> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| make(f64::from(random.random_range(-1_000_000..=1_000_000i32)) / 500_000.0)).collect()
}

fn halves(seed: u64, count: usize) -> Vec<f16> {
    random(seed, count, f16::from_f64)
}

fn words(seed: u64, count: usize) -> Vec<f32> {
    random(seed, count, |value| value as f32)
}

/// An element's value.
trait Real: Copy {
    fn real(self) -> f64;
}

impl Real for f16 {
    fn real(self) -> f64 {
        self.to_f64()
    }
}

impl Real for bf16 {
    fn real(self) -> f64 {
        self.to_f64()
    }
}

impl Real for f32 {
    fn real(self) -> f64 {
        self.into()
    }
}

impl Real for i8 {
    fn real(self) -> f64 {
        self.into()
    }
}

impl Real for i32 {
    fn real(self) -> f64 {
        self.into()
    }
}

/// Whether each element is as far from the expected one as the bound beside that one at most.
fn within<T: Real>(name: &str, found: &[T], expected: impl IntoIterator<Item = (f64, f64)>) -> Result<(), String> {
    let mut count = 0;
    for (at, (value, bound)) in expected.into_iter().enumerate() {
        let got = found[at].real();
        // A NaN is not.
        let near = (got - value).abs() <= bound;
        if !near {
            return Err(format!("wrong result: {name}[{at}] is {got}, not {value} ± {bound}"));
        }
        count += 1;
    }
    assert_eq!(count, found.len(), "{name}");
    Ok(())
}
