//! Compares what a GPU fetched with what is fetched here.

use super::super::recorded;
use super::{COUNT, Case, cases};
use serde_json::Value;
use std::path::Path;

/// The record.
const FILE: &str = "textures.txt";

/// Fetches that are known to be other than on the GPU, of a texture by the first words of its name: all are sums of two slices
/// next to a tie, the larger one negative, and differ in the last bit (28,164 such sums are the same).
const EXCEPTIONS: [(&str, &[usize]); 3] = [
    ("99 3d [3, 5, 2] f16x2 mirror linear normalised element", &[8]),
    ("436 3d [6, 4, 9] f32x1 wrap linear normalised element", &[95]),
    ("492 3d [2, 4, 9] f16x4 mirror linear normalised element", &[20, 683]),
];

fn exceptions(case: &Case) -> &'static [usize] {
    EXCEPTIONS.iter().find(|(name, _)| case.name.starts_with(name)).map_or(&[], |(_, fetches)| fetches)
}

/// Four words of each fetch as bytes, but for the exceptions.
fn bytes(case: &Case, words: impl Iterator<Item = [u32; 4]>) -> Vec<u8> {
    let kept = words.enumerate().map(|(i, four)| if exceptions(case).contains(&i) { [0; 4] } else { four });
    kept.flatten().flat_map(u32::to_le_bytes).collect()
}

/// Compares with what the player brought back: all is the same but for the exceptions. Keeps it, if asked to.
pub fn same(folder: &Path, keep: bool) {
    let lines = std::fs::read_to_string(folder.join("textures.played.jsonl")).unwrap();
    let (mut all, mut other, mut kept) = (0, 0, Vec::new());
    for (case, line) in cases().iter().zip(lines.lines()) {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert_eq!(entry["name"].as_str(), Some(case.name.as_str()));
        let theirs = entry["out"].as_str().unwrap_or_else(|| panic!("{}: {}", case.name, entry["error"]));
        let theirs = warpstep::launch::hex(theirs).unwrap();
        let word = |word: &[u8]| u32::from_le_bytes(word.try_into().unwrap());
        let four = |four: &[u8]| std::array::from_fn(|k| word(&four[4 * k..][..4]));
        let theirs: Vec<[u32; 4]> = theirs.chunks_exact(16).map(four).collect();
        let ours = case.run();
        let differ = |i: &usize| ours[*i] != theirs[*i] && !exceptions(case).contains(i);
        let differ: Vec<usize> = (0..COUNT).filter(differ).collect();
        (all, other) = (all + COUNT, other + differ.len());
        if !differ.is_empty() {
            println!("{}: {} of {COUNT} differ", case.name, differ.len());
        }
        for i in differ.iter().take(5) {
            println!("    {i} {:?}: ours {:x?}, theirs {:x?}", case.at(*i), ours[*i], theirs[*i]);
        }
        kept.push((case.name.clone(), bytes(case, theirs.into_iter()), true));
    }
    println!("{all} fetches, {other} differ");
    assert_eq!(other, 0, "fetches differ");
    if keep {
        recorded::write(FILE, &kept);
    }
}

#[test]
fn fetches_are_as_recorded() {
    let records = recorded::read(FILE);
    let all = cases();
    assert_eq!(records.len(), all.len(), "the record has other textures: CONTRIBUTING says how to make it");
    for case in all {
        let ours = bytes(&case, case.run().into_iter());
        assert!(recorded::is(&records, &case.name, &ours), "{} is not what the GPU fetched", case.name);
    }
}
