//! `warpstep prove`: what it answers, and that what it finds can be seen again.

use std::path::{Path, PathBuf};
use std::process::Command;
use warpstep::base::FileId;
use warpstep::explore::ScheduleFile;

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
    assert!(code == 1 && said.contains("SIMT deadlock") && said.contains("a break token is never popped"), "{said}");
    let (code, said) = warpstep(&folder, &["replay", "lock_in_one_warp.schedule"]);
    assert!(code == 1 && said.contains("the run never ends"), "{said}");
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

/// What a target says of itself under some flags: the exit code, states, and contents of memory.
fn counted(name: &str, flags: &[&str]) -> (i32, u64, u64) {
    let folder = folder(&format!("counted_{}", name.replace('/', "_")));
    let target = file(name);
    let json = ["--format", "json"];
    let arguments: Vec<&str> = ["prove", &target].iter().chain(flags).chain(&json).copied().collect();
    let (code, said) = warpstep(&folder, &arguments);
    let value: serde_json::Value = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}"));
    let contents = value["outcomes"].as_array().map_or(0, Vec::len) as u64;
    (code, value["states"].as_u64().unwrap(), contents)
}

#[test]
fn lanes_one_by_one_do_more_than_whole_ones() {
    // Two lanes write two words by one instruction, two others read them by one: both or none.
    let target = "tests/prove/pairs.toml";
    for control in ["crs", "its"] {
        let flags = ["--warp-size", "2", "--control", control];
        assert_eq!(counted(target, &flags), (0, 8, 2), "{control}");
        assert_eq!(counted(target, &[&flags[..], &["--lanes", "split"]].concat()), (0, 52, 4), "{control}");
    }
    let (_, said) = warpstep(&folder("split"), &["prove", &file(target), "--warp-size", "2", "--lanes", "split"]);
    assert!(said.contains("holds (control its, memory flat, lanes split, progress fair)"), "{said}");
}

#[test]
fn blocks_with_caches_may_both_read_what_was() {
    let target = "tests/prove/buffering.toml";
    assert_eq!(counted(target, &[]).2, 3);
    assert_eq!(counted(target, &["--memory", "fermi", "--device", "tiny"]), (0, 8829, 4));
    // A run that a search on caches found is an ordinary one, which can be seen again and made short.
    let (folder, target) = (folder("stale"), file("tests/prove/stale.toml"));
    let (code, said) = warpstep(&folder, &["prove", &target, "--memory", "fermi", "--device", "tiny"]);
    assert!(code == 1 && said.contains("refuted (control crs, memory fermi, progress fair)"), "{said}");
    let (code, said) = warpstep(&folder, &["replay", "stale.schedule"]);
    assert!(code == 1 && said.contains("differ from what is expected"), "{said}");
}

#[test]
fn a_schedule_on_split_lanes_names_them() {
    let (folder, target) = (folder("split_lanes"), file("tests/prove/torn.toml"));
    let flags = ["prove", &target, "--warp-size", "2"];
    let (code, said) = warpstep(&folder, &flags);
    assert_eq!(code, 0, "{said}");
    let (code, said) = warpstep(&folder, &[&flags[..], &["--lanes", "split"]].concat());
    assert!(code == 1, "{said}");
    let schedule = std::fs::read_to_string(folder.join("torn.schedule")).unwrap();
    assert!(schedule.contains("--lanes split"), "{schedule}");
    let (code, said) = warpstep(&folder, &["replay", "torn.schedule"]);
    assert!(code == 1 && said.contains("of 4 u32 elements differ"), "{said}");
}

#[test]
fn only_parts_of_groups_show_a_missing_syncwarp() {
    let (folder, target) = (folder("handoff"), file("tests/prove/handoff.toml"));
    assert_eq!(counted("tests/prove/handoff.toml", &[]).0, 0);
    let (code, said) = warpstep(&folder, &["prove", &target, "--its-split"]);
    assert!(
        code == 1 && said.contains("refuted (control its-split, memory flat, lanes whole, progress fair)"),
        "{said}"
    );
    let schedule = std::fs::read_to_string(folder.join("handoff.schedule")).unwrap();
    assert!(schedule.contains("--its-split") && schedule.contains("lanes 2/2"), "{schedule}");
    let (code, said) = warpstep(&folder, &["replay", "handoff.schedule"]);
    assert!(code == 1 && said.contains("differ from what is expected"), "{said}");
    // The same decisions do not fit where groups are whole: it is another launch.
    let mut whole = ScheduleFile::parse(&schedule, FileId(0)).unwrap();
    whole.target.retain(|word| word != "--its-split");
    std::fs::write(folder.join("whole.schedule"), whole.text()).unwrap();
    let (code, said) = warpstep(&folder, &["replay", "whole.schedule"]);
    assert!(code == 2 && said.contains("another launch"), "{said}");
    for flags in [&["hunt", &target, "--its-split"][..], &["run", &target, "--its-split", "--seed", "4"]] {
        let (code, said) = warpstep(&folder, flags);
        assert!(code == 1 && said.contains("1 of 1 u32 elements differ"), "{flags:?} {said}");
    }
    let (code, said) = warpstep(&folder, &["hunt", &target, "--control", "its"]);
    assert_eq!(code, 0, "{said}");
    // Lanes that wait for each other cannot go wrong.
    assert_eq!(counted("tests/prove/handoff_synced.toml", &["--its-split"]).0, 0);
    for control in ["crs", "thread"] {
        let (code, said) = warpstep(&folder, &["prove", &target, "--its-split", "--control", control]);
        assert!(code == 2 && said.contains("--its-split"), "{said}");
    }
    let (code, said) = warpstep(&folder, &["prove", &file("tests/schedules/atomicity.toml"), "--its-split"]);
    assert!(code == 4 && said.contains("--warp-size"), "{said}");
}
