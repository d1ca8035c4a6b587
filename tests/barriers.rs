//! Barriers and exchanges that not all whom they name take part in: programs with a defect and the same ones repaired.
//!
//! `tests/barriers/NAME.defect.ptx` says in its first lines what is found: `// default: KIND` without any flag, or
//! `// checked: KIND` by `--check barriers` only; `// crs: default KIND` or `// thread: checked KIND` where a control model
//! says it otherwise (where every thread runs on its own, others may have exited before the first one comes to a barrier).
//! `NAME.fixed.ptx` is accepted, with the check and without. Each is run under every control model.

use crate::case::Case;
use libtest_mimic::{Failed, Trial};

const CONTROLS: [&str; 3] = ["crs", "its", "thread"];
const CHECK: [&str; 2] = ["--check", "barriers"];

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    let all = Case::below("tests/barriers");
    let mut trials = vec![Trial::test("there_are_pairs", move || enough(&all))];
    for case in Case::below("tests/barriers") {
        trials.push(Trial::test(name(&case), move || check(&case)));
    }
    trials
}

fn name(case: &Case) -> String {
    case.path.file_stem().and_then(|s| s.to_str()).unwrap_or("").to_owned()
}

fn enough(all: &[Case]) -> Result<(), Failed> {
    let names: Vec<String> = all.iter().map(name).collect();
    let defects: Vec<&str> = names.iter().filter_map(|n| n.strip_suffix(".defect")).collect();
    if let Some(alone) = defects.iter().find(|n| !names.contains(&format!("{n}.fixed"))) {
        return Err(format!("{alone} is not repaired").into());
    }
    if defects.len() < 30 { Err(format!("{} pairs", defects.len()).into()) } else { Ok(()) }
}

/// What a command says that ends with a defect: its kind and all of its text. `None`: it ends well.
fn found(case: &Case, command: &str, more: &[&str]) -> Result<Option<(String, String)>, Failed> {
    let arguments = [&[command][..], &case.arguments(), more].concat();
    let output = case.run(&arguments)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        // The states that a search may look at are few.
        Some(0) => Ok(None),
        Some(3) if command == "prove" => Ok(None),
        Some(1) => {
            let kind = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(kind, _)| kind);
            Ok(Some((kind.to_owned(), text)))
        }
        code => Err(format!("{arguments:?} ends with {code:?}\n{text}").into()),
    }
}

fn expect(case: &Case, command: &str, more: &[&str], wanted: Option<&str>) -> Result<String, Failed> {
    let found = found(case, command, more)?;
    let (kind, text) = found.map_or((None, String::new()), |(kind, text)| (Some(kind), text));
    if kind.as_deref() == wanted {
        Ok(text)
    } else {
        Err(format!("{command} {more:?}: {kind:?} in place of {wanted:?}\n{text}").into())
    }
}

fn check(case: &Case) -> Result<(), Failed> {
    let one = |key: &str| case.header(key).first().copied();
    if name(case).ends_with(".defect") == (one("default").is_none() && one("checked").is_none()) {
        return Err("a defect says what is found, and nothing else does".into());
    }
    for control in CONTROLS {
        let on = ["--control", control];
        let (default, checked) = match one(control).and_then(|says| says.split_once(' ')) {
            None => (one("default"), one("checked")),
            Some(("default", kind)) => (Some(kind), None),
            Some((_, kind)) => (None, Some(kind)),
        };
        expect(case, "run", &on, default)?;
        let text = expect(case, "run", &[&on[..], &CHECK].concat(), default.or(checked))?;
        // Who is where: those at the barrier, and the others.
        let apart = ["[barrier-divergence]", "[barrier-exited]", "[members-exited]"];
        let places = ["is here", "are here", "wait here", "waits here", "exited here"];
        if apart.iter().any(|kind| text.contains(kind)) && !places.iter().any(|place| text.contains(place)) {
            return Err(format!("nobody is told to be elsewhere\n{text}").into());
        }
        // Under other schedules others may have exited by then, which is told by another name.
        let folder = tempfile::tempdir()?;
        let schedule = folder.path().join("found.schedule").display().to_string();
        let on = [&on[..], &CHECK, &["--save-schedule", &schedule]].concat();
        let hunted = found(case, "hunt", &[&on[..], &["--seeds", "2", "--jobs", "1"]].concat())?;
        if hunted.is_some() != default.or(checked).is_some() {
            return Err(format!("hunt under {control} finds {hunted:?}").into());
        }
        let proved = found(case, "prove", &[&on[..], &["--max-states", "1000"]].concat())?;
        if proved.is_some() != default.or(checked).is_some() {
            return Err(format!("prove under {control} finds {proved:?}").into());
        }
    }
    Ok(())
}
