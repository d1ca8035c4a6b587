//! Our search, with what others can notice a step, agrees on the public litmus tests with the reference, with every instruction a
//! step: the same outcomes, defects and runs without end; and with the reference through all schedules.

use crate::reference::{Found, Reference};
use crate::shared;
use crate::tests::suite;
use libtest_mimic::Trial;
use warpstep::base::SourceMap;
use warpstep::explore::space::{Options, Progress};
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

/// What is compared, and how large a search may be.
struct Agree {
    control: ControlModel,
    memory: MemoryModel,
    placement: Placement,
    /// Steps at most of a search through all schedules; where that is not too many by far.
    schedules: Option<u64>,
    /// Steps at most.
    most: u64,
    /// Every so many tests one.
    nth: usize,
}

/// How many tests were compared, how many of them by all schedules, and those too large for the reference.
#[derive(Debug, PartialEq, Eq)]
struct Compared {
    tests: usize,
    whole: usize,
    large: Vec<String>,
}

impl Agree {
    fn board<'a>(&self, lowered: &'a Lowered, grain: Grain) -> Board<'a> {
        let config = Config { control: Some(self.control), memory: self.memory.clone(), ..Config::default() };
        Board::new(lowered, config, grain).unwrap()
    }

    fn reference(&self, litmus: &Litmus, lowered: &Lowered, grain: Grain, how: Reference) -> Option<Found<Outcome>> {
        self.board(lowered, grain).searched(litmus, |walk, outcome| how.search(walk, outcome)).map(|(found, _)| found)
    }

    fn ours(&self, litmus: &Litmus, lowered: &Lowered) -> Option<Found<Outcome>> {
        let most = self.most;
        let mut poll =
            |counts: &Progress| (counts.transitions > most).then_some(warpstep::verdict::LimitKind::Steps(most));
        let mut options = Options { audit: true, ..Options::states(self.warps(), &mut poll) };
        Found::of(&self.board(lowered, Grain::Visible).explore(litmus, &mut options))
    }

    fn warps(&self) -> bool {
        self.control == ControlModel::Crs
    }

    fn all(&self) -> Compared {
        let mut compared = Compared { tests: 0, whole: 0, large: Vec::new() };
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
            compared.tests += 1;
            let Some(ours) = self.ours(litmus, lowered) else {
                compared.large.push(format!("{name} by ours"));
                return;
            };
            match self.reference(litmus, lowered, Grain::Instruction, Reference::states(self.warps(), self.most)) {
                Some(reference) => assert_eq!(ours, reference, "{name}"),
                None => compared.large.push(name.to_owned()),
            }
            let Some(most) = self.schedules else { return };
            let how = Reference::schedules(self.warps(), most);
            if let Some(found) = self.reference(litmus, lowered, Grain::Visible, how) {
                assert_eq!(ours.ends(), found, "{name} by all schedules");
                compared.whole += 1;
            }
        });
        let Self { control, memory, placement, most, .. } = self;
        let memory = match memory {
            MemoryModel::Flat => "flat",
            MemoryModel::Split => "split",
            MemoryModel::Lsc => "lsc",
            MemoryModel::Slsc => "slsc",
            MemoryModel::Fermi(..) => "caches",
            other => other.words().0,
        };
        let Compared { tests, whole, large } = &compared;
        eprintln!("{control:?}, {memory}, {placement:?}: {tests} tests, {whole} by all schedules");
        if !large.is_empty() {
            eprintln!("  beyond {most} steps: {}", large.join("; "));
        }
        compared
    }
}

/// Whether every test is compared, however large, which takes minutes: `.ci/run` does.
fn full() -> bool {
    std::env::var_os("AGREE_FULL").is_some()
}

/// A bound that is quick, and one with which every test is compared; `AGREE_STEPS` sets another.
fn most(quick: u64, whole: u64) -> u64 {
    let usual = if full() { whole } else { quick };
    std::env::var("AGREE_STEPS").map_or(usual, |n| n.parse().expect("AGREE_STEPS is a number of steps"))
}

/// All tests were compared, but those named, which are too large for the reference; without `AGREE_FULL` `least` at least.
fn compared(all: &Compared, tests: usize, least: usize, large: &[&str]) {
    let compared = all.tests - all.large.len();
    assert!(all.tests == tests && compared >= least, "{compared} of {} tests", all.tests);
    assert!(!full() || all.large == *large, "too large: {:?}", all.large);
}

fn on_flat_memory() {
    let (control, memory, placement) = (ControlModel::Its, MemoryModel::Flat, Placement::Warps);
    let schedules = Some(10_000);
    let agree = Agree { control, memory, placement, schedules, most: most(10_000, 4_000_000), nth: 1 }.all();
    compared(&agree, 471, 430, &[]);
    assert!(agree.whole > 300, "{} tests by all schedules", agree.whole);
}

fn lanes_of_one_warp() {
    for control in [ControlModel::Crs, ControlModel::Its, ControlModel::Thread] {
        let (memory, placement, schedules) = (MemoryModel::Flat, Placement::SameWarp, None);
        let agree = Agree { control, memory, placement, schedules, most: most(4_000, 4_000_000), nth: 1 };
        compared(&agree.all(), 463, 380, &[]);
    }
}

fn lanes_one_by_one() {
    for (placement, tests) in [(Placement::Warps, 471), (Placement::SameWarp, 463)] {
        let (control, memory, schedules) = (ControlModel::Its, MemoryModel::Split, None);
        let agree = Agree { control, memory, placement, schedules, most: most(4_000, 6_000_000), nth: 1 };
        compared(&agree.all(), tests, 380, &[]);
    }
}

/// On caches a state has many steps: every tenth test.
fn on_caches() {
    let (control, placement, schedules) = (ControlModel::Its, Placement::Warps, None);
    let memory = MemoryModel::preset("tiny").unwrap();
    let agree = Agree { control, memory, placement, schedules, most: most(4_000, 1_000_000), nth: 10 };
    let large = ["Co-Total-3-threads-scope-same", "IRIW2", "WRC1", "Co-Total-3-threads-scope-diff"];
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
