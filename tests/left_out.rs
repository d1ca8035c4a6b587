//! What searches leave out changes nothing of what they come to, and where a limit ends them they say what would be smaller.

use crate::prove::{file, folder, hangs, proof, warpstep};
use serde_json::Value;

/// What a proof comes to: the verdict, how many contents of memory runs leave, and the classes of those that never end. `None`: a
/// limit was reached.
fn comes_to(value: &Value) -> Option<(String, usize, Vec<String>)> {
    let list = |key: &str| value[key].as_array().map_or(&[][..], |list| &list[..]);
    let mut classes: Vec<String> = list("endless").iter().map(|e| e["class"].to_string()).collect();
    classes.sort();
    classes.dedup();
    let verdict = value["verdict"].as_str().unwrap_or_default().to_owned();
    value["limit"].is_null().then_some((verdict, list("outcomes").len() + list("defects").len(), classes))
}

/// Nothing that is left out of a search changes what it comes to: some of the kernels of `tests/hangs`, or with `ALIKE_FULL` all,
/// under each control model.
#[test]
fn what_is_left_out_changes_no_verdict() {
    let folder = folder("left_out");
    let one_in = if std::env::var_os("ALIKE_FULL").is_some() { 1 } else { 16 };
    let (mut compared, mut fewer) = (0, 0);
    for (target, launch) in hangs().into_iter().step_by(one_in) {
        let launch: Vec<&str> = launch.iter().map(String::as_str).collect();
        for control in [&["its"][..], &["its", "--its-split"], &["thread"], &["crs"]] {
            let bounds = ["--max-states", "20000", "--save-schedule", "x", "--control"];
            let found =
                |flags: &[&str]| proof(&folder, &[&[&target[..]], &launch[..], flags, &bounds, control].concat());
            let [whole, apart, alike] = [&["--reduction", "none"][..], &["--no-symmetry"], &[]].map(found);
            let told = [&whole, &apart, &alike].map(comes_to);
            let Some(wanted) = &told[0] else { continue };
            for (found, left_out) in told[1..].iter().zip(["nobody is exchanged", "some are exchanged"]) {
                assert_eq!(found.as_ref(), Some(wanted), "{target} {launch:?} {control:?}, {left_out}");
            }
            compared += 1;
            fewer += usize::from(alike["states"].as_u64() < apart["states"].as_u64());
        }
    }
    println!("{compared} compared, in {fewer} of them somebody was exchanged");
    assert!(compared > 100 / one_in && (fewer > 16 || one_in > 1), "{compared} {fewer}");
}

/// Where a limit ends a search, it says what grows, and asks the same of fewer threads.
#[test]
fn a_limit_says_what_grows_and_answers_a_smaller_question() {
    let (folder, lock) = (folder("smaller"), file("benches/reach/lock.ptx"));
    let launch = ["prove", &lock, "--global", "x:u32=values:0", "--block", "24", "--warp-size", "1", "--no-symmetry"];
    let limited = |more: &[&str]| warpstep(&folder, &[&launch[..], &["--max-states", "30000"], more].concat());
    let (code, text) = limited(&[]);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("a smaller question has an answer: 1 block of "), "{text}");
    assert!(text.contains("threads end without a defect in every schedule"), "{text}");
    assert!(text.contains("what grows: states combine") && text.contains("lock.ptx:"), "{text}");
    let value: Value = serde_json::from_str(&limited(&["--format", "json"]).1).unwrap();
    let smaller = &value["smaller"];
    assert!(smaller["holds"] == true && smaller["blocks"] == 1 && smaller["threads"].as_u64() < Some(24), "{value}");
    // A search that was asked for part of all schedules says what it has seen of them.
    let (_, text) = limited(&["--preemptions", "9"]);
    assert!(!text.contains("a smaller question"), "{text}");
    // What was asked of the whole is asked of the part: a race is one there, too.
    let racy = file("tests/prove/race_of_one_order.ptx");
    let launch = ["--block", "4", "--control", "thread", "--buffer", "p:u32:2", "--arg", "buffer:p"];
    let races = [&["prove", &racy][..], &launch, &["--max-states", "1", "--check"]].concat();
    let (_, text) = warpstep(&folder, &[&races[..], &["races"]].concat());
    assert!(!text.contains("end without a defect"), "{text}");
    // Under the report's stack the lock of one warp is a deadlock, whatever limit was reached.
    let crs = ["prove", &lock, "--global", "x:u32=values:0", "--block", "64", "--control", "crs", "--max-states", "1"];
    let (_, text) = warpstep(&folder, &[&crs[..], &["--no-symmetry"]].concat());
    assert!(text.contains("refuted"), "{text}");
}

/// Lanes that jump back meet those behind them, there or on their way forward again: so does the run that shows it.
#[test]
fn lanes_that_jump_back_meet_others_on_their_way() {
    let (folder, atm) = (folder("atm"), file("benches/reach/atm.ptx"));
    let rest = ["--control", "its", "--global", "balances:u32=values:1000,1000"];
    for threads in ["2", "4", "6"] {
        let (code, text) = warpstep(&folder, &[&["prove", &atm, "--block", threads], &rest[..]].concat());
        assert!(code == 1 && text.contains("[livelock]"), "{threads}: {code} {text}");
    }
}
