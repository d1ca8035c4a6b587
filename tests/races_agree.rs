//! The flags of our models of PTX, and the races that a search through all schedules of `flat` finds, agree on tests made by chance.
//!
//! Three sides are asked: the machine's search (`prove --check races`), the axioms, and all interleavings as executions of the axioms
//! ([`interleavings`]), which decide who is right: the machine finds a race if and only if an execution of an interleaving is flagged. What
//! the axioms flag besides has the reads and coherence order of no interleaving; such differences are counted by class.
//!
//! `AGREE_FULL` takes 2,000 tests; `RACES_TESTS` sets their number, `RACES_FROM` the first one.

use crate::{compare, generate, shared};
use compare::{LIMITS, parsed, smallest};
use generate::Family;
use libtest_mimic::Trial;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;
use warpstep::axiom::cat::{builtin, compile};
use warpstep::axiom::{Evaluation, Event, Execution, INITIAL, Id, Model, Program, Question, Relation, Way, search_by};
use warpstep::base::{FileId, SourceMap};
use warpstep::check::RacesOptions;
use warpstep::explore::space::{Options, Progress};
use warpstep::litmus::tree::{Instruction, Litmus, Value};
use warpstep::litmus::{Board, Options as Layout, Placement, Threads, lower, print};
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, ControlModel};
use warpstep::verdict::{Kind, LimitKind};

#[path = "races_agree/handoffs.rs"]
mod handoffs;
#[path = "races_agree/interleavings.rs"]
mod interleavings;

/// Steps of a search, and of all interleavings, at most.
const STEPS: u64 = 50_000;

/// What the machine finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flat {
    Races,
    None,
    /// A limit, something that the machine lacks, or another defect.
    Unknown,
}

/// Whether some schedule of the machine has a race.
pub fn flat(litmus: &Litmus) -> Flat {
    let mut sources = SourceMap::default();
    let file = sources.add("test", print(litmus));
    let control = Some(ControlModel::Thread);
    let layout = Layout { placement: Placement::Warps, control };
    let Ok(lowered) = lower(litmus, file, layout, &mut sources) else { return Flat::Unknown };
    let (config, races) = (Config { control, ..Config::default() }, RacesOptions::default());
    let Ok(mut board) = Board::watched(&lowered, config, Grain::Visible, Some(races)) else { return Flat::Unknown };
    let mut poll = |so_far: &Progress| (so_far.transitions > STEPS).then_some(LimitKind::Steps(STEPS));
    let space = board.explore(litmus, &mut Options::states(false, &mut poll));
    let races = space.found.iter().any(|found| found.stop.kind() == Kind::Race);
    let other = space.limit.is_some() || space.found.iter().any(|found| found.stop.kind() != Kind::Race);
    match (races, other) {
        (_, true) => Flat::Unknown,
        (true, false) => Flat::Races,
        (false, false) => Flat::None,
    }
}

/// How many threads of a test come to a barrier that says nothing of it: those of its cta that have one. None where a barrier says how
/// many, or a thread has several.
fn comers<'t>(litmus: &'t Litmus, threads: &'t Threads) -> Option<impl Fn(usize, &Event) -> u64 + use<'t>> {
    let barriers = |k: usize| {
        let all = litmus.threads[k].instructions().filter_map(|(i, _)| match i {
            Instruction::Barrier { instance, barrier, quorum, .. } => {
                let barrier = barrier.as_ref().and_then(|value| match value {
                    Value::Number(number, _) => Some(*number),
                    Value::Register(_) => None,
                });
                Some((*instance, barrier, quorum.is_some()))
            }
            _ => None,
        });
        all.collect::<Vec<_>>()
    };
    let all: Vec<Vec<_>> = (0..litmus.threads.len()).map(barriers).collect();
    let fits = all.iter().all(|one| one.len() < 2 && one.iter().all(|(.., quorum)| !quorum));
    fits.then_some(move |thread: usize, event: &Event| {
        let meets = |k: &usize| threads.related("meets", (Some(thread), event), (Some(*k), event));
        (0..all.len()).filter(|k| all[*k] == all[thread]).filter(meets).count() as u64
    })
}

/// Pairs of a relation by what events are called.
fn pairs(execution: &Execution, relation: &Relation) -> BTreeSet<(Id, Id)> {
    relation.iter().map(|(a, b)| (execution.events[a].0, execution.events[b].0)).collect()
}

/// What a model says of a test.
#[derive(Default)]
pub struct Said {
    /// Whether an interleaving is flagged.
    pub interleaved: bool,
    /// Interleavings that the model does not allow.
    pub refused: usize,
    /// The flagged executions that are found.
    pub flagged: Vec<Execution>,
    /// The executions of interleavings.
    pub executions: Vec<Execution>,
}

/// Asks a model of all interleavings; none where there are too many.
pub fn interleaved(litmus: &Litmus, model: &Model) -> Option<Said> {
    let threads = Threads::of(litmus);
    let counts = comers(litmus, &threads)?;
    let executions = interleavings::executions(&threads, model, &counts, STEPS)?;
    let mut said = Said::default();
    for execution in &executions {
        let evaluation = Evaluation::of(model, &execution.bases(model));
        said.refused += usize::from(evaluation.failed().is_some());
        said.interleaved |= !evaluation.flags().is_empty();
    }
    said.executions = executions;
    Some(said)
}

/// Asks a model of all executions, too; none where a limit is met.
fn said(litmus: &Litmus, model: &Model) -> Option<Said> {
    let (mut said, threads) = (interleaved(litmus, model)?, Threads::of(litmus));
    let question = Question { finals: &threads.finals, wanted: &|_, _| Some(true), symmetries: &[], flagged: true };
    let searched = search_by(Way::Graphs, &threads, model, &question, LIMITS, &mut |execution| {
        said.flagged.push(execution.clone());
        ControlFlow::Continue(())
    });
    (!searched.limited).then_some(said)
}

/// Whether an interleaving has the reads and the coherence order of an execution, as far as that orders writes.
fn interleaves(execution: &Execution, all: &[Execution]) -> bool {
    let (rf, co) = (pairs(execution, &execution.rf), pairs(execution, &execution.co));
    all.iter().any(|other| pairs(other, &other.rf) == rf && co.is_subset(&pairs(other, &other.co)))
}

/// What makes an execution one of no interleaving: the communications of a shortest cycle with program order.
fn class(execution: &Execution) -> String {
    let count = execution.events.len();
    let id = |n: usize| execution.events[n].0;
    let po =
        |a: usize, b: usize| id(a).thread == id(b).thread && id(a).thread != INITIAL && id(a).position < id(b).position;
    let fr = execution.rf.inverse().then(&execution.co.plus());
    let kinds = [("rf", &execution.rf), ("co", &execution.co), ("fr", &fr)];
    let mut best: Option<(usize, BTreeSet<&str>)> = None;
    for start in 0..count {
        // Breadth first, with the communications on the way.
        let mut seen = vec![false; count];
        let mut queue = VecDeque::from([(start, 0, BTreeSet::new())]);
        while let Some((at, length, names)) = queue.pop_front() {
            for (to, been) in seen.iter_mut().enumerate() {
                let by = kinds.iter().find(|(_, relation)| relation.contains(at, to)).map(|(name, _)| *name);
                if by.is_none() && !po(at, to) {
                    continue;
                }
                let mut names = names.clone();
                names.extend(by);
                if to == start {
                    if best.as_ref().is_none_or(|(least, _)| length + 1 < *least) {
                        best = Some((length + 1, names));
                    }
                } else if !std::mem::replace(been, true) {
                    queue.push_back((to, length + 1, names));
                }
            }
        }
    }
    best.map_or_else(
        || "no order of racing writes".to_owned(),
        |(_, names)| names.into_iter().collect::<Vec<_>>().join("+"),
    )
}

/// Whether the sides agree on a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Agreed {
    /// A race, or none.
    Both(bool),
    /// The axioms flag what no interleaving has: the classes of the flagged executions.
    OnlyAxioms(BTreeSet<String>),
    /// They do not.
    Wrong(&'static str),
    /// A limit was met, or the machine lacks something.
    Unknown,
}

/// Asks all sides.
pub fn agreed(litmus: &Litmus, model: &Model) -> Agreed {
    let machine = flat(litmus);
    let Some(said) = said(litmus, model).filter(|_| machine != Flat::Unknown) else { return Agreed::Unknown };
    let races = machine == Flat::Races;
    if said.refused > 0 {
        return Agreed::Wrong("the model does not allow an interleaving");
    }
    match (races, said.interleaved, said.flagged.is_empty()) {
        (true, false, _) => Agreed::Wrong("the machine finds a race, and no interleaving is flagged"),
        (false, true, _) => Agreed::Wrong("an interleaving is flagged, and the machine finds no race"),
        (true, true, true) => Agreed::Wrong("an interleaving is flagged, and the search finds no execution that is"),
        (false, false, true) => Agreed::Both(false),
        (true, true, false) => Agreed::Both(true),
        (false, false, false) if said.flagged.iter().any(|e| interleaves(e, &said.executions)) => {
            Agreed::Wrong("a flagged execution has the reads and the coherence order of an interleaving")
        }
        (false, false, false) => Agreed::OnlyAxioms(said.flagged.iter().map(class).collect()),
    }
}

/// The test of a number: every other one hands data on. The machine is one device, and has PTX's compare-and-swap, which stores
/// always (D-race, D-litmus-cas).
pub fn generated(number: u64) -> Litmus {
    let text = if number.is_multiple_of(2) { handoffs::test(number) } else { generate::test(Family::Ptx, number) };
    parsed(&text.replace("gpu 1", "gpu 0").replace(".cas.success", ".cas"))
}

fn numbers() -> std::ops::Range<u64> {
    let set = |name: &str, usual: u64| {
        std::env::var(name).map_or(usual, |n| n.parse().unwrap_or_else(|_| panic!("{name} is a number")))
    };
    let full = std::env::var_os("AGREE_FULL").is_some();
    let from = set("RACES_FROM", 0);
    from..from + set("RACES_TESTS", if full { 2_000 } else { 100 })
}

fn sweep(name: &str) {
    let model = builtin(name).expect("a model that comes along");
    let (mut both, mut unknown, mut wrong) = ([0, 0], 0, Vec::new());
    let mut classes: BTreeMap<String, (u64, Litmus)> = BTreeMap::new();
    for number in numbers() {
        let litmus = generated(number);
        match agreed(&litmus, model) {
            Agreed::Both(races) => both[usize::from(races)] += 1,
            Agreed::OnlyAxioms(all) => {
                let all: Vec<String> = all.into_iter().collect();
                classes.entry(all.join(", ")).or_insert((0, litmus)).0 += 1;
            }
            Agreed::Unknown => unknown += 1,
            Agreed::Wrong(why) if wrong.len() < 5 => {
                let same = |smaller: &Litmus| agreed(smaller, model) == Agreed::Wrong(why);
                wrong.push(format!("{name}, test {number}: {why}\n{}", print(&smallest(&litmus, &same))));
            }
            Agreed::Wrong(_) => {}
        }
    }
    let only: u64 = classes.values().map(|(count, _)| count).sum();
    let [none, races] = both;
    eprintln!("{name}: {races} tests race, {none} do not, {only} race by axioms only, {unknown} are undecided");
    for (class, (count, litmus)) in &classes {
        let kept = |smaller: &Litmus| match agreed(smaller, model) {
            Agreed::OnlyAxioms(all) => all.into_iter().collect::<Vec<_>>().join(", ") == *class,
            _ => false,
        };
        let shown = std::env::var_os("RACES_SHOW").map(|_| print(&smallest(litmus, &kept))).unwrap_or_default();
        eprintln!("  {count}: {class}\n{shown}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let known: BTreeSet<String> = shown().into_keys().collect();
    let new: Vec<&String> = classes.keys().filter(|class| !class.split(", ").all(|one| known.contains(one))).collect();
    assert!(new.is_empty(), "classes without a litmus test in tests/races_agree/classes: {new:?}");
    let asked = numbers().end - numbers().start;
    assert!(unknown * 4 <= asked && none * 10 >= asked && races * 10 >= asked, "{unknown} of {asked} undecided");
}

/// The litmus tests that stand for the classes, by the name of the class.
fn shown() -> BTreeMap<String, Litmus> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/races_agree/classes");
    let files = std::fs::read_dir(folder).expect("the classes").flatten().map(|entry| entry.path());
    let test = |path: std::path::PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, parsed(&std::fs::read_to_string(&path).expect("a test")))
    };
    files.map(test).collect()
}

/// Each class has a test that is of this class alone, under both models.
fn classes_are_shown() {
    for (class, litmus) in shown() {
        for name in ["ptx-v6.0", "ptx-v7.5"] {
            let agreed = agreed(&litmus, builtin(name).expect("a model that comes along"));
            assert_eq!(agreed, Agreed::OnlyAxioms(BTreeSet::from([class.clone()])), "{name}");
        }
    }
    assert_eq!(shown().len(), 6);
}

/// Errors in a model are noticed: what is replaced, and by what.
fn wrong_models_are_noticed() {
    let text = include_str!("../analysis/src/axiom/models/ptx-v7.5.cat");
    let wrong = [
        ("let synchronizes = sync | sync_barrier | sync_fence", "let synchronizes = sync | sync_barrier"),
        ("let synchronizes = sync | sync_barrier | sync_fence", "let synchronizes = sync | sync_fence"),
        ("conflict \\ morally-strong \\ (cause | cause^-1)", "conflict \\ morally-strong \\ cause"),
        ("conflict \\ morally-strong \\ (cause | cause^-1)", "conflict \\ (cause | cause^-1)"),
        (
            "of-all-parts(morally-strong & (release; of-all-parts(observation)+; acquire))",
            "of-all-parts(release; of-all-parts(observation)+; acquire)",
        ),
        ("of-all-parts(of-all-parts(observation)?; preserved)", "of-all-parts(preserved)"),
    ];
    for (is, planted) in wrong {
        assert!(text.contains(is), "{is}");
        let text = text.replace(is, planted);
        let model = compile("planted", FileId(0), &text, &mut |_| Err(String::new())).expect("a model");
        let differs = |number: &u64| {
            let litmus = generated(*number);
            let machine = flat(&litmus);
            let said = interleaved(&litmus, &model).filter(|_| machine != Flat::Unknown);
            said.is_some_and(|said| said.refused > 0 || said.interleaved != (machine == Flat::Races))
        };
        let noticed = (0..2_000).step_by(2).find(differs);
        eprintln!("`{planted}`: noticed on test {noticed:?}");
        assert!(noticed.is_some());
    }
}

/// On which of the tests that hand data on the machine is not what the interleavings say.
#[cfg(feature = "mutants")]
pub mod mutants {
    use super::{Flat, builtin, flat, generated, interleaved};
    use warpstep::base::mutant::{Mutant, select};
    use warpstep::litmus::tree::Litmus;

    const MUTANTS: [Mutant; 4] =
        [Mutant::AcquireAnyScope, Mutant::FenceOrderForgotten, Mutant::HistoriesMerged, Mutant::FencesUnnoticed];

    /// Each mutant is noticed.
    pub fn are_noticed() {
        let model = builtin("ptx-v7.5").expect("a model that comes along");
        let case = |number| {
            let litmus: Litmus = generated(number);
            let right = interleaved(&litmus, model).filter(|_| flat(&litmus) != Flat::Unknown)?.interleaved;
            Some((litmus, right))
        };
        let cases: Vec<(Litmus, bool)> = (0..800).step_by(2).filter_map(case).collect();
        for mutant in std::iter::once(None).chain(MUTANTS.map(Some)) {
            select(mutant);
            let differs = |(litmus, right): &&(Litmus, bool)| (flat(litmus) == Flat::Races) != *right;
            let count = cases.iter().filter(differs).count();
            select(None);
            let name = mutant.map_or("none", Mutant::name);
            eprintln!("{name}: noticed on {count} of {} tests", cases.len());
            assert_eq!(count > 0, mutant.is_some(), "{name}");
        }
    }
}

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    shared::trials(&[
        ("ptx-v6.0", None, || sweep("ptx-v6.0")),
        ("ptx-v7.5", None, || sweep("ptx-v7.5")),
        ("noticed", None, wrong_models_are_noticed),
        ("classes", None, classes_are_shown),
    ])
}
