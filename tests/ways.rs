//! All ways to decide what a model allows agree: on the public tests, and on tests made by chance ([`generate`]), whose outcomes
//! are compared as sets, with a flag and without. Our models agree with the public ones; and what the machine does, thread by thread
//! on flat memory, PTX allows.
//!
//! `AGREE_FULL` makes the sweeps ten times as long; `WAYS_TESTS` sets the number of tests, `WAYS_FROM` the first one.

use crate::shared;
use libtest_mimic::Trial;
use warpstep::axiom::cat::{BUILTIN, builtin, compile};
use warpstep::axiom::{Limits, Model, Way};
use warpstep::base::{FileId, SourceMap};
use warpstep::litmus::tree::Litmus;
use warpstep::litmus::{Property, decide, parse, print};

#[path = "ways/by_hand.rs"]
mod by_hand;
#[path = "ways/compare.rs"]
mod compare;
#[path = "ways/generate.rs"]
mod generate;
#[path = "ways/machine.rs"]
mod machine;

use compare::{LIMITS, outcomes, parsed, smallest};
use generate::Family;

/// Whether sweeps are long, which takes minutes: `.ci/run` does that.
fn full() -> bool {
    std::env::var_os("AGREE_FULL").is_some()
}

/// The numbers of the tests of a sweep.
fn numbers() -> std::ops::Range<u64> {
    let set = |name: &str, usual: u64| {
        std::env::var(name).map_or(usual, |n| n.parse().unwrap_or_else(|_| panic!("{name} is a number")))
    };
    let from = set("WAYS_FROM", 0);
    from..from + set("WAYS_TESTS", if full() { 2_000 } else { 200 })
}

fn model(name: &str) -> &'static Model {
    builtin(name).unwrap_or_else(|| panic!("{name} is a model that comes along"))
}

/// How two ways, or two models, differ on a test: what each allows, empty where they agree; none where a limit ends one.
fn difference(litmus: &Litmus, sides: [(&Model, Way); 2], flagged: bool) -> Option<String> {
    // What the second one finds is not looked for where the first one meets a limit.
    let one = outcomes(litmus, sides[0].0, sides[0].1, flagged, LIMITS)?;
    let two = outcomes(litmus, sides[1].0, sides[1].1, flagged, LIMITS)?;
    let only = |a: &compare::Outcomes, b: &compare::Outcomes| a.difference(b).cloned().collect::<Vec<_>>();
    let how = || format!("only the first: {:?}, only the second: {:?}", only(&one, &two), only(&two, &one));
    Some(if one == two { String::new() } else { how() })
}

/// Compares two sides on generated tests; answers how many both decided, and the differences with their smallest tests.
fn swept(name: &str, sides: [(&Model, Way); 2], flags: &[bool], most: usize) -> (u64, Vec<String>) {
    let (mut decided, mut differences) = (0, Vec::new());
    for number in numbers() {
        let litmus = parsed(&generate::test(Family::of(name), number));
        for flagged in flags {
            let differs = |litmus: &Litmus| difference(litmus, sides, *flagged);
            let Some(difference) = differs(&litmus) else { continue };
            decided += 1;
            if !difference.is_empty() {
                let shows = |smaller: &Litmus| differs(smaller).is_some_and(|how| !how.is_empty());
                let least = smallest(&litmus, &shows);
                let how = differs(&least).unwrap_or_default();
                differences.push(format!("{name}, flagged {flagged}: {how}\n{}", print(&least)));
                if differences.len() >= most {
                    return (decided, differences);
                }
            }
        }
    }
    (decided, differences)
}

/// Both ways on generated tests under a model.
fn generated(name: &str) {
    let model = model(name);
    let sides = [(model, Way::Graphs), (model, Way::Candidates)];
    let (decided, differences) = swept(name, sides, &[false, true], 5);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let asked = 2 * (numbers().end - numbers().start);
    eprintln!("{name}: both ways decided {decided} of {asked} generated questions");
    assert!(decided * 5 >= asked * 4, "{decided} of {asked}");
}

/// A public model.
fn public(name: &str) -> Model {
    let text = shared::text(&format!("conformance/litmus/cat/{name}.cat"));
    let include = &mut |file: &str| Ok((FileId(1), shared::text(&format!("conformance/litmus/cat/{file}"))));
    compile(name, FileId(0), &text, include).unwrap_or_else(|e| panic!("{name}: {e:?}"))
}

/// Our models and the public ones, which have no flags for PTX, on generated tests.
fn our_models_are_the_public_ones() {
    for name in BUILTIN {
        let theirs = public(name);
        let sides = [(model(name), Way::Graphs), (&theirs, Way::Graphs)];
        let flags: &[bool] = if name.starts_with("ptx") { &[false] } else { &[false, true] };
        let (decided, differences) = swept(name, sides, flags, 5);
        assert!(differences.is_empty(), "{}", differences.join("\n"));
        eprintln!("{name}: as the public model on {decided} generated questions");
    }
}

/// Both ways on the public tests.
fn the_public_verdicts() {
    let limits = Limits { bound: 1, choices: if full() { 400_000 } else { 4_000 } };
    let table = shared::text("conformance/litmus/expected.csv");
    let (mut rows, mut shares, mut both, mut wrong) = (0, [0, 0], 0, Vec::new());
    for line in table.lines().skip(1) {
        let [path, name, property, expected, _] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let Some(property) = Property::named(property).filter(|p| *p != Property::Liveness) else { continue };
        let text = shared::text(&format!("conformance/litmus/{path}"));
        let (litmus, errors) = parse(SourceMap::default().add(path, text.clone()), &text);
        assert_eq!(errors, [], "{path}");
        rows += 1;
        let said = [Way::Graphs, Way::Candidates].map(|way| {
            let decided = decide(&litmus, model(name), property, way, limits);
            let certain = decided.witness.is_some() || !decided.searched.limited;
            (certain && decided.searched.unsupported.is_none()).then_some(decided.pass)
        });
        for (share, said) in shares.iter_mut().zip(said) {
            *share += usize::from(said.is_some());
        }
        both += usize::from(said.iter().all(Option::is_some));
        let expected = Some(expected == "pass");
        if said.iter().any(|said| said.is_some() && *said != expected) {
            wrong.push(format!("{path} {name} {}: {said:?}, expected {expected:?}", property.name()));
        }
    }
    let [graphs, candidates] = shares;
    eprintln!("{rows} public rows: graphs decided {graphs}, candidates {candidates}, both {both}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows == 511 && both * 10 >= rows * 9, "{both} of {rows}");
}

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    let mut all = shared::trials(&[
        ("by_hand", None, by_hand::agree),
        ("sat_differs", None, by_hand::sat_differs),
        ("public", Some("conformance/litmus/cat"), our_models_are_the_public_ones),
        ("suite", Some("conformance/litmus/expected.csv"), the_public_verdicts),
        ("machine", None, machine::generated),
        ("machine_suite", Some("conformance/litmus/ptx"), machine::suite),
    ]);
    all.extend(BUILTIN.iter().map(|name| {
        Trial::test(format!("generated_{name}"), move || {
            generated(name);
            Ok(())
        })
    }));
    all
}
