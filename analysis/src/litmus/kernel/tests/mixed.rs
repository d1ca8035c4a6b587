//! Kernels whose accesses overlap in part: by hand, and against all interleavings.

use super::kernel;
use crate::axiom::cat::builtin;
use crate::axiom::{End, Kind, Known, Limits, Place, Program, Question, Way, search_mixed};
use crate::litmus::kernel::{Kernel, MIXED_SIZE_RACE};
use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::ControlFlow;

const WAYS: [Way; 3] = [Way::Graphs, Way::Candidates, Way::Sat];
const MODELS: [&str; 2] = ["ptx-v6.0", "ptx-v7.5"];
/// Choices at most of a way: one that judges every candidate soon has too many.
const fn limits(way: Way) -> Limits {
    Limits { bound: 1, choices: if matches!(way, Way::Candidates) { 20_000 } else { 200_000 } }
}

/// What each thread does where `%r15` is its number, behind the addresses of `x` and of results.
fn threads(bodies: &[&str]) -> String {
    let mut text = "mov.u32 %r15, %tid.x; mov.u64 %rd0, x; mov.u64 %rd1, y;\n".to_owned();
    for (k, body) in bodies.iter().enumerate() {
        let _ = writeln!(text, "setp.ne.u32 %p7, %r15, {k};\n@%p7 bra NEXT{k};\n{body}\nbra.uni END;\nNEXT{k}:");
    }
    text + "END:"
}

fn made(bodies: &[&str]) -> Kernel {
    kernel(&threads(bodies), (1, bodies.len() as u32))
}

/// So many results of eight bytes, and `x`, as far as it is of interest.
fn finals(kernel: &Kernel, results: u32) -> Vec<Place> {
    let mut all: Vec<Place> = (0..results).map(|k| kernel.place("y", 8 * k, 8).unwrap()).collect();
    all.push(kernel.place("x", 0, 8).unwrap());
    all
}

/// What a model allows to be left; none where a limit comes first.
fn allowed(kernel: &Kernel, model: &str, way: Way, finals: &[Place]) -> Option<BTreeSet<Vec<u64>>> {
    let mut all = BTreeSet::new();
    let question = Question { finals, wanted: &|_, _| Some(true), symmetries: &[], flagged: false };
    let searched = search_mixed(way, kernel, builtin(model).unwrap(), &question, limits(way), &mut |execution| {
        all.insert(execution.finals.iter().map(|(_, value)| *value).collect());
        ControlFlow::Continue(())
    });
    assert_eq!(searched.unsupported, None);
    (!searched.limited && !searched.bounded).then_some(all)
}

/// The flags that some execution raises; none where a limit comes first.
fn flags(kernel: &Kernel, model: &str, way: Way) -> Option<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    let question = Question { finals: &[], wanted: &|_, _| Some(true), symmetries: &[], flagged: true };
    let searched = search_mixed(way, kernel, builtin(model).unwrap(), &question, limits(way), &mut |execution| {
        all.extend(execution.flags.iter().cloned());
        ControlFlow::Continue(())
    });
    assert_eq!(searched.unsupported, None);
    (!searched.limited).then_some(all)
}

/// Asserts what is left and which flags there are, under both models and in all ways.
#[track_caller]
fn says(bodies: &[&str], results: u32, expected: &[&[u64]], raised: &[&str]) {
    let kernel = made(bodies);
    let finals = finals(&kernel, results);
    let expected: BTreeSet<Vec<u64>> = expected.iter().map(|list| list.to_vec()).collect();
    let raised: BTreeSet<String> = raised.iter().map(|&flag| flag.to_owned()).collect();
    for (model, way) in MODELS.into_iter().flat_map(|model| WAYS.map(|way| (model, way))) {
        let left = allowed(&kernel, model, way, &finals).expect("no limit");
        let left: BTreeSet<Vec<u64>> = left.iter().map(|all| all[..results as usize].to_vec()).collect();
        assert_eq!(left, expected, "{model} {way:?}");
        assert_eq!(flags(&kernel, model, way).as_ref(), Some(&raised), "{model} {way:?}");
    }
}

/// What nobody accesses is as it was: two of the ways once found no execution at all where that was asked about.
#[test]
fn what_nobody_accesses_is_asked_about_in_every_way() {
    says(&["mov.u64 %rd2, 5;\nst.global.u64 [%rd1], %rd2;"], 2, &[&[5, 0]], &[]);
}

/// Its own bytes a thread always finds.
#[test]
fn halves_of_what_a_thread_wrote_itself() {
    let body = "st.global.u64 [%rd0], 0x100000002;\nld.global.u32 %r1, [%rd0];\nld.global.u32 %r2, [%rd0+4];\n\
        st.global.u8 [%rd0+5], 7;\nld.global.u64 %rd2, [%rd0];\n\
        cvt.u64.u32 %rd3, %r1;\ncvt.u64.u32 %rd4, %r2;\n\
        st.global.u64 [%rd1], %rd3;\nst.global.u64 [%rd1+8], %rd4;\nst.global.u64 [%rd1+16], %rd2;";
    says(&[body], 3, &[&[2, 1, 0x0000_0701_0000_0002]], &[]);
}

/// A barrier orders what overlaps in part as anything else; without it there is a race of its own kind.
#[test]
fn a_barrier_orders_parts() {
    let write = |then: &str| format!("st.global.u32 [%rd0], 1;\nst.global.u32 [%rd0+4], 2;\n{then}");
    let read = |first: &str| format!("{first}\nld.relaxed.gpu.global.u64 %rd2, [%rd0];\nst.global.u64 [%rd1], %rd2;");
    let barrier = "bar.sync 0;";
    says(&[&write(barrier), &read(barrier)], 1, &[&[0x2_0000_0001]], &[]);
    let torn: &[&[u64]] = &[&[0], &[1], &[0x2_0000_0000], &[0x2_0000_0001]];
    says(&[&write(""), &read("")], 1, torn, &[MIXED_SIZE_RACE]);
}

/// Where bytes are also accessed otherwise, eight of them are still read at once, but only by what is morally strong (8.10.3).
#[test]
fn what_is_morally_strong_does_not_tear() {
    let before = "st.global.u32 [%rd0], 0;\nst.global.u32 [%rd0+4], 0;\nbar.sync 0;\n";
    let ones = 0x1_0000_0001;
    let kernel = |store: &str, load: &str| {
        let write = format!("{before}mov.u64 %rd3, {ones};\n{store}.global.u64 [%rd0], %rd3;");
        let read = format!("bar.sync 0;\n{load}.global.u64 %rd2, [%rd0];\nst.global.u64 [%rd1], %rd2;");
        [write, read]
    };
    let [write, read] = kernel("st.relaxed.cta", "ld.relaxed.cta");
    says(&[&write, &read], 1, &[&[0], &[ones]], &[]);
    let [write, read] = kernel("st.release.cta", "ld.acquire.gpu");
    says(&[&write, &read], 1, &[&[0], &[ones]], &[]);
    let [write, read] = kernel("st", "ld");
    says(&[&write, &read], 1, &[&[0], &[1], &[0x1_0000_0000], &[ones]], &["racy"]);
    let [write, read] = kernel("st.relaxed.cta", "ld");
    says(&[&write, &read], 1, &[&[0], &[1], &[0x1_0000_0000], &[ones]], &["racy"]);
}

/// Coherence is of operations: of two writes that are morally strong one is the last to all bytes.
#[test]
fn writes_are_coherent_as_a_whole() {
    let one = "st.relaxed.cta.global.u64 [%rd0], 1;\nbar.sync 0;\nld.global.u32 %r1, [%rd0+4];\ncvt.u64.u32 %rd2, %r1;\n\
        ld.global.u32 %r1, [%rd0];\ncvt.u64.u32 %rd3, %r1;\nst.global.u64 [%rd1], %rd2;\nst.global.u64 [%rd1+8], %rd3;";
    let two = "mov.u64 %rd3, 0x200000002;\nst.relaxed.cta.global.u64 [%rd0], %rd3;\nbar.sync 0;";
    says(&[one, two], 2, &[&[0, 1], &[2, 2]], &[]);
    let weak = |body: &str| body.replace("st.relaxed.cta", "st");
    says(&[&weak(one), &weak(two)], 2, &[&[0, 1], &[0, 2], &[2, 1], &[2, 2]], &["racy"]);
}

/// Atomic operations that overlap in part are atomic, in each other's scope (8.7.2), although the axioms say nothing else of such a race.
#[test]
fn atomic_operations_of_different_sizes_are_atomic() {
    let wide =
        "mov.u64 %rd3, 0x100000001;\natom.relaxed.cta.global.exch.b64 %rd2, [%rd0], %rd3;\nst.global.u64 [%rd1], %rd2;";
    let narrow =
        "atom.relaxed.cta.global.exch.b32 %r1, [%rd0], 2;\ncvt.u64.u32 %rd2, %r1;\nst.global.u64 [%rd1+8], %rd2;";
    let kernel = made(&[wide, narrow]);
    for (model, way) in MODELS.into_iter().flat_map(|model| WAYS.map(|way| (model, way))) {
        let left = allowed(&kernel, model, way, &finals(&kernel, 2)).unwrap();
        let one_after_the_other = [vec![0, 1, 0x1_0000_0002], vec![2, 0, 0x1_0000_0001]];
        assert_eq!(left, BTreeSet::from(one_after_the_other), "{model} {way:?}");
        assert_eq!(flags(&kernel, model, way), Some(BTreeSet::from([MIXED_SIZE_RACE.to_owned()])), "{model} {way:?}");
    }
    let after = format!("bar.sync 0;\n{}", narrow.replace("exch.b32", "add.u32"));
    says(&[&format!("{wide}\nbar.sync 0;"), &after], 2, &[&[0, 1]], &[]);
}

/// Bytes are copied in a loop, and read as a word by another thread.
#[test]
fn bytes_are_copied_and_read_as_a_word() {
    let copy = "mov.u64 %rd3, 0x44332211;\nst.global.u32 [%rd0+8], 0x44332211;\nmov.u32 %r2, 0;\nL:\ncvt.u64.u32 %rd4, %r2;\n\
        add.u64 %rd4, %rd0, %rd4;\nld.global.u8 %r3, [%rd4+8];\nst.global.u8 [%rd4], %r3;\nadd.u32 %r2, %r2, 1;\n\
        setp.lt.u32 %p1, %r2, 2;\n@%p1 bra L;\nbar.sync 0;";
    let read = "bar.sync 0;\nld.global.u16 %r1, [%rd0];\ncvt.u64.u32 %rd2, %r1;\nst.global.u64 [%rd1], %rd2;";
    says(&[copy, read], 1, &[&[0x2211]], &[]);
}

/// A store of a vector is several stores; its elements are taken apart where they are read in halves only.
#[test]
fn vectors_are_their_elements() {
    let store = "st.global.v4.u32 [%rd0], {1, 2, 3, 4};\nbar.sync 0;".replace("{1, 2, 3, 4}", "{%r1, %r2, %r3, %r4}");
    let store = format!("mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 4;\n{store}");
    let read = "bar.sync 0;\nld.global.u64 %rd2, [%rd0+8];\nld.global.u16 %r1, [%rd0+4];\ncvt.u64.u32 %rd3, %r1;\n\
        st.global.u64 [%rd1], %rd2;\nst.global.u64 [%rd1+8], %rd3;";
    says(&[&store, read], 2, &[&[0x4_0000_0003, 2]], &[]);
}

/// Accesses whose addresses are read: which parts there are is found in the course of a search.
#[test]
fn parts_appear_where_addresses_are_read() {
    let write = "st.relaxed.cta.global.u32 [%rd0+16], 4;\nst.global.u64 [%rd0], 5;";
    let read = "ld.relaxed.cta.global.u32 %r1, [%rd0+16];\ncvt.u64.u32 %rd2, %r1;\nadd.u64 %rd2, %rd0, %rd2;\n\
        ld.global.u32 %r2, [%rd2];\ncvt.u64.u32 %rd3, %r2;\nst.global.u64 [%rd1], %rd3;";
    let kernel = made(&[write, read]);
    for (model, way) in MODELS.into_iter().flat_map(|model| WAYS.map(|way| (model, way))) {
        let left = allowed(&kernel, model, way, &finals(&kernel, 1)).unwrap();
        assert_eq!(left, BTreeSet::from([vec![0, 5], vec![5, 5]]), "{model} {way:?}");
    }
}

/// Memory by bytes, and what each thread's reads returned.
type Moment = (BTreeMap<(u32, u32), u8>, Vec<Vec<Option<u64>>>);

/// What is left by all interleavings of the threads' events; both halves of an atomic operation are one step.
fn interleaved(kernel: &Kernel, finals: &[Place]) -> BTreeSet<Vec<u64>> {
    let held = |memory: &BTreeMap<(u32, u32), u8>, place: Place| {
        (0..place.bytes).rev().fold(0, |all, k| {
            let at = Place { offset: place.offset + k, bytes: 1, ..place };
            let first = || u8::try_from(kernel.initial_value(at).unwrap()).unwrap();
            all << 8 | u64::from(memory.get(&(at.location, at.offset)).copied().unwrap_or_else(first))
        })
    };
    let start: Moment = (BTreeMap::new(), vec![Vec::new(); kernel.threads()]);
    let (mut queue, mut known, mut left) = (vec![start.clone()], BTreeSet::from([start]), BTreeSet::new());
    while let Some((memory, done)) = queue.pop() {
        let mut over = true;
        for thread in 0..kernel.threads() {
            let (mut memory, mut done) = (memory.clone(), done.clone());
            let mut moved = false;
            loop {
                let trace = kernel.run(thread, Known { reads: &done[thread], assumed: &[], bound: 1 });
                let Some(event) = trace.events.get(done[thread].len()) else {
                    assert!(moved || trace.end == End::Done, "{:?}", trace.end);
                    break;
                };
                if moved && event.rmw.is_none() {
                    break;
                }
                moved = true;
                let mut read = None;
                match (event.kind, event.place) {
                    (Kind::Read, Some(place)) => read = Some(held(&memory, place)),
                    (Kind::Write, Some(place)) => {
                        let value = event.value.unwrap().to_le_bytes();
                        (0..place.bytes).for_each(|k| {
                            memory.insert((place.location, place.offset + k), value[k as usize]);
                        });
                    }
                    _ => {}
                }
                done[thread].push(read);
            }
            over &= !moved;
            let next = (memory, done);
            if moved && known.insert(next.clone()) {
                queue.push(next);
            }
        }
        if over {
            left.insert(finals.iter().map(|place| held(&memory, *place)).collect());
        }
    }
    left
}

/// A few accesses of eight bytes of `x`, of any width.
fn random(dice: &mut ChaCha8Rng, thread: usize) -> String {
    let mut text = String::new();
    for k in 0..2 {
        let bytes = [1u32, 2, 4, 4, 8, 8][dice.random_range(0..6)];
        let at = bytes * dice.random_range(0..8 / bytes);
        let (ty, reg) =
            if bytes == 8 { ("u64", "%rd5") } else { (["u8", "u16", "", "u32"][bytes as usize - 1], "%r1") };
        let order = ["", ".relaxed.cta", ".relaxed.cta", ".volatile"][dice.random_range(0..4)];
        let value = if bytes == 8 { "%rd4" } else { "%r2" };
        let result = 8 * (2 * thread + k);
        let keep = if bytes == 8 { "" } else { "cvt.u64.u32 %rd5, %r1;" };
        let one = 0x0101_0101_0101_0101u64 * (1 + thread as u64 * 2 + k as u64);
        let _ = writeln!(text, "mov.u64 %rd4, {one}; cvt.u32.u64 %r2, %rd4;");
        let wide = bytes >= 4;
        match dice.random_range(0..if wide { 5 } else { 4 }) {
            0 | 1 => {
                let _ = writeln!(
                    text,
                    "ld{order}.global.{ty} {reg}, [%rd0+{at}]; {keep} st.global.u64 [%rd1+{result}], %rd5;"
                );
            }
            2 | 3 => {
                let _ = writeln!(text, "st{order}.global.{ty} [%rd0+{at}], {value};");
            }
            _ => {
                let ty = if bytes == 8 { "b64" } else { "b32" };
                let _ = writeln!(
                    text,
                    "atom.relaxed.cta.global.exch.{ty} {reg}, [%rd0+{at}], {value}; {keep} st.global.u64 [%rd1+{result}], %rd5;"
                );
            }
        }
        if k == 0 && dice.random_range(0..3) == 0 {
            text.push_str("fence.acq_rel.cta;\n");
        }
    }
    text
}

/// All interleavings are allowed, races or not, and the ways agree.
#[test]
fn interleavings_are_allowed_and_the_ways_agree() {
    let (mut mixed, mut weaker, mut outcomes) = (0, 0, 0);
    for seed in 0..if cfg!(debug_assertions) { 12 } else { 200 } {
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        let bodies = [random(&mut dice, 0), random(&mut dice, 1)];
        let text = threads(&[&bodies[0], &bodies[1]]);
        let kernel = kernel(&text, (1, 2));
        let finals = finals(&kernel, 4);
        let shown = interleaved(&kernel, &finals);
        for model in MODELS {
            let all = WAYS.map(|way| allowed(&kernel, model, way, &finals));
            let told = || format!("{model}, seed {seed}\n{}\n{}", bodies[0], bodies[1]);
            let known: Vec<_> = all.iter().flatten().collect();
            assert!(known.windows(2).all(|two| two[0] == two[1]), "{}\n{all:?}", told());
            let Some(graphs) = &all[0] else { panic!("{}", told()) };
            assert!(shown.is_subset(graphs), "{}\n{:?}", told(), shown.difference(graphs).collect::<Vec<_>>());
            weaker += usize::from(shown.len() < graphs.len());
            outcomes += shown.len();
            let races = WAYS.map(|way| flags(&kernel, model, way));
            assert!(races.iter().flatten().all(|all| Some(all) == races[0].as_ref()), "{}\n{races:?}", told());
            mixed += usize::from(races[0].iter().flatten().any(|flag| flag == MIXED_SIZE_RACE));
        }
    }
    eprintln!(
        "{outcomes} outcomes of interleavings; {mixed} races of different sizes, {weaker} with more than interleavings"
    );
    assert!(mixed > 3 && outcomes > 60, "{mixed} {outcomes}");
}
