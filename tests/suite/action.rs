//! The GitHub Action, `action.yml`: its scripts, run as a runner does, and its inputs.
#![cfg(unix)]

use super::{Project, root};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

fn action() -> String {
    std::fs::read_to_string(root().join("action.yml")).unwrap()
}

/// The script of the step of a name.
fn script(name: &str) -> String {
    let text = action();
    let step = text.split("\n    - name: ").find(|step| step.starts_with(&format!("{name}\n"))).unwrap();
    let (_, body) = step.split_once("      run: |\n").unwrap();
    body.lines().map_while(|line| line.strip_prefix("        ")).map(|line| format!("{line}\n")).collect()
}

/// Runs a step's script in the project's folder with variables; its outputs are in the file `outputs`.
fn ran(project: &Project, step: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script(step)]).current_dir(project.path("."));
    command.env("GITHUB_OUTPUT", project.path("outputs")).envs(variables.iter().copied()).output().unwrap()
}

/// What the action's inputs are where a workflow says nothing, as variables of the step that tests.
const DEFAULTS: [(&str, &str); 8] = [
    ("SEEDS", "20"),
    ("CHECKS", "races,bounds,uninit"),
    ("TIMEOUT", "5m"),
    ("MAX_MEMORY", ""),
    ("JUNIT", ""),
    ("SARIF", "warpstep.sarif"),
    ("SOURCE_ROOT", "."),
    ("ARGUMENTS", ""),
];

#[test]
fn inputs_are_words_and_nothing_else() {
    let project = Project::new();
    project.write("told.sh", "#!/bin/sh\nprintf '%s\\n' \"$@\" > words\nexit 3\n");
    std::fs::set_permissions(project.path("told.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let given = [
        ("BINARY", "./told.sh"),
        ("PATHS", "t/*.toml\n  $(touch bad) `touch bad`"),
        ("SEEDS", "1; touch bad"),
        ("JUNIT", "a b.xml"),
        ("ARGUMENTS", "--control its --fail-fast"),
    ];
    let done = ran(&project, "Test", &[&DEFAULTS[..], &given].concat());
    let words = project.read("words");
    let expected = "test|--format|github|--seeds|1; touch bad|--timeout|5m|--source-root|.|--check|races,bounds,uninit|--junit|a b.xml|\
        --sarif|warpstep.sarif|--control|its|--fail-fast|--|t/*.toml|$(touch|bad)|`touch|bad`|";
    assert_eq!(words.replace('\n', "|"), expected);
    assert!(!project.path("bad").exists());
    assert_eq!((done.status.code(), project.read("outputs").as_str()), (Some(3), "exit-code=3\n"));
}

#[test]
fn a_failure_is_annotated_and_written() {
    let project = Project::new();
    project.launch("c-far.toml", "far.ptx", "");
    let given = [("BINARY", env!("CARGO_BIN_EXE_warpstep")), ("PATHS", "t"), ("JUNIT", "junit.xml")];
    let done = ran(&project, "Test", &[&DEFAULTS[..], &given].concat());
    let out = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(1), "{out}");
    assert!(out.contains("::error file=src/k.cu,line=13"), "{out}");
    assert_eq!(project.read("outputs"), "exit-code=1\n");
    assert!(project.read("junit.xml").contains("<failure") && project.read("warpstep.sarif").contains("src/k.cu"));
}

#[test]
fn a_build_is_kept_for_the_sources_that_it_was_made_of() {
    let project = Project::new();
    for name in ["Cargo.toml", "Cargo.lock", "src/lib.rs", "core/a.rs", "analysis/a.rs", "cli/a.rs", "docs/a.md"] {
        project.write(&format!("action/{name}"), name);
    }
    let source = project.path("action");
    let hash = || {
        let done = ran(&project, "What the build is made of", &[("SOURCE", source.to_str().unwrap())]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let outputs = project.read("outputs");
        std::fs::remove_file(project.path("outputs")).unwrap();
        outputs
    };
    let first = hash();
    assert!(first.starts_with("hash=") && first.trim_end().len() == 45, "{first}");
    project.write("action/docs/a.md", "other words");
    assert_eq!(hash(), first);
    project.write("action/core/a.rs", "other words");
    let second = hash();
    assert_ne!(second, first);
    std::fs::rename(project.path("action/cli/a.rs"), project.path("action/cli/b.rs")).unwrap();
    assert_ne!(hash(), second);
}

#[test]
fn every_input_is_used_and_none_is_written_into_a_script() {
    let text = action();
    let (_, inputs) = text.split_once("\ninputs:\n").unwrap();
    let names = inputs.lines().take_while(|line| !line.starts_with("outputs"));
    let declared: BTreeSet<&str> =
        names.filter(|line| !line.starts_with("   ")).filter_map(|line| line.trim().strip_suffix(':')).collect();
    let others = |c: char| !c.is_ascii_lowercase() && c != '-';
    let used: BTreeSet<&str> = text.split("inputs.").skip(1).map(|rest| rest.split(others).next().unwrap()).collect();
    assert_eq!(used, declared);
    for step in ["What the build is made of", "Test"] {
        assert!(!script(step).contains("${{"), "{step}");
    }
    let scripts = text.matches(" run: ").count();
    assert_eq!(scripts, 3, "the third is one line: `cargo install` of variables");
    assert!(text.contains("      run: cargo install --locked --path \"$SOURCE\" --root \"$INTO\"\n"));
}
