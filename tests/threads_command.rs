//! `warpstep prove --threads`: on the kernels of `tests/hangs` and `benches/reach` several threads answer what one does, word for
//! word, and write the same schedules; what does not go together with them is refused, and limits hold.

use crate::prove::{file, folder, warpstep};
use serde_json::Value;
use std::path::Path;

/// The flags behind `of` in the first line of a kernel that has them.
fn flags(kernel: &Path, of: &str) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(kernel).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(of))?;
    let filled = line
        .replace("{n}", "3")
        .replace("{half}", "1")
        .replace("{warp}", "2")
        .replace("{table}", "0,1,1,0,2,1,0,3,1,0,0,0");
    Some(filled.split_whitespace().map(str::to_owned).collect())
}

/// The kernels of a folder, in order, with their flags.
fn kernels(of: &str, line: &str) -> Vec<(String, Vec<String>)> {
    let entries = std::fs::read_dir(file(of)).unwrap().map(|e| e.unwrap().path());
    let mut all: Vec<_> = entries.filter(|p| p.extension().is_some_and(|e| e == "ptx")).collect();
    all.sort();
    all.into_iter().filter_map(|p| Some((p.display().to_string(), flags(&p, line)?))).collect()
}

/// What a proof says, and the schedules that it writes; none where a limit ended it.
fn answer(threads: &str, kernel: &str, flags: &[&str]) -> Option<(i32, Value, Vec<String>)> {
    let at = folder(&format!("threads/{threads}"));
    for old in std::fs::read_dir(&at).unwrap() {
        std::fs::remove_file(old.unwrap().path()).unwrap();
    }
    let all = [&["prove", kernel, "--threads", threads, "--format", "json", "--max-states", "1500"], flags].concat();
    let (code, said) = warpstep(&at, &all);
    if code > 1 {
        return None;
    }
    let json: Value = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{all:?}: {e}: {said}"));
    if !json["limit"].is_null() {
        return None;
    }
    let mut written: Vec<_> = std::fs::read_dir(&at).unwrap().map(|e| e.unwrap().path()).collect();
    written.sort();
    Some((code, json, written.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()))
}

#[test]
fn several_threads_answer_as_one() {
    let (mut complete, mut refuted) = (0, 0);
    for (kernel, own) in kernels("tests/hangs", "// args: ").into_iter().chain(kernels("benches/reach", "// prove: ")) {
        for control in ["crs", "its", "thread"] {
            let flat = (&["--memory", "flat"][..], &["2", "3"][..]);
            for (memory, counts) in [flat, (&["--memory", "fermi", "--device", "tiny"], &["2"])] {
                let mut flags: Vec<&str> = own.iter().map(String::as_str).collect();
                if !flags.contains(&"--control") {
                    flags.extend(["--control", control]);
                }
                if !flags.contains(&"--memory") {
                    flags.extend(memory);
                }
                let Some(one) = answer("1", &kernel, &flags) else { continue };
                complete += 1;
                refuted += one.0;
                for threads in counts {
                    let several = answer(threads, &kernel, &flags);
                    assert_eq!(several.as_ref(), Some(&one), "{kernel} {flags:?} {threads}");
                }
            }
        }
    }
    assert!(complete > 80 && refuted > 20, "{complete} proofs came to their ends, {refuted} refute");
}

#[test]
fn limits_hold_and_say_that_counts_depend_on_threads() {
    let (folder, lock) = (folder("threads_limit"), file("benches/reach/lock.ptx"));
    let launch = ["prove", &lock, "--global", "x:u32=values:0", "--block", "128", "--warp-size", "1", "--no-symmetry"];
    let limits = [
        (&["--max-states", "1000"][..], "limit reached: 1000 states"),
        (&["--max-steps", "100000"], "limit reached: 100000"),
        (&["--search-memory", "30M"], "limit reached"),
        (&["--for", "300ms"], "limit reached"),
        (&["--timeout", "300ms"], "limit reached"),
    ];
    for (flags, says) in limits {
        let (code, said) = warpstep(&folder, &[&launch[..], &["--threads", "2"], flags].concat());
        assert!(code == 3 && said.contains(says), "{flags:?}: {said}");
        assert!(said.contains("depend on the 2 threads"), "{flags:?}: {said}");
    }
    let (_, said) = warpstep(&folder, &[&launch[..], &["--max-states", "1000"]].concat());
    assert!(!said.contains("depend on the"), "{said}");
}

#[test]
fn what_keeps_one_stack_is_refused() {
    let (folder, lock) = (folder("threads_refused"), file("benches/reach/lock.ptx"));
    for flags in [&["--checkpoint", "kept"][..], &["--audit"]] {
        let (code, said) = warpstep(&folder, &[&["prove", &lock, "--threads", "2"], flags].concat());
        assert!(code == 2 && said.contains("--threads") && said.contains(flags[0]), "{said}");
    }
    let test = file("tests/limits/mutexes.litmus");
    let (code, said) = warpstep(&folder, &["prove", &test, "--threads", "2"]);
    assert!(code == 2 && said.contains("--threads"), "{said}");
}

#[test]
fn where_one_thread_searches_it_is_said() {
    let (folder, lock) = (folder("threads_one"), file("benches/reach/lock.ptx"));
    let flags = ["prove", &lock, "--global", "x:u32=values:0", "--threads", "2", "--max-states", "500", "--block", "4"];
    for (memory, one) in [("rsp", true), ("lsc", true), ("flat", false)] {
        let (_, said) = warpstep(&folder, &[&flags[..], &["--memory", memory]].concat());
        assert_eq!(said.contains("one thread searched"), one, "{memory}: {said}");
    }
}
