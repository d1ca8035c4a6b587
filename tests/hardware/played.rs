//! Writes kernels for a GPU's player, and compares with what it brought back: `--features gpu`.

use super::{
    BLOCK, MANY, RESULTS, examples, instructions, kernels, litmus, operands, probe, recorded, textures, word, wrong,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Where the player reads or writes.
fn folder(variable: &str) -> PathBuf {
    std::env::var_os(variable).map_or_else(|| panic!("{variable} says no folder"), PathBuf::from)
}

/// Whether what was found is to be kept.
fn records() -> bool {
    std::env::var_os("WARPSTEP_RECORD").is_some()
}

#[test]
fn probes_are_written() {
    let folder = folder("WARPSTEP_PROBES");
    probe::write(&folder.join("alu"), &instructions(MANY));
    probe::write(&folder.join("kernels"), &kernels());
    examples::write(&folder.join("examples"));
    textures::write(&folder.join("textures"));
    litmus::write(&folder.join("litmus"));
}

#[test]
fn played_instructions_are_the_same() {
    let folder = folder("WARPSTEP_PLAYED");
    let (mut same, mut known, mut other, mut all) = (0, 0, 0, Vec::new());
    for (probe, (name, played)) in instructions(MANY).iter().zip(probe::played(&folder.join("alu"))) {
        assert_eq!(probe.name, name);
        let played = played.unwrap_or_else(|error| panic!("{name}: {error}"));
        let ours = probe.run();
        assert_eq!(ours.len(), played.len(), "{name}");
        let differing = wrong(probe, &ours, &played);
        *if !differing.is_empty() {
            println!("{name}: {} of {} differ", differing.len(), MANY * BLOCK);
            &mut other
        } else if ours == played {
            &mut same
        } else {
            &mut known
        } += 1;
        for thread in differing {
            let operands = operands(probe, thread).map(|operand| format!("{operand:x}")).join(" ");
            let result = |bytes: &[u8]| format!("{:x} {}", word(&bytes[..8]), bytes[8]);
            let [ours, theirs] = [&ours, &played].map(|all| result(&all[RESULTS * thread..][..RESULTS]));
            println!("    {operands}: ours {ours}, theirs {theirs}");
        }
        all.push((name, played.clone(), ours == played));
    }
    println!("{same} the same, {known} as far apart as they may be, {other} not");
    assert_eq!(other, 0);
    if records() {
        recorded::write("instructions.txt", &all);
    }
}

#[test]
fn played_kernels_are_the_same() {
    let folder = folder("WARPSTEP_PLAYED");
    let mut played: BTreeMap<String, _> = probe::played(&folder.join("kernels")).into_iter().collect();
    let (mut same, mut other, mut all) = (0, 0, Vec::new());
    for probe in kernels() {
        let name = probe.name.clone();
        let played = played.remove(&name).unwrap_or_else(|| Err("not played".to_owned()));
        let played = played.unwrap_or_else(|error| panic!("{name}: {error}"));
        let ours = probe.run();
        let words = ours.chunks(4).zip(played.chunks(4)).enumerate();
        let differing: Vec<_> = words.filter(|(_, (ours, theirs))| ours != theirs).collect();
        *if differing.is_empty() { &mut same } else { &mut other } += 1;
        if !differing.is_empty() {
            println!("{name}: {} of {} words differ", differing.len(), ours.len() / 4);
        }
        for (at, (ours, theirs)) in differing.iter().take(8) {
            println!("    word {at}: ours {:x}, theirs {:x}", word(ours), word(theirs));
        }
        all.push((name, played.clone(), true));
    }
    println!("{same} the same, {other} not");
    assert_eq!(other, 0);
    if records() {
        recorded::write("kernels.txt", &all);
    }
}

#[test]
fn played_examples_are_the_same() {
    let folder = folder("WARPSTEP_PLAYED");
    examples::same(&folder.join("examples"), records());
}

#[test]
fn played_textures_are_the_same() {
    let folder = folder("WARPSTEP_PLAYED");
    textures::fetched::same(&folder.join("textures"), records());
}

#[test]
fn played_litmus_tests_are_allowed() {
    let folder = folder("WARPSTEP_PLAYED");
    litmus::allowed(&folder.join("litmus"), records());
}
