//! Our own litmus tests (`tests/litmus/`): every search finds exactly the outcomes of the threads' interleavings, which
//! `make.py` beside them went through on its own.

use std::collections::BTreeSet;
use std::path::Path;
use warpstep::base::SourceMap;
use warpstep::explore::space::{Options, Search};
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

/// Everything that decides how a test is run and searched.
#[derive(Clone, Copy)]
struct Way {
    placement: Placement,
    control: ControlModel,
    split: bool,
    search: Search,
    grain: Grain,
}

/// The outcomes that a search finds, and whether one satisfies the condition.
fn found(name: &str, way: Way) -> (Outcomes, bool) {
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
    let warps = way.control == ControlModel::Crs;
    let mut poll = |_: &_| None;
    let mut options = match way.search {
        Search::States => Options::states(warps, &mut poll),
        Search::Schedules => Options::schedules(warps, &mut poll),
        Search::Matched => Options::matched(warps, &mut poll),
    };
    let space = board.explore(&litmus, &mut options);
    assert!(space.found.is_empty() && space.limit.is_none(), "{name}: {:?}", space.found);
    let mut outcomes = warpstep::litmus::Outcomes::new(&litmus);
    space.outcomes.keys().for_each(|outcome| outcomes.count(outcome.clone(), 1));
    let holds = outcomes.verdict().holds;
    (space.outcomes.into_keys().map(|outcome| outcome.0).collect(), holds)
}

#[test]
fn searches_find_the_outcomes_of_all_interleavings() {
    let tests = expected();
    assert!(tests.len() >= 40, "{} tests", tests.len());
    let searches = [
        (Search::States, Grain::Instruction),
        (Search::States, Grain::Visible),
        (Search::Matched, Grain::Visible),
        (Search::Schedules, Grain::Visible),
    ];
    for Expected { name, reachable, outcomes } in &tests {
        for (search, grain) in searches {
            for placement in [Placement::Warps, Placement::Blocks] {
                let way = Way { placement, control: ControlModel::Its, split: false, search, grain };
                let (all, holds) = found(name, way);
                assert_eq!((&all, holds), (outcomes, *reachable), "{name} by {search:?}, {grain:?}, {placement:?}");
            }
        }
    }
}

/// Lanes of one warp that share no instruction interleave as threads do; convergence by tokens leaves some of it out.
#[test]
fn lanes_of_one_warp_do_what_threads_may() {
    let (search, grain, placement) = (Search::States, Grain::Visible, Placement::SameWarp);
    for Expected { name, outcomes, .. } in expected() {
        let way = Way { placement, control: ControlModel::Thread, split: true, search, grain };
        assert_eq!(found(&name, way).0, outcomes, "{name}");
        let (tokens, _) = found(&name, Way { control: ControlModel::Crs, split: false, ..way });
        assert!(!tokens.is_empty() && tokens.is_subset(&outcomes), "{name}: {tokens:?}");
    }
}
