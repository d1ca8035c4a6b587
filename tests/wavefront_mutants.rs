//! Deliberate errors in sequential consistency of threads in lockstep: some small test then has other outcomes.

use std::collections::BTreeSet;
use warpstep::axiom::cat::builtin;
use warpstep::axiom::{Limits, Way};
use warpstep::base::mutant::{Mutant, select};
use warpstep::base::{FileId, SourceMap};
use warpstep::explore::space::Options;
use warpstep::litmus::tree::Litmus;
use warpstep::litmus::{Board, Options as Layout, Outcome, lower, outcomes, parse};
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, ControlModel};
use warpstep::memory::MemoryModel;

const MUTANTS: &[Mutant] = &[Mutant::LscTogether, Mutant::LscWholeStores, Mutant::SlscApart, Mutant::LanesUnordered];

const TESTS: [&str; 2] = [
    "LSC apart\n{ x=0; y=0; }\n W0.0 | W0.1 | W1.0 | W1.1 ;\n st x, 1 | st y, 1 | ld r0, x | ld r0, y ;\n\
     locations [W1.0:r0; W1.1:r0]\nexists (x = 0)\n",
    "LSC bytes\n{ x=0; }\n W0.0 | W0.1 ;\n st.b16 x, 0x0101 | st.b16 x, 0x0202 ;\n ld r0, x | ld r0, x ;\n\
     locations [W0.1:r0]\nexists (x = 0)\n",
];

/// What a test comes to by axioms and on the memories.
fn looks(litmus: &Litmus) -> Vec<BTreeSet<Outcome>> {
    let by_axioms = ["lsc", "slsc"].map(|name| {
        let limits = Limits { bound: 1, choices: 1_000_000 };
        let (all, _) = outcomes(litmus, builtin(name).unwrap(), Way::Graphs, limits, &|| false);
        all.iter().map(|(outcome, ..)| outcome.clone()).collect()
    });
    let mut sources = SourceMap::default();
    let control = Some(ControlModel::Crs);
    let lowered = lower(litmus, FileId(0), Layout { control, ..Layout::default() }, &mut sources).unwrap();
    let on = [MemoryModel::Lsc, MemoryModel::Slsc].map(|memory| {
        let mut board = Board::new(&lowered, Config { control, memory, ..Config::default() }, Grain::Visible).unwrap();
        board.explore(litmus, &mut Options::states(true, &mut |_| None)).outcomes.into_keys().collect()
    });
    by_axioms.into_iter().chain(on).collect()
}

pub fn are_noticed() {
    let all: Vec<Litmus> = TESTS.iter().map(|text| parse(FileId(0), text).0).collect();
    select(None);
    let right: Vec<_> = all.iter().map(looks).collect();
    let mut missed = Vec::new();
    for mutant in MUTANTS {
        select(Some(*mutant));
        let noticed = all.iter().zip(&right).any(|(litmus, right)| looks(litmus) != *right);
        select(None);
        missed.extend((!noticed).then(|| mutant.name()));
    }
    assert!(missed.is_empty(), "{missed:?}");
}
