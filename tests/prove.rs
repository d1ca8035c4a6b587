//! `warpstep prove`: what it answers, and that what it finds can be seen again.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the command in a folder of its own; gives its exit code and what it says.
fn warpstep(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_warpstep")).args(arguments).current_dir(folder).output().unwrap();
    let said = [out.stdout, out.stderr].map(|b| String::from_utf8(b).unwrap()).concat();
    (out.status.code().unwrap(), said)
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn file(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name).display().to_string()
}

#[test]
fn a_lost_update_is_found_replayed_and_made_short() {
    let (folder, target) = (folder("lost_update"), file("tests/schedules/atomicity.toml"));
    let (code, said) = warpstep(&folder, &["prove", &target]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("refuted (control its, memory flat, lanes whole, progress fair)"), "{said}");
    assert!(said.contains("with 2 contents of memory"), "{said}");
    let (code, said) = warpstep(&folder, &["replay", "atomicity.schedule"]);
    assert!(code == 1 && said.contains("differ from what is expected"), "{said}");
    let (code, said) = warpstep(&folder, &["minimise", "atomicity.schedule"]);
    assert!(code == 1 && said.contains("nothing more can go"), "{said}");
}

#[test]
fn the_lock_between_lanes_is_a_simt_deadlock_under_crs_and_ends_under_its() {
    let (folder, target) = (folder("lock"), file("tests/ui/stuck/lock_in_one_warp.ptx"));
    let (code, said) = warpstep(&folder, &["prove", &target, "--block", "2", "--control", "crs"]);
    assert!(code == 1 && said.contains("SIMT deadlock") && said.contains("a break token holds lane 0"), "{said}");
    let (code, said) = warpstep(&folder, &["replay", "lock_in_one_warp.schedule"]);
    assert!(code == 1 && said.contains("SIMT deadlock"), "{said}");
    for control in ["its", "thread"] {
        let (code, said) = warpstep(&folder, &["prove", &target, "--block", "2", "--control", control]);
        assert!(code == 0 && said.contains("holds"), "{control}: {said}");
    }
}

#[test]
fn a_limit_is_never_a_proof() {
    let (folder, target) = (folder("limit"), file("tests/ui/stuck/lock_in_one_warp.ptx"));
    let few = ["prove", &target, "--block", "2", "--control", "its", "--max-states", "3"];
    let (code, said) = warpstep(&folder, &few);
    assert!(code == 3 && said.contains("limit reached: 3 states") && !said.contains("holds"), "{said}");
}
