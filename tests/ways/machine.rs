//! What the machine does under `thread` on `flat` memory, PTX allows in both versions.

use super::compare::{LIMITS, parsed, smallest};
use super::generate::{self, Family};
use super::{model, numbers};
use crate::tests;
use warpstep::axiom::{Limits, Model, Way};
use warpstep::base::SourceMap;
use warpstep::explore::space::{Options, Progress};
use warpstep::litmus::tree::Litmus;
use warpstep::litmus::{Options as Layout, Outcome, Placement, look_for, print, shown};
use warpstep::machine::{Config, ControlModel};
use warpstep::verdict::LimitKind;

/// States at most.
const STEPS: u64 = 20_000;

/// All outcomes on the machine; none where it lacks something or a search is too large.
fn outcomes(litmus: &Litmus) -> Option<Vec<Outcome>> {
    let mut sources = SourceMap::default();
    let file = sources.add("test", print(litmus));
    let control = Some(ControlModel::Thread);
    let layout = Layout { placement: Placement::Warps, control };
    let mut poll = |so_far: &Progress| (so_far.transitions > STEPS).then_some(LimitKind::Steps(STEPS));
    let mut options = Options::states(false, &mut poll);
    let shown = shown(litmus, file, layout, Config::default(), &mut sources, &mut options).ok()?;
    shown.limit.is_none().then(|| shown.outcomes.iter().map(|(outcome, ..)| outcome.clone()).collect())
}

/// Whether a model has an execution of exactly this outcome; none where a limit ends the search, or loops may go on beyond the bound.
fn allowed(litmus: &Litmus, model: &Model, outcome: &Outcome, limits: Limits) -> Option<bool> {
    let searched = look_for(litmus, model, outcome, (Way::Graphs, limits), &|| false);
    (searched.found > 0 || !searched.limited && !searched.bounded).then_some(searched.found > 0)
}

/// An outcome of the machine that a model does not allow.
fn beyond(litmus: &Litmus, model: &Model, limits: Limits) -> Option<Outcome> {
    outcomes(litmus)?.into_iter().find(|outcome| allowed(litmus, model, outcome, limits) == Some(false))
}

/// What the machine did, summed over tests.
#[derive(Default)]
struct Inside {
    tests: usize,
    /// Outcomes, asked of both versions.
    asked: usize,
    /// Those that are allowed for certain.
    allowed: usize,
}

/// Asks of each outcome of each test; complains about those that are not allowed.
fn inside(tests: impl Iterator<Item = Litmus>, limits: Limits) -> Inside {
    let (mut all, mut wrong) = (Inside::default(), Vec::new());
    for litmus in tests {
        let Some(found) = outcomes(&litmus) else { continue };
        all.tests += 1;
        for name in ["ptx-v6.0", "ptx-v7.5"] {
            let said: Vec<Option<bool>> = found.iter().map(|o| allowed(&litmus, model(name), o, limits)).collect();
            all.asked += said.len();
            all.allowed += said.iter().filter(|said| **said == Some(true)).count();
            if said.contains(&Some(false)) && wrong.len() < 5 {
                let least = smallest(&litmus, &|smaller| beyond(smaller, model(name), limits).is_some());
                let outcome = beyond(&least, model(name), limits);
                wrong.push(format!("{name} does not allow {outcome:?}\n{}", print(&least)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let Inside { tests, asked, allowed } = all;
    eprintln!("{tests} tests on the machine: {allowed} of {asked} outcomes are allowed, others undecided");
    assert!(allowed * 10 >= asked * 9, "{allowed} of {asked}");
    all
}

pub fn generated() {
    let tests = numbers().map(|number| parsed(&generate::test(Family::Ptx, number)));
    let count = inside(tests, LIMITS).tests;
    assert!(count as u64 * 10 >= 9 * (numbers().end - numbers().start), "{count} tests");
}

pub fn suite() {
    let tests = tests::suite().into_iter().map(|(_, text)| parsed(&text));
    let count = inside(tests, Limits { bound: 2, choices: 10_000 }).tests;
    assert!(count >= 400, "{count} tests");
}
