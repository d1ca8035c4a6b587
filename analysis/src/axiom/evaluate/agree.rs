//! Our models against the public ones: as relations on any bases, and by verdict on executions that could be.

use super::naive::{Meaning, Naive, Scope};
use super::worlds::{Dice, World, ptx, vulkan};
use super::{Evaluation, Witness};
use crate::axiom::cat::{BUILTIN, builtin, compile, parse, source};
use crate::axiom::model::{Axiom, Model, Role};
use crate::axiom::uniform::uniform;
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
            ("release", "release-pattern"),
            ("acquire", "acquire-pattern"),
            ("observation", "observation"),
            ("sync", "sync"),
            ("cause-base", "cause-base"),
            ("cause", "cause"),
        ],
        "ptx-v7.5" => &[
            ("morally-strong", "morally-strong"),
            ("fr", "fr"),
            ("release", "release-pattern"),
            ("acquire", "acquire-pattern"),
            ("sync", "sync"),
            ("cause-base", "cause-base"),
            ("preserved", "proxy-preserved-cause-base"),
            ("cause", "cause"),
        ],
        _ => &[
            ("mutually-ordered", "mutordatom"),
            ("release-sequence", "rs"),
            ("hypothetical-sequence", "hypors"),
            ("sw", "sw"),
            ("hb", "hb"),
            ("includes", "avvisinc"),
            ("av-workgroup", "avwg"),
            ("av-queue-family", "avqf"),
            ("av-shader", "avsh"),
            ("vis-workgroup", "viswg"),
            ("vis-queue-family", "visqf"),
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

/// What makes executions consistent, in the order of the file.
fn axioms(model: &Model) -> impl Iterator<Item = &Axiom> {
    model.axioms.iter().filter(|axiom| axiom.role == Role::Axiom)
}

#[test]
fn our_definitions_are_the_public_ones_on_any_bases() {
    for name in BUILTIN {
        let Some(text) = public(name) else { continue };
        let (ours, theirs) = (&uniform(builtin(name).unwrap()), model(name, &text).unwrap());
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
            for (our, their) in axioms(ours).zip(axioms(&theirs)) {
                assert_eq!((our.claim, our.negated), (their.claim, their.negated));
                assert_eq!(one.relation(our.of), two.relation(their.of), "{name}: {} in {world:?}", our.name);
            }
        }
        eprintln!("{name}: {} comparisons, {full} of what is neither empty nor full", 200 * common(name).len());
        assert_eq!(axioms(ours).count(), axioms(&theirs).count(), "{name}");
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
        let (ours, theirs) = (&uniform(builtin(name).unwrap()), model(name, &text).unwrap());
        let (mut allowed, mut flagged) = (0, 0);
        let cases = 1000;
        for seed in 0..cases {
            let world = execution(name, seed);
            let (one, two) = (verdict(ours, &world), verdict(&theirs, &world));
            assert_eq!(one.0, two.0, "{name}: {world:?}");
            let both =
                [(ours, &world), (&theirs, &world)].map(|(model, world)| Evaluation::of(model, &world.bases(model)));
            for (our, their) in axioms(ours).zip(axioms(&theirs)) {
                assert_eq!(both[0].relation(our.of), both[1].relation(their.of), "{name}: {} in {world:?}", our.name);
            }
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

/// D-axiom-race, word by word.
#[test]
fn races_of_ptx_are_what_the_text_says() {
    for (name, thread) in [("ptx-v6.0", true), ("ptx-v7.5", false)] {
        let model = builtin(name).unwrap();
        let mut flagged = 0;
        for seed in 0..400 {
            let world = execution(name, seed);
            let evaluation = Evaluation::of(model, &world.bases(model));
            let strong = node(&evaluation, model, "morally-strong");
            let mut ordered = node(&evaluation, model, "cause");
            if thread {
                ordered.add(&world.relations["po"]);
            }
            let is = |set: &str, event: usize| world.sets.get(set).is_some_and(|s| s.contains(event));
            let conflict = |a: usize, b: usize| {
                a != b
                    && world.relations["loc"].contains(a, b)
                    && (is("W", a) || is("W", b))
                    && !is("IW", a)
                    && !is("IW", b)
            };
            let races = |a: usize, b: usize| {
                conflict(a, b) && !strong.contains(a, b) && !ordered.contains(a, b) && !ordered.contains(b, a)
            };
            let any = (0..world.events).any(|a| (0..world.events).any(|b| races(a, b)));
            let flags = evaluation.flags();
            assert_eq!(!flags.is_empty(), any, "{name}: {world:?}");
            if let Some(Witness::Pair(a, b)) = flags.first().map(|f| &f.witness) {
                assert!(races(*a, *b) && flags[0].axiom.name == "racy");
            }
            flagged += usize::from(any);
        }
        assert!((50..350).contains(&flagged), "{name}: {flagged}");
    }
}

/// D-axiom-location: where there is one proxy and no alias, 7.5 needs no axiom for each location.
#[test]
fn order_at_each_location_follows_in_ptx_7_5() {
    let name = "ptx-v7.5";
    let last = "acyclic morally-strong & (rf | co | fr) | po & loc as SC-per-Location";
    let with = model(name, &format!("{}\n{last}", source("ptx-v7.5.cat").unwrap())).unwrap();
    let (mut looked_at, mut alone) = (0, 0);
    for seed in 0..6000 {
        let world = execution(name, seed);
        let other = ["TEX", "SUR", "CON"].iter().any(|proxy| world.sets.contains_key(*proxy));
        if other || world.relations["vloc"] != world.relations["loc"] {
            continue;
        }
        let evaluation = Evaluation::of(&with, &world.bases(&with));
        let failed = evaluation.failed().map(|f| f.axiom.name.as_str());
        assert_ne!(failed, Some("SC-per-Location"), "{world:?}");
        looked_at += 1;
        let axiom = axioms(&with).last().unwrap();
        alone += usize::from(evaluation.relation(axiom.of).cycle().is_some());
    }
    eprintln!("{looked_at} executions, {alone} of which are out of order at a location");
    assert!(looked_at > 1000 && alone > 100, "{looked_at} {alone}");
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

/// Texts with one operator left out or turned into another.
fn damaged(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let code = |line: &str| line.len() - line.split_once("//").map_or(0, |(_, comment)| comment.len() + 2);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        for (from, to) in
            [("?", ""), ("+", ""), ("^-1", ""), (" | ", " & "), (" & ", " | "), ("; ", " & "), (" \\ ", " & ")]
        {
            for (k, _) in line[..code(line)].match_indices(from) {
                all.push([&text[..at + k], to, &text[at + k + from.len()..]].concat());
            }
        }
        at += line.len();
    }
    all
}

/// The comparisons above tell nearly every slip: ours with one is told from ours without.
#[test]
fn slips_in_our_models_are_noticed() {
    for (name, every) in [("ptx-v6.0", 1), ("ptx-v7.5", 1), ("vulkan", 4)] {
        let ours = builtin(name).unwrap();
        let file = if name == "vulkan" { "vulkan-common.cat" } else { &format!("{name}.cat") };
        let any = |seed| World::any(&[ours], &mut Dice::new(seed));
        let worlds: Vec<World> = (0..100).flat_map(|seed| [any(seed), execution(name, seed)]).collect();
        let right: Vec<Evaluation<'_>> = worlds.iter().map(|w| Evaluation::of(ours, &w.bases(ours))).collect();
        let (mut tried, mut missed) = (0, Vec::new());
        for text in damaged(source(file).unwrap()).into_iter().step_by(every) {
            let include = &mut |_: &str| Ok((FileId(1), text.clone()));
            let main = if name == "vulkan" { source("vulkan.cat").unwrap() } else { &text };
            // What no longer has a meaning is noticed, too; a comment may say what it likes.
            let Ok(wrong) = compile(name, FileId(0), main, include) else { continue };
            if wrong.nodes == ours.nodes {
                continue;
            }
            tried += 1;
            let told = worlds.iter().zip(&right).any(|(world, right)| {
                let evaluation = Evaluation::of(&wrong, &world.bases(&wrong));
                let differs = |(a, b): (&Axiom, &Axiom)| right.relation(a.of) != evaluation.relation(b.of);
                let named = |our: &str| node(right, ours, our) != node(&evaluation, &wrong, our);
                ours.axioms.iter().zip(&wrong.axioms).any(differs) || common(name).iter().any(|(our, _)| named(our))
            });
            if !told {
                let differs = text.lines().zip(source(file).unwrap().lines()).find(|(a, b)| a != b);
                missed.push(differs.map_or(String::new(), |(line, _)| line.to_owned()));
            }
        }
        eprintln!("{name}: {} of {tried} slips are not noticed: {missed:#?}", missed.len());
        assert!(tried > 40 && missed.len() * 10 <= tried, "{name}: {missed:#?}");
    }
}
