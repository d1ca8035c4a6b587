//! Sequential consistency of threads in lockstep: the paper's figures by axioms and by machine, generated programs, what tells the models
//! apart, and the memories `lsc` and `slsc`.

use std::collections::BTreeSet;
use std::path::Path;
use warpstep::axiom::cat::builtin;
use warpstep::axiom::{Limits, Way};
use warpstep::base::{FileId, SourceMap};
use warpstep::explore::space::{Options, Space};
use warpstep::litmus::lockstep::machine::{Machine, Order};
use warpstep::litmus::tree::Litmus;
use warpstep::litmus::{Board, Options as Layout, Outcome, lower, outcomes, parse, print};
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, ControlModel};
use warpstep::memory::MemoryModel;

mod figures;
mod generated;

/// A test by its text.
fn test(text: &str) -> Litmus {
    let (litmus, errors) = parse(FileId(0), text);
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    litmus
}

/// A test of `tests/litmus/lockstep`.
fn file(name: &str) -> Litmus {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/litmus/lockstep/{name}.litmus"));
    test(&std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

type Values = BTreeSet<Vec<i64>>;

fn values(all: impl IntoIterator<Item = Outcome>) -> Values {
    all.into_iter().map(|outcome| outcome.0).collect()
}

/// What the axioms of a model allow.
fn by_axioms(litmus: &Litmus, order: Order, bound: u32) -> Values {
    let model = builtin(order.name()).expect("it is built in");
    let limits = Limits { bound, choices: 10_000_000 };
    let (all, searched) = outcomes(litmus, model, Way::Graphs, limits, &|| false);
    assert!(!searched.limited && searched.unsupported.is_none(), "{searched:?}");
    values(all.iter().map(|(outcome, ..)| outcome.clone()))
}

/// What the machine over rows comes to, and whether it may hang.
fn by_rows(litmus: &Litmus, order: Order) -> (Values, bool) {
    let program = litmus.lockstep.as_ref().expect("a test for wavefronts");
    let reached = Machine::new(litmus, program, order).reach(1_000_000);
    assert!(!reached.limited);
    (values(reached.outcomes), reached.hangs)
}

/// What PTX does under a control model and memory: all states.
fn on(litmus: &Litmus, control: ControlModel, memory: MemoryModel) -> Space<Outcome> {
    let mut sources = SourceMap::default();
    let file = sources.add("test", print(litmus));
    let layout = Layout { control: Some(control), ..Layout::default() };
    let lowered = lower(litmus, file, layout, &mut sources).unwrap_or_else(|failure| panic!("{failure:?}"));
    let config = Config { control: Some(control), memory, ..Config::default() };
    let mut board = Board::new(&lowered, config, Grain::Visible).unwrap_or_else(|stop| panic!("{stop:?}"));
    let space = board.explore(litmus, &mut Options::states(control != ControlModel::Crs, &mut |_| None));
    assert!(space.limit.is_none() && space.found.is_empty(), "{:?} {:?}", space.limit, space.found.len());
    space
}

/// Where the models are as engines: control and memory.
fn engine(order: Order) -> (ControlModel, MemoryModel) {
    match order {
        Order::Sc => (ControlModel::Thread, MemoryModel::Flat),
        Order::Lsc => (ControlModel::Crs, MemoryModel::Lsc),
        Order::Slsc => (ControlModel::Crs, MemoryModel::Slsc),
    }
}

/// What the engine of a model comes to.
fn by_engine(litmus: &Litmus, order: Order) -> Values {
    let (control, memory) = engine(order);
    values(on(litmus, control, memory).outcomes.into_keys())
}
