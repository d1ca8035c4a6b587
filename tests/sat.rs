//! The way `sat` against the way `graphs`, with which it shares nothing but the events: the same executions where all of them are wanted.
//! (`tests/ways.rs` compares verdicts and outcomes of all ways.) SAT_FULL=1 looks at the executions of every public test.

use crate::shared;
use crate::tests::within;
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use warpstep::axiom::{Evaluation, Id, Limits, Model, Place, Question, Role, Searched, Way, cat, search_by};
use warpstep::base::FileId;
use warpstep::litmus::tree::{Arch, Litmus};
use warpstep::litmus::{Threads, parse};

const LIMITS: Limits = Limits { bound: 1, choices: 20_000 };

/// From where each read reads and what, the registers and last values that are asked about.
type Signature = (Vec<(Id, Id, Option<u64>)>, Vec<Vec<u64>>, Vec<(Place, u64)>);

/// A test stops here: what has more executions is left out.
const MOST: usize = 400;

fn public(path: &str) -> PathBuf {
    shared::found().expect("asked for where it is").join("conformance/litmus").join(path)
}

fn model(name: &str) -> &'static Model {
    cat::builtin(name).unwrap()
}

/// All executions that a way finds; none if there are too many.
fn executions(way: Way, litmus: &Litmus, model: &Model, flagged: bool) -> (Option<BTreeSet<Signature>>, Searched) {
    let threads = Threads::of(litmus);
    let question = Question { finals: &threads.finals, wanted: &|_, _| Some(true), symmetries: &[], flagged };
    let mut all = BTreeSet::new();
    let done = search_by(way, &threads, model, &question, LIMITS, &mut |execution| {
        let evaluation = Evaluation::of(model, &execution.bases(model));
        assert!(evaluation.failed().is_none() && (!flagged || !evaluation.flags().is_empty()));
        let event = |number: usize| &execution.events[number];
        let read = |(write, read): (usize, usize)| (event(write).0, event(read).0, event(read).1.value);
        let rf = execution.rf.iter().map(read).collect();
        all.insert((rf, execution.registers.clone(), execution.finals.clone()));
        if all.len() > MOST { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    (Some(all).filter(|all| all.len() <= MOST && !done.limited), done)
}

/// Compares the executions of tests; answers how many of how many comparisons were made.
fn compared(tests: impl IntoIterator<Item = (PathBuf, String)>) -> (usize, usize) {
    let (mut made, mut all) = (0, 0);
    for (path, text) in tests {
        let (litmus, errors) = parse(FileId(0), &text);
        assert_eq!(errors, [], "{}", path.display());
        let names = match litmus.arch {
            Arch::Ptx => ["ptx-v6.0", "ptx-v7.5"],
            Arch::Vulkan => ["vulkan", "vulkan-nochains"],
            Arch::OpenCl => ["rsp", "rsp-strict"],
            Arch::Lockstep => ["lsc", "slsc"],
        };
        for name in names {
            let model = model(name);
            for flagged in [false, true] {
                if flagged && !model.axioms.iter().any(|axiom| axiom.role == Role::Flag) {
                    continue;
                }
                all += 1;
                let (one, _) = executions(Way::Sat, &litmus, model, flagged);
                let Some(one) = one else { continue };
                let Some(two) = executions(Way::Graphs, &litmus, model, flagged).0 else { continue };
                made += 1;
                assert_eq!(one, two, "{} {name} flagged {flagged}", path.display());
            }
        }
    }
    (made, all)
}

fn executions_of_our_tests_are_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus");
    let small =
        |(path, text): &(PathBuf, String)| !path.to_string_lossy().contains("table7") && text.matches('|').count() < 30;
    let (made, all) = compared(within(&folder).into_iter().filter(small));
    println!("{made} of {all} compared");
    assert!(made > 100 && made * 10 >= all * 9, "{made} of {all}");
}

fn executions_of_public_tests_are_the_same() {
    let step = if std::env::var_os("SAT_FULL").is_some() { 1 } else { 12 };
    let tests = within(&public("ptx")).into_iter().chain(within(&public("vulkan")));
    let (made, all) = compared(tests.step_by(step));
    println!("{made} of {all} compared");
    assert!(made * 10 >= all * 9, "{made} of {all}");
}

pub fn trials() -> Vec<Trial> {
    shared::trials(&[
        ("executions_of_our_tests_are_the_same", None, executions_of_our_tests_are_the_same),
        (
            "executions_of_public_tests_are_the_same",
            Some("conformance/litmus/vulkan"),
            executions_of_public_tests_are_the_same,
        ),
    ])
}
