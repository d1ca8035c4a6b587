//! Are results those of the hardware? Small kernels are run here and their results compared, bit by bit, with what a GPU gave
//! (`tests/hardware/h200`).
//!
//! The kernels are made by this file: one for each instruction that the tables of forms have, others from the tests of
//! matrices and of single warps. `--features gpu` adds what is for who has a GPU (`tests/hardware/played.rs`, CONTRIBUTING).

#![cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "what a GPU's player needs"))]

#[path = "hardware/alu.rs"]
mod alu;
#[path = "hardware/examples.rs"]
mod examples;
#[path = "hardware/known.rs"]
mod known;
#[path = "hardware/litmus.rs"]
mod litmus;
#[cfg(feature = "gpu")]
#[path = "hardware/played.rs"]
mod played;
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

/// Blocks of each instruction that the player runs.
const MANY: usize = 8;

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
fn kernels_are_as_recorded() {
    let records = recorded::read("kernels.txt");
    let all = kernels();
    assert_eq!(records.len(), all.len(), "the record has other kernels: CONTRIBUTING says how to make it");
    for probe in all {
        assert!(recorded::is(&records, &probe.name, &probe.run()), "{} is not what the GPU gave", probe.name);
    }
}
