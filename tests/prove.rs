//! `warpstep prove`: what it answers, and that what it finds can be seen again.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use warpstep::base::FileId;
use warpstep::explore::ScheduleFile;

/// Runs the command in a folder of its own; gives its exit code and what it says.
pub fn warpstep(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_warpstep")).args(arguments).current_dir(folder).output().unwrap();
    let said = [out.stdout, out.stderr].map(|b| String::from_utf8(b).unwrap()).concat();
    (out.status.code().unwrap(), said)
}

pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).unwrap();
    path
}

pub fn file(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name).display().to_string()
}

#[test]
fn a_lost_update_is_found_replayed_and_made_short() {
    let (folder, target) = (folder("lost_update"), file("tests/schedules/atomicity.toml"));
    let (code, said) = warpstep(&folder, &["prove", &target]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("refuted (control its, memory flat, lanes whole, progress fair)"), "{said}");
    assert!(said.contains("with 2 contents of memory"), "{said}");
    let (code, said) = warpstep(&folder, &["replay", "atomicity.prove.schedule"]);
    assert!(code == 1 && said.contains("differ from what is expected"), "{said}");
    let (code, said) = warpstep(&folder, &["minimise", "atomicity.prove.schedule"]);
    assert!(code == 1 && said.contains("nothing more can go"), "{said}");
}

#[test]
fn the_lock_between_lanes_is_a_simt_deadlock_under_crs_and_ends_under_its() {
    let (folder, target) = (folder("lock"), file("tests/ui/stuck/lock_in_one_warp.ptx"));
    let (code, said) = warpstep(&folder, &["prove", &target, "--block", "2", "--control", "crs"]);
    assert!(code == 1 && said.contains("SIMT deadlock") && said.contains("a break token holds lane 0"), "{said}");
    let (code, said) = warpstep(&folder, &["replay", "lock_in_one_warp.prove.schedule"]);
    assert!(code == 1 && said.contains("SIMT deadlock"), "{said}");
    for control in ["its", "thread"] {
        let (code, said) = warpstep(&folder, &["prove", &target, "--block", "2", "--control", control]);
        assert!(code == 0 && said.contains("holds"), "{control}: {said}");
    }
}

/// Checks of runs but races are no part of the search: they look at what it shows, and the answer says so.
#[test]
fn a_race_on_the_way_refutes_and_a_proof_says_where_races_were_looked_for() {
    let folder = folder("races");
    let launch = ["--block", "64", "--buffer", "out:u32:1024", "--arg", "buffer:out", "--check", "races"];
    let racy = file("tests/races/neighbour_in_block.racy.ptx");
    let (code, said) = warpstep(&folder, &[&["prove", &racy][..], &launch].concat());
    assert!(code == 1 && said.contains("data race") && said.contains("refuted"), "{said}");
    let (code, said) = warpstep(&folder, &["replay", "neighbour_in_block.racy.prove.schedule"]);
    assert!(code == 1 && said.contains("data race"), "{said}");
    let fixed = file("tests/races/neighbour_in_block.fixed.ptx");
    let (code, said) = warpstep(&folder, &[&["prove", &fixed][..], &launch].concat());
    assert!(code == 0 && said.contains("looked at every schedule"), "{said}");
    let (_, said) = warpstep(&folder, &[&["prove", &fixed, "--format", "json"][..], &launch].concat());
    let told: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(told["looked_at_runs"], Value::Null, "{told:#}");
    assert_eq!(told["standing"], serde_json::json!([]), "it came to its end");
    let few = ["prove", &fixed, "--format", "json", "--max-states", "2"];
    let (_, said) = warpstep(&folder, &[&few[..], &launch].concat());
    let told: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(told["standing"][0]["waiting_for"]["barrier"], 0, "{told:#}");
    let (_, said) =
        warpstep(&folder, &["prove", &fixed, "--block", "64", "--buffer", "out:u32:1024", "--arg", "buffer:out"]);
    assert!(!said.contains("looked at"), "{said}");
}

/// Memory at the end is the same in all schedules, and some have a race.
#[test]
fn a_race_of_one_order_refutes() {
    let (folder, target) = (folder("one_order"), file("tests/prove/race_of_one_order.ptx"));
    let launch = ["--block", "2", "--buffer", "p:u32:2", "--arg", "buffer:p"];
    for (control, reduction) in [("thread", "visible"), ("its", "visible"), ("its", "none")] {
        let how = ["--control", control, "--reduction", reduction, "--check", "races"];
        let (code, said) = warpstep(&folder, &[&["prove", &target][..], &launch, &how].concat());
        assert!(code == 1 && said.contains("data race") && said.contains("ld.global.u32 %v"), "{said}");
        assert!(said.contains("looked at every schedule"), "{said}");
        let (code, said) = warpstep(&folder, &["replay", "race_of_one_order.prove.schedule"]);
        assert!(code == 1 && said.contains("data race"), "{said}");
    }
    let (code, said) = warpstep(&folder, &[&["prove", &target][..], &launch].concat());
    assert!(code == 0 && said.contains("with 1 content of memory"), "{said}");
}

/// A lock: what happened before what comes back to what it was, and so does the search. One state at a time, from a checkpoint, it
/// comes to the same.
#[test]
fn races_are_looked_for_in_all_schedules_of_a_lock() {
    let (folder, target) = (folder("lock_races"), file("ptx-examples/spinlock/spinlock.ptx"));
    let buffers = ["--buffer", "lock:s32:1", "--buffer", "counter:s32:1", "--buffer", "log:s32:16"];
    let arguments = ["--arg", "buffer:lock", "--arg", "buffer:counter", "--arg", "buffer:log"];
    let launch = ["prove", &target, "--control", "crs", "--block", "96"];
    let launch = [&launch[..], &buffers, &arguments].concat();
    let (code, all) = warpstep(&folder, &[&launch[..], &["--check", "races"]].concat());
    assert!(code == 0 && all.contains("holds") && all.contains("271 states"), "{all}");
    let checkpoint = ["--checkpoint", "races.checkpoint"];
    let kept = [&launch[..], &checkpoint, &["--check", "races", "--max-states", "50"]].concat();
    let _ = std::fs::remove_file(folder.join("races.checkpoint"));
    let mut said = String::new();
    for _ in 0..20 {
        let (code, now) = warpstep(&folder, &kept);
        said = now;
        if code != 3 {
            break;
        }
    }
    assert!(said.contains("holds") && said.contains("271 states, 567 transitions"), "{said}");
    let (code, said) = warpstep(&folder, &[&launch[..], &checkpoint].concat());
    assert!(code == 2 && said.contains("other options"), "{said}");
}

#[test]
fn a_limit_is_never_a_proof() {
    let (folder, target) = (folder("limit"), file("tests/ui/stuck/lock_in_one_warp.ptx"));
    let few = ["prove", &target, "--block", "2", "--control", "its", "--max-states", "3"];
    let (code, said) = warpstep(&folder, &few);
    assert!(code == 3 && said.contains("limit reached: 3 states") && !said.contains("holds"), "{said}");
}

#[test]
fn a_limit_in_a_warp_of_many_lanes_says_that_few_would_do() {
    let (folder, target) = (folder("fewer"), file("tests/ui/stuck/lock_in_one_warp.ptx"));
    let few = ["prove", &target, "--block", "32", "--control", "its", "--max-states", "3"];
    let (code, said) = warpstep(&folder, &few);
    assert!(code == 3 && said.contains("32 lanes in a warp") && said.contains("--block 4 --warp-size 4"), "{said}");
    let stood = "in the last state of the search, where the warps were (31 threads):";
    assert!(said.contains(stood) && said.contains("lock_in_one_warp.ptx:18  atom.global.cas.b32"), "{said}");
    let (_, said) = warpstep(&folder, &[&few[..], &["--warp-size", "4"]].concat());
    assert!(!said.contains("lanes in a warp"), "{said}");
}

/// What a target says of itself under some flags: the exit code, states, and contents of memory.
fn counted(name: &str, flags: &[&str]) -> (i32, u64, u64) {
    let folder = folder(&format!("counted_{}", name.replace('/', "_")));
    let target = file(name);
    let json = ["--format", "json"];
    let arguments: Vec<&str> = ["prove", &target].iter().chain(flags).chain(&json).copied().collect();
    let (code, said) = warpstep(&folder, &arguments);
    let value: Value = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}"));
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
    let apart = file("tests/prove/apart.toml");
    assert_eq!(counted(target, &["--memory", "fermi", "--device", &apart]), (0, 8801, 4));
    // A run that a search on caches found is an ordinary one, which can be seen again and made short.
    let (folder, target) = (folder("stale"), file("tests/prove/stale.toml"));
    let (code, said) = warpstep(&folder, &["prove", &target, "--memory", "fermi", "--device", &apart]);
    assert!(code == 1 && said.contains("refuted (control crs, memory fermi, progress fair)"), "{said}");
    let (code, said) = warpstep(&folder, &["replay", "stale.prove.schedule"]);
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
    let schedule = std::fs::read_to_string(folder.join("torn.prove.schedule")).unwrap();
    assert!(schedule.contains("--lanes split"), "{schedule}");
    let (code, said) = warpstep(&folder, &["replay", "torn.prove.schedule"]);
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
    let schedule = std::fs::read_to_string(folder.join("handoff.prove.schedule")).unwrap();
    assert!(schedule.contains("--its-split") && schedule.contains("\nlanes 1\n"), "{schedule}");
    let (code, said) = warpstep(&folder, &["replay", "handoff.prove.schedule"]);
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
    assert!(code == 3 && said.contains("--warp-size"), "{said}");
}

/// What a target comes to: as JSON, without exit code.
pub fn proof(folder: &Path, arguments: &[&str]) -> Value {
    let (code, said) = warpstep(folder, &[&["prove", "--format", "json"], arguments].concat());
    let value: Value = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}"));
    assert_eq!(value["exit"], code, "{said}");
    value
}

#[test]
fn a_search_goes_on_where_it_stopped_and_comes_to_the_same() {
    let folder = folder("checkpoint");
    let (lock, deadlock) = (file("tests/ui/stuck/lock_in_one_warp.ptx"), file("tests/schedules/locks.toml"));
    let [torn, stale, apart] = ["torn", "stale", "apart"].map(|name| file(&format!("tests/prove/{name}.toml")));
    for (k, (step, arguments)) in [
        (1, &[&torn, "--warp-size", "2", "--lanes", "split"][..]),
        (1, &[&lock, "--block", "2", "--control", "its", "--strong"]),
        (1, &[&lock, "--block", "2", "--control", "crs"]),
        (7, &[&deadlock, "--progress", "obe"]),
        (17, &[&deadlock, "--preemptions", "2"]),
        (900, &[&stale, "--memory", "fermi", "--device", &apart]),
    ]
    .into_iter()
    .enumerate()
    {
        let whole = proof(&folder, arguments);
        let (name, step) = (format!("{k}.checkpoint"), step.to_string());
        let _ = std::fs::remove_file(folder.join(&name));
        let bounds = ["--checkpoint", &name, "--max-states", &step];
        let mut parts = 0;
        let resumed = loop {
            parts += 1;
            let value = proof(&folder, &[arguments, &bounds].concat());
            let limit = value["limit"].as_str().unwrap_or_default().to_owned();
            if !limit.contains("state") {
                break value;
            }
            // Nothing is proved, and nothing refuted that is not in the end.
            assert_ne!(value["verdict"], "holds", "{arguments:?}");
            assert!(value["verdict"] == "limit" || whole["verdict"] == "refuted", "{arguments:?} {value}");
        };
        assert_eq!(resumed, whole, "{arguments:?} in {parts} parts");
        assert!(parts > 1, "{arguments:?}: {parts}");
        // What is done is not done again.
        assert_eq!(proof(&folder, &[arguments, &bounds].concat()), whole);
    }
}

#[test]
fn a_search_whose_states_need_too_much_memory_goes_on_with_more() {
    let (folder, lock) = (folder("memory"), file("tests/ui/stuck/lock_in_one_warp.ptx"));
    let _ = std::fs::remove_file(folder.join("c"));
    let arguments = [&lock[..], "--block", "12", "--warp-size", "2", "--control", "its", "--no-symmetry"];
    let whole = proof(&folder, &arguments);
    let within = |size| [&arguments[..], &["--checkpoint", "c", "--search-memory", size]].concat();
    let mut before = 0;
    for (size, cap) in [("256K", 262_144), ("512K", 524_288)] {
        let (code, said) = warpstep(&folder, &[&["prove"], &within(size)[..]].concat());
        let of = format!(
            " bytes, {cap} are allowed; what was done is kept in c: the same command with more --search-memory"
        );
        assert!(code == 3 && said.contains("limit reached: the search takes ") && said.contains(&of), "{said}");
        let states: u64 = said.lines().find_map(|l| l.split_once(" states, ")?.0.parse().ok()).unwrap();
        assert!(before < states && states < whole["states"].as_u64().unwrap(), "{before} {states} {whole}");
        before = states;
    }
    assert_eq!(proof(&folder, &within("64M")), whole);
}

#[test]
fn a_search_of_a_litmus_test_goes_on_where_it_stopped() {
    let folder = folder("litmus");
    let test = "PTX SB\n{ x=0; y=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.weak x, 1 | st.weak y, 1 ;\n \
                ld.weak r0, y | ld.weak r0, x ;\nexists (P0:r0 == 0 /\\ P1:r0 == 0)\n";
    std::fs::write(folder.join("sb.litmus"), test).unwrap();
    std::fs::write(folder.join("other.litmus"), test.replace("== 0 /", "== 1 /")).unwrap();
    for (k, (step, flags)) in [
        (1, &[][..]),
        (3, &["--lanes", "split", "--reduction", "none"]),
        (2000, &["--memory", "fermi", "--device", "tiny"]),
    ]
    .into_iter()
    .enumerate()
    {
        let (arguments, name, step) = ([&["sb.litmus"], flags].concat(), format!("{k}.checkpoint"), step.to_string());
        let whole = proof(&folder, &arguments);
        assert_eq!((&whole["complete"], &whole["limit"]), (&true.into(), &Value::Null), "{whole}");
        let _ = std::fs::remove_file(folder.join(&name));
        let bounds = ["--checkpoint", &name, "--max-states", &step];
        let mut parts = 1;
        let resumed = loop {
            let value = proof(&folder, &[&arguments[..], &bounds].concat());
            if value["limit"].is_null() {
                break value;
            }
            parts += 1;
            // A witness settles it at any time, nothing else does before the end.
            assert_ne!(value["holds"], false, "{arguments:?}: {value}");
        };
        assert_eq!(resumed, whole, "{arguments:?} in {parts} parts");
        assert!(parts > 1, "{arguments:?}");
        let refused = |arguments: &[&str], why: &str| {
            let (code, said) = warpstep(&folder, &[&["prove"], arguments, flags, &bounds].concat());
            assert!(code == 2 && said.contains(why), "{arguments:?}: {said}");
        };
        refused(&["other.litmus"], "belongs to another program");
        refused(&["sb.litmus", "--control", "crs"], "belongs to another launch");
    }
    let cut_off = ["prove", "sb.litmus", "--checkpoint", "text", "--max-states", "2"];
    let _ = std::fs::remove_file(folder.join("text"));
    let (code, said) = warpstep(&folder, &cut_off);
    let kept = "limit reached: 2 states; what was done is kept in text: the same command goes on from there";
    assert!(code == 3 && said.contains(kept), "{said}");
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let folder = folder("refused");
    let lock = file("tests/ui/stuck/lock_in_one_warp.ptx");
    let search = ["prove", &lock, "--block", "8", "--control", "its", "--checkpoint", "c", "--max-states", "4"];
    let _ = std::fs::remove_file(folder.join("c"));
    let (code, said) = warpstep(&folder, &search);
    let kept = "limit reached: 4 states; what was done is kept in c: the same command goes on from there";
    assert!(code == 3 && said.contains(kept), "{said}");
    let refused = |arguments: &[&str], why: &str| {
        let (code, said) = warpstep(&folder, arguments);
        assert!(code == 2 && said.contains(why) && said.contains('c'), "{arguments:?}: {said}");
    };
    let with = |flags: &[&'static str]| search.iter().copied().chain(flags.iter().copied()).collect::<Vec<_>>();
    refused(&with(&["--reduction", "none"]), "is of a search with other options");
    refused(&with(&["--progress", "obe"]), "is of a search with other options");
    refused(&with(&["--preemptions", "1"]), "is of a search with other options");
    refused(&with(&["--lanes", "split"]), "belongs to another launch");
    let other = file("tests/schedules/atomicity.toml");
    refused(&["prove", &other, "--checkpoint", "c"], "belongs to another program");
    refused(&["hunt", &lock, "--block", "2", "--control", "its", "--checkpoint", "c"], "is a checkpoint of `prove`");
    refused(&["prove", &other, "--checkpoint", "c", "--audit"], "--audit");
    let good = std::fs::read(folder.join("c")).unwrap();
    for (damaged, why) in [
        (good[..good.len() - 1].to_vec(), "was cut off or edited"),
        (good.iter().copied().chain([0]).collect(), "was cut off or edited"),
        (
            good.iter().enumerate().map(|(k, b)| if k == good.len() - 40 { !b } else { *b }).collect(),
            "was cut off or edited",
        ),
        (b"hello".to_vec(), "is no checkpoint"),
        (String::from_utf8_lossy(&good).replacen("checkpoint 4", "checkpoint 3", 1).into_bytes(), "another format"),
        (String::from_utf8_lossy(&good).replacen("prove 0.", "prove 9.", 1).into_bytes(), "cut off or edited"),
    ] {
        std::fs::write(folder.join("c"), damaged).unwrap();
        refused(&search, why);
    }
    std::fs::write(folder.join("c"), good).unwrap();
    assert_eq!(warpstep(&folder, &search).0, 3);
    // A folder cannot be one.
    let mut nowhere = search;
    nowhere[7] = "/";
    refused(&nowhere, "cannot use checkpoint");
}

#[test]
fn what_a_limit_left_out_is_not_called_unfair() {
    // Every search of it that stops early knows less, and nothing else.
    let (folder, lock) = (folder("early"), file("tests/ui/stuck/lock_in_one_warp.ptx"));
    for most in 1..20 {
        let most = most.to_string();
        for more in [&[][..], &["--reduction", "none"]] {
            let flags = [&lock, "--block", "2", "--control", "its", "--max-states", &most];
            let value = proof(&folder, &[&flags[..], more].concat());
            assert_ne!(value["verdict"], "refuted", "{most} {more:?} {value}");
        }
    }
}

/// Sends SIGINT to a search that has begun; gives its exit code and what it said.
fn interrupted(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_warpstep"))
        .args(arguments)
        .current_dir(folder)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    if !sent.is_ok_and(|s| s.success()) {
        let _ = child.kill();
        panic!("the search had ended before it was interrupted, or there is no `kill`");
    }
    let out = child.wait_with_output().unwrap();
    let said = [out.stdout, out.stderr].map(|b| String::from_utf8_lossy(&b).into_owned()).concat();
    (out.status.code().unwrap_or(-1), said)
}

#[cfg(unix)]
#[test]
fn who_is_interrupted_tells_what_was_found() {
    let (folder, big, fine) = (folder("interrupted"), file("tests/prove/big.toml"), file("tests/prove/pairs.toml"));
    let _ = std::fs::remove_file(folder.join("c"));
    let (code, said) = interrupted(&folder, &["prove", &big, "--checkpoint", "c"]);
    assert!(code == 3 && said.contains("interrupted (control its"), "{code} {said}");
    assert!(said.contains("states, ") && said.contains("kept in c: the same command goes on"), "{said}");
    let states = |said: &str| said.lines().find_map(|l| l.split_once(" states, ")?.0.parse::<u64>().ok()).unwrap();
    let (_, more) = warpstep(&folder, &["prove", &big, "--checkpoint", "c", "--max-states", "10"]);
    assert!(states(&more) > states(&said), "{said} {more}");
    let (code, said) = interrupted(&folder, &["hunt", &fine, "--seeds", "1000000000"]);
    assert!(code == 3 && said.contains("interrupted") && said.contains("no distinct defects"), "{code} {said}");
}

#[test]
fn small_spaces_are_drawn_and_large_ones_are_not() {
    let (folder, lock) = (folder("drawn"), file("tests/ui/stuck/lock_in_one_warp.ptx"));
    let flags = ["prove", &lock, "--block", "2", "--control", "crs", "--dot", "g.dot"];
    let (code, said) = warpstep(&folder, &flags);
    let dot = std::fs::read_to_string(folder.join("g.dot")).unwrap();
    assert!(code == 1 && dot.starts_with("digraph ") && dot.contains("block 0, warp 0"), "{said} {dot}");
    // A cycle of two states is coloured.
    let coloured = dot.lines().filter(|l| l.contains("#f4dcb6")).count();
    let states: usize = said.lines().find_map(|l| l.split_once(" states, ")?.0.parse().ok()).unwrap();
    let drawn = dot.lines().filter(|l| l.contains("[label=") && !l.contains("->")).count();
    assert!(coloured > 0 && drawn == states, "{coloured} {drawn} {states}\n{dot}");
    let big = file("tests/prove/big.toml");
    let (code, said) = warpstep(&folder, &["prove", &big, "--max-states", "600", "--dot", "big.dot"]);
    assert!(code == 3 && said.contains("big.dot is not written: 601 states are too many"), "{said}");
    assert!(!folder.join("big.dot").exists());
}

#[test]
fn a_schedule_of_a_schedule_names_the_target() {
    let (folder, target) = (folder("resaved"), file("tests/prove/torn.toml"));
    let (code, _) = warpstep(&folder, &["prove", &target, "--warp-size", "2", "--lanes", "split"]);
    assert_eq!(code, 1);
    let (code, said) = warpstep(&folder, &["replay", "torn.prove.schedule", "--save-schedule", "again.schedule"]);
    assert_eq!(code, 1, "{said}");
    let [first, again] = ["torn.prove", "again"].map(|n| std::fs::read_to_string(folder.join(format!("{n}.schedule"))));
    assert_eq!(again.unwrap(), first.unwrap());
}

/// The kernels of `tests/hangs` and the flags of their launches.
pub fn hangs() -> Vec<(String, Vec<String>)> {
    let mut files: Vec<_> = std::fs::read_dir(file("tests/hangs")).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "ptx"));
    files.sort();
    let flags = |f: &PathBuf| {
        let text = std::fs::read_to_string(f).unwrap();
        let args = text.lines().next().and_then(|l| l.strip_prefix("// args: ")).unwrap();
        // A device is named beside the kernel.
        let word = |w: &str| if w.ends_with(".toml") { file(&format!("tests/hangs/{w}")) } else { w.into() };
        args.split_whitespace().map(word).collect()
    };
    files.iter().map(|f| (f.display().to_string(), flags(f))).collect()
}

#[test]
fn what_a_search_finds_is_shown_by_an_ordinary_run() {
    let folder = folder("shown");
    let mut refuted = 0;
    let mut shown = |target: &str, flags: &[&str]| {
        let (code, said) = warpstep(&folder, &[&["prove", target, "--save-schedule", "x"], flags].concat());
        assert!(!said.contains("a defect of warpstep"), "{target} {flags:?}: {said}");
        assert!([0, 1, 3].contains(&code), "{target} {flags:?}: {code} {said}");
        refuted += u32::from(code == 1);
    };
    for (target, launch) in hangs() {
        let launch: Vec<&str> = launch.iter().map(String::as_str).collect();
        for control in [&["its"][..], &["its", "--its-split"], &["thread"], &["crs"]] {
            for memory in [["--memory", "fermi"], ["--lanes", "split"]] {
                // What such a hang is called is asked of a search of its own, without bounds that could be set.
                if control != ["crs"] || memory[1] != "fermi" {
                    let bounds = ["--max-states", "40", "--control"];
                    shown(&target, &[&launch[..], &memory, &bounds, control].concat());
                }
            }
        }
    }
    // A register is written a micro step before it is released, and belongs to the state from then on.
    let lock = file("tests/ui/stuck/lock_in_one_warp.ptx");
    let flags = ["--block", "2", "--warp-size", "2", "--max-states", "2000", "--control", "crs", "--memory", "fermi"];
    shown(&lock, &flags);
    assert!(refuted > 50, "{refuted}");
}

#[test]
fn a_loop_without_memory_is_searched_to_its_end() {
    let (folder, target) = (folder("computes"), file("tests/ui/stuck/endless.ptx"));
    let (code, said) = warpstep(&folder, &["prove", &target, "--block", "1", "--control", "thread"]);
    assert!(code == 1 && said.contains("may run for ever"), "{said}");
}

#[test]
fn a_comparison_says_which_models_hang_and_shows_each() {
    let (folder, target) = (folder("compare"), file("tests/ui/stuck/lock_in_one_warp.ptx"));
    let arguments = ["compare", &target, "--block", "2", "--warp-size", "2", "--max-states", "2000", "--seeds", "3"];
    let (code, said) = warpstep(&folder, &[&arguments[..], &["--format", "json"]].concat());
    let told: Value = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}"));
    assert_eq!((code, &told["exit"]), (1, &1.into()), "{said}");
    let models = told["models"].as_array().unwrap();
    assert_eq!(models.len(), 12);
    let kind = |letter: &Value| {
        let fate = told["fates"].as_array().unwrap().iter().find(|f| f["letter"] == *letter).unwrap();
        fate["kind"].as_str().unwrap().to_owned()
    };
    for model in models.iter().filter(|m| m["lanes"] == "whole") {
        let seen = model["seen"].as_array().unwrap();
        let kinds: Vec<String> = seen.iter().map(|s| kind(&s["letter"])).collect();
        let wanted = if model["control"] == "crs" { "simt-deadlock" } else { "expected" };
        assert_eq!(kinds, [wanted], "{model}");
        assert_eq!(model["complete"], true, "{model}");
        for schedule in seen.iter().map(|s| s["schedule"].as_str().unwrap()) {
            let (code, said) = warpstep(&folder, &["replay", schedule]);
            assert_eq!(code, i32::from(wanted != "expected"), "{said}");
        }
    }
    let (code, said) = warpstep(&folder, &arguments);
    assert!(code == 1 && said.contains("none was seen, and not all were searched"), "{said}");
    let (code, said) = warpstep(&folder, &[&arguments[..], &["--control", "its"]].concat());
    assert!(code == 2 && said.contains("all models are compared"), "{said}");
}

#[test]
fn what_never_ends_has_a_class_where_memory_acts_on_its_own() {
    let folder = folder("classes");
    let (lock, locks) = (file("tests/ui/stuck/lock_in_one_warp.ptx"), file("tests/schedules/locks.toml"));
    for (arguments, class) in [
        (&[&lock[..], "--block", "2", "--control", "crs", "--lanes", "split"][..], "simt-deadlock"),
        (&[&lock, "--block", "2", "--control", "crs", "--memory", "fermi", "--device", "tiny"], "simt-deadlock"),
        (&[&locks, "--lanes", "split"], "livelock"),
    ] {
        let value = proof(&folder, arguments);
        let endless = value["endless"].as_array().unwrap();
        assert!(!endless.is_empty(), "{arguments:?}: {value}");
        for one in endless {
            let hang = &one["why"]["details"]["hang"];
            assert_eq!(hang["class"], class, "{arguments:?}: {one}");
            if class == "simt-deadlock" {
                // What memory holds behind its caches: somebody has the lock.
                assert_eq!(hang["reads"][0]["values"], Value::from(vec![0]), "{arguments:?}: {one}");
                assert_eq!(hang["reads"][0]["writers"].as_array().map(Vec::len), Some(1), "{arguments:?}: {one}");
            }
        }
    }
}
