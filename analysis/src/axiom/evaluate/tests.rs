//! The evaluator against a second reading of cat, and what it says of small executions.

use super::naive::{Meaning, Naive, Scope};
use super::worlds::{Dice, World};
use super::{Evaluation, Value, Witness};
use crate::axiom::cat::{compile, parse};
use crate::axiom::model::{Model, Role};
use crate::axiom::relation::{Relation, Set};
use crate::base::FileId;
use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};
use std::fmt::Write;

fn model(text: &str) -> Option<Model> {
    compile("m", FileId(0), text, &mut |_| Err(String::new())).ok()
}

fn scope(world: &World) -> Scope {
    let sets = world.sets.iter().map(|(name, set)| (name.clone(), Meaning::Set(set.iter().collect())));
    let relations = world.relations.iter().map(|(name, r)| (name.clone(), Meaning::Relation(r.iter().collect())));
    sets.chain(relations).collect()
}

fn same(value: &Value, meaning: &Meaning) -> bool {
    match (value, meaning) {
        (Value::Set(set), Meaning::Set(other)) => set.iter().eq(other.iter().copied()),
        (Value::Relation(relation), Meaning::Relation(other)) => relation.iter().eq(other.iter().copied()),
        _ => false,
    }
}

/// Compares both readings of a text in an execution; whether it has a meaning at all.
fn compare(text: &str, world: &World) -> Result<bool, String> {
    let (file, errors) = parse(FileId(0), text);
    assert!(errors.is_empty(), "{text}: {errors:?}");
    let naive = Naive(world.events).judge(&file, &mut scope(world));
    let (model, naive) = match (model(text), naive) {
        (Some(model), Some(naive)) => (model, naive),
        (None, None) => return Ok(false),
        (model, naive) => return Err(format!("only one has a meaning: {model:?} {naive:?}")),
    };
    let evaluation = Evaluation::of(&model, &world.bases(&model));
    for (axiom, (_, meaning, _)) in model.axioms.iter().zip(&naive) {
        if !same(evaluation.value(axiom.of), meaning) {
            return Err(format!("{}: {:?} {meaning:?}", axiom.name, evaluation.value(axiom.of)));
        }
    }
    let of_role = |role| (0..naive.len()).filter(move |k| naive[*k].0 == role && naive[*k].2);
    let failed = evaluation.failed().map(|f| model.axioms.iter().position(|a| std::ptr::eq(a, f.axiom)));
    let flags = evaluation.flags();
    let raised = flags.iter().map(|f| model.axioms.iter().position(|a| std::ptr::eq(a, f.axiom)));
    let flagged: Vec<_> = raised.collect();
    if failed != of_role.clone()(Role::Axiom).next().map(Some) {
        return Err(format!("fails: {failed:?}"));
    }
    if flagged != of_role(Role::Flag).map(Some).collect::<Vec<_>>() {
        return Err(format!("flags: {flagged:?}"));
    }
    Ok(true)
}

/// Makes texts: a byte for each choice.
struct Writer<'a> {
    bytes: &'a [u8],
    sets: Vec<String>,
    relations: Vec<String>,
    /// Names that may be removed by nothing.
    recursive: Vec<String>,
    /// Functions, and whether they take and give a relation.
    functions: Vec<(String, bool)>,
    /// Whether parentheses may be missing: then the text may mean something else, or nothing.
    careless: bool,
}

impl Writer<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let (first, rest) = self.bytes.split_first().unwrap_or((&0, &[]));
        self.bytes = rest;
        usize::from(*first) % bound
    }

    fn closed(&mut self, text: String) -> String {
        if self.careless && self.below(3) == 0 { text } else { format!("({text})") }
    }

    fn apply(&mut self, relation: bool, depth: u32) -> Option<String> {
        let fits: Vec<String> = self.functions.iter().filter(|f| f.1 == relation).map(|f| f.0.clone()).collect();
        if fits.is_empty() {
            return None;
        }
        let name = fits[self.below(fits.len())].clone();
        let argument = if relation { self.relation(depth, true) } else { self.set(depth) };
        Some(format!("{name}({argument})"))
    }

    fn set(&mut self, depth: u32) -> String {
        if depth == 0 {
            let k = self.below(self.sets.len() + 1);
            return self.sets.get(k).cloned().unwrap_or_else(|| "_".to_owned());
        }
        let depth = depth - 1;
        let text = match self.below(8) {
            0 => format!("{} | {}", self.set(depth), self.set(depth)),
            1 => format!("{} & {}", self.set(depth), self.set(depth)),
            2 => format!("{} \\ {}", self.set(depth), self.set(depth)),
            3 => format!("~{}", self.set(depth)),
            4 => return format!("domain({})", self.relation(depth, false)),
            5 => return format!("range({})", self.relation(depth, false)),
            6 => return self.apply(false, depth).unwrap_or_else(|| "R".to_owned()),
            _ => return self.set(0),
        };
        self.closed(text)
    }

    fn relation(&mut self, depth: u32, grows: bool) -> String {
        if depth == 0 {
            let names: Vec<String> =
                self.relations.iter().chain(self.recursive.iter().filter(|_| grows)).cloned().collect();
            return names[self.below(names.len())].clone();
        }
        let depth = depth - 1;
        let text = match self.below(13) {
            0 => format!("{} | {}", self.relation(depth, grows), self.relation(depth, grows)),
            1 => format!("{} & {}", self.relation(depth, grows), self.relation(depth, grows)),
            2 => format!("{} \\ {}", self.relation(depth, grows), self.relation(depth, false)),
            3 | 4 => format!("{}; {}", self.relation(depth, grows), self.relation(depth, grows)),
            5 => format!("{}^-1", self.relation(depth, grows)),
            6 => format!("{}+", self.relation(depth, grows)),
            7 => format!("{}*", self.relation(depth, grows)),
            8 => format!("{}?", self.relation(depth, grows)),
            9 => format!("{} * {}", self.set(depth), self.set(depth)),
            10 if self.below(2) == 0 => format!("~{}", self.relation(depth, false)),
            10 => return format!("[{}]", self.set(depth)),
            11 => match self.apply(true, depth) {
                Some(call) if grows || self.recursive.is_empty() => return call,
                _ => format!("toid({})", self.set(depth)),
            },
            // Within a recursive definition, what is bound might be removed by its name.
            _ if grows => format!("let co = {} in {}", self.relation(depth, false), self.relation(depth, grows)),
            _ => return self.relation(0, grows),
        };
        self.closed(text)
    }

    fn definition(&mut self, text: &mut String, number: usize) {
        let name = ["a", "b", "po", "W"][self.below(4)].to_owned();
        match self.below(5) {
            0 => {
                let body = self.relation(3, true);
                writeln!(text, "let {name} = {body}").unwrap();
                self.sets.retain(|known| *known != name);
                self.relations.push(name);
            }
            1 => {
                let body = self.set(3);
                writeln!(text, "let {name} = {body}").unwrap();
                self.relations.retain(|known| *known != name);
                self.sets.push(name);
            }
            2 | 3 => {
                let careless = std::mem::replace(&mut self.careless, false);
                let names = ["u", "v"].map(|n| format!("{n}{number}"));
                self.recursive = names.to_vec();
                let (one, two) = (self.relation(3, true), self.relation(3, true));
                self.recursive.clear();
                writeln!(text, "let rec {} = {one} and {} = {two}", names[0], names[1]).unwrap();
                self.relations.extend(names);
                self.careless = careless;
            }
            _ => {
                let careless = std::mem::replace(&mut self.careless, false);
                let relation = self.below(2) == 0;
                let (sets, relations) = (self.sets.clone(), self.relations.clone());
                // In a recursive definition nothing may be removed that an argument has, so functions only add to theirs.
                let body = if relation {
                    self.recursive.push("x".to_owned());
                    let body = self.relation(2, true);
                    self.recursive.clear();
                    format!("x | {body}")
                } else {
                    self.sets.push("x".to_owned());
                    self.set(2)
                };
                (self.sets, self.relations) = (sets, relations);
                writeln!(text, "let f{number}(x) = {body}").unwrap();
                self.functions.push((format!("f{number}"), relation));
                self.careless = careless;
            }
        }
    }

    fn file(mut self) -> String {
        let mut text = String::new();
        for number in 0..self.below(5) {
            self.definition(&mut text, number);
        }
        for _ in 0..1 + self.below(4) {
            let role = ["", "flag ", "undefined_unless "][self.below(3)];
            let tilde = ["", "~"][self.below(2)];
            let (claim, of) = match self.below(4) {
                0 => ("acyclic", self.relation(3, true)),
                1 => ("irreflexive", self.relation(3, true)),
                2 => ("empty", self.set(3)),
                _ => ("empty", self.relation(3, true)),
            };
            writeln!(text, "{role}{tilde}{claim} {of}").unwrap();
        }
        text
    }
}

fn random_text(bytes: &[u8], careless: bool) -> String {
    let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
    let writer = Writer {
        bytes,
        sets: names(&["W", "R", "F"]),
        relations: names(&["po", "rf", "co"]),
        recursive: Vec::new(),
        functions: Vec::new(),
        careless,
    };
    writer.file()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn two_readings_of_any_text_agree(bytes in proptest::collection::vec(any::<u8>(), 0..120), seed: u64) {
        let base = model("empty W | R | F empty po | rf | co").unwrap();
        let text = random_text(&bytes, false);
        let world = World::any(&[&base], &mut Dice::new(seed));
        prop_assert_eq!(compare(&text, &world), Ok(true), "{}", text);
    }

    #[test]
    fn two_readings_agree_on_what_has_no_meaning(bytes in proptest::collection::vec(any::<u8>(), 0..120), seed: u64) {
        let base = model("empty W | R | F empty po | rf | co").unwrap();
        let text = random_text(&bytes, true);
        let world = World::any(&[&base], &mut Dice::new(seed));
        let compared = compare(&text, &world);
        assert!(compared.is_ok(), "{text} {compared:?}");
    }
}

/// An axiom's or a flag's name, with what shows it.
type Told = (String, Witness);

fn judged(text: &str, events: usize, pairs: &[(&str, &[(usize, usize)])]) -> (Option<Told>, Vec<Told>) {
    let model = model(text).unwrap();
    let mut world = World { events, ..World::default() };
    for (name, pairs) in pairs {
        world.relations.insert((*name).to_owned(), Relation::of(events, pairs.iter().copied()));
    }
    world.sets.insert("W".to_owned(), Set::of(events, [1]));
    let evaluation = Evaluation::of(&model, &world.bases(&model));
    let told = |f: super::Finding<'_>| (f.axiom.name.clone(), f.witness);
    (evaluation.failed().map(told), evaluation.flags().into_iter().map(told).collect())
}

#[test]
fn witnesses_show_what_is_wrong() {
    let rel: &[(&str, &[(usize, usize)])] = &[("po", &[(0, 1), (1, 2), (2, 3), (3, 1)]), ("rf", &[(2, 2)])];
    let first = |text: &str| judged(text, 4, rel).0.map(|f| f.1);
    assert_eq!(first("acyclic po"), Some(Witness::Cycle(vec![1, 2, 3])));
    assert_eq!(first("acyclic po | rf"), Some(Witness::Cycle(vec![2])));
    assert_eq!(first("irreflexive po irreflexive rf"), Some(Witness::Event(2)));
    assert_eq!(first("empty po & rf empty po"), Some(Witness::Pair(0, 1)));
    assert_eq!(first("empty W"), Some(Witness::Event(1)));
    assert_eq!(first("~empty po & rf"), Some(Witness::Holds));
    assert_eq!(first("~empty po ~acyclic po irreflexive po empty po \\ po"), None);
    let names = |text: &str| judged(text, 4, rel).1.into_iter().map(|f| f.0).collect::<Vec<_>>();
    assert_eq!(names("flag ~empty po as a flag empty po as b flag ~acyclic po as c"), ["a", "c"]);
    assert_eq!(
        names("undefined_unless empty po as a undefined_unless ~empty po as b flag empty rf & po as c"),
        ["a", "c"]
    );
    let mixed = judged("flag ~empty po as a acyclic po as b empty rf", 4, rel);
    assert_eq!(mixed.0.map(|f| f.0), Some("b".to_owned()));
    assert_eq!(mixed.1, [("a".to_owned(), Witness::Pair(0, 1))]);
}

#[test]
fn recursion_is_least() {
    let rel: &[(&str, &[(usize, usize)])] = &[("po", &[(0, 1), (1, 2), (2, 3)])];
    let text = "let rec a = po | a; a and b = b | a; b let rec c = c empty b empty c empty a \\ po+ empty po+ \\ a flag ~empty a as any";
    assert_eq!(judged(text, 4, rel), (None, vec![("any".to_owned(), Witness::Pair(0, 1))]));
}
