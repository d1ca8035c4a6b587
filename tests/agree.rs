//! Searches agree on the public litmus tests: with every instruction a step, with what others can notice a step, through
//! states, through schedules: the same outcomes, defects and runs without end.

use crate::shared;
use crate::tests::suite;
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use warpstep::base::SourceMap;
use warpstep::explore::space::{Fairness, Options, Search, Space, cycles};
use warpstep::litmus::tree::Litmus;
use warpstep::litmus::{Board, Lowered, Options as Layout, Outcome, Placement, lower, parse};
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, ControlModel, MemoryModel};

/// Calls `each` with every test that the engines can run, in a placement.
fn lowered(placement: Placement, control: ControlModel, mut each: impl FnMut(&str, &Litmus, &Lowered)) {
    for (path, text) in suite() {
        let mut sources = SourceMap::default();
        let file = sources.add(path.display().to_string(), text.clone());
        let (litmus, errors) = parse(file, &text);
        assert_eq!(errors, [], "{}", path.display());
        if let Ok(lowered) = lower(&litmus, file, Layout { placement, control: Some(control) }, &mut sources) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            each(&name, &litmus, &lowered);
        }
    }
}

/// What a search found; `None`: it is larger than the bound.
type Summary = (BTreeSet<Outcome>, BTreeSet<String>, bool);

fn summary(space: &Space<Outcome>) -> Option<Summary> {
    if space.limit.is_some() {
        return None;
    }
    assert_eq!(space.progress.collisions, 0);
    let found = space.found.iter().map(|f| format!("{:?}", f.stop.identity())).collect();
    let endless = !cycles(&space.graph, Fairness::Weak, &mut |_, _| ()).is_empty();
    Some((space.outcomes.keys().cloned().collect(), found, endless))
}

/// What is compared, and how large a search may be.
struct Agree {
    control: ControlModel,
    memory: MemoryModel,
    placement: Placement,
    searches: &'static [(Search, Grain)],
    /// Steps at most.
    most: u64,
    /// Every so many tests one.
    nth: usize,
}

/// How many tests were compared, the steps of each search, and the tests too large for one, with the number of the search.
#[derive(Debug, PartialEq, Eq)]
struct Compared {
    tests: usize,
    steps: Vec<u64>,
    large: Vec<String>,
}

impl Agree {
    fn search(&self, litmus: &Litmus, lowered: &Lowered, (search, grain): (Search, Grain)) -> Space<Outcome> {
        let config = Config { control: Some(self.control), memory: self.memory.clone(), ..Config::default() };
        let mut board = Board::new(lowered, config, grain).unwrap();
        let most = self.most;
        let mut poll = |counts: &warpstep::explore::space::Progress| {
            (counts.transitions > most).then_some(warpstep::verdict::LimitKind::Steps(most))
        };
        let warps = self.control == ControlModel::Crs;
        let mut options = match search {
            Search::States => Options::states(warps, &mut poll),
            Search::Schedules => Options::schedules(warps, &mut poll),
            Search::Matched => Options::matched(warps, &mut poll),
        };
        options.audit = grain == Grain::Visible && search == Search::States;
        board.explore(litmus, &mut options)
    }

    fn all(&self) -> Compared {
        let mut compared = Compared { tests: 0, steps: vec![0; self.searches.len()], large: Vec::new() };
        let mut number = 0;
        lowered(self.placement, self.control, |name, litmus, lowered| {
            // Those with late-comers at a quorum count threads in shared memory: left to the searches that take all tests.
            if self.nth > 1 && name.starts_with("quorum4") {
                return;
            }
            number += 1;
            if !usize::is_multiple_of(number - 1, self.nth) {
                return;
            }
            // The smallest first: the reference is compared with it, if it is not too large.
            let mut reference: Option<Summary> = None;
            for (k, search) in self.searches.iter().enumerate().rev() {
                let space = self.search(litmus, lowered, *search);
                compared.steps[k] += space.progress.transitions;
                match (summary(&space), &reference) {
                    (None, _) => compared.large.push(format!("{name} by {}", word(*search))),
                    (Some(found), None) => reference = Some(found),
                    (Some(found), Some(known)) => assert_eq!(found, *known, "{name} by {}", word(*search)),
                }
            }
            compared.tests += 1;
        });
        let Self { control, memory, placement, most, .. } = self;
        let memory = match memory {
            MemoryModel::Flat => "flat",
            MemoryModel::Split => "split",
            MemoryModel::Fermi(..) => "caches",
        };
        let Compared { tests, steps, large } = &compared;
        eprintln!("{control:?}, {memory}, {placement:?}: {tests} tests, steps of the searches {steps:?}");
        if !large.is_empty() {
            eprintln!("  beyond {most} steps: {}", large.join("; "));
        }
        compared
    }
}

const UNREDUCED: (Search, Grain) = (Search::States, Grain::Instruction);

/// What a search is called.
const fn word(search: (Search, Grain)) -> &'static str {
    match search {
        UNREDUCED => "unreduced",
        STATES => "states",
        MATCHED => "steps that do not commute",
        _ => "schedules",
    }
}

const STATES: (Search, Grain) = (Search::States, Grain::Visible);
const MATCHED: (Search, Grain) = (Search::Matched, Grain::Visible);
const SCHEDULES: (Search, Grain) = (Search::Schedules, Grain::Visible);

/// A bound for debug builds, which are to be quick, and one for release builds; `AGREE_STEPS` sets another.
fn most(debug: u64, release: u64) -> u64 {
    let usual = if cfg!(debug_assertions) { debug } else { release };
    std::env::var("AGREE_STEPS").map_or(usual, |n| n.parse().expect("AGREE_STEPS is a number of steps"))
}

/// All tests were compared, but those named and a search that is too large for each; debug builds compare `least` at least
/// by every search.
fn compared(all: &Compared, tests: usize, least: usize, large: &[&str]) {
    let whole = all.tests - all.large.len();
    assert!(all.tests == tests && whole >= least, "{whole} of {} tests by every search", all.tests);
    assert!(cfg!(debug_assertions) || all.large == *large, "too large: {:?}", all.large);
    assert!(all.steps.iter().all(|n| *n >= all.steps[all.steps.len() - 1]), "{:?}", all.steps);
}

fn on_flat_memory() {
    let (control, memory, placement) = (ControlModel::Its, MemoryModel::Flat, Placement::Warps);
    let searches = &[UNREDUCED, SCHEDULES, MATCHED, STATES];
    let agree = Agree { control, memory, placement, searches, most: most(10_000, 4_000_000), nth: 1 };
    // Barriers in loops: few states, but more schedules than twenty million steps.
    let large = [
        "barrier-instance-id-exists by schedules",
        "barrier-instance-id-forall by schedules",
        "barrier-logical-id-exists by schedules",
    ];
    compared(&agree.all(), 471, 430, &large);
}

fn lanes_of_one_warp() {
    for control in [ControlModel::Crs, ControlModel::Its, ControlModel::Thread] {
        let (memory, placement, searches) = (MemoryModel::Flat, Placement::SameWarp, &[UNREDUCED, MATCHED, STATES]);
        let agree = Agree { control, memory, placement, searches, most: most(4_000, 4_000_000), nth: 1 };
        compared(&agree.all(), 463, 380, &[]);
    }
}

fn lanes_one_by_one() {
    for (placement, tests) in [(Placement::Warps, 471), (Placement::SameWarp, 463)] {
        let (control, memory, searches) = (ControlModel::Its, MemoryModel::Split, &[UNREDUCED, STATES]);
        let agree = Agree { control, memory, placement, searches, most: most(4_000, 6_000_000), nth: 1 };
        compared(&agree.all(), tests, 380, &[]);
    }
}

/// On caches a state has many steps: every tenth test.
fn on_caches() {
    let (control, placement, searches) = (ControlModel::Its, Placement::Warps, &[UNREDUCED, STATES]);
    let memory = MemoryModel::preset("tiny").unwrap();
    let agree = Agree { control, memory, placement, searches, most: most(4_000, 1_000_000), nth: 10 };
    let large = [
        "Co-Total-3-threads-scope-same by unreduced",
        "IRIW2 by unreduced",
        "WRC1 by unreduced",
        "Co-Total-3-threads-scope-diff by unreduced",
    ];
    compared(&agree.all(), 47, 10, &large);
}

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    shared::trials(&[
        ("on_flat_memory", Some("conformance/litmus/ptx"), on_flat_memory),
        ("lanes_of_one_warp", Some("conformance/litmus/ptx"), lanes_of_one_warp),
        ("lanes_one_by_one", Some("conformance/litmus/ptx"), lanes_one_by_one),
        ("on_caches", Some("conformance/litmus/ptx"), on_caches),
    ])
}
