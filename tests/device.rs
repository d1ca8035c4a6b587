//! Device descriptions: what cannot be is told with its place, what can be is used.
//!
//! `tests/device/NAME.toml` is a description with something impossible in it, `NAME.out` the message; `BLESS=1` rewrites it.

use crate::golden::{all_refused, descriptions, text};
use std::path::PathBuf;
use std::process::{Command, Output};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn warpstep(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpstep")).arg("run").args(args).current_dir(root()).output().unwrap()
}

#[test]
fn impossible_devices_are_refused_with_their_place() {
    all_refused(&root().join("device"), |path| {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let output = warpstep(&["host/two_contexts.toml", "--device", &name]);
        (name, output)
    });
}

#[test]
fn presets_and_descriptions_run_a_script() {
    let files = descriptions(&root().join("device/good")).into_iter().map(|p| p.display().to_string());
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
