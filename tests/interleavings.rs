//! Our own litmus tests (`tests/litmus/`): every search finds exactly the outcomes of the threads' interleavings, which
//! `make.py` beside them went through on its own: ours, and the reference through all states and all schedules.

use crate::reference::{Found, Reference};
use std::collections::BTreeSet;
use std::path::Path;
use warpstep::base::SourceMap;
use warpstep::explore::space::Options;
use warpstep::litmus::tree::Litmus;
use warpstep::litmus::{Board, Options as Layout, Placement, lower, parse};
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, ControlModel, MemoryModel};

type Outcomes = BTreeSet<Vec<i64>>;

/// A line of `expected.txt`.
struct Expected {
    name: String,
    reachable: bool,
    outcomes: Outcomes,
}

fn expected() -> Vec<Expected> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus");
    let table = std::fs::read_to_string(folder.join("expected.txt")).unwrap();
    let row = |line: &str| {
        let [name, verdict, outcomes] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let outcome = |text: &str| text.split(',').map(|n| n.parse().expect(line)).collect();
        let outcomes = outcomes.split_whitespace().map(outcome).collect();
        Expected { name: name.to_owned(), reachable: verdict == "reachable", outcomes }
    };
    table.lines().map(row).collect()
}

/// Everything that decides how a test is run.
#[derive(Clone, Copy)]
struct Way {
    placement: Placement,
    control: ControlModel,
    split: bool,
    grain: Grain,
}

/// Calls a search with a test on the machine.
fn on_board<T>(name: &str, way: Way, search: impl FnOnce(&Litmus, &mut Board<'_>) -> T) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus").join(format!("{name}.litmus"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut sources = SourceMap::default();
    let file = sources.add(name, text.clone());
    let (litmus, errors) = parse(file, &text);
    assert_eq!(errors, [], "{name}");
    let layout = Layout { placement: way.placement, control: Some(way.control) };
    let lowered = lower(&litmus, file, layout, &mut sources).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let memory = if way.split { MemoryModel::Split } else { MemoryModel::Flat };
    let config = Config { control: Some(way.control), memory, ..Config::default() };
    let mut board = Board::new(&lowered, config, way.grain).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    search(&litmus, &mut board)
}

/// The outcomes that our search finds, and whether one satisfies the condition.
fn found(name: &str, way: Way) -> (Outcomes, bool) {
    on_board(name, way, |litmus, board| {
        let mut poll = |_: &_| None;
        let space = board.explore(litmus, &mut Options::states(way.control == ControlModel::Crs, &mut poll));
        assert!(space.found.is_empty() && space.limit.is_none(), "{name}: {:?}", space.found);
        let mut outcomes = warpstep::litmus::Outcomes::new(litmus);
        space.outcomes.keys().for_each(|outcome| outcomes.count(outcome.clone(), 1));
        let holds = outcomes.verdict().holds;
        (space.outcomes.into_keys().map(|outcome| outcome.0).collect(), holds)
    })
}

/// The outcomes that the reference finds; `None`: there are too many steps.
fn reference(name: &str, way: Way, how: Reference) -> Option<Outcomes> {
    on_board(name, way, |litmus, board| {
        let (found, _) = board.searched(litmus, |walk, outcome| how.search(walk, outcome))?;
        let Found { outcomes, defects, .. } = found;
        assert!(defects.is_empty(), "{name}: {defects:?}");
        Some(outcomes.into_iter().map(|outcome| outcome.0).collect())
    })
}

#[test]
fn searches_find_the_outcomes_of_all_interleavings() {
    let tests = expected();
    assert!(tests.len() >= 40, "{} tests", tests.len());
    let mut whole = 0;
    for Expected { name, reachable, outcomes } in &tests {
        for placement in [Placement::Warps, Placement::Blocks] {
            let way = |grain| Way { placement, control: ControlModel::Its, split: false, grain };
            for grain in [Grain::Instruction, Grain::Visible] {
                let (all, holds) = found(name, way(grain));
                assert_eq!((&all, holds), (outcomes, *reachable), "{name} by {grain:?}, {placement:?}");
            }
            let states = reference(name, way(Grain::Instruction), Reference::states(false, 1_000_000));
            assert_eq!(states.as_ref(), Some(outcomes), "{name} by the reference, {placement:?}");
            let schedules = reference(name, way(Grain::Visible), Reference::schedules(false, 20_000));
            whole += usize::from(schedules.is_some());
            assert_eq!(schedules.as_ref().unwrap_or(outcomes), outcomes, "{name} by all schedules, {placement:?}");
        }
    }
    assert!(whole > tests.len(), "all schedules of {whole} of {} programs", 2 * tests.len());
}

/// Lanes of one warp that share no instruction interleave as threads do; convergence by tokens leaves some of it out.
#[test]
fn lanes_of_one_warp_do_what_threads_may() {
    let (grain, placement) = (Grain::Visible, Placement::SameWarp);
    for Expected { name, outcomes, .. } in expected() {
        let way = Way { placement, control: ControlModel::Thread, split: true, grain };
        assert_eq!(found(&name, way).0, outcomes, "{name}");
        let (tokens, _) = found(&name, Way { control: ControlModel::Crs, split: false, ..way });
        assert!(!tokens.is_empty() && tokens.is_subset(&outcomes), "{name}: {tokens:?}");
    }
}
