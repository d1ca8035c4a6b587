//! Tests that are data: folders of programs with what they must give, one test each.
//!
//! Each file has a function `trials`. `cargo test --test ui -- hangs` runs those of a file, `-- hangs::ring` some of them.

mod agree;
mod agreement;
mod barriers;
mod bounds;
mod case;
mod cases;
mod corpus;
mod deeds;
mod example;
mod examples;
mod fermi;
mod hangs;
mod litmus;
mod lowering;
mod ops;
mod oracle;
mod oracle_mutate;
mod races_agree;
mod rsp;
mod sat;
mod shared;
mod terminal;
mod verdicts;
mod ways;
mod weak;

#[path = "case/folders.rs"]
mod folders;
#[path = "shared/reference.rs"]
mod reference;
#[path = "reports/schema.rs"]
mod schema;
#[path = "shared/litmus.rs"]
mod tests;

use libtest_mimic::{Arguments, Trial};
use ways::{compare, generate};

/// The tests of a file.
type Trials = fn() -> Vec<Trial>;

/// The files with their tests.
const FILES: [(&str, Trials); 21] = [
    ("ui", cases::trials),
    ("agree", agree::trials),
    ("agreement", agreement::trials),
    ("barriers", barriers::trials),
    ("bounds", bounds::trials),
    ("corpus", corpus::trials),
    ("deeds", deeds::trials),
    ("examples", examples::trials),
    ("fermi", fermi::trials),
    ("hangs", hangs::trials),
    ("litmus", litmus::trials),
    ("lowering", lowering::trials),
    ("ops", ops::trials),
    ("oracle", oracle::trials),
    ("races_agree", races_agree::trials),
    ("rsp", rsp::trials),
    ("sat", sat::trials),
    ("terminal", terminal::trials),
    ("verdicts", verdicts::trials),
    ("ways", ways::trials),
    ("weak", weak::trials),
];

/// The tests that were asked for: those of one file (`-- hangs`, `-- hangs::ring`), or of all (`-- ring`).
fn wanted(arguments: &mut Arguments) -> Vec<Trial> {
    let asked = arguments.filter.clone().unwrap_or_default();
    let (file, rest) = asked.split_once("::").unwrap_or((&asked, ""));
    let of_one = FILES.iter().find(|(name, _)| *name == file);
    if of_one.is_some() {
        arguments.filter = (!rest.is_empty()).then(|| rest.to_owned());
    }
    let named = |(name, trials): &(&str, Trials)| -> Vec<Trial> {
        let with_file = |trial: Trial| if trial.kind().is_empty() { trial.with_kind(*name) } else { trial };
        trials().into_iter().map(with_file).collect()
    };
    of_one.map_or_else(|| FILES.iter().flat_map(named).collect(), named)
}

fn main() {
    let mut arguments = Arguments::from_args();
    let trials = wanted(&mut arguments);
    libtest_mimic::run(&arguments, trials).exit();
}
