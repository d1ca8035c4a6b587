//! Undefined values (`--check uninit`) and the device runtime: what is wrong is told, with where it comes from, and nothing
//! else is.
//!
//! The kernels of `tests/undefined/kernels` and `tests/undefined/runtime` are in pairs, defect and repaired, each run on
//! every kind of memory; `// not:` are words that must not be there, `// memory: flat` says that a kernel is for that one.

use crate::case::Case;
use std::path::Path;
use std::process::Command;

/// The flags of each kind of memory.
const MEMORIES: [&[&str]; 3] = [&[], &["--lanes", "split"], &["--memory", "fermi"]];

/// What a run of a case has wrong.
fn wrong(case: &Case, memory: &[&str]) -> Option<String> {
    let arguments = [&case.arguments()[..], memory].concat();
    let output = case.run(&arguments).unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let exit: Option<i32> = case.header("exit").first().and_then(|code| code.parse().ok());
    let missing = case.header("says").into_iter().find(|words| !text.contains(words));
    let said = case.header("not").into_iter().find(|words| text.contains(words));
    let good = output.status.code() == exit && missing.is_none() && said.is_none();
    (!good).then(|| {
        format!("{}: exit {:?}, not said {missing:?}, said {said:?}\n{text}", arguments.join(" "), output.status)
    })
}

/// Runs all kernels of a folder on every kind of memory that they are for.
fn all_are_right(folder: &str, least: usize) {
    let (mut runs, mut bad) = (0, Vec::new());
    for case in Case::below(folder) {
        let memories = if case.header("memory").is_empty() { &MEMORIES[..] } else { &MEMORIES[..1] };
        runs += memories.len();
        let name = case.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        bad.extend(memories.iter().filter_map(|m| wrong(&case, m)).map(|w| format!("{name}: {w}")));
    }
    assert!(bad.is_empty() && runs >= least, "{runs} runs\n{}", bad.join("\n"));
}

#[test]
fn undefined_values_are_told_with_their_origins() {
    all_are_right("tests/undefined/kernels", 75);
}

/// Runs `warpstep` in the folder of the kernels; its exit code and all that it says.
fn warpstep(arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/undefined");
    let output = command.args(arguments).current_dir(folder).env("NO_COLOR", "1").output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), text)
}

/// The name of a file that is gone at the end.
struct Temporary(String);

impl Temporary {
    fn new(name: &str) -> Self {
        let file = format!("warpstep-undefined-{name}-{}.schedule", std::process::id());
        Self(std::env::temp_dir().join(file).display().to_string())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It may not have been written.
        drop(std::fs::remove_file(&self.0));
    }
}

/// What of `words` a report lacks.
fn missing<'a>(text: &str, words: &[&'a str]) -> Vec<&'a str> {
    words.iter().filter(|w| !text.contains(**w)).copied().collect()
}

#[test]
fn launch_files_and_scripts_leave_buffers_alone() {
    let origin = "origin: byte 120 of buffer `x`, read at copy.ptx:14";
    for command in ["run", "hunt", "prove"] {
        let (schedule, mut words) = (Temporary::new(command), vec![command, "launch.toml", "--check", "uninit"]);
        if command != "run" {
            words.extend(["--save-schedule", &schedule.0]);
        }
        let (code, text) = warpstep(&words);
        assert_eq!((code, missing(&text, &["[uninitialised]", origin])), (Some(1), vec![]), "{command}: {text}");
    }
    for good in ["written.toml", "script.toml"] {
        let (code, text) = warpstep(&["run", good, "--check", "uninit"]);
        assert_eq!(code, Some(0), "{text}");
    }
    let (code, text) = warpstep(&["run", "script_defect.toml", "--check", "uninit"]);
    let origin = "origin: byte 0 of buffer `y`, read at copy.ptx:14";
    assert_eq!((code, missing(&text, &["[uninitialised]", origin])), (Some(1), vec![]), "{text}");
}

#[test]
fn a_schedule_shows_the_same_origin_again() {
    let schedule = Temporary::new("replayed");
    let (code, text) = warpstep(&["hunt", "launch.toml", "--check", "uninit", "--save-schedule", &schedule.0]);
    assert_eq!(code, Some(1), "{text}");
    let (code, text) = warpstep(&["replay", &schedule.0]);
    assert_eq!((code, missing(&text, &["origin: byte 120 of buffer `x`"])), (Some(1), vec![]), "{text}");
}

#[test]
fn a_hunt_finds_the_race_that_makes_a_value_undefined() {
    let schedule = Temporary::new("hunted");
    let words = "hunt kernels/barrier_races.defect.ptx --seeds 4 --block 64 --buffer out:u32:64=zeros --arg buffer:out";
    let words: Vec<&str> =
        words.split(' ').chain(["--check", "uninit,races", "--save-schedule", &schedule.0]).collect();
    let (code, text) = warpstep(&words);
    assert_eq!((code, missing(&text, &["[race]"])), (Some(1), vec![]), "{text}");
    assert!(!text.contains("[uninitialised]"), "{text}");
}

#[test]
fn what_was_not_written_holds_no_zeros() {
    let (code, text) = warpstep(&["run", "launch.toml", "--print", "x"]);
    assert_eq!((code, missing(&text, &["29", "3452816845"])), (Some(0), vec![]), "{text}");
}

#[test]
fn the_origin_is_in_json() {
    let (code, text) = warpstep(&["run", "launch.toml", "--check", "uninit", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let origin = &value["stopped"]["details"]["origin"];
    let told = (&origin["inside"]["name"], &origin["inside"]["offset"], &origin["read"]["line"], &origin["written"]);
    assert_eq!(code, Some(1));
    assert_eq!(told, (&"x".into(), &120.into(), &14.into(), &"later".into()), "{text}");
}

#[test]
fn the_device_runtime_tells_what_it_is_given() {
    all_are_right("tests/undefined/runtime", 75);
}

#[test]
fn leaks_are_found_by_every_command() {
    let leak = "runtime/leaks.one.ptx --buffer out:u64:32 --arg buffer:out --check leaks";
    for command in ["run", "hunt", "prove"] {
        let (schedule, mut words) = (Temporary::new(&format!("leak-{command}")), vec![command]);
        words.extend(leak.split(' '));
        if command != "run" {
            words.extend(["--save-schedule", &schedule.0]);
        }
        let (code, text) = warpstep(&words);
        assert_eq!((code, missing(&text, &["[leak]"])), (Some(1), vec![]), "{command}: {text}");
        if command != "run" {
            let (code, text) = warpstep(&["replay", &schedule.0]);
            assert_eq!((code, missing(&text, &["[leak]"])), (Some(1), vec![]), "{command}, replayed: {text}");
        }
    }
}

#[test]
fn tolerances_are_finite() {
    for bad in ["inf", "nan", "-1.0", "1e999"] {
        for key in ["abs", "rel"] {
            let flag = format!("out=zeros;{key}={bad}");
            let words = "run runtime/leaks.unasked.ptx --buffer out:u64:32 --arg buffer:out --expect";
            let words: Vec<&str> = words.split(' ').chain([flag.as_str()]).collect();
            let (code, text) = warpstep(&words);
            assert_eq!(
                (code, missing(&text, &[&format!("--expect {key}={bad}"), "finite"])),
                (Some(2), vec![]),
                "{text}"
            );

            let file = Temporary::new(&format!("tolerance-{key}{bad}"));
            let toml = format!(
                "ptx = '{}/tests/undefined/copy.ptx'\n[buffers.out]\ntype = 'u32'\nlen = 32\ninit = 'zeros'\n[expect.out]\n\
                 values = [0]\nfirst = 1\n{key} = {bad}\n[[launch]]\nentry = 'copy'\ngrid = 1\nblock = 32\n\
                 args = [{{ buffer = 'out' }}, {{ buffer = 'out' }}]\n",
                env!("CARGO_MANIFEST_DIR")
            );
            let name = file.0.replace(".schedule", ".toml");
            std::fs::write(&name, toml).unwrap();
            let (code, text) = warpstep(&["run", &name]);
            std::fs::remove_file(&name).unwrap();
            assert_eq!(code, Some(2), "{key} = {bad}: {text}");
        }
    }
}
