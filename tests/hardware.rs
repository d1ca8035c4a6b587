//! Are results those of the hardware? Small kernels are run here and their results compared, bit by bit, with what a GPU gave
//! (`tests/hardware/h100`, recorded by `tests/hardware/play.py`, CONTRIBUTING says how).
//!
//! The kernels are made by this file: one for each instruction that the tables of forms have, others from the tests of
//! matrices and of single warps. `WARPSTEP_PROBES=FOLDER` writes them for the player, `WARPSTEP_PLAYED=FOLDER` compares with what
//! it brought back: many times more operands than are recorded.

#[path = "hardware/alu.rs"]
mod alu;
#[path = "hardware/examples.rs"]
mod examples;
#[path = "hardware/known.rs"]
mod known;
#[path = "hardware/litmus.rs"]
mod litmus;
#[path = "hardware/pools.rs"]
mod pools;
#[path = "hardware/probe.rs"]
pub mod probe;
#[path = "hardware/recorded.rs"]
mod recorded;
#[path = "hardware/textures.rs"]
mod textures;
#[path = "hardware/warps.rs"]
mod warps;

use alu::{BLOCK, HEAD, Instruction, OPERANDS};
use pools::{Sort, Style};
use probe::{Buffer, Probe};
use recorded::Found;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Bytes of results of an instruction on one thread's operands.
const RESULTS: usize = 16;

/// The instruction on the first operands of each place.
fn probe(instruction: &Instruction, style: Style, blocks: usize) -> Probe {
    let count = blocks * BLOCK;
    let operands = (0..OPERANDS).map(|place| pools::words(instruction.sorts[place], style, place, count));
    let mut buffers: Vec<Buffer> = operands.map(|words| Buffer::of(&words, u64::to_le_bytes)).collect();
    buffers.push(Buffer::result(count * RESULTS));
    Probe {
        name: format!("{}{}", instruction.name, if style == Style::Edge { " edge" } else { "" }),
        ptx: format!("{HEAD}{}", instruction.ptx.replace("NAME", "k")),
        grid: blocks as u32,
        block: BLOCK as u32,
        buffers,
    }
}

/// Instructions on operands of all kinds; those on floating-point numbers also on the smallest ones.
fn instructions(blocks: usize) -> Vec<Probe> {
    let all = alu::instructions();
    let floats = all.iter().filter(|i| i.sorts.iter().any(|sort| *sort != Sort::Int));
    let any = all.iter().map(|i| probe(i, Style::Any, blocks));
    any.chain(floats.map(|i| probe(i, Style::Edge, blocks))).collect()
}

/// Kernels of other kinds.
fn kernels() -> Vec<Probe> {
    crate::tensor::probes().into_iter().chain(warps::probes()).collect()
}

/// Where a GPU's player reads or writes; what needs it is work for who has one, and passes otherwise.
fn folder(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: {variable} says no folder");
    }
    folder
}

/// Blocks of each instruction that the player runs.
const MANY: usize = 8;

#[test]
fn probes_are_written() {
    let Some(folder) = folder("WARPSTEP_PROBES") else { return };
    probe::write(&folder.join("alu"), &instructions(MANY));
    probe::write(&folder.join("kernels"), &kernels());
    examples::write(&folder.join("examples"));
    textures::write(&folder.join("textures"));
    litmus::write(&folder.join("litmus"));
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The operands of a thread.
fn operands(probe: &Probe, thread: usize) -> [u64; OPERANDS] {
    std::array::from_fn(|place| word(&probe.buffers[place].bytes[8 * thread..][..8]))
}

/// Threads whose results of an instruction are other than they may be.
fn wrong(probe: &Probe, ours: &[u8], theirs: &[u8]) -> Vec<usize> {
    let threads = ours.chunks(RESULTS).zip(theirs.chunks(RESULTS)).enumerate();
    let differ = threads.filter(|(thread, (ours, theirs))| {
        ours != theirs && !known::allowed(&probe.name, operands(probe, *thread), ours, theirs)
    });
    differ.map(|(thread, _)| thread).collect()
}

/// Whether what was found is to be kept.
fn records() -> bool {
    std::env::var_os("WARPSTEP_RECORD").is_some()
}

#[test]
fn played_instructions_are_the_same() {
    let Some(folder) = folder("WARPSTEP_PLAYED") else { return };
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
fn instructions_are_as_recorded() {
    let records = recorded::read("instructions.txt");
    let all = instructions(MANY);
    assert_eq!(records.len(), all.len(), "the record has other instructions: CONTRIBUTING says how to make it");
    for probe in all {
        let ours = probe.run();
        match recorded::compare(&records, &probe, &ours) {
            Found::Same => {}
            Found::New => panic!("{} has no record", probe.name),
            Found::Other(first) => {
                assert!(!first.is_empty(), "{} is not what the GPU gave", probe.name);
                let wrong = wrong(&probe, &ours[..first.len()], &first);
                let operands: Vec<_> = wrong.into_iter().map(|thread| operands(&probe, thread)).collect();
                assert!(operands.is_empty(), "{} of {operands:x?} is not what the GPU gave", probe.name);
            }
        }
    }
}

#[test]
fn played_kernels_are_the_same() {
    let Some(folder) = folder("WARPSTEP_PLAYED") else { return };
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
fn kernels_are_as_recorded() {
    let records = recorded::read("kernels.txt");
    let all = kernels();
    assert_eq!(records.len(), all.len(), "the record has other kernels: CONTRIBUTING says how to make it");
    for probe in all {
        assert!(recorded::is(&records, &probe.name, &probe.run()), "{} is not what the GPU gave", probe.name);
    }
}

#[test]
fn played_examples_are_the_same() {
    let Some(folder) = folder("WARPSTEP_PLAYED") else { return };
    examples::same(&folder.join("examples"), records());
}

#[test]
fn played_textures_are_the_same() {
    let Some(folder) = folder("WARPSTEP_PLAYED") else { return };
    textures::same(&folder.join("textures"), records());
}

#[test]
fn played_litmus_tests_are_kept() {
    let Some(folder) = folder("WARPSTEP_PLAYED").filter(|_| records()) else { return };
    litmus::keep(&folder.join("litmus"));
}
