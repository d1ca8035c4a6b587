//! The hardware of remote-scope promotion (spec-notes/rsp-machine.md): the published bugs, deadlocks, theorem 1 by brute force, and which
//! instructions of table 3 are necessary. `RSP_FULL=1` leaves no program of a sweep out, `RSP_FULL=3` takes one in three.

mod devices;
mod figure2;
mod generate;
mod reduced;
mod seeded;

use std::path::PathBuf;
use warpstep::explore::promotion::{End, Grain, Options, Space, explore};
use warpstep::litmus::rsp::{Home, Test};
use warpstep::litmus::rsp_machine::axioms::{Axiom, Inclusion, judge};
use warpstep::litmus::rsp_machine::necessity::{Corpus, Fault, Needed, necessity};
use warpstep::litmus::rsp_machine::sweep::{
    ONE_DEVICE, Op, Placing, Shape, TWO_DEVICES, conditional, placings, programs,
};
use warpstep::litmus::rsp_machine::{
    Compiled, Kind, Refused, Scheme, Verdict, Width, candidates, compile, races, verify,
};
use warpstep::report::rsp_machine::{part, row, scheme as column, table};

const KINDS: [Kind; 3] = [Kind::Load, Kind::Store, Kind::Update];
const NARROW: Option<(u8, bool)> = Some((0, false));
const DEVICE: Option<(u8, bool)> = Some((1, false));
const REMOTE: Option<(u8, bool)> = Some((1, true));

/// Every how many-th program is looked at.
fn stride(usual: usize) -> usize {
    let whole = std::env::var("RSP_FULL").ok().map(|n| n.parse().unwrap_or(1));
    whole.map_or(usual, |n| usual.min(n))
}

fn op(kind: Kind, atomic: Option<(u8, bool)>, at: u8) -> Op {
    Op { kind, atomic, at }
}

const fn home(device: u32, group: u32) -> Home {
    Home { device, group }
}

/// Two threads in two work-groups of a device.
fn pair(one: &[Op], other: &[Op], conditional: Option<usize>) -> Shape {
    Shape { threads: vec![(home(0, 0), one.to_vec()), (home(0, 1), other.to_vec())], conditional }
}

/// Message passing: the second thread reads `x` if it has read the flag `y`, by a load or by an increment.
fn message_passing(flag: Kind) -> Shape {
    let (writes, reads) =
        ([op(Kind::Store, None, 0), op(Kind::Store, DEVICE, 1)], [op(flag, DEVICE, 1), op(Kind::Load, None, 0)]);
    pair(&writes, &reads, Some(1))
}

/// Figure 5: an increment for the work-group beside a remote store.
fn figure5() -> Shape {
    pair(&[op(Kind::Update, NARROW, 0)], &[op(Kind::Store, REMOTE, 0)], None)
}

fn compiled(test: &Test, scheme: &Scheme) -> Compiled {
    compile(test, scheme).unwrap()
}

fn search(compiled: &Compiled, grain: Grain, ghost: bool, stuck: bool) -> Space {
    explore(&compiled.program, &mut Options { ghost, stuck, ..Options::new(grain) })
}

fn golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/rsp_machine").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, text, "{name} has changed; BLESS=1 writes it");
}

/// The values of registers and memory at the ends of complete executions.
fn finals(space: &Space) -> Vec<(Vec<i32>, Vec<i32>)> {
    let mut all: Vec<_> = space.ends.keys().map(|end| (end.registers.clone(), end.memory.clone())).collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn the_published_bugs_are_found_and_repaired() {
    for (name, shape, axioms) in [
        // `x` is read as an atomic location or not: another axiom is violated then.
        ("figure4.txt", message_passing(Kind::Load), vec![Axiom::Narf, Axiom::Coh]),
        ("figure4-increment.txt", message_passing(Kind::Update), vec![Axiom::Narf, Axiom::Coh]),
        ("figure5.txt", figure5(), vec![Axiom::Rmw]),
    ] {
        let test = shape.test();
        let (original, proposed) = (compiled(&test, &Scheme::original()), compiled(&test, &Scheme::proposed()));
        for (atomic, axiom) in shape.atomics().iter().zip(axioms) {
            let Verdict::Unsound(violation) = verify(&original, atomic, None) else { panic!("{name} is not found") };
            assert_eq!(violation.axiom, axiom, "{name}");
            golden(name, &table(&test, &original, Grain::Needed, &violation.path));
            assert!(matches!(verify(&proposed, atomic, None), Verdict::Sound(..)), "{name} is not repaired");
        }
        // Nothing that is left out would have shown it sooner, or hidden it.
        let whole = finals(&search(&original, Grain::Every, false, false));
        assert_eq!(whole, finals(&search(&original, Grain::Needed, false, false)), "{name}");
    }
}

#[test]
fn table_3_is_as_it_was_published() {
    golden("original.txt", &column(&Scheme::original()));
    golden("proposed.txt", &column(&Scheme::proposed()));
}

#[test]
fn the_examples_have_the_outcomes_of_the_paper() {
    let examples = [
        (pair(&[op(Kind::Update, DEVICE, 0)], &[op(Kind::Store, DEVICE, 0)], None), [&[2, 3][..], &[2, 3]], false),
        (pair(&[op(Kind::Update, NARROW, 0)], &[op(Kind::Store, DEVICE, 0)], None), [&[1, 2, 3], &[1, 2, 3]], true),
        (figure5(), [&[1, 2, 3], &[2, 3]], false),
    ];
    for (shape, values, racy) in examples {
        let test = shape.test();
        for (scheme, values) in [Scheme::original(), Scheme::proposed()].iter().zip(values) {
            let compiled = compiled(&test, scheme);
            let mut found: Vec<i32> =
                search(&compiled, Grain::Needed, false, false).ends.keys().map(|e| e.memory[0]).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, values, "{shape:?}");
            assert_eq!(races(&compiled, &[true], Inclusion::Section3), racy, "{shape:?}");
        }
    }
}

/// Example 2: the program of example 1 has two executions; one in which the store comes between the two halves of the increment violates (Rmw). The
/// machine has both.
#[test]
fn example_1_has_the_two_executions_of_example_2() {
    let shape = pair(&[op(Kind::Update, DEVICE, 0)], &[op(Kind::Store, DEVICE, 0)], None);
    for scheme in [Scheme::original(), Scheme::proposed()] {
        let compiled = compiled(&shape.test(), &scheme);
        let (mut allowed, mut others) = (Vec::new(), Vec::new());
        candidates(&compiled, &mut |graph, _| {
            let judgement = judge(&compiled, &[true], graph, Inclusion::Section3);
            assert_eq!(judgement.race, None);
            match judgement.violated {
                None => allowed.push(graph.clone()),
                Some(axiom) => others.push(axiom),
            }
            false
        });
        assert_eq!((allowed.len(), others.as_slice()), (2, &[Axiom::Coh, Axiom::Rmw][..]));
        let space = search(&compiled, Grain::Needed, true, false);
        let mut shown: Vec<_> = space.ends.keys().map(|end| (end.graph.clone(), end.memory.clone())).collect();
        shown.sort_by_key(|(_, memory)| memory[0]);
        assert!(shown.len() == 2 && shown.iter().all(|(graph, _)| allowed.contains(graph)));
        assert_eq!(shown.iter().map(|(_, memory)| memory[0]).collect::<Vec<_>>(), [2, 3]);
    }
}

/// The nine operations of table 3 on one location.
fn nine() -> Vec<Op> {
    KINDS.iter().flat_map(|kind| [NARROW, DEVICE, REMOTE].map(|atomic| op(*kind, atomic, 0))).collect()
}

/// How many programs with so many operations of the first thread and one of the second can be left waiting for ever.
fn stuck(scheme: &Scheme, first: usize) -> (usize, usize) {
    let (mut count, mut all) = (0, 0);
    for one in nine() {
        for more in nine().into_iter().take(if first == 1 { 1 } else { 9 }) {
            for other in nine() {
                let shape = pair(&[one, more][..first], &[other], None);
                let space = search(&compiled(&shape.test(), scheme), Grain::Every, false, true);
                count += usize::from(space.stuck.0 != 0);
                all += 1;
            }
        }
    }
    (count, all)
}

#[test]
fn locks_of_the_original_scheme_can_stop_what_their_holder_waits_for() {
    let shape = pair(&[op(Kind::Store, NARROW, 0)], &[op(Kind::Load, REMOTE, 0)], None);
    let test = shape.test();
    let original = compiled(&test, &Scheme::original());
    let space = search(&original, Grain::Every, false, true);
    let (states, found) = space.stuck;
    assert!(states > 0);
    golden("deadlock.txt", &table(&test, &original, Grain::Every, &found.unwrap().path));
    assert_eq!(stuck(&Scheme::original(), 1), (16, 81));
    assert_eq!(stuck(&Scheme::proposed(), 1), (0, 81));
    if stride(2) == 1 {
        assert_eq!(stuck(&Scheme::original(), 2), (240, 729));
        assert_eq!(stuck(&Scheme::proposed(), 2), (0, 729));
    }
}

/// What came of a sweep.
#[derive(Default)]
struct Sum {
    seen: usize,
    programs: u64,
    racy: u64,
    states: u64,
    unsound: Vec<(Shape, Axiom)>,
}

impl Sum {
    fn look(&mut self, shape: &Shape, scheme: &Scheme, stride: usize) {
        self.seen += 1;
        if !self.seen.is_multiple_of(stride) {
            return;
        }
        let compiled = match compile(&shape.test(), scheme) {
            Ok(compiled) => compiled,
            Err(Refused::NoScope(..)) => return,
            Err(refused) => panic!("{shape:?}: {refused:?}"),
        };
        for atomic in shape.atomics() {
            self.programs += 1;
            match verify(&compiled, &atomic, None) {
                Verdict::Racy => self.racy += 1,
                Verdict::Sound(_, states) => self.states += states,
                Verdict::Unsound(violation) => self.unsound.push((shape.clone(), violation.axiom)),
                Verdict::Limit(limit) => panic!("{limit:?}"),
            }
        }
    }

    fn tell(&self, what: &str) {
        println!(
            "{what}: {} programs, {} racy, {} states, {} unsound",
            self.programs,
            self.racy,
            self.states,
            self.unsound.len()
        );
    }
}

fn ops(scopes: u8) -> Vec<Op> {
    (0..2).flat_map(|at| Op::all(&KINDS, scopes, at)).collect()
}

fn sweep(scheme: &Scheme, placings: &[Placing], scopes: u8, stride: usize) -> Sum {
    let mut sum = Sum::default();
    placings.iter().for_each(|p| programs(p, &ops(scopes), &mut |shape| sum.look(shape, scheme, stride)));
    sum
}

/// Programs of four operations, one of them under a condition on a value that was read.
fn sweep_conditional(scheme: &Scheme, homes: &[[Home; 2]], scopes: u8, stride: usize) -> Sum {
    let mut sum = Sum::default();
    for homes in homes {
        conditional(*homes, &|at| Op::all(&KINDS, scopes, at), &mut |shape| sum.look(shape, scheme, stride));
    }
    sum
}

const GROUPS: [[Home; 2]; 2] = [[home(0, 0), home(0, 0)], [home(0, 0), home(0, 1)]];

#[test]
fn the_proposed_scheme_is_sound() {
    let scheme = Scheme::proposed();
    for (operations, stride) in [(2, stride(3)), (3, stride(301))] {
        let sum = sweep(&scheme, &placings(operations, ONE_DEVICE), 2, stride);
        sum.tell(&format!("{operations} operations"));
        assert_eq!(sum.unsound, []);
        assert!(sum.racy * 50 > sum.programs && sum.racy * 2 < sum.programs, "{} of {}", sum.racy, sum.programs);
    }
    let sum = sweep_conditional(&scheme, &GROUPS, 2, stride(4001));
    sum.tell("4 operations, with a condition");
    assert_eq!(sum.unsound, []);
    assert!(sum.racy != 0);
}

#[test]
fn the_proposed_scheme_with_rows_for_all_devices_is_sound() {
    let scheme = Scheme::proposed();
    for (operations, stride) in [(2, stride(5)), (3, stride(1009))] {
        let sum = sweep(&scheme, &placings(operations, TWO_DEVICES), 3, stride);
        sum.tell(&format!("{operations} operations on two devices"));
        assert_eq!(sum.unsound, []);
    }
    let sum = sweep_conditional(&scheme, &[[home(0, 0), home(1, 0)]], 3, stride(40_009));
    sum.tell("4 operations on two devices, with a condition");
    assert_eq!(sum.unsound, []);
}

/// A sweep that cannot fail proves nothing.
#[test]
fn the_same_sweep_finds_the_bugs_of_the_original_scheme() {
    let scheme = Scheme::original();
    let sum = sweep(&scheme, &placings(2, ONE_DEVICE), 2, 1);
    sum.tell("2 operations, original");
    assert_eq!(sum.unsound.len(), 2);
    let remote_store = |shape: &Shape| shape.threads.iter().any(|(_, ops)| ops[0] == op(Kind::Store, REMOTE, 0));
    assert!(sum.unsound.iter().all(|(shape, axiom)| *axiom == Axiom::Rmw && remote_store(shape)));
    // Those that pass messages, of all with a condition; the whole of them is for a full run.
    let of = |shape: &Shape, flag: Kind| shape.threads == message_passing(flag).threads;
    let mut sum = Sum::default();
    conditional(GROUPS[1], &|at| Op::all(&KINDS, 2, at), &mut |shape| {
        if stride(2) == 1 || of(shape, Kind::Load) || of(shape, Kind::Update) {
            sum.look(shape, &scheme, 1);
        }
    });
    sum.tell("4 operations, with a condition, original");
    for flag in [Kind::Load, Kind::Update] {
        assert!(sum.unsound.iter().any(|(shape, axiom)| of(shape, flag) && *axiom == Axiom::Narf), "{flag:?}");
    }
}

/// A table of what goes wrong without each instruction.
fn missed(table: &[Needed]) -> String {
    let mut text = String::new();
    for needed in table {
        let missed = needed.missed.as_ref().map_or_else(
            || "not missed".to_owned(),
            |(shape, fault)| {
                let program = warpstep::litmus::rsp::print(&shape.test());
                let body = program.split_once("}\n").map_or("", |(_, body)| body);
                let body = body.split_whitespace().collect::<Vec<_>>().join(" ");
                let fault = match fault {
                    Fault::Unsound(violation) => violation.axiom.name().to_owned(),
                    Fault::Stuck(_) => "waits for ever".to_owned(),
                };
                format!("{fault}: {body}")
            },
        );
        text += &format!("{} without {} ({}): {missed}\n", row(needed.row), part(needed.step), needed.position + 1);
    }
    text
}

#[test]
fn every_instruction_of_the_proposed_scheme_is_necessary() {
    let full = stride(2) == 1;
    let mut sizes = placings(2, ONE_DEVICE);
    if full {
        sizes.extend(placings(3, ONE_DEVICE));
    }
    let conditionals: &[_] = if full { &GROUPS[1..] } else { &[] };
    let ops = |at| Op::all(&KINDS, 2, at);
    let corpus = Corpus { placings: &sizes, conditionals, ops: &ops, waits: if full { 2 } else { 0 } };
    let of = |row: warpstep::litmus::rsp_machine::Row| matches!(row.width, Width::Device | Width::DeviceRemote);
    let table = necessity(&Scheme::proposed(), &of, &corpus);
    assert_eq!(table.len(), 18);
    let text = missed(&table);
    if full {
        assert!(table.iter().all(|needed| needed.missed.is_some()), "{text}");
        golden("necessity.txt", &text);
    } else {
        // Seven show in programs of two operations already; the others take a program that passes a message, or one that waits.
        assert_eq!(table.iter().filter(|needed| needed.missed.is_some()).count(), 7, "{text}");
    }
}

/// Two remote operations of the narrowest scope, on different work-groups: footnote 3's `incl1` makes them synchronise.
#[test]
fn footnote_3_is_told_apart() {
    let remote = Some((0, true));
    let writes = [op(Kind::Store, None, 0), op(Kind::Store, remote, 1)];
    let reads = [op(Kind::Load, remote, 1), op(Kind::Load, None, 0)];
    let shape = pair(&writes, &reads, Some(1));
    let compiled = compiled(&shape.test(), &Scheme::proposed());
    let atomic = [false, true];
    assert!(races(&compiled, &atomic, Inclusion::Section3));
    assert!(!races(&compiled, &atomic, Inclusion::Footnote3));
    let space = search(&compiled, Grain::Needed, true, false);
    let broken = |end: &&End| judge(&compiled, &atomic, &end.graph, Inclusion::Footnote3).violated.is_some();
    assert!(space.ends.keys().any(|end| broken(&end)), "no scheme could implement it");
}
