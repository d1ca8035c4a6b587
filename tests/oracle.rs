//! Does the checker agree with ptxas? Mutations of real PTX, by seed, are given to both.
//!
//! ptxas comes from `WARPSTEP_PTXAS`, from `target/ptxas` (where `.ci/run` installs its wheel) or from the search path;
//! where it is absent the test is counted as ignored. Every disagreement is printed. `WARPSTEP_ORACLE_COUNT` and
//! `WARPSTEP_ORACLE_SEED` ask for more mutations and for others.

use crate::oracle_mutate::{KINDS, Kind, mutate};
use crate::shared;
use chacha20::ChaCha8Rng;
use libtest_mimic::Trial;
use rand::SeedableRng;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Mutations of each kind, unless `WARPSTEP_ORACLE_COUNT` says otherwise.
const PER_KIND: u64 = 120;
/// The same of instructions on matrices and of asynchronous copies.
const TENSOR_PER_KIND: u64 = 200;
/// Files beyond this size are not mutated: ptxas reads the whole of each.
const LARGEST: usize = 60_000;

/// Where ptxas is.
pub fn ptxas() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("WARPSTEP_PTXAS") {
        return Some(path.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let installed = root.join("target/ptxas/nvidia/cu13/bin/ptxas");
    if installed.exists() {
        return Some(installed);
    }
    let search = std::env::var_os("PATH")?;
    std::env::split_paths(&search).map(|dir| dir.join("ptxas")).find(|path| path.is_file())
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The paths in a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    paths.sort();
    paths
}

/// Every `.ptx` of a folder: (name, text).
fn ptx_of(folder: &Path) -> Vec<(String, String)> {
    let paths = entries(folder).into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "ptx"));
    let named = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).ok()?;
        Some((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), text))
    };
    paths.filter_map(named).collect()
}

/// Every `.ptx` of the examples: (name, text).
fn corpus() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-examples");
    entries(&root).iter().flat_map(|folder| ptx_of(folder)).collect()
}

/// Our verdict: the first complaint, if any.
pub fn ours(text: &str) -> Option<String> {
    let (module, syntax) = warpstep::ptx::parse(text);
    if let Some(error) = syntax.first() {
        return Some(format!("{:?}", error.kind));
    }
    let (_, errors) = warpstep::program::check::check(&module);
    errors.first().map(|error| format!("{:?}", error.kind))
}

/// The architecture to check a text for: the file's own when it is newer or has a suffix, else `compute_90`.
pub fn arch(text: &str) -> String {
    let target = text.split(".target").nth(1).and_then(|t| t.split_whitespace().next()).unwrap_or("sm_90");
    let name = target.trim_end_matches(',').trim_start_matches("sm_");
    let number: u32 = name.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(90);
    if number > 90 || name.ends_with('a') { format!("compute_{name}") } else { "compute_90".to_owned() }
}

/// ptxas's verdict: its first error, if any. A crash or a message about another architecture is no verdict.
fn theirs(ptxas: &Path, text: &str, arch: &str, file: &Path) -> Option<String> {
    std::fs::write(file, text).expect("the temporary folder is writable");
    let arch = format!("-arch={arch}");
    let out = Command::new(ptxas).arg(arch).arg(file).args(["-o", "/dev/null"]).output().expect("ptxas starts");
    let all = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    let complaint = all.lines().find(|l| l.contains("error") || l.contains("fatal")).map(str::to_owned);
    complaint.or_else(|| (!out.status.success()).then(|| all.clone()))
}

/// All of ptxas's errors with their lines; `None` where there is none.
pub fn all_errors(ptxas: &Path, text: &str, arch: &str, file: &Path) -> Option<Vec<(usize, String)>> {
    std::fs::write(file, text).expect("the temporary folder is writable");
    let arch = format!("-arch={arch}");
    let out = Command::new(ptxas).arg(arch).arg(file).args(["-o", "/dev/null"]).output().expect("ptxas starts");
    if out.status.success() {
        return None;
    }
    let all = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    // `ptxas FILE, line 12; error   : …`; what it makes of the text itself has lines of its own.
    let lines = all.lines().filter(|line| !line.contains("<builtin>")).filter_map(|line| {
        let (number, error) = line.split_once(", line ")?.1.split_once(';')?;
        (error.contains("error") || error.contains("fatal")).then_some((number.parse().ok()?, error.trim().to_owned()))
    });
    Some(lines.collect())
}

struct Case {
    file: usize,
    kind: Kind,
    text: String,
    what: String,
}

#[derive(Default)]
struct Tally {
    agree: usize,
    both_reject: usize,
    all: usize,
    lines: Vec<String>,
}

/// What is mutated, and how well both must agree.
struct Sweep {
    /// Files: (name, text).
    files: Vec<(String, String)>,
    /// Opcodes of the instructions that are mutated; empty: everything is.
    opcodes: &'static [&'static str],
    /// Mutations of each kind.
    per_kind: u64,
    /// Of hundred mutations of a kind, how many must get the same verdict at least.
    agree: usize,
}

/// Instructions on matrices, asynchronous copies, barriers in memory, clusters, textures, surfaces; video instructions.
const TENSOR: &[&str] = &[
    "mma",
    "wmma",
    "ldmatrix",
    "stmatrix",
    "movmatrix",
    "cp",
    "mbarrier",
    "red",
    "st",
    "mapa",
    "getctarank",
    "fence",
    "tex",
    "tld4",
    "txq",
    "suld",
    "sust",
    "sured",
    "suq",
    "istypep",
    "vadd",
    "vsub",
    "vabsdiff",
    "vmin",
    "vmax",
    "vshl",
    "vshr",
    "vmad",
    "vset",
    "vadd2",
    "vsub2",
    "vavrg2",
    "vabsdiff2",
    "vmin2",
    "vmax2",
    "vset2",
    "vadd4",
    "vsub4",
    "vavrg4",
    "vabsdiff4",
    "vmin4",
    "vmax4",
    "vset4",
];

fn the_checker_agrees_with_ptxas() {
    agree(&Sweep { files: corpus(), opcodes: &[], per_kind: PER_KIND, agree: 95 });
}

fn the_checker_agrees_with_ptxas_on_tensor_code() {
    let files = ["oracle_corpus", "triton", "mbarriers"].into_iter().flat_map(|folder| ptx_of(&tests().join(folder)));
    agree(&Sweep { files: files.collect(), opcodes: TENSOR, per_kind: TENSOR_PER_KIND, agree: 99 });
}

fn agree(Sweep { files, opcodes, per_kind, agree }: &Sweep) {
    let ptxas = ptxas().expect("the test is ignored where there is none");
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert!(files.len() >= 12, "the files are there");
    let mut refused = Vec::new();
    let mut small = Vec::new();
    for (index, (name, text)) in files.iter().enumerate() {
        let valid = theirs(&ptxas, text, &arch(text), &folder.path().join("whole.ptx")).is_none();
        if let (true, Some(error)) = (valid, ours(text)) {
            refused.push(format!("{name}: {error}"));
        }
        if valid && text.len() <= LARGEST {
            small.push(index);
        }
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let per_kind = number("WARPSTEP_ORACLE_COUNT").unwrap_or(*per_kind) as usize;
    let seed = number("WARPSTEP_ORACLE_SEED").unwrap_or(0x5eed);
    let mut cases = Vec::new();
    for (number, kind) in KINDS.iter().enumerate() {
        let mut rng = ChaCha8Rng::seed_from_u64(seed + number as u64);
        let mut made = 0;
        for turn in 0.. {
            if made == per_kind || turn > 50 * per_kind {
                break;
            }
            let file = small[turn % small.len()];
            if let Some((text, what)) = mutate(&files[file].1, *kind, opcodes, &mut rng) {
                cases.push(Case { file, kind: *kind, text, what });
                made += 1;
            }
        }
    }
    assert!(cases.len() >= 1000, "only {} mutations", cases.len());

    let next = AtomicUsize::new(0);
    let tallies: Mutex<BTreeMap<Kind, Tally>> = Mutex::default();
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let path = folder.path().join(format!("{worker}.ptx"));
            let (next, tallies, cases, ptxas) = (&next, &tallies, &cases, &ptxas);
            scope.spawn(move || {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (we, they) = (ours(&case.text), theirs(ptxas, &case.text, &arch(&files[case.file].1), &path));
                    let mut tallies = tallies.lock().expect("no panic while tallying");
                    let tally = tallies.entry(case.kind).or_default();
                    tally.all += 1;
                    tally.both_reject += usize::from(we.is_some() && they.is_some());
                    if we.is_some() == they.is_some() {
                        tally.agree += 1;
                    } else {
                        let said = we.map_or_else(
                            || format!("we accept, ptxas: {}", they.unwrap_or_default()),
                            |e| format!("ptxas accepts, we: {e}"),
                        );
                        tally.lines.push(format!("{}: {} -- {said}", files[case.file].0, case.what));
                    }
                }
            });
        }
    });
    let tallies = tallies.into_inner().expect("no panic while tallying");
    let mut poor = Vec::new();
    for (kind, tally) in &tallies {
        println!("{kind:?}: {} of {} agree, {} rejected by both", tally.agree, tally.all, tally.both_reject);
        for line in &tally.lines {
            println!("    {line}");
        }
        if tally.agree * 100 < tally.all * agree {
            poor.push(format!("{kind:?}: {} of {}", tally.agree, tally.all));
        }
    }
    assert!(refused.is_empty(), "valid files are rejected: {refused:#?}");
    assert!(poor.is_empty(), "agreement below {agree} %: {poor:?}");
}

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    let of = |name, test: fn()| shared::unless_absent(name, "ptxas", ptxas().is_some(), test);
    vec![
        of("the_checker_agrees_with_ptxas", the_checker_agrees_with_ptxas),
        of("the_checker_agrees_with_ptxas_on_tensor_code", the_checker_agrees_with_ptxas_on_tensor_code),
    ]
}
