//! The kernels of `warpstep bench`: the ten of other kinds are right under both control models and by both engines, and a wrong
//! result is told.

use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::launch::bench::{Case, KERNELS, MORE, Suite};
use warpstep::launch::build;
use warpstep::machine::{Config, ControlModel, Engine};
use warpstep::program::env::ProgEnv;
use warpstep::verdict::Silent;

/// The smallest sizes.
const SHIFT: u32 = 16;

/// Whether a kernel's results are right, and how many thread instructions it executed.
fn run(name: &str, env: &Arc<ProgEnv>, config: Config) -> (bool, u64) {
    let mut case = Case::new(name, SHIFT, env, config).unwrap().unwrap();
    assert!(!case.correct(), "{name}: right before it ran");
    let stats = case.run(&mut Silent).unwrap();
    (case.correct(), stats.thread_instructions)
}

/// A program for a control model, by default the one of its target.
fn program(ptx: impl Into<String>, control: Option<ControlModel>) -> Arc<ProgEnv> {
    let mut sources = SourceMap::default();
    let file = sources.add("bench.ptx", ptx);
    Arc::new(build(&[file], control, &sources).unwrap())
}

#[test]
fn the_ten_kernels_are_right_in_every_way_to_run_them() {
    for control in [ControlModel::Crs, ControlModel::Its] {
        let env = program(Suite::More.ptx(), Some(control));
        for name in MORE {
            let counts = [Engine::Interpreter, Engine::Native { trip: 0 }].map(|engine| {
                let (right, count) = run(name, &env, Config { control: Some(control), engine, ..Config::default() });
                assert!(right, "{name} {control:?} {engine:?}");
                count
            });
            assert!(counts[0] > 0 && counts[0] == counts[1], "{name} {control:?}: {counts:?}");
        }
    }
}

/// By seed blocks and warps go on in another order: nothing depends on it.
#[test]
fn the_ten_kernels_are_right_by_other_schedules() {
    let (env, _) = Suite::More.program().unwrap();
    for name in MORE {
        for seed in 0..2 {
            assert!(run(name, &env, Config { seed: Some(seed), ..Config::default() }).0, "{name} by seed {seed}");
        }
    }
}

/// Instructions of each kernel, and others that make its results wrong: after which text of the PTX, what they are and become.
const ERRORS: [(&str, &str, &str, &str); 11] = [
    ("softmax", "softmax(", "rcp.rn.f32", "sqrt.rn.f32"),
    ("layernorm", "layernorm(", "rsqrt.approx.f32", "sqrt.approx.f32"),
    ("fft", "fft(", "sub.f32", "add.f32"),
    ("scan", "scan(", "shfl.sync.up.b32", "shfl.sync.down.b32"),
    ("hash", "hash_insert(", "atom.global.add.u32", "atom.global.max.u32"),
    ("hash", "hash_lookup(", "xor.b32", "or.b32"),
    ("spmv", "spmv(", "shfl.sync.bfly.b32", "shfl.sync.up.b32"),
    ("blackscholes", "blackscholes(", "sqrt.rn.f64", "rcp.rn.f64"),
    ("stencil", "stencil(", "add.f16x2", "sub.f16x2"),
    ("nqueens", "place", "shl.b32", "shr.u32"),
    ("radixsort", "radix_scatter(", "st.global.u32", "red.global.max.u32"),
];

#[test]
fn wrong_results_are_told() {
    assert!(MORE.iter().all(|name| ERRORS.iter().any(|(kernel, ..)| kernel == name)));
    for (name, at, from, to) in ERRORS {
        let (before, behind) = Suite::More.ptx().split_once(at).unwrap();
        let (body, rest) = behind.split_once("\n}").unwrap();
        assert!(body.contains(from), "{at}: no {from}");
        let env = program(format!("{before}{at}{}\n}}{rest}", body.replace(from, to)), None);
        assert!(!run(name, &env, Config::default()).0, "{at}: {to} for {from} goes unnoticed");
    }
}

#[test]
fn each_suite_knows_its_own_kernels() {
    assert_eq!(Suite::ALL.map(Suite::kernels), [&KERNELS[..], &MORE[..]]);
    let (env, _) = Suite::More.program().unwrap();
    assert!(Case::new("softmaxx", SHIFT, &env, Config::default()).unwrap().is_none());
}

/// What the command prints: which kernels, all of them right.
fn told(arguments: &[&str]) -> Vec<String> {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_warpstep"));
    let output = command.arg("bench").args(arguments).args(["--shift", "16", "--reps", "1"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let right = text.lines().filter(|line| line.ends_with(" ok"));
    right.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn the_command_runs_the_nine_unless_others_are_asked_for() {
    assert_eq!(told(&[]), KERNELS);
    assert_eq!(told(&["--more"]), MORE);
    assert_eq!(told(&["softmax", "vecadd"]), ["vecadd", "softmax"]);
    assert_eq!(told(&["vecadd", "--more"]), [&["vecadd"][..], &MORE[..]].concat());
}
