//! Our models against the public ones: as relations on any bases, and by verdict on executions that could be.

use super::Evaluation;
use super::naive::{Meaning, Naive, Scope};
use super::worlds::{Dice, World, ptx, vulkan};
use crate::axiom::cat::{BUILTIN, builtin, compile, parse, source};
use crate::axiom::model::Model;
use crate::base::FileId;
use std::path::Path;

/// A public model's text, where it is at hand.
fn public(name: &str) -> Option<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |up: &str| {
        std::fs::read_to_string(here.join(up).join(format!("shared/conformance/litmus/cat/{name}.cat"))).ok()
    };
    let text = ["../..", "../../.."].into_iter().find_map(read);
    if text.is_none() {
        eprintln!("skipped {name}: ../shared is absent");
    }
    text
}

fn model(name: &str, text: &str) -> Option<Model> {
    let include = &mut |file: &str| Ok((FileId(1), source(file).ok_or("no such file")?.to_owned()));
    compile(name, FileId(0), text, include).ok()
}

/// Definitions that both have, under what names, ours first.
fn common(name: &str) -> &'static [(&'static str, &'static str)] {
    match name {
        "ptx-v6.0" => &[
            ("morally-strong", "morally-strong"),
            ("fr", "fr"),
            ("observation", "observation"),
            ("sync", "sync"),
            ("cause-base", "cause-base"),
            ("cause", "cause"),
        ],
        "ptx-v7.5" => &[
            ("morally-strong", "morally-strong"),
            ("fr", "fr"),
            ("sync", "sync"),
            ("cause-base", "cause-base"),
            ("preserved", "proxy-preserved-cause-base"),
            ("cause", "cause"),
        ],
        _ => &[
            ("mutually-ordered", "mutordatom"),
            ("sw", "sw"),
            ("hb", "hb"),
            ("includes", "avvisinc"),
            ("av-shader", "avsh"),
            ("vis-shader", "vissh"),
            ("locord", "locord"),
            ("fr", "fr"),
            ("race", "dr"),
        ],
    }
}

fn node(evaluation: &Evaluation<'_>, model: &Model, name: &str) -> crate::axiom::Relation {
    let found = model.names.iter().find(|(known, _)| known == name);
    evaluation.relation(found.unwrap_or_else(|| panic!("{name}")).1)
}

#[test]
fn our_definitions_are_the_public_ones_on_any_bases() {
    for name in BUILTIN {
        let Some(text) = public(name) else { continue };
        let (ours, theirs) = (builtin(name).unwrap(), model(name, &text).unwrap());
        let mut full = 0;
        for seed in 0..200 {
            let world = World::any(&[ours, &theirs], &mut Dice::new(seed));
            let one = Evaluation::of(ours, &world.bases(ours));
            let two = Evaluation::of(&theirs, &world.bases(&theirs));
            for (our, their) in common(name) {
                let (a, b) = (node(&one, ours, our), node(&two, &theirs, their));
                assert_eq!(a, b, "{name}: {our} in {world:?}");
                full += usize::from(a.count() > 0 && a.count() < world.events * world.events);
            }
        }
        eprintln!("{name}: {} comparisons, {full} of what is neither empty nor full", 200 * common(name).len());
        assert!(full > 200, "{full}");
    }
}

/// What a model says: whether it allows an execution, and whether it flags it.
fn verdict(model: &Model, world: &World) -> (bool, bool) {
    let evaluation = Evaluation::of(model, &world.bases(model));
    (evaluation.failed().is_none(), !evaluation.flags().is_empty())
}

fn execution(name: &str, seed: u64) -> World {
    let mut dice = Dice::new(seed);
    if name.starts_with("ptx") { ptx(&mut dice) } else { vulkan(&mut dice) }
}

#[test]
fn verdicts_are_the_public_ones() {
    for name in BUILTIN {
        let Some(text) = public(name) else { continue };
        let (ours, theirs) = (builtin(name).unwrap(), model(name, &text).unwrap());
        let (mut allowed, mut flagged) = (0, 0);
        let cases = 1000;
        for seed in 0..cases {
            let world = execution(name, seed);
            let (one, two) = (verdict(ours, &world), verdict(&theirs, &world));
            assert_eq!(one.0, two.0, "{name}: {world:?}");
            if name.starts_with("vulkan") {
                assert_eq!(one.1, two.1, "{name}: {world:?}");
            }
            allowed += u64::from(one.0);
            flagged += u64::from(one.0 && one.1);
        }
        eprintln!("{name}: of {cases} executions {allowed} are allowed, {flagged} of them are flagged");
        assert!((cases / 4..=3 * cases / 4).contains(&allowed), "{name}: {allowed}");
        assert!(flagged > allowed / 10 && flagged < 9 * allowed / 10, "{name}: {flagged} of {allowed}");
    }
}

/// The public models by a second reading, on executions that could be and on those that could not.
#[test]
fn public_models_mean_the_same_by_a_second_reading() {
    for name in BUILTIN {
        let Some(text) = public(name) else { continue };
        let theirs = model(name, &text).unwrap();
        let (file, _) = parse(FileId(0), &text);
        for seed in 0..40 {
            let mut dice = Dice::new(seed);
            let world = if seed % 2 == 0 { World::any(&[&theirs], &mut dice) } else { execution(name, seed) };
            let mut scope: Scope = Scope::new();
            for set in &theirs.sets {
                let value = world.sets.get(set).map(|s| s.iter().collect()).unwrap_or_default();
                scope.insert(set.clone(), Meaning::Set(value));
            }
            for relation in &theirs.relations {
                let value = world.relations.get(relation).map(|r| r.iter().collect()).unwrap_or_default();
                scope.insert(relation.clone(), Meaning::Relation(value));
            }
            let judged = Naive(world.events).judge(&file, &mut scope).unwrap();
            let evaluation = Evaluation::of(&theirs, &world.bases(&theirs));
            for (axiom, (_, meaning, _)) in theirs.axioms.iter().zip(&judged) {
                let Meaning::Relation(meaning) = meaning else { panic!("{}", axiom.name) };
                assert!(evaluation.relation(axiom.of).iter().eq(meaning.iter().copied()), "{name} {}", axiom.name);
            }
        }
    }
}
