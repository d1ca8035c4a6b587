//! Models that speak of atomic read-modify-writes as one event (D-cat-fused): what is made of their text says of two halves what the text says of one
//! event.

use super::worlds::{Dice, World};
use super::{Evaluation, Value};
use crate::axiom::cat::{Names, OPENCL, compile, compile_with, source};
use crate::axiom::model::Model;
use crate::axiom::relation::{Relation, Set};
use crate::base::FileId;
use std::path::Path;

/// All operators, also where no model has them.
const OPERATORS: &str = "
let a = (po | rf)? ; co^-1
let b = ([R & A]; loc?; [W \\ rmw])*
let c = toid(R & remote) | _ * (domain(rf) & range(co))
let d = !(po ; fr)+ \\ id
let rec e = po | e; rf; [rmw]; e
let f = A^2 & ~wi
let g(s) = s \\ rmw
let h = g(W) | g(R & W)
acyclic a & ~id as a
irreflexive b \\ id as b
acyclic e as e
";

fn files(name: &str) -> Result<(FileId, String), String> {
    Ok((FileId(1), source(name).ok_or("no such file")?.to_owned()))
}

/// The model of a text that has no title, of two halves; and to the letter.
fn both(text: &str) -> [Model; 2] {
    let letter = OPENCL.iter().fold(Names::default(), |names, base| names.with(base.name, base.sort));
    let titled = compile("m", FileId(0), &format!("OpenCL\n{text}"), &mut files).unwrap();
    assert!(titled.fused && titled.relations.iter().any(|name| name == "rmw"));
    let letter = compile_with(&letter, "m", FileId(0), text, &mut files).unwrap();
    assert!(!letter.fused && !letter.relations.iter().any(|name| name == "rmw"));
    [titled, letter]
}

/// An execution of some operations, each of which is one event; and with two for some of them: of which operation each is.
fn executions(model: &Model, dice: &mut Dice) -> (World, World, Vec<usize>) {
    let n = 2 + dice.below(4);
    let kinds: Vec<usize> = (0..n).map(|_| dice.below(3)).collect();
    let reads = Set::of(n, (0..n).filter(|k| kinds[*k] != 1));
    let writes = Set::of(n, (0..n).filter(|k| kinds[*k] != 0));
    let mut of = Vec::new();
    for (k, kind) in kinds.iter().enumerate() {
        of.extend(std::iter::repeat_n(k, if *kind == 2 { 2 } else { 1 }));
    }
    let m = of.len();
    let halves = |k: usize| kinds[of[k]] == 2;
    let first = |k: usize| halves(k) && k + 1 < m && of[k + 1] == of[k];
    let reading = |k: usize| kinds[of[k]] == 0 || first(k);
    let writing = |k: usize| kinds[of[k]] == 1 || (halves(k) && !first(k));
    let (mut one, mut two) = (World { events: n, ..World::default() }, World { events: m, ..World::default() });
    for name in &model.sets {
        let set = match name.as_str() {
            "R" => reads.clone(),
            "W" => writes.clone(),
            _ => Set::of(n, (0..n).filter(|_| dice.percent(60))),
        };
        let split = (0..m).filter(|k| match name.as_str() {
            "R" => reading(*k),
            "W" => writing(*k),
            // What a read would be without its write says nothing.
            _ if first(*k) => dice.percent(50),
            _ => set.contains(of[*k]),
        });
        two.sets.insert(name.clone(), Set::of(m, split));
        one.sets.insert(name.clone(), set);
    }
    let any = |dice: &mut Dice| {
        let pairs = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        Relation::of(n, pairs.filter(|(a, b)| a != b && dice.percent(40)))
    };
    let rf = Relation::of(n, reads.iter().map(|read| (dice.below(n), read)).filter(|(w, _)| writes.contains(*w)));
    let mut co = any(dice);
    co.keep(&Relation::product(&writes, &writes));
    let all = |relation: &Relation| Relation::matching(m, |a, b| relation.contains(of[a], of[b]));
    let between = |relation: &Relation, from: &dyn Fn(usize) -> bool, to: &dyn Fn(usize) -> bool| {
        Relation::matching(m, |a, b| from(a) && to(b) && relation.contains(of[a], of[b]))
    };
    let (rf2, co2) = (between(&rf, &writing, &reading), between(&co, &writing, &writing));
    let mut fr = rf.inverse().then(&co);
    fr.take(&Relation::identity(&Set::full(n)));
    two.relations.insert("fr".to_owned(), rf2.inverse().then(&co2));
    two.relations.insert("rf".to_owned(), rf2);
    two.relations.insert("co".to_owned(), co2);
    one.relations.extend([("fr".to_owned(), fr), ("rf".to_owned(), rf), ("co".to_owned(), co)]);
    for name in ["po", "loc", "wi", "wg", "dev", "same_B", "S"] {
        let mut relation = any(dice);
        if name == "wi" {
            relation.add(&Relation::identity(&Set::full(n)));
        }
        let mut split = all(&relation);
        if ["po", "loc"].contains(&name) {
            // The halves are in program order and at one location; each is where it is.
            split.add(&Relation::matching(m, |a, b| of[a] == of[b] && (name == "loc" || a < b)));
        }
        two.relations.insert(name.to_owned(), split);
        one.relations.insert(name.to_owned(), relation);
    }
    one.relations.insert("id".to_owned(), Relation::identity(&Set::full(n)));
    one.relations.insert("unv".to_owned(), Relation::product(&Set::full(n), &Set::full(n)));
    two.relations.insert("rmw".to_owned(), Relation::matching(m, |a, b| of[a] == of[b] && a < b));
    (one, two, of)
}

fn compare(text: &str) {
    let [titled, letter] = both(text);
    let mut full = 0;
    for seed in 0..300 {
        let (one, two, of) = executions(&letter, &mut Dice::new(seed));
        let plain = Evaluation::of(&letter, &one.bases(&letter));
        let fused = Evaluation::of(&titled, &two.bases(&titled));
        for ((name, a), (_, b)) in letter.names.iter().zip(&titled.names) {
            let same = match (plain.value(*a), fused.value(*b)) {
                (Value::Set(a), Value::Set(b)) => (0..of.len()).all(|k| a.contains(of[k]) == b.contains(k)),
                (Value::Relation(a), Value::Relation(b)) => {
                    full += usize::from(a.count() > 0 && a.count() < one.events * one.events);
                    *b == Relation::matching(of.len(), |i, j| a.contains(of[i], of[j]))
                }
                _ => false,
            };
            assert!(same, "{name} of {text} in {one:?} and {two:?}");
        }
        let findings = |evaluation: &Evaluation<'_>| {
            let flags: Vec<String> = evaluation.flags().iter().map(|f| f.axiom.name.clone()).collect();
            (evaluation.failed().map(|f| f.axiom.name.clone()), flags)
        };
        assert_eq!(findings(&plain), findings(&fused), "{text} in {one:?}");
    }
    assert!(full > 300, "{full}");
}

#[test]
fn two_halves_are_said_what_one_event_is() {
    compare(OPERATORS);
    for name in ["rsp", "rsp-figure2", "rsp-strict"] {
        let text = source(&format!("{name}.cat")).unwrap();
        compare(text.split_once('\n').unwrap().1);
    }
}

#[test]
fn so_are_those_of_the_public_model() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |up: &str| {
        let path = here.join(up).join("shared/conformance/litmus/rsp/cat/opencl_rem.cat");
        std::fs::read_to_string(path).ok()
    };
    match ["../..", "../../.."].into_iter().find_map(read) {
        Some(text) => compare(text.split_once('\n').unwrap().1),
        None => eprintln!("skipped: ../shared is absent"),
    }
}
