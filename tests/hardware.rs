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
#[path = "hardware/pools.rs"]
mod pools;
#[path = "hardware/probe.rs"]
pub mod probe;
#[path = "hardware/textures.rs"]
mod textures;
#[path = "hardware/warps.rs"]
mod warps;

use alu::{BLOCK, HEAD, Instruction, OPERANDS};
use pools::{Sort, Style};
use probe::{Buffer, Probe};
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

fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

/// Blocks of each instruction that the player runs.
const MANY: usize = 8;

#[test]
#[ignore = "writes files for a GPU"]
fn probes_are_written() {
    let Some(folder) = folder("WARPSTEP_PROBES") else { return };
    probe::write(&folder.join("alu"), &instructions(MANY));
    probe::write(&folder.join("kernels"), &kernels());
    examples::write(&folder.join("examples"));
    textures::write(&folder.join("textures"));
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[test]
#[ignore = "reads files of a GPU"]
fn played_instructions_are_the_same() {
    let Some(folder) = folder("WARPSTEP_PLAYED") else { return };
    let (mut same, mut known, mut other) = (0, 0, 0);
    for (probe, (name, played)) in instructions(MANY).iter().zip(probe::played(&folder.join("alu"))) {
        assert_eq!(probe.name, name);
        let played = match played {
            Ok(played) => played,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        let ours = probe.run();
        assert_eq!(ours.len(), played.len(), "{name}");
        let threads = ours.chunks(RESULTS).zip(played.chunks(RESULTS)).enumerate();
        let operands =
            |thread: usize| std::array::from_fn(|place| word(&probe.buffers[place].bytes[8 * thread..][..8]));
        let (meant, differing): (Vec<_>, Vec<_>) = threads
            .filter(|(_, (ours, theirs))| ours != theirs)
            .partition(|(thread, (ours, theirs))| known::allowed(&name, operands(*thread), ours, theirs));
        if differing.is_empty() {
            *(if meant.is_empty() { &mut same } else { &mut known }) += 1;
            continue;
        }
        other += 1;
        println!("{name}: {} of {} differ", differing.len(), MANY * BLOCK);
        for (thread, (ours, theirs)) in differing {
            let operands: Vec<String> = operands(thread).iter().map(|operand| format!("{operand:x}")).collect();
            let result = |bytes: &[u8]| format!("{:x} {}", word(&bytes[..8]), bytes[8]);
            println!("    {}: ours {}, theirs {}", operands.join(" "), result(ours), result(theirs));
        }
    }
    println!("{same} the same, {known} as far apart as they may be, {other} not");
    assert_eq!(other, 0);
}

#[test]
#[ignore = "reads files of a GPU"]
fn played_kernels_are_the_same() {
    let Some(folder) = folder("WARPSTEP_PLAYED") else { return };
    let (mut same, mut other) = (0, 0);
    let mut all: std::collections::BTreeMap<String, _> = probe::played(&folder.join("kernels")).into_iter().collect();
    for probe in kernels() {
        let name = probe.name.clone();
        let played = all.remove(&name).unwrap_or_else(|| Err("not played".to_owned()));
        let played = match played {
            Ok(played) => played,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        let ours = probe.run();
        let words = ours.chunks(4).zip(played.chunks(4)).enumerate();
        let differing: Vec<_> = words.filter(|(_, (ours, theirs))| ours != theirs).collect();
        if differing.is_empty() {
            same += 1;
            continue;
        }
        other += 1;
        println!("{name}: {} of {} words differ", differing.len(), ours.len() / 4);
        for (at, (ours, theirs)) in differing.iter().take(8) {
            println!("    word {at}: ours {:x}, theirs {:x}", word(ours), word(theirs));
        }
    }
    println!("{same} the same, {other} not");
}

#[test]
#[ignore = "reads files of a GPU"]
fn played_examples_are_the_same() {
    let Some(folder) = folder("WARPSTEP_PLAYED") else { return };
    examples::same(&folder.join("examples"));
}

#[test]
#[ignore = "reads files of a GPU"]
fn played_textures_are_the_same() {
    let Some(folder) = folder("WARPSTEP_PLAYED") else { return };
    textures::same(&folder.join("textures"));
}
