//! `warpstep prove --machine lsc-mutex` on the command line: outcomes, how often mutexes are used again, and what is refused.

use crate::litmus_tool::{root, text};
use crate::schema::Schema;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};
use warpstep::explore::lockstep::{Grain, Options, Search, run};
use warpstep::litmus::lockstep::machine::{Machine, Order};
use warpstep::litmus::lockstep_machine::{Ended, compile};
use warpstep::litmus::{Observed, Outcome, parse};
use warpstep::memory::lockstep::Readings;
use warpstep::report::lockstep_machine::searched;

fn prove(file: &Path, flags: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
    command.arg("prove").arg(file).args(flags);
    command.current_dir(root().join("tests")).env("NO_COLOR", "1").output().unwrap()
}

/// What the machine says of a file below tests/, and how it ends.
fn mechanism(file: &str, flags: &[&str]) -> (Option<i32>, String) {
    let output = prove(Path::new(file), &[&["--machine", "lsc-mutex"], flags].concat());
    (output.status.code(), text(&output))
}

/// A test with these rows, which it is said of that this and that happens.
fn written(rows: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".litmus").tempfile().unwrap();
    std::fs::write(file.path(), format!("LSC t\n{{ x=0; y=0; }}\n{rows}\nexists (x = 1)\n")).unwrap();
    file
}

#[track_caller]
fn golden(name: &str, (code, found): (Option<i32>, String), wanted_code: i32) {
    assert_eq!(code, Some(wanted_code), "{name}: {found}");
    let file = root().join("tests/lsc").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &found).unwrap();
    }
    let wanted = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == wanted, "{name} is not:\n{found}");
}

/// Figure 7 with CPU threads, with wavefronts of a lane each, and with one of both: never (0, 0), all else.
#[test]
fn store_buffering_is_sequentially_consistent() {
    for (file, name) in [
        ("litmus/lockstep/figure-7.litmus", "figure-7.out"),
        ("lsc/figure-7-waves.litmus", "figure-7-waves.out"),
        ("lsc/figure-7-mixed.litmus", "figure-7-mixed.out"),
    ] {
        golden(name, mechanism(file, &["--all"]), 0);
        let (code, every) = mechanism(file, &["--all", "--reduction", "none"]);
        assert_eq!(code, Some(0), "{every}");
        assert!(every.contains("nobody is left waiting for ever, and every fair run ends"), "{every}");
        let outcomes = |text: &str| -> Vec<String> {
            text.lines().filter(|l| l.contains(":>") || l.contains("*>")).map(str::to_owned).collect()
        };
        assert_eq!(outcomes(&every).len(), 3, "{every}");
        assert_eq!(outcomes(&every), outcomes(&mechanism(file, &["--all"]).1));
    }
}

/// A thread whose second store and second load find their mutexes in its vector: two hits in four.
#[test]
fn mutexes_are_used_again() {
    golden("reuse.out", mechanism("lsc/reuse.litmus", &[]), 0);
    let output = prove(Path::new("lsc/reuse.litmus"), &["--machine", "lsc-mutex", "--format", "json"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(Schema::read("docs/schema/report.schema.json").complaint(&value), None, "{value}");
    let used = &value["mutexes"]["agents"];
    let cpu = used.as_array().unwrap().iter().find(|a| a["agent"] == "C0").unwrap();
    let counts = ["requests", "hits", "hits_per_thousand"].map(|key| cpu[key].as_u64());
    assert_eq!(counts, [Some(2), Some(2), Some(500)], "{value}");
    assert_eq!((&value["exit"], &value["holds"], &value["complete"]), (&0.into(), &true.into(), &true.into()));
}

#[test]
fn a_limit_proves_nothing() {
    let (code, text) = mechanism("litmus/lockstep/figure-7.litmus", &["--max-states", "2"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("limit reached: 2 states; nothing is proved"), "{text}");
}

/// The figures without blocks, and tests of ours with values, masks and exchanges: what the mechanism does is lockstep sequentially consistent,
/// and the run that is counted ends as one of the searched executions.
#[test]
fn outcomes_lie_inside_the_model() {
    let files = ["figure-4", "figure-5a", "figure-5c", "figure-7"].map(|name| format!("litmus/lockstep/{name}.litmus"));
    let ours =
        ["figure-7-waves", "figure-7-mixed", "reuse", "values", "exchanges"].map(|name| format!("lsc/{name}.litmus"));
    for file in files.iter().chain(&ours) {
        let source = std::fs::read_to_string(root().join("tests").join(file)).unwrap();
        let (litmus, errors) = parse(warpstep::base::FileId(0), &source);
        assert!(errors.is_empty(), "{file}: {errors:?}");
        let program = litmus.lockstep.as_ref().unwrap();
        let compiled = compile(&litmus, program).unwrap();
        let options = &mut Options::new(Readings::REPAIRED, Grain::Needed);
        let space = Search::default().explore(&compiled.program, options);
        let observed = Observed::of(&litmus);
        let of = |end| observed.outcome(&Ended { compiled: &compiled, end });
        let found: BTreeSet<Outcome> = space.ends.keys().map(|end| of(*end)).collect();
        let reached = Machine::new(&litmus, program, Order::Lsc).reach(1 << 20);
        assert!(!reached.limited && !found.is_empty() && found.is_subset(&reached.outcomes), "{file}: {found:?}");
        let ran = run(&compiled.program, Readings::REPAIRED, 1000);
        assert!(ran.end.is_some_and(|end| space.ends.contains_key(&end)), "{file}: {ran:?}");
    }
}

#[track_caller]
fn refuses(rows: &str, words: &str, place: &str) {
    let file = written(rows);
    let output = prove(file.path(), &["--machine", "lsc-mutex"]);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(4), "{rows}: {text}");
    assert!(text.contains(words) && text.contains(place), "{rows} does not say {words:?} at {place:?}:\n{text}");
}

#[test]
fn what_the_machine_does_not_have_is_refused_at_its_place() {
    refuses("C0 ;\nst x, 1 ;\nif r0 == 0 ;\nld r0, x ;\nend ;", "without blocks", ":5:");
    refuses("C0 ;\nst.b32 x, 1 ;", "not parts of them", ":4:");
    refuses("C0 ;\nst.b32 x+4, 1 ;", "not parts of them", ":4:");
    refuses("C0 ;\nld r0, x ;\nst y, r0 ;", "not registers", ":5:");
    refuses("C0 ;\nmov r0, 1 ;", "no arithmetic", ":4:");
    refuses("C0 ;\natom.add r0, x, 1 ;", "exchanges", ":4:");
    let row = |cell: &str, columns: usize| format!("{} ;\n", vec![cell; columns].join(" | "));
    let cpus = (0..4).map(|k| format!("C{k}")).collect::<Vec<_>>().join(" | ");
    refuses(&format!("{cpus} ;\n{}", row("st x, 1", 4)), "3 CPU threads at most", ":4:");
    let lanes = (0..5).map(|k| format!("W0.{k}")).collect::<Vec<_>>().join(" | ");
    refuses(&format!("{lanes} ;\n{}", row("st x, 1", 5)), "4 active lanes", ":4:");
    refuses(&format!("C0 ;\n{}", "st x, 1 ;\n".repeat(9)), "8 instructions at most", ":12:");
    let stores = |of: &dyn Fn(usize) -> String| (0..8).map(|k| format!("{} ;\n", of(k))).collect::<String>();
    let many = stores(&|k| format!("st x, {k} | st x, {}", 10 + k));
    refuses(&format!("W0.0 | W0.1 ;\n{many}"), "15 different values", ":11:");
    let many = stores(&|k| format!("ld r{k}, x | ld r{k}, x | ld r{k}, x"));
    refuses(&format!("W0.0 | W0.1 | W0.2 ;\n{many}"), "16 loads and exchanges", ":9:");
    let many = stores(&|k| format!("st x{k}, 1 | st y{k}, 1"));
    refuses(&format!("W0.0 | W0.1 ;\n{many}"), "8 locations at most", ":8:");
}

/// What the paper's text is read as changes what is found: without the repair of stores there is an outcome that is not lockstep sequentially
/// consistent, without that of requests threads wait for ever, without that of late mutexes a wavefront is refused for ever.
#[test]
fn the_text_as_it_stands_is_told_apart() {
    let under = |text: &str, readings, grain| {
        let (litmus, errors) = parse(warpstep::base::FileId(0), text);
        assert!(errors.is_empty(), "{errors:?}");
        let compiled = compile(&litmus, litmus.lockstep.as_ref().unwrap()).unwrap();
        let fair = grain == Grain::Every;
        let options = &mut Options { fair, ..Options::new(readings, grain) };
        let space = Search::default().explore(&compiled.program, options);
        let observed = Observed::of(&litmus);
        let of = |end: &_| observed.outcome(&Ended { compiled: &compiled, end: *end }).0;
        let found: BTreeSet<Vec<i64>> = space.ends.keys().map(of).collect();
        (found, searched(&compiled, &space, grain))
    };
    let figure7 = std::fs::read_to_string(root().join("tests/litmus/lockstep/figure-7.litmus")).unwrap();
    let both = vec![0, 0];
    assert!(!under(&figure7, Readings::REPAIRED, Grain::Needed).0.contains(&both));
    assert!(under(&figure7, Readings { carry: false, ..Readings::REPAIRED }, Grain::Needed).0.contains(&both));
    let stuck = under(&figure7, Readings { ask: false, ..Readings::REPAIRED }, Grain::Needed).1;
    golden("stuck.out", (Some(0), stuck), 0);
    let late = "LSC late\n{ x=0; y=0; }\n C0 | W0.0 ;\n st x, 1 | st y, 1 ;\n ld r0, y | ;\nexists (C0:r0 = 1)\n";
    let endless = under(late, Readings { late: false, ..Readings::REPAIRED }, Grain::Every).1;
    golden("endless.out", (Some(0), endless), 0);
}

/// Each machine says which tests are another's.
#[test]
fn tests_of_another_kind_are_told_where_to_go() {
    for (file, machine, words) in [
        ("litmus/lockstep/figure-7.litmus", "rsp", "give --machine lsc-mutex"),
        ("litmus/rsp/figure4.litmus", "lsc-mutex", "give --machine rsp"),
        ("litmus/MP-weak.litmus", "lsc-mutex", "begin with `LSC`: leave it out"),
        ("litmus/MP-weak.litmus", "rsp", "begin with `OpenCL` or `RSP`: leave it out"),
    ] {
        let output = prove(Path::new(file), &["--machine", machine]);
        let text = text(&output);
        assert_eq!(output.status.code(), Some(2), "{file}: {text}");
        assert!(text.contains(words), "{file} on {machine} does not say {words:?}: {text}");
    }
    let (figure7, first) = ("litmus/lockstep/figure-7.litmus", "litmus/rsp/example1.litmus");
    let refused = |output: &Output, flag: &str| {
        let text = text(output);
        assert_eq!(output.status.code(), Some(2), "{flag}: {text}");
        assert!(text.contains(flag) && text.contains("a model of its own"), "{flag}: {text}");
    };
    for flags in [
        "--memory lsc",
        "--control crs",
        "--scheme original",
        "--checkpoint kept",
        "--device tiny",
        "--warp-size 4",
        "--grid 4",
        "--check races",
        "--max-steps 9",
        "--first",
    ] {
        let words: Vec<&str> = flags.split(' ').collect();
        refused(&prove(Path::new(figure7), &[&["--machine", "lsc-mutex"], &words[..]].concat()), words[0]);
    }
    // What one machine has does not hide what none has.
    let scheme = ["--machine", "rsp", "--scheme", "proposed", "--lanes", "split"];
    refused(&prove(Path::new(first), &scheme), "--lanes");
    let (code, text) = mechanism("schedules/atomicity.toml", &[]);
    assert!(code == Some(2) && text.contains("kernels have such memory by --memory"), "{text}");
}
