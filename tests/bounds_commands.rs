//! `--check bounds` in every command that runs kernels, and on programs that are right.
//!
//! The defect of `tests/bounds/commands/schedule.ptx` shows under some schedules only: warp 0 reads an index that warp 1
//! writes, and is in bounds when it comes first. Nothing without the check finds it.

use std::path::Path;
use std::process::Command;

const KERNEL: &str = "tests/bounds/commands/schedule.ptx";
const FLAGS: [&str; 12] = [
    "--block",
    "64",
    "--buffer",
    "i:u32:1",
    "--buffer",
    "o:u8:64=zeros",
    "--arg",
    "buffer:i",
    "--arg",
    "buffer:o",
    "--check",
    "bounds",
];

/// Runs `warpstep` where what it writes is nobody's; its exit code and all that it says.
fn warpstep(arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
    let output =
        command.args(arguments).current_dir(env!("CARGO_TARGET_TMPDIR")).env("NO_COLOR", "1").output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), text)
}

fn with(command: &str, more: &[&str]) -> (Option<i32>, String) {
    warpstep(&[&[command, &kernel(KERNEL)][..], &FLAGS, more].concat())
}

fn kernel(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).display().to_string()
}

fn scratch(name: &str) -> String {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string()
}

/// What each report of the defect says.
fn told(text: &str) -> bool {
    text.contains("outside of the object that the address was made from")
        && text.contains("shared variable `a` of 64 bytes")
}

#[test]
fn hunt_replay_and_minimise_find_what_one_schedule_shows() {
    let (code, text) = with("run", &[]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = warpstep(&[&["hunt", &kernel(KERNEL)][..], &FLAGS[..10], &["--seeds", "50"]].concat());
    assert_eq!(code, Some(0), "without the check\n{text}");
    let (schedule, small) = (scratch("bounds.schedule"), scratch("bounds.small.schedule"));
    let (code, text) = with("hunt", &["--seeds", "200", "--save-schedule", &schedule]);
    assert!(code == Some(1) && told(&text), "{code:?}\n{text}");
    let (code, text) = warpstep(&["replay", &schedule]);
    assert!(code == Some(1) && told(&text), "{code:?}\n{text}");
    let (code, text) = warpstep(&["minimise", &schedule, "--output", &small]);
    assert!(matches!(code, Some(0 | 1)) && told(&text), "{code:?}\n{text}");
    let (code, text) = warpstep(&["replay", &small]);
    assert!(code == Some(1) && told(&text), "{code:?}\n{text}");
}

#[test]
fn prove_and_compare_find_it() {
    for command in ["prove", "compare"] {
        let (code, text) = with(command, &["--for", "8s"]);
        assert!(
            code == Some(1) && (told(&text) || text.contains("Access out of bounds at")),
            "{command}: {code:?}\n{text}"
        );
    }
    let (_, text) = with("prove", &[]);
    assert!(told(&text), "{text}");
}

#[test]
fn reports_name_the_origin() {
    let between = "tests/bounds/provenance/shared_between.ptx";
    let path = scratch("origin.ptx");
    let source = std::fs::read_to_string(kernel(between)).unwrap();
    std::fs::write(&path, source.replace("AT", "130")).unwrap();
    let (code, text) = warpstep(&["run", &path, "--check", "bounds", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let details = &value["stopped"]["details"];
    assert_eq!(
        (code, &details["origin"]["name"], &details["hit"]["name"]),
        (Some(1), &"b".into(), &"a".into()),
        "{text}"
    );
    let (code, text) = warpstep(&["run", &path, "--check", "bounds", "--format", "sarif"]);
    assert!(code == Some(1) && text.contains("\"out-of-bounds\""), "{text}");
}

#[test]
fn lost_origins_are_counted() {
    let path = scratch("lost.ptx");
    let source = std::fs::read_to_string(kernel(KERNEL)).unwrap();
    // A pointer made of two: whose it is, nobody knows.
    let lost = "xor.b64 %rd4, %rd4, %rd1;\n\txor.b64 %rd4, %rd4, %rd1;\n\tld.volatile.global.u32 %r3";
    std::fs::write(&path, source.replace("ld.volatile.global.u32 %r3", lost)).unwrap();
    let (code, text) = warpstep(&[&["run", &path][..], &FLAGS].concat());
    assert!(code == Some(0) && text.contains("note: bounds: 1 access whose origin was lost"), "{code:?}\n{text}");
}

/// Every launch file of the examples that ends well without the check does with it.
#[test]
fn examples_raise_no_alarm() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-examples");
    let mut files = Vec::new();
    for folder in std::fs::read_dir(root).unwrap().flatten() {
        for file in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            if name.starts_with("launch") && name.ends_with(".toml") {
                files.push(file.path().display().to_string());
            }
        }
    }
    files.sort();
    let mut checked = 0;
    for file in &files {
        let (code, text) = warpstep(&["run", file, "--check", "bounds"]);
        if code != Some(0) {
            let (without, _) = warpstep(&["run", file]);
            assert_eq!(code, without, "{file}\n{text}");
        }
        checked += usize::from(code == Some(0));
    }
    assert!(checked >= 60, "{checked} of {} examples", files.len());
}

/// The check is what finds these: without it each access hits its neighbour and nothing is said, so a check that forgets a
/// kind of object fails here.
#[test]
fn neighbours_are_hit_in_silence_without_the_check() {
    let of = [("spilled_32_bits", "130"), ("frame_of_the_caller", "33"), ("array_of_pointers", "4294967808")];
    for (name, at) in of {
        let source = std::fs::read_to_string(kernel(&format!("tests/bounds/provenance/{name}.ptx"))).unwrap();
        let path = scratch(&format!("silent-{name}.ptx"));
        let source =
            source.replace("add.s32 %r2, %r1, AT;\n\tcvt.s64.s32 %rd2, %r2;", "mov.u64 %rd2, AT;\n\tmov.u32 %r2, AT;");
        std::fs::write(&path, source.replace("mov.u32 %r2, AT", "mov.u32 %r2, 130").replace("AT", at)).unwrap();
        let line = source.lines().find_map(|l| l.strip_prefix("// args: run")).unwrap_or_default();
        let arguments: Vec<&str> = ["run", &path].into_iter().chain(line.split_whitespace()).collect();
        let (code, text) = warpstep(&arguments);
        assert_eq!(code, Some(0), "{name} without the check\n{text}");
        let (code, text) = warpstep(&[&arguments[..], &["--check", "bounds"]].concat());
        assert!(code == Some(1) && text.contains("made from"), "{name}: {code:?}\n{text}");
    }
}

/// Two programs of a context have variables of one name: each of them is its program's.
#[test]
fn variables_of_two_programs_are_told_apart() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host/two_programs.toml");
    for check in ["bounds", "races"] {
        let out = Command::new(env!("CARGO_BIN_EXE_warpstep"))
            .args(["run", &script.display().to_string(), "--check", check])
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    }
}
