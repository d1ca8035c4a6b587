//! Litmus tests on the machine under the extended scheme, those with ALL and compare-exchange among them: each runs to its end, with its
//! outcomes, all of which the axioms allow if there is no race.

use super::{LIMITS, OWN, PUBLIC, own, public, read};
use std::collections::BTreeSet;
use std::path::PathBuf;
use warpstep::axiom::Way;
use warpstep::axiom::cat::builtin;
use warpstep::explore::promotion::{Grain, Options, Space, explore};
use warpstep::litmus::rsp::Region;
use warpstep::litmus::rsp_machine::axioms::{Inclusion, judge};
use warpstep::litmus::rsp_machine::{Compiled, Ended, Scheme, compile};
use warpstep::litmus::tree::Litmus;
use warpstep::litmus::{Observed, Outcome, Outcomes, Property, decide, outcomes};
use warpstep::report::litmus::outcomes as shown;

fn golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/rsp").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, text, "{name} has changed; BLESS=1 writes it");
}

/// All ends, with execution graphs.
fn run(compiled: &Compiled, name: &str) -> Space {
    let options = &mut Options { ghost: true, max_states: Some(100_000), ..Options::new(Grain::Needed) };
    let space = explore(&compiled.program, options);
    assert_eq!(space.limit, None, "{name} does not come to its end");
    space
}

/// The outcomes of a test on the machine, and what the axioms say of them, in words. Tells also whether it is racy.
fn told(litmus: &Litmus) -> (String, bool) {
    let name = &litmus.name;
    let test = litmus.rsp.as_deref().expect("it is one");
    let compiled = compile(test, &Scheme::proposed()).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let space = run(&compiled, name);
    let model = builtin("rsp").expect("it comes along");
    let racy = decide(litmus, model, Property::Drf, Way::Graphs, LIMITS).witness.is_some();
    let (allowed, searched) = outcomes(litmus, model, Way::Graphs, LIMITS, &|| false);
    assert!(!searched.limited, "{name}");
    let allowed: BTreeSet<Outcome> = allowed.iter().map(|(outcome, ..)| outcome.clone()).collect();
    let (observed, mut machine) = (Observed::of(litmus), Outcomes::new(litmus));
    for end in space.ends.keys() {
        let outcome = observed.outcome(&Ended { compiled: &compiled, test, end });
        if !machine.has(&outcome) {
            machine.count(outcome, 1);
        }
        // Figure 2 does not order regions apart as the tests want it.
        let local = test.locations.iter().any(|l| l.region == Region::Local);
        let judgement = judge(&compiled, &compiled.atomic, &end.graph, Inclusion::Section3);
        assert!(racy || local || judgement.violated.is_none(), "{name}: {judgement:?}");
    }
    let beyond = machine.iter().filter(|(outcome, ..)| !allowed.contains(*outcome)).count();
    assert!(racy || beyond == 0, "{name} shows what the axioms forbid");
    let (count, all) = (machine.iter().count(), allowed.len());
    let race = if racy { format!("outcomes, {beyond} of them beyond") } else { "of".to_owned() };
    let text = shown(&machine, true);
    (format!("{name}: {count} {race} the {all} outcomes that the axioms allow\n{text}\n"), racy)
}

/// The 14 public tests.
pub fn public_tests() {
    let mut text = String::new();
    for (name, _, race, _) in PUBLIC {
        let (one, racy) = told(&public(name));
        assert_eq!(racy, race, "{name}");
        text += &one;
    }
    golden("public.txt", &text);
}

/// The paper's examples and what surrounds them.
pub fn our_tests() {
    let mut text = String::new();
    for (name, _, racy) in OWN {
        let (one, race) = told(&read(&own(&format!("{name}.litmus"))));
        assert_eq!(race, racy.contains(&"rsp"), "{name}");
        text += &one;
    }
    golden("ours.txt", &text);
}
