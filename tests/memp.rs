//! Memory programs and the table of rules on the command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::launch::{self, Device, Failure, Spec, load, memory_programs};
use warpstep::machine::{Config, MemoryModel};
use warpstep::memory::fermi::model::DeviceModel;
use warpstep::memory::fermi::program::{self, ProgramSet};
use warpstep::verdict::{Silent, Stop, StuckKind};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/memp").join(name)
}

fn warpstep(arguments: &[&str], path: Option<&Path>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpstep")).args(arguments).args(path).output().unwrap()
}

/// The command ends with the code and says every one of the words.
#[track_caller]
fn says(output: &Output, code: i32, words: &[&str]) {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "does not say {word:?}: {text}");
    }
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
fn a_folder_serves_every_operation() {
    says(&warpstep(&["check"], Some(&folder("own"))), 0, &[]);
    let lacking = warpstep(&["check"], Some(&folder("lacking")));
    says(&lacking, 2, &["no program for mov, ld.global, ", " others", "stores.memp:4", "`use fermi;`"]);
    // By itself a file need not.
    says(&warpstep(&["check"], Some(&folder("lacking/stores.memp"))), 0, &[]);
    says(&warpstep(&["check"], Some(&folder("broken"))), 2, &["more.memp:4:1", "undefined for `st.shared`"]);
    says(&warpstep(&["check"], Some(&folder(""))), 2, &["has no memory programs"]);
    says(&warpstep(&["check"], Some(&folder("none.memp"))), 2, &["no such file"]);
    says(
        &warpstep(&["check", "--format", "json"], Some(&folder("broken"))),
        2,
        &["\"code\": \"undefined\"", "\"line\": 4"],
    );
}

/// A line that a store has reserved is filled, and the run ends (D-line).
#[test]
fn a_store_that_reserves_a_line_ends() {
    let programs = folder("through");
    says(&warpstep(&["check"], Some(&programs)), 0, &[]);
    let flags = ["run", "--memory", "fermi", "--memory-programs", programs.to_str().unwrap()];
    says(&warpstep(&flags, Some(&example("vecadd"))), 0, &["as expected"]);
}

#[test]
fn protocols_are_devices() {
    for device in ["write-through", "invalidate"] {
        let flags = ["run", "--memory", "fermi", "--device", device];
        says(&warpstep(&flags, Some(&example("operators"))), 0, &["as expected"]);
        // Nobody waits for ever, whoever waits for other multiprocessors or for room.
        let small = folder("devices").join(device).with_extension("toml");
        for seed in ["1", "2"] {
            let flags = ["run", "--memory", "fermi", "--device", small.to_str().unwrap(), "--seed", seed];
            for name in ["spinlock", "grid_barrier"] {
                says(&warpstep(&flags, Some(&example(name))), 0, &["as expected"]);
            }
        }
    }
}

/// What would lose bytes or wait for ever is refused, with its place and reason.
#[test]
fn unsound_programs_are_refused() {
    let check = warpstep(&["check"], Some(&folder("unsound")));
    says(&check, 2, &["unsound.memp:7", "`cleanL1` of bytes that L2 may not have", "`writeL2` in the same micro step"]);
    says(&check, 2, &["unsound.memp:14", "`invalidateOthersL1` may wait for ever", "another multiprocessor"]);
    says(&check, 2, &["unsound.memp:21", "`readL1` is undefined for `fence.sc.gpu`", "no caches"]);
    says(&check, 2, &["unsound.memp:25", "`flushL1` is undefined for `st.release.cta.global`", "only a fence"]);
}

#[test]
fn rules_are_listed() {
    says(&warpstep(&["rules"], None), 0, &["crs.braguard", "core/src/machine/control/crs.rs", "fire in the examples"]);
    let some = warpstep(&["rules", "cache.read", "--format", "json"], None);
    says(&some, 0, &["\"id\": \"cache.read-wait\"", "core/src/memory/fermi/cache/ops.rs"]);
    assert!(!String::from_utf8_lossy(&some.stdout).contains("crs."));
    says(&warpstep(&["rules", "cash"], None), 2, &["cash", "the beginning of a rule's id"]);
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-examples").join(name)
}

#[test]
fn programs_of_a_folder_replace_the_devices() {
    let run = |memory: &str, programs: &str| {
        let programs = folder(programs);
        let flags = ["run", "--memory", memory, "--memory-programs", programs.to_str().unwrap()];
        warpstep(&flags, Some(&example("operators")))
    };
    says(&run("fermi", "own"), 0, &["as expected"]);
    says(&run("flat", "own"), 2, &["--memory-programs", "with --memory fermi"]);
    says(&run("fermi", "lacking"), 2, &["stores.memp:4", "no program for mov"]);
    says(&run("fermi", "broken"), 2, &["more.memp:4:1"]);
    says(&run("fermi", "none"), 2, &["cannot read"]);
}

/// Every race-free example ends on other programs as on the presets.
#[test]
fn examples_end_on_programs_of_ones_own() {
    let (own, problems) = memory_programs(&folder("own"), &mut SourceMap::default());
    assert_eq!(problems, []);
    let own = Arc::new(own);
    for name in ["vecadd", "histogram_global", "matmul_tiled", "local_arrays", "atomics_all", "bfs", "grid_barrier"] {
        match run(&example(name), &own, "fermi") {
            Ok(as_expected) => assert!(as_expected, "{name}"),
            Err(failure) => panic!("{name}: {failure:?}"),
        }
    }
}

fn run(example: &Path, programs: &Arc<ProgramSet>, device: &str) -> Result<bool, Failure> {
    let mut sources = SourceMap::default();
    let spec = Spec::read(&example.join("launch.toml"), &mut sources).map_err(Failure::Input)?;
    let env = load(&spec.ptx, None, &mut sources).map_err(Failure::Input)?;
    let memory = MemoryModel::Fermi(Arc::new(DeviceModel::preset(device).unwrap()), Arc::clone(programs));
    let mut device = Device::new(env, sources, Config { memory, ..Config::default() }).map_err(Failure::Stop)?;
    Ok(launch::run(&spec, &mut device, &mut Silent, None, &mut |_| ())?.unexpected.is_empty())
}

/// A program that steps outside of its state is stuck at its line. `warpstep check` would have refused it.
#[test]
fn an_undefined_step_is_stuck_with_its_line() {
    let mut sources = SourceMap::default();
    let file = sources.add("wrong.memp", "use fermi;\nprogram ld.global:\nreadMem;\nyield;\nupdateL1;\nend;");
    let (set, errors) = program::load(&[file], &sources);
    assert!(!errors.is_empty());
    match run(&example("vecadd"), &Arc::new(set), "tiny") {
        Err(Failure::Stop(Stop::Stuck(kind))) => match *kind {
            StuckKind::MemoryProgram { operation, .. } => {
                assert_eq!((operation.program.as_str(), operation.line), ("ld.global", 5));
                assert_eq!(operation.file, "wrong.memp");
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{:?}", other.err()),
    }
}
