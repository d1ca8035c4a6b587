//! All ways to decide what a model allows agree: on the public tests, and on tests made by chance ([`generate`]), whose outcomes
//! are compared as sets, with a flag and without. Our models agree with the public ones; and what the machine does, thread by thread
//! on flat memory, PTX allows.
//!
//! `AGREE_FULL` makes the sweeps ten times as long; `WAYS_TESTS` sets the number of tests, `WAYS_FROM` the first one.

use crate::shared;
use libtest_mimic::Trial;
use std::time::{Duration, Instant};
use warpstep::axiom::cat::{BUILTIN, builtin, compile};
use warpstep::axiom::{Limits, Model, Way};
use warpstep::base::{FileId, SourceMap};
use warpstep::explore::Progress;
use warpstep::litmus::tree::{Arch, Litmus};
use warpstep::litmus::{Property, decide, liveness_until, parse, print};

#[path = "ways/by_hand.rs"]
mod by_hand;
#[path = "ways/compare.rs"]
pub mod compare;
#[path = "ways/generate.rs"]
pub mod generate;
#[path = "ways/loops.rs"]
mod loops;
#[path = "ways/machine.rs"]
mod machine;
#[path = "ways/waits.rs"]
mod waits;

use compare::{LIMITS, Outcomes, outcomes, parsed, smallest};
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
    from..from + set("WAYS_TESTS", if full() { 2_000 } else { 120 })
}

fn model(name: &str) -> &'static Model {
    builtin(name).unwrap_or_else(|| panic!("{name} is a model that comes along"))
}

/// A way under a model.
type Side<'a> = (&'a Model, Way);

/// What two sides allow each only, where both decide and that is not the same.
fn difference(one: Option<&Outcomes>, two: Option<&Outcomes>) -> Option<String> {
    let (one, two) = (one?, two?);
    let only = |a: &Outcomes, b: &Outcomes| a.difference(b).cloned().collect::<Vec<_>>();
    (one != two).then(|| format!("only the first: {:?}, only the second: {:?}", only(one, two), only(two, one)))
}

/// How many of generated questions sides decided, and where they differ.
#[derive(Default)]
struct Swept {
    asked: u64,
    /// By each side.
    by: Vec<u64>,
    /// By both sides of each pair.
    pairs: Vec<u64>,
    /// With their smallest tests.
    differences: Vec<String>,
}

/// Compares each pair of sides on generated tests, until so many differences are found.
fn swept(name: &str, family: Family, sides: &[Side<'_>], flags: &[bool], most: usize) -> Swept {
    let pairs: Vec<[usize; 2]> = (0..sides.len()).flat_map(|a| (a + 1..sides.len()).map(move |b| [a, b])).collect();
    let mut all = Swept { by: vec![0; sides.len()], pairs: vec![0; pairs.len()], ..Swept::default() };
    for (number, flagged) in numbers().flat_map(|number| flags.iter().map(move |flagged| (number, *flagged))) {
        let litmus = parsed(&generate::test(family, number));
        let allowed = |litmus: &Litmus, side: usize| outcomes(litmus, sides[side].0, sides[side].1, flagged, LIMITS);
        let found: Vec<Option<Outcomes>> = (0..sides.len()).map(|side| allowed(&litmus, side)).collect();
        all.asked += 1;
        for (k, f) in found.iter().enumerate() {
            if f.is_none() && sides[k].1 != Way::Candidates {}
        }
        all.by.iter_mut().zip(&found).for_each(|(count, found)| *count += u64::from(found.is_some()));
        for (count, [a, b]) in all.pairs.iter_mut().zip(&pairs) {
            *count += u64::from(found[*a].is_some() && found[*b].is_some());
            if difference(found[*a].as_ref(), found[*b].as_ref()).is_none() {
                continue;
            }
            let differ = |litmus: &Litmus| difference(allowed(litmus, *a).as_ref(), allowed(litmus, *b).as_ref());
            let least = smallest(&litmus, &|smaller| differ(smaller).is_some());
            let [one, two] = [sides[*a].1.name(), sides[*b].1.name()];
            let how = differ(&least).unwrap_or_default();
            let text = print(&least);
            all.differences.push(format!("{name} {number}, flagged {flagged}, {one} and {two}: {how}\n{text}"));
        }
        if all.differences.len() >= most {
            break;
        }
    }
    all
}

/// Ways on generated tests under a model.
fn generated(name: &str, family: Family, ways: &[Way]) {
    let sides: Vec<Side<'_>> = ways.iter().map(|way| (model(name), *way)).collect();
    let Swept { asked, by, pairs, differences } = swept(name, family, &sides, &[false, true], 5);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let by: Vec<String> = ways.iter().zip(&by).map(|(way, count)| format!("{} {count}", way.name())).collect();
    eprintln!("{name}: of {asked} generated questions decided {}; pairs of ways {pairs:?}", by.join(", "));
    assert!(pairs.iter().all(|decided| decided * 5 >= asked * 4), "{pairs:?} of {asked}");
}

/// A public model.
fn public(name: &str) -> Model {
    let text = shared::text(&format!("conformance/litmus/cat/{name}.cat"));
    let include = &mut |file: &str| Ok((FileId(1), shared::text(&format!("conformance/litmus/cat/{file}"))));
    compile(name, FileId(0), &text, include).unwrap_or_else(|e| panic!("{name}: {e:?}"))
}

/// Our models of PTX and Vulkan; `tests/rsp.rs` has those of OpenCL.
fn named() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().copied().filter(|name| name.starts_with("ptx") || name.starts_with("vulkan"))
}

/// Our models and the public ones, which have no flags for PTX, on generated tests.
fn our_models_are_the_public_ones() {
    for name in named() {
        let theirs = public(name);
        let sides = [(model(name), Way::Graphs), (&theirs, Way::Graphs), (&theirs, Way::Sat)];
        let flags: &[bool] = if name.starts_with("ptx") { &[false] } else { &[false, true] };
        let Swept { asked, pairs, differences, .. } = swept(name, Family::of(name), &sides, flags, 5);
        assert!(differences.is_empty(), "{}", differences.join("\n"));
        let both = pairs.into_iter().min().unwrap_or_default();
        eprintln!("{name}: as the public model, by graphs and sat, on {both} of {asked} generated questions");
        assert!(both * 10 >= asked * 9, "{both} of {asked}");
    }
}

/// A way's verdict on a public test, where it has one for certain within ten seconds.
#[expect(clippy::disallowed_methods, reason = "time is what the share is about")]
fn verdict(litmus: &Litmus, model: &Model, property: Property, progress: Progress, way: Way) -> Option<bool> {
    let bound = if property == Property::Liveness && litmus.arch == Arch::Vulkan { 4 } else { 1 };
    // Candidates are the only ones to come near it, and what they do not decide so soon they do not decide in ten seconds.
    let limits = Limits { bound, choices: if full() { 400_000 } else { 4_000 } };
    let begun = Instant::now();
    let decided = match property {
        Property::Liveness => liveness_until(litmus, model, progress, (way, limits), &|| false),
        _ => decide(litmus, model, property, way, limits),
    };
    assert_eq!(decided.searched.inexact, 0, "what satisfies the formula is allowed\n{}", print(litmus));
    let certain = decided.witness.is_some() || decided.lasso.is_some() || !decided.searched.limited;
    let timely = begun.elapsed() <= Duration::from_secs(10);
    (certain && timely && decided.searched.unsupported.is_none()).then_some(decided.pass)
}

/// All ways on the public tests: each alone decides nine in ten of the rows within ten seconds, as published.
fn the_public_verdicts() {
    let table = shared::text("conformance/litmus/expected.csv");
    let (mut rows, mut shares, mut wrong) = (0, [0; Way::ALL.len()], Vec::new());
    for line in table.lines().skip(1) {
        let [path, name, property, expected, progress] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let property = Property::named(property).unwrap_or_else(|| panic!("{line}"));
        let progress = Progress::named(progress).unwrap_or(Progress::Fair);
        let text = shared::text(&format!("conformance/litmus/{path}"));
        let (litmus, errors) = parse(SourceMap::default().add(path, text.clone()), &text);
        assert_eq!(errors, [], "{path}");
        rows += 1;
        for (way, share) in Way::ALL.iter().zip(&mut shares) {
            let said = verdict(&litmus, model(name), property, progress, *way);
            *share += usize::from(said.is_some());
            if said.is_some_and(|said| said != (expected == "pass")) {
                wrong.push(format!("{path} {name} {}: {} says {said:?}", property.name(), way.name()));
            }
        }
    }
    for (way, share) in Way::ALL.iter().zip(shares) {
        eprintln!("{} decides {share} of {rows} public rows within 10 s: {} %", way.name(), share * 100 / rows.max(1));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows == 2_106 && shares.iter().all(|share| share * 10 >= rows * 9), "{shares:?} of {rows}");
}

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    let mut all = shared::trials(&[
        ("by_hand", None, by_hand::agree),
        ("public", Some("conformance/litmus/cat"), our_models_are_the_public_ones),
        ("suite", Some("conformance/litmus/expected.csv"), the_public_verdicts),
        ("liveness", None, waits::liveness_agrees),
        ("symmetries", None, waits::symmetries_lose_nothing),
        ("machine", None, machine::generated),
        ("machine_suite", Some("conformance/litmus/ptx"), machine::suite),
    ]);
    let families = named().map(|name| (format!("generated_{name}"), name, Family::of(name), Way::ALL));
    let circles = ("generated_circles".to_owned(), "vulkan", Family::Circles, Way::ALL);
    all.extend(families.chain([circles]).map(|(test, name, family, ways)| {
        Trial::test(test, move || {
            generated(name, family, ways);
            Ok(())
        })
    }));
    all
}
