//! Device descriptions: what cannot be is told with its place, what can be is used.
//!
//! `tests/device/NAME.toml` is a description with something impossible in it, `NAME.out` the message; `BLESS=1` rewrites it.

use std::path::PathBuf;
use std::process::{Command, Output};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn warpstep(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpstep")).arg("run").args(args).current_dir(root()).output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn descriptions(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap().flatten().map(|e| e.path());
    let mut all: Vec<_> = entries.filter(|p| p.extension().is_some_and(|e| e == "toml")).collect();
    all.sort();
    all
}

#[test]
fn impossible_devices_are_refused_with_their_place() {
    let mut wrong = Vec::new();
    for path in descriptions("device") {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let output = warpstep(&["host/two_contexts.toml", "--device", &name]);
        let (found, golden) = (text(&output), path.with_extension("out"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&golden, &found).unwrap();
        }
        let wanted = std::fs::read_to_string(&golden).unwrap_or_default();
        if output.status.code() != Some(2) || found != wanted || !found.contains(&format!("{name}:")) {
            wrong.push(format!("{name} ends with {:?}:\n{found}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn presets_and_descriptions_run_a_script() {
    let files = descriptions("device/good").into_iter().map(|p| p.display().to_string());
    let presets = ["fermi", "report", "fermi-like-sm80", "tiny"].map(str::to_owned);
    for device in presets.into_iter().chain(files) {
        for memory in ["flat", "fermi"] {
            let output = warpstep(&["host/two_contexts.toml", "--device", &device, "--memory", memory]);
            assert_eq!(output.status.code(), Some(0), "{device} {memory}: {}", text(&output));
        }
    }
    let output = warpstep(&["host/two_contexts.toml", "--device", "gtx"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("there is no device `gtx`"), "{}", text(&output));
}

#[test]
fn a_block_must_fit_a_multiprocessor() {
    let output = warpstep(&["../ptx-examples/reduction", "--device", "tiny"]);
    assert_eq!(output.status.code(), Some(2));
    let found = text(&output);
    assert!(found.contains("a block of 256 threads does not fit a multiprocessor"), "{found}");
}
