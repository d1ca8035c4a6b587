//! Host scripts: contexts, programs and grids that come and go, under the deterministic schedule and under seeds, on flat
//! memory and on memory with caches.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host").join(name)
}

fn warpstep(path: &Path, flags: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpstep")).arg("run").arg(path).args(flags).output().unwrap()
}

/// The command ends with the code and says every one of the words.
#[track_caller]
fn says(output: &Output, code: i32, words: &[&str]) -> String {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "does not say {word:?}: {text}");
    }
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// A script's end under the deterministic schedule and under seeds, on both memories.
#[track_caller]
fn ends(name: &str, code: i32, words: &[&str]) {
    for memory in ["flat", "fermi"] {
        says(&warpstep(&script(name), &["--memory", memory, "--max-steps", "3000000"]), code, words);
        for seed in 0..8 {
            let flags = ["--memory", memory, "--max-steps", "3000000", "--seed", &seed.to_string()];
            says(&warpstep(&script(name), &flags), code, words);
        }
    }
}

#[test]
fn contexts_do_not_see_each_other() {
    ends("two_contexts.toml", 0, &["as expected", "2 launches", "3 blocks"]);
    ends("foreign_address.toml", 1, &["invalid global read of 4 bytes at 0xff0000000000", "kernels.ptx:73"]);
}

#[test]
fn programs_of_a_context_have_variables_of_their_own() {
    ends("two_programs.toml", 0, &["as expected"]);
}

#[test]
fn grids_run_at_the_same_time() {
    ends("concurrent.toml", 0, &["as expected"]);
}

#[test]
fn a_grid_that_spins_is_aborted() {
    ends("abort.toml", 0, &["finished"]);
}

#[test]
fn a_context_is_destroyed_with_its_grids() {
    ends("destroy.toml", 0, &["as expected"]);
}
